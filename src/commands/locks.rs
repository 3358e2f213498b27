//! Locks as commands see them: the store that this repository calls for, and the locks of a
//! snapshot with their sessions looked at.

use std::collections::HashMap;
use std::time::Duration;

use crate::context::Context;
use crate::domain::anchor::{Here, Observed};
use crate::domain::failure::Failure;
use crate::domain::liveness;
use crate::domain::lock::Found;
use crate::domain::record;
use crate::domain::task_id::TaskId;
use crate::store::local::LocalStore;
use crate::store::refs::Logger;
use crate::store::remote::RemoteStore;
use crate::store::serial::Turn;
use crate::store::{Freshness, LockStore, Snapshot, StoreError, tree};
use crate::sys::process;

/// The lock branch of a repository, wherever it lives.
pub enum Store<'a> {
    /// In this repository.
    Local(LocalStore<'a>),
    /// On a remote.
    Remote(Box<RemoteStore<'a>>, String),
}

impl<'a> Store<'a> {
    /// The store that the configuration calls for; `logger` signs reflog entries.
    ///
    /// # Errors
    /// Several addresses could be meant.
    pub fn open(context: &'a Context, logger: (&'a str, &'a str)) -> Result<Self, Failure> {
        let logger = Logger { name: logger.0, email: logger.1 };
        let git = context.git();
        let Some(arbiter) = context.arbiter()? else {
            return Ok(Self::Local(LocalStore::new(&context.repo, git, &context.branch, logger)));
        };
        let turn = Turn::new(&context.repo.common_dir, context.deadline());
        let label = arbiter.label();
        let store = RemoteStore::new(&context.repo, git, arbiter, &context.branch, logger, turn);
        Ok(Self::Remote(Box::new(store), label))
    }

    /// The store as the retry loop takes it.
    pub fn as_dyn(&mut self) -> &mut dyn LockStore {
        match self {
            Self::Local(store) => store,
            Self::Remote(store, _) => store.as_mut(),
        }
    }

    /// What messages call the remote.
    #[must_use]
    pub fn remote_label(&self) -> Option<&str> {
        match self {
            Self::Local(_) => None,
            Self::Remote(_, label) => Some(label),
        }
    }

    /// The tip that this clone knows of, without asking anybody.
    ///
    /// # Errors
    /// References cannot be read.
    pub fn last_known(&self) -> Result<Option<gix::ObjectId>, StoreError> {
        match self {
            Self::Local(store) => store.tip(),
            Self::Remote(store, _) => store.last_known(),
        }
    }

    /// How long ago this clone saw the branch last; none where that cannot be told.
    #[must_use]
    pub fn age_of_last_known(&self) -> Option<Duration> {
        match self {
            Self::Local(_) => Some(Duration::ZERO),
            Self::Remote(store, _) => store.age_of_last_known(),
        }
    }

    /// Keeps in mind that the branch was looked at now, also where it was found unchanged.
    pub fn remember_the_look(&self) {
        if let Self::Remote(store, _) = self {
            store.remember_the_look();
        }
    }

    /// The branch as it is now.
    ///
    /// # Errors
    /// It cannot be read, or there is none.
    pub fn read(&mut self) -> Result<Snapshot, StoreError> {
        let snapshot = self.as_dyn().snapshot(Freshness::Current)?;
        branch_exists(&snapshot, false)?;
        Ok(snapshot)
    }
}

/// Whether a command may go on: only a claim makes the branch when there is none.
///
/// # Errors
/// There is no branch, as far as the arbiter knows.
pub fn branch_exists(snapshot: &Snapshot, creates: bool) -> Result<(), StoreError> {
    if snapshot.base.is_none() && snapshot.current && !creates {
        return Err(StoreError::BranchMissing { deleted: false });
    }
    Ok(())
}

/// The locks of some tasks, read and looked at.
#[must_use]
pub fn of_tasks(objects: &gix::Repository, snapshot: &Snapshot, tasks: &[TaskId], here: &Here) -> Vec<Found> {
    let mut seen = HashMap::new();
    snapshot.of_tasks(tasks).iter().map(|entry| look(objects, entry, here, &mut seen)).collect()
}

/// All locks, read and looked at, sorted as people count.
#[must_use]
pub fn all(objects: &gix::Repository, snapshot: &Snapshot, here: &Here) -> Vec<Found> {
    let mut seen = HashMap::new();
    let entries = snapshot.entries();
    let looked_at = entries.iter().map(|entry| look(objects, entry, here, &mut seen));
    let mut locks: Vec<Found> = looked_at.collect();
    locks.sort_by(|a, b| (a.task.sort_key(), &a.file).cmp(&(b.task.sort_key(), &b.file)));
    locks
}

/// Reads one lock and looks at its session. Each process is looked at once, so that all locks of a
/// session are told the same of it.
fn look(
    objects: &gix::Repository,
    entry: &tree::Entry,
    here: &Here,
    seen: &mut HashMap<u32, Observed>,
) -> Found {
    let mut found = Found {
        task: entry.task.clone(),
        file: entry.file.clone(),
        // A record without a usable ID of its own is named by its exact content.
        lock_id: format!("blob-{}", entry.oid.to_hex_with_len(32)),
        liveness: liveness::Liveness::Unknown(liveness::Doubt::NotSeen),
        reading: tree::read(objects, entry),
    };
    if let Some(lock_id) = found.record().lock_id.clone().filter(|lock_id| record::is_lock_id(lock_id)) {
        found.lock_id = lock_id;
    }
    let anchor = &found.record().anchor;
    let observed = match liveness::pid_to_observe(anchor, here) {
        Some(pid) => seen.entry(pid).or_insert_with(|| process::observe(pid)),
        None => &Observed::NotSeen,
    };
    found.liveness = liveness::judge(anchor, here, observed);
    found
}
