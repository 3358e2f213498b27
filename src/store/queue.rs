//! The tickets of those who wait for the merge mutex, in order of arrival.
//!
//! A ticket is a file `<number>.yaml` in `aitask-lock/queue/`, numbered under the mutex's lock. Its
//! waiter keeps a `flock` on it for as long as it lives, so whether a waiter lives is asked of the
//! kernel, across containers as well. What a ticket says is only shown.

use std::path::{Path, PathBuf};

use super::mutex::{Held, Mutex, MutexError};
use crate::domain::anchor::Here;
use crate::domain::merge::queue::{MAX_BYTES, Note};
use crate::sys::files::{self, FileError};
use crate::sys::flock::{self, Flock};
use crate::sys::{clock, failpoint, process};

/// The folder of the tickets.
pub const FOLDER: &str = "queue";

/// How long somebody who asks whether a ticket is held may be in the way of who takes it.
const GRACE: std::time::Duration = std::time::Duration::from_secs(1);

/// A ticket that stands in the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Its number.
    pub number: u64,
    /// What it says.
    pub note: Note,
    /// Whether its waiter is provably stopped, and cannot take anything.
    pub stopped: bool,
}

/// A place in the queue, given up when it is dropped.
#[derive(Debug)]
pub struct Ticket {
    path: PathBuf,
    number: u64,
    lock: Flock,
}

impl Ticket {
    /// Its number.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Whether the place is still ours: a later command of the same session may have taken it over.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.lock.is_of(&self.path).unwrap_or(false)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if self.is_ours() {
            // What cannot be removed is swept as soon as its lock is gone.
            _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Joins the queue, at its end, or in the place that an earlier command of this session has.
///
/// # Errors
/// The ticket cannot be written or locked.
pub fn join(held: &Held<'_>, note: &Note, here: &Here) -> Result<Ticket, MutexError> {
    let folder = held.folder().join(FOLDER);
    files::make_dirs_like(&folder)?;
    let live = sweep(held, here)?;
    let own = live.iter().find(|standing| standing.note.same_place(note));
    let number = match own {
        Some(standing) => {
            files::remove(&path(&folder, standing.number))?;
            standing.number
        }
        None => live.last().map_or(1, |last| last.number.saturating_add(1)),
    };
    let text = serde_yaml::to_string(note).unwrap_or_default();
    let path = path(&folder, number);
    files::publish_new(&folder, &name(number), text.as_bytes())?;
    failpoint::hit("queue-published");
    match flock::flock_until(&path, clock::deadline_in(GRACE))? {
        Some(lock) => Ok(Ticket { path, number, lock }),
        None => Err(MutexError::Contended { folder: path }),
    }
}

/// The live tickets in their order; those of waiters that are gone are removed.
///
/// # Errors
/// The queue cannot be read.
pub fn sweep(held: &Held<'_>, here: &Here) -> Result<Vec<Standing>, FileError> {
    let folder = held.folder().join(FOLDER);
    let mut live = Vec::new();
    for number in numbers(&folder)? {
        let path = path(&folder, number);
        if flock::is_held(&path)? {
            live.push(standing(&path, number, here));
        } else {
            // Nobody can be about to lock it: tickets are made under the mutex's lock.
            _ = std::fs::remove_file(&path);
        }
    }
    Ok(live)
}

/// The live tickets in their order. Changes nothing.
///
/// # Errors
/// The queue cannot be read.
pub fn list(mutex: &Mutex, here: &Here) -> Result<Vec<Standing>, FileError> {
    let folder = mutex.folder().join(FOLDER);
    let mut live = Vec::new();
    for number in numbers(&folder)? {
        let path = path(&folder, number);
        if flock::is_held(&path)? {
            live.push(standing(&path, number, here));
        }
    }
    Ok(live)
}

fn standing(path: &Path, number: u64, here: &Here) -> Standing {
    let raw = files::read_bounded(path, MAX_BYTES).ok().flatten().unwrap_or_default();
    let note: Note =
        std::str::from_utf8(&raw).ok().and_then(|text| serde_yaml::from_str(text).ok()).unwrap_or_default();
    let stopped = note.command_here(here).and_then(process::is_stopped).unwrap_or(false);
    Standing { number, note, stopped }
}

fn numbers(folder: &Path) -> Result<Vec<u64>, FileError> {
    let failed = |source| FileError { path: folder.to_owned(), doing: "cannot list", source };
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut numbers = Vec::new();
    for entry in entries {
        let file = entry.map_err(failed)?.file_name();
        let number = file.to_str().and_then(|file| file.strip_suffix(".yaml")).and_then(|n| n.parse().ok());
        numbers.extend(number);
    }
    numbers.sort_unstable();
    Ok(numbers)
}

fn name(number: u64) -> String {
    format!("{number:020}.yaml")
}

fn path(folder: &Path, number: u64) -> PathBuf {
    folder.join(name(number))
}
