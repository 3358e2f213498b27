//! One task of an order: which of its locks decides, and what that comes to for each command.

use super::{Action, Asker, Consent, Edit, Order, Question};
use crate::domain::lock::{Found, LockView};
use crate::domain::moment;
use crate::domain::record::{self, LockRecord, Reading};
use crate::domain::rules::{self, Holder, Ruling};
use crate::domain::task_id::TaskId;
use crate::domain::verdict::{
    Changed, Forced, NotHeld, Reason, Refused, Released, Retaken, Taken, Verdict, Wanted,
};

/// One task, decided but not yet weighed against the other tasks of the call.
pub(super) struct Decided {
    pub(super) verdict: Verdict,
    pub(super) edits: Vec<Edit>,
    pub(super) action: Option<Action>,
    pub(super) question: Option<Question>,
}

impl Decided {
    fn settled(verdict: Verdict) -> Self {
        Self { verdict, edits: Vec::new(), action: None, question: None }
    }
}

/// One task of an order, with its locks.
pub(super) struct One<'a> {
    pub(super) order: &'a Order,
    pub(super) asker: &'a Asker,
    pub(super) task: &'a TaskId,
    pub(super) lock_id: &'a str,
    pub(super) locks: Vec<&'a Found>,
}

impl One<'_> {
    /// The lock that decides, and its ruling. Where a task has several files, a refusal of any of
    /// them is the answer; among those that permit, this session's own comes first.
    pub(super) fn governing(&self) -> (Option<&Found>, Ruling) {
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

    pub(super) fn decide(&self) -> Decided {
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
        // A time that somebody else wrote in a way that not every reader reads is not carried on.
        if record.locked_at.as_deref().is_some_and(|at| record::plain(at).is_ok()) {
            renewed.locked_at.clone_from(&record.locked_at);
        }
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

    fn view(&self, lock: &Found) -> LockView {
        lock.view(Some(&self.asker.owner), &self.asker.session.anchor(), &self.asker.session.here)
    }

    /// The refusal's word. Only `--first` calls it for a lock that could be had otherwise.
    pub(super) fn refusal(&self, lock: &Found, ruling: Ruling) -> Verdict {
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
