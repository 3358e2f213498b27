//! `merge begin --verify`: a merge that a command does not find good is undone again.

use super::desk::Desk;
use super::root::{self, git_there};
use crate::domain::failure::Failure;
use crate::domain::merge::verdict::{MergeVerdict, Merged, Rescued, Unverified};
use crate::sys::git::worktree::MergeRoot;
use crate::sys::progress::Progress;
use crate::sys::{clock, verify};

/// The setting that names the command for good.
const SETTING: &str = "aitask-lock.verify";

/// The command that verifies a merge, if there is one: the option's, else the setting's.
#[must_use]
pub fn command(desk: &Desk<'_>, option: Option<&str>) -> Option<String> {
    let setting = || desk.context.repo.config(SETTING);
    option.map(str::to_owned).or_else(setting).filter(|line| !line.trim().is_empty())
}

/// Verifies a merge; where that fails, undoes it and gives the reservation back. `before` is the commit that
/// the output branch was at.
///
/// # Errors
/// There is no shared root any more, or the reservation cannot be looked at.
pub fn verified(
    desk: &Desk<'_>,
    merged: &Merged,
    before: &str,
    line: &str,
) -> Result<Option<MergeVerdict>, Failure> {
    let task = &merged.task;
    let root = match root::find(desk, task) {
        Ok(root) => root,
        Err(refused) => return Ok(Some(*refused)),
    };
    let limit = desk.context.global.timeout.unwrap_or(std::time::Duration::MAX);
    let progress = Progress::new(desk.context.global.quiet);
    let Some(end) = verify::run(&root.path, line, clock::deadline_in(limit), task.as_str(), &progress) else {
        return Ok(None);
    };
    let why = format!("{line} {end}");
    let verdict = |why, rescue, kept, hints| {
        let (task, oid) = (task.clone(), merged.oid.clone());
        Ok(Some(MergeVerdict::MergeUnverified(Unverified { task, oid, why, rescue, kept, hints })))
    };
    desk.context.restart_deadline();
    match undone(desk, &root, merged, before) {
        Ok(rescue) => {
            // Whoever lost it meanwhile has nothing to give back.
            let kept = !matches!(desk.give_back(task, None), Ok(Ok(_)));
            verdict(why, Some(rescue), kept, Vec::new())
        }
        Err((reason, rescue)) => {
            let look = format!("{} status", git_there(&root));
            verdict(format!("{why}, and {reason}"), rescue, true, vec![look])
        }
    }
}

/// Saves what stands there, the merge with it, and puts the branch back, if it is where the merge left it.
fn undone(
    desk: &Desk<'_>,
    root: &MergeRoot,
    merged: &Merged,
    before: &str,
) -> Result<Rescued, (String, Option<Rescued>)> {
    let git = root.git.until(desk.deadline());
    let plain = |failure: crate::sys::git::GitFailure| (failure.to_string(), None);
    let head = git.head_branch().map_err(plain)?;
    let tip = git.oid("HEAD").map_err(plain)?;
    if head.as_ref() != Some(&merged.output_branch) || tip.as_ref() != Some(&merged.oid) {
        return Err(("the shared root is not where the merge left it".to_owned(), None));
    }
    let rescue = git.rescue(merged.task.as_str()).map_err(plain)?;
    let kept = |why: String| (why, Some(rescue.clone()));
    git.reset_to(before).map_err(|failure| kept(failure.to_string()))?;
    match git.residue() {
        Ok(left) if left.is_clean() => Ok(rescue),
        Ok(left) => Err(kept(format!("the shared root has {left}"))),
        Err(failure) => Err(kept(failure.to_string())),
    }
}
