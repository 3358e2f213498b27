//! The outcomes of the merge commands. As with task locks, words, their order of fields and their
//! exit codes are promises.

use serde::Serialize;

pub use super::holder::Holder;
pub use super::report::*;
use super::residue::{Remedy, Residue};
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
        /// The next commands.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        next: Vec<String>,
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
    /// Merged, and undone again, because what was to verify it failed.
    MergeUnverified(Unverified),
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
        /// The next commands.
        next: Vec<String>,
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
            Self::MergeUnverified(_) => ("MERGE_UNVERIFIED", 24),
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
