//! From what a command asks and what stands on the branch to what is to be written.
//!
//! A plan is made of one snapshot and is thrown away when that snapshot turns out to be old: it is
//! never carried over. Pushing knows nothing of rules, and rules know nothing of pushing, so
//! that the orders of several commands could share one push.

use std::time::Duration;

use jiff::Timestamp;

use super::anchor::Session;
use super::lock::Found;
use super::record::LockRecord;
use super::rules::Ruling;
use super::task_id::TaskId;
use super::verdict::{Forced, HeldBack, Released, Retaken, Taken, Verdict, Wanted};

mod one;

use one::{Decided, One};

/// What one command asks.
#[derive(Clone, Debug)]
pub struct Order {
    /// To claim, refresh or release.
    pub wanted: Wanted,
    /// The tasks, each once.
    pub tasks: Vec<TaskId>,
    /// Claim the first free one instead of all.
    pub first: bool,
    /// Override a refusal.
    pub force: bool,
    /// The lock that was looked at.
    pub expect: Option<String>,
    /// A note to record.
    pub note: Option<String>,
    /// Whether a person is asked before a lock is taken over.
    pub consent: Consent,
}

/// Whether a person is asked before a lock is taken over, and what they have agreed to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Consent {
    /// Nobody is asked: the verdict says which case it was.
    NotAsked,
    /// A person is asked; these lock IDs may be taken over.
    Asked(Vec<String>),
}

/// Who asks, and when.
#[derive(Clone, Debug)]
pub struct Asker {
    /// The owner's email.
    pub owner: String,
    /// The session.
    pub session: Session,
    /// Now.
    pub now: Timestamp,
    /// A lock younger than this is only verified by a refresh.
    pub refresh_interval: Duration,
    /// One fresh lock ID for each task of the order, the same in all attempts of one command: a
    /// record that carries it is this very claim, landed already.
    pub lock_ids: Vec<String>,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    /// Nothing: these are the outcomes.
    Settled(Vec<Verdict>),
    /// A person has to agree first to take over these locks.
    Ask(Vec<Question>),
    /// One commit; if it becomes the tip, these are the outcomes.
    Write {
        /// The changes, each file once.
        edits: Vec<Edit>,
        /// What the commit says.
        note: CommitNote,
        /// The outcomes of success.
        verdicts: Vec<Verdict>,
    },
}

/// One file of the branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Write this lock under the task's canonical name.
    Put {
        /// The task.
        task: TaskId,
        /// The record.
        record: Box<LockRecord>,
    },
    /// Remove a file.
    Remove {
        /// The file's name.
        file: String,
    },
}

/// What a commit says, for people and for `log`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitNote {
    /// The first line.
    pub subject: String,
    /// One action for each task.
    pub actions: Vec<Action>,
}

/// One task's part in a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// `claim`, `refresh`, `reclaim`, `force`, `release` or `cleanup`.
    pub word: &'static str,
    /// The task.
    pub task: TaskId,
    /// The lock's ID after it, or before it where the lock is removed.
    pub lock_id: String,
}

/// A question to a person: may this lock be taken over?
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Which case it is.
    pub ruling: Ruling,
    /// The lock as it stands.
    pub holder: super::lock::LockView,
}

/// Decides an order on what stands on the branch now. `found` holds every lock file of the
/// order's tasks, under whatever spelling.
#[must_use]
pub fn decide(order: &Order, asker: &Asker, found: &[Found]) -> Plan {
    let each = order.tasks.iter().zip(&asker.lock_ids).map(|(task, lock_id)| {
        let locks: Vec<&Found> = found.iter().filter(|lock| lock.task == *task).collect();
        One { order, asker, task, lock_id, locks }
    });
    if order.first {
        first_free(&each.collect::<Vec<_>>())
    } else {
        all_or_nothing(order, each.map(|one| one.decide()))
    }
}

/// Takes the first task that nobody holds; failing that, the first whose session is provably gone.
/// Nothing less certain: two orchestrators under one email must not take each other's tasks.
fn first_free(each: &[One<'_>]) -> Plan {
    let pick = |wanted: Ruling| each.iter().find(|one| one.governing().1 == wanted);
    let Some(one) = pick(Ruling::Claim).or_else(|| pick(Ruling::ReclaimCrash)) else {
        let refusals = each.iter().map(|one| {
            let (lock, ruling) = one.governing();
            lock.map_or_else(|| one.decide().verdict, |lock| one.refusal(lock, ruling))
        });
        return Plan::Settled(refusals.collect());
    };
    all_or_nothing(one.order, std::iter::once(one.decide()))
}

fn all_or_nothing(order: &Order, each: impl Iterator<Item = Decided>) -> Plan {
    let each: Vec<Decided> = each.collect();
    let refused = each.iter().find(|one| one.verdict.is_refusal()).and_then(|one| task_of(&one.verdict));
    if let Some(because_of) = refused.cloned() {
        let verdicts = each.into_iter().map(|one| held_back(one.verdict, &because_of)).collect();
        return Plan::Settled(verdicts);
    }
    let questions: Vec<Question> = each.iter().filter_map(|one| one.question.clone()).collect();
    if !questions.is_empty() {
        return Plan::Ask(questions);
    }
    let edits: Vec<Edit> = each.iter().flat_map(|one| one.edits.iter().cloned()).collect();
    let actions: Vec<Action> = each.iter().filter_map(|one| one.action.clone()).collect();
    let verdicts: Vec<Verdict> = each.into_iter().map(|one| one.verdict).collect();
    if edits.is_empty() {
        return Plan::Settled(verdicts);
    }
    let owner = verdicts.iter().find_map(owner_of).unwrap_or_default();
    Plan::Write {
        edits,
        note: CommitNote { subject: subject(order.wanted, &actions, owner), actions },
        verdicts,
    }
}

/// What is said of a task that could have been changed, had another one not been refused.
fn held_back(verdict: Verdict, because_of: &TaskId) -> Verdict {
    let held_back = |task: &TaskId| HeldBack { task: task.clone(), because_of: because_of.clone() };
    match verdict {
        Verdict::Refreshed(taken) => Verdict::Refreshed(Taken { written: false, ..taken }),
        Verdict::Claimed(Taken { task, .. })
        | Verdict::ReclaimCrash(Retaken { task, .. })
        | Verdict::LockReclaim(Retaken { task, .. })
        | Verdict::ReclaimStatus(Retaken { task, .. })
        | Verdict::ForceUnlocked(Forced { task, lock_id: Some(_), .. }) => {
            Verdict::NotClaimed(held_back(&task))
        }
        Verdict::Released(Released { previous, .. }) => Verdict::NotReleased(held_back(&previous.task)),
        Verdict::ForceUnlocked(Forced { task, lock_id: None, .. }) => Verdict::NotReleased(held_back(&task)),
        other => other,
    }
}

fn task_of(verdict: &Verdict) -> Option<&TaskId> {
    match verdict {
        Verdict::LockFailed(refused)
        | Verdict::LockLiveHolder(refused)
        | Verdict::LockUnverifiableHolder(refused) => Some(&refused.holder.task),
        Verdict::HolderChanged(changed) => Some(&changed.task),
        Verdict::NotHeld(not_held) => Some(&not_held.task),
        _ => None,
    }
}

fn owner_of(verdict: &Verdict) -> Option<&str> {
    match verdict {
        Verdict::Claimed(taken) | Verdict::Refreshed(taken) => Some(&taken.owner),
        Verdict::ReclaimCrash(retaken) | Verdict::LockReclaim(retaken) | Verdict::ReclaimStatus(retaken) => {
            Some(&retaken.owner)
        }
        _ => None,
    }
}

/// The first line of a commit, in the shell implementation's words.
fn subject(wanted: Wanted, actions: &[Action], owner: &str) -> String {
    let names: Vec<String> = actions.iter().take(4).map(|action| format!("t{}", action.task)).collect();
    let more = actions.len().saturating_sub(names.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let tasks = format!("{} {}{more}", if actions.len() == 1 { "task" } else { "tasks" }, names.join(", "));
    let owner = if owner.is_empty() { String::new() } else { format!(" for {owner}") };
    match wanted {
        Wanted::Claim => format!("ait: Lock {tasks}{owner}"),
        Wanted::Refresh => format!("ait: Refresh {tasks}{owner}"),
        Wanted::Release => format!("ait: Unlock {tasks}"),
    }
}

#[cfg(test)]
mod tests;
