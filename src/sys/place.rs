//! What a folder is good for: whether it can be written, and on which file system it lies.

use std::ffi::OsString;
use std::path::Path;

use rustix::fs::{Access, access};
use rustix::io::Errno;

/// The mounts that this process sees, as the kernel lists them.
#[must_use]
pub fn mounts() -> Option<String> {
    std::fs::read_to_string("/proc/self/mountinfo").ok()
}

/// Why a folder cannot be written; `None` when it can, or when it is not there.
#[must_use]
pub fn not_writable(folder: &Path) -> Option<String> {
    match access(folder, Access::WRITE_OK | Access::EXEC_OK) {
        Ok(()) | Err(Errno::NOENT) => None,
        Err(errno) => Some(std::io::Error::from(errno).to_string()),
    }
}

/// The names in a folder; none when it cannot be read.
#[must_use]
pub fn names(folder: &Path) -> Vec<OsString> {
    let listing = std::fs::read_dir(folder).into_iter().flatten();
    listing.filter_map(Result::ok).map(|entry| entry.file_name()).collect()
}
