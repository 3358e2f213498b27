//! Orders that are more than one claim: force, expect, several tasks, the first free one, clean-up, lists.

use crate::support::planting::{Planted, plant};
use crate::support::scene::everywhere;
use crate::support::{BRANCH, OWNER, Session};

#[test]
fn force_takes_and_removes_any_lock_in_one_step() {
    everywhere(|scene| {
        let (first, second) = (Session::start(), Session::start());
        let claimed = scene.a.lock(&["claim", "42"]).session(&first).email("bob@example.com").go();
        let claimed = claimed.expect("CLAIMED", 0);
        let before = scene.tip();
        let forced = scene.b.lock(&["claim", "42", "--force"]).session(&second).go();
        let forced = forced.expect("FORCE_UNLOCKED", 0);
        assert_eq!(
            [forced.field(0), forced.field(1), forced.field(3)],
            ["bob@example.com", "42", claimed.field(2)]
        );
        assert_eq!(scene.arbiter.git(&["rev-parse", &format!("{BRANCH}^")]), before, "one commit, no gap");
        assert_eq!(scene.arbiter.lock_value("42", "locked_by").as_deref(), Some(OWNER));
        // The session that was displaced learns it at its next step.
        let displaced = |verb| scene.a.lock(&[verb, "42"]).session(&first).email("bob@example.com").go();
        displaced("refresh").expect("LOCK_FAILED", 1);
        displaced("release").expect("LOCK_FAILED", 1);
        let removed =
            scene.a.lock(&["release", "42", "--force"]).session(&first).email("bob@example.com").go();
        assert_eq!(removed.expect("FORCE_UNLOCKED", 0).field(0), OWNER);
        assert_eq!(scene.arbiter.lock_files(), [""; 0]);
        // Where force is not needed, the verdict says what was the case.
        scene.b.lock(&["claim", "42", "--force"]).session(&second).go().expect("CLAIMED", 0);
        scene.b.lock(&["claim", "42", "--force"]).session(&second).go().expect("REFRESHED", 0);
        scene.b.lock(&["release", "42", "--force"]).session(&second).go().expect("RELEASED", 0);
    });
}

#[test]
fn expect_refuses_when_the_lock_is_another_one() {
    everywhere(|scene| {
        let (first, second) = (Session::start(), Session::start());
        let claimed = scene.a.lock(&["claim", "42"]).session(&first).go().expect("CLAIMED", 0);
        let other = "0123456789abcdef0123456789abcdef";
        for verb in ["claim", "release"] {
            let wrong = |args: &[&str]| scene.b.lock(&[&[verb, "42"], args].concat()).session(&second);
            scene.refused(wrong(&["--expect", other]), &["HOLDER_CHANGED"], 27);
            let run = wrong(&["--force", "--expect", other]);
            let changed = scene.refused(run, &["HOLDER_CHANGED"], 27);
            assert_eq!([changed.field(1), changed.field(2)], [OWNER, claimed.field(2)]);
            let free = scene.b.lock(&[verb, "43", "--force", "--expect", other]).session(&second);
            scene.refused(free, &["HOLDER_CHANGED"], 27);
        }
        // The right id alone does not override the table; with force it does.
        let right =
            |args: &[&str]| scene.b.lock(&[&["claim", "42", "--expect", claimed.field(2)], args].concat());
        scene.refused(right(&[]).session(&second), &["LOCK_LIVE_HOLDER"], 13);
        right(&["--force"]).session(&second).go().expect("FORCE_UNLOCKED", 0);
    });
}

#[test]
fn several_tasks_are_all_or_nothing_in_one_commit() {
    everywhere(|scene| {
        let (first, second) = (Session::start(), Session::start());
        scene.a.lock(&["claim", "2"]).session(&first).go().expect("CLAIMED", 0);
        let before = scene.tip();
        let words = ["NOT_CLAIMED", "LOCK_LIVE_HOLDER", "NOT_CLAIMED"];
        scene.refused(scene.b.lock(&["claim", "1", "2", "3"]).session(&second), &words, 13);
        let claim = scene.b.lock(&["claim", "1", "3", "t3", "03"]).session(&second).go();
        claim.expect_all(&["CLAIMED", "CLAIMED"], 0);
        assert_eq!(scene.arbiter.git(&["rev-parse", &format!("{BRANCH}^")]), before, "one commit");
        assert_eq!(scene.arbiter.lock_files(), ["t1_lock.yaml", "t2_lock.yaml", "t3_lock.yaml"]);
        let words = ["NOT_RELEASED", "LOCK_LIVE_HOLDER"];
        scene.refused(scene.b.lock(&["release", "1", "2"]).session(&second), &words, 13);
        let release = scene.b.lock(&["release", "1", "3", "9"]).session(&second).go();
        release.expect_all(&["RELEASED", "RELEASED", "NOT_HELD"], 0);
        assert_eq!(scene.arbiter.lock_files(), ["t2_lock.yaml"]);
    });
}

#[test]
fn first_takes_the_first_free_one() {
    everywhere(|scene| {
        let (first, mut second) = (Session::start(), Session::start());
        scene.a.lock(&["claim", "1"]).session(&first).go().expect("CLAIMED", 0);
        let claim = || scene.b.lock(&["claim", "--first", "1", "2", "3"]).session(&second).go();
        assert_eq!(claim().expect("CLAIMED", 0).field(0), "2");
        assert_eq!(scene.arbiter.lock_files(), ["t1_lock.yaml", "t2_lock.yaml"]);
        assert_eq!(claim().expect("CLAIMED", 0).field(0), "3");
        let third = Session::start();
        let claim = || scene.b.lock(&["claim", "--first", "1", "2", "3"]).session(&third);
        scene.refused(claim(), &["LOCK_LIVE_HOLDER"; 3], 13);
        second.end();
        assert_eq!(claim().go().expect("RECLAIM_CRASH", 0).field(3), "2");
    });
}

#[test]
fn releasing_what_is_not_locked_is_done_already() {
    everywhere(|scene| {
        let session = Session::start();
        scene.a.lock(&["init"]).go().expect("INITIALIZED", 0);
        scene.refused(scene.b.lock(&["release", "42"]).session(&session), &["NOT_HELD"], 0);
        scene.refused(scene.b.lock(&["refresh", "42"]).session(&session), &["NOT_HELD"], 1);
        scene.refused(scene.b.lock(&["check", "42"]).session(&session), &["FREE"], 1);
    });
}

#[test]
fn only_a_claim_and_init_make_the_branch() {
    everywhere(|scene| {
        let session = Session::start();
        for args in [&["check", "42"][..], &["list"], &["refresh", "42"], &["release", "42"], &["cleanup"]] {
            scene.refused(scene.b.lock(args).session(&session), &["LOCK_ERROR"], 10);
        }
        assert_eq!(scene.arbiter.tip(BRANCH), None);
        let made = scene.b.lock(&["init"]).go().expect("INITIALIZED", 0);
        assert_eq!(made.field(2), "created");
        assert_eq!(scene.b.lock(&["init"]).go().expect("INITIALIZED", 0).field(2), "present");
        assert_eq!(scene.arbiter.lock_files(), [""; 0]);
    });
}

#[test]
fn cleanup_removes_archived_and_gone_locks_in_one_commit() {
    everywhere(|scene| {
        let (mut first, second) = (Session::start(), Session::start());
        let tasks = ["1", "2", "3", "4", "16_2"];
        scene.b.lock(&[&["claim"], &tasks[..]].concat()).session(&first).go().expect_all(&["CLAIMED"; 5], 0);
        scene.b.lock(&["claim", "9"]).session(&second).go().expect("CLAIMED", 0);
        let archive = scene.b.path.join("aitasks/archived/t16");
        std::fs::create_dir_all(&archive).unwrap();
        for name in ["aitasks/archived/t1_some_name.md", "aitasks/archived/t16/t16_2_child.md"] {
            std::fs::write(scene.b.path.join(name), "done\n").unwrap();
        }
        // What a live session holds stays, archived or not; its own session may clean up.
        scene.refused(scene.b.lock(&["cleanup"]).session(&second), &[], 0);
        let dry = scene.b.lock(&["cleanup", "--dry-run"]).session(&first);
        scene.refused(dry, &["WOULD_RELEASE"; 2], 0);
        let before = scene.tip();
        scene.b.lock(&["cleanup"]).session(&first).go().expect_all(&["RELEASED"; 2], 0);
        assert_eq!(scene.arbiter.git(&["rev-parse", &format!("{BRANCH}^")]), before, "one commit");
        scene.refused(scene.b.lock(&["cleanup", "--gone"]).session(&second), &[], 0);
        first.end();
        let list = scene.b.lock(&["list", "--gone"]).session(&second).go();
        assert_eq!(list.words().len(), 3, "{list}");
        scene.b.lock(&["cleanup", "--gone"]).session(&second).go().expect_all(&["RELEASED"; 3], 0);
        assert_eq!(scene.arbiter.lock_files(), ["t9_lock.yaml"]);
    });
}

#[test]
fn files_that_are_no_locks_stay() {
    everywhere(|scene| {
        let session = Session::start();
        let notes =
            [("README.md", Planted::File(b"hands off\n")), ("t1_lock.yml", Planted::File(b"no lock\n"))];
        plant(&scene.arbiter, &notes);
        scene.b.lock(&["claim", "42"]).session(&session).go().expect("CLAIMED", 0);
        assert_eq!(scene.arbiter.lock_files(), ["README.md", "t1_lock.yml", "t42_lock.yaml"]);
        let list = scene.b.lock(&["list"]).session(&session).go().expect("LOCKED", 0);
        assert_eq!(list.field(4), "42");
        scene.b.lock(&["release", "42"]).session(&session).go().expect("RELEASED", 0);
        assert_eq!(scene.arbiter.lock_files(), ["README.md", "t1_lock.yml"]);
        assert_eq!(scene.arbiter.lock_file("README.md"), "hands off");
    });
}

#[test]
fn list_says_who_holds_what() {
    everywhere(|scene| {
        let (first, second) = (Session::start(), Session::start());
        scene.a.lock(&["claim", "2", "10", "1"]).session(&first).go().expect_all(&["CLAIMED"; 3], 0);
        scene.b.lock(&["claim", "5"]).session(&second).go().expect("CLAIMED", 0);
        let list = scene.b.lock(&["list"]).session(&second).go().expect_all(&["LOCKED"; 4], 0);
        let tasks: Vec<&str> = list.stdout.lines().map(|line| line.split('|').nth(4).unwrap()).collect();
        assert_eq!(tasks, ["1", "2", "5", "10"], "sorted as people count");
        let mine = scene.b.lock(&["list", "--mine"]).session(&second).go().expect("LOCKED", 0);
        assert_eq!(mine.field(4), "5");
        scene.b.lock(&["list", "--gone"]).session(&second).go().expect_all(&[], 0);
    });
}
