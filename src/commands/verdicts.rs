//! `verdicts`: every word that a command can answer with.

use super::Answer;
use crate::domain::verdict::Verdict;
use crate::domain::words;

/// Runs `verdicts`.
#[must_use]
pub fn run() -> Answer {
    Answer::of(words::all().map(Verdict::Word).collect())
}
