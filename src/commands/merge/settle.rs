//! A reservation that was just taken: what it settles, or why it is given back.

use super::claim::Ask;
use super::desk::{Desk, git_failure, not_clean};
use super::into;
use super::root::{no_root, told};
use crate::domain::failure::Failure;
use crate::domain::merge::branch;
use crate::domain::merge::into::Chosen;
use crate::domain::merge::preflight::{self, Asked};
use crate::domain::merge::reservation::{Baseline, Reservation};
use crate::domain::merge::residue::Residue;
use crate::domain::merge::verdict::{MergeClaimed, MergeVerdict};
use crate::domain::verdict::Verdict;
use crate::sys::git::GitFailure;
use crate::sys::git::worktree::MergeRoot;

/// With the reservation in hand: looks at the shared root, and gives the reservation back where no
/// merge may start; else records how the root looked.
///
/// # Errors
/// What kept it from deciding.
pub fn settle(
    desk: &Desk<'_>,
    ask: &Ask<'_>,
    mut reservation: Reservation,
    mut claimed: MergeClaimed,
) -> Result<Result<MergeClaimed, Verdict>, Failure> {
    let refused = |refusal: MergeVerdict| -> Result<Result<MergeClaimed, Verdict>, Failure> {
        if !claimed.again {
            // Whoever lost it meanwhile has nothing to give back.
            _ = desk.give_back(ask.task, Some(&claimed.id))?;
        }
        Ok(Err(refusal.into()))
    };
    let wanted = ask.into.map(branch::full_name);
    if claimed.again && (wanted.is_none() || wanted == reservation.output_branch) {
        return Ok(Ok(claimed));
    }
    let root = match desk.root() {
        Ok(root) => root,
        Err(error) => return refused(no_root(desk, ask.task, &error, claimed.again)),
    };
    let observed = observe(desk, ask, &root);
    let (residue, chosen, baseline) = match observed {
        Ok(observed) => observed,
        Err(error) => {
            if !claimed.again {
                _ = desk.give_back(ask.task, Some(&claimed.id))?;
            }
            return Err(git_failure(&error));
        }
    };
    if !claimed.again && !residue.is_clean() {
        return refused(not_clean(desk, ask.task, &root, residue, None));
    }
    let chosen = match chosen {
        Ok(chosen) => chosen,
        Err(elsewhere) => return refused(*elsewhere),
    };
    let asked = match &chosen.branch {
        Some(name) => Some(Asked {
            name: name.clone(),
            tip: baseline.tip.clone(),
            leads_elsewhere: baseline.tip.is_none()
                && ask.into.is_some_and(|name| root.git.is_revision(name).unwrap_or(false)),
        }),
        None => None,
    };
    if let Err(unsafe_now) = preflight::output_branch(asked.as_ref(), &desk.context.branch) {
        let mut refusal = told(desk, ask.task, unsafe_now, &root, residue);
        ask.again.name_in(&mut refusal, claimed.again);
        return refused(refusal);
    }
    claimed.output_branch.clone_from(&chosen.branch);
    reservation.output_branch.clone_from(&chosen.branch);
    reservation.baseline = baseline;
    desk.rewrite(&reservation)?;
    into::tell(desk, &chosen);
    Ok(Ok(claimed))
}

type Observed = (Residue, Result<Chosen, Box<MergeVerdict>>, Baseline);

fn observe(desk: &Desk<'_>, ask: &Ask<'_>, root: &MergeRoot) -> Result<Observed, GitFailure> {
    let git = &root.git;
    let residue = git.residue()?;
    let head = git.head_branch()?;
    let output = into::settled(desk, &ask.again, root, head.clone())?;
    let tip = match output.as_ref().ok().and_then(|chosen| chosen.branch.as_ref()) {
        Some(output) => git.oid(output)?,
        None => None,
    };
    let baseline =
        Baseline { head: head.or_else(|| residue.head.clone()), tip, index: Some(git.index_digest()?) };
    Ok((residue, output, baseline))
}
