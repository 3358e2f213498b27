//! State files of git that hold garbage: the printed ladder ends, and nothing is lost.

use std::os::unix::fs::symlink;
use std::path::Path;

use crate::merge_ladder::{commands, paste};
use crate::support::merging::Scene;
use crate::support::{Lab, Session};

/// What a state file is made into.
const DAMAGES: [&str; 7] =
    ["missing", "empty", "garbage", "no such object", "a folder", "a link", "two lines"];

/// Every file or folder of git's that names an operation, and the index.
const MARKS: [&str; 12] = [
    "MERGE_HEAD",
    "MERGE_MODE",
    "MERGE_AUTOSTASH",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "sequencer/todo",
    "sequencer",
    "rebase-merge",
    "rebase-apply",
    "rebase-apply/applying",
    "BISECT_LOG",
    "index",
];

fn damage(git_dir: &Path, mark: &str, how: &str) {
    let path = git_dir.join(mark);
    if path.is_dir() {
        std::fs::remove_dir_all(&path).unwrap();
    } else if path.symlink_metadata().is_ok() {
        std::fs::remove_file(&path).unwrap();
    }
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    match how {
        "missing" => {}
        "empty" => std::fs::write(&path, "").unwrap(),
        "garbage" => std::fs::write(&path, "\0\u{1}--all garbage\n").unwrap(),
        "no such object" => std::fs::write(&path, format!("{}\n", "1234567890".repeat(4))).unwrap(),
        "a folder" => std::fs::create_dir(&path).unwrap(),
        "a link" => symlink("nowhere", &path).unwrap(),
        "two lines" => std::fs::write(&path, format!("{0}\n{0}\n", "0".repeat(40))).unwrap(),
        _ => unreachable!(),
    }
}

/// A lost session whose merge stopped at a conflict that was half resolved.
fn lost(lab: &Lab) -> Scene<'_> {
    let mut scene = Scene::conflicting(lab);
    scene.merge(&["begin", "42"]).expect("MERGE_CONFLICT", 23);
    scene.write("file", "half resolved\n");
    scene.session.end();
    scene
}

#[test]
fn the_ladder_ends_whatever_a_lost_session_left() {
    let mut walked = 0;
    for mark in MARKS {
        for how in DAMAGES {
            let lab = Lab::empty();
            let scene = lost(&lab);
            damage(&scene.root.git_dir(), mark, how);
            let what = format!("{mark}: {how}");
            let finder = Session::start();
            let run = |command: &str| {
                let line = format!("AIT_AGENT_PID={} {command}", finder.pid());
                paste(&scene.root, &line)
            };
            let mut steps = 0;
            let mut told = run("git aitask-lock merge force-release");
            let free = || scene.root.human(&["merge", "status", "--porcelain"]).go().stdout == "FREE\n";
            while !free() {
                for next in commands(&told) {
                    steps += 1;
                    told = run(&next);
                }
                assert!(steps < 4, "{what}: {steps} steps\n{told}");
                if !free() {
                    told = run("git aitask-lock merge force-release");
                    steps += 1;
                }
            }
            let left = scene.root.git(&["status", "--porcelain", "--untracked-files=no"]);
            assert_eq!(left, "", "{what}\n{told}");
            // Whatever was undone, the files are in the rescue; and a merge goes its way again.
            if mark != "MERGE_HEAD" || how != "missing" {
                assert_eq!(scene.read("file"), b"of main\n", "{what}\n{told}");
            }
            let saved = scene.root.git(&["for-each-ref", "--format=%(refname)", "refs/aitask-lock/rescued"]);
            let saved = saved.lines().next().unwrap_or_else(|| panic!("{what}: nothing saved\n{told}"));
            let file = scene.root.git(&["cat-file", "blob", &format!("{saved}:file")]);
            assert_eq!(file, "half resolved", "{what}\n{told}");
            let merge = scene.root.human(&["--porcelain", "merge", "begin", "42", "--into", "main"]);
            merge.session(&finder).go().expect("MERGE_CONFLICT", 23);
            walked += 1;
        }
    }
    println!("{walked} states walked");
    assert_eq!(walked, MARKS.len() * DAMAGES.len());
}
