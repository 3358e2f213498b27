//! `claim`: take task locks.

use super::Answer;
use super::order::{self, Ask};
use crate::context::{Context, task_id};
use crate::domain::failure::{Failure, FailureKind};
use crate::domain::task_id::TaskId;
use crate::domain::verdict::Wanted;

/// Arguments of `claim`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The tasks: all of them or none
    #[arg(required = true, value_name = "TASK", value_parser = task_id)]
    pub tasks: Vec<TaskId>,
    /// Claim only the first of these tasks that is free
    #[arg(long, conflicts_with_all = ["force", "expect"])]
    pub first: bool,
    /// Take the lock whoever holds it, in one step
    #[arg(short, long)]
    pub force: bool,
    /// Refuse unless the lock is still this one
    #[arg(long, value_name = "LOCK_ID")]
    pub expect: Option<String>,
    /// A line to record with the lock
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// The owner's email
    #[arg(long, value_name = "EMAIL")]
    pub email: Option<String>,
}

/// Most bytes of a note.
const MAX_NOTE_BYTES: usize = 500;

/// Runs `claim`.
///
/// # Errors
/// What kept it from deciding or from writing.
pub fn run(context: &Context, args: &Args) -> Result<Answer, Failure> {
    if let Some(note) = &args.note
        && (note.len() > MAX_NOTE_BYTES || note.chars().any(char::is_control))
    {
        let message = "a note is one line of at most 500 bytes, without control characters";
        return Err(Failure::new(FailureKind::Usage, message));
    }
    let ask = Ask {
        wanted: Wanted::Claim,
        tasks: &args.tasks,
        first: args.first,
        force: args.force,
        expect: args.expect.as_deref(),
        note: args.note.as_deref(),
        email: args.email.as_deref(),
    };
    order::run(context, &ask)
}
