//! The reservation that a command works under: only its holding session may.

use crate::commands::Answer;
use crate::context::Context;
use crate::domain::failure::{Failure, FailureKind};
use crate::domain::merge::reservation::Reservation;
use crate::domain::merge::rules;
use crate::domain::merge::verdict::MergeVerdict;
use crate::domain::task_id::TaskId;
use crate::domain::verdict::Verdict;
use crate::store::mutex::{self, Look, Mutex, MutexError};

/// The exit code of a command that needs the reservation where there is none.
const NOT_THE_HOLDER: u8 = 25;

/// The reservation, if this session holds it for this task.
///
/// # Errors
/// The mutex cannot be read.
pub fn reservation(context: &Context, task: &TaskId) -> Result<Result<Reservation, Answer>, Failure> {
    let session = context.session();
    if session.session.process.is_none() {
        let tried = session.candidates.iter().map(ToString::to_string).collect();
        return Ok(Err(Answer::of(vec![Verdict::NoSessionAnchor { tried }])));
    }
    let look =
        Mutex::new(&context.repo.common_dir).look().map_err(|error| unreadable(task, &error.into()))?;
    Ok(ruled(context, task, &look).map_err(|refused| refusal(task, refused)))
}

fn ruled(context: &Context, task: &TaskId, look: &Look) -> Result<Reservation, MergeVerdict> {
    let session = context.session().session;
    let liveness = mutex::liveness(&look.seen, &session.here);
    rules::holding(&look.seen, task, &session.anchor(), &session.here, liveness)
}

fn refusal(task: &TaskId, refused: MergeVerdict) -> Answer {
    let not_held = matches!(refused, MergeVerdict::NotHeld { .. });
    let answer = Answer::of(vec![refused.into()]);
    if not_held {
        // Nothing to give back is done; nothing to work under is a refusal.
        Answer { exit: NOT_THE_HOLDER, ..answer }
            .note([format!("take it first: git aitask-lock merge claim {task}")])
    } else {
        answer
    }
}

/// Records what the reservation is for, once that is known. The reservation is looked at again: it may
/// have been taken away meanwhile.
///
/// # Errors
/// The mutex cannot be read or written.
pub fn record(
    context: &Context,
    reservation: &mut Reservation,
    output: &str,
    task_branch: &str,
) -> Result<Result<(), Answer>, Failure> {
    let task = reservation.task.clone();
    let failed = |error: MutexError| unreadable(&task, &error);
    let mutex = Mutex::new(&context.repo.common_dir);
    let held = mutex.hold(context.deadline()).map_err(failed)?;
    let look = held.look().map_err(|error| failed(error.into()))?;
    let mut now = match ruled(context, &task, &look) {
        Ok(now) => now,
        Err(refused) => return Ok(Err(refusal(&task, refused))),
    };
    let (output, task_branch) = (Some(output.to_owned()), Some(task_branch.to_owned()));
    if (&now.output_branch, &now.task_branch) != (&output, &task_branch) {
        now.output_branch = output;
        now.task_branch = task_branch;
        held.rewrite(&now).map_err(failed)?;
    }
    *reservation = now;
    Ok(Ok(()))
}

/// Gives a reservation back, if it still is the one that stands there; whether it was.
///
/// # Errors
/// It stands there still.
pub fn give_back(context: &Context, reservation: &Reservation) -> Result<bool, MutexError> {
    let mutex = Mutex::new(&context.repo.common_dir);
    let held = mutex.hold(context.deadline())?;
    let look = held.look()?;
    let same = matches!(&look.seen, rules::Seen::Taken(now) if now.id == reservation.id);
    if same {
        held.remove()?;
    }
    Ok(same)
}

/// The mutex could not be read or written.
#[must_use]
pub fn unreadable(task: &TaskId, error: &MutexError) -> Failure {
    let mut failure =
        Failure::new(FailureKind::NotWritable, format!("the merge reservation cannot be used: {error}"));
    failure.tasks = vec![task.clone()];
    failure
}
