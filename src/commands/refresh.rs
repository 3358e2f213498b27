//! `refresh`: renew the locks that this session holds.

use super::Answer;
use super::order::{self, Ask};
use crate::context::{Context, task_id};
use crate::domain::failure::Failure;
use crate::domain::task_id::TaskId;
use crate::domain::verdict::Wanted;

/// Arguments of `refresh`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The tasks: all of them or none
    #[arg(required = true, value_name = "TASK", value_parser = task_id)]
    pub tasks: Vec<TaskId>,
    /// The owner's email
    #[arg(long, value_name = "EMAIL")]
    pub email: Option<String>,
}

/// Runs `refresh`.
///
/// # Errors
/// What kept it from deciding or from writing.
pub fn run(context: &Context, args: &Args) -> Result<Answer, Failure> {
    let ask = Ask {
        wanted: Wanted::Refresh,
        tasks: &args.tasks,
        first: false,
        force: false,
        expect: None,
        note: None,
        email: args.email.as_deref(),
    };
    order::run(context, &ask)
}
