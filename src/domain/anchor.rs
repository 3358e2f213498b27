//! What a lock records of the session that took it, and where those numbers mean something.

use serde::{Deserialize, Serialize};

/// Where a pid and its start token mean something.
///
/// Two tables are the same only when all three parts are equal; pids and tokens of different
/// tables are never compared, whatever the host names say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessTable {
    /// `/proc/sys/kernel/random/boot_id`: one value for every namespace of one boot.
    pub boot_id: String,
    /// Inode number of `/proc/self/ns/pid`.
    pub pid_namespace: u64,
    /// Inode number of `/proc/self/ns/time`; start tokens are relative to it.
    pub time_namespace: u64,
}

/// How a start token was read, which says how much its equality proves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// Field 22 of `/proc/<pid>/stat`, in clock ticks since boot: equality proves identity.
    Proc,
    /// Start time as `ps` prints it, in whole seconds: only a difference proves anything.
    Ps,
    /// A word this program does not know: proves nothing.
    Other(String),
}

impl TokenKind {
    /// The word as it stands in a record.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Proc => "proc",
            Self::Ps => "ps",
            Self::Other(word) => word,
        }
    }

    /// Reads the word of a record. A token without a kind came from `/proc`.
    #[must_use]
    pub fn parse(word: Option<&str>) -> Self {
        match word {
            None | Some("proc") => Self::Proc,
            Some("ps") => Self::Ps,
            Some(other) => Self::Other(other.to_owned()),
        }
    }
}

/// A start token and its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartToken {
    /// The token as text; compared literally.
    pub value: String,
    /// How it was read.
    pub kind: TokenKind,
}

/// The process part of an anchor, as a record holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordedProcess {
    /// No process was recorded: no key, `-` or `0`.
    None,
    /// Something stands there that is no process id: held, but undecidable.
    Garbled,
    /// A process id above zero.
    Process {
        /// The process id, in the recorded process table.
        pid: u32,
        /// Its start token, where one was recorded.
        token: Option<StartToken>,
    },
}

impl RecordedProcess {
    /// The recorded process id, if there is one.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        match self {
            Self::Process { pid, .. } => Some(*pid),
            Self::None | Self::Garbled => None,
        }
    }
}

/// How an anchor was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AnchorSource {
    /// The process that `AIT_AGENT_PID` names.
    #[serde(rename = "AIT_AGENT_PID")]
    AgentPid,
    /// The process of the caller's tmux pane.
    #[serde(rename = "tmux")]
    Tmux,
}

impl AnchorSource {
    /// The word as it stands in a record.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AgentPid => "AIT_AGENT_PID",
            Self::Tmux => "tmux",
        }
    }
}

/// What a lock recorded of its session. Every part may be missing in a record of another version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// The process that stands for the session.
    pub process: RecordedProcess,
    /// Where the pid and the token mean something; all three parts or none.
    pub table: Option<ProcessTable>,
    /// Host name; `None` when missing, empty or `unknown`.
    pub hostname: Option<String>,
    /// Derived machine id: equality supports "same machine", nothing more.
    pub machine_id: Option<String>,
}

/// The machine and process table of the running command: the place from which it judges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Here {
    /// Our process table; `None` where `/proc` does not show it.
    pub table: Option<ProcessTable>,
    /// Our host name, or the pinned one (`aitask-lock.hostname`); `None` when there is none.
    pub hostname: Option<String>,
    /// Our derived machine id, where `/etc/machine-id` holds a usable one.
    pub machine_id: Option<String>,
    /// Whether our PID namespace is the machine's initial one. Where it is not, a record
    /// without namespaces proves nothing about our process table.
    pub initial_pid_namespace: bool,
}

/// What was seen of a recorded pid in our own process table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observed {
    /// Nobody looked, or looking failed in a way that proves nothing.
    NotSeen,
    /// No such process (ESRCH).
    Absent,
    /// Its pidfd polls readable: the whole process has ended, reaped or not.
    Ended,
    /// It exists; the `proc` start token is `None` when it may not be inspected.
    Exists {
        /// Field 22 of its stat line.
        start_ticks: Option<u64>,
    },
}

/// The running command's own session: what a lock taken now would record, and from where it judges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The place.
    pub here: Here,
    /// The process that stands for the session; `None` when it cannot be named.
    pub process: Option<SessionProcess>,
}

/// A session's process, proven to exist when it was resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionProcess {
    /// Process id in our process table.
    pub pid: u32,
    /// Its start token; `None` when it may not be inspected.
    pub token: Option<StartToken>,
    /// How it was found.
    pub source: AnchorSource,
}

impl Session {
    /// The anchor that a lock taken by this session records.
    #[must_use]
    pub fn anchor(&self) -> Anchor {
        Anchor {
            process: match &self.process {
                None => RecordedProcess::None,
                Some(process) => RecordedProcess::Process { pid: process.pid, token: process.token.clone() },
            },
            table: self.here.table.clone(),
            hostname: self.here.hostname.clone(),
            machine_id: self.here.machine_id.clone(),
        }
    }
}
