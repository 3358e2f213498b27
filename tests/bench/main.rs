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

mod crowd;
mod mutex;
mod report;

use std::process::{Command, Stdio};
use std::time::Instant;

use support::{BRANCH, Lab, Repo, Session};

/// Pairs of one comparison.
const PAIRS: usize = 25;
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
    report::row(names.0, median(first), names.1, median(second), median(ratios));
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
    report::part("one command, remote on this machine");
    let push = |round: usize| {
        let commit = commit_on(&repo, "refs/heads/bench", round);
        repo.git(&["update-ref", "refs/heads/bench", &commit]);
        git(&repo, &["push", "-q", "origin", "refs/heads/bench:refs/heads/bench"])
    };
    let task = |round: usize| format!("{}", round + 1);
    compare(
        ("claim (warm)", "git push of one changed file"),
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
    compare(
        ("release", "git push of one changed file"),
        |n| ours(&repo, &session, &["release", &task(n)]),
        push,
    );
}

/// One more commit on top of a ref, with a tree that is there already: what a local claim comes down to.
fn commit_tree(repo: &Repo<'_>, tip: &str) -> Command {
    git(repo, &["commit-tree", "-m", "one more", "-p", tip, &format!("{tip}^{{tree}}")])
}

fn without_a_remote() {
    report::part("one command, no remote");
    let lab = Lab::empty();
    let repo = lab.alone("a");
    lived_in(&repo);
    let session = Session::start();
    let task = |round: usize| format!("{}", round + 1);
    let commit = |_| commit_tree(&repo, "HEAD");
    compare(("claim", "git commit-tree"), |n| ours(&repo, &session, &["claim", &task(n)]), commit);
    let tree = |_| git(&repo, &["ls-tree", BRANCH]);
    compare(("check", "git ls-tree"), |n| ours(&repo, &session, &["check", &task(n)]), tree);
}

/// Puts that many locks onto the branch of a repository.
fn plant_many(repo: &Repo<'_>, number: usize, session: &Session) {
    let record = support::planting::record("1", session, &[]);
    let blob = repo.git_with_input(&["hash-object", "-w", "--stdin"], record.as_bytes());
    let entry = |n: usize| format!("100644 blob {blob}\tt{n}_lock.yaml\n");
    let tree = repo.git_with_input(&["mktree"], (0..number).map(entry).collect::<String>().as_bytes());
    let commit = repo.git(&["commit-tree", "-m", "planted", &tree]);
    repo.git(&["update-ref", BRANCH, &commit]);
}

fn beside_many_locks(number: usize) {
    report::part(&format!("beside {number} locks"));
    let (holder, session) = (Session::start(), Session::start());
    let lab = Lab::empty();
    let repo = lab.alone("a");
    lived_in(&repo);
    plant_many(&repo, number, &holder);
    let claim = |n: usize| format!("x{n}");
    let tree = |_| git(&repo, &["ls-tree", BRANCH]);
    compare(("list, no remote", "git ls-tree"), |_| ours(&repo, &session, &["list"]), tree);
    compare(("check, no remote", "git ls-tree"), |n| ours(&repo, &session, &["check", &claim(n)]), tree);
    // git's way to a tree with one file more: read it into an index, and write it.
    let script = repo.lab.script(
        "bin/write",
        &format!(
            "export GIT_INDEX_FILE=\"$PWD/.git/bench-$1\"\ngit read-tree {BRANCH}\n\
                  git update-index --add --cacheinfo 100644,$2,t$1_file.yaml\n\
                  git commit-tree -m x -p {BRANCH} $(git write-tree)"
        ),
    );
    let blob = repo.git(&["rev-parse", &format!("{BRANCH}:t0_lock.yaml")]);
    let write = |n: usize| {
        let mut command = repo.lab.command(&script);
        command.current_dir(&repo.path).args([format!("{n}"), blob.clone()]);
        command
    };
    compare(
        ("claim, no remote", "read-tree … commit-tree"),
        |n| ours(&repo, &session, &["claim", &claim(n)]),
        write,
    );
    let lab = Lab::new();
    let repo = lab.clone("a");
    lived_in(&repo);
    lived_in(&lab.server());
    plant_many(&lab.server(), number, &holder);
    repo.git(&["fetch", "-q", "origin", &format!("{BRANCH}:refs/heads/bench")]);
    lab.server().git(&["update-ref", "refs/heads/bench", BRANCH]);
    time(ours(&repo, &session, &["check", "x"]));
    let push = |round: usize| {
        let commit = commit_on(&repo, "refs/heads/bench", round);
        repo.git(&["update-ref", "refs/heads/bench", &commit]);
        git(&repo, &["push", "-q", "origin", "refs/heads/bench:refs/heads/bench"])
    };
    compare(
        ("claim, remote on this machine", "git push of one changed file"),
        |n| ours(&repo, &session, &["claim", &claim(n)]),
        push,
    );
}

fn main() {
    report::machine(&Lab::empty().git(std::path::Path::new("/"), &["version"]));
    // `cargo bench -- crowds` runs that part alone.
    let parts: [(&str, fn()); 6] = [
        ("remote", with_a_remote),
        ("local", without_a_remote),
        ("1000", || beside_many_locks(1_000)),
        ("10000", || beside_many_locks(10_000)),
        ("merge", mutex::hand_overs),
        ("crowds", crowd::crowds),
    ];
    let named: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    for (name, part) in parts {
        if named.is_empty() || named.iter().any(|wanted| wanted == name) {
            part();
        }
    }
}
