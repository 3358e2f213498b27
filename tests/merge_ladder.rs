//! From a lost session to a usable mutex, by copying what the program prints, and nothing else.

use crate::merge_mutex::{merge, reservation, root};
use crate::support::fingerprint::Fingerprint;
use crate::support::{Lab, Output, Repo, Session};

/// Runs a printed command as a person would: pasted into a shell.
pub fn paste(repo: &Repo<'_>, command: &str) -> Output {
    crate::support::printed::ran(command);
    let mut shell = repo.lab.command("bash");
    shell.current_dir(&repo.path).args(["-c", command]);
    Output::of(shell)
}

/// The commands of a dry run, in their order.
pub fn printed(repo: &Repo<'_>) -> Vec<String> {
    commands(&repo.human(&["merge", "force-release"]).go())
}

/// The same, of a dry run that took place.
pub fn commands(dry: &Output) -> Vec<String> {
    assert_eq!(dry.code(), 0, "{dry}");
    let (_, commands) = dry.stdout.split_once("To do it, run:\n").unwrap_or_else(|| panic!("{dry}"));
    commands.lines().map(|line| line.trim().to_owned()).collect()
}

/// The command of the last hint.
fn hinted(output: &Output) -> String {
    let line =
        output.stderr.lines().rfind(|line| line.starts_with("hint: ")).unwrap_or_else(|| panic!("{output}"));
    line.rsplit(": ").next().unwrap().to_owned()
}

/// A reservation for task 42 whose session is gone.
fn lost(repo: &Repo<'_>, before_the_end: impl FnOnce()) {
    let mut session = Session::start();
    merge(repo, &["claim", "42"]).session(&session).go().expect("MERGE_CLAIMED", 0);
    before_the_end();
    session.end();
}

/// Whether the next session gets the mutex at once.
fn is_usable(repo: &Repo<'_>) {
    let session = Session::start();
    merge(repo, &["claim", "43", "--wait", "0"]).session(&session).go().expect("MERGE_CLAIMED", 0);
    merge(repo, &["release", "43"]).session(&session).go().expect("RELEASED", 0);
}

#[test]
fn a_half_resolved_conflict_comes_back_byte_for_byte() {
    let lab = Lab::empty();
    let repo = root(&lab, "a b\nc");
    lost(&repo, || {
        assert_eq!(repo.try_git(&["merge", "t42"]).code(), 1);
        std::fs::write(repo.path.join("file"), b"half\r\n\xff resolved").unwrap();
    });
    std::fs::write(repo.path.join("untracked"), "mine").unwrap();
    let before = Fingerprint::of(&repo);
    let commands = printed(&repo);
    Fingerprint::of(&repo).assert_same(&before, "a dry run");
    assert_eq!(commands.len(), 1);
    assert!(commands[0].contains(" force-release --abort-merge --yes --expect "), "{commands:?}");
    let done = paste(&repo, &commands[0]);
    assert_eq!(done.code(), 0, "{done}");
    assert_eq!(repo.git(&["status", "--porcelain"]), "?? untracked");
    let restore = hinted(&done);
    paste(&repo, &restore).success("the printed restore");
    assert_eq!(std::fs::read(repo.path.join("file")).unwrap(), b"half\r\n\xff resolved");
    repo.git(&["reset", "-q", "--hard"]);
    is_usable(&repo);
}

#[test]
fn a_dirty_tree_takes_a_reset() {
    let lab = Lab::empty();
    let repo = root(&lab, "a");
    lost(&repo, || std::fs::write(repo.path.join("file"), "work\n").unwrap());
    let commands = printed(&repo);
    assert!(commands[0].contains(" --reset-hard "), "{commands:?}");
    let wrong = commands[0].replace("--reset-hard", "--abort-merge");
    let refused = paste(&repo, &wrong);
    assert_eq!(refused.code(), 28, "{refused}");
    assert!(refused.stderr.contains(&commands[0]), "{refused}");
    let refused = paste(&repo, &commands[0].replace("--reset-hard ", ""));
    assert_eq!(refused.code(), 28, "{refused}");
    // The refusal prints the command that fits.
    let done = paste(&repo, &hinted(&refused));
    assert_eq!(done.code(), 0, "{done}");
    assert_eq!(std::fs::read_to_string(repo.path.join("file")).unwrap(), "ours\n");
    is_usable(&repo);
}

#[test]
fn every_kind_of_residue_is_cleared() {
    let kinds: [(&str, &[&str]); 5] = [
        ("cherry-pick", &["cherry-pick", "t42"]),
        ("revert", &["revert", "--no-edit", "main~1"]),
        ("rebase", &["rebase", "t42"]),
        ("rebase", &["rebase", "--apply", "t42"]),
        ("bisect", &["bisect", "start"]),
    ];
    for (state, command) in kinds {
        let lab = Lab::empty();
        let repo = root(&lab, "a");
        repo.commit("file", "ours again\n");
        lost(&repo, || {
            let _stopped = repo.try_git(command);
        });
        let session = Session::start();
        let stale = merge(&repo, &["claim", "43"]).session(&session).go().expect("STALE_MERGE_RESIDUE", 22);
        assert_eq!(stale.field(0), state, "{command:?}: {stale}");
        let done = paste(&repo, &printed(&repo)[0]);
        assert_eq!(done.code(), 0, "{command:?}: {done}");
        is_usable(&repo);
    }
}

#[test]
fn a_clean_root_needs_no_remedy() {
    let lab = Lab::empty();
    let repo = root(&lab, "a");
    lost(&repo, || ());
    let commands = printed(&repo);
    assert!(commands[0].starts_with("git aitask-lock merge force-release --yes --expect "), "{commands:?}");
    let refused = paste(&repo, &commands[0].replace("--yes", "--reset-hard --yes"));
    assert_eq!(refused.code(), 28, "{refused}");
    assert_eq!(paste(&repo, &commands[0]).code(), 0);
    assert_eq!(paste(&repo, &commands[0]).code(), 27, "it is free now");
    is_usable(&repo);
}

#[test]
fn half_an_armed_command_is_none() {
    let lab = Lab::empty();
    let repo = root(&lab, "a");
    lost(&repo, || ());
    for args in
        [&["--yes"][..], &["--expect", "x"], &["--yes", "--expect", "x", "--abort-merge", "--reset-hard"]]
    {
        let refused = merge(&repo, &[&["force-release"], args].concat()).go();
        assert_eq!(refused.code(), 2, "{args:?}: {refused}");
    }
    assert!(reservation(&repo).exists());
}

#[test]
fn a_live_holder_is_never_cleared() {
    let lab = Lab::empty();
    let repo = root(&lab, "a");
    let session = Session::start();
    merge(&repo, &["claim", "42"]).session(&session).go().expect("MERGE_CLAIMED", 0);
    std::fs::write(repo.path.join("file"), "work\n").unwrap();
    let before = Fingerprint::of(&repo);
    let dry = repo.human(&["merge", "force-release"]).go();
    assert!(dry.stdout.contains("merge release 42") && !dry.stdout.contains("--yes"), "{dry}");
    // Nor by whoever makes the command up from the token.
    let token = merge(&repo, &["force-release"]).go().field(0).to_owned();
    let armed = format!("git aitask-lock merge force-release --reset-hard --yes --expect {token}");
    let refused = paste(&repo, &format!("{armed} --porcelain"));
    assert_eq!(refused.code(), 26, "{refused}");
    assert_eq!(refused.line(), format!("REFUSED_LIVE_HOLDER:42:{}", session.pid()));
    Fingerprint::of(&repo).assert_same(&before, "a refused recovery");
    merge(&repo, &["status"]).go().expect("HELD", 0);
}

#[test]
fn what_changed_since_the_dry_run_is_refused() {
    let lab = Lab::empty();
    let repo = root(&lab, "a");
    lost(&repo, || std::fs::write(repo.path.join("file"), "work\n").unwrap());
    let commands = printed(&repo);
    std::fs::write(repo.path.join("file"), "more work\n").unwrap();
    let refused = paste(&repo, &format!("{} --porcelain", commands[0]));
    refused.expect_line("HOLDER_CHANGED:42|", 27);
    assert_eq!(std::fs::read_to_string(repo.path.join("file")).unwrap(), "more work\n");
    // Another session took it over: the old command must not touch it.
    repo.git(&["checkout", "-q", "file"]);
    let commands = printed(&repo);
    let (mut next, text) = (Session::start(), "MERGE_CLAIMED:43|");
    merge(&repo, &["claim", "43"]).session(&next).go().expect_line(text, 0);
    next.end();
    paste(&repo, &format!("{} --porcelain", commands[0])).expect_line("HOLDER_CHANGED:43|", 27);
}

#[test]
fn a_leaked_guard_is_named_and_taken_down() {
    let lab = Lab::empty();
    let repo = root(&lab, "a b'c");
    lost(&repo, || std::fs::write(repo.path.join("file"), "work\n").unwrap());
    let guard = reservation(&repo).with_file_name("merge.guard");
    let armed = printed(&repo).pop().unwrap();
    std::fs::create_dir(&guard).unwrap();
    let refused = paste(&repo, &format!("{armed} --porcelain"));
    refused.expect_line("RECOVERY_FAILED:guard|42||rmdir ", 29);
    let status = repo.human(&["merge", "status"]).go();
    assert!(status.stderr.contains("hint: rmdir "), "{status}");
    let commands = printed(&repo);
    assert_eq!(commands.len(), 2, "{commands:?}");
    for command in commands {
        let done = paste(&repo, &command);
        assert_eq!(done.code(), 0, "{command}: {done}");
    }
    // Where nothing else is left, too.
    std::fs::create_dir(&guard).unwrap();
    let session = Session::start();
    merge(&repo, &["claim", "43"]).session(&session).go().expect_line("BUSY:-:0|guard|", 21);
    let refused = repo.human(&["merge", "claim", "43"]).session(&session).go();
    assert_eq!(paste(&repo, &hinted(&refused)).code(), 0, "{refused}");
    is_usable(&repo);
}

#[test]
fn an_unreadable_reservation_is_cleared() {
    let lab = Lab::empty();
    let repo = root(&lab, "a");
    for text in [&b""[..], b"\0\xff", b"version: 9\nx: 1\n", b"version: 1\ntask: '42'\n"] {
        lost(&repo, || ());
        std::fs::write(reservation(&repo), text).unwrap();
        let session = Session::start();
        merge(&repo, &["release", "42"]).session(&session).go().expect("HOLDER_INCOMPLETE", 25);
        let armed = printed(&repo).pop().unwrap();
        // Another unreadable one is another holder.
        std::fs::write(reservation(&repo), b"garbage").unwrap();
        assert_eq!(paste(&repo, &armed).code(), 27);
        std::fs::write(reservation(&repo), text).unwrap();
        assert_eq!(paste(&repo, &armed).code(), 0);
        is_usable(&repo);
    }
}

#[test]
fn a_held_index_is_named() {
    let lab = Lab::empty();
    let repo = root(&lab, "a");
    lost(&repo, || std::fs::write(repo.path.join("file"), "work\n").unwrap());
    let armed = printed(&repo).pop().unwrap();
    std::fs::write(repo.path.join(".git/index.lock"), "").unwrap();
    let refused = paste(&repo, &armed);
    assert_eq!(refused.code(), 29, "{refused}");
    assert_eq!(std::fs::read_to_string(repo.path.join("file")).unwrap(), "work\n");
    let remove = refused.stderr.lines().find_map(|line| line.split_once(": rm ")).unwrap().1;
    assert_eq!(paste(&repo, &format!("rm {remove}")).code(), 0);
    assert_eq!(paste(&repo, &armed).code(), 0);
    is_usable(&repo);
}

#[test]
fn one_armed_command_ends_a_merge_and_whatever_was_changed_besides() {
    for besides in ["brought", "tracked"] {
        let lab = Lab::empty();
        let repo = root(&lab, "a");
        repo.commit("tracked", "before\n");
        repo.git(&["switch", "-q", "t42"]);
        repo.commit("brought", "new\n");
        repo.git(&["switch", "-q", "main"]);
        lost(&repo, || {
            assert_eq!(repo.try_git(&["merge", "t42"]).code(), 1);
            std::fs::write(repo.path.join(besides), "changed besides\n").unwrap();
        });
        let dry = repo.human(&["merge", "force-release"]).go();
        assert!(dry.stdout.contains(&format!("  {besides}\n")), "{dry}");
        let done = paste(&repo, &printed(&repo)[0]);
        assert_eq!(done.code(), 0, "{besides}: {done}");
        assert_eq!(repo.git(&["status", "--porcelain"]), "");
        paste(&repo, &hinted(&done)).success("the printed restore");
        assert_eq!(std::fs::read_to_string(repo.path.join(besides)).unwrap(), "changed besides\n");
        repo.git(&["reset", "-q", "--hard"]);
        repo.git(&["clean", "-qf"]);
        is_usable(&repo);
    }
}

#[test]
fn head_goes_back_to_where_the_lost_session_merged() {
    let lab = Lab::empty();
    let repo = root(&lab, "a");
    let head = || repo.git(&["symbolic-ref", "HEAD"]);
    repo.git(&["branch", "aside"]);
    lost(&repo, || {
        repo.git(&["switch", "-q", "aside"]);
        std::fs::write(repo.path.join("file"), "work\n").unwrap();
    });
    let dry = repo.human(&["merge", "force-release"]).go();
    assert!(dry.stdout.contains("HEAD would go back to main."), "{dry}");
    assert_eq!(paste(&repo, &printed(&repo)[0]).code(), 0);
    assert_eq!(head(), "refs/heads/main", "after a recovery");
    lost(&repo, || drop(repo.git(&["switch", "-q", "aside"])));
    let next = Session::start();
    let told = repo.human(&["merge", "claim", "43"]).session(&next).go();
    assert!(told.stderr.contains("the shared root was on aside, and is on main again"), "{told}");
    merge(&repo, &["release", "43"]).session(&next).go().expect("RELEASED", 0);
    assert_eq!(head(), "refs/heads/main", "after a reclaim");
    // Where that cannot be done, nothing is merged elsewhere without a word.
    lost(&repo, || drop(repo.git(&["switch", "-q", "aside"])));
    repo.git(&["worktree", "add", "-q", "../elsewhere", "main"]);
    let session = Session::start();
    let refused = merge(&repo, &["claim", "43"]).session(&session).go();
    refused.expect_line("PREFLIGHT_HEAD_MISMATCH:main", 22);
    let [away, armed] = <[String; 2]>::try_from(printed(&repo)).unwrap();
    assert!(away.contains("switch --detach"), "what stands in the way comes first: {away}");
    let failed = paste(&repo, &format!("{armed} --porcelain"));
    assert_eq!(failed.code(), 29, "{failed}");
    repo.git(&["worktree", "remove", "../elsewhere"]);
    let refused = repo.human(&["merge", "force-release"]).go();
    assert_eq!(refused.code(), 0, "{refused}");
    assert_eq!(paste(&repo, &printed(&repo)[0]).code(), 0);
    assert_eq!(head(), "refs/heads/main");
    // A session that meant to merge elsewhere, and had not begun to, moved nothing.
    let mut session = Session::start();
    merge(&repo, &["claim", "42", "--into", "aside"]).session(&session).go().expect("MERGE_CLAIMED", 0);
    session.end();
    is_usable(&repo);
    assert_eq!(head(), "refs/heads/main");
}

#[test]
fn what_ends_besides_files_is_named() {
    let lab = Lab::empty();
    let repo = root(&lab, "a");
    lost(&repo, || drop(repo.git(&["bisect", "start"])));
    let dry = repo.human(&["merge", "force-release"]).go();
    assert!(dry.stdout.contains("the log of the bisection") && !dry.stdout.contains("These files"), "{dry}");
}
