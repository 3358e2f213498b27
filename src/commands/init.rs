//! `init`: make the lock branch usable here.

use jiff::Timestamp;

use super::locks::Store;
use super::{Answer, explain};
use crate::context::Context;
use crate::domain::failure::{Failure, FailureKind};
use crate::domain::plan::CommitNote;
use crate::domain::task_id::TaskId;
use crate::domain::verdict::Verdict;
use crate::owner;
use crate::store::{Freshness, StoreError, Swap, compact, tree};
use crate::sys::{clock, random};

/// Arguments of `init`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Replace a long history by one commit with the same locks
    #[arg(long)]
    pub compact: bool,
}

/// Runs `init`.
///
/// A branch that is there is taken as it is now, even if it was rewritten. One that was deleted is
/// put back as it was last seen: nothing that was locked becomes free by an accident. One that
/// never was is created.
///
/// # Errors
/// The branch cannot be read or created.
pub fn run(context: &Context, args: &Args) -> Result<Answer, Failure> {
    let asker = context.owner(None)?;
    let signer = owner::committer(&context.repo, &asker);
    let mut store = Store::open(context, (&signer.0, &signer.1))?;
    let failed = |error| explain::store_error(context, &error, &[]);
    let mut replaced = None;
    let (created, lost) = if args.compact {
        // What was rewritten is not accepted by the way: a person does that first.
        let compacted = compact::compact(store.as_dyn(), (&signer.0, &signer.1), context.deadline());
        match compacted.map_err(failed)? {
            Some(compacted) => replaced = compacted.replaced.map(|tip| tip.to_string()),
            None => return Err(explain::exhausted(context, 1, None)),
        }
        (false, Vec::new())
    } else {
        establish(&mut store, &signer, clock::now()).map_err(failed)?
    };
    let remote = store.remote_label().map(str::to_owned);
    let branch = context.branch_name().to_owned();
    Ok(Answer::of(vec![Verdict::Initialized { branch, remote, created, replaced, lost }]))
}

fn establish(
    store: &mut Store<'_>,
    (name, email): &(String, String),
    now: Timestamp,
) -> Result<(bool, Vec<TaskId>), StoreError> {
    let mut last_seen = None;
    let mut lost = Vec::new();
    if let Store::Remote(remote, _) = store {
        last_seen = remote.last_known()?;
        lost = remote.adopt()?;
    }
    let snapshot = match store.as_dyn().snapshot(Freshness::Current) {
        Err(StoreError::BranchMissing { deleted: true }) => None,
        snapshot => Some(snapshot?),
    };
    let base = match &snapshot {
        Some(snapshot) if snapshot.lease.is_some() => return Ok((false, lost)),
        Some(snapshot) => snapshot.base.as_ref().map(|base| base.commit),
        None => last_seen,
    };
    let tip = if let Some(base) = base {
        base
    } else {
        let signer = tree::Signer {
            name: name.clone(),
            email: email.clone(),
            seconds: now.as_second(),
            attempt: random::hex128().map_err(|error| StoreError::NotWritable(error.to_string()))?,
        };
        let note = CommitNote { subject: "ait: Create the lock branch".to_owned(), actions: Vec::new() };
        tree::commit(store.as_dyn().objects(), None, &[], &note, &signer)?
    };
    match store.as_dyn().compare_and_swap(None, tip)? {
        Swap::Won => Ok((true, lost)),
        // Somebody else made it in the same moment.
        Swap::Lost => store.read().map(|_| (false, lost)),
        Swap::Busy(why) => Err(why),
    }
}

/// A failure for a command that only works with a branch.
#[must_use]
pub fn needed(message: String) -> Failure {
    Failure::new(FailureKind::BranchMissing, message).hint("git aitask-lock init")
}
