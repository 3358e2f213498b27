//! Holds what everybody was told against what the lock branch says: plain data in, faults out.
//!
//! A commit stands for the branch after it. When exactly the branch moved is not known, but it was after its
//! maker began and before its maker was told so, and no later than the commits that follow.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A lock as a commit holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lock {
    pub id: String,
    pub owner: String,
    /// The session that it names; empty where it names none.
    pub session: String,
    /// The operation that wrote it: its number is in the note.
    pub op: Option<usize>,
}

/// What a trailer says that a commit did.
#[derive(Clone, Debug)]
pub struct Act {
    pub word: String,
    pub task: String,
    pub lock_id: String,
}

/// A commit of the branch, with all the locks after it.
#[derive(Clone, Debug, Default)]
pub struct Commit {
    pub acts: Vec<Act>,
    pub locks: BTreeMap<String, Lock>,
    /// A task that has several files.
    pub doubled: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Claim,
    Refresh,
    Release,
    Cleanup,
    Check,
    List,
}

/// One answer for one task.
#[derive(Clone, Debug)]
pub struct Said {
    pub word: String,
    pub task: String,
    /// The lock that it says this session has now.
    pub lock: Option<String>,
    /// The lock that it says stood there; for words that name none, nothing stood there.
    pub stood: Option<String>,
    /// Whether it says that a commit was made.
    pub written: bool,
}

/// How a command ended.
#[derive(Clone, Debug)]
pub enum Told {
    /// It was killed, or could not tell.
    Nothing,
    /// It failed, and said that nothing was changed.
    Failed,
    Answers(Vec<Said>),
}

/// A command, with the times between which it ran.
#[derive(Clone, Debug)]
pub struct Op {
    pub session: String,
    pub owner: String,
    pub verb: Verb,
    pub tasks: Vec<String>,
    pub force: bool,
    pub began: u64,
    pub ended: u64,
    pub told: Told,
}

/// Everything.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Oldest first.
    pub commits: Vec<Commit>,
    pub ops: Vec<Op>,
    /// Sessions that were killed: between these times.
    pub deaths: HashMap<String, (u64, u64)>,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// A lock is gone, and no commit says why.
    Vanished,
    /// A change that nobody asked for.
    Unexplained,
    /// A lock went to another session without release, proof of death or force.
    ChangedHands,
    /// Two locks of one task at once.
    TwoLocks,
    /// One request is in the history twice.
    CarriedTwice,
    /// Two were told that they did one and the same thing.
    TwoWinners,
    /// A success that is not in the history.
    NotInHistory,
    /// Told that nothing was changed, and it was.
    RefusedButDone,
    /// Told before another one began, and later in the history.
    OutOfOrder,
    /// What an answer says stood there did not stand there between question and answer.
    WrongHolder,
}

/// Why, for a person who hunts it.
pub type Found = (Fault, String);

/// All faults of a history.
pub fn check(history: &History) -> Vec<Found> {
    let mut checker = Checker::new(history);
    checker.replay();
    checker.bounds();
    for op in 0..history.ops.len() {
        checker.told(op);
    }
    checker.renewals();
    checker.order();
    checker.faults
}

/// The names of all faults, each once.
pub fn names(faults: &[Found]) -> Vec<Fault> {
    faults.iter().map(|(fault, _)| *fault).collect::<BTreeSet<_>>().into_iter().collect()
}

struct Checker<'a> {
    history: &'a History,
    none: BTreeMap<String, Lock>,
    faults: Vec<Found>,
    /// Where each lock began and where it ended.
    lives: HashMap<&'a str, (usize, Option<usize>)>,
    /// How often each lock was renewed by a commit.
    renewed: HashMap<&'a str, usize>,
    /// Who made each commit.
    makers: Vec<Option<usize>>,
    /// The branch was at state `k` no sooner than `lower[k]`, and no later than `upper[k]` for the first time.
    lower: Vec<u64>,
    upper: Vec<u64>,
}

impl<'a> Checker<'a> {
    fn new(history: &'a History) -> Self {
        Self {
            history,
            none: BTreeMap::new(),
            faults: Vec::new(),
            lives: HashMap::new(),
            renewed: HashMap::new(),
            makers: vec![None; history.commits.len()],
            lower: Vec::new(),
            upper: Vec::new(),
        }
    }

    fn fault(&mut self, fault: Fault, why: String) {
        self.faults.push((fault, why));
    }

    /// The locks after the first `k` commits.
    fn state(&self, k: usize) -> &BTreeMap<String, Lock> {
        k.checked_sub(1).map_or(&self.none, |index| &self.history.commits[index].locks)
    }

    /// Whether a session may have been dead when this command decided; one that nobody can name may be followed.
    fn was_gone(&self, session: &str, op: usize) -> bool {
        if session.is_empty() {
            return true;
        }
        let op = &self.history.ops[op];
        let decided = if matches!(op.told, Told::Nothing) { u64::MAX } else { op.ended };
        self.history.deaths.get(session).is_some_and(|(began, _)| *began < decided)
    }

    /// Goes through the commits: each change is one that somebody asked for and was allowed to make.
    fn replay(&mut self) {
        let history = self.history;
        for (index, commit) in history.commits.iter().enumerate() {
            if let Some(task) = &commit.doubled {
                self.fault(Fault::TwoLocks, format!("commit {index}: task {task} has several files"));
            }
            let before = self.state(index).clone();
            let tasks: BTreeSet<&String> = before.keys().chain(commit.locks.keys()).collect();
            for task in tasks {
                let change = (before.get(task), history.commits[index].locks.get(task));
                let act = commit.acts.iter().find(|act| act.task == *task);
                let renewed = act.filter(|act| act.word == "refresh");
                if let (Some(_), (Some(old), Some(new))) = (renewed, change)
                    && old.id == new.id
                {
                    *self.renewed.entry(new.id.as_str()).or_default() += 1;
                }
                if change.0 == change.1 {
                    if act.is_some() && renewed.is_none() {
                        self.fault(Fault::Unexplained, format!("commit {index} did nothing to task {task}"));
                    }
                    continue;
                }
                self.change(index, task, change.0, change.1, act);
            }
        }
    }

    fn change(
        &mut self,
        index: usize,
        task: &str,
        old: Option<&Lock>,
        new: Option<&'a Lock>,
        act: Option<&Act>,
    ) {
        let word = act.map(|act| act.word.as_str());
        let place = format!("commit {index}, task {task}: {old:?} became {new:?} by {word:?}");
        let named = new.or(old).map(|lock| &lock.id);
        if act.map(|act| &act.lock_id) != named {
            let fault = if new.is_none() { Fault::Vanished } else { Fault::Unexplained };
            return self.fault(fault, place);
        }
        if let Some(old) = old
            && new.is_none_or(|new| new.id != old.id)
            && let Some((_, end)) = self.lives.get_mut(old.id.as_str())
        {
            *end = Some(index);
        }
        let maker = match (old, new) {
            (Some(old), Some(new)) if old.id == new.id => {
                if (&old.session, &old.owner) != (&new.session, &new.owner) || word != Some("refresh") {
                    self.fault(Fault::ChangedHands, place);
                }
                return;
            }
            (_, Some(new)) => {
                if self.lives.insert(new.id.as_str(), (index, None)).is_some() {
                    self.fault(Fault::CarriedTwice, place.clone());
                }
                self.writer(new, task)
            }
            (Some(old), None) => self.remover(old, task, word.unwrap_or_default(), &place),
            (None, None) => return,
        };
        let Some(maker) = maker else { return self.fault(Fault::Unexplained, place) };
        if self.makers[index].replace(maker).is_some_and(|other| other != maker) {
            self.fault(Fault::Unexplained, format!("two commands made one commit; {place}"));
        }
        let op = &self.history.ops[maker];
        let allowed = match (old, word) {
            (None, Some("claim")) => true,
            (Some(_), Some("force")) => op.force,
            (Some(old), Some("release")) if new.is_none() => {
                old.owner == op.owner && (old.session == op.session || self.was_gone(&old.session, maker))
            }
            (Some(old), Some("reclaim")) if new.is_some() => {
                old.owner == op.owner && self.was_gone(&old.session, maker)
            }
            (Some(old), Some("cleanup")) if new.is_none() => {
                op.verb == Verb::Cleanup && old.owner == op.owner && self.was_gone(&old.session, maker)
            }
            _ => false,
        };
        if !allowed {
            self.fault(Fault::ChangedHands, format!("{place}, of {op:?}"));
        }
        let said = |said: &Said| match new {
            Some(new) => said.lock.as_ref() == Some(&new.id),
            None => said.lock.is_none() && said.stood == old.map(|old| old.id.clone()),
        };
        match &op.told {
            Told::Nothing => {}
            Told::Answers(answers) if answers.iter().any(|answer| answer.task == task && said(answer)) => {}
            Told::Failed | Told::Answers(_) => {
                self.fault(Fault::RefusedButDone, format!("{place}, of {op:?}"));
            }
        }
    }

    /// The command that wrote a lock names itself in it.
    fn writer(&self, new: &Lock, task: &str) -> Option<usize> {
        let number = new.op?;
        let op = self.history.ops.get(number)?;
        let same = new.session.is_empty() || op.session == new.session;
        let fits = op.verb == Verb::Claim && same && op.tasks.iter().any(|t| t == task);
        fits.then_some(number)
    }

    /// The command that was told that it removed a lock; else one that may have, and was told nothing.
    fn remover(&mut self, old: &Lock, task: &str, word: &str, place: &str) -> Option<usize> {
        let history = self.history;
        let told = |op: &Op| match &op.told {
            Told::Answers(answers) => answers.iter().any(|said| {
                is_removal(said) && said.task == task && said.stood.as_deref() == Some(old.id.as_str())
            }),
            Told::Nothing | Told::Failed => false,
        };
        let mut winners = (0..history.ops.len()).filter(|op| told(&history.ops[*op]));
        let winner = winners.next();
        if let Some(other) = winners.next() {
            self.fault(Fault::TwoWinners, format!("{place}, of {winner:?} and {other}"));
        }
        winner.or_else(|| {
            let may = |number: &usize| {
                let op = &history.ops[*number];
                let gone = op.owner == old.owner && self.was_gone(&old.session, *number);
                let named = op.tasks.iter().any(|t| t == task);
                let asked = match word {
                    "force" => op.verb == Verb::Release && named && op.force,
                    "release" => {
                        op.verb == Verb::Release
                            && named
                            && op.owner == old.owner
                            && (op.session == old.session || gone)
                    }
                    "cleanup" => op.verb == Verb::Cleanup && gone,
                    _ => false,
                };
                matches!(op.told, Told::Nothing) && asked
            };
            (0..history.ops.len()).find(may)
        })
    }

    fn bounds(&mut self) {
        let op = |maker: &Option<usize>| maker.map(|maker| &self.history.ops[maker]);
        let mut lower = vec![0];
        for maker in &self.makers {
            let last = lower.last().copied().unwrap_or_default();
            lower.push(op(maker).map_or(last, |op| op.began.max(last)));
        }
        let mut upper = vec![u64::MAX];
        for maker in self.makers.iter().rev() {
            let next = upper.last().copied().unwrap_or(u64::MAX);
            let told = op(maker).filter(|op| matches!(op.told, Told::Answers(_)));
            upper.push(told.map_or(next, |op| op.ended.min(next)));
        }
        // One more than there are commits: the last entry is when the branch left its last state.
        upper.reverse();
        self.upper = std::iter::once(0).chain(upper).collect();
        self.lower = lower;
    }

    /// The states in which the branch may have been while a command ran.
    fn window(&self, op: &Op) -> impl Iterator<Item = usize> + use<> {
        // Both only grow. A state is left when the next one is reached.
        let first = self.upper[1..].partition_point(|left| *left < op.began);
        let end = self.lower.partition_point(|reached| *reached <= op.ended);
        first..end
    }

    /// What a command was told is what the branch says.
    fn told(&mut self, number: usize) {
        let history = self.history;
        let op = &history.ops[number];
        let Told::Answers(answers) = &op.told else { return };
        let mut at = None;
        for said in answers {
            let lost = |checker: &mut Self| {
                checker.fault(Fault::NotInHistory, format!("{said:?} of {op:?}"));
            };
            if said.word == "REFRESHED" {
                if said.written && said.lock.as_deref().is_none_or(|id| !self.renewed.contains_key(id)) {
                    lost(self);
                }
            } else if let Some(id) = &said.lock {
                match self.lives.get(id.as_str()) {
                    Some((born, _)) => at = Some(*born),
                    None => lost(self),
                }
            } else if is_removal(said) {
                match said.stood.as_ref().and_then(|id| self.lives.get(id.as_str())) {
                    Some((_, Some(end))) if !self.state(end + 1).contains_key(&said.task) => at = Some(*end),
                    _ => lost(self),
                }
            }
        }
        let fits = |k: usize| answers.iter().all(|said| self.stood(k, said)) && self.listed(k, op, answers);
        let true_once = match at {
            Some(commit) => fits(commit),
            None => self.window(op).any(fits),
        };
        // What is not in the history was told already.
        let known = at.is_some() || answers.iter().all(|said| said.lock.is_none() && !is_removal(said));
        if known && !true_once {
            self.fault(Fault::WrongHolder, format!("{op:?}"));
        }
        let alive = |said: &Said| said.word == "LOCK_LIVE_HOLDER";
        for said in answers.iter().filter(|said| alive(said)) {
            let id = said.stood.as_deref().unwrap_or_default();
            let session =
                self.lives.get(id).map(|(born, _)| &history.commits[*born].locks[&said.task].session);
            if session.is_some_and(|name| history.deaths.get(name).is_some_and(|(_, end)| *end < op.began)) {
                self.fault(Fault::WrongHolder, format!("a session that was dead is called alive: {op:?}"));
            }
        }
    }

    /// Whether an answer fits what stood there in state `k`, before anything that it tells of.
    fn stood(&self, k: usize, said: &Said) -> bool {
        let there = self.state(k).get(&said.task).map(|lock| &lock.id);
        match said.word.as_str() {
            "NOT_CLAIMED" | "NOT_RELEASED" => true,
            "REFRESHED" => there == said.lock.as_ref(),
            _ => there == said.stood.as_ref(),
        }
    }

    /// A list names all that there is.
    fn listed(&self, k: usize, op: &Op, answers: &[Said]) -> bool {
        op.verb != Verb::List || self.state(k).len() == answers.len()
    }

    /// No lock was renewed more often than somebody asked for it.
    fn renewals(&mut self) {
        let asked = |id: &str, born: usize, op: &Op| match &op.told {
            Told::Answers(answers) => answers
                .iter()
                .any(|said| said.word == "REFRESHED" && said.written && said.lock.as_deref() == Some(id)),
            Told::Nothing => {
                let lock = self.history.commits[born].locks.values().find(|lock| lock.id == id);
                matches!(op.verb, Verb::Claim | Verb::Refresh)
                    && lock.is_some_and(|lock| lock.session == op.session)
            }
            Told::Failed => false,
        };
        let mut found = Vec::new();
        for (id, commits) in &self.renewed {
            let Some((born, _)) = self.lives.get(id) else { continue };
            let most = self.history.ops.iter().filter(|op| asked(id, *born, op)).count();
            if *commits > most {
                found.push(format!("lock {id} was renewed {commits} times, and {most} were asked for"));
            }
        }
        for why in found {
            self.fault(Fault::CarriedTwice, why);
        }
    }

    /// Who was told of a success before another one began is before it in the history.
    fn order(&mut self) {
        let mut latest = (0, None);
        for (index, maker) in self.makers.clone().into_iter().enumerate() {
            let Some(number) = maker else { continue };
            let op = &self.history.ops[number];
            if matches!(op.told, Told::Answers(_)) && op.ended < latest.0 {
                let later = latest.1.map(|number: usize| &self.history.ops[number]);
                self.fault(Fault::OutOfOrder, format!("commit {index} of {op:?} comes after {later:?}"));
            }
            if op.began > latest.0 {
                latest = (op.began, Some(number));
            }
        }
    }
}

/// Whether an answer says that a lock was removed.
fn is_removal(said: &Said) -> bool {
    said.lock.is_none() && matches!(said.word.as_str(), "RELEASED" | "FORCE_UNLOCKED")
}
