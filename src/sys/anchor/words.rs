//! What can be said about an anchor: what happened, why it matters, what to do.

use std::fmt;

use crate::domain::anchor::AnchorSource;
use crate::sys::tmux::TmuxError;

/// How to give an agent a session that nothing can confuse.
const REMEDY: &str = "Start the agent with `git aitask-lock exec -- '<agent>'`";

/// Something about the anchor that may go wrong.
#[derive(Debug)]
pub enum AnchorWarning {
    /// Ignored: no process id above 1.
    AgentPidMalformed {
        /// The value, shortened and without control characters.
        value: String,
    },
    /// Ignored: no such process, or it has ended.
    AgentPidGone {
        /// The process id.
        pid: u32,
    },
    /// Ignored: whether it exists cannot be told.
    AgentPidNotSeen {
        /// The process id.
        pid: u32,
    },
    /// Used, although it ends together with this command.
    AgentPidIsThisCommand {
        /// The process id.
        pid: u32,
    },
    /// Used, although this command does not run under it.
    AgentPidNotAncestor {
        /// The process id.
        pid: u32,
        /// Its name, where it may be read.
        name: Option<String>,
    },
    /// Used, although it cannot be seen whether this command runs under it.
    AgentPidAncestryUnknown {
        /// The process id.
        pid: u32,
    },
    /// Used, although somebody else runs it.
    AgentPidOtherUser {
        /// The process id.
        pid: u32,
        /// Its real user id.
        uid: u32,
    },
    /// Used, although it is shared by all panes.
    AgentPidIsTmuxServer {
        /// The process id.
        pid: u32,
    },
    /// Used without a start token.
    NotInspectable {
        /// The process id.
        pid: u32,
    },
    /// No tmux anchor: the server gave none.
    Tmux(TmuxError),
    /// No tmux anchor: the pane belongs to somebody else.
    PaneNotAncestor {
        /// The pane that `TMUX_PANE` names.
        pane: String,
        /// The pane's process.
        pid: u32,
    },
    /// No tmux anchor: whether the pane is ours cannot be seen.
    PaneAncestryUnknown {
        /// The pane that `TMUX_PANE` names.
        pane: String,
        /// The pane's process.
        pid: u32,
    },
}

impl AnchorWarning {
    /// The variable that it is about.
    #[must_use]
    pub fn source(&self) -> Option<AnchorSource> {
        match self {
            Self::AgentPidMalformed { .. }
            | Self::AgentPidGone { .. }
            | Self::AgentPidNotSeen { .. }
            | Self::AgentPidIsThisCommand { .. }
            | Self::AgentPidNotAncestor { .. }
            | Self::AgentPidAncestryUnknown { .. }
            | Self::AgentPidOtherUser { .. }
            | Self::AgentPidIsTmuxServer { .. } => Some(AnchorSource::AgentPid),
            Self::Tmux(_) | Self::PaneNotAncestor { .. } | Self::PaneAncestryUnknown { .. } => {
                Some(AnchorSource::Tmux)
            }
            Self::NotInspectable { .. } => None,
        }
    }
}

impl fmt::Display for AnchorWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AgentPidMalformed { value } => write!(
                f,
                "AIT_AGENT_PID is ignored: `{value}` is no process id above 1. \
                 Set it to the agent's process id, or unset it."
            ),
            Self::AgentPidGone { pid } => write!(
                f,
                "AIT_AGENT_PID is ignored: there is no process {pid} any more. \
                 A lock on it would look abandoned at once. {REMEDY}, or unset it."
            ),
            Self::AgentPidNotSeen { pid } => write!(
                f,
                "AIT_AGENT_PID is ignored: whether process {pid} exists cannot be told here. \
                 {REMEDY}, in the same container or sandbox as this command."
            ),
            Self::AgentPidIsThisCommand { pid } => write!(
                f,
                "AIT_AGENT_PID names process {pid}, which is this very command: when it ends, its locks \
                 look abandoned. {REMEDY}, or set it to the agent's process id."
            ),
            Self::AgentPidNotAncestor { pid, name } => {
                write!(f, "AIT_AGENT_PID names process {pid}")?;
                if let Some(name) = name {
                    write!(f, " ({name})")?;
                }
                write!(
                    f,
                    ", but this command does not run under it. If that is another session's \
                     process, both sessions count as one and do not exclude each other; if it ends \
                     early, this session's locks look abandoned. {REMEDY} to be sure."
                )
            }
            Self::AgentPidAncestryUnknown { pid } => write!(
                f,
                "AIT_AGENT_PID names process {pid}, and it cannot be seen here whether this command \
                 runs under it. If it does not, this session may be taken for another one. \
                 Check with `ps -o pid,ppid,comm -p {pid}`."
            ),
            Self::AgentPidOtherUser { pid, uid } => write!(
                f,
                "AIT_AGENT_PID names process {pid}, which user {uid} runs. Whether it lives may not \
                 be visible to you later, and your locks follow somebody else's process. {REMEDY}."
            ),
            Self::AgentPidIsTmuxServer { pid } => write!(
                f,
                "AIT_AGENT_PID names the tmux server (process {pid}). All its panes count as one \
                 session and do not exclude each other. Unset AIT_AGENT_PID, so that each pane is a \
                 session of its own."
            ),
            Self::NotInspectable { pid } => write!(
                f,
                "The start time of process {pid} cannot be read. Whether a lock on it is still held \
                 will never be certain, so only `--force` can take it over. {REMEDY}, as the same \
                 user and where /proc is mounted."
            ),
            Self::Tmux(error) => write!(
                f,
                "TMUX is set, but the pane's process cannot be used: {error}. \
                 This session's process cannot be named that way. {REMEDY}."
            ),
            Self::PaneNotAncestor { pane, pid } => write!(
                f,
                "TMUX_PANE names pane {pane}, but this command does not run under its process {pid}: \
                 the environment is stale, or the command was detached from its pane. A lock on \
                 that process would belong to another session, so it is not used. {REMEDY}."
            ),
            Self::PaneAncestryUnknown { pane, pid } => write!(
                f,
                "TMUX_PANE names pane {pane}, but it cannot be seen here whether this command runs \
                 under its process {pid}, so it is not used. {REMEDY}."
            ),
        }
    }
}

/// Something about the anchor that is common and worth knowing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnchorNote {
    /// The process is an interactive shell.
    PlainShell {
        /// The process id.
        pid: u32,
        /// The shell's name.
        name: String,
    },
}

impl fmt::Display for AnchorNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PlainShell { pid, name } => write!(
                f,
                "Process {pid} is a shell ({name}): it outlives an agent that was started in it, so \
                 that agent's locks stay alive until the shell ends too. {REMEDY} to tie them to \
                 the agent."
            ),
        }
    }
}

/// One way to find the session's process, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The way.
    pub source: AnchorSource,
    /// What became of it.
    pub outcome: Outcome,
}

/// What became of a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its variable is not set.
    NotSet,
    /// An earlier candidate was taken.
    NotNeeded,
    /// It is the anchor.
    Taken {
        /// The process id.
        pid: u32,
        /// Its name, where it may be read.
        name: Option<String>,
    },
    /// It cannot be the anchor.
    Refused {
        /// Why, as a warning says it too.
        reason: String,
    },
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.source {
            AnchorSource::AgentPid => "AIT_AGENT_PID",
            AnchorSource::Tmux => "tmux pane",
        };
        match &self.outcome {
            Outcome::NotSet => write!(f, "{what}: not set"),
            Outcome::NotNeeded => write!(f, "{what}: not asked, an earlier answer was used"),
            Outcome::Taken { pid, name: Some(name) } => write!(f, "{what}: process {pid} ({name})"),
            Outcome::Taken { pid, name: None } => write!(f, "{what}: process {pid}"),
            Outcome::Refused { reason } => write!(f, "{what}: {reason}"),
        }
    }
}
