//! The lock branch's tree: lock files out of a commit, and the next commit out of edits. The one
//! place that knows names and modes.

use std::collections::HashSet;

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::objs::tree::{EntryKind, EntryRef};
use gix::objs::{Commit, Kind, TreeRef, TreeRefIter};

use super::{StoreError, refs};
use crate::domain::compaction::Compaction;
use crate::domain::plan::{CommitNote, Edit};
use crate::domain::record::{self, Damage, Reading};
use crate::domain::task_id::TaskId;
use crate::sys::loose;

/// A file of the branch that is some task's lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The task.
    pub task: TaskId,
    /// The file's name.
    pub file: String,
    /// The content's object id.
    pub oid: ObjectId,
    /// Whether it is a plain file. A folder, link or submodule in its place is a lock that cannot
    /// be read.
    pub plain: bool,
}

/// A commit of the branch and its tree, read once: decisions look at it, and the next commit is built
/// on it. The tree stays as it lies in the object database: a branch may hold ten thousand locks, and a
/// command is about one of them.
#[derive(Clone, Debug)]
pub struct Base {
    /// The commit.
    pub commit: ObjectId,
    tree: Vec<u8>,
}

impl Base {
    /// Reads a commit.
    ///
    /// # Errors
    /// The commit or its tree cannot be read.
    pub fn read(repo: &gix::Repository, commit: ObjectId) -> Result<Self, StoreError> {
        let unreadable = |error: &dyn std::fmt::Display| {
            StoreError::Unreadable(format!("commit {commit} of the lock branch cannot be read: {error}"))
        };
        let found = repo.find_commit(commit).map_err(|error| unreadable(&error))?;
        let tree = found.tree().map_err(|error| unreadable(&error))?.detach().data;
        // All of it makes sense, or none of it is believed.
        for entry in TreeRefIter::from_bytes(&tree, repo.object_hash()) {
            entry.map_err(|error| unreadable(&error))?;
        }
        Ok(Self { commit, tree })
    }

    fn files(&self) -> impl Iterator<Item = EntryRef<'_>> {
        TreeRefIter::from_bytes(&self.tree, self.commit.kind()).filter_map(Result::ok)
    }

    /// The lock files.
    #[must_use]
    pub fn entries(&self) -> Vec<Entry> {
        self.files().filter_map(|file| entry(file.filename, file.oid.to_owned(), file.mode.kind())).collect()
    }

    /// The lock files of some tasks, under whatever spelling. Most names are passed over without being read.
    #[must_use]
    pub fn of_tasks(&self, tasks: &[TaskId]) -> Vec<Entry> {
        let wanted: HashSet<&[u8]> = tasks.iter().map(|task| significant(task.as_str().as_bytes())).collect();
        let alike = self.files().filter(|file| {
            file.filename.strip_suffix(LOCK_SUFFIX).is_some_and(|name| wanted.contains(significant(name)))
        });
        let read = |file: EntryRef<'_>| entry(file.filename, file.oid.to_owned(), file.mode.kind());
        alike.filter_map(read).filter(|entry| tasks.contains(&entry.task)).collect()
    }
}

/// How the name of a lock file ends.
const LOCK_SUFFIX: &[u8] = b"_lock.yaml";

/// What all spellings of a task have in common: the end of its last part, without the zeros and the `t`
/// that may stand before it.
fn significant(spelling: &[u8]) -> &[u8] {
    let last = spelling.rsplit(|byte| *byte == b'_').next().unwrap_or_default();
    last.trim_start_with(|c| matches!(c, '0' | 't' | 'T'))
}

/// The lock files of a commit.
///
/// # Errors
/// The commit or its tree cannot be read.
pub fn entries(repo: &gix::Repository, commit: ObjectId) -> Result<Vec<Entry>, StoreError> {
    Base::read(repo, commit).map(|base| base.entries())
}

/// The lock that an entry of the branch's tree is; `None` for what is no lock.
#[must_use]
pub fn entry(name: &BStr, oid: ObjectId, kind: EntryKind) -> Option<Entry> {
    let file = name.to_str().ok()?.to_owned();
    let task = TaskId::of_file_name(&file)?;
    let plain = matches!(kind, EntryKind::Blob | EntryKind::BlobExecutable);
    Some(Entry { task, file, oid, plain })
}

/// Whether all lock files of a commit are in this clone: a partial clone may know a commit without them.
#[must_use]
pub fn is_complete(repo: &gix::Repository, commit: ObjectId) -> bool {
    let complete = |entry: &Entry| !entry.plain || repo.has_object(entry.oid);
    entries(repo, commit).is_ok_and(|entries| entries.iter().all(complete))
}

/// Whether a commit and its tree can be read.
#[must_use]
pub fn is_there(repo: &gix::Repository, commit: ObjectId) -> bool {
    Base::read(repo, commit).is_ok()
}

/// Reads one lock file. What cannot be read is held all the same.
#[must_use]
pub fn read(repo: &gix::Repository, entry: &Entry) -> Reading {
    if !entry.plain {
        return record::damaged(Damage::NotAFile);
    }
    // Size first: a record is bounded, whatever stands on the branch.
    match repo.find_header(entry.oid) {
        Ok(header) if header.kind() != Kind::Blob => return record::damaged(Damage::NotAFile),
        Ok(header) if header.size() > record::MAX_BYTES as u64 => return record::damaged(Damage::TooLarge),
        Ok(_) => {}
        Err(_) => return record::damaged(Damage::Missing),
    }
    match repo.find_object(entry.oid) {
        Ok(object) => record::decode(&object.data),
        Err(_) => record::damaged(Damage::Missing),
    }
}

/// Who signs a commit, and with what besides the note.
#[derive(Clone, Debug)]
pub struct Signer {
    /// Name.
    pub name: String,
    /// Email.
    pub email: String,
    /// Seconds since 1970.
    pub seconds: i64,
    /// A random word that makes every attempt's commit its own: two attempts of identical content
    /// must never be one object, or both would find it on the branch and believe to have won.
    pub attempt: String,
}

/// Writes the commit that applies `edits` to `base`.
///
/// # Errors
/// The objects cannot be written, or a record's value cannot stand in a file.
pub fn commit(
    repo: &gix::Repository,
    base: Option<&Base>,
    edits: &[Edit],
    note: &CommitNote,
    signer: &Signer,
) -> Result<ObjectId, StoreError> {
    let before = base.map_or(&[][..], |base| &base.tree);
    let mut entries = TreeRef::from_bytes(before, repo.object_hash())
        .map_err(|error| StoreError::Unreadable(error.to_string()))?
        .entries;
    let changes = changes(repo, edits)?;
    // A clean-up may change as many files as there are.
    let changed: HashSet<&[u8]> = changes.iter().map(|(file, _)| file.as_bytes()).collect();
    entries.retain(|entry| !changed.contains(entry.filename.as_bytes()));
    for (file, content) in &changes {
        if let Some(oid) = content {
            let mode = EntryKind::Blob.into();
            entries.push(EntryRef { mode, filename: file.as_str().into(), oid });
        }
    }
    entries.sort();
    let tree = loose::write(repo, &TreeRef { entries }).map_err(|error| not_writable(repo, &error))?;
    let parents = base.map(|base| base.commit).into_iter().collect();
    write_commit(repo, tree, parents, message(note, &signer.attempt), signer)
}

/// Writes a commit without parents that has the tree of another one, whose place it is to take.
///
/// # Errors
/// The other one cannot be read, or the commit cannot be written.
pub fn root_like(
    repo: &gix::Repository,
    tip: ObjectId,
    compaction: &Compaction,
    signer: &Signer,
) -> Result<ObjectId, StoreError> {
    let tree = repo.find_commit(tip).ok().and_then(|commit| Some(commit.tree_id().ok()?.detach()));
    let tree = tree.ok_or_else(|| StoreError::Unreadable(format!("commit {tip} cannot be read")))?;
    let trailers = compaction.trailers();
    let message = format!("ait: Compact the lock branch\n\n{trailers}Lock-Attempt: {}\n", signer.attempt);
    write_commit(repo, tree, Vec::new(), message, signer)
}

fn write_commit(
    repo: &gix::Repository,
    tree: ObjectId,
    parents: Vec<ObjectId>,
    message: String,
    signer: &Signer,
) -> Result<ObjectId, StoreError> {
    let signature = gix::actor::Signature {
        name: plain(&signer.name),
        email: plain(&signer.email),
        time: gix::date::Time::new(signer.seconds, 0),
    };
    let commit = Commit {
        tree,
        parents: parents.into(),
        author: signature.clone(),
        committer: signature,
        encoding: None,
        message: message.into(),
        extra_headers: Vec::new(),
    };
    loose::write(repo, &commit).map_err(|error| not_writable(repo, &error))
}

/// What becomes of each file, with the new content's object id, written already.
fn changes(repo: &gix::Repository, edits: &[Edit]) -> Result<Vec<(String, Option<ObjectId>)>, StoreError> {
    let change = |edit: &Edit| match edit {
        Edit::Remove { file } => Ok((file.clone(), None)),
        Edit::Put { task, record } => {
            let content =
                record::encode(task, record).map_err(|error| StoreError::NotWritable(error.to_string()))?;
            let oid = loose::write_content(repo, Kind::Blob, content.as_bytes());
            Ok((task.file_name(), Some(oid.map_err(|error| not_writable(repo, &error))?)))
        }
    };
    edits.iter().map(change).collect()
}

fn not_writable(repo: &gix::Repository, error: &dyn std::error::Error) -> StoreError {
    let place = repo.common_dir().display();
    StoreError::NotWritable(format!("cannot write objects under {place}: {}", refs::words(error)))
}

/// A name or address without the characters that would break a commit's header.
fn plain(text: &str) -> BString {
    text.chars().filter(|c| !c.is_control() && !matches!(c, '<' | '>')).collect::<String>().trim().into()
}

fn message(note: &CommitNote, attempt: &str) -> String {
    let mut message = format!("{}\n\n", note.subject);
    for action in &note.actions {
        message.push_str(&format!(
            "Lock-Action: {}\nLock-Task: {}\nLock-Id: {}\n",
            action.word, action.task, action.lock_id
        ));
    }
    message.push_str(&format!("Lock-Attempt: {attempt}\n"));
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_passed_over_is_no_spelling_of_the_task() {
        for file in [
            "t7_lock.yaml",
            "T007_lock.yaml",
            "tt7_lock.yaml",
            "t16_02_lock.yaml",
            "t0_lock.yaml",
            "t000_lock.yaml",
            "tfoo_lock.yaml",
            "tTt07a_lock.yaml",
            "t1_t_lock.yaml",
            "t07_1_lock.yaml",
            "t_lock_lock.yaml",
        ] {
            let Some(task) = TaskId::of_file_name(file) else { continue };
            let name = file.strip_suffix("_lock.yaml").unwrap();
            assert_eq!(significant(name.as_bytes()), significant(task.as_str().as_bytes()), "{file}");
        }
        assert_ne!(significant(b"t17"), significant(b"7"));
    }
}
