//! `hook`: a commit made by hand in the shared root is refused while another session merges; what was
//! there before runs as before, and comes back byte for byte.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::support::merging::Scene;
use crate::support::{Lab, Output, Repo};

/// `git commit` as a session, or as nobody.
fn commit(repo: &Repo<'_>, pid: Option<u32>) -> Output {
    let mut command = repo.lab.command("git");
    command.current_dir(&repo.path).args(["commit", "-q", "--allow-empty", "-m", "by hand"]);
    if let Some(pid) = pid {
        command.env("AIT_AGENT_PID", pid.to_string());
    }
    Output::of(command)
}

fn hook(scene: &Scene<'_>, verb: &str) -> Output {
    scene.root.human(&["--porcelain", "hook", verb]).session(&scene.session).go()
}

#[test]
fn a_commit_by_hand_is_refused_while_another_session_merges() {
    let lab = Lab::empty();
    let scene = Scene::conflicting(&lab);
    hook(&scene, "status").expect("HOOKS_MISSING", 1);
    hook(&scene, "install").expect("HOOKS_INSTALLED", 0);
    hook(&scene, "status").expect("HOOKS_INSTALLED", 0);
    commit(&scene.root, None).success("nobody merges");
    scene.merge(&["begin", "42"]).expect("MERGE_CONFLICT", 23);
    scene.write("file", "resolved\n");
    scene.root.git(&["add", "file"]);
    let refused = commit(&scene.root, None);
    assert_eq!(refused.code(), 1, "{refused}");
    assert!(refused.stderr.contains("task 42 holds the merge reservation"), "{refused}");
    let side = scene.root.worktree("side");
    commit(&side, None).success("another worktree is not policed");
    commit(&scene.root, Some(scene.session.pid())).success("the holder resolves");
    scene.merge(&["release", "42"]).expect("RELEASED", 0);
    commit(&scene.root, None).success("nobody merges any more");
    hook(&scene, "uninstall").expect("HOOKS_REMOVED", 0);
    hook(&scene, "status").expect("HOOKS_MISSING", 1);
}

#[test]
fn merges_by_hand_are_refused_and_our_own_pass() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    hook(&scene, "install").expect("HOOKS_INSTALLED", 0);
    scene.merge(&["begin", "42"]).expect("MERGE_OK", 0);
    scene.root.git(&["branch", "more", "t42"]);
    scene.root.git(&["reset", "-q", "--hard", "HEAD~"]);
    let refused = scene.root.try_git(&["merge", "--no-edit", "more"]);
    assert!(refused.code() == 1 && refused.stderr.contains("task 42"), "{refused}");
    // git leaves MERGE_HEAD behind, in the holder's root.
    let hint = refused.stderr.lines().find(|line| line.starts_with("hint: ")).unwrap();
    assert!(hint.ends_with("first: git merge --abort"), "{refused}");
    scene.root.git(&["merge", "--abort"]);
    assert_eq!(scene.changes(), "");
}

#[test]
fn a_reservation_that_nobody_can_read_refuses_as_well() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    hook(&scene, "install").expect("HOOKS_INSTALLED", 0);
    scene.merge(&["claim", "42"]).expect("MERGE_CLAIMED", 0);
    std::fs::write(scene.root.git_dir().join("aitask-lock/merge.yaml"), "").unwrap();
    let refused = commit(&scene.root, Some(scene.session.pid()));
    assert!(refused.code() == 1 && refused.stderr.contains("force-release"), "{refused}");
}

#[test]
fn without_the_program_the_hook_says_so_and_lets_pass() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    hook(&scene, "install").expect("HOOKS_INSTALLED", 0);
    scene.merge(&["claim", "42"]).expect("MERGE_CLAIMED", 0);
    let mut command = lab.command("git");
    command.current_dir(&scene.root.path).args(["commit", "-q", "--allow-empty", "-m", "x"]);
    command.env("PATH", "/usr/bin:/bin");
    let passed = Output::of(command);
    assert!(passed.code() == 0 && passed.stderr.contains("not on PATH"), "{passed}");
}

fn snapshot(folder: &Path) -> Vec<(String, Vec<u8>, u32)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let data = entry.path().symlink_metadata().unwrap();
        let content = match std::fs::read_link(entry.path()) {
            Ok(target) => target.to_str().unwrap().as_bytes().to_vec(),
            Err(_) if data.is_dir() => b"folder".to_vec(),
            Err(_) => std::fs::read(entry.path()).unwrap(),
        };
        found.push((entry.file_name().to_str().unwrap().to_owned(), content, data.permissions().mode()));
    }
    found.sort();
    found
}

/// Makes a hook.
type Make<'a> = &'a dyn Fn(&Path);

#[test]
fn hooks_that_were_there_run_on_and_come_back() {
    let log = "echo \"$(basename \"$0\")\" >>\"$LOG\"";
    let kinds: [(&str, Make<'_>); 6] = [
        ("shell", &|path| write(path, &format!("#!/bin/sh\nset -e\n{log}\n"), 0o750)),
        ("no newline at the end", &|path| write(path, &format!("#!/usr/bin/env bash\n{log}"), 0o755)),
        ("python", &|path| {
            let script = "#!/usr/bin/env python3\nimport os, sys\n\
                          open(os.environ['LOG'], 'a').write(os.path.basename(sys.argv[0]) + '\\n')\n";
            write(path, script, 0o700);
        }),
        ("link", &|path| {
            write(&path.parent().unwrap().join("shared"), &format!("#!/bin/sh\n{log}\n"), 0o755);
            std::os::unix::fs::symlink("shared", path).unwrap();
        }),
        ("not executable", &|path| write(path, "#!/bin/sh\nexit 1\n", 0o644)),
        ("empty", &|path| write(path, "#!/bin/sh\n", 0o755)),
    ];
    for (kind, make) in kinds {
        let lab = Lab::empty();
        let scene = Scene::apart(&lab);
        let folder = scene.root.git_dir().join("hooks");
        std::fs::create_dir_all(&folder).unwrap();
        make(&folder.join("pre-commit"));
        let before = snapshot(&folder);
        hook(&scene, "install").expect("HOOKS_INSTALLED", 0);
        hook(&scene, "install").expect("HOOKS_INSTALLED", 0);
        let mut command = lab.command("git");
        command.current_dir(&scene.root.path).args(["commit", "-q", "--allow-empty", "-m", "x"]);
        command.env("LOG", lab.path("log"));
        Output::of(command).success(kind);
        let said = std::fs::read_to_string(lab.path("log")).unwrap_or_default();
        let runs = !matches!(kind, "not executable" | "empty");
        assert_eq!(said, if runs { "pre-commit\n" } else { "" }, "{kind}");
        scene.merge(&["claim", "42"]).expect("MERGE_CLAIMED", 0);
        assert_eq!(commit(&scene.root, None).code(), 1, "{kind}");
        hook(&scene, "uninstall").expect("HOOKS_REMOVED", 0);
        assert_eq!(snapshot(&folder), before, "{kind}");
    }
}

fn write(path: &Path, text: &str, mode: u32) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn the_exit_status_of_a_hook_that_was_there_counts() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    for text in ["exit 7", "#\nexec false"] {
        scene.hook("pre-commit", text);
        hook(&scene, "install").expect("HOOKS_INSTALLED", 0);
        assert_eq!(commit(&scene.root, None).code(), 1);
        hook(&scene, "uninstall").expect("HOOKS_REMOVED", 0);
    }
}

#[test]
fn the_hooks_folder_in_force_is_used() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.root.git(&["config", "core.hooksPath", "my hooks"]);
    let installed = hook(&scene, "install").expect("HOOKS_INSTALLED", 0);
    assert_eq!(installed.field(0), scene.root.path.join("my hooks").display().to_string());
    assert!(installed.stderr.contains("part of the worktree"), "{installed}");
    assert!(scene.root.path.join("my hooks/pre-commit").exists());
    scene.merge(&["claim", "42"]).expect("MERGE_CLAIMED", 0);
    assert_eq!(commit(&scene.root, None).code(), 1);
    scene.root.git(&["config", "core.hooksPath", "/dev/null"]);
    hook(&scene, "install").expect_line("LOCK_ERROR:fatal", 128);
}

#[test]
fn what_others_changed_is_left_alone() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    let path = scene.root.git_dir().join("hooks/pre-commit");
    hook(&scene, "install").expect("HOOKS_INSTALLED", 0);
    let ours = std::fs::read_to_string(&path).unwrap();
    // Somebody adds to our file: what they added stays.
    write(&path, &format!("{ours}echo more\n"), 0o755);
    hook(&scene, "uninstall").expect("HOOKS_REMOVED", 0);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "#!/bin/sh\necho more\n");
    // Half of our block is gone.
    let half = ours.lines().take(4).collect::<Vec<_>>().join("\n");
    write(&path, &half, 0o755);
    hook(&scene, "status").expect("HOOKS_PARTLY", 1);
    hook(&scene, "uninstall").expect_line("LOCK_ERROR:not_writable|damaged_hook", 128);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), half);
}
