//! Whose the unfinished merge is that stands in the shared root.

use super::root::git_there;
use crate::domain::merge::branch::{full_name, short_name};
use crate::domain::merge::reservation::Reservation;
use crate::domain::merge::residue::Residue;
use crate::domain::task_branch;
use crate::sys::git::GitFailure;
use crate::sys::git::worktree::MergeRoot;

/// The merge that `MERGE_HEAD` tells of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parked {
    /// None.
    Nothing,
    /// One of the task's branch, into the reservation's output branch.
    Task,
    /// One of the task's branch that is committed: git was ended before it had removed its marks.
    Committed,
    /// Somebody else's; what it is, in words.
    Foreign(String),
    /// It cannot be told: no branch of the task is known. What it is, in words.
    Unknown(String),
}

/// Says whose the merge is that stands there.
///
/// # Errors
/// git cannot tell.
pub fn parked(root: &MergeRoot, reservation: &Reservation, residue: &Residue) -> Result<Parked, GitFailure> {
    let Some(merge_head) = &residue.merge_head else { return Ok(Parked::Nothing) };
    let names = root.git.names_at(merge_head)?;
    let what = names.first().map_or_else(
        || merge_head.get(..12).unwrap_or("something unknown").to_owned(),
        |name| short_name(name).to_owned(),
    );
    let head = root.git.head_branch()?;
    let now = head.as_deref().map_or("a detached HEAD", short_name);
    let words = format!("one of {what} into {now}");
    if reservation.output_branch.is_some() && head != reservation.output_branch {
        return Ok(Parked::Foreign(words));
    }
    let branches = if let Some(branch) = &reservation.task_branch {
        vec![branch.clone()]
    } else {
        let all = root.git.branches()?.into_iter().map(|branch| branch.name);
        all.filter(|name| task_branch::names_task(name, &reservation.task))
            .map(|name| full_name(&name))
            .filter(|name| Some(name) != reservation.output_branch.as_ref())
            .collect()
    };
    let mut tips = Vec::from_iter(reservation.task_tip.clone());
    for branch in &branches {
        tips.extend(root.git.resolve_ref(branch)?);
    }
    // What names no commit that is there cannot be compared with anything.
    if tips.is_empty() || !root.git.is_revision(&format!("{merge_head}^{{commit}}"))? {
        return Ok(Parked::Unknown(words));
    }
    // One that was merged by hand, and whose branch has grown since: unless it is the tip of another
    // branch, on which the task's stands.
    let mut ours = tips.contains(merge_head);
    if !ours && reservation.task_tip.is_none() && names.is_empty() {
        for tip in &tips {
            ours = ours || root.git.is_ancestor(merge_head, tip)?;
        }
    }
    Ok(if !ours {
        Parked::Foreign(words)
    } else if root.git.is_ancestor(merge_head, "HEAD")? {
        Parked::Committed
    } else {
        Parked::Task
    })
}

/// How a person ends a merge that is not known to be the task's.
#[must_use]
pub fn way_out(root: &MergeRoot, what: &str) -> String {
    format!("the merge in progress is {what}; if it may be undone: {} merge --abort", git_there(root))
}

/// How a merge ends that the task's session neither resolves nor undoes.
#[must_use]
pub fn other_end(root: &MergeRoot, whose: &Parked) -> Option<String> {
    match whose {
        Parked::Foreign(what) | Parked::Unknown(what) => Some(way_out(root, what)),
        Parked::Committed => Some(format!(
            "that merge is committed already; only what git left of it has to go: {} merge --quit",
            git_there(root)
        )),
        Parked::Nothing | Parked::Task => None,
    }
}

/// What is said when the marks of a committed merge were removed.
pub const SWEPT: &str =
    "the merge is committed, so it was not undone; only the MERGE_HEAD that git left was removed";
