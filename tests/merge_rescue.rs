//! What is discarded is saved first: the commit holds every tracked byte, and saving touches nothing.

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use git_aitask_lock::domain::merge::verdict::Rescued;
use git_aitask_lock::sys::git::Git;

use crate::support::merging::{Scene, run_printed};
use crate::support::{Lab, Repo};

fn git_of(repo: &Repo<'_>) -> Git {
    Git::of_worktree(&repo.git_dir(), &repo.path, Instant::now() + Duration::from_secs(60))
}

/// Saves, and makes sure that nothing at all was touched by that.
fn rescued(repo: &Repo<'_>) -> Rescued {
    let index = repo.git_dir().join("index");
    let before = (std::fs::read(&index).ok(), repo.git(&["status", "--porcelain=v2", "--untracked-files"]));
    let names = |folder: &std::path::Path| {
        let mut names: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let listed = names(&repo.git_dir());
    let bytes = std::fs::read(&index).ok();
    let rescued = git_of(repo).rescue("42").unwrap();
    assert_eq!(std::fs::read(&index).ok(), bytes, "the index is as it was");
    assert_eq!(names(&repo.git_dir()), listed, "nothing is left in the git directory");
    assert_eq!(repo.git(&["status", "--porcelain=v2", "--untracked-files"]), before.1);
    assert_eq!(repo.tip(&rescued.reference).as_ref(), Some(&rescued.commit));
    rescued
}

#[test]
fn a_half_resolved_conflict_comes_back_byte_for_byte() {
    let lab = Lab::empty();
    let scene = Scene::in_place(lab.alone("with a\nnewline"), "file", "file");
    let root = &scene.root;
    for name in ["deleted", "binary", "run", "staged"] {
        root.commit(name, "before\n");
    }
    let _stops = root.try_git(&["merge", "t42"]);
    let half = b"<<<<<<< HEAD\r\nhalf\0resolved\n=======\n\xff\n>>>>>>> t42".to_vec();
    scene.write("file", &half);
    scene.write("binary", [0, 1, 2, 255]);
    std::fs::remove_file(root.path.join("deleted")).unwrap();
    std::fs::set_permissions(root.path.join("run"), std::fs::Permissions::from_mode(0o755)).unwrap();
    scene.write("staged", "staged\n");
    scene.write("new", "new and staged\n");
    root.git(&["add", "staged", "new"]);
    scene.write("staged", "and changed again\n");
    scene.write("untracked", "mine\n");

    let saved = rescued(root);
    let parents = root.git(&["show", "-s", "--format=%P", &saved.commit]);
    let parents: Vec<&str> = parents.split(' ').collect();
    assert_eq!(parents[..2], [scene.main(), root.git(&["rev-parse", "t42"])]);
    // What was staged and is in no file any more.
    assert_eq!(root.git(&["show", &format!("{}:staged", parents[2])]), "staged");

    root.git(&["reset", "-q", "--hard"]);
    assert_eq!(scene.changes(), "?? untracked");
    run_printed(&lab, &saved.restore);
    assert_eq!(scene.read("file"), half);
    assert_eq!(scene.read("binary"), [0, 1, 2, 255]);
    assert_eq!(scene.read("staged"), b"and changed again\n");
    assert_eq!(scene.read("new"), b"new and staged\n");
    assert_eq!(scene.read("untracked"), b"mine\n");
    // The commit knows that it was deleted; what is printed deletes nothing.
    assert_eq!(root.git(&["ls-tree", "--name-only", &saved.commit, "deleted"]), "");
    assert!(root.path.join("deleted").exists());
    assert_eq!(std::fs::metadata(root.path.join("run")).unwrap().permissions().mode() & 0o111, 0o111);
}

#[test]
fn what_a_reset_would_write_over_is_saved_although_untracked() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.write("folder/inner", "before\n");
    scene.root.git(&["add", "."]);
    scene.root.git(&["commit", "-qm", "more"]);
    scene.root.git(&["rm", "-q", "--cached", "file", "folder/inner"]);
    scene.write("file", "untracked now\n");
    std::fs::remove_dir_all(scene.root.path.join("folder")).unwrap();
    scene.write("folder", "a file in the way\n");
    let saved = rescued(&scene.root);
    scene.root.git(&["reset", "-q", "--hard"]);
    assert_eq!(scene.read("file"), b"content\n");
    let shown = |path: &str| scene.root.git(&["show", &format!("{}:{path}", saved.commit)]);
    assert_eq!(
        (shown("file"), shown("folder")),
        ("untracked now".to_owned(), "a file in the way".to_owned())
    );
}

#[test]
fn what_git_will_not_add_is_saved_as_it_is() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.write(".gitattributes", "file filter=broken\n");
    scene.root.git(&["add", "."]);
    scene.root.git(&["commit", "-qm", "attributes"]);
    scene.root.git(&["config", "filter.broken.clean", "false"]);
    scene.root.git(&["config", "filter.broken.required", "true"]);
    scene.root.git(&["config", "core.safecrlf", "true"]);
    scene.write("file", "cannot be cleaned\n");
    scene.write("other", "mixed\r\nends\n");
    let saved = git_of(&scene.root).rescue("42").unwrap();
    let shown = |path: &str| {
        let show = scene.root.try_git(&["cat-file", "blob", &format!("{}:{path}", saved.commit)]);
        show.stdout
    };
    assert_eq!((shown("file"), shown("other")), ("cannot be cleaned\n".into(), "mixed\r\nends\n".into()));
}

#[test]
fn a_repository_without_a_commit_and_one_without_identity() {
    let lab = Lab::empty();
    lab.git(lab.root(), &["init", "-q", "unborn"]);
    let unborn = lab.at("unborn");
    std::fs::write(unborn.path.join("a"), "first\n").unwrap();
    unborn.git(&["add", "a"]);
    unborn.git(&["config", "user.useConfigOnly", "true"]);
    let saved = rescued(&unborn);
    assert_eq!(unborn.git(&["show", &format!("{}:a", saved.commit)]), "first");
}

#[test]
fn what_cannot_be_saved_is_not_discarded() {
    let lab = Lab::empty();
    let scene = Scene::conflicting(&lab);
    scene.merge(&["begin", "42"]).expect("MERGE_CONFLICT", 23);
    scene.write("file", "half\n");
    // A reference in the way of ours, whoever runs the test.
    scene.root.git(&["update-ref", "refs/aitask-lock/rescued", "HEAD"]);
    scene.merge(&["abort", "42"]).expect_line("ABORT_FAILED:rescue|42|kept", 29);
    assert_eq!((scene.read("file"), scene.status().as_str()), (b"half\n".to_vec(), "HELD"));
    scene.root.git(&["update-ref", "-d", "refs/aitask-lock/rescued"]);
    scene.merge(&["abort", "42"]).expect("ABORTED", 0);
}

#[test]
fn an_abort_saves_what_it_undoes() {
    let lab = Lab::empty();
    let scene = Scene::conflicting(&lab);
    scene.merge(&["begin", "42"]).expect("MERGE_CONFLICT", 23);
    scene.write("file", "half resolved\n");
    let told = scene.root.human(&["merge", "abort", "42"]).session(&scene.session).go();
    assert_eq!(scene.changes(), "");
    let command = told.stderr.lines().find_map(|line| line.split_once("bring it back: ")).unwrap().1;
    run_printed(&lab, command);
    assert_eq!(scene.read("file"), b"half resolved\n");
}

#[test]
fn a_reset_ends_operations_of_every_kind() {
    let kinds: [(&str, &[&[&str]]); 7] = [
        ("merge", &[&["merge", "t42"]]),
        ("rebase", &[&["rebase", "t42"]]),
        ("rebase", &[&["rebase", "--apply", "t42"]]),
        ("cherry-pick", &[&["cherry-pick", "t42"]]),
        ("revert", &[&["revert", "--no-edit", "t42"]]),
        ("bisect", &[&["bisect", "start", "HEAD", "HEAD~"]]),
        ("dirty", &[&["rm", "-q", "file"]]),
    ];
    for (state, commands) in kinds {
        let lab = Lab::empty();
        let scene = Scene::conflicting(&lab);
        let before = scene.main();
        for command in commands {
            let _stops_half_way = scene.root.try_git(command);
        }
        let git = git_of(&scene.root);
        assert_eq!(git.residue().unwrap().state(), state);
        scene.write("untracked", "mine\n");
        let _saved = rescued(&scene.root);
        git.reset_hard().unwrap();
        let left = git.residue().unwrap();
        assert!(left.is_clean(), "{state}: {left}");
        assert_eq!(scene.root.git(&["symbolic-ref", "HEAD"]), "refs/heads/main", "{state}");
        assert_eq!((scene.main(), scene.read("untracked")), (before, b"mine\n".to_vec()), "{state}");
    }
}

#[test]
fn a_submodule_in_conflict_does_not_stand_in_the_way() {
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
    let _stops = scene.root.try_git(&["merge", "t42"]);
    scene.write("file", "changed\n");
    scene.write("module/file", "changed in the module\n");
    // Once with the module there, once with its folder empty.
    for there in [true, false] {
        if !there {
            std::fs::remove_dir_all(lab.path("root/module")).unwrap();
            std::fs::create_dir(lab.path("root/module")).unwrap();
        }
        let saved = rescued(&scene.root);
        assert_eq!(scene.root.git(&["show", &format!("{}:file", saved.commit)]), "changed");
    }
}

#[test]
fn a_sparse_tree_is_saved_as_far_as_it_is_there() {
    let lab = Lab::empty();
    let scene = Scene::conflicting(&lab);
    scene.write("in/a", "a\n");
    scene.write("out/b", "b\n");
    scene.root.git(&["add", "."]);
    scene.root.git(&["commit", "-qm", "folders"]);
    scene.root.git(&["sparse-checkout", "set", "--sparse-index", "in"]);
    scene.write("in/a", "changed\n");
    let _stops = scene.root.try_git(&["merge", "t42"]);
    let saved = rescued(&scene.root);
    let shown = |path: &str| scene.root.git(&["show", &format!("{}:{path}", saved.commit)]);
    assert_eq!((shown("in/a"), shown("out/b")), ("changed".to_owned(), "b".to_owned()));
}

#[test]
fn what_stands_where_a_tracked_file_was_is_saved() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.write("folder/inner", "before\n");
    scene.write(".gitignore", "ignored\n");
    scene.root.git(&["add", "."]);
    scene.root.git(&["commit", "-qm", "more"]);
    std::fs::remove_file(scene.root.path.join("file")).unwrap();
    scene.write("file/x", "precious\n");
    scene.write("file/deep/ignored", "precious too\n");
    std::fs::remove_dir_all(scene.root.path.join("folder")).unwrap();
    scene.write("folder", "a file in the way\n");
    let git = git_of(&scene.root);
    let listed = git.residue().unwrap().dirty;
    for path in ["file", "file/x", "file/deep/ignored", "folder"] {
        assert!(listed.iter().any(|dirty| dirty == path), "{path}: {listed:?}");
    }
    let saved = rescued(&scene.root);
    git.reset_hard().unwrap();
    let shown = |path: &str| scene.root.git(&["show", &format!("{}:{path}", saved.commit)]);
    assert_eq!(
        [shown("file/x"), shown("file/deep/ignored"), shown("folder")],
        ["precious", "precious too", "a file in the way"]
    );
    run_printed(&lab, &saved.restore);
    assert_eq!(scene.read("file/deep/ignored"), b"precious too\n");
}

#[test]
fn a_repository_where_a_tracked_file_was_is_not_discarded() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    std::fs::remove_file(scene.root.path.join("file")).unwrap();
    lab.git(&scene.root.path, &["init", "-q", "file"]);
    scene.write("file/x", "precious\n");
    let refused = git_of(&scene.root).rescue("42").unwrap_err().to_string();
    assert!(refused.contains("file/"), "{refused}");
}

#[test]
fn what_git_was_told_not_to_look_at_is_saved() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.root.git(&["update-index", "--assume-unchanged", "file"]);
    scene.write("file", "precious\n");
    let git = git_of(&scene.root);
    assert!(git.residue().unwrap().is_clean(), "by itself it is in nobody's way");
    scene.write("other", "changed\n");
    assert_eq!(git.residue().unwrap().dirty, ["file", "other"]);
    let saved = rescued(&scene.root);
    git.reset_hard().unwrap();
    assert_eq!(scene.root.git(&["show", &format!("{}:file", saved.commit)]), "precious");
}

#[test]
fn an_autostash_outlives_the_operation() {
    let lab = Lab::empty();
    for operation in [&["merge", "--autostash", "t42"], &["rebase", "--autostash", "t42"]] {
        let scene = Scene::in_place(lab.alone(operation[0]), "file", "file");
        scene.root.commit("more", "before\n");
        scene.write("more", "put away\n");
        let _stops = scene.root.try_git(operation);
        let git = git_of(&scene.root);
        let needed = git_aitask_lock::domain::merge::residue::remedy_for(&git.residue().unwrap());
        let _saved = rescued(&scene.root);
        git.remedy(needed).unwrap();
        assert!(git.residue().unwrap().is_clean(), "{operation:?}");
        assert_eq!(scene.root.git(&["show", "stash@{0}:more"]), "put away", "{operation:?}");
    }
}

#[test]
fn an_abort_succeeds_where_git_refuses_it() {
    let lab = Lab::empty();
    let scene = Scene::conflicting(&lab);
    scene.root.git(&["switch", "-q", "t42"]);
    scene.root.commit("brought", "new\n");
    scene.root.git(&["switch", "-q", "main"]);
    scene.merge(&["begin", "42"]).expect("MERGE_CONFLICT", 23);
    scene.write("brought", "and changed\n");
    scene.write("other", "unrelated\n");
    let told = scene.root.human(&["merge", "abort", "42"]).session(&scene.session).go();
    assert_eq!(told.code(), 0, "{told}");
    assert_eq!((scene.changes().as_str(), scene.status().as_str()), ("?? other", "FREE"));
    // What was merged since is not deleted by what brings the work back.
    scene.root.commit("since", "later\n");
    let command = told.stderr.lines().find_map(|line| line.split_once("bring it back: ")).unwrap().1;
    run_printed(&lab, command);
    assert_eq!((scene.read("brought"), scene.read("since")), (b"and changed\n".into(), b"later\n".into()));
}
