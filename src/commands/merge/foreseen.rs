//! Before the mutex is taken over from a lost session: whether what is asked for would be refused once it
//! is. Then nothing is taken over, since a refusal changes nothing.

use super::again::Again;
use super::desk::{Desk, git_failure, not_clean};
use super::into;
use super::root::{asked, facts, in_the_way, told};
use super::run::overwritten;
use crate::domain::failure::Failure;
use crate::domain::merge::branch::full_name;
use crate::domain::merge::into::named;
use crate::domain::merge::preflight::{self, Facts};
use crate::domain::merge::reservation::Reservation;
use crate::domain::merge::rules::Seen;
use crate::domain::merge::verdict::{Holder, MergeVerdict};
use crate::sys::git::GitFailure;
use crate::sys::git::worktree::MergeRoot;

/// The branch that HEAD goes back to before the mutex is taken over: the one that the lost session merged
/// into, unless HEAD is where the merge that is asked for goes.
///
/// # Errors
/// git cannot tell.
pub fn goes_back(
    desk: &Desk<'_>,
    root: &MergeRoot,
    reservation: &Reservation,
    asked: Option<&str>,
    head: Option<&str>,
) -> Result<Option<String>, GitFailure> {
    let Some(back) = reservation.strayed_from(head) else { return Ok(None) };
    let all = into::named(desk, root, asked.map(full_name), head.map(str::to_owned))?;
    let stays = named(&all).is_some_and(|(name, _)| Some(name) == head);
    Ok((!stays).then(|| back.to_owned()))
}

/// The refusal, if there is one. `holder` is the lost session, `task_branch` the branch to merge by full name.
///
/// # Errors
/// git cannot tell how the shared root stands.
pub fn refusal(
    desk: &Desk<'_>,
    again: &Again<'_>,
    task_branch: Option<&str>,
    root: &MergeRoot,
    seen: &Seen,
    holder: Option<Holder>,
) -> Result<Option<MergeVerdict>, Failure> {
    let git = root.git.until(desk.deadline());
    let failed = |error| git_failure(&error);
    let residue = git.residue().map_err(failed)?;
    if !residue.is_clean() {
        return Ok(Some(not_clean(desk, again.task, root, residue, holder)));
    }
    let head = git.head_branch().map_err(failed)?;
    // Where HEAD will stand once it has gone back.
    let head = match seen {
        Seen::Taken(reservation) => {
            goes_back(desk, root, reservation, again.into, head.as_deref()).map_err(failed)?.or(head)
        }
        Seen::Free | Seen::Unreadable(_) => head,
    };
    let chosen = match into::settled(desk, again, root, head.clone()).map_err(failed)? {
        Ok(chosen) => chosen,
        Err(refusal) => return Ok(Some(*refusal)),
    };
    let output = chosen.branch.as_deref();
    let decided = if again.verb == "begin" {
        let facts = facts(desk.context, root, output, task_branch).map_err(failed)?;
        preflight::decide(again.task, &Facts { head, ..facts }).map(Some)
    } else {
        let asked = output.map(|name| asked(root, name)).transpose().map_err(failed)?;
        preflight::output_branch(asked.as_ref(), &desk.context.branch).map(|_| None)
    };
    let mut verdict = match decided {
        Err(why) => told(desk, again.task, why, root, residue),
        Ok(None) => return Ok(None),
        Ok(Some(plan)) => {
            let ignored =
                overwritten(&git, &plan.output, &plan.task_branch, again.options).map_err(failed)?;
            if ignored.is_empty() {
                return Ok(None);
            }
            in_the_way(again.task, root, &ignored)
        }
    };
    again.name_in(&mut verdict, false);
    Ok(Some(verdict))
}
