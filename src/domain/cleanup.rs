//! Which locks a clean-up removes: those of archived tasks, and, when asked, those of sessions of mine
//! that are gone. Never one whose session is alive, and never one that cannot be read.

use std::collections::BTreeSet;

use super::lock::{Found, State};
use super::plan::{Action, Asker, CommitNote, Edit, Plan};
use super::record::Reading;
use super::rules::{self, Ruling};
use super::task_id::TaskId;
use super::verdict::{Reason, Released, Verdict};

/// What a clean-up is to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// Tasks whose files are archived.
    pub archived: BTreeSet<TaskId>,
    /// Whether locks of sessions that are gone are removed as well.
    pub gone: bool,
    /// Only say what would be removed.
    pub dry_run: bool,
}

/// Decides a clean-up on all locks of the branch.
#[must_use]
pub fn decide(sweep: &Sweep, asker: &Asker, locks: &[Found]) -> Plan {
    let anchor = asker.session.anchor();
    let here = &asker.session.here;
    let mut edits = Vec::new();
    let mut actions = Vec::new();
    let mut verdicts = Vec::new();
    for lock in locks {
        let Some(reason) = reason(sweep, asker, lock) else { continue };
        let previous = lock.view(Some(&asker.owner), &anchor, here);
        let released = Released { reason, previous };
        if sweep.dry_run {
            verdicts.push(Verdict::WouldRelease(released));
            continue;
        }
        verdicts.push(Verdict::Released(released));
        edits.push(Edit::Remove { file: lock.file.clone() });
        actions.push(Action { word: "cleanup", task: lock.task.clone(), lock_id: lock.lock_id.clone() });
    }
    if edits.is_empty() {
        return Plan::Settled(verdicts);
    }
    let subject = format!("ait: Cleanup {} stale lock(s)", edits.len());
    Plan::Write { edits, note: CommitNote { subject, actions }, verdicts }
}

fn reason(sweep: &Sweep, asker: &Asker, lock: &Found) -> Option<Reason> {
    if matches!(lock.reading, Reading::Damaged { .. }) {
        return None;
    }
    let anchor = asker.session.anchor();
    let here = &asker.session.here;
    let state = lock.view(Some(&asker.owner), &anchor, here).state;
    if sweep.archived.contains(&lock.task) && state != State::Live {
        return Some(Reason::Archived);
    }
    let ruling = rules::decide(lock.holder(&asker.owner, &anchor, here));
    (sweep.gone && ruling == Ruling::ReclaimCrash).then_some(Reason::Gone)
}

/// The task that a file of the archive is about: `t42_fix_it.md`, `t16_2_more.md`, `t42.md`, or a
/// name that is no number (`tREFACTOR.md`).
#[must_use]
pub fn archived_task(file: &str) -> Option<TaskId> {
    let stem = file.strip_suffix(".md")?;
    let bare = stem.strip_prefix('t').unwrap_or(stem);
    let mut parts = bare.split('_');
    let first = parts.next()?;
    if first.is_empty() || !first.bytes().all(|byte| byte.is_ascii_digit()) {
        return TaskId::parse(bare).ok();
    }
    match parts.next() {
        Some(child) if !child.is_empty() && child.bytes().all(|byte| byte.is_ascii_digit()) => {
            TaskId::parse(&format!("{first}_{child}")).ok()
        }
        _ => TaskId::parse(first).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archived_files_name_their_task() {
        for (file, task) in [
            ("t42_fix_it.md", Some("42")),
            ("t16_2_more.md", Some("16_2")),
            ("t16_2.md", Some("16_2")),
            ("t16_2fast.md", Some("16")),
            ("t42.md", Some("42")),
            ("t042_x.md", Some("42")),
            ("42_x.md", Some("42")),
            ("tREFACTOR.md", Some("REFACTOR")),
            ("notes.txt", None),
            ("t.md", None),
            (".md", None),
        ] {
            assert_eq!(archived_task(file).as_ref().map(TaskId::as_str), task, "{file}");
        }
    }
}
