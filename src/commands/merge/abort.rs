//! `merge abort`: undo an unfinished merge of the task, then give the reservation back.

use std::time::Duration;

use super::desk::{Desk, unlock, working_under};
use super::parked::{self, Parked};
use super::root;
use crate::commands::Answer;
use crate::context::{Context, task_id};
use crate::domain::failure::Failure;
use crate::domain::merge::branch::short_name;
use crate::domain::merge::reservation::Reservation;
use crate::domain::merge::residue::{Remedy, Residue, remedy_for};
use crate::domain::merge::verdict::{Leftover, MergeVerdict, Refusal, Rescued, Undone};
use crate::domain::task_id::TaskId;
use crate::sys::clock;
use crate::sys::git::GitFailure;
use crate::sys::git::worktree::MergeRoot;

/// How long the undoing of a merge may take: it writes files, as many as the merge changed.
const UNDOING: Duration = Duration::from_secs(600);

/// Arguments of `merge abort`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The task
    #[arg(value_name = "TASK", value_parser = task_id)]
    pub task: TaskId,
}

/// Runs `merge abort`.
///
/// # Errors
/// What kept it from deciding.
pub fn run(context: &Context, args: &Args) -> Result<Answer, Failure> {
    let task = &args.task;
    let desk = Desk::open(context);
    let reservation = match working_under(&desk, task)? {
        Ok(reservation) => reservation,
        Err(refused) => return Ok(refused),
    };
    let root = match root::find(&desk, task) {
        Ok(root) => root,
        Err(refused) => return Ok(Answer::of(vec![(*refused).into()])),
    };
    let failed = |failure: GitFailure| root::git_failure(task, &failure);
    let mut residue = root.git.residue().map_err(failed)?;
    let mut whose = parked::parked(&root, &reservation, &residue).map_err(failed)?;
    let mut leftover = None;
    if whose == Parked::Committed && residue.operations.is_empty() {
        // What is committed is not undone; only git's own marks of it are in the way.
        root.git.quit_merge().map_err(failed)?;
        leftover = Some(Leftover::Removed);
        residue = root.git.residue().map_err(failed)?;
        whose = Parked::Nothing;
    }
    if residue.is_clean() {
        let answer = give_back(&desk, &reservation, None, leftover)?;
        let swept = leftover.map(|_| parked::SWEPT.to_owned());
        return Ok(answer.note(swept.into_iter().chain(already_merged(&root, &reservation))));
    }
    let head = root.git.head_branch().map_err(failed)?;
    let killed = reservation.began_here(&residue, head.as_deref());
    if !killed && let Some(next) = not_ours(&root, &residue, &whose) {
        let remedy = remedy_for(&residue);
        let unsafe_now = MergeVerdict::AbortUnsafe { task: task.clone(), residue, remedy, next };
        return Ok(Answer::of(vec![unsafe_now.into()]));
    }
    match undo(&root, task, remedy_for(&residue)) {
        Ok(rescue) => give_back(&desk, &reservation, Some(rescue), None),
        Err(refusal) => Ok(Answer::of(vec![MergeVerdict::AbortFailed(refusal).into()])),
    }
}

/// Why what stands there is no merge of this task that may be undone: none when it is.
fn not_ours(root: &MergeRoot, residue: &Residue, parked: &Parked) -> Option<Vec<String>> {
    if !residue.operations.is_empty() {
        return Some(remedies(root, residue));
    }
    match parked {
        Parked::Task => None,
        Parked::Foreign(what) | Parked::Unknown(what) => Some(vec![parked::way_out(root, what)]),
        Parked::Nothing | Parked::Committed => Some(remedies(root, residue)),
    }
}

/// What ends each thing that is no merge.
fn remedies(root: &MergeRoot, residue: &Residue) -> Vec<String> {
    use crate::domain::merge::residue::Operation;
    let there = root::git_there(root);
    let mut commands: Vec<String> = residue
        .operations
        .iter()
        .map(|operation| match operation {
            Operation::Bisect => format!("{there} bisect reset"),
            Operation::Rebase | Operation::Am | Operation::CherryPick | Operation::Revert => {
                format!("{there} {} --abort", operation.word())
            }
        })
        .collect();
    if residue.index_locked {
        commands.push(unlock(root));
    } else if !residue.unmerged.is_empty() && commands.is_empty() {
        commands.push(format!("look: {there} status"));
        commands.push(format!("put it away: {there} add -u && {there} stash push"));
    } else if commands.is_empty() {
        commands.push(format!("look: {there} status"));
        commands.push(format!("put the changes away: {there} stash push"));
    }
    commands
}

/// Saves what stands there, then brings back the state before the merge.
fn undo(root: &MergeRoot, task: &TaskId, remedy: Remedy) -> Result<Rescued, Refusal> {
    let there = root::git_there(root);
    let refused = |step: &str, why: String| Refusal {
        hints: vec![
            format!("look: {there} status"),
            format!("by hand, which discards what is changed there: {there} reset --hard"),
            format!("then: git aitask-lock merge abort {task}"),
        ],
        ..root::refusal(task, step, why)
    };
    let git = root.git.until(clock::deadline_in(UNDOING));
    let mut rescue = git.rescue(task.as_str()).map_err(|failure| Refusal {
        hints: match remedy {
            Remedy::AbortMerge => vec![format!("without saving it: {there} merge --abort")],
            Remedy::ResetHard | Remedy::None => vec![format!("look: {there} status")],
        },
        ..refused("rescue", format!("the half-finished merge could not be saved, so it was left: {failure}"))
    })?;
    let kept = |why: String| format!("{why}; what stood there is saved as {}", rescue.reference);
    let aside = git
        .remedy(remedy)
        .map_err(|failure| refused("abort", kept(format!("the merge could not be undone: {failure}"))))?;
    let left = git.residue().map_err(|failure| {
        refused("residue", kept(format!("whether the merge is undone cannot be told: {failure}")))
    })?;
    if left.is_clean() {
        rescue.kept = aside.map(|folder| crate::sys::shell::quote(&folder));
        Ok(rescue)
    } else {
        Err(refused(left.state(), kept(format!("the merge is undone, but the shared root has {left}"))))
    }
}

fn give_back(
    desk: &Desk<'_>,
    reservation: &Reservation,
    rescue: Option<Rescued>,
    leftover: Option<Leftover>,
) -> Result<Answer, Failure> {
    let undone = Undone { task: reservation.task.clone(), id: reservation.id.clone(), rescue, leftover };
    let verdict = if undone.rescue.is_some() {
        MergeVerdict::Aborted(undone)
    } else {
        MergeVerdict::ReleasedNoMerge(undone)
    };
    let given = desk.give_back(&reservation.task, Some(&reservation.id));
    let answer = match given {
        Ok(Ok(_)) => Answer::of(vec![verdict.into()]),
        Ok(Err(_)) => Answer::of(vec![verdict.into()])
            .note(["the reservation had been taken away meanwhile; nothing was given back".to_owned()]),
        Err(error) => {
            let retained = MergeVerdict::Retained {
                task: reservation.task.clone(),
                because: verdict.word().to_owned(),
                why: format!("the reservation could not be removed: {}", error.message),
                next: Vec::new(),
            };
            Answer::of(vec![retained.into()])
        }
    };
    Ok(answer.warn(desk.remarks()))
}

/// A merge that is committed is not undone.
fn already_merged(root: &MergeRoot, reservation: &Reservation) -> Option<String> {
    let (output, task_branch) = (reservation.output_branch.as_ref()?, reservation.task_branch.as_ref()?);
    let tip = root.git.resolve_ref(output).ok()??;
    let task_tip = root.git.resolve_ref(task_branch).ok()??;
    let moved = reservation.baseline.tip.as_ref().is_some_and(|before| *before != tip);
    let merged = moved && root.git.is_ancestor(&task_tip, &tip).ok()?;
    merged.then(|| {
        format!(
            "{} is merged into {} already; that was left as it is",
            short_name(task_branch),
            short_name(output)
        )
    })
}
