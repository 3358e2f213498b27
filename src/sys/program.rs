//! Which program this is, and which one a name would start.

use std::path::PathBuf;

use rustix::fs::{Access, access};

/// This program's file.
#[must_use]
pub fn own() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    Some(own.canonicalize().unwrap_or(own))
}

/// The file that `name` starts: the first executable one in the folders of `PATH`.
#[must_use]
pub fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut files = std::env::split_paths(&path).map(|folder| folder.join(name));
    let found = files.find(|file| file.is_file() && access(file, Access::EXEC_OK).is_ok())?;
    Some(found.canonicalize().unwrap_or(found))
}
