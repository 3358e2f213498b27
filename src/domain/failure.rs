//! What can go wrong besides a refusal: what happened, why, and the next command.

use serde::Serialize;

use super::task_id::TaskId;

/// A failure, ready to be told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// Which kind, with its stable word and exit code.
    #[serde(rename = "error")]
    pub kind: FailureKind,
    /// A finer word within the kind (`unreachable`, `authentication`, …); may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// What happened, in one or two sentences; may hold untrusted text.
    pub message: String,
    /// What to do next, each a sentence with a command or a command alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
    /// The tasks it was about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<TaskId>,
}

/// Kinds of failure, sorted by what can be done about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The command line, or a value it stands on, makes no sense.
    Usage,
    /// The lock branch is missing and is not to be made by this command.
    BranchMissing,
    /// The lock branch was rewritten and locks that were on it are gone.
    BranchRewritten,
    /// The remote cannot be read.
    FetchFailed,
    /// What was read of the lock branch makes no sense.
    Unreadable,
    /// Others kept changing the branch until the time budget was used up.
    RaceExhaustion,
    /// The server was reached and said no.
    PushRefused,
    /// Whether the change landed cannot be told.
    OutcomeUnknown,
    /// Several addresses could be the arbiter.
    AmbiguousRemote,
    /// Our side cannot be written.
    NotWritable,
    /// Not a repository, or one that cannot be used.
    NoRepository,
    /// Anything else.
    Fatal,
}

impl FailureKind {
    /// The stable word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Usage => "usage",
            Self::BranchMissing => "branch_missing",
            Self::BranchRewritten => "branch_rewritten",
            Self::FetchFailed => "fetch_failed",
            Self::Unreadable => "unreadable",
            Self::RaceExhaustion => "race_exhaustion",
            Self::PushRefused => "push_refused",
            Self::OutcomeUnknown => "outcome_unknown",
            Self::AmbiguousRemote => "ambiguous_remote",
            Self::NotWritable => "not_writable",
            Self::NoRepository => "no_repository",
            Self::Fatal => "fatal",
        }
    }

    /// The exit code.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Usage | Self::AmbiguousRemote => 2,
            Self::BranchMissing => 10,
            Self::BranchRewritten | Self::FetchFailed | Self::Unreadable => 11,
            Self::RaceExhaustion => 12,
            Self::PushRefused => 15,
            Self::OutcomeUnknown => 16,
            Self::NotWritable | Self::NoRepository | Self::Fatal => 128,
        }
    }
}

impl Failure {
    /// A failure of a kind, with what happened.
    #[must_use]
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, detail: String::new(), message: message.into(), hints: Vec::new(), tasks: Vec::new() }
    }

    /// Adds a finer word.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}
