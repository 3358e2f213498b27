//! What `git merge` does in the cases that matter, and what the program makes of it: the outcome is
//! what stands there afterwards, and the reservation is kept.

use crate::support::merging::{Scene, run_printed};
use crate::support::{Lab, Session};

#[test]
fn a_merge_is_merged_once() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    let merged = scene.merge(&["begin", "42"]).expect("MERGE_OK", 0);
    assert_eq!(merged.field(0), scene.main());
    assert_eq!(merged.field(4), "merged");
    assert_eq!(scene.root.git(&["log", "-1", "--format=%s"]), "Merge branch 't42'");
    assert_eq!(scene.status(), "HELD");
    let again = scene.merge(&["run", "42"]).expect("MERGE_OK", 0);
    assert_eq!((again.field(0), again.field(4)), (merged.field(0), "up-to-date"));
    scene.merge(&["release", "42"]).expect("RELEASED", 0);
    assert_eq!(scene.status(), "FREE");
}

#[test]
fn a_fast_forward_is_a_merge() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.root.git(&["reset", "-q", "--hard", "HEAD~"]);
    let merged = scene.merge(&["begin", "42"]).expect("MERGE_OK", 0);
    assert_eq!(merged.field(4), "fast-forward");
    assert_eq!(merged.field(0), scene.root.git(&["rev-parse", "t42"]));
    scene.root.git(&["reset", "-q", "--hard", "HEAD~"]);
    let merged = scene.merge(&["run", "42", "--", "--no-ff"]).expect("MERGE_OK", 0);
    assert_eq!(merged.field(4), "merged");
}

#[test]
fn a_parked_conflict_is_resolved_and_released() {
    let lab = Lab::empty();
    let scene = Scene::conflicting(&lab);
    let before = scene.main();
    let stopped = scene.merge(&["begin", "42"]).expect("MERGE_CONFLICT", 23);
    assert_eq!(stopped.field(0), "file");
    assert_eq!((scene.status().as_str(), scene.main()), ("HELD", before));
    // A second run does not start on it.
    scene.merge(&["run", "42"]).expect_line("STALE_MERGE_RESIDUE:merge|", 22);
    scene.write("file", "resolved\n");
    scene.root.git(&["commit", "-qam", "merged by hand"]);
    scene.merge(&["run", "42"]).expect("MERGE_OK", 0);
    let released = scene.merge(&["release", "42"]).expect("RELEASED", 0);
    assert_eq!(released.field(2), "", "{released}");
}

#[test]
fn paths_of_conflicts_come_whole() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    for (branch, content) in [("t42", "task\n"), ("main", "main\n")] {
        scene.root.git(&["switch", "-q", branch]);
        for name in ["a,b", "with\nnewline", "dir/ü x"] {
            scene.write(name, content);
        }
        scene.root.git(&["add", "."]);
        scene.root.git(&["commit", "-qm", "more"]);
    }
    let stopped = scene.merge(&["begin", "42"]).expect("MERGE_CONFLICT", 23);
    assert_eq!(stopped.field(0), "a%2Cb,dir/ü x,with%0Anewline");
}

/// What one side of a conflict does.
type Change = fn(&Scene<'_>, &str);

/// Conflicts of every kind: named, and undone.
#[test]
fn conflicts_of_every_kind_are_undone() {
    let kinds: [(&str, Change); 5] = [
        ("binary", |scene, side| scene.write("file", [0, side.len() as u8, 255])),
        ("rename/rename", |scene, side| {
            scene.root.git(&["mv", "file", &format!("to-{side}")]);
        }),
        ("modify/delete", |scene, side| match side {
            "main" => scene.write("file", "changed\n"),
            _ => drop(scene.root.git(&["rm", "-q", "file"])),
        }),
        ("file/folder", |scene, side| match side {
            "main" => scene.write("x", "file\n"),
            _ => scene.write("x/y", "in a folder\n"),
        }),
        ("link", |scene, side| {
            std::fs::remove_file(scene.root.path.join("file")).unwrap();
            std::os::unix::fs::symlink(side, scene.root.path.join("file")).unwrap();
        }),
    ];
    for (kind, change) in kinds {
        let lab = Lab::empty();
        let scene = Scene::apart(&lab);
        for side in ["t42", "main"] {
            scene.root.git(&["switch", "-q", side]);
            change(&scene, side);
            scene.root.git(&["add", "-A"]);
            scene.root.git(&["commit", "-qm", kind]);
        }
        scene.write("untracked", "mine\n");
        let before = scene.main();
        scene.merge(&["begin", "42"]).expect("MERGE_CONFLICT", 23);
        scene.merge(&["abort", "42"]).expect("ABORTED", 0);
        assert_eq!(scene.changes(), "?? untracked", "{kind}");
        assert_eq!((scene.main(), scene.status().as_str()), (before, "FREE"), "{kind}");
    }
}

#[test]
fn a_submodule_conflict_is_undone() {
    let lab = Lab::empty();
    lab.bare("module.git", &[]);
    let url = format!("file://{}", lab.path("module.git").display());
    let scene = Scene::apart(&lab);
    scene.root.git(&["submodule", "add", "-q", &url, "module"]);
    scene.root.git(&["commit", "-qm", "module"]);
    scene.root.git(&["branch", "-f", "t42"]);
    let inner = lab.at("root/module");
    for (branch, file) in [("t42", "a"), ("main", "b")] {
        scene.root.git(&["switch", "-q", branch]);
        inner.git(&["switch", "-q", "--detach", "origin/main"]);
        inner.commit(file, "x\n");
        scene.root.git(&["commit", "-qam", "moved the module"]);
    }
    let stopped = scene.merge(&["begin", "42"]).expect("MERGE_CONFLICT", 23);
    assert_eq!(stopped.field(0), "module");
    scene.merge(&["abort", "42"]).expect("ABORTED", 0);
    assert_eq!(scene.changes(), "");
    // One that merely stands elsewhere is no change that a merge minds.
    inner.git(&["switch", "-q", "--detach", "origin/main"]);
    scene.root.git(&["branch", "-f", "t42", "main"]);
    scene.merge(&["begin", "42"]).expect("MERGE_OK", 0);
}

#[test]
fn unrelated_histories_fail_cleanly() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.root.git(&["switch", "-q", "--orphan", "t43"]);
    scene.root.commit("elsewhere", "x\n");
    scene.root.git(&["switch", "-q", "main"]);
    let failed = scene.merge(&["begin", "43"]).expect_line("MERGE_FAILED:43|128|clean|", 24);
    assert!(failed.field(3).contains("refusing to merge unrelated histories"), "{failed}");
    assert_eq!(scene.status(), "HELD");
    scene.merge(&["run", "43", "--", "--allow-unrelated-histories"]).expect("MERGE_OK", 0);
}

#[test]
fn an_untracked_file_in_the_way_stays() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.write("task", "precious\n");
    scene.merge(&["begin", "42"]).expect_line("MERGE_FAILED:42|2|clean", 24);
    assert_eq!(scene.read("task"), b"precious\n");
    assert_eq!(scene.status(), "HELD");
    let given = scene.merge(&["abort", "42"]).expect("RELEASED_NO_MERGE", 0);
    assert!(given.line().starts_with("RELEASED_NO_MERGE:42|"), "{given}");
}

#[test]
fn hooks_that_fail_leave_a_merge_to_finish_or_undo() {
    for hook in ["pre-merge-commit", "commit-msg", "prepare-commit-msg"] {
        let lab = Lab::empty();
        let scene = Scene::apart(&lab);
        scene.hook(hook, "echo no way >&2; exit 1");
        let before = scene.main();
        scene.merge(&["begin", "42"]).expect_line("MERGE_FAILED:42|1|merge", 24);
        assert_eq!(scene.main(), before);
        let told = scene.root.human(&["merge", "run", "42"]).session(&scene.session).go();
        let finish = told.stderr.lines().find_map(|line| line.split_once("then: ")).unwrap().1;
        std::fs::remove_file(scene.root.git_dir().join("hooks").join(hook)).unwrap();
        run_printed(&lab, finish);
        let released = scene.merge(&["release", "42"]).expect("RELEASED", 0);
        assert_eq!(released.field(2), "", "{hook} {released}");
    }
}

#[test]
fn a_hook_that_fails_after_the_merge_does_not_unmake_it() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.hook("post-merge", "echo dirt >>file; exit 3");
    let merged = scene.merge(&["begin", "42"]).expect("MERGE_OK", 0);
    assert!(merged.stderr.contains("not clean after the merge"), "{merged}");
    scene.merge(&["run", "42"]).expect_line("DIRTY_TREE:file|", 22);
    assert_eq!(scene.status(), "HELD");
    let released = scene.merge(&["release", "42"]).expect("RELEASED", 0);
    assert_eq!(released.field(2), "INDEX_CHANGED");
}

#[test]
fn hooks_see_what_they_see_by_hand() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.hook("pre-merge-commit", "echo \"${GIT_DIR-unset} ${GIT_NO_LAZY_FETCH-unset}\" >../seen");
    scene.merge(&["begin", "42"]).expect("MERGE_OK", 0);
    assert_eq!(std::fs::read_to_string(lab.path("seen")).unwrap(), "unset unset\n");
}

#[test]
fn the_users_merge_settings_count() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.root.git(&["config", "merge.ff", "only"]);
    scene.merge(&["begin", "42"]).expect_line("MERGE_FAILED:42|128|clean", 24);
    scene.root.git(&["config", "merge.ff", "false"]);
    scene.root.git(&["config", "commit.gpgSign", "true"]);
    scene.root.git(&["config", "gpg.program", "false"]);
    scene.merge(&["run", "42"]).expect_line("MERGE_FAILED:42|128|merge", 24);
    scene.root.git(&["config", "commit.gpgSign", "false"]);
    scene.merge(&["abort", "42"]).expect("ABORTED", 0);
    // A squash shows in no history, whoever asks for it.
    scene.root.git(&["config", "branch.main.mergeOptions", "--squash"]);
    scene.root.git(&["config", "merge.ff", "true"]);
    scene.merge(&["begin", "42"]).expect_line("MERGE_FAILED:42|0|dirty", 24);
    // What the holder's own merge staged, with no commit since, may be undone: so it is after a kill.
    let before = scene.main();
    let told = scene.root.human(&["merge", "abort", "42"]).session(&scene.session).go();
    assert_eq!((told.code(), scene.changes(), scene.main()), (0, String::new(), before), "{told}");
    let command = told.stderr.lines().find_map(|line| line.split_once("bring it back: ")).unwrap().1;
    run_printed(&lab, command);
    assert_eq!(scene.read("task"), b"of the task\n");
}

#[test]
fn what_stands_on_another_commit_than_the_merge_began_on_is_not_undone() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.merge(&["claim", "42"]).expect("MERGE_CLAIMED", 0);
    scene.root.git(&["commit", "-q", "--allow-empty", "-m", "another"]);
    scene.write("file", "changed\n");
    scene.merge(&["abort", "42"]).expect_line("ABORT_UNSAFE:dirty:reset-hard", 28);
    assert_eq!((scene.read("file"), scene.status()), (b"changed\n".to_vec(), "HELD".to_owned()));
    let told = scene.root.human(&["merge", "abort", "42"]).session(&scene.session).go();
    let command = told.stderr.lines().find_map(|line| line.split_once("put the changes away: ")).unwrap().1;
    run_printed(&lab, command);
    scene.merge(&["abort", "42"]).expect("RELEASED_NO_MERGE", 0);
}

#[test]
fn auto_stash_and_rerere_play_along() {
    let lab = Lab::empty();
    let scene = Scene::conflicting(&lab);
    scene.root.git(&["config", "merge.autoStash", "true"]);
    scene.root.git(&["config", "rerere.enabled", "true"]);
    scene.root.git(&["config", "rerere.autoUpdate", "true"]);
    let before = scene.main();
    scene.merge(&["begin", "42"]).expect("MERGE_CONFLICT", 23);
    scene.write("file", "resolved\n");
    scene.root.git(&["commit", "-qam", "resolved"]);
    scene.root.git(&["reset", "-q", "--hard", &before]);
    // Resolved from memory: everything is staged, nothing is committed, and no path is in conflict.
    scene.merge(&["run", "42"]).expect_line("MERGE_FAILED:42|1|merge", 24);
    assert_eq!(scene.read("file"), b"resolved\n");
    scene.merge(&["abort", "42"]).expect("ABORTED", 0);
    assert_eq!((scene.changes(), scene.root.git(&["stash", "list"])), (String::new(), String::new()));
}

#[test]
fn no_editor_is_opened() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    let editor = lab.script("editor", "touch \"$(dirname \"$0\")/opened\"");
    scene.root.git(&["config", "core.editor", editor.to_str().unwrap()]);
    scene.root.git(&["config", "branch.main.mergeOptions", "--edit"]);
    let run = scene.root.human(&["--porcelain", "merge", "begin", "42"]).session(&scene.session);
    run.env("GIT_EDITOR", &editor).env("GIT_MERGE_AUTOEDIT", "yes").go().expect("MERGE_OK", 0);
    assert!(!lab.path("opened").exists());
}

#[test]
fn options_are_passed_on_unless_they_break_the_contract() {
    let lab = Lab::empty();
    let scene = Scene::conflicting(&lab);
    let before = scene.main();
    for option in
        ["--abort", "--continue", "--quit", "-e", "--edit", "--squash", "--no-commit", "t43", "--help"]
    {
        for command in ["begin", "run"] {
            scene.merge(&[command, "42", "--", option]).expect_line("LOCK_ERROR:usage", 2);
        }
    }
    assert_eq!((scene.status().as_str(), scene.main()), ("FREE", before));
    let merged = scene.merge(&["begin", "42", "--", "-X", "theirs", "-m", "said so"]).expect("MERGE_OK", 0);
    assert_eq!(scene.root.git(&["log", "-1", "--format=%s", merged.field(0)]), "said so");
    assert_eq!(scene.read("file"), b"of the task\n");
}

/// git says so before it changes anything: it is as if it had not been asked.
#[test]
fn an_option_that_git_does_not_know_is_refused_in_its_own_words() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    let told = scene.root.human(&["merge", "begin", "42", "--", "--evil"]).session(&scene.session).go();
    assert_eq!(told.code(), 2, "{told}");
    assert!(told.stderr.contains("error: unknown option `evil'"), "{told}");
    assert!(!told.stderr.contains("overwrite-ignore"), "{told}");
    assert_eq!(scene.status(), "FREE");
}

#[test]
fn a_tag_of_the_same_name_is_not_merged() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.root.git(&["tag", "t42", "main~"]);
    scene.merge(&["begin", "42"]).expect("MERGE_OK", 0);
    assert_eq!(scene.read("task"), b"of the task\n");
}

#[test]
fn a_merge_that_takes_too_long_is_ended_and_told() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.hook("pre-merge-commit", "exec sleep 300");
    scene.merge(&["claim", "42"]).expect("MERGE_CLAIMED", 0);
    scene.merge(&["run", "42", "--timeout", "2s"]).expect_line("MERGE_FAILED:42|-|dirty|", 24);
    assert_eq!(scene.status(), "HELD");
    // git writes MERGE_HEAD only where it stops by itself, so nothing says any more that this was a
    // merge. It is the holder's own all the same, and saved before it is undone.
    let told = scene.root.human(&["merge", "abort", "42"]).session(&scene.session).go();
    assert_eq!((told.code(), scene.changes().as_str()), (0, ""), "{told}");
    let command = told.stderr.lines().find_map(|line| line.split_once("bring it back: ")).unwrap().1;
    run_printed(&lab, command);
    assert_eq!(scene.read("task"), b"of the task\n");
}

/// The marks that git leaves of a merge that is committed are no merge to undo.
#[test]
fn what_is_committed_is_not_undone() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.hook("post-merge", "exec sleep 300");
    scene.merge(&["claim", "42"]).expect("MERGE_CLAIMED", 0);
    let mark = scene.root.git_dir().join("MERGE_HEAD");
    let told = scene.root.human(&["merge", "run", "42", "--timeout", "3s", "--json"]);
    let told = told.session(&scene.session).go();
    let json: serde_json::Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!(json["results"][0]["verdict"], "MERGE_OK", "{told}");
    assert_eq!(json["results"][0]["leftover"], "removed", "{told}");
    assert!(!mark.exists());
    let merged = scene.main();
    let leave = || std::fs::write(&mark, scene.root.git(&["rev-parse", "t42"]) + "\n").unwrap();
    leave();
    let told = scene.root.human(&["merge", "run", "42"]).session(&scene.session).go();
    assert!(told.code() == 22 && told.stderr.contains("merge --quit"), "{told}");
    let given = scene.merge(&["abort", "42"]).expect("RELEASED_NO_MERGE", 0);
    assert!(given.stderr.contains("it was not undone"), "{given}");
    assert!(scene.main() == merged && !mark.exists());
    scene.merge(&["claim", "42"]).expect("MERGE_CLAIMED", 0);
    leave();
    scene.merge(&["release", "42"]).expect("RELEASED", 0);
    assert!(scene.main() == merged && !mark.exists());
}

#[test]
fn only_the_holder_merges() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.merge(&["run", "42"]).expect("NOT_HELD", 25);
    scene.merge(&["abort", "42"]).expect("NOT_HELD", 0);
    scene.merge(&["cleanup", "42", "--task-complete"]).expect("NOT_HELD", 0);
    scene.merge(&["claim", "42"]).expect("MERGE_CLAIMED", 0);
    let other = Session::start();
    let before = scene.main();
    for args in [&["run", "42"][..], &["abort", "42"], &["cleanup", "42", "--task-complete"]] {
        let args = [&["--porcelain", "merge"], args].concat();
        let refused = scene.root.human(&args).session(&other).go().expect("NOT_OWNER_SESSION", 25);
        assert!(refused.line().starts_with(&format!("NOT_OWNER_SESSION:42:{}", scene.session.pid())));
        scene.root.human(&args).go().expect("NO_SESSION_ANCHOR", 20);
    }
    scene.merge(&["run", "43"]).expect_line("NOT_HOLDER:42", 25);
    assert_eq!(scene.main(), before);
}
