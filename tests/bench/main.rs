//! How long commands take beside plain git, side by side in one run: each pair is run by turns, so
//! that whatever else the machine does falls on both. Prints medians, and medians of the ratios of the
//! pairs; nothing fails here.

#![allow(
    dead_code,
    unused_imports,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark prints, and shares the tests' lab"
)]

#[path = "../support/mod.rs"]
mod support;

mod mutex;

use std::process::{Command, Stdio};
use std::time::Instant;

use support::planting::{Planted, plant};
use support::{BRANCH, Lab, Repo, Session};

/// Pairs of one comparison.
const PAIRS: usize = 40;
/// Pairs that are run first and not counted.
const WARM_UP: usize = 3;

/// Milliseconds from start to end of a whole process, which has to succeed (`check` of a free
/// task answers with 1).
fn time(mut command: Command) -> f64 {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let started = Instant::now();
    let status = command.status().unwrap();
    let taken = started.elapsed();
    assert!(matches!(status.code(), Some(0 | 1)), "{command:?}: {status}");
    taken.as_secs_f64() * 1000.0
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Runs both sides by turns and prints what came of it.
fn compare(
    names: (&str, &str),
    mut ours: impl FnMut(usize) -> Command,
    mut git: impl FnMut(usize) -> Command,
) {
    let (mut first, mut second, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..WARM_UP + PAIRS {
        // Who goes first changes, because the first of a pair warms the caches for the other.
        // What a side needs is made before either runs: it would warm the caches for that side alone.
        let (ours, git) = (ours(round), git(round));
        let (a, b) = if round % 2 == 0 {
            let a = time(ours);
            (a, time(git))
        } else {
            let b = time(git);
            (time(ours), b)
        };
        if round >= WARM_UP {
            first.push(a);
            second.push(b);
            ratios.push(a / b);
        }
    }
    println!(
        "{:<34} {:>7.2} ms | {:<34} {:>7.2} ms | ratio {:.2}",
        names.0,
        median(first),
        names.1,
        median(second),
        median(ratios)
    );
}

fn ours(repo: &Repo<'_>, session: &Session, args: &[&str]) -> Command {
    repo.lock(args).session(session).into_command()
}

fn git(repo: &Repo<'_>, args: &[&str]) -> Command {
    let mut command = repo.lab.command("git");
    command.current_dir(&repo.path).args(args);
    command
}

/// A commit that nobody has seen yet, on top of a ref, with one file more: what a claim writes.
fn commit_on(repo: &Repo<'_>, name: &str, round: usize) -> String {
    let tip = repo.tip(name);
    let mut entries = match &tip {
        Some(tip) => repo.git(&["ls-tree", tip]) + "\n",
        None => String::new(),
    };
    let content = format!("{name} {round}\n").repeat(8);
    let blob = repo.git_with_input(&["hash-object", "-w", "--stdin"], content.as_bytes());
    entries.push_str(&format!("100644 blob {blob}\tt{round}_file.yaml\n"));
    let tree = repo.git_with_input(&["mktree"], entries.as_bytes());
    let mut args = vec!["commit-tree", "-m", "one more", &tree];
    if let Some(tip) = &tip {
        args.extend(["-p", tip]);
    }
    repo.git(&args)
}

/// Makes all folders of loose objects, as a repository has them that has been worked in for a while:
/// otherwise whoever writes first pays for them.
fn lived_in(repo: &Repo<'_>) {
    let objects = repo.git_dir().join("objects");
    for number in 0..=255 {
        std::fs::create_dir_all(objects.join(format!("{number:02x}"))).unwrap();
    }
}

fn with_a_remote() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    lived_in(&repo);
    lived_in(&lab.server());
    let session = Session::start();
    println!("remote: a bare repository on this machine");
    let push = |round: usize| {
        let commit = commit_on(&repo, "refs/heads/bench", round);
        repo.git(&["update-ref", "refs/heads/bench", &commit]);
        git(&repo, &["push", "-q", "origin", "refs/heads/bench:refs/heads/bench"])
    };
    let task = |round: usize| format!("{}", round + 1);
    compare(
        ("claim (warm)", "git push of one commit"),
        |n| ours(&repo, &session, &["claim", &task(n)]),
        push,
    );
    let fetch = |_| git(&repo, &["fetch", "-q"]);
    compare(("check", "git fetch"), |n| ours(&repo, &session, &["check", &task(n)]), fetch);
    compare(("list", "git fetch"), |_| ours(&repo, &session, &["list"]), fetch);
    compare(("refresh (young)", "git fetch"), |n| ours(&repo, &session, &["refresh", &task(n)]), fetch);
    let push = |round: usize| {
        let commit = commit_on(&repo, "refs/heads/bench2", round);
        repo.git(&["update-ref", "refs/heads/bench2", &commit]);
        git(&repo, &["push", "-q", "origin", "refs/heads/bench2:refs/heads/bench2"])
    };
    compare(("release", "git push of one commit"), |n| ours(&repo, &session, &["release", &task(n)]), push);
}

fn without_a_remote() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    lived_in(&repo);
    let session = Session::start();
    println!("no remote");
    let update = |round: usize| {
        let commit = commit_on(&repo, "refs/heads/bench", round);
        git(&repo, &["update-ref", "refs/heads/bench", &commit])
    };
    let task = |round: usize| format!("{}", round + 1);
    compare(("claim", "git update-ref"), |n| ours(&repo, &session, &["claim", &task(n)]), update);
    let tree = |_| git(&repo, &["ls-tree", BRANCH]);
    compare(("check", "git ls-tree"), |n| ours(&repo, &session, &["check", &task(n)]), tree);
    let record = support::planting::record("1", &session, &[]);
    let files: Vec<String> = (0..1000).map(|n| format!("t{n}_lock.yaml")).collect();
    let planted: Vec<(&str, Planted<'_>)> =
        files.iter().map(|name| (name.as_str(), Planted::File(record.as_bytes()))).collect();
    plant(&repo, &planted);
    compare(("list of 1000 locks", "git ls-tree of 1000 files"), |_| ours(&repo, &session, &["list"]), tree);
    let other = Session::start();
    let claim = |n: usize| ours(&repo, &other, &["claim", &format!("x{n}")]);
    compare(("claim beside 1000 locks", "git update-ref"), claim, update);
}

fn main() {
    with_a_remote();
    without_a_remote();
    mutex::hand_overs();
}
