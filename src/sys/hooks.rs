//! The hooks folder: reads hooks, and puts others in their place so that no moment is without one.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use super::files::FileError;
use crate::domain::hook::SAVED;

/// Largest hook that is read; a larger one is no script, and is only moved.
const MAX_BYTES: u64 = 1024 * 1024;

/// A hooks folder.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

/// A hook as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its content, or what a link leads to; empty where it is too large for a script.
    pub content: Vec<u8>,
    /// Whether it may be run.
    pub executable: bool,
    /// Whether it is a plain file.
    pub plain: bool,
}

impl Folder {
    /// The folder at a path; it need not be there yet.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads a hook.
    ///
    /// # Errors
    /// It is there and cannot be read.
    pub fn read(&self, name: &str) -> Result<Option<Found>, FileError> {
        let path = self.path.join(name);
        let failed = |source| FileError { path: path.clone(), doing: "cannot read", source };
        let data = match fs::symlink_metadata(&path) {
            Ok(data) => data,
            Err(error) if missing(&error) => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        // A link that leads nowhere is moved aside like any other.
        let Ok(target) = fs::metadata(&path) else {
            return Ok(Some(Found { content: Vec::new(), executable: false, plain: false }));
        };
        let readable = target.is_file() && target.len() <= MAX_BYTES;
        let content = if readable { fs::read(&path).map_err(failed)? } else { Vec::new() };
        let executable = target.permissions().mode() & 0o111 != 0;
        Ok(Some(Found { content, executable, plain: data.is_file() }))
    }

    /// Writes a hook in one step. It keeps the permissions of the one that is there.
    ///
    /// # Errors
    /// It cannot be written; what was there is there still.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), FileError> {
        let path = self.path.join(name);
        let failed = |source| FileError { path: path.clone(), doing: "cannot write", source };
        fs::create_dir_all(&self.path).map_err(failed)?;
        let mode = match fs::symlink_metadata(&path) {
            Ok(data) if data.is_file() && data.permissions().mode() & 0o111 != 0 => data.permissions().mode(),
            _ => 0o755,
        };
        let mut file =
            tempfile::Builder::new().prefix(".aitask-lock-").tempfile_in(&self.path).map_err(failed)?;
        file.write_all(content).map_err(failed)?;
        file.as_file().set_permissions(fs::Permissions::from_mode(mode)).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(&path).map_err(|error| failed(error.error))?;
        Ok(())
    }

    /// Keeps a hook a second time among the saved ones, under its own name, before another takes its
    /// place.
    ///
    /// # Errors
    /// It cannot be kept, or another one is kept there already.
    pub fn save(&self, name: &str) -> Result<(), FileError> {
        let (path, saved) = (self.path.join(name), self.saved(name));
        let failed = |source| FileError { path: saved.clone(), doing: "cannot write", source };
        if fs::symlink_metadata(&saved).is_ok() {
            return Err(failed(io::ErrorKind::AlreadyExists.into()));
        }
        fs::create_dir_all(self.path.join(SAVED)).map_err(failed)?;
        let data = fs::symlink_metadata(&path).map_err(failed)?;
        if data.is_symlink() {
            // One folder further down, a relative link has one folder more to climb.
            let target = fs::read_link(&path).map_err(failed)?;
            let target = if target.is_relative() { Path::new("..").join(target) } else { target };
            symlink(target, &saved).map_err(failed)
        } else {
            fs::hard_link(&path, &saved).or_else(|_| fs::copy(&path, &saved).map(drop)).map_err(failed)
        }
    }

    /// Whether a hook is kept among the saved ones.
    #[must_use]
    pub fn has_saved(&self, name: &str) -> bool {
        fs::symlink_metadata(self.saved(name)).is_ok()
    }

    /// Puts a saved hook back in its place.
    ///
    /// # Errors
    /// It cannot be put back; it is saved still.
    pub fn restore(&self, name: &str) -> Result<(), FileError> {
        let (path, saved) = (self.path.join(name), self.saved(name));
        let failed = |source| FileError { path: path.clone(), doing: "cannot write", source };
        let data = fs::symlink_metadata(&saved).map_err(failed)?;
        if data.is_symlink() {
            let target = fs::read_link(&saved).map_err(failed)?;
            let target = target.strip_prefix("..").map(Path::to_owned).unwrap_or(target);
            let beside = self.path.join(format!(".aitask-lock-{}-{name}", std::process::id()));
            symlink(target, &beside).map_err(failed)?;
            fs::rename(&beside, &path).map_err(failed)?;
            fs::remove_file(&saved).map_err(failed)?;
        } else {
            fs::rename(&saved, &path).map_err(failed)?;
        }
        // The other hook may still be in there.
        _ = fs::remove_dir(self.path.join(SAVED));
        Ok(())
    }

    /// Removes a hook.
    ///
    /// # Errors
    /// It is still there.
    pub fn remove(&self, name: &str) -> Result<(), FileError> {
        let path = self.path.join(name);
        fs::remove_file(&path).map_err(|source| FileError { path, doing: "cannot remove", source })
    }

    fn saved(&self, name: &str) -> PathBuf {
        self.path.join(SAVED).join(name)
    }
}

fn missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
