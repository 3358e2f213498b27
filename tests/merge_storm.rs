//! Killed at every step, and many at once: never two inside, and always a way out, without a hand at the guard.

use std::io::ErrorKind;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::merge_ladder::{paste, printed};
use crate::merge_mutex::{merge, root};
use crate::support::{Lab, Output, Repo, Session};

/// Gets the mutex into use again by doing what is printed, in a bounded number of steps.
fn climb(repo: &Repo<'_>) {
    let session = Session::start();
    let mut said = Vec::new();
    for _ in 0..6 {
        let human = repo.human(&["merge", "claim", "99", "--wait", "0"]).session(&session).go().no_panic();
        if human.code() == 0 {
            merge(repo, &["release", "99"]).session(&session).go().expect("RELEASED", 0);
            assert_eq!(merge(repo, &["status"]).go().line(), "FREE");
            return;
        }
        let hint = human.stderr.lines().rev().find_map(|line| line.strip_prefix("hint: "));
        let hint = hint.unwrap_or_else(|| panic!("no way out is printed\n{human}")).to_owned();
        said.push(human.to_string());
        for command in printed(repo) {
            said.push(paste(repo, &command).to_string());
        }
        assert!(!said.concat().contains("rmdir") && !hint.contains("rmdir"), "{}", said.join("\n"));
    }
    panic!("the ladder does not end\n{}", said.join("\n"));
}

#[cfg(feature = "failpoints")]
mod crashes {
    use super::*;
    use crate::support::actors::{state, wait_until};

    const KILLED: i32 = 137;

    fn killed_at(run: crate::support::Run, point: &str) {
        let output = run.env("AITASK_LOCK_FAILPOINT", point).go();
        assert_eq!(output.code(), KILLED, "{point} was not reached\n{output}");
    }

    /// The mutex is free, or held with a complete record: never anything in between.
    fn whole(repo: &Repo<'_>, point: &str) {
        let status = merge(repo, &["status"]).go();
        assert_eq!(status.code(), 0, "{point}: {status}");
        let known = matches!(status.word(), "FREE") || status.field(1).parse::<u32>().is_ok();
        assert!(known, "{point}: {status}");
    }

    #[test]
    fn claim_is_killed_at_every_step() {
        let points = ["publish-flocked", "publish-written", "publish-done", "claim-taken"];
        for point in points {
            let lab = Lab::empty();
            let repo = root(&lab, "a");
            let mut session = Session::start();
            killed_at(merge(&repo, &["claim", "42"]).session(&session), point);
            whole(&repo, point);
            // The session is still there: its next command goes on.
            merge(&repo, &["claim", "42"]).session(&session).go().expect("MERGE_CLAIMED", 0);
            merge(&repo, &["release", "42"]).session(&session).go().expect("RELEASED", 0);
            killed_at(merge(&repo, &["claim", "42"]).session(&session), point);
            session.end();
            climb(&repo);
        }
    }

    #[test]
    fn a_waiter_is_killed_with_its_ticket() {
        let lab = Lab::empty();
        let repo = root(&lab, "a");
        let (first, second) = (Session::start(), Session::start());
        merge(&repo, &["claim", "42"]).session(&first).go().expect("MERGE_CLAIMED", 0);
        killed_at(merge(&repo, &["claim", "43"]).session(&second), "queue-published");
        killed_at(merge(&repo, &["claim", "43"]).session(&second), "publish-written");
        merge(&repo, &["release", "42"]).session(&first).go().expect("RELEASED", 0);
        climb(&repo);
    }

    /// A command that is stopped while it changes the mutex is named, with what lets it go on.
    #[test]
    fn a_command_that_is_stopped_inside_is_named() {
        let lab = Lab::empty();
        let repo = root(&lab, "a");
        let (first, second) = (Session::start(), Session::start());
        let claim = merge(&repo, &["claim", "42"]).session(&first);
        let mut stopped = claim.env("AITASK_LOCK_FAILPOINT", "publish-done:stop").into_command();
        let mut stopped = stopped.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_until("it is stopped", || state(stopped.id()) == Some('T'));
        let other = repo.human(&["merge", "claim", "43", "--timeout", "1"]).session(&second).go();
        assert_eq!(other.code(), 12, "{other}");
        merge(&repo, &["status"]).go().expect("HELD", 0);
        let command = other.stderr.lines().find_map(|line| line.split_once(": kill ")).unwrap().1;
        assert_eq!(paste(&repo, &format!("kill {command}")).code(), 0);
        assert!(stopped.wait().unwrap().success());
        merge(&repo, &["release", "42"]).session(&first).go().expect("RELEASED", 0);
        climb(&repo);
    }

    #[test]
    fn release_is_killed_at_every_step() {
        for point in ["remove-flocked", "remove-done"] {
            let lab = Lab::empty();
            let repo = root(&lab, "a");
            let mut session = Session::start();
            merge(&repo, &["claim", "42"]).session(&session).go().expect("MERGE_CLAIMED", 0);
            killed_at(merge(&repo, &["release", "42"]).session(&session), point);
            whole(&repo, point);
            let again = merge(&repo, &["release", "42"]).session(&session).go();
            assert_eq!(again.code(), 0, "{point}: {again}");
            session.end();
            climb(&repo);
        }
    }

    #[test]
    fn reclaim_is_killed_at_every_step() {
        let points = [
            "guard-named",
            "guard-up",
            "reclaim-judged",
            "remove-flocked",
            "remove-done",
            "publish-flocked",
            "publish-written",
            "publish-done",
            "reclaim-published",
            "guard-down",
            "guard-unnamed",
            "claim-taken",
        ];
        for point in points {
            let lab = Lab::empty();
            let repo = root(&lab, "a");
            let (mut first, mut second) = (Session::start(), Session::start());
            merge(&repo, &["claim", "42"]).session(&first).go().expect("MERGE_CLAIMED", 0);
            first.end();
            killed_at(merge(&repo, &["claim", "43"]).session(&second), point);
            whole(&repo, point);
            second.end();
            climb(&repo);
        }
    }

    #[test]
    fn force_release_is_killed_at_every_step() {
        let points = [
            "guard-named",
            "guard-up",
            "recovery-judged",
            "recovery-rescued",
            "recovery-remedied",
            "remove-flocked",
            "remove-done",
            "recovery-removed",
            "guard-down",
            "guard-unnamed",
        ];
        for point in points {
            let lab = Lab::empty();
            let repo = root(&lab, "a");
            let mut session = Session::start();
            merge(&repo, &["claim", "42"]).session(&session).go().expect("MERGE_CLAIMED", 0);
            assert_eq!(repo.try_git(&["merge", "t42"]).code(), 1);
            std::fs::write(repo.path.join("file"), "half resolved").unwrap();
            session.end();
            let armed = printed(&repo).pop().unwrap();
            let killed = paste(&repo, &format!("AITASK_LOCK_FAILPOINT={point} {armed}"));
            assert_eq!(killed.code(), KILLED, "{point} was not reached\n{killed}");
            whole(&repo, point);
            climb(&repo);
            let rescued = repo.git(&["for-each-ref", "--format=%(objectname)", "refs/aitask-lock/rescued/"]);
            let kept =
                |commit: &str| repo.git(&["cat-file", "blob", &format!("{commit}:file")]) == "half resolved";
            assert!(rescued.lines().any(kept), "{point}: nothing is lost");
        }
    }
}

/// A cheap source of different numbers; what matters is only that the workers differ.
pub struct Dice(pub u64);

impl Dice {
    /// A number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// Where a reclaim is killed.
const POINTS: [&str; 6] =
    ["guard-named", "guard-up", "remove-done", "publish-written", "reclaim-published", "guard-unnamed"];

/// One worker: sessions that claim, work inside, and give back; some of them are killed. With a lock that
/// pretends nothing heals, and only exclusion is asked for.
fn worker(repo: &Repo<'_>, number: u64, until: Instant, entered: &AtomicUsize, pretends: bool) {
    let mut dice = Dice(number);
    let marker = repo.path.join(".git/inside");
    let task = (number + 1).to_string();
    while Instant::now() < until {
        let mut session = Session::start();
        let point = match POINTS.get(usize::try_from(dice.below(30)).unwrap()) {
            _ if pretends => "flock-pretends",
            Some(point) => point,
            None => "",
        };
        let claim = merge(repo, &["claim", &task, "--wait", "5"]).session(&session);
        let claim = claim.env("AITASK_LOCK_FAILPOINT", point).into_command();
        let mut claim = { claim }.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        if dice.below(6) == 0 {
            // The command is killed on its way, or just after.
            std::thread::sleep(Duration::from_millis(dice.below(60)));
            let _ended_already = claim.kill();
        }
        let output = Output::from(claim.wait_with_output().unwrap());
        match output.code() {
            0 => {
                match std::fs::OpenOptions::new().write(true).create_new(true).open(&marker) {
                    Ok(_) => {}
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => panic!("two are inside"),
                    Err(error) => panic!("{error}"),
                }
                entered.fetch_add(1, Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(dice.below(20)));
                std::fs::remove_file(&marker).unwrap();
                if dice.below(3) != 0 {
                    let release = merge(repo, &["release", &task]).session(&session);
                    let plant = if pretends { "flock-pretends" } else { "" };
                    release.env("AITASK_LOCK_FAILPOINT", plant).go().expect("RELEASED", 0);
                }
            }
            21 if !pretends => assert!(!output.line().contains("|guard"), "{output}"),
            21 | 137 => {}
            // Files that are being written are swept by who thinks that nobody else is there.
            128 if pretends => assert_eq!(output.line(), "LOCK_ERROR:not_writable", "{output}"),
            _ => panic!("{output}"),
        }
        session.end();
    }
}

/// How often somebody got in.
fn storm(repo: &Repo<'_>, pretends: bool) -> usize {
    let until = Instant::now() + Duration::from_secs(6);
    let entered = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for number in 0..12 {
            let entered = &entered;
            scope.spawn(move || worker(repo, number, until, entered, pretends));
        }
    });
    entered.into_inner()
}

#[test]
fn in_a_storm_never_two_are_inside() {
    let lab = Lab::empty();
    let repo = root(&lab, "a");
    let entered = storm(&repo, false);
    assert!(entered > 0, "somebody got in");
    println!("{entered} times inside");
    climb(&repo);
}

/// Where the lock is granted to everybody, the guard and the publication still keep others out.
#[cfg(feature = "failpoints")]
#[test]
fn with_a_lock_that_pretends_never_two_are_inside() {
    let lab = Lab::empty();
    let repo = root(&lab, "a");
    let entered = storm(&repo, true);
    assert!(entered > 0, "somebody got in");
    println!("{entered} times inside");
}
