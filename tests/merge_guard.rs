//! A guard that a killed reclaim or recovery left: taken down where its maker is provably gone, and left
//! alone where that cannot be told.

use std::path::PathBuf;

use crate::merge_ladder::{paste, printed};
use crate::merge_mutex::{merge, reservation, root};
use crate::support::actors::start_token;
use crate::support::{Lab, Repo, Session};

const SAID: &str = "its guard any more, so it was taken down";

fn guard(repo: &Repo<'_>) -> PathBuf {
    reservation(repo).with_file_name("merge.guard")
}

/// The files that name who put the guard up.
fn makers(repo: &Repo<'_>) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(guard(repo).parent().unwrap()).unwrap();
    let files = entries.map(|entry| entry.unwrap().path());
    files.filter(|path| path.to_string_lossy().contains("merge.guard-by-")).collect()
}

/// A reservation for task 42 whose session is gone, and the guard of a reclaim that was killed.
fn leaked(repo: &Repo<'_>) {
    let (mut first, second) = (Session::start(), Session::start());
    merge(repo, &["claim", "42"]).session(&first).go().expect("MERGE_CLAIMED", 0);
    first.end();
    let reclaim = merge(repo, &["claim", "43"]).session(&second);
    assert_eq!(reclaim.env("AITASK_LOCK_FAILPOINT", "guard-up").go().code(), 137);
    assert!(guard(repo).is_dir());
    assert_eq!(makers(repo).len(), 1);
}

/// The next command takes the guard down, says so once, and leaves nothing of it.
fn heals(repo: &Repo<'_>) {
    let session = Session::start();
    let claimed = merge(repo, &["claim", "99", "--wait", "0"]).session(&session).go();
    let claimed = claimed.expect("MERGE_CLAIMED", 0);
    assert_eq!(claimed.stderr.matches(SAID).count(), 1, "{claimed}");
    let released = merge(repo, &["release", "99"]).session(&session).go().expect("RELEASED", 0);
    assert!(!released.stderr.contains(SAID), "{released}");
    assert_eq!(merge(repo, &["status"]).go().line(), "FREE");
    assert!(!guard(repo).exists());
    assert_eq!(makers(repo), Vec::<PathBuf>::new());
}

#[test]
fn one_whose_maker_is_gone_is_taken_down_by_the_next_command() {
    let lab = Lab::empty();
    let repo = root(&lab, "a b'c");
    leaked(&repo);
    // Whoever only looks names it, and changes nothing.
    let status = repo.human(&["merge", "status"]).go();
    assert!(status.stderr.contains("takes its guard down") && !status.stderr.contains("rmdir"), "{status}");
    let dry = merge(&repo, &["force-release"]).go().expect("DRY_RUN", 0);
    assert_eq!([dry.field(6), dry.field(7)], ["guard", ""], "{dry}");
    assert!(guard(&repo).is_dir());
    heals(&repo);

    leaked(&repo);
    let commands = printed(&repo);
    assert_eq!(commands.len(), 1, "{commands:?}");
    let done = paste(&repo, &format!("{} --porcelain", commands[0])).expect("FORCE_RELEASED", 0);
    assert_eq!(done.stderr.matches(SAID).count(), 1, "{done}");
    assert_eq!(merge(&repo, &["status"]).go().line(), "FREE");
    assert!(!guard(&repo).exists());
}

/// Killed while it is taken down, or before the name of its maker is gone.
#[test]
fn taking_it_down_is_killed_at_every_step() {
    let lab = Lab::empty();
    let repo = root(&lab, "a");
    for point in ["guard-left", "guard-healed"] {
        leaked(&repo);
        let session = Session::start();
        let claim = merge(&repo, &["claim", "44"]).session(&session);
        assert_eq!(claim.env("AITASK_LOCK_FAILPOINT", point).go().code(), 137, "{point}");
        assert_eq!(guard(&repo).exists(), point == "guard-left");
        let claimed = merge(&repo, &["claim", "44"]).session(&session).go().expect("MERGE_CLAIMED", 0);
        assert_eq!(claimed.stderr.contains(SAID), point == "guard-left", "{claimed}");
        merge(&repo, &["release", "44"]).session(&session).go().expect("RELEASED", 0);
        assert_eq!(merge(&repo, &["status"]).go().line(), "FREE", "{point}");
        assert_eq!(makers(&repo), Vec::<PathBuf>::new(), "{point}");
    }
}

/// Neither a claim nor a forced release gets past it; both say what takes it away, in every form.
fn is_left_alone(repo: &Repo<'_>, case: &str, plant: &str) {
    let session = Session::start();
    let planted = |run: crate::support::Run| run.env("AITASK_LOCK_FAILPOINT", plant).session(&session).go();
    let busy = planted(merge(repo, &["claim", "99", "--wait", "0"])).expect("BUSY", 21);
    let way_out = busy.field(5).to_owned();
    assert_eq!(busy.field(1), "guard", "{case}: {busy}");
    assert!(way_out.starts_with("rmdir ") || way_out.starts_with("mv "), "{case}: {busy}");
    assert!(!busy.stderr.contains(SAID), "{case}: {busy}");
    let json = planted(repo.human(&["merge", "claim", "99", "--wait", "0", "--json"]));
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let found = json["results"][0]["remove_guard"].as_str().unwrap_or_default();
    assert!(found.starts_with("rmdir ") || found.starts_with("mv "), "{case}: {json}");
    let armed = printed(repo).pop().unwrap();
    let refused = paste(repo, &format!("AITASK_LOCK_FAILPOINT={plant} {armed} --porcelain"));
    let refused = refused.expect_line("RECOVERY_FAILED:guard|42|", 29);
    assert_eq!(refused.field(3), way_out, "{case}: {refused}");
    assert!(guard(repo).is_dir(), "{case}");
}

#[test]
fn one_that_cannot_be_told_of_is_left_alone() {
    let lab = Lab::empty();
    let repo = root(&lab, "a");
    leaked(&repo);
    let maker = makers(&repo).remove(0);
    let text = std::fs::read_to_string(&maker).unwrap();
    let line = |key: &str| text.lines().find(|line| line.trim_start().starts_with(key)).unwrap().to_owned();
    let me = std::process::id();
    let alive = text
        .replace(&line("pid:"), &format!("pid: {me}"))
        .replace(&line("pid_starttime:"), &format!("pid_starttime: '{}'", start_token(me)));
    let elsewhere = text.replace(&line("pid_namespace:"), "  pid_namespace: 1");
    for (case, changed) in
        [("alive", alive.as_str()), ("elsewhere", &elsewhere), ("empty", ""), ("garbage", "\0: [")]
    {
        assert_ne!(changed, text, "{case}");
        std::fs::write(&maker, changed).unwrap();
        is_left_alone(&repo, case, "");
        // One of whom nothing is known is enough.
        let other = maker.with_file_name("merge.guard-by-1-other.yaml");
        std::fs::rename(&maker, &other).unwrap();
        std::fs::write(&maker, &text).unwrap();
        is_left_alone(&repo, case, "");
        std::fs::remove_file(&other).unwrap();
    }
    std::fs::remove_file(&maker).unwrap();
    is_left_alone(&repo, "without a file", "");
    std::fs::create_dir(&maker).unwrap();
    is_left_alone(&repo, "a folder", "");
    std::fs::remove_dir(&maker).unwrap();
    std::fs::write(&maker, &text).unwrap();
    std::fs::write(guard(&repo).join("theirs"), "").unwrap();
    is_left_alone(&repo, "not empty", "");
    std::fs::remove_file(guard(&repo).join("theirs")).unwrap();
    // A lock that is granted to everybody proves nothing.
    is_left_alone(&repo, "a lock that pretends", "flock-pretends");
    heals(&repo);
}

#[test]
fn a_dry_run_names_it_behind_a_living_holder_too() {
    let lab = Lab::empty();
    let repo = root(&lab, "a");
    let session = Session::start();
    merge(&repo, &["claim", "42"]).session(&session).go().expect("MERGE_CLAIMED", 0);
    std::fs::create_dir(guard(&repo)).unwrap();
    let dry = merge(&repo, &["force-release"]).go().expect("DRY_RUN", 0);
    assert_eq!(dry.field(6), "guard", "{dry}");
    let command = dry.field(7).to_owned();
    let human = repo.human(&["merge", "force-release"]).go();
    assert!(human.stdout.contains(&format!("To take it away: {command}\n")), "{human}");
    merge(&repo, &["release", "42"]).session(&session).go().expect("RELEASED", 0);
    assert_eq!(merge(&repo, &["force-release"]).go().line(), "FREE:guard");
    assert_eq!(paste(&repo, &command).code(), 0, "{dry}");
    assert_eq!(merge(&repo, &["status"]).go().line(), "FREE");
}
