//! Refused before anything is touched: each reason, with the reservation given back where it was taken
//! for this, and kept where it was there before.

use crate::support::Lab;
use crate::support::fingerprint::Fingerprint;
use crate::support::merging::{Scene, run_printed};

/// `begin` and `run` both refuse with this line, and nothing has changed.
#[track_caller]
fn assert_refused(scene: &Scene<'_>, args: &[&str], start: &str) {
    let before = Fingerprint::of(&scene.root);
    let begin = [&["begin", "42"], args].concat();
    let refused = scene.merge(&begin).expect_line(start, 22);
    assert_eq!(scene.status(), "FREE", "{refused}");
    Fingerprint::of(&scene.root).assert_same(&before, start);
    // People are told what to do next.
    let told = scene.root.human(&[&["merge"], &begin[..]].concat()).session(&scene.session).go();
    assert!(told.stderr.contains("hint: "), "{told}");
}

/// git overwrites ignored files without a word.
#[test]
fn ignored_files_in_the_way_are_not_overwritten() {
    // A merge commit, a fast-forward, and a file where the branch has a folder.
    for (added, in_the_way, forward) in
        [("out/a", "out/a", false), ("out/a", "out/a", true), ("out/a", "out", false)]
    {
        let lab = Lab::empty();
        let scene = Scene::apart(&lab);
        if forward {
            scene.root.git(&["reset", "-q", "--hard", "HEAD~"]);
        }
        scene.root.git(&["switch", "-q", "t42"]);
        scene.write(added, "of the task\n");
        scene.root.git(&["add", "."]);
        scene.root.git(&["commit", "-qm", "more"]);
        scene.root.git(&["switch", "-q", "main"]);
        std::fs::write(scene.root.git_dir().join("info/exclude"), "/out\n").unwrap();
        scene.write(in_the_way, "precious\n");
        assert_refused(&scene, &[], &format!("DIRTY_TREE:{in_the_way}|42|released"));
        assert_eq!(scene.read(in_the_way), b"precious\n");
        std::fs::rename(scene.root.path.join("out"), lab.path("aside")).unwrap();
        scene.merge(&["begin", "42"]).expect("MERGE_OK", 0);
    }
}

/// A checkout would leave them to the next garbage collection.
#[test]
fn commits_that_only_a_detached_head_has_are_not_left_behind() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.root.git(&["switch", "-q", "--detach"]);
    scene.root.commit("mine", "only here\n");
    let oid = scene.root.git(&["rev-parse", "HEAD"]);
    let refused = scene.merge(&["begin", "42", "--into", "main"]).expect("PREFLIGHT_HEAD_MISMATCH", 22);
    assert_eq!((refused.field(0), refused.field(2)), (oid.as_str(), "released"));
    assert!(scene.root.git(&["rev-parse", "HEAD"]) == oid && scene.status() == "FREE");
    let told = scene.root.human(&["merge", "begin", "42", "--into", "main"]).session(&scene.session).go();
    let keep = told.stderr.lines().find_map(|line| line.split_once("keep it: ")).unwrap().1;
    run_printed(&lab, &keep.replace("<name>", "kept"));
    scene.merge(&["begin", "42", "--into", "main"]).expect("MERGE_OK", 0);
}

#[test]
fn a_dirty_tree() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.write("file", "changed\n");
    assert_refused(&scene, &[], "DIRTY_TREE:file|42|released");
    scene.root.git(&["add", "file"]);
    assert_refused(&scene, &[], "DIRTY_TREE:file|42|released");
    scene.root.git(&["reset", "-q", "--hard"]);
    scene.root.git(&["rm", "-q", "file"]);
    assert_refused(&scene, &[], "DIRTY_TREE:file|42|released");
    scene.root.git(&["reset", "-q", "--hard"]);
    scene.merge(&["claim", "42"]).expect("MERGE_CLAIMED", 0);
    scene.write("file", "changed\n");
    scene.merge(&["run", "42"]).expect_line("DIRTY_TREE:file|42|kept", 22);
    assert_eq!(scene.status(), "HELD");
}

#[test]
fn untracked_and_ignored_files_are_nobodys_business() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.write(".git/info/exclude", "*.o\n");
    scene.write("x.o", "ignored\n");
    scene.write("new", "untracked\n");
    scene.root.git(&["stash", "list"]);
    scene.merge(&["begin", "42"]).expect("MERGE_OK", 0);
    assert_eq!((scene.read("x.o"), scene.read("new")), (b"ignored\n".to_vec(), b"untracked\n".to_vec()));
}

#[test]
fn unfinished_operations_of_every_kind() {
    let kinds: [(&str, &[&[&str]]); 6] = [
        ("merge", &[&["merge", "t42"]]),
        ("rebase", &[&["rebase", "t42"]]),
        ("rebase", &[&["rebase", "--apply", "t42"]]),
        ("cherry-pick", &[&["cherry-pick", "t42"]]),
        ("revert", &[&["commit", "-qm", "more", "--allow-empty"], &["revert", "--no-edit", "t42"]]),
        ("bisect", &[&["bisect", "start"]]),
    ];
    for (state, commands) in kinds {
        let lab = Lab::empty();
        let scene = Scene::conflicting(&lab);
        for command in commands {
            let _stops_half_way = scene.root.try_git(command);
        }
        assert_refused(&scene, &["--into", "main"], &format!("STALE_MERGE_RESIDUE:{state}|"));
    }
}

#[test]
fn am_and_an_unmerged_index_alone() {
    let lab = Lab::empty();
    let scene = Scene::conflicting(&lab);
    let patch = scene.root.git(&["format-patch", "-1", "--stdout", "t42"]);
    std::fs::write(lab.path("patch"), patch).unwrap();
    let _stops = scene.root.try_git(&["am", "-q", lab.path("patch").to_str().unwrap()]);
    assert_refused(&scene, &[], "STALE_MERGE_RESIDUE:am|");
    scene.root.git(&["am", "--abort"]);
    let _stops = scene.root.try_git(&["merge", "t42"]);
    std::fs::remove_file(scene.root.git_dir().join("MERGE_HEAD")).unwrap();
    assert_refused(&scene, &[], "STALE_MERGE_RESIDUE:unmerged|reset-hard");
}

#[test]
fn a_sequence_between_two_picks() {
    let lab = Lab::empty();
    let scene = Scene::conflicting(&lab);
    scene.root.git(&["switch", "-q", "t42"]);
    scene.root.commit("second", "x\n");
    scene.root.git(&["switch", "-q", "main"]);
    let _stops = scene.root.try_git(&["cherry-pick", "t42~", "t42"]);
    scene.write("file", "resolved\n");
    scene.root.git(&["add", "file"]);
    scene.root.git(&["commit", "-qm", "picked"]);
    assert_eq!(scene.changes(), "");
    assert_refused(&scene, &[], "STALE_MERGE_RESIDUE:cherry-pick|");
}

#[test]
fn a_locked_index_is_waited_for_and_then_named() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.merge(&["claim", "42"]).expect("MERGE_CLAIMED", 0);
    let lock = scene.root.git_dir().join("index.lock");
    std::fs::write(&lock, "").unwrap();
    scene.merge(&["run", "42"]).expect_line("STALE_MERGE_RESIDUE:index-lock|", 22);
    let told = scene.root.human(&["merge", "run", "42"]).session(&scene.session).go();
    let command = told.stderr.lines().find_map(|line| line.split_once("running there: ")).unwrap().1;
    run_printed(&lab, command);
    assert!(!lock.exists());
    scene.merge(&["run", "42"]).expect("MERGE_OK", 0);
}

#[test]
fn missing_branches() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    assert_refused(&scene, &["gone"], "PREFLIGHT_MISSING:gone|42|released");
    assert_refused(&scene, &["--into", "gone"], "PREFLIGHT_MISSING:gone|42|released");
    scene.root.git(&["branch", "task/42"]);
    assert_refused(&scene, &[], "PREFLIGHT_MISSING:t42,task/42|42|released");
    scene.root.git(&["branch", "-D", "task/42", "t42"]);
    assert_refused(&scene, &[], "PREFLIGHT_MISSING:t42|42|released");
    scene.root.git(&["branch", "aitask/t42_words"]);
    scene.merge(&["begin", "42"]).expect("MERGE_OK", 0);
}

#[test]
fn a_branch_that_another_worktree_has() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.root.git(&["branch", "release"]);
    let other = scene.root.worktree("other");
    other.git(&["switch", "-q", "release"]);
    let path = other.path.display().to_string();
    assert_refused(&scene, &["--into", "release"], &format!("PREFLIGHT_FOREIGN_WORKTREE:{path}|42|released"));
    // An entry whose folder is gone does not count.
    std::fs::remove_dir_all(&other.path).unwrap();
    let merged = scene.merge(&["begin", "42", "--into", "release"]).expect("MERGE_OK", 0);
    assert_eq!(merged.field(2), "refs/heads/release");
    assert_eq!(scene.root.git(&["symbolic-ref", "HEAD"]), "refs/heads/release");
}

#[test]
fn a_checkout_that_fails_or_leads_elsewhere() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.root.git(&["switch", "-q", "-c", "release", "t42"]);
    scene.root.commit("extra", "tracked there\n");
    scene.root.git(&["switch", "-q", "main"]);
    scene.write("extra", "untracked here\n");
    let before = Fingerprint::of(&scene.root);
    scene
        .merge(&["begin", "42", "--into", "release"])
        .expect_line("PREFLIGHT_CHECKOUT_FAILED:release|42|released", 22);
    Fingerprint::of(&scene.root).assert_same(&before, "a checkout that fails");
    std::fs::remove_file(scene.root.path.join("extra")).unwrap();
    // A hook that goes on to somewhere else.
    scene.hook("post-checkout", "git symbolic-ref HEAD refs/heads/t42");
    scene
        .merge(&["begin", "42", "--into", "release"])
        .expect_line("PREFLIGHT_HEAD_MISMATCH:release|42|released", 22);
    assert_eq!(scene.status(), "FREE");
}

#[test]
fn branches_that_nothing_is_merged_into() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.root.lock(&["init"]).go().expect("INITIALIZED", 0);
    assert_refused(&scene, &["--into", "aitask-locks"], "UNSAFE_OUTPUT_BRANCH:aitask-locks|42|released");
    assert_refused(&scene, &["t42", "--into", "t42"], "UNSAFE_OUTPUT_BRANCH:t42|42|released");
    scene.root.git(&["tag", "v1"]);
    assert_refused(&scene, &["--into", "v1"], "UNSAFE_OUTPUT_BRANCH:v1|42|released");
    scene.root.git(&["switch", "-q", "--detach"]);
    assert_refused(&scene, &[], "UNSAFE_OUTPUT_BRANCH:HEAD|42|released");
    let head = scene.main();
    scene.merge(&["begin", "42", "--into", "main"]).expect("MERGE_OK", 0);
    assert_ne!(scene.main(), head);
    assert_eq!(scene.root.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
}
