//! Compaction: a new root with the same tree takes the place of a long history, by compare-and-swap. And
//! the question whether a commit led to a tip, which has to see through such a root.

use std::collections::{HashSet, VecDeque};
use std::time::{Duration, Instant};

use gix::ObjectId;
use gix::bstr::ByteSlice as _;

use super::tree::{self, Signer};
use super::{Freshness, LockStore, StoreError, Swap};
use crate::domain::compaction::{Compaction, MOST_NAMED, Named};
use crate::sys::{clock, random};

/// How a commit stands to a tip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Descent {
    /// It is in the tip's history.
    Contained,
    /// A compaction says that it is the tip that `root` took the place of.
    Replaced {
        /// The root.
        root: ObjectId,
    },
    /// A compaction says that it led to the tip that was replaced.
    Named,
    /// Nothing says so.
    Unrelated {
        /// Whether the history ends with a compaction, so that it may have been in what was before.
        compacted: bool,
    },
}

/// How `commit` stands to `tip`. The lock branch is one line of commits, so the walk is short when it is
/// in the history.
///
/// # Errors
/// The tip cannot be read.
pub fn descent(repo: &gix::Repository, tip: ObjectId, commit: ObjectId) -> Result<Descent, StoreError> {
    let name = commit.to_string();
    let mut compacted = false;
    let mut seen = HashSet::new();
    let mut queue = VecDeque::from([tip]);
    while let Some(id) = queue.pop_front() {
        if id == commit {
            return Ok(Descent::Contained);
        }
        if !seen.insert(id) {
            continue;
        }
        match read(repo, id) {
            Ok(Step { parents, compaction: None }) => queue.extend(parents),
            Ok(Step { compaction: Some(compaction), .. }) => match compaction.says_of(&name) {
                Named::Tip => return Ok(Descent::Replaced { root: id }),
                Named::Earlier => return Ok(Descent::Named),
                Named::No => compacted = true,
            },
            // The border of a shallow clone: nothing older is known here.
            Err(_) if id != tip => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Descent::Unrelated { compacted })
}

struct Step {
    parents: Vec<ObjectId>,
    /// Only of a root.
    compaction: Option<Compaction>,
}

fn read(repo: &gix::Repository, id: ObjectId) -> Result<Step, StoreError> {
    let unreadable = |error: &dyn std::fmt::Display| {
        StoreError::Unreadable(format!("commit {id} of the lock branch cannot be read: {error}"))
    };
    let commit = repo.find_commit(id).map_err(|error| unreadable(&error))?;
    let parents: Vec<ObjectId> = commit.parent_ids().map(gix::Id::detach).collect();
    let message = if parents.is_empty() {
        commit.message_raw().map_err(|error| unreadable(&error))?.to_str_lossy().into_owned()
    } else {
        String::new()
    };
    Ok(Step { parents, compaction: Compaction::read(&message) })
}

/// Whether a commit is a root that took the place of an older history.
#[must_use]
pub fn is_compaction(repo: &gix::Repository, id: ObjectId) -> bool {
    read(repo, id).is_ok_and(|step| step.compaction.is_some())
}

/// How many commits lead to a tip, its own included; not counted beyond `most`.
#[must_use]
pub fn length(repo: &gix::Repository, tip: ObjectId, most: usize) -> usize {
    std::iter::successors(Some(tip), |id| read(repo, *id).ok()?.parents.first().copied()).take(most).count()
}

/// The names of the newest commits before `tip`, through an earlier compaction if there is one.
fn before(repo: &gix::Repository, tip: ObjectId) -> Result<Vec<String>, StoreError> {
    let mut names = Vec::new();
    let mut step = read(repo, tip)?;
    while let Some(parent) = step.parents.first().filter(|_| names.len() < MOST_NAMED) {
        names.push(parent.to_string());
        // Beyond the border of a shallow clone nothing can be named.
        let Ok(next) = read(repo, *parent) else { return Ok(names) };
        step = next;
    }
    names.extend(step.compaction.iter().flat_map(Compaction::names));
    Ok(names)
}

/// What a compaction came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compacted {
    /// The tip that was replaced; none where the branch was one commit already.
    pub replaced: Option<ObjectId>,
    /// The branch's tip after it.
    pub tip: ObjectId,
}

/// Puts a root with the same tree in the place of the branch's history. `None` when the branch kept
/// changing until the deadline.
///
/// # Errors
/// The branch cannot be read or changed.
pub fn compact(
    store: &mut dyn LockStore,
    (name, email): (&str, &str),
    deadline: Instant,
) -> Result<Option<Compacted>, StoreError> {
    loop {
        let snapshot = store.snapshot(Freshness::Current)?;
        let Some(tip) = snapshot.lease else {
            return Err(StoreError::BranchMissing { deleted: false });
        };
        let objects = store.objects();
        if read(objects, tip)?.parents.is_empty() {
            return Ok(Some(Compacted { replaced: None, tip }));
        }
        let compaction = Compaction::of(tip.to_string(), before(objects, tip)?);
        let attempt = random::hex128().map_err(|error| StoreError::NotWritable(error.to_string()))?;
        let seconds = clock::now().as_second();
        let signer = Signer { name: name.to_owned(), email: email.to_owned(), seconds, attempt };
        let root = tree::root_like(objects, tip, &compaction, &signer)?;
        match store.compare_and_swap(Some(tip), root)? {
            Swap::Won => return Ok(Some(Compacted { replaced: Some(tip), tip: root })),
            Swap::Busy(why) if Instant::now() >= deadline => return Err(why),
            Swap::Lost if Instant::now() >= deadline => return Ok(None),
            Swap::Lost | Swap::Busy(_) => {
                clock::sleep(Duration::from_micros(random::below(20_000).unwrap_or(10_000)));
            }
        }
    }
}
