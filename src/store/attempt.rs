//! The one retry loop: snapshot, decide, build the commit, swap; on conflict back off and start again
//! from a fresh snapshot, until the time budget is used up.

use std::time::{Duration, Instant};

use super::{Freshness, LockStore, Snapshot, StoreError, Swap, tree};
use crate::domain::plan::{Plan, Question};
use crate::domain::verdict::Verdict;
use crate::sys::{clock, random};

/// How long, and as whom.
#[derive(Clone, Debug)]
pub struct Budget {
    /// When to give up.
    pub deadline: Instant,
    /// Who signs the commits.
    pub name: String,
    /// Their email.
    pub email: String,
}

/// What the loop came to.
#[derive(Debug)]
pub enum Outcome {
    /// Decided and, where something was to be written, written.
    Done(Vec<Verdict>),
    /// A person has to agree first; nothing was written.
    Ask(Vec<Question>),
    /// The budget is used up; the branch moved at every try.
    Exhausted {
        /// How many tries lost.
        tries: u32,
        /// What kept the last try from winning, where it was not a moved branch.
        last: Option<StoreError>,
    },
}

/// How often the same snapshot is tried again when somebody holds the reference.
const MOST_BUSY: u32 = 40;
/// How often a push is tried again whose connection broke with nothing changed.
const MOST_BROKEN: u32 = 2;

/// Runs `decide` on fresh snapshots until its plan is settled or has won.
///
/// A plan that writes is tried on the last known tip at once: the lease proves it or refutes it. A plan
/// that writes nothing rests on what was read, and so is only believed of a current snapshot.
///
/// # Errors
/// The branch cannot be read or changed.
pub fn update(
    store: &mut dyn LockStore,
    budget: &Budget,
    decide: &mut dyn FnMut(&gix::Repository, &Snapshot) -> Result<Plan, StoreError>,
) -> Result<Outcome, StoreError> {
    let mut freshness = Freshness::LastKnown;
    let mut tries = 0;
    let mut busy = 0;
    loop {
        let started = Instant::now();
        let snapshot = store.snapshot(freshness)?;
        let (edits, note, verdicts) = match decide(store.objects(), &snapshot)? {
            Plan::Settled(_) | Plan::Ask(_) if !snapshot.current => {
                freshness = Freshness::Current;
                continue;
            }
            Plan::Settled(verdicts) => return Ok(Outcome::Done(verdicts)),
            Plan::Ask(questions) => return Ok(Outcome::Ask(questions)),
            Plan::Write { edits, note, verdicts } => (edits, note, verdicts),
        };
        let signer = tree::Signer {
            name: budget.name.clone(),
            email: budget.email.clone(),
            seconds: clock::now().as_second(),
            attempt: random::hex128().map_err(|error| StoreError::NotWritable(error.to_string()))?,
        };
        let commit = tree::commit(store.objects(), snapshot.base.as_ref(), &edits, &note, &signer)?;
        tries += 1;
        let last = match store.compare_and_swap(snapshot.lease, commit)? {
            Swap::Won => return Ok(Outcome::Done(verdicts)),
            Swap::Lost => None,
            Swap::Busy(why @ StoreError::Push(_)) if busy >= MOST_BROKEN => return Err(why),
            Swap::Busy(why) if busy >= MOST_BUSY => return Err(why),
            Swap::Busy(why) => {
                busy += 1;
                Some(why)
            }
        };
        let now = Instant::now();
        if now >= budget.deadline {
            return Ok(Outcome::Exhausted { tries, last });
        }
        freshness = Freshness::Current;
        store.pause();
        clock::sleep(backoff(tries, started.elapsed()).min(budget.deadline - now));
    }
}

/// A random wait that grows with the number of lost tries, in units of what a try takes here: writers
/// far from the server wait longer than writers beside it.
fn backoff(tries: u32, one_try: Duration) -> Duration {
    let most = one_try.clamp(Duration::from_millis(2), Duration::from_millis(500)) * (1 << tries.min(3));
    let most = u64::try_from(most.as_micros()).unwrap_or(u64::MAX);
    // Without randomness the wait is still bounded, only less fair.
    Duration::from_micros(random::below(most).unwrap_or(most / 2))
}
