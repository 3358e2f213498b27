//! Before a merge: whether the task's lock still is this session's. The merge mutex does not stand on task
//! locks, so this only tells; a session that was displaced by force learns it here at the latest.

use crate::commands::locks::{self, Store};
use crate::context::Context;
use crate::domain::lock::State;
use crate::domain::task_id::TaskId;
use crate::owner;
use crate::render::escape::for_terminal;
use crate::render::{Carried, human};
use crate::sys::terminal;

/// Says on standard error, before anything is merged, that another session holds the task's lock. A
/// lock branch that is missing or cannot be read says nothing.
pub fn tell_if_displaced(context: &Context, task: &TaskId) {
    if context.global.quiet {
        return;
    }
    if let Some(line) = displaced(context, task) {
        let directory = context.global.directory.as_ref().map(|dir| dir.to_string_lossy());
        let place = Carried::of(directory.as_deref(), context.global.remote.as_deref(), None);
        terminal::tell(&place.ours(&line));
    }
    // Looking took none of the time for the merge.
    context.restart_deadline();
}

fn displaced(context: &Context, task: &TaskId) -> Option<String> {
    let session = context.session().session;
    let asker = context.owner(None).ok();
    let (name, email) = owner::committer(&context.repo, asker.as_deref().unwrap_or("nobody"));
    let mut store = Store::open(context, (&name, &email)).ok()?;
    let snapshot = store.read().ok()?;
    let found =
        locks::of_tasks(store.as_dyn().objects(), &snapshot, std::slice::from_ref(task), &session.here);
    let anchor = session.anchor();
    let mut views = found.iter().map(|lock| lock.view(asker.as_deref(), &anchor, &session.here));
    let view = views.find(|view| view.state != State::Mine)?;
    Some(for_terminal(&format!(
        "warning: task {task} is locked by {} on {}, and not by this session: git aitask-lock check {task}",
        human::owner(&view),
        human::host(&view)
    )))
}
