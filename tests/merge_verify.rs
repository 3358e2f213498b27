//! `merge begin --verify`: what is not found good is undone again, with nothing lost.

use crate::support::Lab;
use crate::support::merging::{Scene, run_printed};

#[test]
fn a_merge_that_is_found_good_stays() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    let args = ["merge", "begin", "42", "--verify", "cat task; test -f other"];
    let told = scene.root.human(&args).session(&scene.session).go();
    assert_eq!(told.code(), 0, "{told}");
    // Its output is talk, and it ran in the shared root.
    assert!(told.stderr.contains("of the task\n") && !told.stdout.contains("of the task"), "{told}");
    assert!(told.stderr.contains("VERIFYING:42:0"), "{told}");
    assert_eq!(scene.status(), "HELD");
}

#[test]
fn a_merge_that_is_not_is_undone_and_saved() {
    for (by_setting, forward) in [(false, false), (true, false), (false, true)] {
        let lab = Lab::empty();
        let scene = Scene::apart(&lab);
        if forward {
            scene.root.git(&["reset", "-q", "--hard", "HEAD~"]);
        }
        let before = scene.main();
        let line = "echo changed > file; exit 3";
        let undone = if by_setting {
            scene.root.git(&["config", "aitask-lock.verify", line]);
            scene.merge(&["begin", "42"])
        } else {
            scene.merge(&["begin", "42", "--verify", line])
        };
        let undone = undone.expect("MERGE_UNVERIFIED", 24);
        assert_eq!((undone.field(1), undone.field(3)), ("42", "released"), "{undone}");
        assert_eq!(
            (scene.main(), scene.changes(), scene.status()),
            (before, String::new(), "FREE".to_owned())
        );
        // The merge and what the command did to it.
        let rescue = undone.field(2).to_owned();
        let merge = scene.root.git(&["rev-parse", &format!("{rescue}^1")]);
        assert_eq!(undone.field(0), merge);
        assert_eq!(scene.root.git(&["show", &format!("{rescue}:file")]), "changed");
    }
}

#[test]
fn what_was_committed_meanwhile_is_not_undone() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    let line = "git commit -q --allow-empty -m more; false";
    let args = ["merge", "begin", "42", "--verify", line];
    let kept = scene.root.human(&args).session(&scene.session).go();
    assert!(kept.code() == 24 && kept.stderr.contains("not where the merge left it"), "{kept}");
    assert_eq!(scene.root.git(&["log", "-1", "--format=%s"]), "more");
    assert_eq!(scene.status(), "HELD");
    let look = kept.stderr.lines().find_map(|line| line.strip_prefix("hint: git -C ")).unwrap();
    run_printed(&lab, &format!("git -C {look}"));
}

#[test]
fn a_refusal_repeats_what_verifies() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.root.git(&["switch", "-q", "-c", "feature"]);
    let args = ["merge", "begin", "42", "--verify", "make it"];
    let refused = scene.root.human(&args).session(&scene.session).go();
    let again = "git aitask-lock merge begin 42 --into feature --verify 'make it'";
    assert!(refused.code() == 22 && refused.stderr.contains(again), "{refused}");
}
