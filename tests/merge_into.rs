//! Which branch a merge goes into, and that the shared root is never merged into for standing there.

use crate::support::fingerprint::Fingerprint;
use crate::support::merging::{Scene, run_printed};
use crate::support::{Lab, Session};

/// Refused with both branches, with nothing changed, and with the two commands that settle it.
#[track_caller]
fn assert_elsewhere(scene: &Scene<'_>, head: &str, wanted: &str) -> Vec<String> {
    let before = Fingerprint::of(&scene.root);
    let line = format!("PREFLIGHT_HEAD_MISMATCH:{head}|42|released|refs/heads/{wanted}");
    for verb in ["claim", "begin"] {
        scene.merge(&[verb, "42"]).expect_line(&line, 22);
    }
    let told = scene.root.human(&["merge", "begin", "42"]).session(&scene.session).go();
    assert!(told.stderr.contains(&format!("is on {head}, and merges go into {wanted}")), "{told}");
    Fingerprint::of(&scene.root).assert_same(&before, head);
    let commands = told.stderr.lines().filter_map(|line| line.rsplit_once(": ").map(|(_, last)| last));
    let commands: Vec<String> = commands.filter(|last| last.starts_with("git ")).map(str::to_owned).collect();
    assert_eq!(commands.len(), 2, "{told}");
    commands
}

#[test]
fn a_root_that_was_left_elsewhere_is_refused_and_both_ways_out_work() {
    for way in 0..2 {
        let lab = Lab::empty();
        let scene = Scene::apart(&lab);
        scene.root.git(&["switch", "-q", "-c", "feature"]);
        let main = scene.main();
        let commands = assert_elsewhere(&scene, "feature", "main");
        if way == 0 {
            run_printed(&lab, &commands[0]);
            scene.merge(&["begin", "42"]).expect("MERGE_OK", 0);
            assert_ne!(scene.main(), main);
        } else {
            let args: Vec<&str> = commands[1].split(' ').skip(3).collect();
            let merged = scene.merge(&args).expect("MERGE_OK", 0);
            assert_eq!((merged.field(2), scene.main()), ("refs/heads/feature", main));
        }
    }
}

#[test]
fn each_of_the_names_counts_before_the_next() {
    let lab = Lab::new();
    let root = lab.clone("root");
    let scene = Scene::in_place(root, "task", "other");
    let root = &scene.root;
    for branch in ["trunk", "dev", "feature"] {
        root.git(&["branch", branch]);
    }
    root.git(&["config", "init.defaultBranch", "dev"]);
    root.git(&["switch", "-q", "feature"]);
    assert_elsewhere(&scene, "feature", "main");
    root.git(&["symbolic-ref", "--delete", "refs/remotes/origin/HEAD"]);
    assert_elsewhere(&scene, "feature", "dev");
    root.git(&["config", "init.defaultBranch", "nosuch"]);
    assert_elsewhere(&scene, "feature", "main");
    root.git(&["config", "aitask-lock.mergeInto", "trunk"]);
    assert_elsewhere(&scene, "feature", "trunk");
    root.git(&["switch", "-q", "trunk"]);
    assert_eq!(scene.merge(&["begin", "42"]).expect("MERGE_OK", 0).field(2), "refs/heads/trunk");
    scene.merge(&["release", "42"]).expect("RELEASED", 0);
    // A name for nothing is refused as well, and taken out as printed.
    root.git(&["config", "aitask-lock.mergeInto", "nosuch"]);
    let refused = root.human(&["merge", "begin", "42"]).session(&scene.session).go();
    assert_eq!(refused.code(), 22, "{refused}");
    let unset = refused.stderr.lines().find_map(|line| line.split_once("take it out: ")).unwrap().1;
    run_printed(&lab, unset);
    assert_elsewhere(&scene, "trunk", "main");
}

#[test]
fn a_task_is_not_merged_into_its_own_branch() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.root.git(&["switch", "-q", "t42"]);
    let commands = assert_elsewhere(&scene, "t42", "main");
    assert_eq!(commands[1], "git aitask-lock merge begin 42 --into main");
    scene.merge(&["begin", "42", "--into", "main"]).expect("MERGE_OK", 0);
}

#[test]
fn the_first_merge_says_which_branch_and_why() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    let begin = || scene.root.human(&["merge", "begin", "42"]).session(&scene.session).go();
    let said = "merges go into main, the branch that init.defaultBranch names";
    let first = begin();
    assert!(first.code() == 0 && first.stderr.contains(said), "{first}");
    scene.merge(&["release", "42"]).expect("RELEASED", 0);
    let second = begin();
    assert!(second.code() == 0 && !second.stderr.contains("merges go into"), "{second}");
    scene.merge(&["release", "42"]).expect("RELEASED", 0);
    scene.root.git(&["config", "aitask-lock.mergeInto", "main"]);
    let third = begin();
    assert!(third.stderr.contains("the branch that aitask-lock.mergeInto names"), "{third}");
}

#[test]
fn where_nothing_names_one_every_merge_says_so() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.root.git(&["branch", "-q", "-m", "main", "work"]);
    for _ in 0..2 {
        let told = scene.root.human(&["merge", "begin", "42"]).session(&scene.session).go();
        assert!(told.stderr.contains("nothing else names one"), "{told}");
        scene.merge(&["release", "42"]).expect("RELEASED", 0);
    }
    let told = scene.root.human(&["merge", "claim", "42"]).session(&scene.session).go();
    let name_it = told.stderr.lines().find_map(|line| line.split_once("for good: ")).unwrap().1;
    scene.merge(&["release", "42"]).expect("RELEASED", 0);
    let (folder, name_it) = (scene.root.path.to_str().unwrap(), name_it.strip_prefix("git ").unwrap());
    run_printed(&lab, &format!("git -C {folder} {name_it}"));
    let told = scene.root.human(&["merge", "claim", "42"]).session(&scene.session).go();
    assert!(told.stderr.contains("aitask-lock.mergeInto names"), "{told}");
}

/// The lost session merged into a branch that merges do not go into: putting the root right is enough.
#[test]
fn a_lost_session_elsewhere_ends_in_one_command() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.root.git(&["branch", "feature"]);
    let gone = Session::start();
    let into = ["merge", "claim", "7", "--into", "feature"];
    scene.root.lock(&into).session(&gone).go().expect("MERGE_CLAIMED", 0);
    scene.root.git(&["switch", "-q", "feature"]);
    drop(gone);
    let commands = assert_elsewhere(&scene, "feature", "main");
    run_printed(&lab, &commands[0]);
    assert_eq!(scene.merge(&["begin", "42"]).expect("MERGE_OK", 0).field(2), "refs/heads/main");
}
