//! The content of the merge mutex, and its file format.
//!
//! The reservation is a file of this program's own, so it is plain YAML. Its random ID is the last
//! key: a file that was cut off anywhere has no complete one, and reads as unreadable.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::residue::Residue;
use crate::domain::anchor::{Anchor, ProcessTable, RecordedProcess, StartToken, TokenKind};
use crate::domain::task_id::TaskId;

/// Largest reservation that is read, in bytes.
pub const MAX_BYTES: usize = 16 * 1024;

/// The version of the file's shape that this program writes, and the newest that it reads.
const VERSION: u32 = 1;

/// Hexadecimal digits of a reservation's ID: 128 bits.
const ID_DIGITS: usize = 32;

/// Who has the merge mutex, since when and for what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// Random, 128 bits in lower-case hexadecimal digits, new at every claim.
    pub id: String,
    /// The task whose merge it is.
    pub task: TaskId,
    /// The branch that is merged into, by full name.
    pub output_branch: Option<String>,
    /// The branch that is merged, by full name, where it is known.
    pub task_branch: Option<String>,
    /// The object ID of that branch's tip when it was last merged: the branch may grow, or go.
    pub task_tip: Option<String>,
    /// The owner's email, for people to read.
    pub owner: Option<String>,
    /// The session that holds it.
    pub anchor: Anchor,
    /// How the session's process was found, as recorded.
    pub anchor_source: Option<String>,
    /// When it was taken, as recorded.
    pub taken_at: String,
    /// How the shared root looked then.
    pub baseline: Baseline,
}

/// The shared root as it was when the reservation was taken: what differs later was changed by
/// somebody, and the holder is told so.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// What HEAD names: a branch by full name, or an object ID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// The object ID of the output branch's tip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tip: Option<String>,
    /// A checksum of the index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
}

impl Reservation {
    /// Whether what stands in the shared root, though no merge is under way, is what this session's
    /// own merge left when it was ended: staged files on the commit that it began on. The root was clean
    /// then, and nobody but the holder works in it since.
    #[must_use]
    pub fn began_here(&self, residue: &Residue, head_branch: Option<&str>) -> bool {
        residue.merge_head.is_none()
            && residue.operations.is_empty()
            && !residue.index_locked
            && residue.head.is_some()
            && residue.head == self.baseline.tip
            && head_branch.is_some()
            && head_branch == self.output_branch.as_deref()
    }

    /// The branch that HEAD has to go back to once the session is gone, where it names neither the
    /// branch that was merged into, nor what it named at the beginning: the next merge would go there.
    #[must_use]
    pub fn strayed_from(&self, head_branch: Option<&str>) -> Option<&str> {
        let output = self.output_branch.as_deref().filter(|name| name.starts_with("refs/heads/"))?;
        let began = self.baseline.head.as_deref();
        let as_it_began = match head_branch {
            Some(_) => head_branch == began,
            None => began.is_some_and(|head| !head.starts_with("refs/")),
        };
        (head_branch != Some(output) && !as_it_began).then_some(output)
    }
}

/// Why a reservation cannot be read. It is held all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unreadable {
    /// No content.
    Empty,
    /// Larger than [`MAX_BYTES`], no regular file, or not to be opened.
    NotAFile,
    /// Not text.
    Binary,
    /// Cut off, or written by somebody else.
    Incomplete,
    /// Written by a newer version of this program.
    Newer,
}

impl Unreadable {
    /// The stable word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::NotAFile => "not-a-file",
            Self::Binary => "binary",
            Self::Incomplete => "incomplete",
            Self::Newer => "newer-version",
        }
    }
}

impl fmt::Display for Unreadable {
    /// What is wrong, as part of a sentence.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "its record is empty",
            Self::NotAFile => "something that is no readable file stands in its place",
            Self::Binary => "its record is not text",
            Self::Incomplete => "its record is incomplete",
            Self::Newer => "its record was written by a newer version of this program",
        })
    }
}

/// The file, key by key in the order in which it is written.
#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    task: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output_branch: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    task_branch: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    task_tip: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    taken_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hostname: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pid_starttime: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pid_starttime_kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    boot_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pid_namespace: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time_namespace: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    machine_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    anchor_source: Option<String>,
    #[serde(default)]
    baseline: Baseline,
    id: String,
}

/// Whether a text is a reservation's ID.
#[must_use]
pub fn is_id(text: &str) -> bool {
    text.len() == ID_DIGITS && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Writes a reservation; `None` for one that would not be read back.
#[must_use]
pub fn encode(reservation: &Reservation) -> Option<String> {
    let Reservation { id, task, output_branch, task_branch, owner, anchor, .. } = reservation;
    let (pid, token) = match &anchor.process {
        RecordedProcess::Process { pid, token } => (Some(*pid), token.clone()),
        RecordedProcess::None | RecordedProcess::Garbled => (None, None),
    };
    let table = anchor.table.as_ref();
    let stored = Stored {
        version: VERSION,
        task: task.to_string(),
        output_branch: output_branch.clone(),
        task_branch: task_branch.clone(),
        task_tip: reservation.task_tip.clone(),
        owner: owner.clone(),
        taken_at: reservation.taken_at.clone(),
        hostname: anchor.hostname.clone(),
        pid,
        pid_starttime_kind: token.as_ref().map(|token| token.kind.as_str().to_owned()),
        pid_starttime: token.map(|token| token.value),
        boot_id: table.map(|table| table.boot_id.clone()),
        pid_namespace: table.map(|table| table.pid_namespace),
        time_namespace: table.map(|table| table.time_namespace),
        machine_id: anchor.machine_id.clone(),
        anchor_source: reservation.anchor_source.clone(),
        baseline: reservation.baseline.clone(),
        id: id.clone(),
    };
    serde_yaml::to_string(&stored).ok().filter(|text| decode(text.as_bytes()).as_ref() == Ok(reservation))
}

/// Reads a reservation. Keys that this version does not know are passed over.
///
/// # Errors
/// Why it cannot be read; it is held all the same.
pub fn decode(bytes: &[u8]) -> Result<Reservation, Unreadable> {
    if bytes.len() > MAX_BYTES {
        return Err(Unreadable::NotAFile);
    }
    let text = std::str::from_utf8(bytes).map_err(|_| Unreadable::Binary)?;
    if text.trim().is_empty() {
        return Err(Unreadable::Empty);
    }
    let stored: Stored = serde_yaml::from_str(text).map_err(|_| match version_of(text) {
        Some(version) if version > VERSION => Unreadable::Newer,
        _ => Unreadable::Incomplete,
    })?;
    if stored.version > VERSION {
        return Err(Unreadable::Newer);
    }
    if !is_id(&stored.id) {
        return Err(Unreadable::Incomplete);
    }
    let task = TaskId::parse(&stored.task).map_err(|_| Unreadable::Incomplete)?;
    Ok(Reservation {
        anchor: anchor(&stored),
        id: stored.id,
        task,
        output_branch: stored.output_branch,
        task_branch: stored.task_branch,
        task_tip: stored.task_tip,
        owner: stored.owner,
        anchor_source: stored.anchor_source,
        taken_at: stored.taken_at,
        baseline: stored.baseline,
    })
}

fn version_of(text: &str) -> Option<u32> {
    #[derive(Deserialize)]
    struct Version {
        version: u32,
    }
    serde_yaml::from_str::<Version>(text).ok().map(|found| found.version)
}

fn anchor(stored: &Stored) -> Anchor {
    let table = match (&stored.boot_id, stored.pid_namespace, stored.time_namespace) {
        (Some(boot_id), Some(pid_namespace), Some(time_namespace)) => {
            Some(ProcessTable { boot_id: boot_id.clone(), pid_namespace, time_namespace })
        }
        _ => None,
    };
    let token = stored
        .pid_starttime
        .clone()
        .map(|value| StartToken { value, kind: TokenKind::parse(stored.pid_starttime_kind.as_deref()) });
    let process = match stored.pid {
        None | Some(0) => RecordedProcess::None,
        // This program never writes a process without its table: what was taken out proves nothing.
        Some(_) if table.is_none() => RecordedProcess::Garbled,
        Some(pid) => RecordedProcess::Process { pid, token },
    };
    Anchor { process, table, hostname: stored.hostname.clone(), machine_id: stored.machine_id.clone() }
}

#[cfg(test)]
mod tests;
