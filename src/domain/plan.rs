//! From what a command asks and what stands on the branch to what is to be written.
//!
//! A plan is made of one snapshot and is thrown away when that snapshot turns out to be old: it is
//! never carried over. Pushing knows nothing of rules, and rules know nothing of pushing, so
//! that the orders of several commands could share one push.

use std::time::Duration;

use jiff::Timestamp;

use super::anchor::Session;
use super::lock::Found;
use super::moment;
use super::record::{LockRecord, Reading};
use super::rules::{self, Holder, Ruling};
use super::task_id::TaskId;
use super::verdict::{
    Changed, Forced, HeldBack, NotHeld, Reason, Refused, Released, Retaken, Taken, Verdict, Wanted,
};

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

/// One task, decided but not yet weighed against the other tasks of the call.
struct Decided {
    verdict: Verdict,
    edits: Vec<Edit>,
    action: Option<Action>,
    question: Option<Question>,
}

impl Decided {
    fn settled(verdict: Verdict) -> Self {
        Self { verdict, edits: Vec::new(), action: None, question: None }
    }
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

/// One task of an order, with its locks.
struct One<'a> {
    order: &'a Order,
    asker: &'a Asker,
    task: &'a TaskId,
    lock_id: &'a str,
    locks: Vec<&'a Found>,
}

impl One<'_> {
    /// The lock that decides, and its ruling. Where a task has several files, a refusal of any of
    /// them is the answer; among those that permit, this session's own comes first.
    fn governing(&self) -> (Option<&Found>, Ruling) {
        let anchor = self.asker.session.anchor();
        let here = &self.asker.session.here;
        let ruled = |lock: &Found| rules::decide(lock.holder(&self.asker.owner, &anchor, here));
        let rank = |ruling: Ruling| match ruling {
            _ if ruling.refuses() => 0,
            Ruling::Refresh => 1,
            _ => 2,
        };
        let governing = self.locks.iter().map(|lock| (*lock, ruled(lock))).min_by_key(|(_, r)| rank(*r));
        governing.map_or((None, rules::decide(Holder::Nobody)), |(lock, ruling)| (Some(lock), ruling))
    }

    fn decide(&self) -> Decided {
        let (lock, ruling) = self.governing();
        if let Some(expected) = &self.order.expect
            && lock.map(|lock| &lock.lock_id) != Some(expected)
        {
            return Decided::settled(Verdict::HolderChanged(Changed {
                task: self.task.clone(),
                wanted: self.order.wanted,
                expected: expected.clone(),
                now: lock.map(|lock| self.view(lock)),
            }));
        }
        match self.order.wanted {
            Wanted::Claim => self.claim(lock, ruling),
            Wanted::Refresh => self.refresh(lock, ruling),
            Wanted::Release => self.release(lock, ruling),
        }
    }

    fn claim(&self, lock: Option<&Found>, ruling: Ruling) -> Decided {
        let Some(lock) = lock else {
            return self.take("claim", self.new_record(None), Verdict::Claimed(self.taken(true)));
        };
        if lock.record().lock_id.as_deref() == Some(self.lock_id) {
            return Decided::settled(Verdict::Claimed(self.taken(true)));
        }
        let retaken = || Retaken {
            task: self.task.clone(),
            owner: self.asker.owner.clone(),
            lock_id: self.lock_id.to_owned(),
            pid: self.asker.session.process.as_ref().map(|process| process.pid),
            this_host: self.asker.session.here.hostname.clone(),
            previous: self.view(lock),
        };
        let verdict = match ruling {
            Ruling::Refresh => return self.renew(lock),
            Ruling::Claim => Verdict::Claimed(self.taken(true)),
            Ruling::ReclaimCrash => Verdict::ReclaimCrash(retaken()),
            Ruling::ReclaimOtherHost => Verdict::LockReclaim(retaken()),
            Ruling::ReclaimAnomaly => Verdict::ReclaimStatus(retaken()),
            _ if self.order.force => {
                let forced = Forced {
                    task: self.task.clone(),
                    lock_id: Some(self.lock_id.to_owned()),
                    previous: self.view(lock),
                };
                let verdict = Verdict::ForceUnlocked(forced);
                return self.take("force", self.new_record(Some(lock)), verdict);
            }
            _ => return Decided::settled(self.refusal(lock, ruling)),
        };
        let agreed = match &self.order.consent {
            Consent::NotAsked => true,
            Consent::Asked(lock_ids) => !ruling.asks_first() || lock_ids.contains(&lock.lock_id),
        };
        let mut decided = self.take("reclaim", self.new_record(Some(lock)), verdict);
        decided.question = (!agreed).then(|| Question { ruling, holder: self.view(lock) });
        decided
    }

    fn refresh(&self, lock: Option<&Found>, ruling: Ruling) -> Decided {
        let not_held = |holder| NotHeld { task: self.task.clone(), wanted: Wanted::Refresh, holder };
        match lock {
            Some(lock) if ruling == Ruling::Refresh => self.renew(lock),
            Some(lock) if ruling.refuses() => Decided::settled(self.refusal(lock, ruling)),
            _ => Decided::settled(Verdict::NotHeld(not_held(lock.map(|lock| self.view(lock))))),
        }
    }

    fn release(&self, lock: Option<&Found>, ruling: Ruling) -> Decided {
        let Some(lock) = lock else {
            let not_held = NotHeld { task: self.task.clone(), wanted: Wanted::Release, holder: None };
            return Decided::settled(Verdict::NotHeld(not_held));
        };
        let previous = self.view(lock);
        let released = |reason| Verdict::Released(Released { reason, previous: previous.clone() });
        let (word, verdict) = match ruling {
            Ruling::Refresh | Ruling::Claim => ("release", released(Reason::Asked)),
            Ruling::ReclaimCrash => ("release", released(Reason::Gone)),
            Ruling::ReclaimOtherHost | Ruling::ReclaimAnomaly => ("release", released(Reason::Own)),
            _ if self.order.force => {
                let forced = Forced { task: self.task.clone(), lock_id: None, previous };
                ("force", Verdict::ForceUnlocked(forced))
            }
            _ => return Decided::settled(self.refusal(lock, ruling)),
        };
        Decided {
            verdict,
            edits: self.locks.iter().map(|lock| Edit::Remove { file: lock.file.clone() }).collect(),
            action: Some(Action { word, task: self.task.clone(), lock_id: lock.lock_id.clone() }),
            question: None,
        }
    }

    /// Renews this session's own lock; a young one needs no commit.
    fn renew(&self, lock: &Found) -> Decided {
        let record = lock.record();
        let renewed_at = record.refreshed_at.as_deref().or(record.locked_at.as_deref()).unwrap_or_default();
        let young = moment::younger_than(renewed_at, self.asker.now, self.asker.refresh_interval);
        let new_note = self.order.note.as_ref().is_some_and(|note| record.note.as_ref() != Some(note));
        let tidy = self.locks.len() == 1 && lock.file == self.task.file_name();
        let taken = Taken { lock_id: lock.lock_id.clone(), ..self.taken(!young) };
        if young && !new_note && tidy {
            return Decided::settled(Verdict::Refreshed(taken));
        }
        let mut renewed = self.new_record(Some(lock));
        renewed.locked_at.clone_from(&record.locked_at);
        renewed.refreshed_at = Some(moment::stamp(self.asker.now));
        renewed.note = self.order.note.clone().or_else(|| record.note.clone());
        // A record of the shell implementation has no lock ID yet; it gets one here.
        renewed.lock_id = record.lock_id.clone().or(renewed.lock_id);
        let lock_id = renewed.lock_id.clone().unwrap_or_default();
        let taken = Taken { lock_id, written: true, ..taken };
        self.take("refresh", renewed, Verdict::Refreshed(taken))
    }

    /// One commit's worth of taking the lock: the record under the canonical name, other spellings
    /// of the task gone.
    fn take(&self, word: &'static str, record: LockRecord, verdict: Verdict) -> Decided {
        let lock_id = record.lock_id.clone().unwrap_or_default();
        let canonical = self.task.file_name();
        let others = self.locks.iter().filter(|lock| lock.file != canonical);
        let mut edits: Vec<Edit> = others.map(|lock| Edit::Remove { file: lock.file.clone() }).collect();
        edits.push(Edit::Put { task: self.task.clone(), record: Box::new(record) });
        let action = Some(Action { word, task: self.task.clone(), lock_id });
        Decided { verdict, edits, action, question: None }
    }

    /// The record that this session writes; entries that this program does not know are kept.
    fn new_record(&self, replaced: Option<&Found>) -> LockRecord {
        let extra = match replaced.map(|lock| &lock.reading) {
            Some(Reading::Whole(record)) => record.extra.clone(),
            Some(Reading::Damaged { .. }) | None => Vec::new(),
        };
        LockRecord {
            owner: Some(self.asker.owner.clone()),
            locked_at: Some(moment::stamp(self.asker.now)),
            anchor: self.asker.session.anchor(),
            lock_id: Some(self.lock_id.to_owned()),
            refreshed_at: None,
            anchor_source: self.asker.session.process.as_ref().map(|p| p.source.as_str().to_owned()),
            note: self.order.note.clone(),
            extra,
        }
    }

    fn taken(&self, written: bool) -> Taken {
        Taken {
            task: self.task.clone(),
            owner: self.asker.owner.clone(),
            lock_id: self.lock_id.to_owned(),
            pid: self.asker.session.process.as_ref().map(|process| process.pid),
            written,
        }
    }

    fn view(&self, lock: &Found) -> super::lock::LockView {
        lock.view(Some(&self.asker.owner), &self.asker.session.anchor(), &self.asker.session.here)
    }

    /// The refusal's word. Only `--first` calls it for a lock that could be had otherwise.
    fn refusal(&self, lock: &Found, ruling: Ruling) -> Verdict {
        let refused = Refused { wanted: self.order.wanted, holder: self.view(lock) };
        match ruling {
            Ruling::RefuseOwner | Ruling::RefuseUnreadable => Verdict::LockFailed(refused),
            Ruling::RefuseLive | Ruling::Refresh => Verdict::LockLiveHolder(refused),
            Ruling::RefuseUnverifiable
            | Ruling::Claim
            | Ruling::ReclaimCrash
            | Ruling::ReclaimOtherHost
            | Ruling::ReclaimAnomaly => Verdict::LockUnverifiableHolder(refused),
        }
    }
}

#[cfg(test)]
mod tests;
