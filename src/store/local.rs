//! The lock branch of a repository without a remote: the local branch is the truth.

use gix::ObjectId;

use super::refs::{self, Logger, Moved};
use super::{Freshness, LockStore, Snapshot, StoreError, Swap, tree};
use crate::sys::git::Git;
use crate::sys::repository::Repository;

/// The local lock branch.
pub struct LocalStore<'a> {
    repo: &'a Repository,
    git: Git,
    branch: String,
    logger: Logger<'a>,
}

impl<'a> LocalStore<'a> {
    /// The store of the local branch `branch`, a full ref name.
    #[must_use]
    pub fn new(repo: &'a Repository, git: Git, branch: &str, logger: Logger<'a>) -> Self {
        Self { repo, git, branch: branch.to_owned(), logger }
    }
}

impl LocalStore<'_> {
    /// The tip of the branch.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn tip(&self) -> Result<Option<ObjectId>, StoreError> {
        refs::read(self.repo, &self.git, &self.branch)
    }
}

impl LockStore for LocalStore<'_> {
    fn snapshot(&mut self, _: Freshness) -> Result<Snapshot, StoreError> {
        let tip = refs::read(self.repo, &self.git, &self.branch)?;
        let base = tip.map(|tip| tree::Base::read(&self.repo.gix, tip)).transpose()?;
        Ok(Snapshot::on(base, tip, true))
    }

    fn compare_and_swap(&mut self, lease: Option<ObjectId>, new: ObjectId) -> Result<Swap, StoreError> {
        let log = (self.logger, "aitask-lock");
        match refs::swap(self.repo, &self.git, &self.branch, lease, new, log)? {
            Moved::Yes => Ok(Swap::Won),
            Moved::No => Ok(Swap::Lost),
            Moved::Locked(why) => Ok(Swap::Busy(StoreError::RefLocked(why))),
        }
    }

    fn objects(&self) -> &gix::Repository {
        &self.repo.gix
    }
}
