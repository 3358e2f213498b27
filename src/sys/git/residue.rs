//! Looks at what stands in a worktree that a merge must not start on. It takes no lock and writes
//! nothing. Untracked and ignored files are not read, except where they stand in the place of tracked ones.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::rescue::Copy;
use super::{Answer, Cause, Git, GitFailure, Hooks};
use crate::domain::merge::residue::{Operation, Residue};
use crate::sys::clock;

/// Without looking for renames: that would read contents, which a partial clone may lack.
const STATUS: [&str; 6] =
    ["status", "--porcelain=v2", "-z", "--untracked-files=no", "--ignore-submodules=dirty", "--no-renames"];

impl Git {
    /// What stands in this worktree that a merge must not start on.
    ///
    /// # Errors
    /// git cannot tell.
    pub fn residue(&self) -> Result<Residue, GitFailure> {
        let index_locked = !self.wait_for_index();
        let mut status = self.run(Hooks::Off, &STATUS)?;
        let index_damaged = !status.ok() && self.index_is_damaged()?;
        if index_damaged {
            status = self.status_from_head()?;
        }
        if !status.ok() {
            return Err(GitFailure::of_exit("status", status.code, &status.stderr));
        }
        let mut changes = Changes::parse(&status.stdout);
        let head = self.oid("HEAD")?;
        let merge_head = self.pseudo_ref("MERGE_HEAD")?;
        let operations = self.operations()?;
        // What a remedy would write over is part of what stands there; by itself it is in nobody's way.
        let clean = changes.dirty.is_empty() && changes.unmerged.is_empty();
        if (merge_head.is_some() || !operations.is_empty() || !clean) && !index_damaged {
            changes.dirty.extend(self.assumed_changes()?);
            let places: Vec<Vec<u8>> = (changes.gone.iter().chain(&changes.unmerged))
                .filter_map(|path| self.standing_at(path, false))
                .collect();
            for place in places {
                // What cannot be read is refused later, when it is to be saved.
                changes.dirty.extend(self.files_below(&place).unwrap_or_default());
            }
        }
        let fingerprint = self.fingerprint(head.as_deref(), merge_head.as_deref(), &operations, &changes);
        let text = |paths: &BTreeSet<Vec<u8>>| {
            paths.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect()
        };
        Ok(Residue {
            merge_head,
            operations,
            unmerged: text(&changes.unmerged),
            dirty: text(&changes.dirty),
            index_locked,
            index_damaged,
            head,
            fingerprint: Some(fingerprint),
        })
    }

    /// The lock of the index.
    #[must_use]
    pub fn index_lock(&self) -> PathBuf {
        self.git_dir().join("index.lock")
    }

    /// What `git status` would say with an index as of HEAD.
    fn status_from_head(&self) -> Result<Answer, GitFailure> {
        // Not in the git directory: a look works where nothing may be written, too.
        let folder = tempfile::Builder::new().prefix("aitask-lock-look-").tempdir();
        let folder =
            folder.map_err(|error| GitFailure::new("status", Cause::Other, error.to_string().as_bytes()))?;
        Copy::of(self, folder.path().join("index"))?.run(&STATUS, None)
    }

    /// Whether nobody holds the index, or somebody let go of it in time.
    fn wait_for_index(&self) -> bool {
        let lock = self.index_lock();
        let deadline = clock::deadline_in(self.lock_wait.min(self.time_left()));
        while lock.symlink_metadata().is_ok() {
            if clock::remaining(deadline).is_zero() {
                return false;
            }
            clock::sleep(super::lockfile::TICK);
        }
        true
    }

    /// The object that one of git's own marks of an operation names. Most are files; in a repository
    /// with reftables some are not.
    pub(super) fn pseudo_ref(&self, name: &str) -> Result<Option<String>, GitFailure> {
        let path = self.git_dir().join(name);
        match std::fs::read(&path) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                // A file that says nothing still is the mark of something.
                Ok(Some(text.lines().next().unwrap_or_default().trim().to_owned()))
            }
            Err(_) if path.symlink_metadata().is_ok() => Ok(Some(String::new())),
            Err(_) if self.git_dir().join("reftable").is_dir() => self.oid(name),
            Err(_) => Ok(None),
        }
    }

    fn operations(&self) -> Result<Vec<Operation>, GitFailure> {
        let there = |name: &str| self.git_dir().join(name).symlink_metadata().is_ok();
        let mut found = BTreeSet::new();
        if there("rebase-merge") {
            found.insert(Operation::Rebase);
        }
        if there("rebase-apply") {
            let am = there("rebase-apply/applying");
            found.insert(if am { Operation::Am } else { Operation::Rebase });
        }
        if self.pseudo_ref("CHERRY_PICK_HEAD")?.is_some() {
            found.insert(Operation::CherryPick);
        }
        if self.pseudo_ref("REVERT_HEAD")?.is_some() {
            found.insert(Operation::Revert);
        }
        // Between two picks only the to-do list is left.
        if there("sequencer/todo") {
            // One that cannot be read is the mark of something all the same.
            let todo = std::fs::read(self.git_dir().join("sequencer/todo"));
            let revert = todo.is_ok_and(|todo| todo.starts_with(b"revert"));
            found.insert(if revert { Operation::Revert } else { Operation::CherryPick });
        }
        if there("BISECT_LOG") {
            found.insert(Operation::Bisect);
        }
        Ok(found.into_iter().collect())
    }

    /// What stands where a tracked file or one of its folders should be: the path itself, where
    /// that is a folder, or a file in place of a folder. `any` takes a file at the path itself, too.
    pub(super) fn standing_at(&self, path: &[u8], any: bool) -> Option<Vec<u8>> {
        let path = Path::new(OsStr::from_bytes(path));
        for (depth, part) in path.ancestors().enumerate().filter(|(_, part)| !part.as_os_str().is_empty()) {
            if let Ok(data) = self.work_dir().join(part).symlink_metadata() {
                let counts = if depth == 0 { any || data.is_dir() } else { !data.is_dir() };
                return counts.then(|| part.as_os_str().as_bytes().to_vec());
            }
        }
        None
    }

    /// Every file and symbolic link at a path or below it, from the top of the tree.
    pub(super) fn files_below(&self, path: &[u8]) -> std::io::Result<Vec<Vec<u8>>> {
        let mut found = Vec::new();
        let mut open = vec![PathBuf::from(OsStr::from_bytes(path))];
        while let Some(part) = open.pop() {
            let place = self.work_dir().join(&part);
            let kind = place.symlink_metadata()?.file_type();
            if kind.is_dir() {
                for entry in std::fs::read_dir(&place)? {
                    open.push(part.join(entry?.file_name()));
                }
            } else if kind.is_file() || kind.is_symlink() {
                found.push(part.into_os_string().into_vec());
            }
        }
        found.sort();
        Ok(found)
    }

    /// A digest of everything that was looked at; files count by size and times.
    fn fingerprint(
        &self,
        head: Option<&str>,
        merge_head: Option<&str>,
        operations: &[Operation],
        changes: &Changes,
    ) -> String {
        let mut text = format!("{head:?} {merge_head:?} {operations:?}\0").into_bytes();
        text.extend_from_slice(&changes.raw);
        for path in changes.dirty.iter().chain(&changes.unmerged) {
            let file = self.work_dir().join(Path::new(OsStr::from_bytes(path)));
            let seen = file.symlink_metadata().map(|data| {
                (data.ino(), data.size(), data.mtime(), data.mtime_nsec(), data.ctime(), data.ctime_nsec())
            });
            text.extend_from_slice(format!("{:?}\0", seen.ok()).as_bytes());
        }
        digest(&text)
    }

    /// A digest of the index: which content is staged under which path, and nothing of the files'
    /// times, which any `git status` may renew.
    ///
    /// # Errors
    /// git cannot read the index.
    pub fn index_digest(&self) -> Result<String, GitFailure> {
        let staged = self.run(Hooks::Off, &["ls-files", "--stage", "-z"])?;
        if staged.ok() {
            Ok(digest(&staged.stdout))
        } else {
            Err(GitFailure::of_exit("ls-files", staged.code, &staged.stderr))
        }
    }
}

/// A digest of some bytes, in hexadecimal digits. It is compared with others of this program only.
fn digest(bytes: &[u8]) -> String {
    let kind = gix::hash::Kind::Sha1;
    gix::objs::compute_hash(kind, gix::objs::Kind::Blob, bytes).map(|id| id.to_string()).unwrap_or_default()
}

/// What `git status --porcelain=v2 -z` says of tracked files.
#[derive(Debug, Default, PartialEq, Eq)]
struct Changes {
    unmerged: BTreeSet<Vec<u8>>,
    dirty: BTreeSet<Vec<u8>>,
    /// Those of them that have no file in the tree.
    gone: BTreeSet<Vec<u8>>,
    raw: Vec<u8>,
}

impl Changes {
    fn parse(listing: &[u8]) -> Self {
        let mut changes = Self { raw: listing.to_vec(), ..Self::default() };
        let mut entries = listing.split(|&byte| byte == 0);
        while let Some(entry) = entries.next() {
            let Some(kind) = entry.first() else { continue };
            // Fields before the path, by kind of entry.
            let fields = match kind {
                b'1' => 8,
                b'2' => 9,
                b'u' => 10,
                _ => continue,
            };
            if *kind == b'2' {
                let from = entries.next().unwrap_or_default();
                // A path that was renamed away has no entry of its own; one that was copied is as
                // it was.
                if !entry.get(2..4).unwrap_or_default().contains(&b'C') {
                    changes.dirty.insert(from.to_vec());
                }
            }
            let mut parts = entry.splitn(fields + 1, |&byte| byte == b' ').skip(1);
            let (Some(xy), Some(submodule)) = (parts.next(), parts.next()) else { continue };
            let Some(path) = parts.last() else { continue };
            if *kind == b'u' {
                changes.unmerged.insert(path.to_vec());
            } else if !(submodule.starts_with(b"S") && xy.starts_with(b".")) {
                // A submodule that merely stands at another commit than the index says is the usual
                // state after a merge; neither a merge nor a reset would touch it.
                if xy.contains(&b'D') {
                    changes.gone.insert(path.to_vec());
                }
                changes.dirty.insert(path.to_vec());
            }
        }
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read_with_any_path() {
        let zero = "0".repeat(40);
        let listing = format!(
            "# stash 1\x001 .M N... 100644 100644 100644 {zero} {zero} a b\nc\0\
             2 R. N... 100644 100644 100644 {zero} {zero} R100 new\0old name\0\
             u UU N... 100644 100644 100644 100644 {zero} {zero} {zero} x y\0\
             1 .M SC.. 160000 160000 160000 {zero} {zero} sub\0\
             1 M. S... 160000 160000 160000 {zero} {zero} sub2\0? untracked\0"
        );
        let changes = Changes::parse(listing.as_bytes());
        let set = |paths: &[&str]| paths.iter().map(|path| path.as_bytes().to_vec()).collect();
        assert_eq!(changes.unmerged, set(&["x y"]));
        assert_eq!(changes.dirty, set(&["a b\nc", "new", "old name", "sub2"]));
        assert_eq!(Changes::parse(b"").dirty, set(&[]));
    }
}
