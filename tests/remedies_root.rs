//! The printed way out of what a merge meets in the shared root, for the session that holds the
//! reservation, and of what commits made by hand meet there.

use crate::merge_ladder;
use crate::remedies::{commands, lost, paste, printed};
use crate::remedies_here::resolves_everywhere;
use crate::remedies_store::paste_filled;
use crate::support::merging::Scene;
use crate::support::{Lab, Output, Repo, Session};

/// Runs a command that comes to `code`.
#[track_caller]
fn told(scene: &Scene<'_>, args: &[&str], code: i32) -> Output {
    let output = scene.root.human(args).session(&scene.session).go().no_panic();
    assert_eq!(output.code(), code, "{args:?}\n{output}");
    output
}

/// Runs each command that is printed; all have to succeed.
#[track_caller]
fn all_succeed(scene: &Scene<'_>, output: &Output) {
    for command in printed(output) {
        let ran = paste(&scene.root, &scene.session, &command);
        assert_eq!(ran.code(), 0, "{output}{command}\n{ran}");
    }
}

fn scene<'lab>(lab: &'lab Lab, on_task: &str, on_main: &str) -> Scene<'lab> {
    Scene::in_place(lab.alone("a b"), on_task, on_main)
}

#[test]
pub fn of_branches_that_are_not_told() {
    let lab = Lab::empty();
    let scene = scene(&lab, "task", "other");
    let (root, session) = (&scene.root, &scene.session);
    root.lock(&["init"]).go().expect("INITIALIZED", 0);
    // Nothing is merged into the lock branch, and what was typed besides is kept.
    let refused = told(&scene, &["merge", "begin", "42", "t42", "--into", "aitask-locks"], 22);
    assert_eq!(printed(&refused), ["git aitask-lock merge begin 42 t42 --into '<branch>'"], "{refused}");
    assert_eq!(paste_filled(root, session, &refused, "main").code(), 0);
    told(&scene, &["merge", "release", "42"], 0);
    root.git(&["reset", "-q", "--hard", "HEAD~"]);
    // There is no such branch to merge, or none that is named after the task.
    told(&scene, &["merge", "claim", "42"], 0);
    let refused = told(&scene, &["merge", "run", "42", "nosuch", "--", "--no-ff"], 22);
    let list = paste(root, session, &printed(&refused)[0]);
    assert!(list.stdout.contains("t42"), "{list}");
    assert_eq!(paste_filled(root, session, &refused, "t42").code(), 0, "{refused}");
    told(&scene, &["merge", "release", "42"], 0);
    root.git(&["reset", "-q", "--hard", "HEAD~"]);
    told(&scene, &["merge", "claim", "43"], 0);
    let refused = told(&scene, &["merge", "run", "43"], 22);
    assert_eq!(paste_filled(root, session, &refused, "t42").code(), 0, "{refused}");
    told(&scene, &["merge", "release", "43"], 0);
    root.git(&["reset", "-q", "--hard", "HEAD~"]);
    // Several are.
    root.git(&["branch", "task/42", "t42"]);
    told(&scene, &["merge", "claim", "42"], 0);
    let refused = told(&scene, &["merge", "run", "42"], 22);
    assert_eq!(paste(root, session, &printed(&refused)[0]).code(), 0, "{refused}");
    told(&scene, &["merge", "release", "42"], 0);
}

#[test]
pub fn of_a_head_that_no_branch_has() {
    let lab = Lab::empty();
    let scene = scene(&lab, "task", "other");
    scene.root.git(&["switch", "-q", "--detach"]);
    scene.root.commit("mine", "only here\n");
    let oid = scene.root.git(&["rev-parse", "HEAD"]);
    all_succeed(&scene, &told(&scene, &["merge", "begin", "42", "--into", "main"], 22));
    assert_eq!(scene.read("task"), b"of the task\n");
    assert_eq!(
        scene.root.git(&["for-each-ref", "--format=%(refname)", "--points-at", &oid]).lines().count(),
        1
    );
    told(&scene, &["merge", "release", "42"], 0);
    // The same under a reservation that is kept.
    scene.root.git(&["switch", "-q", "-c", "t43", "main"]);
    scene.root.commit("task43", "of the task\n");
    scene.root.git(&["switch", "-q", "main"]);
    told(&scene, &["merge", "claim", "43"], 0);
    scene.root.git(&["switch", "-q", "--detach"]);
    scene.root.commit("mine", "only here, too\n");
    all_succeed(&scene, &told(&scene, &["merge", "run", "43"], 22));
    assert_eq!(scene.read("task43"), b"of the task\n");
}

#[test]
pub fn of_a_root_that_the_lost_session_left_elsewhere() {
    for command in [&["merge", "claim", "43"][..], &["merge", "force-release"]] {
        let lab = Lab::empty();
        let scene = scene(&lab, "task", "other");
        scene.root.git(&["branch", "aside"]);
        lost(&scene.root);
        scene.root.git(&["switch", "-q", "aside"]);
        scene.root.git(&["worktree", "add", "-q", "../else where", "main"]);
        if command[1] == "claim" {
            all_succeed(&scene, &told(&scene, command, 22));
            told(&scene, command, 0);
        } else {
            let shown = told(&scene, command, 0);
            for command in merge_ladder::commands(&shown) {
                assert_eq!(paste(&scene.root, &scene.session, &command).code(), 0, "{shown}");
            }
        }
        assert_eq!(scene.root.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
    }
}

#[test]
pub fn of_what_abort_does_not_undo() {
    type Spoil = fn(&Repo<'_>);
    let kinds: [Spoil; 6] = [
        |root| drop(root.try_git(&["cherry-pick", "t42"])),
        |root| drop(root.try_git(&["bisect", "start"])),
        |root| drop(root.try_git(&["merge", "foreign"])),
        |root| std::fs::write(root.git_dir().join("index.lock"), "").unwrap(),
        // Unmerged files without anything under way.
        |root| {
            std::fs::write(root.path.join("file"), "put away\n").unwrap();
            root.git(&["stash", "push", "-q"]);
            root.commit("file", "since then\n");
            drop(root.try_git(&["stash", "pop"]));
        },
        |root| {
            root.git(&["commit", "-q", "--allow-empty", "-m", "another"]);
            std::fs::write(root.path.join("file"), "changed\n").unwrap();
        },
    ];
    for (number, spoil) in kinds.into_iter().enumerate() {
        let lab = Lab::empty();
        let scene = scene(&lab, "file", "file");
        scene.root.git(&["switch", "-q", "-c", "foreign", "t42~"]);
        scene.root.commit("file", "foreign\n");
        scene.root.git(&["switch", "-q", "main"]);
        told(&scene, &["merge", "claim", "42"], 0);
        spoil(&scene.root);
        let refused = told(&scene, &["merge", "abort", "42"], 28);
        all_succeed(&scene, &refused);
        assert_eq!(scene.changes(), "", "{number} {refused}");
        told(&scene, &["merge", "abort", "42"], 0);
        assert_eq!(scene.status(), "FREE", "{number}");
    }
}

/// A filter that does not work keeps git from writing files.
fn break_filter(scene: &Scene<'_>) {
    scene.root.git(&["config", "filter.x.clean", "cat"]);
    scene.root.git(&["config", "filter.x.smudge", "false"]);
    scene.root.git(&["config", "filter.x.required", "true"]);
}

#[test]
pub fn of_what_cannot_be_undone() {
    let filtered = |lab: &Lab| {
        let repo = lab.alone("a b");
        repo.commit(".gitattributes", "file filter=x\n");
    };
    // The task's own merge, that abort cannot undo.
    let lab = Lab::empty();
    filtered(&lab);
    let scene = Scene::in_place(lab.at("a b"), "file", "file");
    told(&scene, &["merge", "begin", "42"], 23);
    break_filter(&scene);
    let failed = told(&scene, &["merge", "abort", "42"], 29);
    scene.root.git(&["config", "filter.x.smudge", "cat"]);
    all_succeed(&scene, &failed);
    assert_eq!((scene.status().as_str(), scene.changes().as_str()), ("FREE", ""), "{failed}");
    // What a lost session left, that the ladder cannot put right.
    let lab = Lab::empty();
    filtered(&lab);
    let scene = Scene::in_place(lab.at("a b"), "file", "file");
    lost(&scene.root);
    let _stops = scene.root.try_git(&["merge", "t42"]);
    break_filter(&scene);
    let armed = merge_ladder::printed(&scene.root).remove(0);
    let failed = paste(&scene.root, &scene.session, &armed);
    assert_eq!(failed.code(), 29, "{failed}");
    scene.root.git(&["config", "filter.x.smudge", "cat"]);
    all_succeed(&scene, &failed);
    let armed = merge_ladder::printed(&scene.root).remove(0);
    let freed = paste(&scene.root, &scene.session, &armed);
    assert_eq!((freed.code(), scene.status().as_str(), scene.changes().as_str()), (0, "FREE", ""), "{freed}");
    // What cannot be saved first.
    let lab = Lab::empty();
    let scene = self::scene(&lab, "file", "file");
    told(&scene, &["merge", "begin", "42"], 23);
    scene.root.git(&["update-ref", "refs/aitask-lock/rescued", "HEAD"]);
    let failed = told(&scene, &["merge", "abort", "42"], 29);
    all_succeed(&scene, &failed);
    told(&scene, &["merge", "abort", "42"], 0);
}

#[test]
pub fn of_what_was_saved() {
    let lab = Lab::empty();
    let scene = scene(&lab, "file", "file");
    told(&scene, &["merge", "begin", "42"], 23);
    scene.write("file", "half\n");
    let undone = told(&scene, &["merge", "abort", "42"], 0);
    all_succeed(&scene, &undone);
    assert_eq!(scene.read("file"), b"half\n");
}

#[test]
pub fn of_files_that_a_merge_would_overwrite() {
    let lab = Lab::empty();
    let scene = scene(&lab, "out", "other");
    scene.root.commit(".gitignore", "out\n");
    told(&scene, &["merge", "claim", "42"], 0);
    for (number, precious) in [(0, "precious\n"), (1, "not so\n")] {
        scene.write("out", precious);
        let refused = told(&scene, &["merge", "run", "42"], 22);
        let command = printed(&refused).remove(number);
        assert_eq!(paste(&scene.root, &scene.session, &command).code(), 0, "{command}");
        if number == 0 {
            assert_eq!(scene.read("out.kept"), b"precious\n");
        }
    }
    assert_eq!(scene.read("out"), b"of the task\n");
    told(&scene, &["merge", "release", "42"], 0);
}

#[test]
pub fn of_a_merge_that_is_not_begun() {
    let lab = Lab::empty();
    let scene = scene(&lab, "task", "other");
    // git merge refuses: nothing was changed, and what was in the way is named.
    scene.write("task", "untracked\n");
    let failed = told(&scene, &["merge", "begin", "42"], 24);
    for command in &printed(&failed)[..2] {
        assert_eq!(paste(&scene.root, &scene.session, command).code(), 0, "{failed}");
    }
    assert_eq!([scene.read("task"), scene.read("task.kept")], [b"of the task\n", &b"untracked\n"[..]]);
    told(&scene, &["merge", "release", "42"], 0);
    // Its options are not known to git, which shows them.
    let refused = told(&scene, &["merge", "begin", "42", "--", "--evil"], 2);
    let help = printed(&refused).remove(0);
    crate::support::printed::ran(&*help);
    let mut shell = lab.command("sh");
    shell.args(["-c", &help]).current_dir(&scene.root.path);
    let shown = Output::of(shell);
    assert!(format!("{}{}", shown.stdout, shown.stderr).contains("usage: git merge"), "{help}");
}

#[test]
pub fn of_a_cleanup() {
    let lab = Lab::empty();
    let scene = scene(&lab, "task", "other");
    let clean = ["merge", "cleanup", "42", "--task-complete"];
    told(&scene, &["merge", "claim", "42"], 0);
    // Nothing was merged yet.
    let partly = told(&scene, &clean, 29);
    let merge = partly.stderr.lines().find_map(|line| line.split_once("; git aitask-lock")).unwrap().1;
    assert_eq!(paste(&scene.root, &scene.session, &format!("git aitask-lock{merge}")).code(), 0, "{partly}");
    scene.root.git(&["worktree", "add", "-q", "../its tree", "t42"]);
    scene.root.git(&["worktree", "lock", "../its tree"]);
    let partly = told(&scene, &clean, 29);
    let unlock = partly.stderr.lines().find_map(|line| line.split_once("; git -C")).unwrap().1;
    assert_eq!(paste(&scene.root, &scene.session, &format!("git -C{unlock}")).code(), 0, "{partly}");
    let again = partly.stderr.lines().find_map(|line| line.split_once("then again: ")).unwrap().1;
    let cleaned = paste(&scene.root, &scene.session, again);
    assert_eq!(cleaned.code(), 0, "{cleaned}");
    let give_back = cleaned.stderr.lines().find_map(|line| line.split_once("give it back: ")).unwrap().1;
    assert_eq!(paste(&scene.root, &scene.session, give_back).code(), 0, "{cleaned}");
    assert_eq!(scene.status(), "FREE");
}

#[test]
pub fn of_a_guard_that_is_not_ours() {
    let lab = Lab::empty();
    let scene = scene(&lab, "task", "other");
    let guard = scene.root.git_dir().join("aitask-lock/merge.guard");
    resolves_everywhere(&scene.root, &scene.session, &["merge", "claim", "42", "--wait", "0"], 21, || {
        _ = std::fs::remove_dir_all(guard.with_file_name("merge.guard.kept"));
        _ = scene.root.lock(&["merge", "release", "42"]).session(&scene.session).go().code();
        std::fs::create_dir_all(&guard).unwrap();
        std::fs::write(guard.join("theirs"), "").unwrap();
    });
}

#[test]
pub fn of_a_living_holder_and_from_elsewhere() {
    let lab = Lab::empty();
    let scene = scene(&lab, "file", "file");
    told(&scene, &["merge", "claim", "42"], 0);
    let dry = told(&scene, &["merge", "force-release"], 0);
    let (_, asked) = dry.stdout.split_once("give the reservation back: ").unwrap();
    assert_eq!(paste(&scene.root, &scene.session, asked.lines().next().unwrap()).code(), 0, "{dry}");
    assert_eq!(scene.status(), "FREE");
    // What a lost session left is put right from elsewhere, as it is printed there.
    let far = Repo { lab: &lab, path: lab.root().to_owned() };
    let there = scene.root.path.to_str().unwrap();
    lost(&scene.root);
    let _stops = scene.root.try_git(&["merge", "t42"]);
    let refused = far.human(&["-C", there, "merge", "claim", "43"]).session(&scene.session).go();
    let dry = paste(&far, &scene.session, &printed(&refused).pop().unwrap());
    let armed = merge_ladder::commands(&dry).remove(0);
    assert_eq!(paste(&far, &scene.session, &armed).code(), 0, "{refused}{dry}");
    assert_eq!((scene.status().as_str(), scene.changes().as_str()), ("FREE", ""));
    // Without the option that the residue needs, the whole command is printed.
    lost(&scene.root);
    let _stops = scene.root.try_git(&["merge", "t42"]);
    let armed = merge_ladder::printed(&scene.root).remove(0);
    let bare = paste(&scene.root, &scene.session, &armed.replace("--abort-merge ", ""));
    assert_eq!((bare.code(), printed(&bare)), (28, vec![armed]), "{bare}");
    all_succeed(&scene, &bare);
    assert_eq!((scene.status().as_str(), scene.changes().as_str()), ("FREE", ""));
}

#[test]
pub fn of_a_bare_repository_without_a_worktree() {
    let lab = Lab::empty();
    let bare = lab.bare("bare.git", &[]);
    let session = Session::start();
    let refused = bare.human(&["merge", "claim", "42"]).session(&session).go();
    assert_eq!(refused.code(), 22, "{refused}");
    assert_eq!(paste_filled(&bare, &session, &refused, "main").code(), 0, "{refused}");
    let refused = bare.human(&["merge", "claim", "42"]).session(&session).go();
    assert_eq!(paste(&bare, &session, &printed(&refused)[0]).code(), 0, "{refused}");
    let claimed = bare.human(&["merge", "claim", "42"]).session(&session).go();
    assert_eq!(claimed.code(), 0, "{claimed}");
}

#[test]
pub fn of_commits_by_hand() {
    let lab = Lab::empty();
    let scene = scene(&lab, "task", "other");
    let (root, session) = (&scene.root, &scene.session);
    root.git(&["config", "core.editor", "echo by hand >"]);
    // Not installed, then only in part.
    let none = told(&scene, &["hook", "status"], 1);
    all_succeed(&scene, &none);
    told(&scene, &["hook", "status"], 0);
    std::fs::remove_file(root.git_dir().join("hooks/pre-commit")).unwrap();
    let partly = told(&scene, &["hook", "status"], 1);
    all_succeed(&scene, &partly);
    told(&scene, &["hook", "status"], 0);
    let hook = root.git_dir().join("hooks/pre-commit");
    let readable = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(&hook, readable).unwrap();
    let damaged = told(&scene, &["hook", "install"], 128);
    all_succeed(&scene, &damaged);
    told(&scene, &["hook", "status"], 0);
    // A commit while another session merges.
    let mut other = Session::start();
    root.lock(&["merge", "claim", "41"]).session(&other).go().expect("MERGE_CLAIMED", 0);
    scene.write("file", "by hand\n");
    root.git(&["add", "file"]);
    let refused = paste(root, session, "git commit -m x");
    assert_eq!(refused.code(), 1, "{refused}");
    all_succeed(&scene, &refused);
    assert_eq!((scene.changes(), root.git(&["log", "-1", "--format=%s"])), (String::new(), "by hand".into()));
    // A merge: git leaves it unfinished.
    let refused = paste(root, session, "git merge t42");
    assert_ne!(refused.code(), 0, "{refused}");
    let undo = commands(&refused).into_iter().find(|command| command == "git merge --abort");
    assert_eq!(paste(root, session, &undo.unwrap()).code(), 0, "{refused}");
    assert_eq!(scene.changes(), "");
    // One whose session is gone.
    other.end();
    scene.write("file", "by hand again\n");
    root.git(&["add", "file"]);
    let refused = paste(root, session, "git commit -m x");
    let shown = paste(root, session, &printed(&refused)[0]);
    let armed = merge_ladder::commands(&shown).remove(0);
    assert_eq!(paste(root, session, &armed).code(), 0, "{armed}");
    assert_eq!(scene.status(), "FREE");
}
