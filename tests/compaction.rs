//! `init --compact`: one commit takes the place of the history, and nobody loses a lock or an answer by it.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::remedies;
use crate::support::planting::{Planted, plant, plant_file, record};
use crate::support::{BRANCH, Lab, Output, Repo, Session, race};

fn compact(repo: &Repo<'_>) -> Output {
    let done = repo.lock(&["init", "--compact"]).go().expect("INITIALIZED", 0);
    assert_eq!(done.field(2), "compacted", "{done}");
    done
}

fn claim(repo: &Repo<'_>, session: &Session, task: &str) {
    repo.lock(&["claim", task]).session(session).go().expect("CLAIMED", 0);
}

/// A root with this tree and message in the place of the branch.
fn plant_root(server: &Repo<'_>, tree: &str, message: &str) {
    let root = server.git(&["commit-tree", "-m", message, tree]);
    server.git(&["update-ref", BRANCH, &root]);
}

#[test]
fn the_locks_stay_and_no_clone_takes_it_for_a_rewrite() {
    let lab = Lab::new();
    let (a, b, server) = (lab.clone("a"), lab.clone("b"), lab.server());
    let (one, two) = (Session::start(), Session::start());
    claim(&a, &one, "1");
    claim(&a, &one, "2");
    // This one sees the branch here, and not again before it was compacted, twice.
    b.lock(&["check", "1"]).go().expect("LOCKED", 0);
    a.lock(&["release", "1"]).session(&one).go().expect("RELEASED", 0);
    claim(&a, &one, "3");
    let (tip, files) = (server.tip(BRANCH).unwrap(), server.lock_files());
    compact(&a);
    assert_eq!((server.lock_commits(), server.lock_files()), (1, files));
    let message = server.git(&["log", "-1", "--format=%B", BRANCH]);
    assert!(message.contains(&format!("\nLock-Compacts: {tip}\n")), "{message}");
    let again = a.lock(&["init", "--compact"]).go().expect("INITIALIZED", 0);
    assert_eq!(again.field(2), "present", "one commit is left alone");
    a.lock(&["release", "2"]).session(&one).go().expect("RELEASED", 0);
    compact(&a);
    b.lock(&["check", "1"]).go().expect("FREE", 1);
    b.lock(&["check", "2"]).go().expect("FREE", 1);
    b.lock(&["check", "3"]).go().expect("LOCKED", 0);
    claim(&b, &two, "1");
    a.lock(&["check", "1"]).go().expect("LOCKED", 0);
    // The story says where it begins.
    let story = a.human(&["log"]).go();
    assert!(story.stderr.contains("the history was compacted at"), "{story}");
    assert!(story.stdout.contains("claimed") && !story.stdout.contains("released"), "{story}");
    server.git(&["fsck", "--strict"]);
}

#[test]
fn a_root_that_lost_a_lock_is_a_rewrite_whatever_it_says() {
    let lab = Lab::new();
    let (a, server) = (lab.clone("a"), lab.server());
    let session = Session::start();
    claim(&a, &session, "1");
    let older = server.tip(BRANCH).unwrap();
    claim(&a, &session, "2");
    let known = server.tip(BRANCH).unwrap();
    let lost = server.git(&["rev-parse", &format!("{older}^{{tree}}")]);
    // It names the very tip that this clone knows, and task 2 is not on it.
    plant_root(&server, &lost, &format!("x\n\nLock-Compacts: {known}\n"));
    // A lock that comes back later does not mend it.
    for _ in 0..2 {
        let refused = a.lock(&["check", "1"]).go();
        let refused = refused.expect_line("LOCK_ERROR:branch_rewritten", 11);
        assert!(refused.stderr.contains('2'), "{refused}");
        plant_file(&server, "t2_lock.yaml", &record("2", &session, &[]));
    }
    // It names others only: whether this clone's tip was among what it replaced cannot be told.
    plant_root(
        &server,
        &lost,
        &format!("x\n\nLock-Compacts: {}\nLock-Compacted: {}\n", "1".repeat(40), &older[..16]),
    );
    a.lock(&["claim", "3"]).session(&session).go().expect_line("LOCK_ERROR:branch_rewritten", 11);
    a.lock(&["init", "--compact"]).go().expect_line("LOCK_ERROR:branch_rewritten", 11);
    // A commit that builds on another one is no root, whatever it says.
    server.git(&["update-ref", BRANCH, &older]);
    let tree = server.git(&["rev-parse", "refs/heads/main^{tree}"]);
    let message = format!("x\n\nLock-Compacts: {known}\n");
    let child = server.git(&["commit-tree", "-m", &message, "-p", "refs/heads/main", &tree]);
    server.git(&["update-ref", BRANCH, &child]);
    a.lock(&["check", "1"]).go().expect_line("LOCK_ERROR:branch_rewritten", 11);
    // A person accepts it.
    let accepted = a.lock(&["init"]).go().expect("INITIALIZED", 0);
    assert_eq!(accepted.field(3), "1,2");
}

#[test]
fn a_claim_that_landed_and_was_compacted_before_the_look_is_a_claim() {
    let lab = Lab::new();
    let (a, server) = (lab.clone("a"), lab.server());
    let session = Session::start();
    claim(&a, &session, "1");
    // The update lands, somebody compacts at once, and the connection breaks before the answer.
    lab.script(
        "server.git/hooks/post-receive",
        "read old new ref\n\
         root=$(printf 'x\\n\\nLock-Compacts: %s\\n' $new | git commit-tree \"$new^{tree}\") || exit\n\
         git update-ref $ref $root $new\nrm hooks/post-receive\nkill -9 $PPID",
    );
    claim(&a, &session, "2");
    assert_eq!(server.lock_commits(), 1, "the hook did it");
    assert_eq!(server.lock_files(), ["t1_lock.yaml", "t2_lock.yaml"]);
}

#[test]
fn a_server_that_takes_no_new_root_says_so() {
    let lab = Lab::new();
    let (a, server) = (lab.clone("a"), lab.server());
    let session = Session::start();
    claim(&a, &session, "1");
    claim(&a, &session, "2");
    server.git(&["config", "receive.denyNonFastForwards", "true"]);
    let tip = server.tip(BRANCH);
    let refused = a.lock(&["init", "--compact"]).go().expect_line("LOCK_ERROR:push_refused|no_rewind", 15);
    assert!(refused.stderr.contains("receive.denyNonFastForwards"), "{refused}");
    assert_eq!(server.tip(BRANCH), tip);
    claim(&a, &session, "3");
}

#[test]
fn without_a_remote() {
    let lab = Lab::empty();
    let a = lab.alone("a");
    let session = Session::start();
    let missing = a.lock(&["init", "--compact"]).go();
    missing.expect_line("LOCK_ERROR:branch_missing", 10);
    claim(&a, &session, "1");
    claim(&a, &session, "2");
    compact(&a);
    assert_eq!((a.lock_commits(), a.lock_files().len()), (1, 2));
    a.lock(&["refresh", "1"]).session(&session).go().expect("REFRESHED", 0);
    claim(&a, &session, "3");
}

#[test]
pub fn of_a_long_history() {
    let lab = Lab::empty();
    let a = lab.alone("a");
    let finding = |repo: &Repo<'_>| {
        let told = repo.human(&["doctor"]).go().stdout;
        let from = told.find("git aitask-lock init --compact")?;
        told[from..].lines().next().map(|command| command.trim_end().to_owned())
    };
    plant(&a, &[("README.md", Planted::File(b"x\n"))]);
    assert_eq!(finding(&a), None);
    let commit = |n| format!("commit {BRANCH}\ncommitter a <a@b> {n} +0000\ndata 2\nx\n");
    let first = format!("{}from {BRANCH}^0\n", commit(1));
    let stream: String = std::iter::once(first).chain((2..10_000).map(commit)).collect();
    a.git_with_input(&["fast-import", "--quiet"], stream.as_bytes());
    let command = finding(&a).unwrap();
    let compacted = remedies::paste(&a, &Session::start(), &command);
    assert!(compacted.stdout.contains("was compacted"), "{compacted}");
    assert_eq!((a.lock_commits(), finding(&a)), (1, None));
}

/// One write as the shell implementation does it: what it fetched, one commit on it, a plain push.
fn shell_claim(repo: &Repo<'_>, task: &str) {
    for _ in 0..200 {
        repo.git(&["fetch", "-q", "origin", BRANCH]);
        let tip = repo.git(&["rev-parse", "FETCH_HEAD"]);
        let content = format!("task_id: {task}\nlocked_by: shell@example.com\nlocked_at: 2026-02-24 14:30\n");
        let blob = repo.git_with_input(&["hash-object", "-w", "--stdin"], content.as_bytes());
        let listing = repo.git(&["ls-tree", &tip]);
        let listing = format!("{listing}\n100644 blob {blob}\tt{task}_lock.yaml\n");
        let tree = repo.git_with_input(&["mktree"], listing.trim_start().as_bytes());
        let commit = repo.git(&["commit-tree", "-m", "ait: Lock task", "-p", &tip, &tree]);
        if repo.try_git(&["push", "-q", "origin", &format!("{commit}:{BRANCH}")]).code() == 0 {
            return;
        }
    }
    panic!("200 tries lost");
}

#[test]
fn compactions_beside_claims_of_both_implementations_lose_nothing() {
    const CLAIMERS: usize = 8;
    const ROUNDS: usize = 4;
    let lab = Lab::new();
    let server = lab.server();
    let clones: Vec<Repo<'_>> = (0..4).map(|n| lab.clone(format!("c{n}"))).collect();
    let (shell, compactor) = (lab.clone("shell"), lab.clone("compactor"));
    claim(&compactor, &Session::start(), "0");
    let done = AtomicBool::new(false);
    let left = std::sync::atomic::AtomicUsize::new(CLAIMERS + 1);
    let finished = || {
        if left.fetch_sub(1, Ordering::SeqCst) == 1 {
            done.store(true, Ordering::SeqCst);
        }
    };
    let mut racers: Vec<Box<dyn FnOnce() + Send>> = Vec::new();
    for n in 0..CLAIMERS {
        let (clone, finished) = (&clones[n % clones.len()], &finished);
        racers.push(Box::new(move || {
            let session = Session::start();
            for round in 0..ROUNDS {
                let task = format!("{}", 100 + n * 10 + round);
                let claimed = clone.lock(&["claim", &task, "--timeout", "300s"]).session(&session).go();
                claimed.expect("CLAIMED", 0);
            }
            finished();
        }));
    }
    let (shell, finished) = (&shell, &finished);
    racers.push(Box::new(move || {
        for round in 0..ROUNDS {
            shell_claim(shell, &format!("{}", 900 + round));
        }
        finished();
    }));
    let (compactor, done) = (&compactor, &done);
    racers.push(Box::new(move || {
        while !done.load(Ordering::SeqCst) {
            compactor.lock(&["init", "--compact", "--timeout", "300s"]).go().expect("INITIALIZED", 0);
        }
    }));
    race(racers);
    let files = server.lock_files();
    assert_eq!(files.len(), 1 + (CLAIMERS + 1) * ROUNDS, "{files:?}");
    assert!(server.lock_commits() <= (CLAIMERS + 1) * ROUNDS, "it was compacted");
    server.git(&["fsck", "--strict"]);
}
