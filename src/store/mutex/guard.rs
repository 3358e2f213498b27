//! The guard: put up for a reclaim or a recovery, and taken down by whoever finds it provably left behind.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Held, Mutex};
use crate::domain::anchor::Here;
use crate::domain::liveness::Liveness;
use crate::domain::merge::guard::{self, MAX_BYTES, Maker, Standing};
use crate::sys::files::{self, FileError};
use crate::sys::{clock, failpoint, flock, process, random, shell};

/// The guard.
const GUARD: &str = "merge.guard";

/// How the names of the makers' files begin.
const MAKER_PREFIX: &str = "merge.guard-by-";

/// How long a guard may stand before it counts as left over, seen from outside of the lock.
const GRACE: Duration = Duration::from_millis(500);

/// How long the maker of a guard may take to end, once it has lost the lock.
const ENDING: Duration = Duration::from_secs(2);

impl Mutex {
    /// The guard's path.
    #[must_use]
    pub fn guard_path(&self) -> PathBuf {
        self.folder.join(GUARD)
    }

    /// The command that takes a guard away that nobody stands behind any more: one that is not empty, or no
    /// folder at all, was not made by us, and is moved aside.
    #[must_use]
    pub fn remove_guard(&self) -> String {
        let guard = self.guard_path();
        if is_empty(&guard) {
            return format!("rmdir {}", shell::quote(&guard));
        }
        format!("mv {} {}", shell::quote(&guard), shell::quote(&files::free_name(&guard)))
    }

    /// The guard of a reclaim or a recovery that did not end, seen without taking the lock; one that
    /// is under way right now is waited for.
    ///
    /// # Errors
    /// The lock cannot be looked at.
    pub fn leaked_guard(&self) -> Result<Option<PathBuf>, FileError> {
        let guard = self.guard_path();
        let deadline = clock::deadline_in(GRACE);
        while files::is_there(&guard) {
            // Whoever works behind the guard holds the lock.
            if !flock::is_held(&self.folder)? && files::is_there(&guard) {
                return Ok(Some(guard));
            }
            if clock::remaining(deadline).is_zero() {
                return Ok(None);
            }
            clock::sleep(Duration::from_millis(10));
        }
        Ok(None)
    }

    /// Whether the next command that takes the lock takes the guard down itself, as far as that can be told
    /// without the lock.
    #[must_use]
    pub fn heals(&self, here: &Here) -> bool {
        let guard = self.guard_path();
        let makers = self.makers(here).unwrap_or_default();
        is_empty(&guard) && guard::standing(true, true, &states(&makers)) == Standing::Left
    }

    /// The files of the makers, with what is known of each. A file that cannot be read names nobody.
    fn makers(&self, here: &Here) -> Result<Vec<(PathBuf, Liveness)>, FileError> {
        let names = files::entries(&self.folder)?;
        let ours = names.into_iter().filter(|name| name.starts_with(MAKER_PREFIX));
        Ok(ours
            .map(|name| {
                let path = self.folder.join(name);
                let bytes = files::read_bounded(&path, MAX_BYTES).ok().flatten().unwrap_or_default();
                let liveness = process::judge(&Maker::decode(&bytes).anchor(), here);
                (path, liveness)
            })
            .collect())
    }
}

fn is_empty(guard: &Path) -> bool {
    files::is_dir(guard) && files::entries(guard).is_ok_and(|names| names.is_empty())
}

fn states(makers: &[(PathBuf, Liveness)]) -> Vec<Liveness> {
    makers.iter().map(|(_, liveness)| *liveness).collect()
}

impl Held<'_> {
    /// Whether a guard stands there.
    #[must_use]
    pub fn is_guarded(&self) -> bool {
        files::is_there(&self.mutex.guard_path())
    }

    /// Takes down a guard that was provably left behind; whether it did. Any other one is left alone.
    #[must_use]
    pub fn heal(&self, here: &Here) -> bool {
        let guard = self.mutex.guard_path();
        if !self.is_guarded() {
            return false;
        }
        let excluded = self.excludes();
        let deadline = clock::deadline_in(ENDING);
        let makers = loop {
            // What is not known keeps the guard where it is.
            let Ok(makers) = self.mutex.makers(here) else { return false };
            let states = states(&makers);
            match guard::standing(true, excluded, &states) {
                Standing::Left if is_empty(&guard) => break makers,
                // The kernel takes the lock from a killed process a moment before the process is gone.
                Standing::Up if excluded && states.contains(&Liveness::Alive) => {}
                _ => return false,
            }
            if clock::remaining(deadline).is_zero() {
                return false;
            }
            clock::sleep(Duration::from_millis(10));
        };
        failpoint::hit("guard-left");
        files::discard_dir(&guard);
        failpoint::hit("guard-healed");
        if self.is_guarded() {
            return false;
        }
        for (path, _) in makers {
            files::discard(&path);
        }
        true
    }

    /// Whether the lock provably keeps others out: where a file system only pretends to lock, it would be
    /// granted a second time.
    fn excludes(&self) -> bool {
        let folder = &self.mutex.folder;
        self.lock.is_of(folder).unwrap_or(false) && flock::is_held(folder).unwrap_or(false)
    }

    /// Puts the guard up; none when one stands there already.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn guard(&self, here: &Here) -> Result<Option<Guard>, FileError> {
        let folder = &self.mutex.folder;
        let path = self.mutex.guard_path();
        self.sweep_makers(here)?;
        let pid = std::process::id();
        let random =
            random::hex128().map_err(|error| FileError::new(folder, "cannot name a file in", error))?;
        let name = format!("{MAKER_PREFIX}{pid}-{random}.yaml");
        // Before the guard, so that there is never one without its maker's name; a name that stands there
        // for longer does no harm.
        let text = Maker::new(pid, process::start_token(pid), here).encode();
        files::replace(folder, &name, text.as_bytes())?;
        let maker = folder.join(name);
        failpoint::hit("guard-named");
        if !files::make_dir_like(&path, folder)? {
            files::discard(&maker);
            return Ok(None);
        }
        failpoint::hit("guard-up");
        Ok(Some(Guard { path, maker }))
    }

    /// Removes what makers left that are provably gone. Where a guard stands, theirs are the proof.
    fn sweep_makers(&self, here: &Here) -> Result<(), FileError> {
        // In this order: one that is gone puts no guard up after we looked for it.
        let makers = self.mutex.makers(here)?;
        let gone = makers.into_iter().filter(|(_, liveness)| matches!(liveness, Liveness::Dead(_)));
        if !self.is_guarded() {
            gone.for_each(|(path, _)| files::discard(&path));
        }
        Ok(())
    }
}

/// The guard, taken down when it is dropped.
///
/// It is a folder and stays empty, so that a person takes a leaked one down with `rmdir`.
#[derive(Debug)]
pub struct Guard {
    path: PathBuf,
    maker: PathBuf,
}

impl Drop for Guard {
    fn drop(&mut self) {
        failpoint::hit("guard-down");
        // One that stays is found, and taken down by the next command or by a person.
        files::discard_dir(&self.path);
        failpoint::hit("guard-unnamed");
        files::discard(&self.maker);
    }
}
