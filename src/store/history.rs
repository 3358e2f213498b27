//! Walks the lock branch backwards along its first parents and compares the tree of each commit with
//! the one before it. Runs in process, newest first, and stops when enough was seen.

use std::collections::BTreeMap;

use gix::ObjectId;
use gix::bstr::ByteSlice as _;

use super::{StoreError, tree};
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
}

/// How many commits in a row that are too old end the walk: the clocks of several machines do
/// not agree, so one old commit proves little.
const OLD_IN_A_ROW: usize = 100;

type Files = BTreeMap<TaskId, Vec<tree::Entry>>;

/// Reads the story backwards from `tip`.
///
/// # Errors
/// A commit or a tree cannot be read.
pub fn walk(repo: &gix::Repository, tip: ObjectId, wanted: &Wanted) -> Result<Story, StoreError> {
    let mut story = Story::default();
    let mut old_in_a_row = 0;
    let mut next = Some((tip, files(repo, tip, wanted)?));
    while let Some((id, after)) = next.take() {
        let (commit, seconds, parent) = read(repo, id)?;
        let before = match parent {
            None => Files::new(),
            Some(parent) if repo.has_object(parent) => files(repo, parent, wanted)?,
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
            for event in events(repo, &commit, &before, &after) {
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

fn files(repo: &gix::Repository, commit: ObjectId, wanted: &Wanted) -> Result<Files, StoreError> {
    let mut files = Files::new();
    for entry in tree::entries(repo, commit)? {
        if wanted.tasks.is_empty() || wanted.tasks.contains(&entry.task) {
            files.entry(entry.task.clone()).or_default().push(entry);
        }
    }
    Ok(files)
}

fn read(repo: &gix::Repository, id: ObjectId) -> Result<(Commit, i64, Option<ObjectId>), StoreError> {
    let unreadable = |error: &dyn std::fmt::Display| {
        StoreError::Unreadable(format!("commit {id} cannot be read: {error}"))
    };
    let found = repo.find_commit(id).map_err(|error| unreadable(&error))?;
    let decoded = found.decode().map_err(|error| unreadable(&error))?;
    let parent = decoded.parents().next();
    // Text of others in fields of a fixed form: what does not fit is unknown, not an error.
    let seconds = found.time().map(|time| time.seconds).unwrap_or_default();
    let time = jiff::Timestamp::from_second(seconds).map(moment::stamp).unwrap_or_default();
    let author = decoded.author().map(|author| author.email.to_str_lossy().into_owned()).unwrap_or_default();
    let intent = Intent::read(&decoded.message.to_str_lossy());
    Ok((Commit { id: id.to_string(), time, author, intent }, seconds, parent))
}

/// The changes between two trees, in the order of the tasks.
fn events(repo: &gix::Repository, commit: &Commit, before: &Files, after: &Files) -> Vec<Event> {
    let mut tasks: Vec<&TaskId> = before.keys().chain(after.keys()).collect();
    tasks.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    tasks.dedup();
    let changed = tasks.into_iter().filter(|task| before.get(task) != after.get(task));
    let event = |task: &TaskId| {
        let (before, after) = (side(repo, before.get(task)), side(repo, after.get(task)));
        Event::of(commit, task, before.as_ref(), after.as_ref())
    };
    changed.filter_map(event).collect()
}

/// The lock that speaks for a task: of several spellings, the canonical one.
fn side(repo: &gix::Repository, files: Option<&Vec<tree::Entry>>) -> Option<Side> {
    let files = files?;
    let canonical = files.iter().find(|entry| entry.file == entry.task.file_name());
    let entry = canonical.or(files.first())?;
    Some(match tree::read(repo, entry) {
        Reading::Whole(record) | Reading::Damaged { shown: record, .. } => Side::of(&record),
    })
}
