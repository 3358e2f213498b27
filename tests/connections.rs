//! How many connections a command costs: counted as server programs that git starts.

use crate::support::{Lab, Repo, Run, Session};

/// Runs a command and counts the servers that git started for it.
fn connections(repo: &Repo<'_>, run: Run, word: &str, code: i32) -> usize {
    let events = repo.lab.path("events");
    let _from_before = std::fs::remove_dir_all(&events);
    std::fs::create_dir(&events).unwrap();
    run.env("GIT_TRACE2_EVENT", &events).go().expect(word, code);
    let mut started = 0;
    for file in std::fs::read_dir(&events).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let begins = text.lines().filter(|line| line.contains("\"event\":\"start\""));
        started +=
            begins.filter(|line| line.contains("upload-pack") || line.contains("receive-pack")).count();
    }
    started
}

#[test]
fn what_is_uncontended_and_known_costs_one() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    let session = Session::start();
    let count =
        |args: &[&str], word: &str, code| connections(&repo, repo.lock(args).session(&session), word, code);
    // Cold: one fetch that finds no branch, one look that says so, one push.
    assert_eq!(count(&["claim", "1"], "CLAIMED", 0), 3, "the first claim of all makes the branch");
    assert_eq!(count(&["claim", "2"], "CLAIMED", 0), 1, "a warm claim");
    assert_eq!(count(&["refresh", "2"], "REFRESHED", 0), 1, "a refresh that only verifies");
    repo.git(&["config", "aitask-lock.refreshInterval", "0s"]);
    assert_eq!(count(&["refresh", "2"], "REFRESHED", 0), 1, "a refresh that writes");
    assert_eq!(count(&["check", "2"], "LOCKED", 0), 1);
    assert_eq!(count(&["check", "9"], "FREE", 1), 1);
    assert_eq!(count(&["release", "1"], "RELEASED", 0), 1);
    assert_eq!(count(&["list", "--mine"], "LOCKED", 0), 1);
    assert_eq!(count(&["release", "2"], "RELEASED", 0), 1, "a warm release");
    assert_eq!(count(&["release", "2"], "NOT_HELD", 0), 1);
}

#[test]
fn what_was_changed_by_others_costs_two_or_three() {
    let lab = Lab::new();
    let (a, b) = (lab.clone("a"), lab.clone("b"));
    let session = Session::start();
    let count = |repo: &Repo<'_>, args: &[&str], word: &str, code| {
        connections(repo, repo.lock(args).session(&session), word, code)
    };
    a.lock(&["claim", "1"]).session(&session).go().expect("CLAIMED", 0);
    assert_eq!(count(&b, &["claim", "2"], "CLAIMED", 0), 2, "a first claim in a fresh clone: read, push");
    assert_eq!(count(&a, &["claim", "3"], "CLAIMED", 0), 3, "a lost lease: push, read, push");
    let other = Session::start();
    let refused = b.lock(&["claim", "1"]).session(&other);
    assert_eq!(connections(&b, refused, "LOCK_LIVE_HOLDER", 13), 1, "a refusal is checked once");
}
