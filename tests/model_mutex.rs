//! A model of the merge mutex with its guard, its lock and its queue: three sessions, each with a command that
//! may be killed or stopped at any step, checked over all interleavings.
//!
//! It mirrors `commands/merge/claim.rs` (`step`, `reclaim`, `publish`), `commands/merge/wait.rs` (`is_first`,
//! `join`, `sleep`, `leave`), `commands/merge/desk.rs` (`give_back`), `domain/merge/rules.rs` (`decide`),
//! `store/mutex.rs` (`hold`, `guard`, `publish`, `remove`) and `store/queue.rs` (`join`, `sweep`). Time is left
//! out: a timer that finds nothing changed is no step. Each [`Part`] can be taken out, and then a property fails.

use std::collections::HashSet;

use stateright::{Checker as _, Model, Property};

const PROCS: usize = 3;

/// What the protocol is made of; taken out one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The kernel takes that lock back from whoever is killed.
    KernelDropsFlock,
    /// Only a session that is provably gone is followed.
    ProofOfDeath,
    /// Behind the guard, everything is looked at anew.
    LookBehindGuard,
    /// A guard has one maker.
    GuardHasOneMaker,
    /// A guard is taken down only where its maker is provably gone.
    ProofForGuard,
    /// A guard of which nothing can be told is taken down by a person, as it is printed.
    PersonRemovesGuard,
    /// A reservation never replaces another one.
    NoReplace,
    /// A release removes this session's own reservation only.
    ReleaseCompares,
    /// Nobody goes before those who came earlier.
    FirstInQueue,
    /// Tickets of killed waiters do not count.
    Sweep,
    /// Tickets of stopped waiters do not count.
    StoppedArePassedOver,
    /// The folder is watched before the lock is given up to wait.
    WatchBeforeWait,
    /// A waiter wakes at the end of the holder's session.
    HolderIsWatched,
    /// A waiter looks again after a while when the mutex could be had.
    Timer,
}

/// Where a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum At {
    /// Looks without the lock.
    Look,
    WantFlock,
    /// Looks under the lock, and decides.
    Decide,
    GuardUp,
    Judge,
    Unlink,
    Publish {
        behind_guard: bool,
    },
    GuardDown,
    /// In the queue, and not watching yet; only where that part is taken out.
    Unwatched,
    Asleep,
    /// Told to remove the guard.
    Refused,
    /// The session merges.
    Inside,
    WantRelease,
    Release,
    Done,
    /// The session is gone, and its command ended.
    Gone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Proc {
    at: At,
    /// Whether its session is there.
    session: bool,
    /// Whether its command was stopped.
    stopped: bool,
    /// Whether something happened since it looked last.
    woken: bool,
    /// Whether the mutex could be had when it looked last.
    timer: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    flock: Option<usize>,
    reservation: Option<usize>,
    /// Its maker.
    guard: Option<usize>,
    /// Who waits, and whether the ticket is held.
    queue: Vec<(usize, bool)>,
    procs: [Proc; PROCS],
    kills: u8,
    deaths: u8,
    stops: u8,
    /// Somebody went before one who came earlier.
    overtook: bool,
    reclaimed: bool,
    healed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Step(usize),
    /// The command is killed; its session, if it is there, gives it again.
    Kill(usize),
    /// The session ends.
    Die(usize),
    /// The command is stopped in its sleep, for good.
    Stop(usize),
    /// A person does what was printed: `rmdir`, and the command again.
    Remove(usize),
}

enum Ruling {
    Again,
    Take,
    Reclaim,
    Wait,
}

#[derive(Clone)]
struct Mutex {
    /// What is taken out.
    without: Option<Part>,
    /// Whether the lock on the folder excludes; a file system may only pretend.
    flock: bool,
    kills: u8,
    deaths: u8,
    stops: u8,
    /// Sessions only end while they merge, as where locks do not exclude no more is promised.
    deaths_inside: bool,
}

impl Mutex {
    fn has(&self, part: Part) -> bool {
        self.without != Some(part)
    }

    fn gone(&self, state: &State, who: usize, part: Part) -> bool {
        !state.procs[who].session || !self.has(part)
    }

    /// Whether nobody who can take it waits before `me`.
    fn is_first(&self, state: &State, me: usize) -> bool {
        let before = state.queue.iter().take_while(|(who, held)| !(*who == me && *held));
        let counts = |(who, held): &(usize, bool)| {
            *who != me
                && (*held || !self.has(Part::Sweep))
                && !(state.procs[*who].stopped && self.has(Part::StoppedArePassedOver))
        };
        !self.has(Part::FirstInQueue) || before.filter(|ticket| counts(ticket)).count() == 0
    }

    fn rule(&self, state: &State, me: usize) -> Ruling {
        let first = self.is_first(state, me);
        match state.reservation {
            Some(who) if who == me => Ruling::Again,
            None if first => Ruling::Take,
            Some(who) if first && self.gone(state, who, Part::ProofOfDeath) => Ruling::Reclaim,
            _ => Ruling::Wait,
        }
    }

    /// Something in the folder changed: all who watch it look again.
    fn changed(state: &mut State) {
        for (who, held) in state.queue.clone() {
            if held && state.procs[who].at != At::Unwatched {
                state.procs[who].woken = true;
            }
        }
    }

    /// Those wake who look again after a while by themselves.
    fn tick(&self, state: &mut State) {
        for proc in &mut state.procs {
            proc.woken |= proc.timer && self.has(Part::Timer);
        }
    }

    fn unflock(state: &mut State, me: usize) {
        if state.flock == Some(me) {
            state.flock = None;
        }
    }

    fn leave(state: &mut State, me: usize) {
        if state.queue.contains(&(me, true)) {
            state.queue.retain(|ticket| *ticket != (me, true));
            Self::changed(state);
        }
        state.procs[me].woken = false;
        state.procs[me].timer = false;
    }

    /// Ends the claim: the lock is given up, and the place in the queue.
    fn end(state: &mut State, me: usize, at: At) -> At {
        Self::unflock(state, me);
        Self::leave(state, me);
        if at == At::Inside && !state.procs[me].session { At::Gone } else { at }
    }

    fn overtakes(state: &State, me: usize) -> bool {
        let before = state.queue.iter().take_while(|(who, held)| !(*who == me && *held));
        before.into_iter().any(|(who, held)| *who != me && *held && !state.procs[*who].stopped)
    }

    /// The next step of a command; `None` where it waits.
    fn step(&self, before: &State, me: usize) -> Option<State> {
        let mut state = before.clone();
        let s = &mut state;
        let queued = s.queue.contains(&(me, true));
        let wanted = s.procs[me].session;
        if s.procs[me].stopped {
            return None;
        }
        let at = match s.procs[me].at {
            At::Look if !wanted => Self::end(s, me, At::Gone),
            At::Look => {
                s.procs[me].woken = false;
                let ruling = self.rule(s, me);
                s.procs[me].timer = queued && s.reservation.is_none_or(|who| !s.procs[who].session);
                if queued && matches!(ruling, Ruling::Wait) { At::Asleep } else { At::WantFlock }
            }
            At::Asleep if s.procs[me].woken => At::Look,
            At::Unwatched => At::Asleep,
            At::WantFlock | At::WantRelease if s.flock.is_some() && self.flock => return None,
            At::WantFlock => {
                s.flock = Some(me);
                At::Decide
            }
            At::Decide => self.decide(s, me, queued)?,
            At::GuardUp if s.guard.is_some() && self.has(Part::GuardHasOneMaker) => {
                Self::end(s, me, At::Refused)
            }
            At::GuardUp => {
                s.guard = Some(me);
                At::Judge
            }
            At::Judge => {
                let dead = s.reservation.is_some_and(|who| self.gone(s, who, Part::ProofOfDeath));
                if dead || !self.has(Part::LookBehindGuard) {
                    At::Unlink
                } else {
                    s.guard = None;
                    Self::unflock(s, me);
                    At::Look
                }
            }
            At::Unlink => {
                s.reservation = None;
                Self::changed(s);
                At::Publish { behind_guard: true }
            }
            At::Publish { behind_guard } => {
                if s.reservation.is_none() || !self.has(Part::NoReplace) {
                    s.overtook |= self.flock && Self::overtakes(s, me);
                    s.reclaimed |= behind_guard;
                    s.reservation = Some(me);
                    Self::changed(s);
                    if behind_guard { At::GuardDown } else { Self::end(s, me, At::Inside) }
                } else {
                    if behind_guard {
                        s.guard = None;
                    }
                    Self::unflock(s, me);
                    At::Look
                }
            }
            At::GuardDown => {
                s.guard = None;
                Self::end(s, me, At::Inside)
            }
            At::Inside => At::WantRelease,
            At::WantRelease => {
                s.flock = Some(me);
                At::Release
            }
            At::Release => {
                if s.reservation == Some(me) || !self.has(Part::ReleaseCompares) {
                    s.reservation = None;
                    Self::changed(s);
                }
                Self::unflock(s, me);
                if wanted { At::Done } else { At::Gone }
            }
            At::Asleep | At::Refused | At::Done | At::Gone => return None,
        };
        s.procs[me].at = at;
        Some(state)
    }

    /// Under the lock.
    fn decide(&self, s: &mut State, me: usize, queued: bool) -> Option<At> {
        if self.has(Part::Sweep) {
            s.queue.retain(|(_, held)| *held);
        }
        if !s.procs[me].session {
            return Some(Self::end(s, me, At::Gone));
        }
        if let Some(maker) = s.guard
            && s.reservation != Some(me)
        {
            if !self.gone(s, maker, Part::ProofForGuard) {
                return Some(Self::end(s, me, At::Refused));
            }
            s.guard = None;
            s.healed = true;
            return Some(At::Decide);
        }
        Some(match self.rule(s, me) {
            Ruling::Again => Self::end(s, me, At::Inside),
            Ruling::Take => At::Publish { behind_guard: false },
            Ruling::Reclaim => At::GuardUp,
            Ruling::Wait => {
                if !queued {
                    s.queue.push((me, true));
                }
                Self::unflock(s, me);
                s.procs[me].woken = false;
                s.procs[me].timer = s.reservation.is_none_or(|who| !s.procs[who].session);
                if queued || self.has(Part::WatchBeforeWait) { At::Asleep } else { At::Unwatched }
            }
        })
    }

    /// Whether anything happens without another fault.
    fn goes_on(&self, state: &State) -> bool {
        let removes = |me: usize| state.procs[me].at == At::Refused && self.has(Part::PersonRemovesGuard);
        (0..PROCS).any(|me| self.step(state, me).is_some() || removes(me))
    }

    fn kill(&self, before: &State, me: usize) -> State {
        let mut state = before.clone();
        let session = state.procs[me].session;
        state.procs[me] = Proc {
            at: if session { At::Look } else { At::Gone },
            stopped: false,
            woken: false,
            timer: false,
            session,
        };
        if self.has(Part::KernelDropsFlock) {
            Self::unflock(&mut state, me);
        }
        for ticket in state.queue.iter_mut().filter(|(who, _)| *who == me) {
            ticket.1 = false;
        }
        state.kills += 1;
        self.tick(&mut state);
        state
    }

    fn die(&self, before: &State, me: usize) -> State {
        let mut state = before.clone();
        state.procs[me].session = false;
        state.procs[me].woken = true;
        state.deaths += 1;
        if matches!(state.procs[me].at, At::Inside | At::Refused) {
            state.procs[me].at = At::Gone;
        }
        if state.reservation == Some(me) && self.has(Part::HolderIsWatched) {
            Self::changed(&mut state);
        }
        state
    }
}

impl Model for Mutex {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let proc = Proc { at: At::Look, session: true, stopped: false, woken: false, timer: false };
        vec![State {
            flock: None,
            reservation: None,
            guard: None,
            queue: Vec::new(),
            procs: [proc; PROCS],
            kills: 0,
            deaths: 0,
            stops: 0,
            overtook: false,
            reclaimed: false,
            healed: false,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for me in 0..PROCS {
            let Proc { at, session, stopped, .. } = state.procs[me];
            let runs = !matches!(at, At::Inside | At::Refused | At::Done | At::Gone);
            if self.step(state, me).is_some() {
                actions.push(Action::Step(me));
            }
            if runs && state.kills < self.kills {
                actions.push(Action::Kill(me));
            }
            if session
                && state.deaths < self.deaths
                && (at == At::Inside || !self.deaths_inside && !matches!(at, At::Done | At::Gone))
            {
                actions.push(Action::Die(me));
            }
            if at == At::Asleep && !stopped && state.stops < self.stops {
                actions.push(Action::Stop(me));
            }
            if at == At::Refused && self.flock && self.has(Part::PersonRemovesGuard) {
                actions.push(Action::Remove(me));
            }
        }
    }

    fn next_state(&self, before: &State, action: Action) -> Option<State> {
        match action {
            Action::Step(me) => self.step(before, me),
            Action::Kill(me) => Some(self.kill(before, me)),
            Action::Die(me) => Some(self.die(before, me)),
            Action::Stop(me) => {
                let mut state = before.clone();
                state.procs[me].stopped = true;
                state.stops += 1;
                self.tick(&mut state);
                Some(state)
            }
            Action::Remove(me) => {
                let mut state = before.clone();
                state.guard = None;
                state.procs[me].at = At::Look;
                Some(state)
            }
        }
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties = vec![
            Property::always(EXCLUSION, |_, state: &State| {
                (0..PROCS).all(|me| state.procs[me].at != At::Inside || state.reservation == Some(me))
            }),
            Property::always(ORDER, |_, state: &State| !state.overtook),
            Property::sometimes("a lost session is followed", |_, state: &State| state.reclaimed),
        ];
        if self.flock && self.deaths > 1 {
            properties.push(Property::sometimes("a guard is taken down", |_, state: &State| state.healed));
        }
        if self.flock {
            // Together with `acyclic`: whoever waits gets on, or somebody else does, and that has an end.
            properties.push(Property::always(NOBODY_WAITS, |model: &Self, state: &State| {
                state.procs.iter().all(|proc| proc.stopped || matches!(proc.at, At::Done | At::Gone))
                    || model.goes_on(state)
            }));
        }
        properties
    }
}

const EXCLUSION: &str = "who merges has the reservation";
const ORDER: &str = "nobody goes before those who came earlier";
const NOBODY_WAITS: &str = "nobody waits for ever";

/// With a lock that excludes, and commands and sessions that end anywhere.
fn crashing(without: Option<Part>) -> Mutex {
    Mutex { without, flock: true, kills: 1, deaths: 1, stops: 1, deaths_inside: false }
}

/// On a file system that only pretends to lock: what is published is still not replaced.
fn pretending(without: Option<Part>) -> Mutex {
    Mutex { without, flock: false, kills: 0, deaths: 1, stops: 0, deaths_inside: true }
}

/// Which properties do not hold.
fn failing(model: Mutex) -> Vec<&'static str> {
    let checker = model.checker().spawn_bfs().join();
    let found = checker.discoveries();
    let failing = [EXCLUSION, ORDER, NOBODY_WAITS].into_iter().filter(|name| found.contains_key(name));
    println!("{} states", checker.unique_state_count());
    failing.collect()
}

#[test]
fn it_holds_with_commands_and_sessions_that_end_anywhere() {
    let model = Mutex { deaths: 2, ..crashing(None) };
    model.clone().checker().spawn_bfs().join().assert_properties();
    acyclic(&model);
}

#[test]
fn it_excludes_where_locks_do_not() {
    pretending(None).checker().spawn_bfs().join().assert_properties();
}

#[test]
fn each_of_its_parts_is_needed() {
    for (part, property) in [
        (Part::KernelDropsFlock, NOBODY_WAITS),
        (Part::ProofOfDeath, EXCLUSION),
        (Part::PersonRemovesGuard, NOBODY_WAITS),
        (Part::ReleaseCompares, EXCLUSION),
        (Part::FirstInQueue, ORDER),
        (Part::Sweep, NOBODY_WAITS),
        (Part::StoppedArePassedOver, NOBODY_WAITS),
        (Part::WatchBeforeWait, NOBODY_WAITS),
        (Part::HolderIsWatched, NOBODY_WAITS),
        (Part::Timer, NOBODY_WAITS),
    ] {
        let failing = failing(crashing(Some(part)));
        assert!(failing.contains(&property), "{part:?} can be left out: {failing:?}");
    }
    for part in [Part::LookBehindGuard, Part::GuardHasOneMaker, Part::ProofForGuard, Part::NoReplace] {
        let failing = failing(pretending(Some(part)));
        assert!(failing.contains(&EXCLUSION), "{part:?} can be left out: {failing:?}");
    }
    let failing = failing(Mutex { flock: false, ..crashing(None) });
    assert!(failing.contains(&EXCLUSION), "the lock can be left out: {failing:?}");
}

/// No way through the model comes back to where it was, so each of them ends.
fn acyclic(model: &Mutex) {
    let mut done: HashSet<State> = HashSet::new();
    let mut open: HashSet<State> = HashSet::new();
    let mut way: Vec<(State, Vec<State>)> = Vec::new();
    for start in model.init_states() {
        way.push((start.clone(), model.next_states(&start)));
        open.insert(start);
    }
    while let Some((_, next)) = way.last_mut() {
        let Some(state) = next.pop() else {
            let (state, _) = way.pop().unwrap();
            open.remove(&state);
            done.insert(state);
            continue;
        };
        assert!(!open.contains(&state), "it runs in circles: {state:?}");
        if !done.contains(&state) {
            open.insert(state.clone());
            let next = model.next_states(&state);
            way.push((state, next));
        }
    }
}
