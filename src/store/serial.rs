//! One command of a clone at a time talks to the remote: concurrent fetches of one moving ref in
//! one clone break each other.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::StoreError;
use crate::sys::files;
use crate::sys::flock::{self, Flock};
use crate::sys::process;

/// The folder of all our files under the common git directory.
pub const FOLDER: &str = "aitask-lock";
/// The folder whose descriptor is locked; it stays empty.
const TURN: &str = "turn";

/// This command's turn at the remote. The kernel takes it back when the command ends, however it ends.
pub struct Turn {
    common_dir: PathBuf,
    deadline: Instant,
    held: Option<Flock>,
}

impl Turn {
    /// A turn under the common git directory, not taken yet, waited for until `deadline`.
    #[must_use]
    pub fn new(common_dir: &Path, deadline: Instant) -> Self {
        Self { common_dir: common_dir.to_owned(), deadline, held: None }
    }

    /// Takes the turn, unless this command has it already.
    ///
    /// # Errors
    /// The folder cannot be made, its file system does not lock, or the time is up.
    pub fn take(&mut self) -> Result<(), StoreError> {
        if self.held.is_some() {
            return Ok(());
        }
        let ours = self.common_dir.join(FOLDER);
        let turn = ours.join(TURN);
        if !turn.is_dir() {
            files::make_dir_like(&ours, &self.common_dir)?;
            files::make_dir_like(&turn, &self.common_dir)?;
        }
        self.held = flock::flock_until(&turn, self.deadline)?;
        if self.held.is_some() {
            return Ok(());
        }
        let holder = flock::holder(&turn);
        let stopped = holder.and_then(process::is_stopped).unwrap_or(false);
        Err(StoreError::Queue { holder, stopped })
    }

    /// Lets others have their turn.
    pub fn give(&mut self) {
        self.held = None;
    }
}
