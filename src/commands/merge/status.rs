//! `merge status`: who has the reservation, and who waits for it. It takes no lock and changes nothing.

use super::desk::{Desk, unreadable};
use crate::commands::Answer;
use crate::context::Context;
use crate::domain::failure::Failure;
use crate::domain::liveness::{self, Liveness};
use crate::domain::merge::rules::Seen;
use crate::domain::merge::verdict::{MergeVerdict, Standing, Waiter};
use crate::domain::task_id::TaskId;
use crate::store::queue;

/// Runs `merge status`.
///
/// # Errors
/// The mutex may not be looked at.
pub fn run(context: &Context) -> Result<Answer, Failure> {
    answer(&Desk::open(context))
}

/// How the mutex stands.
///
/// # Errors
/// The mutex may not be looked at.
pub fn answer(desk: &Desk<'_>) -> Result<Answer, Failure> {
    let (look, live) = desk.look()?;
    let mine = match &look.seen {
        Seen::Taken(reservation) => liveness::same_session(&reservation.anchor, &desk.mine, desk.here()),
        Seen::Free | Seen::Unreadable(_) => false,
    };
    let waiters = queue::list(&desk.mutex, desk.here()).map_err(|error| unreadable(&error))?;
    let queue = waiters.into_iter().enumerate().map(|(index, waiter)| Waiter {
        position: index + 1,
        // Whatever stands in a ticket that is no task is not shown as one.
        task: waiter.note.task.as_deref().and_then(|task| TaskId::parse(task).ok()),
        pid: waiter.note.session_pid,
        since: waiter.note.since,
    });
    let guard = desk.left_guard()?;
    let way_out = guard.is_some().then(|| desk.guard_way_out()).flatten();
    let standing = Standing {
        holder: look.seen.holder(live),
        mine,
        queue: queue.collect(),
        remove_guard: guard.as_ref().and_then(|guard| guard.remedy.clone()),
        guard: guard.map(|guard| guard.shown),
        next: match (&look.seen, live) {
            (Seen::Free, _) | (Seen::Taken(_), Liveness::Alive) => Vec::new(),
            // The next claim takes it over, if the shared root is clean.
            _ => vec![desk.command("force-release")],
        },
    };
    let verdict = match &standing.holder {
        Some(_) => MergeVerdict::Held(standing),
        None => MergeVerdict::Free(standing),
    };
    Ok(Answer::with_exit(vec![verdict.into()], 0).note(way_out))
}
