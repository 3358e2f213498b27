//! The armed half of `merge force-release`: from a reservation whose session is gone to a free mutex
//! and a clean shared root, with nothing lost on the way.

use std::path::Path;

use super::desk::{Desk, git_failure, not_writable, unlock, unreadable};
use super::root::{moves, nowhere_to_merge};
use crate::domain::failure::{Failure, FailureKind};
use crate::domain::liveness::Liveness;
use crate::domain::merge::branch::{full_name, short_name};
use crate::domain::merge::reservation::Reservation;
use crate::domain::merge::residue::{self, Remedy, Residue};
use crate::domain::merge::rules::{self, Seen};
use crate::domain::merge::verdict::{ForceReleased, Holder, MergeVerdict, RecoveryFailed, Remedied, Rescued};
use crate::store::mutex::{self, Look};
use crate::sys::git::worktree::MergeRoot;
use crate::sys::git::{Git, GitFailure};
use crate::sys::{digest, failpoint, shell};

/// What an armed command asks for.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// The token of the dry run.
    pub expect: &'a str,
    /// The remedy that was named.
    pub remedy: Remedy,
}

/// The name of exactly this holder and this residue: two digests, so that it can be told which of
/// the two changed.
///
/// # Errors
/// It cannot be computed.
pub fn token(look: &Look, residue: &Residue) -> Result<String, Failure> {
    let half = |text: &[u8]| {
        digest::short(text).ok_or_else(|| Failure::new(FailureKind::Fatal, "no token could be computed"))
    };
    Ok(format!("{}-{}", holder_half(look)?, half(&rules::residue_text(residue))?))
}

fn holder_half(look: &Look) -> Result<String, Failure> {
    digest::short(&rules::holder_text(&look.seen, &look.raw))
        .ok_or_else(|| Failure::new(FailureKind::Fatal, "no token could be computed"))
}

/// The armed command, to be copied as it is.
#[must_use]
pub fn armed(desk: &Desk<'_>, remedy: Remedy, token: &str) -> String {
    let remedy = remedy.option().map(|option| format!("{option} ")).unwrap_or_default();
    desk.command(&format!("force-release {remedy}--yes --expect {token}"))
}

/// The shared root, or why there is none.
///
/// # Errors
/// There is none.
pub fn root(desk: &Desk<'_>) -> Result<MergeRoot, Failure> {
    desk.root().map_err(|why| nowhere_to_merge(desk.context, &why))
}

/// Carries out an armed command. The mutex's lock is held all the time, and the guard stands while
/// anything is done.
///
/// # Errors
/// What kept it from deciding. A refusal is no error.
pub fn carry_out(desk: &Desk<'_>, order: &Order<'_>) -> Result<MergeVerdict, Failure> {
    if desk.look()?.0.seen == Seen::Free {
        return Ok(MergeVerdict::HolderChanged {
            now: None,
            expected: order.expect.to_owned(),
            residue: false,
        });
    }
    let root = root(desk)?;
    let held = desk.hold()?;
    if held.is_guarded() {
        return guarded(desk, order);
    }
    let Some(_guard) = held.guard(desk.here()).map_err(|error| not_writable(&error))? else {
        return guarded(desk, order);
    };
    let look = held.look().map_err(|error| unreadable(&error))?;
    let live = mutex::liveness(&look.seen, desk.here());
    let Some(holder) = look.seen.holder(live) else {
        return Ok(MergeVerdict::HolderChanged {
            now: None,
            expected: order.expect.to_owned(),
            residue: false,
        });
    };
    let (expected_holder, _) = order.expect.split_once('-').unwrap_or((order.expect, ""));
    if expected_holder != holder_half(&look)? {
        let now = Some(holder);
        return Ok(MergeVerdict::HolderChanged { now, expected: order.expect.to_owned(), residue: false });
    }
    if live == Liveness::Alive {
        return Ok(MergeVerdict::RefusedLiveHolder { holder });
    }
    let git = root.git.until(desk.deadline());
    let residue = git.residue().map_err(|error| git_failure(&error))?;
    let token = token(&look, &residue)?;
    if let Some(refusal) = refusal(desk, &root, order, &holder, &residue, &token) {
        return Ok(refusal);
    }
    failpoint::hit("recovery-judged");
    let rescue = match cleaned(desk, &git, &holder, &residue) {
        Ok(rescue) => rescue,
        Err(failed) => return Ok(MergeVerdict::RecoveryFailed(*failed)),
    };
    let went_back = match &look.seen {
        Seen::Taken(reservation) => go_back(&git, reservation),
        Seen::Free | Seen::Unreadable(_) => Ok(None),
    };
    let kept = match went_back {
        Ok(went_back) => went_back.and_then(|went_back| went_back.kept),
        Err((branch, error)) => {
            return Ok(MergeVerdict::RecoveryFailed(RecoveryFailed {
                holder: Some(holder),
                step: "head".to_owned(),
                why: format!(
                    "HEAD of the shared root cannot go back to {branch}: {error}; the reservation is kept"
                ),
                rescue,
                remove_guard: None,
                hints: [ways_back(&root, &branch), vec![desk.command("force-release")]].concat(),
            }));
        }
    };
    // Last: until here the reservation says what was going on.
    held.remove().map_err(|error| not_writable(&error))?;
    failpoint::hit("recovery-removed");
    let remedy = residue::remedy_for(&residue);
    Ok(MergeVerdict::ForceReleased(ForceReleased { holder, remedy, rescue: rescue.or(kept) }))
}

/// What going back came to, where HEAD was elsewhere.
pub struct WentBack {
    /// What people have to know of it.
    pub remark: String,
    /// Commits that only HEAD had, and where they are saved.
    pub kept: Option<Rescued>,
}

/// Brings HEAD of a clean shared root back to the branch that a lost session merged into, or names that
/// branch and what git said. Commits that only a detached HEAD has are saved first.
///
/// # Errors
/// git would not.
pub fn go_back(git: &Git, reservation: &Reservation) -> Result<Option<WentBack>, (String, GitFailure)> {
    let named = reservation.output_branch.as_deref().map(short_name).unwrap_or_default();
    let failed = |error| (named.to_owned(), error);
    let head = git.head_branch().map_err(failed)?;
    let Some(branch) = reservation.strayed_from(head.as_deref()) else { return Ok(None) };
    let found = head.as_deref().map_or("a commit without a branch", short_name);
    let task = &reservation.task;
    if git.resolve_ref(branch).map_err(failed)?.is_none() {
        let remark = format!(
            "the shared root stays on {found}: {named}, where the lost session of task {task} merged, is gone"
        );
        return Ok(Some(WentBack { remark, kept: None }));
    }
    let kept = git.keep_head(task.as_str()).map_err(failed)?;
    git.go_back_to(branch).map_err(failed)?;
    let mut remark = format!(
        "the shared root was on {found}, and is on {named} again, where the lost session of task {task} merged; \
         --into names another branch"
    );
    if let Some(kept) = &kept {
        remark.push_str(&format!(
            ". The commits that no branch had are saved as {}; to keep them: {}",
            kept.reference, kept.restore
        ));
    }
    Ok(Some(WentBack { remark, kept }))
}

/// The branch that HEAD would go back to, if it is there, and the commands that let it.
#[must_use]
pub fn would_go_back(
    root: &MergeRoot,
    reservation: &Reservation,
    head: Option<&str>,
) -> Option<(String, Vec<String>)> {
    let branch = reservation.strayed_from(head)?;
    root.git.resolve_ref(branch).ok()??;
    let mut commands = ways_back(root, short_name(branch));
    // Going back itself is what the armed command does.
    commands.pop();
    Some((branch.to_owned(), commands))
}

/// The commands that do so by hand: away from the worktree that holds the branch, if one does, and back.
#[must_use]
pub fn ways_back(root: &MergeRoot, branch: &str) -> Vec<String> {
    let full = full_name(branch);
    let elsewhere = root.others().unwrap_or_default().into_iter();
    let holds_it = elsewhere.filter(|worktree| worktree.branch.as_ref() == Some(&full));
    let away = holds_it.map(|worktree| format!("git -C {} switch --detach", shell::quote(&worktree.path)));
    let in_the_way = root.git.in_the_way(&format!("HEAD..{full}")).unwrap_or_default();
    let there = shell::quote(&root.path);
    let back = format!("git -C {there} switch --no-overwrite-ignore {}", shell::quote(Path::new(branch)));
    away.chain(moves(root, &in_the_way)).chain([back]).collect()
}

/// What stands between the order and its being carried out.
fn refusal(
    desk: &Desk<'_>,
    root: &MergeRoot,
    order: &Order<'_>,
    holder: &Holder,
    residue: &Residue,
    token: &str,
) -> Option<MergeVerdict> {
    let needed = residue::remedy_for(residue);
    if order.remedy != needed {
        let remedied = Remedied {
            holder: Some(holder.clone()),
            residue: residue.clone(),
            given: order.remedy,
            needed,
            command: armed(desk, needed, token),
        };
        return Some(if order.remedy == Remedy::None {
            MergeVerdict::ResiduePresent(remedied)
        } else {
            MergeVerdict::WrongRemedy(remedied)
        });
    }
    if token != order.expect {
        let now = Some(holder.clone());
        return Some(MergeVerdict::HolderChanged { now, expected: order.expect.to_owned(), residue: true });
    }
    residue.index_locked.then(|| {
        MergeVerdict::RecoveryFailed(RecoveryFailed {
            holder: Some(holder.clone()),
            step: "index-lock".to_owned(),
            why:
                "a git command holds the index of the shared root, or one that was killed left its lock there"
                    .to_owned(),
            rescue: None,
            remove_guard: None,
            hints: vec![unlock(root), armed(desk, order.remedy, order.expect)],
        })
    })
}

/// Saves what is there, then brings the shared root to a clean state, and looks whether it is.
fn cleaned(
    desk: &Desk<'_>,
    git: &Git,
    holder: &Holder,
    residue: &Residue,
) -> Result<Option<Rescued>, Box<RecoveryFailed>> {
    let failed = |step: &str, why: String, rescue: Option<Rescued>, hints: Vec<String>| {
        let step = step.to_owned();
        Box::new(RecoveryFailed {
            holder: Some(holder.clone()),
            step,
            why,
            rescue,
            remove_guard: None,
            hints,
        })
    };
    let root = shell::quote(git.work_dir());
    let again = desk.command("force-release");
    let remedy = residue::remedy_for(residue);
    if remedy == Remedy::None {
        return Ok(None);
    }
    let mut rescue = git.rescue(holder.task_name()).map_err(|error| {
        let why =
            format!("the work in the shared root could not be saved, so nothing was discarded: {error}");
        failed("rescue", why, None, vec![format!("git -C {root} status"), again.clone()])
    })?;
    failpoint::hit("recovery-rescued");
    let applied = git.remedy(remedy);
    let step = if remedy == Remedy::AbortMerge { "abort" } else { "reset" };
    failpoint::hit("recovery-remedied");
    // What git says matters less than what stands there.
    let left = git.residue();
    if let Ok(Some(folder)) = &applied {
        rescue.kept = Some(shell::quote(folder));
    }
    match (&left, &applied) {
        (Ok(left), _) if left.is_clean() => Ok(Some(rescue)),
        (_, Err(error)) => {
            let why = format!("{error}; the work is saved, and the reservation is kept");
            let by_hand = format!(
                "by hand, which discards what is changed there; it is saved: git -C {root} reset --hard"
            );
            Err(failed(step, why, Some(rescue), vec![by_hand, again]))
        }
        (Ok(left), Ok(_)) => {
            let why =
                format!("{left} is left in the shared root; the work is saved, and the reservation is kept");
            Err(failed("residue", why, Some(rescue), vec![again]))
        }
        (Err(error), Ok(_)) => {
            let why = format!("whether the shared root is clean cannot be told: {error}");
            Err(failed("residue", why, Some(rescue), vec![again]))
        }
    }
}

fn guarded(desk: &Desk<'_>, order: &Order<'_>) -> Result<MergeVerdict, Failure> {
    let (look, live) = desk.look()?;
    Ok(MergeVerdict::RecoveryFailed(RecoveryFailed {
        holder: look.seen.holder(live),
        step: "guard".to_owned(),
        why: "an earlier reclaim or recovery did not end; its guard stands there".to_owned(),
        rescue: None,
        remove_guard: Some(desk.mutex.remove_guard()),
        hints: vec![desk.mutex.remove_guard(), armed(desk, order.remedy, order.expect)],
    }))
}
