//! Clean-ups of the clone beside claims: `git gc --prune=now` deletes at once what no reference
//! names yet, however young it is.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::support::{Lab, Repo, Session};

/// What people and their tools run in a clone.
const CLEAN_UPS: [&[&str]; 4] = [
    &["gc", "--quiet", "--prune=now"],
    &["repack", "-adq"],
    &["pack-refs", "--all"],
    &["fetch", "--quiet", "--all", "--prune"],
];

/// Claims twelve tasks in each of three sessions and gives every other one back, beside endless
/// clean-ups; `truth` is where the branch counts.
fn claims_beside_clean_ups(repo: &Repo<'_>, truth: &Repo<'_>) {
    let over = AtomicBool::new(false);
    let rounds = [const { AtomicUsize::new(0) }; CLEAN_UPS.len()];
    std::thread::scope(|scope| {
        for (clean_up, rounds) in CLEAN_UPS.iter().zip(&rounds) {
            let over = &over;
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    // They get in each other's way, which is theirs to bear.
                    let _output = repo.try_git(clean_up);
                    rounds.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let worker = |number: usize| {
            move || {
                let session = Session::start();
                for turn in 0..12 {
                    let task = (100 * number + turn).to_string();
                    repo.lock(&["claim", &task]).session(&session).go().expect("CLAIMED", 0);
                    if turn % 2 == 1 {
                        repo.lock(&["release", &task]).session(&session).go().expect("RELEASED", 0);
                    }
                }
                session
            }
        };
        let workers: Vec<_> = (1..=3).map(|number| scope.spawn(worker(number))).collect();
        let sessions: Vec<_> = workers.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        over.store(true, Ordering::Relaxed);
        assert!(sessions.iter().all(Result::is_ok), "a claim or a release failed: see above");
    });
    for (clean_up, rounds) in CLEAN_UPS.iter().zip(&rounds) {
        println!("{clean_up:?}: {} times", rounds.load(Ordering::Relaxed));
    }
    let kept =
        |number: usize| (0..12).step_by(2).map(move |turn| format!("t{}_lock.yaml", 100 * number + turn));
    let mut kept: Vec<String> = (1..=3).flat_map(kept).collect();
    kept.sort();
    // Whoever reads next also mends what a clean-up took from below a reference.
    repo.lock(&["check", "100"]).go().expect("LOCKED", 0);
    assert_eq!(truth.lock_files(), kept);
    assert_eq!(truth.lock_commits(), 3 * 18);
    truth.git(&["fsck", "--connectivity-only", "--no-dangling"]);
    repo.git(&["fsck", "--connectivity-only", "--no-dangling"]);
}

#[test]
fn objects_on_their_way_to_a_remote() {
    let lab = Lab::new();
    claims_beside_clean_ups(&lab.clone("a"), &lab.server());
}

#[test]
fn objects_of_the_local_branch() {
    let lab = Lab::new();
    let alone = lab.alone("alone");
    claims_beside_clean_ups(&alone, &alone);
}

#[test]
fn objects_of_a_local_branch_in_a_reftable() {
    let lab = Lab::new();
    let alone = lab.alone_with("alone", &["--ref-format=reftable"]);
    claims_beside_clean_ups(&alone, &alone);
}
