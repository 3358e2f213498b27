//! The one outcome of one command for one task. Renderings are made of it, and of nothing else.

use serde::Serialize;

use super::failure::Failure;
use super::hook::HookVerdict;
use super::lock::LockView;
use super::merge::verdict::MergeVerdict;
use super::task_id::TaskId;

/// One outcome. The variant is the word that scripts see; words, their order of fields and their
/// exit codes are promises.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Verdict {
    /// Nobody held it; this session does now.
    Claimed(Taken),
    /// This session held it already.
    Refreshed(Taken),
    /// A session of mine that is gone held it; this session does now.
    ReclaimCrash(Retaken),
    /// A session of mine on another host held it; this session does now.
    LockReclaim(Retaken),
    /// A lock of mine that never named a process; this session holds it now.
    ReclaimStatus(Retaken),
    /// Replaced (claim) or removed (release) against the table, because `--force` said so.
    ForceUnlocked(Forced),
    /// Refused: another owner, or an owner that cannot be told.
    LockFailed(Refused),
    /// Refused: another session of mine on this host, alive.
    LockLiveHolder(Refused),
    /// Refused: another session of mine on this host, of which nothing can be proven.
    LockUnverifiableHolder(Refused),
    /// Refused: the lock is no longer the one that was looked at.
    HolderChanged(Changed),
    /// Nothing was done for this task, because another task of the same call was refused.
    NotClaimed(HeldBack),
    /// A person at the terminal decided to leave it alone.
    Declined {
        /// The task.
        task: TaskId,
    },
    /// Given back.
    Released(Released),
    /// This session does not hold it, or nobody does.
    NotHeld(NotHeld),
    /// Nothing was done for this task, because another task of the same call was refused.
    NotReleased(HeldBack),
    /// It is locked.
    Locked(LockView),
    /// It is free.
    Free {
        /// The task.
        task: TaskId,
    },
    /// A dry run: this lock would be removed.
    WouldRelease(Released),
    /// The lock branch is there now, or was already.
    Initialized {
        /// The branch.
        branch: String,
        /// Where it lives: a remote's name or address, or nothing for this repository.
        #[serde(skip_serializing_if = "Option::is_none")]
        remote: Option<String>,
        /// Whether this call made it.
        created: bool,
        /// The tip whose history a new root has taken the place of, where this call did that.
        #[serde(skip_serializing_if = "Option::is_none")]
        replaced: Option<String>,
        /// Locks that were known before and are not on the branch any more.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        lost: Vec<TaskId>,
    },
    /// The process that a lock taken here would name.
    Anchor(AnchorReport),
    /// No process can be named for this session.
    NoSessionAnchor {
        /// What was tried, and why it was not taken.
        tried: Vec<String>,
    },
    /// Something that happened to a lock.
    Event(super::history::Event),
    /// What the story adds up to for one owner.
    Tally(super::tally::Tally),
    /// What `doctor` found.
    Finding(super::finding::Finding),
    /// Where the man pages are, or would be.
    Manual {
        /// The folder.
        folder: String,
        /// How many of our pages are there.
        pages: usize,
        /// Whether this call put them there.
        installed: bool,
        /// Whether `man` finds them there by itself.
        found: bool,
    },
    /// A text as it is: a script.
    Text {
        /// The text.
        text: String,
    },
    /// One word that a command can answer with.
    Word(super::words::Word),
    /// Something went wrong; nothing is known to have been changed.
    LockError(Failure),
    /// What a merge command came to.
    #[serde(untagged)]
    Merge(Box<MergeVerdict>),
    /// What a hook command came to.
    #[serde(untagged)]
    Hook(HookVerdict),
}

impl From<HookVerdict> for Verdict {
    fn from(verdict: HookVerdict) -> Self {
        Self::Hook(verdict)
    }
}

impl From<MergeVerdict> for Verdict {
    fn from(verdict: MergeVerdict) -> Self {
        Self::Merge(Box::new(verdict))
    }
}

/// A lock that this session holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Taken {
    /// The task.
    pub task: TaskId,
    /// The owner that was recorded.
    pub owner: String,
    /// The lock's ID.
    pub lock_id: String,
    /// The session's process; none when it could not be named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Whether a commit was made; a young lock is only verified.
    pub written: bool,
}

/// A lock that this session took over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Retaken {
    /// The task.
    pub task: TaskId,
    /// The owner that was recorded.
    pub owner: String,
    /// The new lock's ID.
    pub lock_id: String,
    /// The session's process; none when it could not be named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// This host.
    pub this_host: Option<String>,
    /// The lock that stood there before.
    pub previous: LockView,
}

/// A lock that was replaced or removed by force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Forced {
    /// The task.
    pub task: TaskId,
    /// The new lock's ID; none when the lock was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock_id: Option<String>,
    /// The lock that stood there before.
    pub previous: LockView,
}

/// What a refused command wanted: its remedy is named after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Wanted {
    /// To claim.
    Claim,
    /// To refresh.
    Refresh,
    /// To release.
    Release,
}

impl Wanted {
    /// The command's word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Refresh => "refresh",
            Self::Release => "release",
        }
    }
}

/// A refusal: nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// What was wanted.
    pub wanted: Wanted,
    /// Who holds it.
    #[serde(flatten)]
    pub holder: LockView,
}

/// The lock is another one than `--expect` named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Changed {
    /// The task.
    pub task: TaskId,
    /// What was wanted.
    pub wanted: Wanted,
    /// The lock ID that was expected.
    pub expected: String,
    /// Who holds it now; none when it is free.
    pub now: Option<LockView>,
}

/// A task that waits for another one of the same call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HeldBack {
    /// The task.
    pub task: TaskId,
    /// The task that was refused.
    pub because_of: TaskId,
}

/// Why a lock was, or would be, given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reason {
    /// Its holder asked for it.
    Asked,
    /// Its session is gone.
    Gone,
    /// Its task is archived.
    Archived,
    /// It is mine, from another host or without a process.
    Own,
}

impl Reason {
    /// The stable word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Gone => "gone",
            Self::Archived => "archived",
            Self::Own => "own",
        }
    }
}

/// A lock that was, or would be, given back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Released {
    /// Why.
    pub reason: Reason,
    /// The lock that stood there.
    #[serde(flatten)]
    pub previous: LockView,
}

/// The process that stands for this session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AnchorReport {
    /// The process.
    pub pid: u32,
    /// The program's name, as the kernel knows it.
    pub program: Option<String>,
    /// How it was found.
    pub source: super::anchor::AnchorSource,
    /// Whether a start token makes it recognizable for sure.
    pub strong: bool,
    /// The host's name.
    pub hostname: Option<String>,
    /// What was tried on the way.
    pub tried: Vec<String>,
}

/// There is nothing of this session's to refresh or to release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotHeld {
    /// The task.
    pub task: TaskId,
    /// What was wanted: a release of nothing is done, a refresh of nothing is refused.
    pub wanted: Wanted,
    /// The lock that stands there, which this session would have to claim first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder: Option<LockView>,
}

impl Verdict {
    /// The word of the machine forms.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Claimed(_) => "CLAIMED",
            Self::Refreshed(_) => "REFRESHED",
            Self::ReclaimCrash(_) => "RECLAIM_CRASH",
            Self::LockReclaim(_) => "LOCK_RECLAIM",
            Self::ReclaimStatus(_) => "RECLAIM_STATUS",
            Self::ForceUnlocked(_) => "FORCE_UNLOCKED",
            Self::LockFailed(_) => "LOCK_FAILED",
            Self::LockLiveHolder(_) => "LOCK_LIVE_HOLDER",
            Self::LockUnverifiableHolder(_) => "LOCK_UNVERIFIABLE_HOLDER",
            Self::HolderChanged(_) => "HOLDER_CHANGED",
            Self::NotClaimed(_) => "NOT_CLAIMED",
            Self::Declined { .. } => "DECLINED",
            Self::Released(_) => "RELEASED",
            Self::NotHeld(_) => "NOT_HELD",
            Self::NotReleased(_) => "NOT_RELEASED",
            Self::Locked(_) => "LOCKED",
            Self::Free { .. } => "FREE",
            Self::WouldRelease(_) => "WOULD_RELEASE",
            Self::Initialized { .. } => "INITIALIZED",
            Self::Anchor(_) => "ANCHOR",
            Self::NoSessionAnchor { .. } => "NO_SESSION_ANCHOR",
            Self::Event(_) => "EVENT",
            Self::Tally(_) => "TALLY",
            Self::Finding(_) => "FINDING",
            Self::Manual { .. } => "MANUAL",
            Self::Text { .. } => "TEXT",
            Self::Word(_) => "WORD",
            Self::LockError(_) => "LOCK_ERROR",
            Self::Merge(verdict) => verdict.word(),
            Self::Hook(verdict) => verdict.word(),
        }
    }

    /// The exit code that this outcome alone would give. For `check`, `list` and the like the command
    /// decides: there `FREE` and `LOCKED` are answers.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Claimed(_)
            | Self::Refreshed(_)
            | Self::ReclaimCrash(_)
            | Self::LockReclaim(_)
            | Self::ReclaimStatus(_)
            | Self::ForceUnlocked(_)
            | Self::Released(_)
            | Self::WouldRelease(_)
            | Self::Locked(_)
            | Self::Initialized { .. }
            | Self::Anchor(_)
            | Self::Event(_)
            | Self::Tally(_)
            | Self::Text { .. }
            | Self::Word(_) => 0,
            Self::Manual { pages, .. } => u8::from(*pages == 0),
            Self::Finding(finding) => u8::from(finding.level == super::finding::Level::Problem),
            Self::NotHeld(not_held) => match not_held.wanted {
                Wanted::Release => 0,
                Wanted::Claim | Wanted::Refresh => 1,
            },
            Self::Free { .. }
            | Self::Declined { .. }
            | Self::LockFailed(_)
            | Self::NotClaimed(_)
            | Self::NotReleased(_) => 1,
            Self::LockLiveHolder(_) => 13,
            Self::LockUnverifiableHolder(_) => 14,
            Self::NoSessionAnchor { .. } => 20,
            Self::HolderChanged(_) => 27,
            Self::LockError(failure) => failure.kind.exit_code(),
            Self::Merge(verdict) => verdict.exit_code(),
            Self::Hook(verdict) => verdict.exit_code(),
        }
    }

    /// Whether the command was refused, or failed.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        !matches!(self, Self::Free { .. }) && self.exit_code() != 0
    }
}

/// The exit code of a whole command: of the first outcome that is a refusal in its own right, else
/// of the first that is not 0.
#[must_use]
pub fn exit_code(verdicts: &[Verdict]) -> u8 {
    let held_back = |verdict: &Verdict| matches!(verdict, Verdict::NotClaimed(_) | Verdict::NotReleased(_));
    let mut codes = verdicts.iter().filter(|verdict| !held_back(verdict)).map(Verdict::exit_code);
    codes.find(|code| *code != 0).unwrap_or(0)
}
