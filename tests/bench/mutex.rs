//! How long the merge mutex takes from one session to the next, beside the time of one `merge status`.

use std::process::Stdio;
use std::time::{Duration, Instant};

use super::support::actors::wait_until;
use super::support::{Lab, Output, Repo, Session};
use super::{median, report, time};

/// Hand-overs of each kind.
const ROUNDS: usize = 20;

fn merge(repo: &Repo<'_>, session: &Session, args: &[&str]) -> std::process::Command {
    repo.lock(&[&["merge"], args].concat()).session(session).into_command()
}

/// Milliseconds from the end of one reservation to the next, which a waiter takes.
fn hand_over(repo: &Repo<'_>, by_death: bool) -> f64 {
    let file = repo.git_dir().join("aitask-lock/merge.yaml");
    let queue = repo.git_dir().join("aitask-lock/queue");
    let (mut first, second) = (Session::start(), Session::start());
    Output::of(merge(repo, &first, &["claim", "1"])).expect("MERGE_CLAIMED", 0);
    let waiter = merge(repo, &second, &["claim", "2", "--wait", "60"]);
    let waiter = { waiter }.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("it waits", || std::fs::read_dir(&queue).is_ok_and(|mut tickets| tickets.next().is_some()));
    // It looks once more, and falls asleep.
    std::thread::sleep(Duration::from_millis(100));
    let before = std::fs::read(&file).unwrap();
    let look_again = || std::thread::sleep(Duration::from_micros(50));
    let mut release = None;
    if by_death {
        first.end();
    } else {
        let command = merge(repo, &first, &["release", "1"]);
        let mut command = { command };
        release = Some(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
        // What the release finds out first is not part of the hand-over.
        while std::fs::read(&file).is_ok_and(|now| now == before) {
            look_again();
        }
    }
    let started = Instant::now();
    while !std::fs::read(&file).is_ok_and(|now| now != before) {
        look_again();
    }
    let spent = started.elapsed().as_secs_f64() * 1000.0;
    if let Some(release) = release {
        Output::from(release.wait_with_output().unwrap()).expect("RELEASED", 0);
    }
    Output::from(waiter.wait_with_output().unwrap()).expect("MERGE_CLAIMED", 0);
    Output::of(merge(repo, &second, &["release", "2"])).expect("RELEASED", 0);
    spent
}

/// Prints the hand-overs.
pub fn hand_overs() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let session = Session::start();
    let status = median((0..ROUNDS).map(|_| time(merge(&repo, &session, &["status"]))).collect());
    report::part("the merge mutex");
    for (name, by_death) in [("hand-over by release", false), ("hand-over by the holder's death", true)] {
        let spent = median((0..ROUNDS).map(|_| hand_over(&repo, by_death)).collect());
        report::row(name, spent, "merge status", status, spent / status);
    }
}
