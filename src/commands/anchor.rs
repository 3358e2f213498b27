//! `anchor`: which process a lock taken here would name, and why.

use super::Answer;
use crate::context::GlobalArgs;
use crate::domain::failure::Failure;

/// Runs `anchor`.
///
/// # Errors
/// None of its own.
pub fn run(_global: &GlobalArgs) -> Result<Answer, Failure> {
    Ok(Answer::of(Vec::new()))
}
