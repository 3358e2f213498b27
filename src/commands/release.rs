//! `release`: give task locks back.

use super::Answer;
use super::order::{self, Ask};
use crate::context::{Context, task_id};
use crate::domain::failure::Failure;
use crate::domain::task_id::TaskId;
use crate::domain::verdict::Wanted;

/// Arguments of `release`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The tasks: all of them or none
    #[arg(required = true, value_name = "TASK", value_parser = task_id)]
    pub tasks: Vec<TaskId>,
    /// Remove the lock whoever holds it
    #[arg(short, long)]
    pub force: bool,
    /// Refuse unless the lock is still this one
    #[arg(long, value_name = "LOCK_ID")]
    pub expect: Option<String>,
    /// The owner's email
    #[arg(long, value_name = "EMAIL")]
    pub email: Option<String>,
}

/// Runs `release`.
///
/// # Errors
/// What kept it from deciding or from writing.
pub fn run(context: &Context, args: &Args) -> Result<Answer, Failure> {
    let ask = Ask {
        wanted: Wanted::Release,
        tasks: &args.tasks,
        first: false,
        force: args.force,
        expect: args.expect.as_deref(),
        note: None,
        email: args.email.as_deref(),
    };
    order::run(context, &ask)
}
