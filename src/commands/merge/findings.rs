//! What the holder is told when it gives the reservation back.

use crate::context::Context;
use crate::domain::merge::findings::{self, NewCommit, Seen};
use crate::domain::merge::reservation::{Baseline, Reservation};
use crate::domain::merge::verdict::Finding;
use crate::sys::git::GitFailure;
use crate::sys::git::worktree::MergeRoot;

/// Looks at the shared root and says what the holder should know. Nothing here keeps a release from
/// taking place: what cannot be looked at is a finding as well.
#[must_use]
pub fn merge_findings(context: &Context, reservation: &Reservation) -> Vec<Finding> {
    let not_looked = |why: String| vec![Finding { word: "NOT_LOOKED", text: why }];
    match MergeRoot::find(&context.repo, context.deadline()) {
        Err(why) => not_looked(format!("the shared root was not looked at: {why}")),
        Ok(root) => match seen(&root, reservation) {
            Ok(seen) => findings::judge(&seen),
            Err(failure) => not_looked(format!("the shared root could not be looked at: {failure}")),
        },
    }
}

/// How the shared root stands when a reservation is taken.
///
/// # Errors
/// git cannot tell.
pub fn baseline(root: &MergeRoot, output_branch: Option<&str>) -> Result<Baseline, GitFailure> {
    let head = head(root)?;
    let branch = output_branch.or(head.as_deref()).filter(|name| name.starts_with("refs/"));
    let tip = match branch {
        Some(branch) => root.git.resolve_ref(branch)?,
        None => None,
    };
    Ok(Baseline { tip, index: Some(root.git.index_digest()?), head })
}

fn head(root: &MergeRoot) -> Result<Option<String>, GitFailure> {
    match root.git.head_branch()? {
        Some(branch) => Ok(Some(branch)),
        None => root.git.oid("HEAD"),
    }
}

fn seen(root: &MergeRoot, reservation: &Reservation) -> Result<Seen, GitFailure> {
    let git = &root.git;
    let resolve = |branch: &Option<String>| match branch {
        Some(branch) => git.resolve_ref(branch),
        None => Ok(None),
    };
    let tip = resolve(&reservation.output_branch)?;
    let branch_tip = resolve(&reservation.task_branch)?;
    // The branch may be gone: what was merged is compared then.
    let task_tips: Vec<String> = branch_tip.iter().chain(&reservation.task_tip).cloned().collect();
    let mut seen = Seen {
        baseline: reservation.baseline.clone(),
        output_branch: reservation.output_branch.clone(),
        task_branch: reservation.task_branch.clone(),
        head: head(root)?,
        residue: git.residue()?,
        index: Some(git.index_digest()?),
        ..Seen::default()
    };
    if let (Some(before), Some(now)) = (&reservation.baseline.tip, &tip)
        && before != now
    {
        seen.descends = git.is_ancestor(before, now).unwrap_or(false);
        let commits = git.first_parents(before, now, &task_tips)?;
        seen.commits = commits.into_iter().map(|(oid, parents)| NewCommit { oid, parents }).collect();
        seen.markers = git.conflict_markers(before, now)?;
        if let Some(task_tip) = task_tips.first() {
            seen.contained = git.is_ancestor(task_tip, now)?;
            // What the task's branch brought along is its own: texts about conflicts, for instance.
            if !seen.markers.is_empty() {
                let besides = git.conflict_markers(task_tip, now)?;
                seen.markers.retain(|path| besides.contains(path));
            }
        }
    }
    seen.tip = tip;
    seen.task_tips = task_tips;
    Ok(seen)
}
