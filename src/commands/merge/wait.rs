//! Waiting for one's turn: a place in the queue, what wakes us, and what is said meanwhile.

use std::time::{Duration, Instant};

use super::desk::{Desk, mutex_failure, not_writable};
use crate::domain::anchor::SessionProcess;
use crate::domain::failure::{Failure, FailureKind};
use crate::domain::merge::queue::{self as turns, Note};
use crate::domain::merge::verdict::{BusyWhy, Holder};
use crate::domain::moment;
use crate::domain::task_id::TaskId;
use crate::store::mutex::Held;
use crate::store::queue::{self, Standing, Ticket};
use crate::sys::progress::Progress;
use crate::sys::watch::{Callers, Waker};
use crate::sys::{child, clock};

/// How often a wait is told on standard error.
const TELL_EVERY: Duration = Duration::from_secs(5);

/// A wait for the mutex, in the queue or about to be.
pub struct Wait<'a> {
    desk: &'a Desk<'a>,
    note: Note,
    callers: Option<Callers>,
    queued: Option<(Ticket, Waker)>,
    /// Since when the mutex could be had, with those who were before us then.
    takeable: Option<(Instant, Vec<String>)>,
    progress: Progress,
    started: Instant,
    deadline: Instant,
    told: Option<Instant>,
}

impl<'a> Wait<'a> {
    /// A wait that begins now.
    #[must_use]
    pub fn new(desk: &'a Desk<'a>, task: &TaskId, process: &SessionProcess, budget: Duration) -> Self {
        let since = moment::stamp(clock::now());
        let token = process.token.as_ref().map(|token| token.value.clone());
        Self {
            desk,
            note: Note::new(task.as_str(), since, &desk.mine, std::process::id()),
            callers: Some(Callers::new(process.pid, token)),
            queued: None,
            takeable: None,
            progress: Progress::new(desk.context.global.quiet),
            started: clock::instant(),
            deadline: clock::deadline_in(budget),
            told: None,
        }
    }

    /// Whole seconds since it began.
    #[must_use]
    pub fn waited(&self) -> u64 {
        clock::instant().saturating_duration_since(self.started).as_secs()
    }

    /// Whether it may go on: there is time left, those who want it are still there, and the place is
    /// still ours.
    #[must_use]
    pub fn is_over(&self) -> bool {
        clock::remaining(self.deadline).is_zero() || !self.is_wanted()
    }

    /// Whether those who want it are still there, and no later command of this session waits in our place.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        self.callers_are_there() && self.queued.as_ref().is_none_or(|(ticket, _)| ticket.is_ours())
    }

    fn callers_are_there(&self) -> bool {
        match (&self.queued, &self.callers) {
            (Some((_, waker)), _) => waker.callers().are_there(),
            (None, callers) => callers.as_ref().is_none_or(Callers::are_there),
        }
    }

    /// Why it ended before its time; none while it is wanted.
    #[must_use]
    pub fn lost(&self) -> Option<BusyWhy> {
        match &self.queued {
            _ if !self.callers_are_there() => Some(BusyWhy::SessionEnded),
            Some((ticket, _)) if ticket.is_ours() => None,
            Some((ticket, _)) if ticket.is_taken_over() => Some(BusyWhy::Superseded),
            Some(_) => Some(BusyWhy::QueueRemoved),
            None => None,
        }
    }

    /// How long the mutex's lock is tried for: whoever holds it is done in milliseconds, or works on a
    /// recovery.
    #[must_use]
    pub fn patience(&self) -> Instant {
        const SHORTEST: Duration = Duration::from_secs(10);
        self.deadline.max(clock::deadline_in(SHORTEST)).min(self.desk.deadline())
    }

    /// Whether it is our turn, with these live tickets in the queue. `can_be_had` is whether the mutex
    /// is free, or its session gone.
    #[must_use]
    pub fn is_first(&mut self, live: &[Standing], can_be_had: bool) -> bool {
        let ahead = self.ahead(live);
        if !can_be_had {
            self.takeable = None;
            return ahead.is_empty();
        }
        let now = clock::instant();
        let since = match &self.takeable {
            // When one of them took it meanwhile, the others get their time anew.
            Some((since, before)) if *before == ahead => *since,
            _ => {
                self.takeable = Some((now, ahead.clone()));
                now
            }
        };
        turns::is_first(ahead.len(), now.saturating_duration_since(since))
    }

    /// Whether we have a place in the queue.
    #[must_use]
    pub fn is_queued(&self) -> bool {
        self.queued.is_some()
    }

    /// The tickets before ours of waiters that could take it.
    fn ahead(&self, live: &[Standing]) -> Vec<String> {
        let own = match &self.queued {
            Some((ticket, _)) => Some(ticket.number()),
            None => live.iter().find(|there| there.note.same_place(&self.note)).map(|there| there.number),
        };
        let before = |there: &&Standing| !there.stopped && own.is_none_or(|own| there.number < own);
        live.iter().filter(before).map(|there| there.file.clone()).collect()
    }

    /// Joins the queue, unless we are in it.
    ///
    /// # Errors
    /// The ticket cannot be written.
    pub fn join(&mut self, held: &Held<'_>) -> Result<(), Failure> {
        let Some(callers) = self.callers.take() else { return Ok(()) };
        let tickets = queue::folder(held).map_err(|error| not_writable(&error))?;
        // Before there is a ticket: a signal from here on takes it away.
        let waker = Waker::new(&[held.folder(), &tickets], callers).map_err(|error| {
            Failure::new(FailureKind::Fatal, format!("cannot watch for signals while waiting: {error}"))
        })?;
        let ticket =
            queue::join(held, &self.note, self.desk.here()).map_err(|error| mutex_failure(&error))?;
        self.queued = Some((ticket, waker));
        Ok(())
    }

    /// Sleeps until something may have changed, and says for whom we wait.
    pub fn sleep(&mut self, holder: Option<&Holder>, watched: Option<u32>) {
        self.tell(holder);
        let patience = self.takeable.as_ref().map_or(Duration::MAX, |(since, before)| {
            clock::remaining(*since + turns::patience(before.len())).max(Duration::from_millis(1))
        });
        let Some((_, waker)) = &mut self.queued else {
            // Only where the file system's locks do not exclude; not to spin.
            clock::sleep(Duration::from_millis(20));
            return;
        };
        waker.watch_holder(watched);
        waker.sleep(clock::remaining(self.deadline).min(patience));
        if let Some(signal) = waker.signal() {
            self.leave();
            child::die_of(signal);
        }
    }

    fn tell(&mut self, holder: Option<&Holder>) {
        let waited = self.waited();
        let task = holder.map_or("-", Holder::task_name);
        if self.progress.is_animated() {
            let who = match holder.and_then(|holder| holder.pid) {
                Some(pid) => format!("task {task}, process {pid}"),
                None => format!("task {task}"),
            };
            self.progress.spin(&format!("waiting for {who} to finish its merge ({waited} s)"));
            return;
        }
        let now = clock::instant();
        if self.told.is_none_or(|told| now.saturating_duration_since(told) >= TELL_EVERY) {
            self.progress.line(&format!("WAITING:{task}:{waited}"));
            self.told = Some(now);
        }
    }

    /// Leaves the queue.
    pub fn leave(&mut self) {
        self.progress.clear();
        if let Some((ticket, _)) = self.queued.take() {
            drop(ticket);
        }
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        self.progress.clear();
        // The ticket goes before the waker, which may end this process by a signal it held back.
        if let Some((ticket, waker)) = self.queued.take() {
            drop(ticket);
            drop(waker);
        }
    }
}
