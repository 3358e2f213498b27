//! What a merge command came to, in sentences: who has the reservation, since when, and the next
//! command to run.

use super::busy::busy_text;
use super::dry_run;
use crate::domain::liveness::Liveness;
use crate::domain::merge::residue::Residue;
use crate::domain::merge::verdict::{
    Holder, MergeClaimed, MergeVerdict, RecoveryFailed, Refusal, Remedied, Rescued, Standing, Waiter,
};
use crate::domain::moment;
use crate::render::escape::for_terminal;
use crate::render::{Printed, View, style};

/// Tells one outcome. Answers and successes are data; refusals and hints are talk.
#[expect(clippy::too_many_lines, reason = "an arm for each word")]
pub fn human(verdict: &MergeVerdict, view: &View, printed: &mut Printed) {
    let Printed { stdout, stderr } = printed;
    let mut say = |text: &str| {
        if !view.quiet {
            stdout.push_str(text);
            stdout.push('\n');
        }
    };
    match verdict {
        MergeVerdict::MergeClaimed(claimed) => say(&claimed_text(claimed, view)),
        MergeVerdict::Busy(busy) => busy_text(busy, view, stderr),
        MergeVerdict::StaleMergeResidue(stale) => {
            let whose = match &stale.holder {
                Some(holder) => {
                    format!("task {} was being merged, but {}; it left", holder.task_name(), holder.liveness)
                }
                None => "no merge can begin on".to_owned(),
            };
            stderr.push_str(&style::refused(&format!(
                "{whose} {} in {}; nothing was changed",
                stale.residue,
                for_terminal(&stale.root)
            )));
            files(&stale.residue, stderr);
            hints(&stale.next, stderr);
        }
        MergeVerdict::Held(standing) | MergeVerdict::Free(standing) => {
            stdout.push_str(&standing_text(standing, view));
            if let Some(command) = &standing.remove_guard {
                stderr.push_str(&style::warning(
                    "an earlier reclaim or recovery did not end; until its guard is removed nobody gets the reservation",
                ));
                stderr.push_str(&style::hint(command));
            } else if standing.guard.is_some() {
                stderr.push_str(&style::warning(
                    "an earlier reclaim or recovery was killed; the next claim or forced release takes its guard down",
                ));
            }
            hints(&standing.next, stderr);
        }
        MergeVerdict::Released(released) => {
            say(&format!("Released. The merge of task {} is done with.", released.task));
            for finding in &released.findings {
                stderr.push_str(&style::warning(&for_terminal(&finding.text)));
            }
        }
        MergeVerdict::Retained { task, why, next, .. } => {
            stderr.push_str(&style::refused(&format!(
                "the reservation of task {task} is kept: {}",
                for_terminal(why)
            )));
            hints(next, stderr);
        }
        MergeVerdict::NotHolder { task, holder } => {
            let whose = format!("the reservation is task {}'s, not task {task}'s", holder.task_name());
            stderr.push_str(&style::refused(&format!("{whose}: {}", who(holder, view))));
            stderr.push_str(&style::hint("git aitask-lock merge status"));
        }
        MergeVerdict::NotOwnerSession { task, holder } => {
            stderr.push_str(&style::refused(&format!(
                "another session holds the reservation for task {task}: {}",
                who(holder, view)
            )));
            let hint = match holder.pid.filter(|_| holder.liveness == Liveness::Alive) {
                Some(pid) => format!("see what it does: ps -fp {pid}"),
                None => "if that session is gone: git aitask-lock merge force-release".to_owned(),
            };
            stderr.push_str(&style::hint(&hint));
        }
        MergeVerdict::HolderIncomplete { holder, .. } => {
            let why =
                holder.damage.map_or_else(|| "it names no process".to_owned(), |damage| damage.to_string());
            stderr.push_str(&style::refused(&format!("whose the reservation is cannot be told: {why}")));
            stderr.push_str(&style::hint("git aitask-lock merge force-release"));
        }
        MergeVerdict::NotHeld { task } => {
            say(&format!("Nobody holds the reservation: nothing to do for task {task}."));
        }
        MergeVerdict::DirtyTree(refusal)
        | MergeVerdict::PreflightMissing(refusal)
        | MergeVerdict::PreflightForeignWorktree(refusal)
        | MergeVerdict::PreflightCheckoutFailed(refusal)
        | MergeVerdict::PreflightHeadMismatch(refusal)
        | MergeVerdict::UnsafeOutputBranch(refusal)
        | MergeVerdict::AbortFailed(refusal)
        | MergeVerdict::TargetMismatch(refusal) => refusal_text(refusal, stderr),
        MergeVerdict::MergeOk(merged) => {
            say(&format!(
                "{} {} is in {} now ({}, {}). The reservation is kept: verify, publish, then release it.",
                style::good("Merged."),
                branch(&merged.task_branch),
                branch(&merged.output_branch),
                for_terminal(&merged.how),
                merged.oid.get(..12).unwrap_or(&merged.oid)
            ));
            if !view.quiet {
                stderr.push_str(&style::hint(&format!("git aitask-lock merge release {}", merged.task)));
            }
        }
        MergeVerdict::MergeConflict(conflict) => {
            stderr.push_str(&style::refused(&format!(
                "the merge of task {} stopped at conflicts in {}; the reservation is kept",
                conflict.task,
                for_terminal(&conflict.root)
            )));
            list("conflict", &conflict.paths, stderr);
            let there = format!("git -C {}", conflict.root);
            stderr.push_str(&style::hint(&format!(
                "resolve them and mark each with 'git add', then: {there} commit --no-edit"
            )));
            stderr.push_str(&style::hint(&format!(
                "or undo the merge: git aitask-lock merge abort {}",
                conflict.task
            )));
        }
        MergeVerdict::MergeFailed(failed) => {
            stderr.push_str(&style::error(&format!(
                "the merge of task {} failed: {}; the reservation is kept",
                failed.task,
                for_terminal(failed.said.trim())
            )));
            files(&failed.residue, stderr);
            if failed.residue.state() == "merge" && failed.residue.unmerged.is_empty() {
                stderr.push_str(&style::hint(&format!(
                    "all is staged; to finish it: git -C {} commit --no-edit",
                    failed.root
                )));
            } else if failed.residue.is_clean() {
                hints(&failed.moves, stderr);
                stderr
                    .push_str(&style::hint(&format!("nothing was changed; to try again: {}", failed.again)));
            }
            stderr
                .push_str(&style::hint(&format!("to give up: git aitask-lock merge abort {}", failed.task)));
        }
        MergeVerdict::MergeUnverified(unverified) => {
            let what = if unverified.kept {
                "it is not undone, and the reservation is kept"
            } else {
                "it is undone, and the reservation is given back"
            };
            stderr.push_str(&style::error(&format!(
                "the merge of task {} is not verified: {}; {what}",
                unverified.task,
                for_terminal(&unverified.why)
            )));
            rescued(unverified.rescue.as_ref(), stderr);
            hints(&unverified.hints, stderr);
        }
        MergeVerdict::Aborted(undone) => {
            say(&format!("The merge of task {} is undone, and the reservation given back.", undone.task));
            rescued(undone.rescue.as_ref(), stderr);
        }
        MergeVerdict::ReleasedNoMerge(undone) => say(&format!(
            "There was no merge of task {} to undo; the reservation is given back.",
            undone.task
        )),
        MergeVerdict::AbortUnsafe { task, residue, next, .. } => {
            stderr.push_str(&style::refused(&format!(
                "what stands in the shared root is no merge of task {task}: {residue}; the reservation is kept"
            )));
            files(residue, stderr);
            hints(next, stderr);
        }
        MergeVerdict::Cleaned(cleaned) => {
            say(&format!("Cleaned up after task {}.", cleaned.task));
            list("removed", &cleaned.removed, stderr);
        }
        MergeVerdict::CleanedPartial(cleaned) => {
            stderr.push_str(&style::refused(&format!("not all of task {} could be removed", cleaned.task)));
            list("removed", &cleaned.removed, stderr);
            list("kept", &cleaned.stayed, stderr);
        }
        MergeVerdict::CleanupRequiresCompletion { task } => {
            stderr.push_str(&style::refused(&format!("whether task {task} is complete is for you to say")));
            stderr.push_str(&style::hint(&format!("git aitask-lock merge cleanup {task} --task-complete")));
        }
        MergeVerdict::DryRun(dry) => stdout.push_str(&view.carried.ours(&dry_run::text(dry, view))),
        MergeVerdict::ForceReleased(released) => {
            say(&format!(
                "{} Task {}'s reservation is gone, and the shared root is clean.",
                style::good("Released by force."),
                released.holder.task_name()
            ));
            rescued(released.rescue.as_ref(), stderr);
        }
        MergeVerdict::RefusedLiveHolder { holder } => {
            stderr.push_str(&style::refused(&format!(
                "the session that holds the reservation is alive: {}; nothing was changed",
                who(holder, view)
            )));
            let pid = holder.pid.unwrap_or_default();
            stderr.push_str(&style::hint(&format!("see what it does: ps -fp {pid}")));
            stderr.push_str(&style::hint(&format!(
                "it gives the reservation back with: git aitask-lock merge release {}",
                holder.task_name()
            )));
        }
        MergeVerdict::HolderChanged { now, residue, .. } => {
            let what = match (now, residue) {
                (None, _) => "the reservation is free now".to_owned(),
                (Some(_), true) => "the shared root is not as you saw it".to_owned(),
                (Some(holder), false) => format!("somebody else holds it now: {}", who(holder, view)),
            };
            stderr.push_str(&style::refused(&format!("{what}; nothing was changed")));
            stderr.push_str(&style::hint("look again: git aitask-lock merge force-release"));
        }
        MergeVerdict::ResiduePresent(remedied) | MergeVerdict::WrongRemedy(remedied) => {
            remedied_text(remedied, stderr);
        }
        MergeVerdict::RecoveryFailed(failed) => failed_text(failed, stderr),
    }
}

fn claimed_text(claimed: &MergeClaimed, view: &View) -> String {
    let into = claimed.output_branch.as_deref().map(|name| format!(" into {}", branch(name)));
    let into = into.unwrap_or_default();
    match &claimed.reclaimed_from {
        _ if claimed.again => {
            format!("The reservation is still yours, for the merge of task {}{into}.", claimed.task)
        }
        None => format!("{} You may merge task {}{into}.", style::good("Reserved."), claimed.task),
        Some(holder) => format!(
            "{} You may merge task {}{into}. Task {} had the reservation since {}, but {}; the shared root is clean.",
            style::good("Reclaimed."),
            claimed.task,
            holder.task_name(),
            since(holder.taken_at.as_deref(), view),
            holder.liveness
        ),
    }
}

fn standing_text(standing: &Standing, view: &View) -> String {
    let mut text = match &standing.holder {
        None => format!("The merge reservation is {}.\n", style::good("free")),
        Some(holder) => {
            if let Some(damage) = holder.damage {
                format!("The merge reservation is held, but {damage}.\n")
            } else {
                let mine = if standing.mine { " by this session" } else { "" };
                let into = holder.output_branch.as_deref().map(|name| format!(", into {}", branch(name)));
                format!(
                    "The merge reservation is held{mine} for task {}{}: {}.\n",
                    style::strong(holder.task_name()),
                    into.unwrap_or_default(),
                    who(holder, view)
                )
            }
        }
    };
    for Waiter { position, task, pid, since: waits } in &standing.queue {
        let task = task.as_ref().map_or("unknown", |task| task.as_str());
        let pid = pid.map(|pid| format!(" (process {pid})")).unwrap_or_default();
        text.push_str(&format!(
            "  {position}. task {task}{pid} waits since {}\n",
            since(waits.as_deref(), view)
        ));
    }
    text
}

fn remedied_text(remedied: &Remedied, stderr: &mut String) {
    let what = match (remedied.given.option(), remedied.needed.option()) {
        (None, Some(needed)) => {
            format!("what is left in the shared root needs {needed}: {}", remedied.residue)
        }
        (Some(given), Some(needed)) => {
            format!(
                "{given} does not fit what is left in the shared root ({}): it needs {needed}",
                remedied.residue
            )
        }
        (Some(given), None) => format!("the shared root is clean: there is nothing for {given} to do"),
        (None, None) => "nothing is needed".to_owned(),
    };
    stderr.push_str(&style::refused(&format!("{what}; nothing was changed")));
    stderr.push_str(&style::hint(&remedied.command));
}

fn failed_text(failed: &RecoveryFailed, stderr: &mut String) {
    stderr.push_str(&style::error(&format!("not recovered: {}", for_terminal(&failed.why))));
    rescued(failed.rescue.as_ref(), stderr);
    hints(&failed.hints, stderr);
}

fn refusal_text(refusal: &Refusal, stderr: &mut String) {
    let kept = if refusal.kept { "; the reservation is kept" } else { "; the reservation is not taken" };
    stderr.push_str(&style::refused(&format!("{}{kept}", for_terminal(&refusal.why))));
    hints(&refusal.hints, stderr);
}

fn rescued(rescue: Option<&Rescued>, stderr: &mut String) {
    if let Some(rescue) = rescue {
        stderr.push_str(&style::hint(&format!(
            "what was there is saved as {}; to bring it back: {}",
            for_terminal(&rescue.reference),
            for_terminal(&rescue.restore)
        )));
        if let Some(folder) = &rescue.kept {
            let told = format!(
                "state files that git could neither read nor end are kept in {}",
                for_terminal(folder)
            );
            stderr.push_str(&style::hint(&told));
        }
    }
}

fn files(residue: &Residue, stderr: &mut String) {
    list("unmerged", &residue.unmerged, stderr);
    list("changed", &residue.dirty, stderr);
}

fn list(label: &str, entries: &[String], stderr: &mut String) {
    for entry in entries {
        stderr.push_str(&format!("  {label}: {}\n", for_terminal(entry)));
    }
}

fn hints(hints: &[String], stderr: &mut String) {
    for hint in hints {
        stderr.push_str(&style::hint(&for_terminal(hint)));
    }
}

/// The session, since when, and whether it is still there.
pub(super) fn who(holder: &Holder, view: &View) -> String {
    let process = holder.pid.map_or_else(|| "no process recorded".to_owned(), |pid| format!("process {pid}"));
    let host =
        holder.hostname.as_deref().map(|host| format!(" on {}", for_terminal(host))).unwrap_or_default();
    let owner = holder.owner.as_deref().map(|owner| format!(", {}", for_terminal(owner))).unwrap_or_default();
    format!("{process}{host}{owner}, since {}; {}", since(holder.taken_at.as_deref(), view), holder.liveness)
}

fn since(text: Option<&str>, view: &View) -> String {
    match text {
        None => "an unknown time".to_owned(),
        Some(text) => for_terminal(&moment::with_age(view.now, &moment::read(text, &view.zone))),
    }
}

/// A branch as people write it.
pub(super) fn branch(name: &str) -> String {
    for_terminal(name.strip_prefix("refs/heads/").unwrap_or(name))
}
