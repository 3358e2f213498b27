//! `verdicts`: every word that a command can answer with.

use super::Answer;
use crate::domain::verdict::Verdict;
use crate::domain::words;

/// Runs `verdicts`.
#[must_use]
pub fn run() -> Answer {
    Answer::of(words::TASK_WORDS.iter().chain(&words::MERGE_WORDS).copied().map(Verdict::Word).collect())
}
