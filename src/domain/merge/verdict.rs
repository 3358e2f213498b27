//! The outcomes of the merge commands. As with task locks, words, their order of fields and their
//! exit codes are promises.

use serde::{Serialize, Serializer};

use super::reservation::{Reservation, Unreadable};
use super::residue::{Remedy, Residue};
use crate::domain::liveness::Liveness;
use crate::domain::task_id::TaskId;

/// One outcome of a merge command. The variant is the word that scripts see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum MergeVerdict {
    /// This session has the reservation.
    MergeClaimed(MergeClaimed),
    /// Refused: somebody else has it, and the wait is over.
    Busy(Busy),
    /// Refused: the shared root holds what somebody left unfinished.
    StaleMergeResidue(StaleResidue),
    /// The reservation is taken (`merge status`).
    Held(Standing),
    /// The reservation is free (`merge status`).
    Free(Standing),
    /// Given back.
    Released(MergeReleased),
    /// It was to be given back, and is kept.
    Retained {
        /// The task.
        task: TaskId,
        /// The word of the outcome because of which it is kept.
        because: String,
        /// What happened, in a sentence; may hold untrusted text.
        why: String,
    },
    /// Refused: the reservation is another task's.
    NotHolder {
        /// The task that was named.
        task: TaskId,
        /// Who has it.
        holder: Holder,
    },
    /// Refused: the reservation is this task's, taken by another session.
    NotOwnerSession {
        /// The task.
        task: TaskId,
        /// Who has it.
        holder: Holder,
    },
    /// Refused: the reservation cannot be read, so nobody can tell whose it is.
    HolderIncomplete {
        /// The task that was named.
        task: TaskId,
        /// What could be read.
        holder: Holder,
    },
    /// There is no reservation.
    NotHeld {
        /// The task that was named.
        task: TaskId,
    },
    /// Refused before the merge: tracked files are changed.
    DirtyTree(Refusal),
    /// Refused before the merge: a branch, or the shared root, is missing.
    PreflightMissing(Refusal),
    /// Refused before the merge: the output branch is checked out in another worktree.
    PreflightForeignWorktree(Refusal),
    /// Refused before the merge: the output branch could not be checked out.
    PreflightCheckoutFailed(Refusal),
    /// Refused before the merge: HEAD is not the output branch.
    PreflightHeadMismatch(Refusal),
    /// Refused before the merge: that branch is no place to merge into.
    UnsafeOutputBranch(Refusal),
    /// Merged; the reservation is kept.
    MergeOk(Merged),
    /// The merge stopped at conflicts; the reservation is kept.
    MergeConflict(Conflict),
    /// The merge failed; the reservation is kept.
    MergeFailed(MergeFailed),
    /// The merge was undone, and the reservation given back.
    Aborted(Undone),
    /// There was nothing to undo; the reservation was given back.
    ReleasedNoMerge(Undone),
    /// Not undone: what is under way is no merge. The reservation is kept.
    AbortUnsafe {
        /// The task.
        task: TaskId,
        /// What stands there.
        residue: Residue,
        /// What it would take.
        remedy: Remedy,
    },
    /// It could not be undone; the reservation is kept.
    AbortFailed(Refusal),
    /// The task branch and its worktree are removed.
    Cleaned(Cleaned),
    /// Some of it stayed; the reservation is kept.
    CleanedPartial(Cleaned),
    /// Refused: `--task-complete` was not given.
    CleanupRequiresCompletion {
        /// The task.
        task: TaskId,
    },
    /// Refused: the branch is not the one that was merged.
    TargetMismatch(Refusal),
    /// What a forced release would do; nothing was changed.
    DryRun(DryRun),
    /// Released by force.
    ForceReleased(ForceReleased),
    /// Refused: the holder is provably alive.
    RefusedLiveHolder {
        /// Who has it.
        holder: Holder,
    },
    /// Refused: the state is no longer the one that was looked at.
    HolderChanged {
        /// Who has it now; none when it is free.
        now: Option<Holder>,
        /// The token that was expected.
        expected: String,
        /// Whether it is the same holder, and the shared root that changed.
        residue: bool,
    },
    /// Refused: the residue needs a remedy, and none was given.
    ResiduePresent(Remedied),
    /// Refused: the residue needs another remedy.
    WrongRemedy(Remedied),
    /// It could not be brought to a verified-clean state; the reservation is kept.
    RecoveryFailed(RecoveryFailed),
}

/// A reservation as it is shown. Texts are as they stand in the file, untrusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Holder {
    /// The task that holds it; none when that cannot be read.
    #[serde(rename = "holder_task")]
    pub task: Option<TaskId>,
    /// The reservation's ID.
    pub id: Option<String>,
    /// The session's process.
    pub pid: Option<u32>,
    /// Whether the session is still there, and why that is believed.
    #[serde(serialize_with = "liveness_word")]
    pub liveness: Liveness,
    /// The branch that is merged into, by full name.
    pub output_branch: Option<String>,
    /// The branch that is merged, by full name.
    pub task_branch: Option<String>,
    /// The owner's email.
    pub owner: Option<String>,
    /// The host it was taken on.
    pub hostname: Option<String>,
    /// When it was taken, as recorded.
    pub taken_at: Option<String>,
    /// How the session's process was found, as recorded.
    pub anchor_source: Option<String>,
    /// Why it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "damage_word")]
    pub damage: Option<Unreadable>,
}

impl Holder {
    /// A readable reservation, with what is known of its session.
    #[must_use]
    pub fn of(reservation: &Reservation, liveness: Liveness) -> Self {
        Self {
            task: Some(reservation.task.clone()),
            id: Some(reservation.id.clone()),
            pid: reservation.anchor.process.pid(),
            liveness,
            output_branch: reservation.output_branch.clone(),
            task_branch: reservation.task_branch.clone(),
            owner: reservation.owner.clone(),
            hostname: reservation.anchor.hostname.clone(),
            taken_at: Some(reservation.taken_at.clone()),
            anchor_source: reservation.anchor_source.clone(),
            damage: None,
        }
    }

    /// A reservation that cannot be read.
    #[must_use]
    pub fn unreadable(damage: Unreadable) -> Self {
        Self {
            task: None,
            id: None,
            pid: None,
            liveness: Liveness::Unknown(crate::domain::liveness::Doubt::Garbled),
            output_branch: None,
            task_branch: None,
            owner: None,
            hostname: None,
            taken_at: None,
            anchor_source: None,
            damage: Some(damage),
        }
    }

    /// The task, or that it cannot be told.
    #[must_use]
    pub fn task_name(&self) -> &str {
        self.task.as_ref().map_or("unknown", TaskId::as_str)
    }
}

fn liveness_word<S: Serializer>(liveness: &Liveness, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&format!("{}:{}", liveness.word(), liveness.reason()))
}

#[expect(clippy::ref_option, reason = "the shape that serde calls")]
fn damage_word<S: Serializer>(damage: &Option<Unreadable>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(damage.map(Unreadable::word).unwrap_or_default())
}

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
    /// The guard that has to be removed first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard: Option<String>,
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
    /// The stable word of what failed: `guard`, `rescue`, `abort`, `reset`, `residue`, `index-lock`.
    pub step: String,
    /// What happened, in a sentence; may hold untrusted text.
    pub why: String,
    /// What was saved, if it came to that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rescue: Option<Rescued>,
    /// The next commands.
    pub hints: Vec<String>,
}

impl MergeVerdict {
    /// The word of the machine forms.
    #[must_use]
    pub fn word(&self) -> &'static str {
        self.word_and_exit().0
    }

    /// The exit code of this outcome.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        self.word_and_exit().1
    }

    fn word_and_exit(&self) -> (&'static str, u8) {
        match self {
            Self::MergeClaimed(_) => ("MERGE_CLAIMED", 0),
            Self::Busy(_) => ("BUSY", 21),
            Self::StaleMergeResidue(_) => ("STALE_MERGE_RESIDUE", 22),
            Self::Held(_) => ("HELD", 0),
            Self::Free(_) => ("FREE", 0),
            Self::Released(_) => ("RELEASED", 0),
            Self::Retained { .. } => ("RETAINED", 29),
            Self::NotHolder { .. } => ("NOT_HOLDER", 25),
            Self::NotOwnerSession { .. } => ("NOT_OWNER_SESSION", 25),
            Self::HolderIncomplete { .. } => ("HOLDER_INCOMPLETE", 25),
            Self::NotHeld { .. } => ("NOT_HELD", 0),
            Self::DirtyTree(_) => ("DIRTY_TREE", 22),
            Self::PreflightMissing(_) => ("PREFLIGHT_MISSING", 22),
            Self::PreflightForeignWorktree(_) => ("PREFLIGHT_FOREIGN_WORKTREE", 22),
            Self::PreflightCheckoutFailed(_) => ("PREFLIGHT_CHECKOUT_FAILED", 22),
            Self::PreflightHeadMismatch(_) => ("PREFLIGHT_HEAD_MISMATCH", 22),
            Self::UnsafeOutputBranch(_) => ("UNSAFE_OUTPUT_BRANCH", 22),
            Self::MergeOk(_) => ("MERGE_OK", 0),
            Self::MergeConflict(_) => ("MERGE_CONFLICT", 23),
            Self::MergeFailed(_) => ("MERGE_FAILED", 24),
            Self::Aborted(_) => ("ABORTED", 0),
            Self::ReleasedNoMerge(_) => ("RELEASED_NO_MERGE", 0),
            Self::AbortUnsafe { .. } => ("ABORT_UNSAFE", 28),
            Self::AbortFailed(_) => ("ABORT_FAILED", 29),
            Self::Cleaned(_) => ("CLEANED", 0),
            Self::CleanedPartial(_) => ("CLEANED_PARTIAL", 29),
            Self::CleanupRequiresCompletion { .. } => ("CLEANUP_REQUIRES_COMPLETION", 22),
            Self::TargetMismatch(_) => ("TARGET_MISMATCH", 22),
            Self::DryRun(_) => ("DRY_RUN", 0),
            Self::ForceReleased(_) => ("FORCE_RELEASED", 0),
            Self::RefusedLiveHolder { .. } => ("REFUSED_LIVE_HOLDER", 26),
            Self::HolderChanged { .. } => ("HOLDER_CHANGED", 27),
            Self::ResiduePresent(_) => ("RESIDUE_PRESENT", 28),
            Self::WrongRemedy(_) => ("WRONG_REMEDY", 28),
            Self::RecoveryFailed(_) => ("RECOVERY_FAILED", 29),
        }
    }
}
