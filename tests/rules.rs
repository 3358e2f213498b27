//! Every row of the table "who gets a task lock", by real processes, on a remote and without one.
//! What is refused changes nothing at all.

use crate::support::fingerprint::Fingerprint;
use crate::support::planting::{Planted, hostname, plant, plant_file, record};
use crate::support::{BRANCH, Lab, OWNER, Output, Repo, Run, Session};

/// Where the lock branch lives.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// On a server; the two repositories are clones of it.
    Remote,
    /// In the repository; the second one is a linked worktree.
    Local,
}

/// Two places to work in, and the repository that decides.
struct Scene<'lab> {
    a: Repo<'lab>,
    b: Repo<'lab>,
    arbiter: Repo<'lab>,
}

fn scene(lab: &Lab, place: Place) -> Scene<'_> {
    let scene = match place {
        Place::Remote => Scene { a: lab.clone("a"), b: lab.clone("b"), arbiter: lab.server() },
        Place::Local => {
            let a = lab.alone("a");
            Scene { b: a.worktree("b"), arbiter: a.clone(), a }
        }
    };
    // Something staged, something changed, something new, something ignored: all of it stays.
    std::fs::write(scene.b.path.join("staged"), "staged\n").unwrap();
    scene.b.git(&["add", "staged"]);
    std::fs::write(scene.b.path.join("file"), "changed\n").unwrap();
    std::fs::write(scene.b.path.join(".gitignore"), "ignored\n").unwrap();
    std::fs::write(scene.b.path.join("ignored"), "ignored\n").unwrap();
    scene
}

/// Runs a test in both places.
fn everywhere(test: impl Fn(&Scene<'_>)) {
    for place in [Place::Remote, Place::Local] {
        let lab = Lab::new();
        println!("{place:?}");
        test(&scene(&lab, place));
    }
}

impl Scene<'_> {
    /// Runs a command in `b` that has to be refused, and to change nothing.
    #[track_caller]
    fn refused(&self, run: Run, words: &[&str], code: i32) -> Output {
        let before = (Fingerprint::of(&self.b), Fingerprint::of(&self.arbiter));
        let output = run.go().expect_all(words, code);
        Fingerprint::of(&self.b).assert_same(&before.0, "a refusal in the clone");
        Fingerprint::of(&self.arbiter).assert_same(&before.1, "a refusal on the lock branch");
        output
    }

    fn tip(&self) -> String {
        self.arbiter.tip(BRANCH).unwrap()
    }
}

#[test]
fn nobody_holds_it_claimed() {
    everywhere(|scene| {
        let session = Session::start();
        let before = Fingerprint::of(&scene.b).without_lock_branch();
        let claimed = scene.b.lock(&["claim", "42"]).session(&session).go().expect("CLAIMED", 0);
        assert_eq!([claimed.field(0), claimed.field(1)], ["42", OWNER]);
        assert_eq!(claimed.field(3), session.pid().to_string());
        Fingerprint::of(&scene.b).without_lock_branch().assert_same(&before, "a claim");
        let value = |key| scene.arbiter.lock_value("42", key);
        assert_eq!(value("task_id").as_deref(), Some("42"));
        assert_eq!(value("locked_by").as_deref(), Some(OWNER));
        assert_eq!(value("hostname"), Some(hostname()));
        assert_eq!(value("pid"), Some(session.pid().to_string()));
        assert_eq!(value("pid_starttime"), Some(session.token()));
        assert_eq!(value("pid_starttime_kind").as_deref(), Some("proc"));
        assert_eq!(value("lock_id").as_deref(), Some(claimed.field(2)));
        let subject = scene.arbiter.git(&["log", "-1", "--format=%s", BRANCH]);
        assert_eq!(subject, "ait: Lock task t42 for alice@example.com");
    });
}

#[test]
fn a_different_owner_refused_whether_its_session_lives_or_not() {
    everywhere(|scene| {
        let (mut first, second) = (Session::start(), Session::start());
        let claimed = scene.a.lock(&["claim", "42"]).session(&first).email("bob@example.com").go();
        let claimed = claimed.expect("CLAIMED", 0);
        let claim = || scene.b.lock(&["claim", "42"]).session(&second);
        let refused = scene.refused(claim(), &["LOCK_FAILED"], 1);
        assert_eq!([refused.field(0), refused.field(2)], ["bob@example.com", &hostname()]);
        assert_eq!([refused.field(3), refused.field(4)], ["42", claimed.field(2)]);
        first.end();
        scene.refused(claim(), &["LOCK_FAILED"], 1);
        scene.refused(scene.b.lock(&["release", "42"]).session(&second), &["LOCK_FAILED"], 1);
        scene.refused(scene.b.lock(&["refresh", "42"]).session(&second), &["LOCK_FAILED"], 1);
    });
}

#[test]
fn a_different_owner_on_another_host_refused() {
    everywhere(|scene| {
        let text =
            "task_id: 42\nlocked_by: bob@example.com\nlocked_at: 2026-08-18 18:36\nhostname: elsewhere\n";
        plant_file(&scene.arbiter, "t42_lock.yaml", text);
        let session = Session::start();
        for verb in ["claim", "release", "refresh"] {
            let refused = scene.refused(scene.b.lock(&[verb, "42"]).session(&session), &["LOCK_FAILED"], 1);
            assert!(refused.line().starts_with("LOCK_FAILED:bob@example.com|2026-08-18 18:36|elsewhere|42|"));
        }
    });
}

#[test]
fn this_same_session_refreshed_silently() {
    everywhere(|scene| {
        let session = Session::start();
        let claimed = scene.a.lock(&["claim", "42"]).session(&session).go().expect("CLAIMED", 0);
        let tip = scene.tip();
        let again = scene.b.lock(&["claim", "42"]).session(&session).go().expect("REFRESHED", 0);
        assert_eq!(again.field(2), claimed.field(2), "the lock keeps its id");
        let refreshed = scene.b.lock(&["refresh", "42"]).session(&session).go().expect("REFRESHED", 0);
        assert_eq!(refreshed.field(2), claimed.field(2));
        assert_eq!(scene.tip(), tip, "a young lock is only verified");
        assert_eq!(scene.arbiter.lock_value("42", "refreshed_at"), None);
        scene.b.git(&["config", "aitask-lock.refreshInterval", "0s"]);
        let renewed = scene.b.lock(&["refresh", "42"]).session(&session).go().expect("REFRESHED", 0);
        assert_eq!(renewed.field(2), claimed.field(2));
        assert_eq!(scene.arbiter.lock_value("42", "lock_id").as_deref(), Some(claimed.field(2)));
        assert!(scene.arbiter.lock_value("42", "refreshed_at").is_some());
        assert_eq!(scene.arbiter.git(&["rev-parse", &format!("{BRANCH}^")]), tip, "one commit");
        scene.b.lock(&["release", "42"]).session(&session).go().expect("RELEASED", 0);
        assert_eq!(scene.arbiter.lock_files(), [""; 0]);
    });
}

#[test]
fn another_session_alive_refused() {
    everywhere(|scene| {
        let (first, second) = (Session::start(), Session::start());
        scene.a.lock(&["claim", "42"]).session(&first).go().expect("CLAIMED", 0);
        for verb in ["claim", "refresh", "release"] {
            let refused =
                scene.refused(scene.b.lock(&[verb, "42"]).session(&second), &["LOCK_LIVE_HOLDER"], 13);
            assert_eq!([refused.field(0), refused.field(2)], [OWNER, &hostname()]);
            assert_eq!([refused.field(3), refused.field(4)], [&first.pid().to_string(), "42"]);
        }
        // The first session is told the same truth.
        scene.a.lock(&["check", "42", "--mine"]).session(&first).go().expect("LOCKED", 0);
        scene.refused(scene.b.lock(&["check", "42", "--mine"]).session(&second), &["LOCKED"], 1);
    });
}

#[test]
fn another_session_unknown_refused() {
    everywhere(|scene| {
        let (first, second) = (Session::start(), Session::start());
        let text = record("42", &first, &[("pid_starttime", ""), ("pid_starttime_kind", "")]);
        plant_file(&scene.arbiter, "t42_lock.yaml", &text);
        for verb in ["claim", "refresh", "release"] {
            let run = scene.b.lock(&[verb, "42"]).session(&second);
            let refused = scene.refused(run, &["LOCK_UNVERIFIABLE_HOLDER"], 14);
            assert_eq!([refused.field(0), refused.field(2)], [OWNER, &hostname()]);
            assert_eq!(refused.field(6), "bare-pid");
        }
    });
}

#[test]
fn a_session_that_cannot_name_its_process_is_never_the_same() {
    everywhere(|scene| {
        let first = Session::start();
        scene.a.lock(&["claim", "42"]).session(&first).go().expect("CLAIMED", 0);
        scene.refused(scene.b.lock(&["claim", "42"]), &["LOCK_LIVE_HOLDER"], 13);
        scene.b.lock(&["claim", "43"]).go().expect("CLAIMED", 0);
        assert_eq!(scene.arbiter.lock_value("43", "pid"), None);
        scene.b.lock(&["claim", "43"]).go().expect("RECLAIM_STATUS", 0);
        scene.refused(scene.b.lock(&["refresh", "43"]), &["NOT_HELD"], 1);
    });
}

#[test]
fn a_session_that_is_provably_gone_reclaimed() {
    everywhere(|scene| {
        let (mut first, second) = (Session::start(), Session::start());
        let claimed = scene.a.lock(&["claim", "42"]).session(&first).go().expect("CLAIMED", 0);
        first.end();
        scene.refused(scene.b.lock(&["refresh", "42"]).session(&second), &["NOT_HELD"], 1);
        let reclaimed = scene.b.lock(&["claim", "42"]).session(&second).go().expect("RECLAIM_CRASH", 0);
        assert_eq!([reclaimed.field(1), reclaimed.field(2)], [&hostname(), &first.pid().to_string()]);
        assert_eq!([reclaimed.field(3), reclaimed.field(5)], ["42", claimed.field(2)]);
        assert_ne!(reclaimed.field(4), claimed.field(2), "a new claim has a new id");
        assert_eq!(scene.arbiter.lock_value("42", "pid"), Some(second.pid().to_string()));
    });
}

#[test]
fn released_for_a_session_that_is_gone() {
    everywhere(|scene| {
        let (mut first, second) = (Session::start(), Session::start());
        scene.a.lock(&["claim", "42"]).session(&first).go().expect("CLAIMED", 0);
        first.end();
        let released = scene.b.lock(&["release", "42"]).session(&second).go().expect("RELEASED", 0);
        assert_eq!(released.field(3), "gone");
        assert_eq!(scene.arbiter.lock_files(), [""; 0]);
    });
}

#[test]
fn another_host_of_mine_reclaimed() {
    everywhere(|scene| {
        let session = Session::start();
        let text =
            format!("task_id: 42\nlocked_by: {OWNER}\nlocked_at: 2026-08-18 18:36\nhostname: elsewhere\n");
        let pid =
            text.clone() + &format!("pid: {}\npid_starttime: 1\npid_starttime_kind: proc\n", session.pid());
        for text in [text, pid] {
            plant_file(&scene.arbiter, "t42_lock.yaml", &text);
            let reclaimed = scene.b.lock(&["claim", "42"]).session(&session).go().expect("LOCK_RECLAIM", 0);
            assert_eq!([reclaimed.field(0), reclaimed.field(2)], ["elsewhere", &hostname()]);
            plant_file(&scene.arbiter, "t42_lock.yaml", &text);
            scene.refused(scene.b.lock(&["refresh", "42"]).session(&session), &["NOT_HELD"], 1);
            let released = scene.b.lock(&["release", "42"]).session(&session).go().expect("RELEASED", 0);
            assert_eq!(released.field(3), "own");
        }
    });
}

#[test]
fn a_lock_that_never_recorded_a_process_reclaimed() {
    everywhere(|scene| {
        let session = Session::start();
        for pid in ["", "pid: -\npid_starttime: -\npid_starttime_kind: none\n", "pid: 0\npid_starttime: -\n"]
        {
            let host = hostname();
            let text = format!(
                "task_id: 42\nlocked_by: {OWNER}\nlocked_at: 2026-08-18 18:36\nhostname: {host}\n{pid}"
            );
            plant_file(&scene.arbiter, "t42_lock.yaml", &text);
            let reclaimed = scene.b.lock(&["claim", "42"]).session(&session).go();
            reclaimed.expect_line(&format!("RECLAIM_STATUS:2026-08-18 18:36|{host}|-|42|"), 0);
        }
    });
}

#[test]
fn a_record_that_cannot_be_read_refused() {
    everywhere(|scene| {
        let session = Session::start();
        plant_file(&scene.arbiter, "t42_lock.yaml", "");
        for verb in ["claim", "refresh", "release"] {
            let refused = scene.refused(scene.b.lock(&[verb, "42"]).session(&session), &["LOCK_FAILED"], 1);
            assert_eq!([refused.field(0), refused.field(1), refused.field(2)], ["unknown"; 3]);
        }
        scene.b.lock(&["check", "42"]).session(&session).go().expect("LOCKED", 0);
    });
}

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
fn a_session_displaced_under_one_owner_learns_it() {
    everywhere(|scene| {
        let (first, second) = (Session::start(), Session::start());
        scene.b.lock(&["claim", "42"]).session(&first).go().expect("CLAIMED", 0);
        scene.a.lock(&["claim", "42", "--force"]).session(&second).go().expect("FORCE_UNLOCKED", 0);
        scene.refused(scene.b.lock(&["refresh", "42"]).session(&first), &["LOCK_LIVE_HOLDER"], 13);
        scene.refused(scene.b.lock(&["release", "42"]).session(&first), &["LOCK_LIVE_HOLDER"], 13);
        scene.refused(scene.b.lock(&["check", "42", "--mine"]).session(&first), &["LOCKED"], 1);
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
