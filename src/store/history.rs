//! Walks the lock branch backwards along its first parents and compares the tree of each commit with
//! the one before it. Runs in process, newest first, and stops when enough was seen.

use gix::ObjectId;
use gix::bstr::ByteSlice as _;
use gix::objs::TreeRef;
use gix::objs::tree::EntryRef;

use super::{StoreError, compact, tree};
use crate::domain::history::{Commit, Event, Intent, Side};
use crate::domain::moment;
use crate::domain::record::Reading;
use crate::domain::task_id::TaskId;

/// What part of the story is wanted.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Only these tasks; all when empty.
    pub tasks: Vec<TaskId>,
    /// Most events.
    pub limit: Option<usize>,
    /// Nothing older than this, in seconds since 1970.
    pub since: Option<i64>,
}

/// A part of the story, newest first.
#[derive(Clone, Debug, Default)]
pub struct Story {
    /// What happened.
    pub events: Vec<Event>,
    /// Where this clone's knowledge ends, if it ends before the branch's first commit does.
    pub cut_at: Option<ObjectId>,
    /// The root that took the place of an older history, with its time, if the walk came to it.
    pub compacted: Option<(ObjectId, String)>,
}

/// How many commits in a row that are too old end the walk: the clocks of several machines do
/// not agree, so one old commit proves little.
const OLD_IN_A_ROW: usize = 100;

/// A commit's tree as it lies in the object database.
type RawTree = Vec<u8>;

/// Reads the story backwards from `tip`.
///
/// # Errors
/// A commit or a tree cannot be read.
pub fn walk(repo: &gix::Repository, tip: ObjectId, wanted: &Wanted) -> Result<Story, StoreError> {
    let mut story = Story::default();
    let mut old_in_a_row = 0;
    let mut next = Some((tip, raw_tree(repo, tip)?));
    while let Some((id, after)) = next.take() {
        let (commit, seconds, parent) = read(repo, id)?;
        let before = match parent {
            // Its locks were taken in the history that it took the place of.
            None if compact::is_compaction(repo, id) => {
                story.compacted = Some((id, commit.time));
                return Ok(story);
            }
            None => RawTree::new(),
            Some(parent) if repo.has_object(parent) => raw_tree(repo, parent)?,
            // The border of a shallow clone: what stood before is not known, so nothing is invented.
            Some(parent) => {
                story.cut_at = Some(parent);
                return Ok(story);
            }
        };
        if wanted.since.is_some_and(|since| seconds < since) {
            old_in_a_row += 1;
            if old_in_a_row >= OLD_IN_A_ROW {
                return Ok(story);
            }
        } else {
            old_in_a_row = 0;
            for event in events(repo, &commit, &before, &after, &wanted.tasks)? {
                if wanted.limit.is_some_and(|limit| story.events.len() >= limit) {
                    return Ok(story);
                }
                story.events.push(event);
            }
        }
        next = parent.map(|parent| (parent, before));
    }
    Ok(story)
}

fn unreadable(id: ObjectId, error: &dyn std::fmt::Display) -> StoreError {
    StoreError::Unreadable(format!("commit {id} of the lock branch cannot be read: {error}"))
}

fn raw_tree(repo: &gix::Repository, commit: ObjectId) -> Result<RawTree, StoreError> {
    let found = repo.find_commit(commit).map_err(|error| unreadable(commit, &error))?;
    let tree = found.tree().map_err(|error| unreadable(commit, &error))?;
    Ok(tree.detach().data)
}

fn read(repo: &gix::Repository, id: ObjectId) -> Result<(Commit, i64, Option<ObjectId>), StoreError> {
    let found = repo.find_commit(id).map_err(|error| unreadable(id, &error))?;
    let decoded = found.decode().map_err(|error| unreadable(id, &error))?;
    let parent = decoded.parents().next();
    // Text of others in fields of a fixed form: what does not fit is unknown, not an error.
    let seconds = found.time().map(|time| time.seconds).unwrap_or_default();
    let time = jiff::Timestamp::from_second(seconds).map(moment::stamp).unwrap_or_default();
    let author = decoded.author().map(|author| author.email.to_str_lossy().into_owned()).unwrap_or_default();
    let intent = Intent::read(&decoded.message.to_str_lossy());
    Ok((Commit { id: id.to_string(), time, author, intent }, seconds, parent))
}

/// The changes between two trees, in the order of the tasks; of the `wanted` ones, if any are named.
fn events(
    repo: &gix::Repository,
    commit: &Commit,
    before: &RawTree,
    after: &RawTree,
    wanted: &[TaskId],
) -> Result<Vec<Event>, StoreError> {
    let decode = |tree| {
        let tree = TreeRef::from_bytes(tree, repo.object_hash());
        tree.map_err(|error| {
            StoreError::Unreadable(format!("the tree of commit {} is broken: {error}", commit.id))
        })
    };
    let (before, after) = (decode(before)?.entries, decode(after)?.entries);
    let mut tasks = changed(&before, &after);
    tasks.retain(|task| wanted.is_empty() || wanted.contains(task));
    tasks.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    tasks.dedup();
    let event = |task: &TaskId| {
        let (before, after) = (files_of(task, &before), files_of(task, &after));
        if before == after {
            return None;
        }
        let (before, after) = (side(repo, &before), side(repo, &after));
        Event::of(commit, task, before.as_ref(), after.as_ref())
    };
    Ok(tasks.iter().filter_map(event).collect())
}

/// The tasks of all files that are not the same on both sides. Both lists are in git's order; should one
/// not be, this names too many tasks and never too few: only an equal pair is left out.
fn changed(before: &[EntryRef<'_>], after: &[EntryRef<'_>]) -> Vec<TaskId> {
    let mut tasks = Vec::new();
    let mut note = |entry: &EntryRef<'_>| {
        tasks.extend(entry.filename.to_str().ok().and_then(TaskId::of_file_name));
    };
    let (mut olds, mut news) = (before.iter().peekable(), after.iter().peekable());
    loop {
        match (olds.peek(), news.peek()) {
            (Some(old), Some(new)) if old.filename == new.filename => {
                if (old.oid, old.mode) != (new.oid, new.mode) {
                    note(new);
                }
                olds.next();
                news.next();
            }
            (Some(old), Some(new)) if old.filename < new.filename => {
                note(old);
                olds.next();
            }
            (_, Some(new)) => {
                note(new);
                news.next();
            }
            (Some(old), None) => {
                note(old);
                olds.next();
            }
            (None, None) => return tasks,
        }
    }
}

/// The files of a task, under whatever spelling. Spellings differ in what stands before the last part's
/// significant digits, so most names are passed over without being read.
fn files_of(task: &TaskId, entries: &[EntryRef<'_>]) -> Vec<tree::Entry> {
    let last = task.as_str().rsplit('_').next().unwrap_or_default();
    let ending = format!("{last}_lock.yaml");
    let alike = entries.iter().filter(|entry| entry.filename.ends_with(ending.as_bytes()));
    let file = |entry: &EntryRef<'_>| tree::entry(entry.filename, entry.oid.to_owned(), entry.mode.kind());
    alike.filter_map(file).filter(|entry| entry.task == *task).collect()
}

/// The lock that speaks for a task: of several spellings, the canonical one.
fn side(repo: &gix::Repository, files: &[tree::Entry]) -> Option<Side> {
    let canonical = files.iter().find(|entry| entry.file == entry.task.file_name());
    let entry = canonical.or(files.first())?;
    Some(match tree::read(repo, entry) {
        Reading::Whole(record) | Reading::Damaged { shown: record, .. } => Side::of(&record),
    })
}
