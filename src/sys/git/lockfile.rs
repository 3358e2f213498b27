//! Lock files of git's own (`index.lock`, `HEAD.lock`): which one stood in the way, how old it is, and who
//! has it open, as far as the kernel shows it. git removes none that a killed command left behind.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::sys::process;

/// How long such a lock is waited for, unless `aitask-lock.indexWait` says otherwise: git commands of editors
/// and prompts hold it for moments.
pub const WAIT: Duration = Duration::from_secs(5);
/// Between two tries.
pub const TICK: Duration = Duration::from_millis(50);

/// The lock file that git says it could not make, if that is why it failed. What a server says does not count.
#[must_use]
pub fn in_the_way(stderr: &[u8]) -> Option<PathBuf> {
    let text = String::from_utf8_lossy(stderr);
    let ours = text.lines().filter(|line| !line.starts_with("remote:"));
    ours.filter_map(|line| line.split_once("Unable to create '")?.1.split_once("': File exists"))
        .map(|(path, _)| PathBuf::from(path))
        .find(|path| path.extension().is_some_and(|end| end == "lock"))
}

/// Whether a merge may have failed for want of the index alone: a git that cannot take it before it begins
/// does not always say which file it wanted.
#[must_use]
pub fn index_was_taken(stderr: &[u8]) -> bool {
    in_the_way(stderr).is_some() || String::from_utf8_lossy(stderr).contains("Unable to write index")
}

/// A lock file as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockFile {
    /// Its name.
    name: String,
    /// Whole seconds since it was made; none when that cannot be seen.
    age: Option<u64>,
    /// Processes that have it open, with the names of their programs. A git that waits for an editor has
    /// closed it, so none is no proof that it was left behind.
    open_in: Vec<(u32, String)>,
}

impl LockFile {
    /// Looks at it.
    #[must_use]
    pub fn at(path: &Path) -> Self {
        let age = path.symlink_metadata().and_then(|data| data.modified()).ok();
        let age = age.and_then(|made| made.elapsed().ok()).map(|age| age.as_secs());
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let pids = process::with_open_file(path).into_iter();
        let open_in = pids.map(|pid| (pid, process::comm(pid).unwrap_or_default()));
        Self { name, age, open_in: open_in.collect() }
    }

    /// The first process that has it open.
    #[must_use]
    pub fn holder(&self) -> Option<u32> {
        self.open_in.first().map(|(pid, _)| *pid)
    }
}

impl fmt::Display for LockFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.age {
            Some(age) => write!(f, "{} is {age} s old", self.name)?,
            None => write!(f, "{} stands there", self.name)?,
        }
        match self.open_in.split_first() {
            None => f.write_str(", and no process is seen that has it open"),
            Some(((pid, name), _)) => write!(f, ", and process {pid} ({name}) has it open"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_file_in_the_way_is_read_out_of_what_git_says() {
        for (said, path) in [
            (
                "fatal: Unable to create '/r/.git/index.lock': File exists.\n\nAnother git process",
                Some("/r/.git/index.lock"),
            ),
            (
                "error: cannot lock ref 'HEAD': Unable to create '/it's/.git/HEAD.lock': File exists.",
                Some("/it's/.git/HEAD.lock"),
            ),
            ("remote: fatal: Unable to create '/r/.git/index.lock': File exists.", None),
            ("fatal: Unable to create '/r/.git/index.lock': Permission denied", None),
            ("fatal: Unable to create '/r/x': File exists.", None),
            ("", None),
        ] {
            assert_eq!(in_the_way(said.as_bytes()).as_deref(), path.map(Path::new), "{said}");
        }
    }

    #[test]
    fn who_has_it_open_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("index.lock");
        let file = std::fs::File::create(&path).unwrap();
        let open = LockFile::at(&path);
        assert_eq!(open.holder(), process::proc_is_ours().then(std::process::id));
        assert!(open.to_string().starts_with("index.lock is "), "{open}");
        drop(file);
        let closed = LockFile::at(&path);
        assert!(closed.to_string().ends_with("no process is seen that has it open"), "{closed}");
    }
}
