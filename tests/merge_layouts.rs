//! Merges run in one place, wherever they are called from, in repositories of every layout.

use crate::support::merging::Scene;
use crate::support::{Lab, Repo, Session};

/// Merges task 42 from a folder, and makes sure that it happened in `root`.
#[track_caller]
fn assert_merges(scene: &Scene<'_>, from: &std::path::Path) {
    let run = scene.root.human(&["--porcelain", "merge", "begin", "42"]).session(&scene.session);
    run.from(from).go().expect("MERGE_OK", 0);
    assert_eq!(scene.read("task"), b"of the task\n");
    let run = scene.root.human(&["--porcelain", "merge", "release", "42"]).session(&scene.session);
    let released = run.from(from).go().expect("RELEASED", 0);
    assert_eq!(released.field(2), "", "{released}");
}

#[test]
fn from_anywhere_in_the_repository() {
    for place in ["deep/er", ".git", ".git/refs/heads", "../wt", "../wt/deep"] {
        let lab = Lab::empty();
        let scene = Scene::apart(&lab);
        scene.root.git(&["worktree", "add", "-q", "-b", "side", "../wt", "main"]);
        let from = scene.root.path.join(place);
        std::fs::create_dir_all(&from).unwrap();
        assert_merges(&scene, &from);
    }
}

#[test]
fn in_a_path_with_anything_in_it() {
    let lab = Lab::empty();
    let scene = Scene::in_place(lab.alone("a b\n'c'"), "task", "other");
    scene.root.git(&["worktree", "add", "-q", "-b", "side", "../w\nt", "main"]);
    scene.root.git(&["branch", "release"]);
    let from = lab.path("w\nt");
    assert_merges(&scene, &from);
    // The other worktree's path comes whole.
    let run = scene.root.human(&["--porcelain", "merge", "begin", "42", "--into", "side"]);
    let refused = run.session(&scene.session).go().expect("PREFLIGHT_FOREIGN_WORKTREE", 22);
    assert_eq!(refused.field(0), from.display().to_string().replace('\n', "%0A"));
}

#[test]
fn a_submodule_has_a_mutex_of_its_own() {
    let lab = Lab::empty();
    lab.bare("module.git", &[]);
    let url = format!("file://{}", lab.path("module.git").display());
    let outer = lab.alone("outer");
    outer.git(&["submodule", "add", "-q", &url, "mod ule"]);
    outer.git(&["commit", "-qm", "module"]);
    let scene = Scene::in_place(lab.at("outer/mod ule"), "task", "other");
    let session = Session::start();
    let claimed = outer.human(&["--porcelain", "merge", "claim", "42"]).session(&session).go();
    let _held = claimed.expect("MERGE_CLAIMED", 0);
    assert_merges(&scene, &scene.root.path);
    scene.root.git(&["worktree", "add", "-q", "-b", "side", "../../wt", "main"]);
    scene.root.git(&["reset", "-q", "--hard", "HEAD~"]);
    assert_merges(&scene, &lab.path("wt"));
}

#[test]
fn a_separate_git_directory() {
    let lab = Lab::empty();
    let git_dir = format!("--separate-git-dir={}", lab.path("elsewhere.git").display());
    let scene = Scene::in_place(lab.alone_with("root", &[&git_dir]), "task", "other");
    scene.root.git(&["worktree", "add", "-q", "-b", "side", "../wt", "main"]);
    // From another worktree, nothing says where the main one is: that is said, with the setting.
    let run = scene.root.human(&["--porcelain", "merge", "begin", "42"]).session(&scene.session);
    run.from(&lab.path("wt")).go().expect("PREFLIGHT_MISSING", 22);
    assert_merges(&scene, &scene.root.path);
    scene.root.git(&["reset", "-q", "--hard", "HEAD~"]);
    scene.root.git(&["config", "aitask-lock.mergeWorktree", scene.root.path.to_str().unwrap()]);
    assert_merges(&scene, &lab.path("wt"));
}

fn bare(lab: &Lab) -> (Repo<'_>, Scene<'_>) {
    let bare = lab.bare("bare.git", &[]);
    bare.git(&["worktree", "add", "-q", "../root", "main"]);
    (bare, Scene::in_place(lab.at("root"), "task", "other"))
}

#[test]
fn a_bare_repository_names_its_worktree() {
    for setting in ["root", "./root/", "ABSOLUTE"] {
        let lab = Lab::empty();
        let (bare, scene) = bare(&lab);
        scene.root.git(&["worktree", "add", "-q", "../wt", "t42"]);
        let absolute = scene.root.path.display().to_string();
        bare.git(&["config", "aitask-lock.mergeWorktree", &setting.replace("ABSOLUTE", &absolute)]);
        for from in ["wt", "bare.git", "root"] {
            let run = scene.root.human(&["--porcelain", "merge", "status"]).session(&scene.session);
            run.from(&lab.path(from)).go().expect("FREE", 0);
        }
        assert_merges(&scene, &lab.path("wt"));
        scene.root.git(&["reset", "-q", "--hard", "HEAD~"]);
        assert_merges(&scene, &bare.path);
    }
}

#[test]
fn a_setting_that_names_something_else_is_refused() {
    let lab = Lab::empty();
    let (bare, scene) = bare(&lab);
    std::fs::create_dir(lab.path("root/inner")).unwrap();
    lab.alone("other");
    for setting in ["", "gone", "other", "root/inner", "bare.git", "home"] {
        if setting.is_empty() {
            let told = scene.root.human(&["merge", "begin", "42"]).session(&scene.session).go();
            assert_eq!(told.code(), 22, "{told}");
            // The hint is the very command.
            let root = scene.root.path.display().to_string();
            assert!(told.stderr.contains(&format!("git config aitask-lock.mergeWorktree {root}")), "{told}");
        } else {
            bare.git(&["config", "aitask-lock.mergeWorktree", setting]);
        }
        scene.merge(&["begin", "42"]).expect("PREFLIGHT_MISSING", 22);
        assert_eq!(scene.status(), "FREE", "{setting}");
    }
}

#[test]
fn inside_a_hook_of_another_worktree() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    let side = scene.root.worktree("side");
    scene.hook("post-commit", "git-aitask-lock merge begin 42 --porcelain >../said 2>&1");
    let mut commit = lab.command("git");
    commit.current_dir(&side.path).args(["commit", "-q", "--allow-empty", "-m", "x"]);
    commit.env("AIT_AGENT_PID", scene.session.pid().to_string());
    crate::support::Output::of(commit).success("commit");
    let said = std::fs::read_to_string(lab.path("said")).unwrap();
    assert!(said.contains("MERGE_OK:"), "{said}");
    assert_eq!(scene.read("task"), b"of the task\n");
}

#[test]
fn references_and_objects_of_every_format() {
    for options in [&["--ref-format=reftable"][..], &["--object-format=sha256"]] {
        let lab = Lab::empty();
        let scene = Scene::in_place(lab.alone_with("root", options), "file", "file");
        let before = scene.main();
        scene.merge(&["begin", "42"]).expect("MERGE_CONFLICT", 23);
        scene.merge(&["abort", "42"]).expect("ABORTED", 0);
        for (state, command) in [("cherry-pick", "cherry-pick"), ("revert", "revert")] {
            let _stops = scene.root.try_git(&[command, "t42"]);
            scene.merge(&["begin", "42"]).expect_line(&format!("STALE_MERGE_RESIDUE:{state}|"), 22);
            scene.root.git(&[command, "--abort"]);
        }
        assert_eq!(scene.main(), before, "{options:?}");
        scene.merge(&["begin", "42", "--", "-Xours"]).expect("MERGE_OK", 0);
        scene.merge(&["cleanup", "42", "--task-complete"]).expect("CLEANED", 0);
        let released = scene.merge(&["release", "42"]).expect("RELEASED", 0);
        assert_eq!(released.field(2), "", "{released}");
    }
}

#[test]
fn a_partial_clone_fetches_what_it_merges() {
    let lab = Lab::new();
    let source = lab.clone("source");
    source.git(&["switch", "-q", "-c", "t42"]);
    source.commit("task", "of the task\n");
    source.git(&["push", "-q", "origin", "t42"]);
    let root = lab.clone_with("root", &["--filter=blob:none"]);
    root.git(&["branch", "t42", "origin/t42"]);
    root.commit("other", "of main\n");
    let scene = Scene { root, session: Session::start() };
    assert_merges(&scene, &scene.root.path);
}
