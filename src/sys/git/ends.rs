//! What git itself can neither read nor end: an index that is damaged, a state file that holds garbage. It is
//! moved aside into a folder of ours, never deleted.

use std::fs;
use std::path::PathBuf;

use super::{Cause, Git, GitFailure, Hooks};
use crate::domain::merge::residue::Operation;
use crate::domain::moment;
use crate::sys::{clock, random};

/// Where it is kept, below the git directory of the worktree. Nothing removes it by itself.
const KEPT: &str = "aitask-lock/kept";

/// State files of a merge.
pub(super) const OF_MERGE: [&str; 3] = ["MERGE_HEAD", "MERGE_MODE", "MERGE_AUTOSTASH"];

/// State files of an operation.
pub(super) const fn of_operation(operation: Operation) -> &'static [&'static str] {
    match operation {
        Operation::Rebase | Operation::Am => &["rebase-merge", "rebase-apply"],
        Operation::CherryPick => &["CHERRY_PICK_HEAD", "sequencer"],
        Operation::Revert => &["REVERT_HEAD", "sequencer"],
        Operation::Bisect => {
            &["BISECT_LOG", "BISECT_START", "BISECT_TERMS", "BISECT_EXPECTED_REV", "BISECT_NAMES"]
        }
    }
}

/// A folder for what is moved aside in one recovery; made when the first thing is.
pub(super) struct Aside<'a> {
    git: &'a Git,
    folder: Option<PathBuf>,
}

impl<'a> Aside<'a> {
    pub(super) fn new(git: &'a Git) -> Self {
        Self { git, folder: None }
    }

    /// Moves these aside, as far as they are there: files, folders, links.
    ///
    /// # Errors
    /// One cannot be moved; it is where it was.
    pub(super) fn take(&mut self, names: &[&str]) -> Result<(), GitFailure> {
        for name in names {
            let path = self.git.git_dir().join(name);
            if path.symlink_metadata().is_err() {
                continue;
            }
            let failed = |error: &dyn std::fmt::Display| {
                let why = format!("{} cannot be moved aside: {error}", path.display());
                GitFailure::new("recovery", Cause::Other, why.as_bytes())
            };
            let folder = if let Some(folder) = &self.folder {
                folder.clone()
            } else {
                let random = random::hex128().map_err(|error| failed(&error))?;
                let time = moment::stamp(clock::now()).replace([':', '-'], "");
                let own = format!("{time}-{}", random.get(..8).unwrap_or_default());
                let folder = self.git.git_dir().join(KEPT).join(own);
                fs::create_dir_all(&folder).map_err(|error| failed(&error))?;
                folder
            };
            let moved = fs::rename(&path, folder.join(name)).map_err(|error| failed(&error));
            self.folder = Some(folder);
            moved?;
        }
        Ok(())
    }

    /// The folder, if anything was moved.
    pub(super) fn folder(self) -> Option<PathBuf> {
        self.folder
    }
}

impl Git {
    /// Whether there is an index that git cannot read. A missing one is none.
    ///
    /// # Errors
    /// git could not be asked.
    pub(super) fn index_is_damaged(&self) -> Result<bool, GitFailure> {
        if self.git_dir().join("index").symlink_metadata().is_err() {
            return Ok(false);
        }
        Ok(!self.run(Hooks::Off, &["ls-files", "--stage", "-z"])?.ok()
            && self.run(Hooks::Off, &["rev-parse"])?.ok())
    }
}
