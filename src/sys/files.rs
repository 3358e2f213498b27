//! The only door to our small files: complete or absent, and still there after a power cut.
//!
//! A file takes the permission bits of its folder, a folder those of a model, so that a shared
//! repository stays shared and a private one private.

use std::ffi::OsStr;
use std::fmt;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::OFlags;
use tempfile::NamedTempFile;

use crate::sys::{clock, failpoint};

/// How the names of temporary files begin; whatever is left of them is rubbish.
pub const TEMPORARY_PREFIX: &str = "tmp-";

/// Something that could not be done to a file.
#[derive(Debug)]
pub struct FileError {
    /// The file or folder.
    pub path: PathBuf,
    /// What was being done, to be followed by the path: `cannot read`.
    pub doing: &'static str,
    /// What the system said.
    pub source: io::Error,
}

impl FileError {
    /// Something that was being done to a file, and what the system said.
    pub fn new(path: &Path, doing: &'static str, source: impl Into<io::Error>) -> Self {
        Self { path: path.to_owned(), doing, source: source.into() }
    }

    /// Whether the file or its folder is missing.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.source.kind() == io::ErrorKind::NotFound
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, doing, source } = self;
        write!(f, "{doing} {}: {source}", path.to_string_lossy().escape_debug())
    }
}

impl std::error::Error for FileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// What became of a file that must not replace another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Publication {
    /// It is there, complete.
    Published,
    /// Somebody else's was there; it was not touched.
    AlreadyThere,
}

/// Publishes a new file in one step: no reader sees a part of it, and of several writers one wins.
///
/// # Errors
/// When it could not be written or made durable; nothing is left under `name` then.
pub fn publish_new(dir: &Path, name: &str, bytes: &[u8]) -> Result<Publication, FileError> {
    let path = dir.join(name);
    let temporary = write_temporary(dir, bytes)?;
    failpoint::hit("publish-written");
    match move_without_replacing(temporary.path(), &path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(Publication::AlreadyThere),
        Err(error) => return Err(FileError::new(&path, "cannot create", error)),
    }
    if let Err(error) = sync_dir(dir) {
        // A failure must leave nothing behind, and the file is still ours alone to take back.
        _ = std::fs::remove_file(&path);
        return Err(error);
    }
    Ok(Publication::Published)
}

/// Writes a file over an older one, if there is one, in one step.
///
/// # Errors
/// When it could not be written or made durable. A reader finds the old or the new file, whole.
pub fn replace(dir: &Path, name: &str, bytes: &[u8]) -> Result<(), FileError> {
    let path = dir.join(name);
    let temporary = write_temporary(dir, bytes)?;
    std::fs::rename(temporary.path(), &path)
        .map_err(|error| FileError::new(&path, "cannot replace", error))?;
    sync_dir(dir)
}

/// A name beside `path` that nothing has yet, to move it aside to.
#[must_use]
pub fn free_name(path: &Path) -> PathBuf {
    let mut number = 1;
    loop {
        let mut name = path.as_os_str().to_owned();
        name.push(if number == 1 { ".kept".to_owned() } else { format!(".kept{number}") });
        let name = PathBuf::from(name);
        if name.symlink_metadata().is_err() {
            return name;
        }
        number += 1;
    }
}

/// Reads a regular file of at most `max` bytes; `None` only when there is nothing of that name.
///
/// # Errors
/// When it is longer than `max`, is no regular file, is a link that leads nowhere, or cannot be
/// read. A pipe or a device is neither read nor waited for.
pub fn read_bounded(path: &Path, max: usize) -> Result<Option<Vec<u8>>, FileError> {
    let failed = |error: io::Error| FileError::new(path, "cannot read", error);
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed())
        .open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return match std::fs::symlink_metadata(path) {
                Ok(_) => Err(failed(io::Error::other("a link that leads nowhere"))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(failed(error)),
            };
        }
        Err(error) => return Err(failed(error)),
    };
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(failed(io::Error::other("not a regular file")));
    }
    let mut bytes = Vec::new();
    let limit = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
    file.take(limit).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > max {
        return Err(failed(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("longer than the {max} bytes allowed"),
        )));
    }
    Ok(Some(bytes))
}

/// How long ago a file was written; none where it is missing or the time lies in the future.
#[must_use]
pub fn age(path: &Path) -> Option<Duration> {
    let written = jiff::Timestamp::try_from(std::fs::metadata(path).ok()?.modified().ok()?).ok()?;
    Duration::try_from(clock::now().duration_since(written)).ok()
}

/// Removes a file for good; whether there was one.
///
/// # Errors
/// When it is still there, or its removal may not outlast a power cut.
pub fn remove(path: &Path) -> Result<bool, FileError> {
    match std::fs::remove_file(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(FileError::new(path, "cannot remove", error)),
    }
    sync_dir(path.parent().unwrap_or(path))?;
    Ok(true)
}

/// Creates a folder with the permission bits of `model` (set-group-ID included); whether it is new.
/// Its parent must exist.
///
/// # Errors
/// When it cannot be created, or something that is no folder has its name.
pub fn make_dir_like(path: &Path, model: &Path) -> Result<bool, FileError> {
    let model_mode = mode_of(model).map_err(|error| FileError::new(model, "cannot look at", error))?;
    match std::fs::create_dir(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => return Ok(false),
        Err(error) => return Err(FileError::new(path, "cannot create the folder", error)),
    }
    adopt_mode(path, model_mode & 0o2777);
    if let Some(parent) = path.parent() {
        sync_dir(parent)?;
    }
    Ok(true)
}

/// Whether anything has this name, a link that leads nowhere included.
#[must_use]
pub fn is_there(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}

/// Whether a folder has this name.
#[must_use]
pub fn is_dir(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// Removes a file that nobody needs any more; one that cannot be removed does no harm.
pub fn discard(path: &Path) {
    _ = std::fs::remove_file(path);
}

/// Removes an empty folder; one that is not empty, or not there, stays as it is.
pub fn discard_dir(path: &Path) {
    _ = std::fs::remove_dir(path);
    _ = path.parent().map(sync_dir);
}

/// Discards what killed writers left in a folder. Only for who excludes all other writers of it.
pub fn sweep(dir: &Path) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.flatten().filter(|entry| is_temporary(&entry.file_name())) {
        discard(&entry.path());
    }
}

/// Gives something another name in its folder, so that its own is free; nothing of it is lost.
///
/// # Errors
/// When it cannot be renamed.
pub fn set_aside(path: &Path, name: &str) -> Result<(), FileError> {
    let dir = path.parent().unwrap_or(path);
    std::fs::rename(path, dir.join(name)).map_err(|error| FileError::new(path, "cannot move away", error))?;
    sync_dir(dir)
}

/// The names of the files in a folder and in folders below it, `depth` levels deep; none when there is
/// no such folder. Links are not followed.
///
/// # Errors
/// When a folder that is there cannot be read.
pub fn names_below(dir: &Path, depth: usize) -> Result<Vec<String>, FileError> {
    let mut names = Vec::new();
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(names),
        Err(error) => return Err(FileError::new(dir, "cannot read the folder", error)),
    };
    for entry in entries {
        let entry = entry.map_err(|error| FileError::new(dir, "cannot read the folder", error))?;
        let kind = entry.file_type().map_err(|error| FileError::new(dir, "cannot look into", error))?;
        if kind.is_dir() && depth > 1 {
            names.extend(names_below(&entry.path(), depth - 1)?);
        } else if let (true, Ok(name)) = (kind.is_file(), entry.file_name().into_string()) {
            names.push(name);
        }
    }
    Ok(names)
}

/// The names of everything in a folder, to be shown.
///
/// # Errors
/// It cannot be read, or is no folder.
pub fn entries(dir: &Path) -> Result<Vec<String>, FileError> {
    let failed = |error| FileError::new(dir, "cannot read the folder", error);
    let names = std::fs::read_dir(dir).map_err(failed)?;
    names.map(|entry| Ok(entry.map_err(failed)?.file_name().to_string_lossy().into_owned())).collect()
}

/// Makes what was created, renamed or removed in a folder outlast a power cut.
///
/// # Errors
/// When the system reports that it did not. A file system that cannot sync a folder is let off:
/// nothing better can be had there.
pub fn sync_dir(dir: &Path) -> Result<(), FileError> {
    // An empty path is how `Path::parent` names the current folder.
    let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    match File::open(dir).and_then(|folder| folder.sync_all()) {
        Ok(()) => Ok(()),
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
            Ok(())
        }
        Err(error) => Err(FileError::new(dir, "cannot sync the folder", error)),
    }
}

/// A complete, synced file in `dir`; it disappears with the value unless it was renamed.
fn write_temporary(dir: &Path, bytes: &[u8]) -> Result<NamedTempFile, FileError> {
    let mut temporary = tempfile::Builder::new()
        .prefix(TEMPORARY_PREFIX)
        .tempfile_in(dir)
        .map_err(|error| FileError::new(dir, "cannot create a file in", error))?;
    if let Ok(mode) = mode_of(dir) {
        adopt_mode(temporary.path(), mode & 0o666 | 0o600);
    }
    temporary
        .write_all(bytes)
        .and_then(|()| temporary.as_file().sync_all())
        .map_err(|error| FileError::new(temporary.path(), "cannot write", error))?;
    Ok(temporary)
}

/// Moves `from` to `to` unless there is something: `AlreadyExists`.
fn move_without_replacing(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // Not every file system knows the flag: NFS does not.
            Err(Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP) => {}
            other => return Ok(other?),
        }
    }
    link_without_replacing(from, to)
}

/// The same by a second name; the first one goes away with its temporary file.
fn link_without_replacing(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::hard_link(from, to).or_else(|error| {
        // The answer of a file server can be lost and the call repeated: two names are the proof.
        let same_file = std::fs::metadata(from).is_ok_and(|from| {
            std::fs::symlink_metadata(to).is_ok_and(|to| (from.dev(), from.ino()) == (to.dev(), to.ino()))
        });
        if same_file { Ok(()) } else { Err(error) }
    })
}

fn mode_of(path: &Path) -> io::Result<u32> {
    Ok(std::fs::metadata(path)?.permissions().mode())
}

/// Best effort: some file systems have no such bits, and whoever made the file can use it anyway.
fn adopt_mode(path: &Path, mode: u32) {
    if mode_of(path).is_ok_and(|now| now & 0o7777 != mode) {
        _ = std::fs::set_permissions(path, Permissions::from_mode(mode));
    }
}

/// Whether a name in one of our folders is a leftover of [`publish_new`] or [`replace`].
#[must_use]
pub fn is_temporary(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(TEMPORARY_PREFIX.as_bytes())
}

#[cfg(test)]
mod tests;
