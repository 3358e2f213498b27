//! The content of one task lock, as plain values, and its file format.
//!
//! A lock file looks like YAML, but real ones are not always valid YAML (`pid: -`), and the shell
//! implementation reads and writes them line by line. So [`decode()`] splits a file into top-level
//! entries by their lines and leaves to YAML only what one entry quotes.

mod decode;
mod encode;
mod entries;
mod fields;
mod flow;
mod plain;

#[cfg(test)]
mod tests;

use super::anchor::Anchor;

pub use decode::{damaged, decode};
pub use encode::{Unwritable, encode};
pub use plain::{NotPlain, plain};

/// Largest record that is read, in bytes. A larger one is held by nobody knows whom.
pub const MAX_BYTES: usize = 64 * 1024;

/// Longest text of one known key, in bytes. A longer one is cut and ends in `…`, so that it
/// never equals the text it was cut from.
pub const MAX_FIELD_BYTES: usize = 1024;

/// The keys this program knows, in the order in which it writes them. The first seven are shared
/// with the shell implementation.
const KEYS: [&str; 15] = [
    "task_id",
    "locked_by",
    "locked_at",
    "hostname",
    "pid",
    "pid_starttime",
    "pid_starttime_kind",
    "lock_id",
    "refreshed_at",
    "boot_id",
    "pid_namespace",
    "time_namespace",
    "machine_id",
    "anchor_source",
    "note",
];

/// The known key of this name.
fn known(name: &str) -> Option<&'static str> {
    KEYS.into_iter().find(|key| *key == name)
}

/// Cuts a text to [`MAX_FIELD_BYTES`].
fn bounded(mut text: String) -> String {
    const MARK: char = '…';
    if text.len() > MAX_FIELD_BYTES {
        let mut end = MAX_FIELD_BYTES - MARK.len_utf8();
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push(MARK);
    }
    text
}

/// One task lock, as far as its file could be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockRecord {
    /// `locked_by`: the owner's email. `None` when it is missing or cannot be read.
    pub owner: Option<String>,
    /// `locked_at` as it stands in the file; see [`super::moment`] for what it means.
    pub locked_at: Option<String>,
    /// `hostname`, `pid`, `pid_starttime`, `pid_starttime_kind`, `boot_id`, `pid_namespace`,
    /// `time_namespace`, `machine_id`.
    pub anchor: Anchor,
    /// `lock_id`: random, new at every claim, kept by refresh.
    pub lock_id: Option<String>,
    /// `refreshed_at` as it stands in the file.
    pub refreshed_at: Option<String>,
    /// `anchor_source` as it stands in the file.
    pub anchor_source: Option<String>,
    /// `note`.
    pub note: Option<String>,
    /// Top-level entries this program does not know, verbatim and in order, each with its
    /// continuation lines and a final newline; written back when the record is rewritten.
    pub extra: Vec<String>,
}

/// Whether a text of the branch can name a lock: it ends up in commands that people paste.
#[must_use]
pub fn is_lock_id(text: &str) -> bool {
    (8..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// What a lock file reads as. A file is never dropped: what cannot be read is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// At least owner, time and host are there, and no known key stands in it twice.
    Whole(LockRecord),
    /// The lock is held, but by whom cannot be told for sure; the fields that could be read are
    /// there to be shown, never to be decided on.
    Damaged {
        /// What is wrong with it.
        why: Damage,
        /// What could be read.
        shown: LockRecord,
    },
}

/// Why a lock file cannot be decided on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// No content.
    Empty,
    /// Larger than [`MAX_BYTES`].
    TooLarge,
    /// Not UTF-8, or control characters in it.
    Binary,
    /// A key this program knows stands in it twice.
    DuplicateKey,
    /// Not a mapping of keys to values.
    NotAMapping,
    /// `locked_by`, `locked_at` or `hostname` is missing, or a quoted text is not closed: cut
    /// off, or written by somebody else.
    Incomplete,
    /// A directory, a link or a submodule stands in the lock's place.
    NotAFile,
    /// The file's content could not be fetched or read from the object database.
    Missing,
}
