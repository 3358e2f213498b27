//! A merge that is refused changes nothing, also where the mutex would have been taken over from a lost
//! session first; nothing that only HEAD has is lost; and what is printed is what was typed.

use crate::merge_ladder;
use crate::remedies::{lost, paste, printed};
use crate::support::fingerprint::Fingerprint;
use crate::support::merging::Scene;
use crate::support::{Lab, Output};

fn told(scene: &Scene<'_>, args: &[&str], code: i32) -> Output {
    let output = scene.root.human(args).session(&scene.session).go().no_panic();
    assert_eq!(output.code(), code, "{args:?}\n{output}");
    output
}

#[test]
fn what_would_be_refused_takes_nothing_over() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.root.git(&["branch", "task/42", "t42"]);
    scene.root.git(&["switch", "-q", "-c", "t44"]);
    scene.root.commit("out", "of the task\n");
    scene.root.git(&["switch", "-q", "main"]);
    std::fs::write(scene.root.git_dir().join("info/exclude"), "out\n").unwrap();
    scene.write("out", "precious\n");
    lost(&scene.root);
    scene.root.git(&["switch", "-q", "t42"]);
    let reservation = std::fs::read(crate::merge_mutex::reservation(&scene.root)).unwrap();
    let before = Fingerprint::of(&scene.root);
    for refused in [
        &["begin", "43"][..],
        &["begin", "42"],
        &["begin", "42", "t42", "--into", "nosuch"],
        &["claim", "43", "--into", "nosuch"],
        &["begin", "42", "nosuch"],
        &["begin", "44"],
        &["begin", "42", "t42", "--into", "t42"],
    ] {
        let output = told(&scene, &[&["merge"], refused].concat(), 22);
        assert!(output.stderr.contains("is not taken"), "{refused:?}\n{output}");
        Fingerprint::of(&scene.root).assert_same(&before, &format!("{refused:?}"));
        assert_eq!(std::fs::read(crate::merge_mutex::reservation(&scene.root)).unwrap(), reservation);
    }
    // What is right takes it over.
    told(&scene, &["merge", "begin", "42", "t42"], 0);
    assert_eq!(scene.root.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
}

#[test]
fn what_is_refused_leaves_head_where_it_was() {
    let lab = Lab::empty();
    let scene = Scene::conflicting(&lab);
    scene.root.git(&["switch", "-q", "-c", "t44"]);
    scene.root.commit("out", "of the task\n");
    scene.root.git(&["switch", "-q", "main"]);
    scene.root.git(&["branch", "release", "main~"]);
    std::fs::write(scene.root.git_dir().join("info/exclude"), "out\n").unwrap();
    scene.write("out", "precious\n");
    told(&scene, &["merge", "begin", "44", "--into", "release"], 22);
    assert_eq!(scene.root.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
}

#[test]
fn commits_that_only_the_lost_sessions_head_has_are_saved() {
    for ladder in [true, false] {
        let lab = Lab::empty();
        let scene = Scene::apart(&lab);
        lost(&scene.root);
        scene.root.git(&["switch", "-q", "--detach"]);
        scene.root.commit("mine", "only here\n");
        let oid = scene.root.git(&["rev-parse", "HEAD"]);
        let answer = if ladder {
            paste(&scene.root, &scene.session, &merge_ladder::printed(&scene.root).pop().unwrap())
        } else {
            told(&scene, &["merge", "claim", "43"], 0)
        };
        assert_eq!(answer.code(), 0, "{answer}");
        assert_eq!(scene.root.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
        let saved = scene.root.git(&["for-each-ref", "--contains", &oid, "--format=%(refname)"]);
        assert!(saved.starts_with("refs/aitask-lock/rescued/41-"), "{saved}");
        let line =
            answer.stderr.lines().find(|line| line.contains(&saved)).unwrap_or_else(|| panic!("{answer}"));
        let keep = line.rsplit(": ").next().unwrap();
        assert_eq!(paste(&scene.root, &scene.session, keep).code(), 0, "{answer}");
        assert_eq!(scene.root.git(&["branch", "--list", "kept-*", "--format=%(objectname)"]), oid);
    }
}

/// The dry run's commands are commands, and nothing else.
#[test]
fn what_stands_in_the_way_of_going_back_is_moved() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.root.git(&["branch", "aside"]);
    scene.root.commit("later", "tracked on main\n");
    lost(&scene.root);
    scene.root.git(&["switch", "-q", "aside"]);
    scene.write("later", "untracked\n");
    for command in merge_ladder::printed(&scene.root) {
        let ran = paste(&scene.root, &scene.session, &command);
        assert_eq!(ran.code(), 0, "{command}\n{ran}");
    }
    assert_eq!((scene.status().as_str(), scene.read("later.kept")), ("FREE", b"untracked\n".to_vec()));
    assert_eq!(scene.root.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
}

#[test]
fn a_branch_that_is_gone_is_not_gone_back_to() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    lost(&scene.root);
    scene.root.git(&["switch", "-q", "-c", "aside"]);
    scene.root.git(&["branch", "-q", "-D", "main"]);
    let dry = told(&scene, &["merge", "force-release"], 0);
    assert!(!dry.stdout.contains("would go back"), "{dry}");
    // Nothing else is merged into without being named.
    let refused = told(&scene, &["merge", "claim", "43"], 22);
    assert!(refused.stderr.contains("there is no branch main"), "{refused}");
    let claimed = told(&scene, &["merge", "claim", "43", "--into", "t42"], 0);
    assert!(claimed.stderr.contains("stays on aside: main, where"), "{claimed}");
    assert!(!claimed.stderr.contains("again"), "{claimed}");
}

#[test]
fn what_was_typed_is_printed() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.root.git(&["branch", "release"]);
    let begin = ["merge", "begin", "42", "t42", "--into", "release", "--wait", "0", "--", "--no-ff"];
    // While another session holds it.
    let other = crate::support::Session::start();
    scene.root.lock(&["merge", "claim", "41"]).session(&other).go().expect("MERGE_CLAIMED", 0);
    let busy = told(&scene, &begin, 21);
    assert_eq!(printed(&busy)[0], "git aitask-lock merge begin 42 t42 --into release --wait 5m -- --no-ff");
    scene.root.lock(&["merge", "release", "41"]).session(&other).go().expect("RELEASED", 0);
    // Where the branch to merge into is asked for.
    let nowhere = ["merge", "begin", "42", "t42", "--into", "nosuch", "--", "--no-ff"];
    let asked = ["git aitask-lock merge begin 42 t42 --into '<branch>' -- --no-ff"];
    assert_eq!(printed(&told(&scene, &nowhere, 22)), asked);
    // A merge that git would not make is not made otherwise.
    let failed = told(&scene, &["merge", "begin", "42", "--", "--ff-only"], 24);
    assert_eq!(printed(&failed)[0], "git aitask-lock merge run 42 -- --ff-only");
}
