//! `merge release`: give the reservation back.

use super::desk::Desk;
use super::findings::merge_findings;
use super::parked::{self, Parked, parked};
use super::root::{git_there, mend_index, place_to_merge};
use crate::commands::Answer;
use crate::context::{Context, task_id};
use crate::domain::failure::Failure;
use crate::domain::merge::reservation::Reservation;
use crate::domain::merge::residue::Residue;
use crate::domain::merge::verdict::{MergeReleased, MergeVerdict};
use crate::domain::task_id::TaskId;
use crate::sys::git::worktree::MergeRoot;

/// Arguments of `merge release`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The task that holds it
    #[arg(value_name = "TASK", value_parser = task_id)]
    pub task: TaskId,
}

/// Runs `merge release`.
///
/// # Errors
/// What kept it from deciding or from changing anything.
pub fn run(context: &Context, args: &Args) -> Result<Answer, Failure> {
    let desk = Desk::open(context);
    let reservation = match desk.holding(&args.task)? {
        Ok(reservation) => reservation,
        Err(refusal) => return Ok(Answer::of(vec![refusal.into()])),
    };
    // Whoever gave it away in the middle of a merge could not undo that merge any more.
    let mut swept = None;
    let root = match desk.root() {
        Ok(root) => root,
        Err(why) => return Ok(unseen(&args.task, &why.to_string(), place_to_merge(context, &why))),
    };
    let looked = root.git.residue().and_then(|residue| {
        let whose = parked(&root, &reservation, &residue)?;
        Ok((residue, whose))
    });
    match looked {
        Err(why) => return Ok(unseen(&args.task, &why.to_string(), seen_again(&root))),
        Ok((residue, _)) if residue.index_damaged => {
            return Ok(unseen(&args.task, "git cannot read the index", seen_again(&root)));
        }
        Ok((residue, whose)) => {
            if let Some(retained) = in_the_middle(&desk, &root, &reservation, &residue, &whose) {
                return Ok(Answer::of(vec![retained.into()]));
            }
            if whose == Parked::Committed && root.git.quit_merge().is_ok() {
                swept = Some(parked::SWEPT.to_owned());
            }
        }
    }
    // Before others get their turn: afterwards the shared root is theirs to change.
    let findings = merge_findings(context, &reservation);
    let verdict = match desk.give_back(&args.task, Some(&reservation.id))? {
        Err(refusal) => refusal,
        Ok(reservation) => {
            MergeVerdict::Released(MergeReleased { task: reservation.task, id: reservation.id, findings })
        }
    };
    Ok(Answer::of(vec![verdict.into()]).warn(desk.remarks()).note(swept))
}

/// What could not be looked at is not clean: the reservation is kept. `next` lets it be looked at.
fn unseen(task: &TaskId, why: &str, next: Vec<String>) -> Answer {
    let retained = MergeVerdict::Retained {
        task: task.clone(),
        because: "UNSEEN".to_owned(),
        why: format!("whether its merge is finished cannot be told: {why}"),
        next: next.into_iter().chain([format!("then: git aitask-lock merge release {task}")]).collect(),
    };
    Answer::of(vec![retained.into()])
}

/// What lets git look at the shared root again.
fn seen_again(root: &MergeRoot) -> Vec<String> {
    let mut next = vec![format!("look: {} status", git_there(root))];
    next.extend(mend_index(root).map(|mend| format!("if it is the index that is damaged: {mend}")));
    next
}

/// The refusal, where the merge of the task stands there unfinished. What others left is told, and does
/// not hold up the release.
fn in_the_middle(
    desk: &Desk<'_>,
    root: &MergeRoot,
    reservation: &Reservation,
    residue: &Residue,
    whose: &Parked,
) -> Option<MergeVerdict> {
    let unmerged = !residue.unmerged.is_empty();
    let stands = match whose {
        Parked::Task | Parked::Unknown(_) => true,
        Parked::Nothing => unmerged && residue.operations.is_empty(),
        Parked::Committed | Parked::Foreign(_) => false,
    };
    let because = if unmerged { "MERGE_CONFLICT" } else { "STALE_MERGE_RESIDUE" };
    let task = &reservation.task;
    stands.then(|| MergeVerdict::Retained {
        task: task.clone(),
        because: because.to_owned(),
        why: format!("its merge is not finished: the shared root has {residue}"),
        next: vec![
            format!("resolve it, then: {} commit --no-edit", git_there(root)),
            format!("or undo it: {}", desk.command(&format!("abort {task}"))),
        ],
    })
}
