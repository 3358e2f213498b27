//! `check`: is a task locked?

use super::locks::{self, Store};
use super::{Answer, explain};
use crate::context::{Context, task_id};
use crate::domain::failure::Failure;
use crate::domain::lock::State;
use crate::domain::task_id::TaskId;
use crate::domain::verdict::Verdict;
use crate::owner;

/// Arguments of `check`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The task
    #[arg(value_name = "TASK", value_parser = task_id)]
    pub task: TaskId,
    /// Exit with 0 only if this very session holds it
    #[arg(long)]
    pub mine: bool,
}

/// Runs `check`.
///
/// # Errors
/// The branch cannot be read: that is never "free".
pub fn run(context: &Context, args: &Args) -> Result<Answer, Failure> {
    let session = context.session().session;
    let asker = context.owner(None).ok();
    let tasks = std::slice::from_ref(&args.task);
    let (name, email) = owner::committer(&context.repo, asker.as_deref().unwrap_or("nobody"));
    let mut store = Store::open(context, (&name, &email))?;
    let snapshot = store.read().map_err(|error| explain::store_error(context, &error, tasks))?;
    let found = locks::of_tasks(store.as_dyn().objects(), &snapshot, tasks, &session.here);
    let anchor = session.anchor();
    let mut views = found.iter().map(|lock| lock.view(asker.as_deref(), &anchor, &session.here));
    // Where a task has several files, all of them hold it: the least of mine is shown.
    let Some(view) = views.by_ref().max_by_key(|view| (view.state != State::Mine, view.file.is_none()))
    else {
        return Ok(Answer::with_exit(vec![Verdict::Free { task: args.task.clone() }], 1));
    };
    let exit = u8::from(args.mine && view.state != State::Mine);
    Ok(Answer::with_exit(vec![Verdict::Locked(view)], exit))
}
