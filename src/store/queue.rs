//! The tickets of those who wait for the merge mutex, in order of arrival.
//!
//! A ticket is a file `<number>-<pid>.yaml` in `aitask-lock/queue/`, numbered under the mutex's lock. Its
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
    /// Its file's name.
    pub file: String,
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

impl Ticket {
    /// Whether another ticket stands in this place, that of a later command of the same session, or soon
    /// does: it is written in the moment after ours was removed.
    #[must_use]
    pub fn is_taken_over(&self) -> bool {
        let Some(folder) = self.path.parent() else { return false };
        let place = format!("{:020}-", self.number);
        let other = |file: &String| file.starts_with(&place) && Some(file.as_ref()) != self.path.file_name();
        let deadline = clock::deadline_in(GRACE);
        loop {
            if files::names_below(folder, 1).is_ok_and(|files| files.iter().any(other)) {
                return true;
            }
            if clock::remaining(deadline).is_zero() || !folder.is_dir() {
                return false;
            }
            clock::sleep(std::time::Duration::from_millis(10));
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if self.is_ours() {
            // What cannot be removed is swept as soon as its lock is gone.
            files::discard(&self.path);
        }
    }
}

/// The folder of the tickets; it is made when there is none.
///
/// # Errors
/// It cannot be made.
pub fn folder(held: &Held<'_>) -> Result<PathBuf, FileError> {
    let folder = held.folder().join(FOLDER);
    files::make_dir_like(&folder, held.folder())?;
    Ok(folder)
}

/// Joins the queue, at its end, or in the place that an earlier command of this session has.
///
/// # Errors
/// The ticket cannot be written or locked.
pub fn join(held: &Held<'_>, note: &Note, here: &Here) -> Result<Ticket, MutexError> {
    let folder = folder(held)?;
    let live = sweep(held, here)?;
    let own = live.iter().find(|standing| standing.note.same_place(note));
    let number = match own {
        Some(standing) => {
            // Its waiter notices, and leaves.
            files::remove(&folder.join(&standing.file))?;
            standing.number
        }
        None => live.last().map_or(1, |last| last.number.saturating_add(1)),
    };
    let text = serde_yaml::to_string(note).unwrap_or_default();
    // The pid makes it another name than that of an earlier ticket of this number.
    let name = format!("{number:020}-{}.yaml", note.command_pid.unwrap_or_default());
    let path = folder.join(&name);
    files::publish_new(&folder, &name, text.as_bytes())?;
    failpoint::hit("queue-published");
    match flock::flock_until(&path, clock::deadline_in(GRACE))? {
        Some(lock) => Ok(Ticket { path, number, lock }),
        None => Err(MutexError::Contended { pid: flock::holder(&path), folder: path }),
    }
}

/// The live tickets in their order; those of waiters that are gone are removed.
///
/// # Errors
/// The queue cannot be read.
pub fn sweep(held: &Held<'_>, here: &Here) -> Result<Vec<Standing>, FileError> {
    let folder = held.folder().join(FOLDER);
    let (live, gone) = read(&folder, here)?;
    for file in gone {
        // Nobody can be about to lock it: tickets are made under the mutex's lock.
        files::discard(&folder.join(file));
    }
    Ok(live)
}

/// The live tickets in their order. Changes nothing.
///
/// # Errors
/// The queue cannot be read.
pub fn list(mutex: &Mutex, here: &Here) -> Result<Vec<Standing>, FileError> {
    Ok(read(&mutex.folder().join(FOLDER), here)?.0)
}

/// The live tickets in their order, and the names of what is left over.
fn read(folder: &Path, here: &Here) -> Result<(Vec<Standing>, Vec<String>), FileError> {
    let mut live = Vec::new();
    let mut gone = Vec::new();
    for file in files::names_below(folder, 1)? {
        let number = file.split_once('-').and_then(|(number, _)| number.parse().ok());
        match number {
            Some(number) if flock::is_held(&folder.join(&file))? => {
                live.push(standing(folder, file, number, here));
            }
            Some(_) => gone.push(file),
            None if files::is_temporary(file.as_ref()) => gone.push(file),
            None => {}
        }
    }
    live.sort_by(|a, b| (a.number, &a.file).cmp(&(b.number, &b.file)));
    Ok((live, gone))
}

fn standing(folder: &Path, file: String, number: u64, here: &Here) -> Standing {
    let raw = files::read_bounded(&folder.join(&file), MAX_BYTES).ok().flatten().unwrap_or_default();
    let note: Note =
        std::str::from_utf8(&raw).ok().and_then(|text| serde_yaml::from_str(text).ok()).unwrap_or_default();
    let stopped = note.command_here(here).and_then(process::is_stopped).unwrap_or(false);
    Standing { number, file, note, stopped }
}
