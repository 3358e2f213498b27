//! Sixteen processes in four clones, random commands, tools and sessions killed at random: what everybody was
//! told is held against the history of the branch.
//!
//! `AITASK_LOCK_SEED=<number>` repeats the choices of a run; the kernel's schedule is its own.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, RwLock};
use std::time::{Duration, Instant};

use git_aitask_lock::sys::random;

use crate::merge_storm::Dice;
use crate::support::answers::assert_nobody_is_left;
use crate::support::history::{Act, Commit, Found, History, Lock, Op, Said, Told, Verb, check};
#[cfg(feature = "failpoints")]
use crate::support::history::{Fault, names};
use crate::support::scene::Place;
use crate::support::{BRANCH, Lab, Output, Repo, Session};

const PROCESSES: u64 = 16;
const TASKS: u64 = 12;

/// What a run is made of.
#[derive(Clone, Copy)]
struct Run<'a> {
    place: Place,
    ops: usize,
    seed: u64,
    /// A planted fault.
    fault: &'a str,
}

/// A seed of its own for each run, or the one that is asked for.
fn seed() -> u64 {
    let asked = std::env::var("AITASK_LOCK_SEED").ok().and_then(|seed| seed.parse().ok());
    asked.unwrap_or_else(|| random::below(1_000_000_007).unwrap_or(1))
}

/// What all processes share.
struct Stage<'lab> {
    run: Run<'lab>,
    places: Vec<Repo<'lab>>,
    started: Instant,
    next: AtomicUsize,
    ops: Mutex<BTreeMap<usize, Op>>,
    deaths: Mutex<HashMap<String, (u64, u64)>>,
    codes: Mutex<BTreeMap<String, usize>>,
    /// Held by all who run a command; alone by a person who removes what a killed one left.
    busy: RwLock<()>,
}

impl Stage<'_> {
    fn now(&self) -> u64 {
        self.started.elapsed().as_micros() as u64
    }

    /// Kills a session; another one begins in its place.
    fn kill(&self, session: &mut Session, name: &mut String) {
        let began = self.now();
        session.end();
        self.deaths.lock().unwrap().insert(name.clone(), (began, self.now()));
        *session = Session::start();
        *name = named(session);
    }

    /// One process, from its first command to its last; its session lives on.
    fn process(&self, number: u64) -> Session {
        let mut dice = Dice(self.run.seed.wrapping_mul(PROCESSES).wrapping_add(number));
        let repo = &self.places[number as usize % self.places.len()];
        let owner = if number % 8 == 7 { "bob@example.com" } else { "ann@example.com" };
        let mut session = Session::start();
        let mut name = named(&session);
        // What it was told that it holds.
        let mut mine: BTreeMap<String, String> = BTreeMap::new();
        loop {
            let op = self.next.fetch_add(1, Ordering::SeqCst);
            if op >= self.run.ops {
                return session;
            }
            if dice.below(20) == 0 {
                self.kill(&mut session, &mut name);
                mine.clear();
            }
            let (verb, tasks, args) = asked(&mut dice, &mine, op);
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let run = repo.human(&args).arg("--json").arg("--no-input").session(&session).email(owner);
            let mut command = run.env("AITASK_LOCK_FAILPOINT", self.run.fault).into_command();
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            let (asking, began) = (name.clone(), self.now());
            let busy = self.busy.read().unwrap();
            let mut child = command.spawn().unwrap();
            match dice.below(24) {
                0 | 1 => {
                    std::thread::sleep(Duration::from_micros(dice.below(120_000)));
                    let _ended_already = child.kill();
                }
                2 => {
                    std::thread::sleep(Duration::from_micros(dice.below(30_000)));
                    self.kill(&mut session, &mut name);
                    mine.clear();
                }
                _ => {}
            }
            let output = Output::from(child.wait_with_output().unwrap());
            let ended = self.now();
            drop(busy);
            if output.code() == 137 && matches!(self.run.place, Place::Local) {
                self.unlock_refs();
            }
            let told = self.told(&output, &args);
            if let Told::Answers(answers) = &told
                && asking == name
            {
                for said in answers.iter().filter(|_| !matches!(verb, Verb::Check | Verb::List)) {
                    match &said.lock {
                        Some(lock) => drop(mine.insert(said.task.clone(), lock.clone())),
                        None => drop(mine.remove(&said.task)),
                    }
                }
            }
            let force = args.contains(&"--force");
            let owner = owner.to_owned();
            let done = Op { session: asking, owner, verb, tasks, force, began, ended, told };
            self.ops.lock().unwrap().insert(op, done);
        }
    }

    /// What a person does where commands are killed, or who is told that a reference stays locked: looks that
    /// nobody is at it, and removes the lock file that is left.
    fn unlock_refs(&self) {
        let _alone = self.busy.write().unwrap();
        assert_nobody_is_left(self.places[0].lab);
        for place in &self.places {
            let common = place.git(&["rev-parse", "--path-format=absolute", "--git-common-dir"]);
            let folder = Path::new(&common).join("refs");
            for entry in walk(&folder) {
                if entry.extension().is_some_and(|end| end == "lock") {
                    std::fs::remove_file(entry).unwrap();
                }
            }
        }
    }

    /// Reads an answer; one that is no answer of the program's to such a question ends the test.
    fn told(&self, output: &Output, args: &[&str]) -> Told {
        let code = output.code();
        *self.codes.lock().unwrap().entry(format!("exit {code}")).or_default() += 1;
        if code == 137 {
            return Told::Nothing;
        }
        let document: serde_json::Value =
            serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{args:?}\n{output}"));
        let results = document["results"].as_array().unwrap();
        if results.iter().any(|result| result["verdict"] == "LOCK_ERROR") {
            if results[0]["detail"] == "ref_locked" {
                self.unlock_refs();
                return Told::Failed;
            }
            // No branch yet, no turn or no luck in time, or it cannot be told.
            assert!(matches!(code, 10 | 12 | 16) || !self.run.fault.is_empty(), "{args:?}\n{output}");
            return if code == 16 { Told::Nothing } else { Told::Failed };
        }
        assert!(matches!(code, 0 | 1 | 13 | 14 | 27), "{args:?}\n{output}");
        Told::Answers(results.iter().map(said).collect())
    }
}

/// All files below a folder.
fn walk(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

fn named(session: &Session) -> String {
    format!("{}/{}", session.pid(), session.token())
}

fn said(result: &serde_json::Value) -> Said {
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    let word = text(&result["verdict"]).unwrap();
    let own = text(&result["lock_id"]);
    let previous = text(&result["previous"]["lock_id"]);
    let (lock, stood) = match word.as_str() {
        "CLAIMED" | "REFRESHED" => (own, None),
        "RECLAIM_CRASH" | "RECLAIM_STATUS" | "FORCE_UNLOCKED" => (own, previous),
        "RELEASED" | "LOCKED" | "LOCK_FAILED" | "LOCK_LIVE_HOLDER" | "LOCK_UNVERIFIABLE_HOLDER" => {
            (None, own)
        }
        "HOLDER_CHANGED" => (None, text(&result["now"]["lock_id"])),
        "NOT_HELD" => (None, text(&result["holder"]["lock_id"])),
        "FREE" | "NOT_CLAIMED" | "NOT_RELEASED" => (None, None),
        other => panic!("{other} is no answer here: {result}"),
    };
    let written = result["written"].as_bool().unwrap_or(true);
    Said { word, task: text(&result["task"]).unwrap(), lock, stood, written }
}

/// A random command.
fn asked(dice: &mut Dice, mine: &BTreeMap<String, String>, op: usize) -> (Verb, Vec<String>, Vec<String>) {
    let any = |dice: &mut Dice| (dice.below(TASKS) + 1).to_string();
    let held = |dice: &mut Dice| {
        let held = mine.keys().nth(dice.below(mine.len().max(1) as u64) as usize);
        held.cloned().unwrap_or_else(|| any(dice))
    };
    let several = |dice: &mut Dice, count: u64| {
        let first = dice.below(TASKS);
        (first..first + count).map(|task| (task % TASKS + 1).to_string()).collect::<Vec<_>>()
    };
    let (verb, tasks, options): (Verb, Vec<String>, Vec<String>) = match dice.below(100) {
        0..26 => (Verb::Claim, vec![any(dice)], vec![]),
        26..33 => (Verb::Claim, several(dice, 2), vec![]),
        33..43 => (Verb::Claim, several(dice, 6), vec!["--first".into()]),
        43..48 => (Verb::Claim, vec![any(dice)], vec!["--force".into()]),
        48..53 => {
            let task = held(dice);
            let id = mine.get(&task).cloned().unwrap_or_else(|| "0".repeat(32));
            (Verb::Claim, vec![task], vec!["--expect".into(), id])
        }
        53..64 => (Verb::Refresh, vec![held(dice)], vec![]),
        64..82 => (Verb::Release, vec![held(dice)], vec![]),
        82..85 => (Verb::Release, several(dice, 2), vec![]),
        85..88 => (Verb::Release, vec![any(dice)], vec!["--force".into()]),
        88..92 => (Verb::Cleanup, vec![], vec!["--gone".into()]),
        92..96 => (Verb::Check, vec![any(dice)], vec![]),
        _ => (Verb::List, vec![], vec![]),
    };
    let word = format!("{verb:?}").to_lowercase();
    let note = if verb == Verb::Claim { vec!["--note".to_owned(), format!("op-{op}")] } else { vec![] };
    let args = [vec![word], tasks.clone(), options, note].concat();
    (verb, tasks, args)
}

/// The branch as git tells it, oldest commit first.
fn commits(arbiter: &Repo<'_>) -> Vec<Commit> {
    let format = "--format=%x01%B%x02";
    let args = ["log", "--first-parent", "--reverse", "--raw", "--no-abbrev", "--no-renames", format, BRANCH];
    let log = arbiter.git(&args);
    let mut blobs: HashMap<String, Lock> = HashMap::new();
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    let mut commits = Vec::new();
    for part in log.split('\x01').skip(1) {
        let (message, raw) = part.split_once('\x02').unwrap();
        for line in raw.lines().filter(|line| line.starts_with(':')) {
            let (what, file) = line.split_once('\t').unwrap();
            let fields: Vec<&str> = what.split(' ').collect();
            if fields[4] == "D" {
                files.remove(file);
            } else {
                files.insert(file.to_owned(), fields[3].to_owned());
            }
        }
        let mut commit = Commit { acts: acts(message), ..Commit::default() };
        for (file, blob) in &files {
            let task = file.strip_prefix('t').and_then(|file| file.strip_suffix("_lock.yaml")).unwrap();
            let lock = blobs.entry(blob.clone()).or_insert_with(|| {
                let text = arbiter.git(&["cat-file", "blob", blob]);
                let value = |key: &str| {
                    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{key}: ")));
                    line.unwrap_or_default().trim_matches('\'').to_owned()
                };
                Lock {
                    id: value("lock_id"),
                    owner: value("locked_by"),
                    // Of a session that died before its command looked at it, none is recorded.
                    session: match value("pid").as_str() {
                        "" | "-" => String::new(),
                        pid => format!("{pid}/{}", value("pid_starttime")),
                    },
                    op: value("note").strip_prefix("op-").and_then(|op| op.parse().ok()),
                }
            });
            if commit.locks.insert(task.to_owned(), lock.clone()).is_some() {
                commit.doubled = Some(task.to_owned());
            }
        }
        commits.push(commit);
    }
    commits
}

fn acts(message: &str) -> Vec<Act> {
    let values = |key: &str| {
        let lines = message.lines().filter_map(move |line| line.strip_prefix(key));
        lines.map(|value| value.trim().to_owned()).collect::<Vec<_>>()
    };
    let named = values("Lock-Action:").into_iter().zip(values("Lock-Task:")).zip(values("Lock-Id:"));
    named.map(|((word, task), lock_id)| Act { word, task, lock_id }).collect()
}

/// A whole run: what is wrong with it.
fn faults(run: Run<'_>) -> Vec<Found> {
    let lab = Lab::new();
    let places: Vec<Repo<'_>> = match run.place {
        Place::Remote => (0..4).map(|n| lab.clone_with(format!("c{n}"), &["--no-checkout"])).collect(),
        Place::Local => {
            let first = lab.alone("c0");
            (1..4).map(|n| first.worktree(&format!("c{n}"))).chain([first.clone()]).collect()
        }
    };
    for place in &places {
        // A refresh is always a commit, so that none is carried twice unseen.
        place.git(&["config", "aitask-lock.refreshInterval", "0s"]);
    }
    let arbiter = match run.place {
        Place::Remote => lab.server(),
        Place::Local => places[0].clone(),
    };
    let stage = Stage {
        run,
        places,
        started: Instant::now(),
        next: AtomicUsize::new(0),
        ops: Mutex::default(),
        deaths: Mutex::default(),
        codes: Mutex::default(),
        busy: RwLock::default(),
    };
    let sessions: Vec<Session> = std::thread::scope(|scope| {
        let stage = &stage;
        let start = |number| scope.spawn(move || stage.process(number));
        let running: Vec<_> = (0..PROCESSES).map(start).collect();
        running.into_iter().map(|process| process.join().unwrap()).collect()
    });
    drop(sessions);
    // The git of a command that was killed may still be at it.
    assert_nobody_is_left(&lab);
    let commits = commits(&arbiter);
    println!("{:?}, seed {}: {} commits, {:?}", run.place, run.seed, commits.len(), stage.codes);
    let ops = stage.ops.into_inner().unwrap().into_values().collect();
    check(&History { commits, ops, deaths: stage.deaths.into_inner().unwrap() })
}

#[track_caller]
fn no_faults(place: Place, ops: usize) {
    let seed = seed();
    let found = faults(Run { place, ops, seed, fault: "" });
    assert!(found.is_empty(), "AITASK_LOCK_SEED={seed}: {found:#?}");
}

#[test]
fn on_a_remote_every_answer_is_true() {
    no_faults(Place::Remote, 150);
}

#[test]
fn without_a_remote_every_answer_is_true() {
    no_faults(Place::Local, 300);
}

/// The checker finds a fault that is built into the program, under one of these names.
#[cfg(feature = "failpoints")]
#[track_caller]
fn is_found(fault: &str, place: Place, ops: usize, expected: &[Fault]) {
    let seed = seed();
    let found = names(&faults(Run { place, ops, seed, fault }));
    assert!(
        found.iter().any(|fault| expected.contains(fault)),
        "AITASK_LOCK_SEED={seed}: {fault}: {found:?}"
    );
}

#[cfg(feature = "failpoints")]
#[test]
fn a_branch_that_is_moved_without_comparing_is_found() {
    is_found("no-compare", Place::Remote, 60, &[Fault::NotInHistory]);
    is_found("no-compare", Place::Local, 60, &[Fault::NotInHistory]);
}

#[test]
#[ignore = "takes many minutes"]
fn ten_thousand_commands() {
    no_faults(Place::Local, 5_000);
    no_faults(Place::Remote, 5_000);
}
