//! The files of the merge mutex, under the git directory that all worktrees share.
//!
//! | name in `aitask-lock/` | what it is |
//! |---|---|
//! | `merge.yaml` | the reservation; there or not, never half of it |
//! | `merge.guard/` | there exactly while a reclaim or a recovery runs; always empty |
//! | `merge.guard-by-…` | who puts the guard up; each maker has a file of its own |
//! | `queue/` | a ticket for each waiter, see [`super::queue`] |
//!
//! Every change is made under one `flock` on the folder itself ([`Held`]), for as long as the change
//! takes. The kernel takes that lock back with its holder. Where a file system only pretends to
//! lock, the reservation is still published without replacing another one, and the guard still has
//! one maker.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::serial::FOLDER;
use crate::domain::anchor::Here;
use crate::domain::liveness::{Doubt, Liveness};
use crate::domain::merge::reservation::{self, Reservation, Unreadable};
use crate::domain::merge::rules::Seen;
use crate::sys::failpoint;
use crate::sys::files::{self, FileError, Publication};
use crate::sys::flock::{self, Flock};
use crate::sys::{clock, process};

mod guard;

pub use guard::Guard;

/// The reservation's file.
const RESERVATION: &str = "merge.yaml";
/// The merge mutex of a repository.
#[derive(Clone, Debug)]
pub struct Mutex {
    folder: PathBuf,
}

/// What kept the mutex from being read or changed.
#[derive(Debug)]
pub enum MutexError {
    /// A file.
    File(FileError),
    /// Another command changed the mutex all the time.
    Contended {
        /// The folder whose lock could not be had.
        folder: PathBuf,
        /// The process that holds it, where that can be seen.
        pid: Option<u32>,
    },
    /// The reservation is too long to be read back.
    TooLong,
}

impl From<FileError> for MutexError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

impl fmt::Display for MutexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::Contended { folder, pid } => {
                match pid {
                    Some(pid) => write!(f, "process {pid}")?,
                    None => f.write_str("another command")?,
                }
                write!(f, " kept {} locked until the time was up", folder.display())
            }
            Self::TooLong => f.write_str("a branch name or an owner is too long to be recorded"),
        }
    }
}

impl std::error::Error for MutexError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File(error) => Some(error),
            Self::Contended { .. } | Self::TooLong => None,
        }
    }
}

/// A look at the reservation, with the bytes it was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    /// What stands there.
    pub seen: Seen,
    /// The bytes; empty where they could not be read.
    pub raw: Vec<u8>,
}

impl Mutex {
    /// The mutex of the repository with this common git directory.
    #[must_use]
    pub fn new(common_dir: &Path) -> Self {
        Self { folder: common_dir.join(FOLDER) }
    }

    /// The folder that is locked for a change, and watched by those who wait.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What stands there now. Changes nothing, and works where nothing can be changed.
    ///
    /// # Errors
    /// It may not be looked at, which says nothing about what stands there.
    pub fn look(&self) -> Result<Look, FileError> {
        let path = self.folder.join(RESERVATION);
        let unreadable = |damage| Look { seen: Seen::Unreadable(damage), raw: Vec::new() };
        match files::read_bounded(&path, reservation::MAX_BYTES) {
            Ok(None) => Ok(Look { seen: Seen::Free, raw: Vec::new() }),
            Ok(Some(raw)) => Ok(match reservation::decode(&raw) {
                Ok(reservation) => Look { seen: Seen::Taken(Box::new(reservation)), raw },
                Err(damage) => Look { raw, ..unreadable(damage) },
            }),
            Err(error) if error.source.kind() == std::io::ErrorKind::PermissionDenied => Err(error),
            Err(_) => Ok(unreadable(Unreadable::NotAFile)),
        }
    }

    /// Takes the lock for one change; makes the folder when there is none.
    ///
    /// # Errors
    /// The folder cannot be made or locked, or others held it until `deadline`.
    pub fn hold(&self, deadline: Instant) -> Result<Held<'_>, MutexError> {
        let common_dir = self.folder.parent().unwrap_or(&self.folder);
        files::make_dir_like(&self.folder, common_dir)?;
        match flock::flock_until(&self.folder, deadline)? {
            Some(lock) => Ok(Held { mutex: self, lock }),
            None => {
                Err(MutexError::Contended { folder: self.folder.clone(), pid: flock::holder(&self.folder) })
            }
        }
    }

    /// Whether there is a folder: without one nobody ever used the mutex here.
    #[must_use]
    pub fn was_used(&self) -> bool {
        self.folder.is_dir()
    }
}

/// The right to change the mutex, until it is dropped.
pub struct Held<'a> {
    mutex: &'a Mutex,
    lock: Flock,
}

impl Held<'_> {
    /// What stands there now, and nobody changes.
    ///
    /// # Errors
    /// As [`Mutex::look`].
    pub fn look(&self) -> Result<Look, FileError> {
        self.mutex.look()
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.mutex.folder
    }

    /// Publishes a reservation, complete and synced, where there is none.
    ///
    /// # Errors
    /// It cannot be written; nothing is left then.
    pub fn publish(&self, reservation: &Reservation) -> Result<Publication, MutexError> {
        let text = reservation::encode(reservation).ok_or(MutexError::TooLong)?;
        files::sweep(&self.mutex.folder);
        failpoint::hit("publish-flocked");
        let published = files::publish_new(&self.mutex.folder, RESERVATION, text.as_bytes())?;
        failpoint::hit("publish-done");
        Ok(published)
    }

    /// Writes a changed reservation over the older one of the same ID.
    ///
    /// # Errors
    /// It cannot be written; the older one stands then.
    pub fn rewrite(&self, reservation: &Reservation) -> Result<(), MutexError> {
        let text = reservation::encode(reservation).ok_or(MutexError::TooLong)?;
        Ok(files::replace(&self.mutex.folder, RESERVATION, text.as_bytes())?)
    }

    /// Removes whatever stands there, for good.
    ///
    /// # Errors
    /// It is still there.
    pub fn remove(&self) -> Result<(), FileError> {
        let path = self.mutex.folder.join(RESERVATION);
        failpoint::hit("remove-flocked");
        if files::is_dir(&path) {
            // Something that somebody put there by hand.
            let stamp = clock::now().as_millisecond();
            return files::set_aside(&path, &format!("removed-{stamp}-{}", std::process::id()));
        }
        files::remove(&path)?;
        failpoint::hit("remove-done");
        Ok(())
    }
}

/// Whether the recorded session is still there, by a look at its process.
#[must_use]
pub fn liveness(seen: &Seen, here: &Here) -> Liveness {
    match seen {
        Seen::Taken(reservation) => process::judge(&reservation.anchor, here),
        Seen::Free | Seen::Unreadable(_) => Liveness::Unknown(Doubt::Garbled),
    }
}
