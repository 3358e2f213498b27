//! After the merge: what the holder is told when it gives the reservation back, and what is removed.

use crate::support::Lab;
use crate::support::merging::{Scene, run_printed};

/// The words of what `release` found.
fn findings(scene: &Scene<'_>) -> String {
    scene.merge(&["release", "42"]).expect("RELEASED", 0).field(2).to_owned()
}

/// How a parked conflict ends.
type End = fn(&Scene<'_>);

#[test]
fn a_parked_conflict_that_ends_as_something_else() {
    let ends: [(&str, End); 5] = [
        ("NOT_A_MERGE,TASK_NOT_MERGED", |scene| {
            scene.root.git(&["reset", "-q"]);
            scene.write("file", "resolved\n");
            scene.root.git(&["commit", "-qam", "not a merge"]);
        }),
        ("CONFLICT_MARKERS", |scene| {
            scene.root.git(&["commit", "-qam", "with the markers"]);
        }),
        ("HISTORY_REWRITTEN,TASK_NOT_MERGED", |scene| {
            scene.root.git(&["reset", "-q", "--hard", "HEAD~"]);
            scene.root.git(&["commit", "-q", "--allow-empty", "-m", "another"]);
        }),
        ("HEAD_CHANGED", |scene| {
            scene.root.git(&["reset", "-q", "--hard"]);
            scene.root.git(&["switch", "-q", "t42"]);
        }),
        ("OUTPUT_BRANCH_CHANGED", |scene| {
            scene.write("file", "resolved\n");
            scene.root.git(&["commit", "-qam", "resolved"]);
            scene.root.git(&["commit", "-q", "--allow-empty", "-m", "one more"]);
        }),
    ];
    for (words, end) in ends {
        let lab = Lab::empty();
        let scene = Scene::conflicting(&lab);
        scene.merge(&["begin", "42"]).expect("MERGE_CONFLICT", 23);
        end(&scene);
        assert_eq!(findings(&scene), words);
        assert_eq!(scene.status(), "FREE", "{words}");
    }
}

/// Once it is given away in the middle, nobody could undo it.
#[test]
fn the_middle_of_a_merge_is_not_given_away() {
    let lab = Lab::empty();
    let scene = Scene::conflicting(&lab);
    scene.merge(&["begin", "42"]).expect("MERGE_CONFLICT", 23);
    scene.merge(&["release", "42"]).expect_line("RETAINED:MERGE_CONFLICT|42", 29);
    scene.root.git(&["add", "file"]);
    scene.merge(&["release", "42"]).expect_line("RETAINED:STALE_MERGE_RESIDUE|42", 29);
    let told = scene.root.human(&["merge", "release", "42"]).session(&scene.session).go();
    assert!(told.code() == 29 && told.stderr.contains("git aitask-lock merge abort 42"), "{told}");
    assert_eq!(scene.status(), "HELD");
    scene.merge(&["abort", "42"]).expect("ABORTED", 0);
}

#[test]
fn what_others_left_does_not_hold_up_the_release() {
    let lab = Lab::empty();
    let scene = Scene::conflicting(&lab);
    scene.root.git(&["switch", "-q", "-c", "foreign", "t42~"]);
    scene.root.commit("file", "foreign\n");
    scene.root.git(&["switch", "-q", "main"]);
    scene.merge(&["claim", "42"]).expect("MERGE_CLAIMED", 0);
    let _stops = scene.root.try_git(&["merge", "foreign"]);
    assert_eq!(findings(&scene), "RESIDUE_LEFT");
}

/// A branch that the task's stands on is merged by somebody else: every ancestor is not the task's merge.
#[test]
fn a_foreign_merge_is_named_and_left_alone() {
    let lab = Lab::empty();
    let scene = Scene::conflicting(&lab);
    scene.root.git(&["branch", "below", "t42"]);
    scene.root.git(&["switch", "-q", "t42"]);
    scene.root.commit("more", "on top\n");
    scene.root.git(&["switch", "-q", "main"]);
    scene.merge(&["claim", "42"]).expect("MERGE_CLAIMED", 0);
    let _stops = scene.root.try_git(&["merge", "below"]);
    scene.merge(&["abort", "42"]).expect_line("ABORT_UNSAFE:merge:", 28);
    for command in ["abort", "run"] {
        let told = scene.root.human(&["merge", command, "42"]).session(&scene.session).go();
        assert!(told.stderr.contains("one of below into main"), "{told}");
        assert!(told.stderr.contains("merge --abort") && !told.stderr.contains("resolve it"), "{told}");
    }
    let told = scene.root.human(&["merge", "abort", "42"]).session(&scene.session).go();
    run_printed(&lab, told.stderr.lines().find_map(|line| line.split_once("undone: ")).unwrap().1);
    assert_eq!(scene.changes(), "");
}

/// Where the branch is gone, what was merged is compared.
#[test]
fn a_release_after_a_cleanup_finds_nothing() {
    for by_hand in [false, true] {
        let lab = Lab::empty();
        let scene = Scene::apart(&lab);
        scene.root.git(&["reset", "-q", "--hard", "HEAD~"]);
        scene.merge(&["claim", "42"]).expect("MERGE_CLAIMED", 0);
        if by_hand {
            scene.root.git(&["merge", "-q", "t42"]);
        } else {
            scene.merge(&["run", "42"]).expect("MERGE_OK", 0);
        }
        scene.merge(&["cleanup", "42", "--task-complete"]).expect("CLEANED", 0);
        assert_eq!(findings(&scene), "", "{by_hand}");
    }
}

#[test]
fn markers_that_the_task_brought_along_are_its_own() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.root.git(&["switch", "-q", "t42"]);
    scene.root.commit("manual", "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n");
    scene.root.git(&["switch", "-q", "main"]);
    scene.merge(&["begin", "42"]).expect("MERGE_OK", 0);
    assert_eq!(findings(&scene), "");
}

#[test]
fn changes_by_others_are_told_and_do_not_hold_up_the_release() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.merge(&["claim", "42"]).expect("MERGE_CLAIMED", 0);
    scene.root.git(&["commit", "-q", "--allow-empty", "-m", "by an outsider"]);
    scene.merge(&["run", "42"]).expect("MERGE_OK", 0);
    scene.write("file", "left behind\n");
    let told = scene.root.human(&["merge", "release", "42"]).session(&scene.session).go();
    assert_eq!(told.code(), 0, "{told}");
    assert!(told.stderr.contains("main got other commits meanwhile"), "{told}");
    assert!(told.stderr.contains("changed files are left"), "{told}");
    assert_eq!(scene.status(), "FREE");
}

#[test]
fn looking_changes_nothing() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.merge(&["claim", "42"]).expect("MERGE_CLAIMED", 0);
    let index = scene.root.git_dir().join("index");
    // Stale times in the index: a status that takes locks would write it.
    std::fs::File::options()
        .write(true)
        .open(scene.root.path.join("file"))
        .unwrap()
        .set_modified(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
    let before = std::fs::read(&index).unwrap();
    assert_eq!(findings(&scene), "");
    assert_eq!(std::fs::read(&index).unwrap(), before);
}

#[test]
fn a_merged_branch_and_its_worktree_are_removed() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.root.git(&["worktree", "add", "-q", "../wt", "t42"]);
    scene.root.git(&["config", "branch.t42.remote", "."]);
    scene.merge(&["begin", "42"]).expect("MERGE_OK", 0);
    scene.merge(&["cleanup", "42"]).expect("CLEANUP_REQUIRES_COMPLETION", 22);
    assert!(scene.root.tip("refs/heads/t42").is_some());
    let cleaned = scene.merge(&["cleanup", "42", "--task-complete"]).expect("CLEANED", 0);
    assert!(cleaned.line().contains("branch t42"), "{cleaned}");
    assert_eq!(scene.root.tip("refs/heads/t42"), None);
    assert!(!lab.path("wt").exists());
    assert_eq!(scene.root.try_git(&["config", "branch.t42.remote"]).code(), 1);
    assert_eq!(scene.status(), "HELD");
    scene.merge(&["cleanup", "42", "--task-complete"]).expect("CLEANED", 0);
    assert_eq!(findings(&scene), "");
}

#[test]
fn what_would_be_lost_stays() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.merge(&["begin", "42"]).expect("MERGE_OK", 0);
    let clean = ["cleanup", "42", "--task-complete"];
    let wt = scene.root.worktree("wt");
    wt.git(&["switch", "-q", "t42"]);

    let stays = |why: &str| {
        let partial = scene.merge(&clean).expect("CLEANED_PARTIAL", 29);
        assert!(partial.line().contains(why), "{why}\n{partial}");
        assert!(scene.root.tip("refs/heads/t42").is_some() && wt.path.exists(), "{partial}");
        assert_eq!(scene.status(), "HELD");
    };
    std::fs::write(wt.path.join("untracked"), "precious\n").unwrap();
    stays("contains modified or untracked files");
    std::fs::remove_file(wt.path.join("untracked")).unwrap();

    scene.root.git(&["worktree", "lock", "--reason", "on a stick", "../wt"]);
    stays("it is locked (on a stick)");
    scene.root.git(&["worktree", "unlock", "../wt"]);

    let from_within = scene.root.human(&[&["--porcelain", "merge"], &clean[..]].concat());
    let partial = from_within.session(&scene.session).from(&wt.path).go().expect("CLEANED_PARTIAL", 29);
    assert!(partial.line().contains("this command runs in it"), "{partial}");

    wt.commit("later", "not merged\n");
    stays("it is not merged into main");
    wt.git(&["reset", "-q", "--hard", "HEAD~"]);
    scene.merge(&clean).expect("CLEANED", 0);
}

#[test]
fn what_is_no_tasks_branch_is_not_removed() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.root.git(&["branch", "release"]);
    scene.merge(&["claim", "43", "--into", "release"]).expect("MERGE_CLAIMED", 0);
    scene.merge(&["cleanup", "43", "--task-complete"]).expect("TARGET_MISMATCH", 22);
    scene.merge(&["release", "43"]).expect("RELEASED", 0);
    scene.merge(&["claim", "42", "--into", "t42"]).expect("MERGE_CLAIMED", 0);
    scene.merge(&["cleanup", "42", "--task-complete"]).expect("TARGET_MISMATCH", 22);
    assert!(scene.root.tip("refs/heads/t42").is_some());
}

#[test]
fn an_abort_leaves_alone_what_is_not_its_own() {
    let lab = Lab::empty();
    let scene = Scene::conflicting(&lab);
    scene.root.git(&["switch", "-q", "-c", "foreign", "t42~"]);
    scene.root.commit("file", "foreign\n");
    scene.root.git(&["switch", "-q", "main"]);
    scene.merge(&["claim", "42"]).expect("MERGE_CLAIMED", 0);
    scene.merge(&["run", "42"]).expect("MERGE_CONFLICT", 23);
    scene.root.git(&["merge", "--abort"]);
    let _stops = scene.root.try_git(&["merge", "foreign"]);
    scene.merge(&["abort", "42"]).expect_line("ABORT_UNSAFE:merge:", 28);
    scene.root.git(&["merge", "--abort"]);
    let _stops = scene.root.try_git(&["cherry-pick", "foreign"]);
    let told = scene.root.human(&["merge", "abort", "42"]).session(&scene.session).go();
    let command = told.stderr.lines().find_map(|line| line.strip_prefix("hint: ")).unwrap();
    run_printed(&lab, command);
    scene.merge(&["abort", "42"]).expect("RELEASED_NO_MERGE", 0);
    // A merge that is committed is not undone.
    scene.merge(&["begin", "42", "--", "-X", "ours"]).expect("MERGE_OK", 0);
    let merged = scene.main();
    let given = scene.merge(&["abort", "42"]).expect("RELEASED_NO_MERGE", 0);
    assert!(given.stderr.contains("merged into main already"), "{given}");
    assert_eq!(scene.main(), merged);
}
