//! `hook install --tasks`: a commit on a task's branch is refused while another session holds the task; work
//! is never stopped because a server cannot be reached.

use std::path::{Path, PathBuf};

use crate::remedies::{commands, paste};
use crate::support::{Lab, Output, Repo, Session, manifest_dir};

/// Runs git as a session.
fn git(repo: &Repo<'_>, session: &Session, args: &[&str]) -> Output {
    let mut command = repo.lab.command("git");
    command.current_dir(&repo.path).args(args).env("AIT_AGENT_PID", session.pid().to_string());
    command.env("GIT_EDITOR", "true");
    Output::of(command)
}

fn commit(repo: &Repo<'_>, session: &Session) -> Output {
    git(repo, session, &["commit", "-q", "--allow-empty", "-m", "x"])
}

#[track_caller]
fn refused(output: &Output, why: &str) {
    assert!(output.code() != 0 && output.stderr.contains(why), "{output}");
}

fn install(repo: &Repo<'_>, option: &str) {
    repo.lock(&["hook", "install", option]).go().expect("HOOKS_INSTALLED", 0);
}

#[test]
fn another_sessions_task_stops_a_commit_in_every_worktree() {
    let lab = Lab::empty();
    let root = lab.alone("root");
    let (tree, free) = (root.worktree("t42"), root.worktree("t43"));
    let (mut holder, other) = (Session::start(), Session::start());
    install(&root, "--tasks");
    commit(&tree, &other).success("nobody holds it");
    root.lock(&["claim", "42"]).session(&holder).go().expect("CLAIMED", 0);
    refused(&commit(&tree, &other), "no commit on t42: task 42 is locked by alice@example.com");
    let report = tree.human(&["hook", "run", "pre-commit", "--tasks", "--porcelain"]).session(&other).go();
    assert!(report.line().starts_with("TASK_COMMIT_REFUSED:42|t42|alice@example.com|"), "{report}");
    assert_eq!(report.code(), 1);
    commit(&tree, &holder).success("the holder works");
    commit(&free, &other).success("another task's branch");
    commit(&root, &other).success("a branch that names no task");
    git(&tree, &other, &["commit", "-q", "--no-verify", "--allow-empty", "-m", "x"]).success("--no-verify");
    // Another owner's session, and the same once it is gone.
    let theirs = root.lock(&["claim", "43"]).session(&holder).email("bob@example.com");
    theirs.go().expect("CLAIMED", 0);
    refused(&commit(&free, &other), "task 43 is locked by bob@example.com");
    holder.end();
    refused(&commit(&free, &other), "task 43 is locked by bob@example.com");
    let warned = commit(&tree, &other);
    assert!(warned.code() == 0 && warned.stderr.contains("a session of yours that is gone"), "{warned}");
    assert!(warned.stderr.contains("git aitask-lock claim 42"), "{warned}");
}

#[test]
fn required_asks_for_a_lock_of_this_very_session() {
    let lab = Lab::empty();
    let root = lab.alone("root");
    let tree = root.worktree("aitask-t16_2_more");
    tree.git(&["branch", "-m", "aitask/t16_2_more"]);
    let (session, other) = (Session::start(), Session::start());
    install(&root, "--tasks=required");
    refused(&commit(&tree, &session), "task 16_2 is not claimed by this session");
    root.lock(&["claim", "16_2"]).session(&session).go().expect("CLAIMED", 0);
    commit(&tree, &session).success("it is claimed now");
    refused(&commit(&tree, &other), "task 16_2 is locked by");
    commit(&root, &other).success("no task");
    // Modes change in place, and everything goes again.
    let tasks = |verb: &[&str]| root.lock(verb).go().field(3).to_owned();
    assert_eq!(tasks(&["hook", "status"]), "tasks=required");
    assert_eq!(tasks(&["hook", "install", "--tasks=held"]), "tasks=held");
    assert_eq!(tasks(&["hook", "install"]), "tasks=off");
    commit(&tree, &other).success("not asked for any more");
    root.lock(&["hook", "install", "--tasks=often"]).go().expect_line("LOCK_ERROR:usage", 2);
    root.lock(&["hook", "uninstall"]).go().expect("HOOKS_REMOVED", 0);
    assert!(!root.git_dir().join("hooks/pre-commit").exists());
}

/// Which of git's ways to a commit ask the hooks: what git's own documentation says, seen here.
#[test]
fn ways_to_a_commit() {
    let lab = Lab::empty();
    let root = lab.alone("root");
    root.git(&["branch", "side"]);
    let tree = root.worktree("t42");
    tree.commit("mine", "1\n");
    root.commit("theirs", "1\n");
    let (holder, other) = (Session::start(), Session::start());
    root.lock(&["claim", "42"]).session(&holder).go().expect("CLAIMED", 0);
    install(&root, "--tasks");
    refused(&git(&tree, &other, &["commit", "--allow-empty", "-q", "-C", "HEAD"]), "task 42");
    refused(&git(&tree, &other, &["commit", "--amend", "-q", "-C", "HEAD"]), "task 42");
    refused(&git(&tree, &other, &["merge", "--no-edit", "-q", "main"]), "task 42");
    git(&tree, &other, &["merge", "--abort"]).success("abort");
    // In a rebase HEAD names no branch, and the branch counts all the same.
    let script = lab.script("bin/edit", "sed -i 's/^pick/edit/' \"$1\"");
    let mut rebase = lab.command("git");
    rebase.current_dir(&tree.path).args(["rebase", "-i", "-q", "main"]).env("GIT_SEQUENCE_EDITOR", script);
    Output::of(rebase).success("a rebase that stops");
    refused(&git(&tree, &other, &["commit", "--amend", "-q", "-C", "HEAD"]), "no commit on t42");
    git(&tree, &holder, &["commit", "--amend", "-q", "-C", "HEAD"]).success("the holder");
    git(&tree, &other, &["rebase", "--continue"]).success("git asks no hook for the rest of a rebase");
    git(&tree, &other, &["cherry-pick", "--allow-empty", "--keep-redundant-commits", "main"])
        .success("git asks no hook for a cherry-pick");
    git(&tree, &holder, &["merge", "--no-edit", "-q", "side"]).success("the holder merges");
}

/// Counts the server programs that git starts for a commit.
fn connections(repo: &Repo<'_>, session: &Session) -> usize {
    let events = repo.lab.path("events");
    let _from_before = std::fs::remove_dir_all(&events);
    std::fs::create_dir(&events).unwrap();
    let mut command = repo.lab.command("git");
    command.current_dir(&repo.path).args(["commit", "-q", "--allow-empty", "-m", "x"]);
    command.env("AIT_AGENT_PID", session.pid().to_string()).env("GIT_TRACE2_EVENT", &events);
    Output::of(command).success("commit");
    let files = std::fs::read_dir(&events).unwrap().map(|file| file.unwrap().path());
    let text: String = files.map(|file| std::fs::read_to_string(file).unwrap()).collect();
    text.lines().filter(|line| line.contains("\"start\"") && line.contains("upload-pack")).count()
}

#[test]
fn what_was_seen_lately_costs_no_connection() {
    let lab = Lab::new();
    let (a, b) = (lab.clone("a"), lab.clone("b"));
    let (session, other) = (Session::start(), Session::start());
    let tree = a.worktree("t42");
    install(&a, "--tasks");
    a.lock(&["claim", "42"]).session(&session).go().expect("CLAIMED", 0);
    assert_eq!(connections(&tree, &session), 0, "seen by the claim");
    a.git(&["config", "aitask-lock.hookMaxAge", "0s"]);
    assert_eq!(connections(&tree, &session), 1, "always asked");
    a.git(&["config", "--unset", "aitask-lock.hookMaxAge"]);
    // An old look: the one that follows is remembered although it finds nothing new.
    let known = a.git(&["for-each-ref", "--format=%(refname)", "refs/aitask-lock/known"]);
    let past = std::time::SystemTime::UNIX_EPOCH;
    let age = |file: PathBuf| std::fs::File::open(file).unwrap().set_modified(past).unwrap();
    age(a.git_dir().join(known));
    age(a.git_dir().join("aitask-lock/looked"));
    assert_eq!(connections(&tree, &session), 1, "older than the setting allows");
    assert_eq!(connections(&tree, &session), 0, "it was looked at a moment ago");
    // What others did is seen by the look.
    a.lock(&["release", "42"]).session(&session).go().expect("RELEASED", 0);
    b.lock(&["claim", "42"]).session(&other).go().expect("CLAIMED", 0);
    commit(&tree, &session).success("not seen yet");
    a.git(&["config", "aitask-lock.hookMaxAge", "0s"]);
    refused(&commit(&tree, &session), "task 42 is locked");
}

#[test]
fn a_server_that_cannot_be_reached_stops_nobody() {
    let lab = Lab::new();
    let a = lab.clone("a");
    let (mut holder, other) = (Session::start(), Session::start());
    let (tree, free) = (a.worktree("t42"), a.worktree("t43"));
    install(&a, "--tasks=required");
    a.lock(&["claim", "42"]).session(&holder).go().expect("CLAIMED", 0);
    a.git(&["config", "aitask-lock.hookMaxAge", "0s"]);
    std::fs::rename(lab.path("server.git"), lab.path("away.git")).unwrap();
    let warned = commit(&free, &other);
    assert!(warned.code() == 0 && warned.stderr.contains("judged by what was seen last"), "{warned}");
    assert!(warned.stderr.contains("task 43 is not claimed by this session"), "{warned}");
    // A session that is seen to be alive is no matter of the server.
    refused(&commit(&tree, &other), "task 42 is locked");
    holder.end();
    let warned = commit(&tree, &other);
    assert!(warned.code() == 0 && warned.stderr.contains("a session of yours that is gone"), "{warned}");
}

#[test]
fn without_a_lock_branch_there_is_nothing_to_ask() {
    let lab = Lab::new();
    let a = lab.clone("a");
    let session = Session::start();
    let tree = a.worktree("t42");
    install(&a, "--tasks");
    commit(&tree, &session).success("no lock branch");
    install(&a, "--tasks=required");
    refused(&commit(&tree, &session), "task 42 is not claimed by this session");
}

/// The printed ways on from a commit that is refused or warned of.
#[test]
pub fn of_a_tasks_branch() {
    let lab = Lab::empty();
    let root = lab.alone("root");
    root.git(&["switch", "-q", "-c", "t42"]);
    let (mut lost, session) = (Session::start(), Session::start());
    install(&root, "--tasks=required");
    let refused = commit(&root, &session);
    let claim = commands(&refused).remove(0);
    assert_eq!(paste(&root, &session, &claim).code(), 0, "{refused}");
    commit(&root, &session).success(&claim);
    root.lock(&["release", "42"]).session(&session).go().expect("RELEASED", 0);
    root.lock(&["claim", "42"]).session(&lost).go().expect("CLAIMED", 0);
    lost.end();
    install(&root, "--tasks");
    let warned = commit(&root, &session).stderr;
    let claim =
        warned.split_once("git aitask-lock ").map(|(_, rest)| format!("git aitask-lock {}", rest.trim()));
    assert_eq!(paste(&root, &session, &claim.unwrap()).code(), 0, "{warned}");
    assert_eq!(commit(&root, &session).success("it is ours now"), "");
    // A part of the hooks is missing: the printed command brings them back as they were.
    std::fs::remove_file(root.git_dir().join("hooks/pre-commit")).unwrap();
    let partly = root.human(&["hook", "status"]).session(&session).go();
    let install = commands(&partly).remove(0);
    assert_eq!(paste(&root, &session, &install).code(), 0, "{partly}");
    assert_eq!(root.lock(&["hook", "status"]).go().expect("HOOKS_INSTALLED", 0).field(3), "tasks=held");
}

/// The folder in which hook managers were installed for the tests, or why they are left out.
fn managers(program: &str) -> Option<PathBuf> {
    let folder = manifest_dir().join("target/managers");
    let there = folder.join(program).exists();
    if !there {
        println!("skipped: no {program} below target/managers, see .ci/run");
    }
    there.then_some(folder)
}

/// A repository with a worktree for task 42, which another session holds; the manager is set up in between.
fn with_manager(program: &str, set_up: impl FnOnce(&Repo<'_>, &Path)) {
    let Some(folder) = managers(program) else { return };
    let lab = Lab::empty();
    let root = lab.alone("root");
    set_up(&root, &folder);
    root.git(&["add", "-A"]);
    root.git(&["commit", "-q", "--no-verify", "-m", "the hook manager"]);
    root.git(&["switch", "-q", "-c", "t42"]);
    let (holder, other) = (Session::start(), Session::start());
    root.lock(&["claim", "42"]).session(&holder).go().expect("CLAIMED", 0);
    // lefthook asks nobody of a commit without files.
    std::fs::write(root.path.join("file"), "changed\n").unwrap();
    let stopped = git(&root, &other, &["commit", "-q", "-a", "-m", "x"]);
    let said = format!("{}{}", stopped.stdout, stopped.stderr);
    assert!(stopped.code() != 0 && said.contains("task 42 is locked"), "{stopped}");
    git(&root, &holder, &["commit", "-q", "-a", "-m", "x"]).success("the holder works");
}

fn run_there(root: &Repo<'_>, program: PathBuf, args: &[&str]) {
    let mut command = root.lab.command(program);
    command.current_dir(&root.path).args(args);
    Output::of(command).success("the hook manager");
}

#[test]
fn with_husky() {
    with_manager("node_modules/.bin/husky", |root, folder| {
        run_there(root, folder.join("node_modules/.bin/husky"), &[]);
        std::fs::write(root.path.join(".husky/pre-commit"), crate::recipes::block("husky")).unwrap();
        let told = root.human(&["hook", "install", "--tasks"]).go();
        assert!(told.stderr.contains("put the line git-aitask-lock hook run pre-commit"), "{told}");
        run_there(root, folder.join("node_modules/.bin/husky"), &[]);
    });
}

#[test]
fn with_lefthook() {
    with_manager("node_modules/.bin/lefthook", |root, folder| {
        std::fs::write(root.path.join("lefthook.yml"), crate::recipes::block("lefthook")).unwrap();
        run_there(root, folder.join("node_modules/.bin/lefthook"), &["install"]);
    });
}

#[test]
fn with_pre_commit() {
    with_manager("venv/bin/pre-commit", |root, folder| {
        std::fs::write(root.path.join(".pre-commit-config.yaml"), crate::recipes::block("pre-commit"))
            .unwrap();
        run_there(root, folder.join("venv/bin/pre-commit"), &["install"]);
    });
}
