//! Repositories of every layout and format: SHA-256, reftable, worktrees, bare, submodules, shallow, partial,
//! and from wherever one stands in them.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::support::fingerprint::Fingerprint;
use crate::support::{BRANCH, Lab, Output, Repo, Session};

/// The whole life of a lock: claimed, seen, refused to another session, renewed, given back; with
/// the repository's own things untouched.
#[track_caller]
fn works(repo: &Repo<'_>, arbiter: &Repo<'_>) {
    let (first, second) = (Session::start(), Session::start());
    let before = Fingerprint::of(repo).without_lock_branch();
    repo.lock(&["claim", "42"]).session(&first).go().expect("CLAIMED", 0);
    assert_eq!(arbiter.lock_value("42", "pid"), Some(first.pid().to_string()));
    repo.lock(&["check", "42", "--mine"]).session(&first).go().expect("LOCKED", 0);
    repo.lock(&["claim", "42"]).session(&second).go().expect("LOCK_LIVE_HOLDER", 13);
    repo.lock(&["refresh", "42"]).session(&first).go().expect("REFRESHED", 0);
    repo.lock(&["claim", "43"]).session(&second).go().expect("CLAIMED", 0);
    repo.lock(&["list"]).session(&second).go().expect_all(&["LOCKED"; 2], 0);
    repo.lock(&["release", "42"]).session(&first).go().expect("RELEASED", 0);
    repo.lock(&["check", "42"]).session(&first).go().expect("FREE", 1);
    assert_eq!(arbiter.lock_files(), ["t43_lock.yaml"]);
    repo.lock(&["release", "43"]).session(&second).go().expect("RELEASED", 0);
    Fingerprint::of(repo).without_lock_branch().assert_same(&before, "the life of a lock");
    arbiter.git(&["fsck", "--strict"]);
    assert_nothing_looks_like_a_revision(repo);
}

/// No file of ours holds what git could take for a revision of that name.
#[track_caller]
fn assert_nothing_looks_like_a_revision(repo: &Repo<'_>) {
    let common = repo.git(&["rev-parse", "--path-format=absolute", "--git-common-dir"]);
    let common = PathBuf::from(common);
    let ours = common.join("aitask-lock");
    for path in files_below(&ours) {
        let name = path.strip_prefix(&common).unwrap().to_str().unwrap().to_owned();
        let parsed = repo.try_git(&["rev-parse", "--verify", "--quiet", &name]);
        assert_ne!(parsed.code(), 0, "git takes {name} for a revision");
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    entries
        .flat_map(|entry| {
            let path = entry.unwrap().path();
            if path.is_dir() { files_below(&path) } else { vec![path] }
        })
        .collect()
}

#[test]
fn a_plain_clone_and_a_repository_without_a_remote() {
    let lab = Lab::new();
    works(&lab.clone("a"), &lab.server());
    let alone = lab.alone("alone");
    works(&alone, &alone);
}

#[test]
fn a_sha256_repository() {
    let lab = Lab::empty();
    let server = lab.bare("server.git", &["--object-format=sha256"]);
    let repo = lab.clone("a");
    works(&repo, &server);
    assert_eq!(server.tip(BRANCH).unwrap().len(), 64);
    works(&lab.clone("b"), &server);
    let alone = lab.alone_with("alone", &["--object-format=sha256"]);
    works(&alone, &alone);
}

fn knows_reftable(lab: &Lab) -> bool {
    let mut init = lab.command("git");
    init.args(["init", "-q", "--ref-format=reftable"]).arg(lab.path("probe"));
    let knows = Output::of(init).code() == 0;
    if !knows {
        println!("skipped: this git knows no reftable");
    }
    knows
}

#[test]
fn a_reftable_repository() {
    let lab = Lab::new();
    if !knows_reftable(&lab) {
        return;
    }
    let repo = lab.clone_with("a", &["--ref-format=reftable"]);
    works(&repo, &lab.server());
    works(&repo.worktree("w"), &lab.server());
    let alone = lab.alone_with("alone", &["--ref-format=reftable"]);
    works(&alone, &alone);
    works(&alone.worktree("v"), &alone);
    let both = lab.alone_with("both", &["--ref-format=reftable", "--object-format=sha256"]);
    works(&both, &both);
}

#[test]
fn linked_worktrees_share_the_locks() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    let (one, two) = (repo.worktree("one"), repo.worktree("two"));
    works(&one, &lab.server());
    let (first, second) = (Session::start(), Session::start());
    one.lock(&["claim", "42"]).session(&first).go().expect("CLAIMED", 0);
    two.lock(&["claim", "42"]).session(&second).go().expect("LOCK_LIVE_HOLDER", 13);
    assert_eq!(repo.git(&["worktree", "list"]).lines().count(), 3, "no helper worktree");
}

#[test]
fn a_bare_repository_with_worktrees() {
    let lab = Lab::empty();
    let bare = lab.bare("project.git", &[]);
    works(&bare, &bare);
    let path = lab.path("tree");
    bare.git(&["worktree", "add", "-q", path.to_str().unwrap(), "main"]);
    works(&lab.at("tree"), &bare);
    // Cloned bare, with the remote as the arbiter.
    let server = lab.bare("server.git", &[]);
    let clone = lab.clone_with("clone.git", &["--bare"]);
    works(&clone, &server);
}

#[test]
fn a_submodule_has_locks_of_its_own() {
    let lab = Lab::new();
    lab.bare("super.git", &[]);
    let outer = lab.alone("outer");
    let url = format!("file://{}", lab.path("server.git").display());
    outer.git(&["submodule", "add", "-q", &url, "sub"]);
    outer.git(&["commit", "-q", "-m", "add sub"]);
    let inner = lab.at("outer/sub");
    works(&inner, &lab.server());
    works(&outer, &outer);
    let session = Session::start();
    inner.lock(&["claim", "7"]).session(&session).go().expect("CLAIMED", 0);
    outer.lock(&["check", "7"]).session(&session).go().expect("FREE", 1);
    let tree = lab.path("subtree");
    inner.git(&["worktree", "add", "-q", "-b", "x", tree.to_str().unwrap()]);
    lab.at("subtree").lock(&["check", "7"]).session(&session).go().expect("LOCKED", 0);
}

#[test]
fn a_separate_git_dir_and_a_symbolic_link() {
    let lab = Lab::empty();
    let git_dir = lab.path("elsewhere.git");
    let option = format!("--separate-git-dir={}", git_dir.display());
    let repo = lab.alone_with("a", &[&option]);
    works(&repo, &repo);
    std::os::unix::fs::symlink(&repo.path, lab.path("link")).unwrap();
    works(&lab.at("link"), &repo);
}

#[test]
fn shallow_single_branch_and_refspecless_clones() {
    let lab = Lab::new();
    let server = lab.server();
    let full = lab.clone("full");
    let session = Session::start();
    for task in ["1", "2", "3"] {
        full.lock(&["claim", task]).session(&session).go().expect("CLAIMED", 0);
        full.lock(&["release", task]).session(&session).go().expect("RELEASED", 0);
    }
    let options: [&[&str]; 4] =
        [&["--depth=1"], &["--single-branch"], &["--no-checkout"], &["--depth=1", "--no-single-branch"]];
    for (number, options) in options.iter().enumerate() {
        works(&lab.clone_with(format!("c{number}"), options), &server);
    }
    let bare_bones = lab.clone("no-refspec");
    bare_bones.git(&["config", "--unset-all", "remote.origin.fetch"]);
    works(&bare_bones, &server);
}

#[test]
fn a_blobless_clone_never_reads_missing_as_free() {
    let lab = Lab::new();
    let full = lab.clone("full");
    let session = Session::start();
    full.lock(&["claim", "42"]).session(&session).go().expect("CLAIMED", 0);
    let partial = lab.clone_with("partial", &["--filter=blob:none", "--no-checkout"]);
    works_beside(&partial, &session);
    // Its own reading of the branch, with the record's content left out.
    let fresh = lab.clone_with("fresh", &["--filter=blob:none", "--no-checkout"]);
    fresh.git(&["fetch", "-q", "origin", "aitask-locks"]);
    let missing = fresh.git(&["rev-list", "--objects", "--missing=print", "FETCH_HEAD"]);
    assert!(missing.contains("\n?") || missing.starts_with('?'), "the clone lacks the record\n{missing}");
    std::fs::rename(lab.path("server.git"), lab.path("gone.git")).unwrap();
    for verb in [&["check", "42"][..], &["list"], &["claim", "42"], &["release", "42"]] {
        fresh.lock(verb).session(&Session::start()).go().expect("LOCK_ERROR", 11);
    }
    std::fs::rename(lab.path("gone.git"), lab.path("server.git")).unwrap();
    works_beside(&fresh, &session);
    let missing = fresh.git(&["rev-list", "--objects", "--missing=print", "main"]);
    assert!(missing.contains('?'), "the project's own files were not fetched for it\n{missing}");
}

#[track_caller]
fn works_beside(repo: &Repo<'_>, holder: &Session) {
    let second = Session::start();
    let check = repo.lock(&["check", "42"]).session(&second).go().expect("LOCKED", 0);
    assert_eq!([check.field(0), check.field(6)], ["alice@example.com", "live"], "{check}");
    repo.lock(&["claim", "42"]).session(&second).go().expect("LOCK_LIVE_HOLDER", 13);
    repo.lock(&["refresh", "42"]).session(holder).go().expect("REFRESHED", 0);
    repo.lock(&["claim", "43"]).session(&second).go().expect("CLAIMED", 0);
    repo.lock(&["release", "43"]).session(&second).go().expect("RELEASED", 0);
}

#[test]
fn from_wherever_one_stands() {
    let lab = Lab::new();
    let spaced = lab.clone("with space\nand newline");
    works(&spaced, &lab.server());
    let repo = lab.clone("a");
    let deep = repo.path.join("x/y/z");
    std::fs::create_dir_all(&deep).unwrap();
    let session = Session::start();
    repo.lock(&["claim", "42"]).session(&session).from(&deep).go().expect("CLAIMED", 0);
    for folder in [repo.git_dir(), repo.git_dir().join("objects"), repo.git_dir().join("refs/heads")] {
        let run = |args: &[&str]| repo.lock(args).session(&session).from(&folder).go();
        run(&["check", "42"]).expect("LOCKED", 0);
        run(&["claim", "43"]).expect("CLAIMED", 0);
        run(&["release", "43"]).expect("RELEASED", 0);
    }
    let odd = lab.path(std::ffi::OsStr::from_bytes(b"odd-\xff-bytes"));
    std::fs::rename(lab.path("a"), &odd).unwrap();
    // The lab's own looks are words, and this name is none: the program has to do without them.
    let odd = lab.at(odd);
    odd.lock(&["claim", "44"]).session(&session).go().expect("CLAIMED", 0);
    odd.lock(&["release", "44"]).session(&session).go().expect("RELEASED", 0);
    let missing = repo.lock(&["list"]).from(lab.root()).arg("-C").arg(lab.path("nowhere")).go();
    missing.expect("LOCK_ERROR", 128);
    repo.lock(&["list"]).from(lab.root()).go().expect_line("LOCK_ERROR:no_repository", 128);
}

#[test]
fn a_relative_address_counts_from_the_worktree() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    repo.git(&["config", "remote.origin.url", "../server.git"]);
    let deep = repo.path.join("x/y");
    std::fs::create_dir_all(&deep).unwrap();
    repo.lock(&["claim", "42"]).session(&Session::start()).from(&deep).go().expect("CLAIMED", 0);
    assert_eq!(lab.server().lock_files(), ["t42_lock.yaml"]);
}

#[test]
fn a_repository_that_git_does_not_trust() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    for verb in [&["claim", "42"][..], &["list"], &["check", "42"]] {
        let refused = repo.lock(verb).env("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1").go();
        let refused = refused.expect_line("LOCK_ERROR:no_repository|dubious_ownership", 128);
        assert!(refused.stderr.contains("dubious ownership"), "{refused}");
        assert!(refused.stderr.contains("safe.directory"), "{refused}");
    }
    assert_eq!(lab.server().tip(BRANCH), None);
}
