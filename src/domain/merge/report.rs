//! What the outcomes of the merge commands tell.

use serde::Serialize;

use super::holder::Holder;
use super::residue::{Remedy, Residue};
use crate::domain::task_id::TaskId;

/// The reservation is this session's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MergeClaimed {
    /// The task.
    pub task: TaskId,
    /// The reservation's ID.
    pub id: String,
    /// The branch that is merged into, by full name.
    pub output_branch: Option<String>,
    /// The session's process.
    pub pid: Option<u32>,
    /// Whether this session had it already.
    pub again: bool,
    /// The lost session that it was taken over from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reclaimed_from: Option<Box<Holder>>,
    /// Whole seconds waited.
    pub waited: u64,
}

/// Why a reservation cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BusyWhy {
    /// Its session is alive.
    Alive,
    /// Nothing can be proven of its session.
    Unknown,
    /// It cannot be read.
    Unreadable,
    /// This very session has it, for another task.
    OwnOtherTask,
    /// A reclaim or a recovery did not end: its guard stands there.
    Guard,
    /// It is free or was left behind, but others are before us in the queue.
    Queue,
    /// The wait ended early: a later command of this session waits for this task in its place.
    Superseded,
    /// The wait ended early: its session, or the command that started it, is gone.
    SessionEnded,
    /// The wait ended early: its place in the queue was removed by somebody.
    QueueRemoved,
}

impl BusyWhy {
    /// The stable word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Alive => "alive",
            Self::Unknown => "unknown",
            Self::Unreadable => "unreadable",
            Self::OwnOtherTask => "own-other-task",
            Self::Guard => "guard",
            Self::Queue => "queue",
            Self::Superseded => "superseded",
            Self::SessionEnded => "session-ended",
            Self::QueueRemoved => "queue-removed",
        }
    }
}

/// The reservation is somebody else's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Busy {
    /// The task that asked.
    pub task: TaskId,
    /// Why it cannot be had.
    pub why: BusyWhy,
    /// Whole seconds waited.
    pub waited: u64,
    /// Who has it; none when it is free all the same.
    #[serde(flatten)]
    pub holder: Option<Holder>,
    /// The guard that stands there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard: Option<String>,
    /// The command that takes the guard away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remove_guard: Option<String>,
    /// The whole command that waits longer.
    #[serde(skip)]
    pub again: String,
}

/// The shared root is not clean.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StaleResidue {
    /// The task that asked.
    pub task: TaskId,
    /// What stands there.
    pub residue: Residue,
    /// What it takes.
    pub remedy: Remedy,
    /// The shared root.
    pub root: String,
    /// The lost session that holds the reservation; none when nobody does, or this session.
    #[serde(flatten)]
    pub holder: Option<Holder>,
    /// The next commands.
    pub next: Vec<String>,
}

/// A place in the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Waiter {
    /// From 1.
    pub position: usize,
    /// The task that waits.
    pub task: Option<TaskId>,
    /// Its session's process.
    pub pid: Option<u32>,
    /// Since when, as recorded.
    pub since: Option<String>,
}

/// How the mutex stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// Who has it.
    #[serde(flatten)]
    pub holder: Option<Holder>,
    /// Whether that is the very session that asks.
    pub mine: bool,
    /// Who waits, in order.
    pub queue: Vec<Waiter>,
    /// The guard of a reclaim or recovery that did not end, as a word of a shell command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard: Option<String>,
    /// The command that takes the guard away; none where the next command that changes the mutex does so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remove_guard: Option<String>,
    /// The next commands, where the holder will not go by itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<String>,
}

/// Given back by its holder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MergeReleased {
    /// The task.
    pub task: TaskId,
    /// The reservation's ID.
    pub id: String,
    /// What the holder should know: changes by others, a merge that is none. Each is a stable word
    /// and a sentence.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// Something that was found when the reservation was given back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The stable word.
    pub word: &'static str,
    /// In a sentence; may hold untrusted text.
    pub text: String,
}

/// A refusal, or a failure, with its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// The task.
    pub task: TaskId,
    /// What it is about: a branch, a path, a word. The first field of the porcelain line.
    pub about: String,
    /// What happened, in a sentence; may hold untrusted text.
    pub why: String,
    /// The next commands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
    /// Whether the reservation is kept.
    pub kept: bool,
    /// The branch that merges go into, by full name, where the shared root stands on another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub into: Option<Box<str>>,
}

/// What git's own marks of a merge (`MERGE_HEAD`) came to that was committed, and then ended before it had
/// removed them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Leftover {
    /// They were removed; nothing else was changed.
    Removed,
    /// They are still there.
    Kept,
}

/// Merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Merged {
    /// The task.
    pub task: TaskId,
    /// The object ID of the output branch's tip now.
    pub oid: String,
    /// The branch that was merged into, by full name.
    pub output_branch: String,
    /// The branch that was merged, by full name.
    pub task_branch: String,
    /// What it came to: `merged`, `fast-forward`, `up-to-date`.
    pub how: String,
    /// What became of marks that git left, if it left any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leftover: Option<Leftover>,
}

/// Merged, and undone again: what was to verify it failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unverified {
    /// The task.
    pub task: TaskId,
    /// The object ID of the merge.
    pub oid: String,
    /// What happened, in a sentence; may hold untrusted text.
    pub why: String,
    /// What was saved before it was undone; the merge is in its history.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rescue: Option<Rescued>,
    /// Whether the reservation is kept, because the merge could not be undone.
    pub kept: bool,
    /// The next commands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
}

/// Stopped at conflicts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// The task.
    pub task: TaskId,
    /// The paths, from the top of the tree.
    pub paths: Vec<String>,
    /// The shared root.
    pub root: String,
}

/// The merge failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MergeFailed {
    /// The task.
    pub task: TaskId,
    /// git's exit status; none when it did not end by itself.
    pub code: Option<i32>,
    /// What git said; untrusted.
    pub said: String,
    /// What it left.
    pub residue: Residue,
    /// The shared root.
    pub root: String,
    /// The commands that move files out of its way.
    #[serde(skip)]
    pub moves: Vec<String>,
    /// The whole command that tries again.
    #[serde(skip)]
    pub again: String,
}

/// Undone, and given back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Undone {
    /// The task.
    pub task: TaskId,
    /// The reservation's ID.
    pub id: String,
    /// What was saved before it was undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rescue: Option<Rescued>,
    /// What became of marks that git left of a merge that is committed, if it left any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leftover: Option<Leftover>,
}

/// What was removed after a merge, and what was not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cleaned {
    /// The task.
    pub task: TaskId,
    /// What was removed: a branch, a worktree's folder.
    pub removed: Vec<String>,
    /// What stayed, each with why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stayed: Vec<String>,
}

/// Saved work: a commit under a reference of ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rescued {
    /// The full name of the reference.
    pub reference: String,
    /// The commit's object ID.
    pub commit: String,
    /// The command that brings it back.
    pub restore: String,
    /// The folder that keeps state files of git which git could neither read nor end, ready to be pasted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
}

/// What a forced release would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DryRun {
    /// What `--expect` takes: it names exactly this holder and this residue.
    pub token: String,
    /// The remedy that the residue needs.
    pub remedy: Remedy,
    /// Who has it.
    #[serde(flatten)]
    pub holder: Option<Holder>,
    /// What stands in the shared root.
    pub residue: Residue,
    /// The shared root.
    pub root: String,
    /// The branch that HEAD would go back to, by full name, where it was left on another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub back_to: Option<String>,
    /// The guard of a reclaim or recovery that did not end, as a word of a shell command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard: Option<String>,
    /// The command that has to take it away first; none where the armed command does so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remove_guard: Option<String>,
    /// The commands to run, in this order; the last is the armed one. Empty when the holder is
    /// alive or there is nothing to release.
    pub commands: Vec<String>,
}

/// Released by force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ForceReleased {
    /// Who had it.
    #[serde(flatten)]
    pub holder: Holder,
    /// The remedy that was applied.
    pub remedy: Remedy,
    /// What was saved before anything was discarded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rescue: Option<Rescued>,
}

/// A remedy that does not fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Remedied {
    /// Who has the reservation.
    #[serde(flatten)]
    pub holder: Option<Holder>,
    /// What stands there.
    pub residue: Residue,
    /// What was asked for.
    pub given: Remedy,
    /// What it takes.
    pub needed: Remedy,
    /// The armed command that fits.
    pub command: String,
}

/// A recovery that did not end in a verified-clean state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecoveryFailed {
    /// Who has the reservation, still.
    #[serde(flatten)]
    pub holder: Option<Holder>,
    /// The stable word of what failed: `guard`, `rescue`, `abort`, `reset`, `residue`, `index-lock`,
    /// `head`.
    pub step: String,
    /// What happened, in a sentence; may hold untrusted text.
    pub why: String,
    /// What was saved, if it came to that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rescue: Option<Rescued>,
    /// The command that takes the guard away, where that is what failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remove_guard: Option<String>,
    /// The next commands.
    pub hints: Vec<String>,
}
