//! The content of one task lock, as plain values.

use super::anchor::Anchor;

/// Largest record that is read, in bytes. A larger one is held by nobody knows whom.
pub const MAX_BYTES: usize = 64 * 1024;

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

/// What a lock file reads as. A file is never dropped: what cannot be read is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// At least owner, time and host are there, once each.
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
    /// A key this program decides on stands in it twice.
    DuplicateKey,
    /// Not a mapping of keys to values.
    NotAMapping,
    /// `locked_by`, `locked_at` or `hostname` is missing: cut off, or written by somebody else.
    Incomplete,
    /// A directory, a link or a submodule stands in the lock's place.
    NotAFile,
    /// The file's content could not be fetched or read from the object database.
    Missing,
}
