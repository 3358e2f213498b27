//! Writes that the server refuses, and writes of which it is not clear whether they landed: the true
//! answer, found out by looking.

use std::process::Stdio;

use crate::support::actors::{signal, wait_until};
use crate::support::answers::{VERBS, assert_nobody_is_left};
use crate::support::fingerprint::Fingerprint;
use crate::support::net::Daemon;
use crate::support::planting::{Planted, plant};
use crate::support::{BRANCH, Lab, Output, Repo, Run, Session};

/// A branch that is locked on, a server that refuses to change it from now on.
#[track_caller]
fn refuses_writing(repo: &Repo<'_>, line: &str) -> Output {
    let session = Session::start();
    let tip = repo.lab.server().tip(BRANCH);
    let before = Fingerprint::of(repo);
    let claim = repo.lock(&["claim", "42"]).session(&session).go().expect_line(line, 15);
    repo.lock(&["claim", "42", "43"]).session(&session).go().expect_all(&["LOCK_ERROR"; 2], 15);
    Fingerprint::of(repo).assert_same(&before, "a claim that the server refused");
    assert_eq!(repo.lab.server().tip(BRANCH), tip);
    claim
}

#[test]
fn a_server_whose_policy_says_no() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    lab.script("server.git/hooks/pre-receive", "printf 'branch is \\033[2Jprotected\\n' >&2; exit 1");
    let refused = refuses_writing(&repo, "LOCK_ERROR:push_refused|policy|42");
    assert!(refused.stderr.contains("protected") && !refused.stderr.contains('\u{1b}'), "{refused:?}");
    std::fs::remove_file(lab.path("server.git/hooks/pre-receive")).unwrap();
    repo.lock(&["init"]).go().expect("INITIALIZED", 0);
    let decline = "while read -r _ _ ref; do case $ref in *aitask-locks) echo no >&2; exit 1;; esac; done";
    lab.script("server.git/hooks/pre-receive", decline);
    let refused = refuses_writing(&repo, "LOCK_ERROR:push_refused|policy|42");
    assert!(refused.stderr.contains("nothing was changed"), "{refused}");
    repo.lock(&["check", "42"]).go().expect("FREE", 1);
    repo.lock(&["list"]).go().expect_all(&[], 0);
}

#[test]
fn a_server_that_wants_another_commit_identity() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    let script = "while read -r _ new _; do case $(git log -1 --format=%ae%ce $new) in \
                  bot@corp.examplebot@corp.example) ;; *) echo 'wrong author' >&2; exit 1;; esac; done";
    lab.script("server.git/hooks/pre-receive", script);
    let refused = refuses_writing(&repo, "LOCK_ERROR:push_refused|policy|42");
    assert!(refused.stderr.contains("wrong author"), "{refused}");
    assert!(refused.stderr.contains("aitask-lock.committer"), "the remedy is named\n{refused}");
    repo.git(&["config", "aitask-lock.committer", "Bot <bot@corp.example>"]);
    let session = Session::start();
    repo.lock(&["claim", "42"]).session(&session).go().expect("CLAIMED", 0);
    assert_eq!(lab.server().lock_value("42", "locked_by").as_deref(), Some("alice@example.com"));
}

#[test]
fn a_server_that_is_read_only() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    repo.lock(&["init"]).go().expect("INITIALIZED", 0);
    let daemon = Daemon::start(&lab, false);
    repo.git(&["config", "remote.origin.url", &format!("git://127.0.0.1:{}/server.git", daemon.port)]);
    repo.lock(&["check", "42"]).go().expect("FREE", 1);
    let refused = refuses_writing(&repo, "LOCK_ERROR:push_refused|permission|42");
    assert!(refused.stderr.contains("nothing was changed"), "{refused}");
    // Known nothing of it before: the first read works, the write is refused all the same.
    let fresh = lab.clone("b");
    fresh.git(&["config", "remote.origin.url", &format!("git://127.0.0.1:{}/server.git", daemon.port)]);
    refuses_writing(&fresh, "LOCK_ERROR:push_refused|permission|42");
    std::fs::remove_dir_all(lab.path("server.git")).unwrap();
    fresh.lock(&["check", "42"]).go().expect("LOCK_ERROR", 11);
}

#[test]
fn a_branch_name_that_is_taken_by_a_folder() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    lab.server().git(&["update-ref", "refs/heads/aitask-locks/x", "refs/heads/main"]);
    let refused = refuses_writing(&repo, "LOCK_ERROR:push_refused|");
    assert!(refused.stderr.contains("aitask-locks"), "{refused}");
}

#[test]
fn a_branch_that_was_deleted() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    let session = Session::start();
    repo.lock(&["claim", "42"]).session(&session).go().expect("CLAIMED", 0);
    let tip = lab.server().tip(BRANCH);
    lab.server().git(&["update-ref", "-d", BRANCH]);
    let before = Fingerprint::of(&repo);
    for verb in VERBS.iter().filter(|verb| verb[0] != "init") {
        let other = Session::start();
        for session in [&session, &other] {
            let output = repo.lock(verb).session(session).go();
            output.expect_line("LOCK_ERROR:branch_missing|deleted", 10);
        }
    }
    Fingerprint::of(&repo).assert_same(&before, "a look at a deleted branch");
    assert_eq!(lab.server().tip(BRANCH), None, "nothing made it anew");
    let restored = repo.lock(&["init"]).go().expect("INITIALIZED", 0);
    assert_eq!(restored.field(2), "created");
    assert_eq!(lab.server().tip(BRANCH), tip, "nothing that was locked became free");
    repo.lock(&["refresh", "42"]).session(&session).go().expect("REFRESHED", 0);
}

#[test]
fn a_branch_that_was_emptied_by_force() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    let session = Session::start();
    repo.lock(&["claim", "42", "43"]).session(&session).go().expect_all(&["CLAIMED"; 2], 0);
    let server = lab.server();
    let known = server.tip(BRANCH).unwrap();
    server.git(&["update-ref", "-d", BRANCH]);
    plant(&server, &[("README.md", Planted::File(b"empty\n"))]);
    let emptied = server.tip(BRANCH);
    for verb in VERBS.iter().filter(|verb| verb[0] != "init") {
        for _ in 0..2 {
            let output = repo.lock(verb).session(&Session::start()).go();
            let output = output.expect_line("LOCK_ERROR:branch_rewritten", 11);
            assert!(output.stderr.contains("42") && output.stderr.contains("43"), "{output}");
        }
    }
    assert_eq!(server.tip(BRANCH), emptied);
    let accepted = repo.lock(&["init"]).go().expect("INITIALIZED", 0);
    assert_eq!([accepted.field(2), accepted.field(3)], ["present", "42,43"]);
    repo.lock(&["check", "42"]).go().expect("FREE", 1);
    // A rewrite that keeps every lock is nobody's loss.
    let tree = server.git(&["rev-parse", &format!("{known}^{{tree}}")]);
    let same = server.git(&["commit-tree", "-m", "squashed", &tree]);
    server.git(&["update-ref", BRANCH, &same]);
    repo.lock(&["check", "42"]).session(&session).go().expect("LOCKED", 0);
}

#[test]
fn a_push_that_landed_although_it_took_too_long() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    let session = Session::start();
    repo.lock(&["init"]).go().expect("INITIALIZED", 0);
    lab.script("server.git/hooks/post-receive", "exec sleep 1000");
    let claimed = repo.lock(&["claim", "42", "--timeout=4s"]).session(&session).go().expect("CLAIMED", 0);
    assert_eq!(lab.server().lock_value("42", "lock_id").as_deref(), Some(claimed.field(2)));
    let released = repo.lock(&["release", "42", "--timeout=4s"]).session(&session).go();
    released.expect("RELEASED", 0);
    assert_eq!(lab.server().lock_files(), [""; 0]);
    assert_nobody_is_left(&lab);
}

/// A shell line that kills the `git push` above a server's hook.
pub const KILL_THE_PUSH: &str = "p=$PPID\n\
    while [ \"$p\" -gt 1 ]; do\n\
    case \"$(tr '\\0' ' ' < /proc/$p/cmdline)\" in *' push '*) kill -9 $p; break;; esac\n\
    p=$(sed 's/.*) . //; s/ .*//' /proc/$p/stat)\n\
    done";

#[test]
fn a_push_that_landed_although_its_git_was_killed() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    let session = Session::start();
    repo.lock(&["init"]).go().expect("INITIALIZED", 0);
    lab.script("server.git/hooks/post-receive", KILL_THE_PUSH);
    let claimed = repo.lock(&["claim", "42"]).session(&session).go().expect("CLAIMED", 0);
    assert_eq!(lab.server().lock_value("42", "lock_id").as_deref(), Some(claimed.field(2)));
    let refused = repo.lock(&["claim", "42"]).session(&Session::start()).go();
    refused.expect("LOCK_LIVE_HOLDER", 13);
    repo.lock(&["release", "42"]).session(&session).go().expect("RELEASED", 0);
}

#[test]
fn a_push_that_did_not_land_because_its_git_was_killed() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    let session = Session::start();
    repo.lock(&["init"]).go().expect("INITIALIZED", 0);
    let tip = lab.server().tip(BRANCH);
    lab.script("server.git/hooks/pre-receive", &format!("{KILL_THE_PUSH}\nexit 1"));
    // It could still land after the look: that is said, and a repetition settles it.
    let unknown = repo.lock(&["claim", "42"]).session(&session).go();
    let unknown = unknown.expect_line("LOCK_ERROR:outcome_unknown|killed|42", 16);
    assert!(unknown.stderr.contains("git aitask-lock list --mine"), "{unknown}");
    assert_eq!(lab.server().tip(BRANCH), tip);
    std::fs::remove_file(lab.path("server.git/hooks/pre-receive")).unwrap();
    repo.lock(&["claim", "42"]).session(&session).go().expect("CLAIMED", 0);
}

/// Starts a command, kills the program once the server has moved the branch, and lets the
/// server's hook end.
fn killed_after_landing(lab: &Lab, run: Run) {
    let (moved, go) = (lab.path("moved"), lab.path("go"));
    for marker in [&moved, &go] {
        let _from_before = std::fs::remove_file(marker);
    }
    let hook = format!("touch '{}'\nwhile ! [ -e '{}' ]; do sleep 0.05; done", moved.display(), go.display());
    lab.script("server.git/hooks/post-receive", &hook);
    let mut command = run.into_command();
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut tool = command.spawn().unwrap();
    wait_until("the branch moved", || moved.exists());
    signal(tool.id(), "KILL");
    tool.wait().unwrap();
    std::fs::write(&go, "").unwrap();
    std::fs::remove_file(lab.path("server.git/hooks/post-receive")).unwrap();
}

#[test]
fn a_tool_that_was_killed_is_repeated_by_its_session() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    let (first, second) = (Session::start(), Session::start());
    repo.lock(&["init"]).go().expect("INITIALIZED", 0);
    killed_after_landing(&lab, repo.lock(&["claim", "42"]).session(&first));
    let refused = repo.lock(&["claim", "42"]).session(&second).go().expect("LOCK_LIVE_HOLDER", 13);
    assert_eq!(refused.field(3), first.pid().to_string());
    repo.lock(&["claim", "42"]).session(&first).go().expect("REFRESHED", 0);
    killed_after_landing(&lab, repo.lock(&["release", "42"]).session(&first));
    repo.lock(&["release", "42"]).session(&first).go().expect("NOT_HELD", 0);
    repo.lock(&["claim", "42"]).session(&second).go().expect("CLAIMED", 0);
    assert_nobody_is_left(&lab);
}
