//! What persists, and the atomic step that changes it.
//!
//! A store hands out snapshots of the lock branch and swaps its tip by compare-and-swap. It knows
//! nothing of rules: [`attempt::update`] puts a pure decision between the two.

use gix::ObjectId;

use crate::domain::task_id::TaskId;
use crate::sys::files::FileError;
use crate::sys::git::GitFailure;

pub mod attempt;
pub mod compact;
pub mod history;
pub mod local;
pub mod mutex;
pub mod queue;
pub mod refs;
pub mod remote;
pub mod serial;
pub mod tree;

/// How recent a snapshot has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// What was seen last will do: a swap that is based on it proves itself.
    LastKnown,
    /// Read from the arbiter now.
    Current,
}

/// The lock branch at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The commit that the next one is built on; none for a branch that is to be created.
    pub base: Option<tree::Base>,
    /// The tip that the swap expects: the very one this snapshot was read from; none when the
    /// branch must not exist.
    pub lease: Option<ObjectId>,
    /// Whether it was read from the arbiter just now.
    pub current: bool,
}

impl Snapshot {
    /// What stands on `base`.
    fn on(base: Option<tree::Base>, lease: Option<ObjectId>, current: bool) -> Self {
        Self { base, lease, current }
    }

    /// The lock files of the branch.
    #[must_use]
    pub fn entries(&self) -> Vec<tree::Entry> {
        self.base.as_ref().map(tree::Base::entries).unwrap_or_default()
    }

    /// The lock files of some tasks.
    #[must_use]
    pub fn of_tasks(&self, tasks: &[TaskId]) -> Vec<tree::Entry> {
        self.base.as_ref().map(|base| base.of_tasks(tasks)).unwrap_or_default()
    }
}

/// What a swap came to.
#[derive(Debug)]
pub enum Swap {
    /// The branch is at our commit, or past it.
    Won,
    /// The branch has moved: read and decide again.
    Lost,
    /// Somebody holds the ref for a moment, or the connection broke with nothing changed: the
    /// same snapshot may be tried again.
    Busy(StoreError),
}

/// The lock branch, wherever it lives.
pub trait LockStore {
    /// Reads the branch.
    ///
    /// # Errors
    /// It cannot be read: this is never "no locks".
    fn snapshot(&mut self, freshness: Freshness) -> Result<Snapshot, StoreError>;

    /// Moves the branch from `lease` to `new`, if it is still at `lease`.
    ///
    /// # Errors
    /// The change was refused, or whether it landed cannot be told.
    fn compare_and_swap(&mut self, lease: Option<ObjectId>, new: ObjectId) -> Result<Swap, StoreError>;

    /// The repository whose object database holds the branch.
    fn objects(&self) -> &gix::Repository;

    /// Lets other commands of this clone have their turn while this one waits.
    fn pause(&mut self) {}
}

/// Why the branch could not be read or changed.
#[derive(Debug)]
pub enum StoreError {
    /// There is no lock branch; `deleted` when this clone has seen one there before.
    BranchMissing {
        /// Whether it was there once.
        deleted: bool,
    },
    /// The branch was rewritten, and these locks are not on it any more.
    Rewritten {
        /// The locks that were lost.
        lost: Vec<TaskId>,
    },
    /// The remote cannot be read.
    Fetch(GitFailure),
    /// The remote can be read, and would not take the push: nothing was changed.
    Push(GitFailure),
    /// The server was reached and refused the change, for this reason; untrusted text.
    Refused {
        /// The reason in one line.
        reason: String,
        /// What the server said besides.
        said: String,
    },
    /// The push may have landed or not: it ended like this, and the branch could not be read after.
    OutcomeUnknown(GitFailure),
    /// An object of the branch cannot be read.
    Unreadable(String),
    /// Objects or references of ours cannot be written.
    NotWritable(String),
    /// A file of ours cannot be read or written.
    File(FileError),
    /// Another command of this clone kept the remote busy until the time budget was used up.
    Queue {
        /// Its process, where the kernel shows it.
        holder: Option<u32>,
        /// Whether that process is stopped, so that waiting longer is no use.
        stopped: bool,
    },
    /// A reference of ours is locked by somebody who does not let go.
    RefLocked(String),
}

impl From<FileError> for StoreError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}
