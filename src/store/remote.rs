//! The lock branch on a remote: the remote is the truth, changed only by a leased push.

use std::collections::HashSet;
use std::time::Duration;

use gix::ObjectId;

use super::compact::{self, Descent};
use super::refs::{self, Logger, Moved};
use super::serial::{FOLDER, Turn};
use super::{Freshness, LockStore, Snapshot, StoreError, Swap, tree};
use crate::domain::task_id::TaskId;
use crate::sys::clock;
use crate::sys::files;
use crate::sys::git::push::PushAnswer;
use crate::sys::git::remote::{Arbiter, Pushed};
use crate::sys::git::{Cause, Git, GitFailure};
use crate::sys::repository::Repository;

/// How much of the time that is left one push may take: the rest is for finding out what became of it.
const PUSH_SHARE: f64 = 0.6;

/// The file whose age says when the branch was looked at last, whatever was found.
const LOOKED: &str = "looked";

/// How often a fetch is tried whose reference another git holds.
const REF_TRIES: u64 = 6;

/// The lock branch on the arbiter, and what this clone has seen of it last.
pub struct RemoteStore<'a> {
    repo: &'a Repository,
    git: Git,
    arbiter: Arbiter,
    branch: String,
    known_ref: String,
    logger: Logger<'a>,
    turn: Turn,
}

/// Where the branch stands, as far as this clone knows.
enum Tip {
    At(ObjectId),
    Missing,
}

impl<'a> RemoteStore<'a> {
    /// The store of `branch` (a full ref name) on the arbiter.
    ///
    /// The last known tip lives in a private reference of ours, one for each address and branch,
    /// so that a change of the remote's address is never mistaken for a rewritten branch.
    #[must_use]
    pub fn new(
        repo: &'a Repository,
        git: Git,
        arbiter: Arbiter,
        branch: &str,
        logger: Logger<'a>,
        turn: Turn,
    ) -> Self {
        let known_ref = format!("refs/aitask-lock/known/{}", fingerprint(&arbiter.resolved, branch));
        Self { repo, git, arbiter, branch: branch.to_owned(), known_ref, logger, turn }
    }

    /// The last known tip, without asking anybody.
    ///
    /// # Errors
    /// The private reference cannot be read.
    pub fn last_known(&self) -> Result<Option<ObjectId>, StoreError> {
        // It only saves connections: one that cannot be read is thrown away and fetched anew.
        match refs::read(self.repo, &self.git, &self.known_ref) {
            Err(StoreError::Unreadable(_)) => self.forget().map(|()| None),
            read => read,
        }
    }

    /// How long ago the branch was seen last: when the last known tip was written, or when a look that found
    /// nothing new was remembered. None where neither can be told, or lies in the future.
    #[must_use]
    pub fn age_of_last_known(&self) -> Option<Duration> {
        let looked = self.repo.common_dir.join(FOLDER).join(LOOKED);
        let same =
            files::read_bounded(&looked, 200).ok()?.is_some_and(|what| what == self.known_ref.as_bytes());
        let looked = same.then(|| files::age(&looked)).flatten();
        [looked, files::age(&self.repo.common_dir.join(&self.known_ref))].into_iter().flatten().min()
    }

    /// Keeps in mind that the branch was looked at now. It only saves connections, so it may fail.
    pub fn remember_the_look(&self) {
        let folder = self.repo.common_dir.join(FOLDER);
        _ = files::replace(&folder, LOOKED, self.known_ref.as_bytes());
    }

    fn forget(&self) -> Result<(), StoreError> {
        match self.git.drop_ref(&self.known_ref) {
            Ok(()) => Ok(()),
            // git does not remove what it cannot read, such as an empty file after a power cut.
            Err(_) if !self.repo.reftable => {
                files::remove(&self.repo.common_dir.join(&self.known_ref))?;
                Ok(())
            }
            Err(error) => Err(StoreError::Unreadable(error.to_string())),
        }
    }

    /// Takes the remote's branch as it is now for the truth, whatever was seen of it before.
    /// Returns the locks that are lost by that.
    ///
    /// # Errors
    /// The remote cannot be read.
    pub fn adopt(&mut self) -> Result<Vec<TaskId>, StoreError> {
        self.turn.take()?;
        let before = self.last_known()?;
        match self.fetch(None)? {
            Tip::At(now) => before.map_or(Ok(Vec::new()), |before| self.lost(before, now)),
            Tip::Missing => Ok(Vec::new()),
        }
    }

    /// Fetches the branch into the private reference. With `known`, a branch that no longer holds
    /// what this clone has seen on it is an error, and the private reference stays.
    fn fetch(&mut self, known: Option<ObjectId>) -> Result<Tip, StoreError> {
        if let Some(failure) = self.fetch_or_miss()? {
            // It may be missing. Only a look of its own proves that, and a branch that was made in
            // between is fetched after all.
            match self.git.remote_tip(&self.arbiter, &self.branch) {
                Ok(None) => return Ok(Tip::Missing),
                Ok(Some(_)) if self.fetch_or_miss()?.is_none() => {}
                Ok(Some(_)) => return Err(StoreError::Fetch(failure)),
                Err(failure) => return Err(StoreError::Fetch(failure)),
            }
        }
        let mut now = self.fetched()?;
        // The user's own fetch may have brought the branch without its files.
        if self.repo.is_partial() && !tree::is_complete(&self.repo.gix, now) {
            let again = self.git.refetch_branch(&self.arbiter, &self.branch, &self.known_ref);
            again.map_err(StoreError::Fetch)?;
            now = self.fetched()?;
        }
        self.checked(known, now)
    }

    fn fetched(&self) -> Result<ObjectId, StoreError> {
        let nothing = || StoreError::Unreadable(format!("git fetched nothing into {}", self.known_ref));
        self.last_known()?.ok_or_else(nothing)
    }

    /// Accepts a tip that was read, unless locks that this clone has seen are gone by a rewrite.
    fn checked(&self, known: Option<ObjectId>, now: ObjectId) -> Result<Tip, StoreError> {
        if let Some(known) = known.filter(|known| *known != now) {
            let lost = self.lost(known, now)?;
            if !lost.is_empty() {
                self.remember(Some(now), known)?;
                return Err(StoreError::Rewritten { lost });
            }
        }
        Ok(Tip::At(now))
    }

    /// Fetches the branch; how that failed where there may be none. git has no exit status of its own
    /// for that, and what it says depends on the protocol, on timing, and on what the server adds.
    fn fetch_or_miss(&self) -> Result<Option<GitFailure>, StoreError> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.git.fetch_branch(&self.arbiter, &self.branch, &self.known_ref) {
                Ok(()) => return Ok(None),
                // A git whose command was killed may still be at the reference for a moment.
                Err(failure) if failure.cause == Cause::RefLocked && tries < REF_TRIES => {
                    clock::sleep(Duration::from_millis(20 * tries));
                }
                Err(failure) if failure.cause == Cause::RefLocked => {
                    return Err(StoreError::RefLocked(failure.said));
                }
                Err(failure) if failure.cause.is_read_from_words() => return Ok(Some(failure)),
                Err(failure) => return Err(StoreError::Fetch(failure)),
            }
        }
    }

    /// Locks of `before` that a rewrite took from the branch, which is at `now`.
    fn lost(&self, before: ObjectId, now: ObjectId) -> Result<Vec<TaskId>, StoreError> {
        let now = match compact::descent(&self.repo.gix, now, before)? {
            Descent::Contained | Descent::Named => return Ok(Vec::new()),
            // What this clone knows is what has to be on the root, whatever that says of itself.
            Descent::Replaced { root } => root,
            Descent::Unrelated { .. } => now,
        };
        let kept = tree::entries(&self.repo.gix, now)?;
        let kept: HashSet<TaskId> = kept.into_iter().map(|lock| lock.task).collect();
        let before = tree::entries(&self.repo.gix, before)?;
        let lost = before.into_iter().map(|lock| lock.task);
        Ok(lost.filter(|task| !kept.contains(task)).collect())
    }

    fn remember(&self, old: Option<ObjectId>, new: ObjectId) -> Result<(), StoreError> {
        if old == Some(new) {
            return Ok(());
        }
        let log = (self.logger, "aitask-lock");
        match refs::swap(self.repo, &self.git, &self.known_ref, old, new, log)? {
            Moved::Yes | Moved::No => Ok(()),
            Moved::Locked(why) => Err(StoreError::RefLocked(why)),
        }
    }

    fn at(&self, tip: ObjectId, current: bool) -> Result<Snapshot, StoreError> {
        let base = tree::Base::read(&self.repo.gix, tip)?;
        Ok(Snapshot::on(Some(base), Some(tip), current))
    }

    /// Finds out what became of a push that ended without a clear answer, by looking.
    fn settle(&mut self, lease: Option<ObjectId>, new: ObjectId) -> Result<Settled, StoreError> {
        // A branch that was rewritten meanwhile is somebody else's matter here: what counts is
        // whether our commit is on it.
        let tip = match self.fetch(None)? {
            Tip::At(tip) => Some(tip),
            Tip::Missing => None,
        };
        if tip == lease {
            return Ok(Settled::Unmoved);
        }
        let Some(tip) = tip else { return Ok(Settled::MovedOn) };
        let stands = |commit| compact::descent(&self.repo.gix, tip, commit);
        Ok(match stands(new)? {
            Descent::Contained | Descent::Replaced { .. } | Descent::Named => Settled::Landed,
            Descent::Unrelated { compacted: false } => Settled::MovedOn,
            // A root names the newest commits without a gap: had ours come after the lease, it would be named.
            Descent::Unrelated { compacted: true } => match lease.map(stands).transpose()? {
                None | Some(Descent::Unrelated { .. }) => Settled::Hidden,
                Some(_) => Settled::MovedOn,
            },
        })
    }
}

/// What a look at the branch says of a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Settled {
    /// Our commit is on the branch.
    Landed,
    /// The branch is where it was before the push.
    Unmoved,
    /// Somebody else moved the branch.
    MovedOn,
    /// The branch was compacted, and what it was before is not told far enough back.
    Hidden,
}

impl LockStore for RemoteStore<'_> {
    fn snapshot(&mut self, freshness: Freshness) -> Result<Snapshot, StoreError> {
        self.turn.take()?;
        let mut known = self.last_known()?;
        if let (Freshness::LastKnown, Some(tip)) = (freshness, known) {
            match self.at(tip, false) {
                // Its objects were pruned before it was referenced.
                Err(StoreError::Unreadable(_)) => {}
                seen => return seen,
            }
        }
        // git itself fetches nothing into a clone with a reference that leads nowhere.
        if known.is_some_and(|known| !tree::is_there(&self.repo.gix, known)) {
            self.forget()?;
            known = None;
        }
        match self.fetch(known)? {
            Tip::At(tip) => self.at(tip, true),
            Tip::Missing if known.is_some() => Err(StoreError::BranchMissing { deleted: true }),
            Tip::Missing => {
                // Locks of the time before there was a remote count, and are published by the
                // first write.
                let local = refs::read(self.repo, &self.git, &self.branch)?;
                let base = local.map(|tip| tree::Base::read(&self.repo.gix, tip)).transpose()?;
                Ok(Snapshot::on(base, None, true))
            }
        }
    }

    fn compare_and_swap(&mut self, lease: Option<ObjectId>, new: ObjectId) -> Result<Swap, StoreError> {
        self.turn.take()?;
        let known = self.last_known()?;
        let hex = lease.map(|lease| lease.to_string());
        let push = self.git.with_share(PUSH_SHARE);
        let pushed = push.push_commit(&self.arbiter, &new.to_string(), &self.branch, hex.as_deref());
        match pushed {
            // Our commit is like no other, so where it already is the tip, an earlier try landed.
            Ok(Pushed { answer: PushAnswer::Moved | PushAnswer::UpToDate, .. }) => {
                // Not being able to remember the tip costs the next command a connection, no more.
                let _forgotten = self.remember(known, new);
                Ok(Swap::Won)
            }
            Ok(Pushed { answer: PushAnswer::Stale, .. }) => Ok(Swap::Lost),
            Ok(Pushed { answer: PushAnswer::Rejected { reason }, said }) => match self.settle(lease, new)? {
                Settled::Landed => Ok(Swap::Won),
                Settled::MovedOn => Ok(Swap::Lost),
                Settled::Unmoved => Err(StoreError::Refused { reason, said }),
                Settled::Hidden => {
                    let failure = GitFailure::new("push", Cause::Other, reason.as_bytes());
                    Err(StoreError::OutcomeUnknown(failure))
                }
            },
            Ok(Pushed { answer: PushAnswer::Silent, said }) => {
                self.after_failure(lease, new, GitFailure::new("push", Cause::Other, said.as_bytes()))
            }
            Err(failure) => self.after_failure(lease, new, failure),
        }
    }

    fn objects(&self) -> &gix::Repository {
        &self.repo.gix
    }

    fn pause(&mut self) {
        self.turn.give();
    }
}

impl RemoteStore<'_> {
    fn after_failure(
        &mut self,
        lease: Option<ObjectId>,
        new: ObjectId,
        failure: GitFailure,
    ) -> Result<Swap, StoreError> {
        match (self.settle(lease, new), failure.cause) {
            (Ok(Settled::Landed), _) => Ok(Swap::Won),
            (Ok(Settled::MovedOn), _) => Ok(Swap::Lost),
            (Ok(Settled::Hidden), _) => Err(StoreError::OutcomeUnknown(failure)),
            // Ended while the server may still have been at it: it can land after our look.
            (Ok(Settled::Unmoved), Cause::TimedOut | Cause::Killed(_)) => {
                Err(StoreError::OutcomeUnknown(failure))
            }
            (Ok(Settled::Unmoved), Cause::ConnectionLost) => Ok(Swap::Busy(StoreError::Push(failure))),
            (Ok(Settled::Unmoved), _) => Err(StoreError::Push(failure)),
            (Err(unread), cause) if cause.before_anything_was_sent() => Err(unread),
            (Err(_), _) => Err(StoreError::OutcomeUnknown(failure)),
        }
    }
}

/// A short name for an address and a branch that is safe in a reference name and gives nothing away.
fn fingerprint(address: &str, branch: &str) -> String {
    let both = format!("{address}\0{branch}");
    let hash = gix::objs::compute_hash(gix::hash::Kind::Sha1, gix::objs::Kind::Blob, both.as_bytes());
    hash.map_or_else(|_| "0".repeat(16), |id| id.to_hex_with_len(16).to_string())
}
