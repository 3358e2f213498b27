//! Every row of the table "who gets a task lock", by real processes, on a remote and without one.
//! What is refused changes nothing at all.

use crate::support::fingerprint::Fingerprint;
use crate::support::planting::{hostname, plant_file, record};
use crate::support::scene::everywhere;
use crate::support::{BRANCH, OWNER, Session};

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
