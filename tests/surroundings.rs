//! Surroundings that point elsewhere or cannot be written, and everything of the user's: lock traffic
//! runs nothing of it and leaves it as it is.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::fingerprint::Fingerprint;
use crate::support::{BRANCH, Lab, Output, Repo, Session, program};

/// A repository whose hooks call the program; every answer is noted in a file of the lab.
fn hooked(repo: &Repo<'_>, hook: &str, session: &Session) -> PathBuf {
    let notes = repo.lab.path(format!("notes-{hook}"));
    let tool = program().display();
    let pid = session.pid();
    let notes_path = notes.display();
    let text = format!(
        "export AIT_AGENT_PID={pid}\n\
         {{ env | grep ^GIT_ | sort; {tool} claim 42 --porcelain; {tool} check 42 --porcelain; {tool} refresh 42 \
         --porcelain; {tool} list --porcelain; git aitask-lock release 42 --porcelain; }} >> '{notes_path}' 2>&1"
    );
    let common = repo.git(&["rev-parse", "--path-format=absolute", "--git-common-dir"]);
    repo.lab.script(Path::new(&common).join("hooks").join(hook), &text);
    notes
}

#[track_caller]
fn assert_hook_worked(notes: &Path, what: &str) {
    let text = std::fs::read_to_string(notes).unwrap_or_default();
    let words: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with("GIT_") && !line.starts_with("warning: AIT_AGENT_PID"))
        .map(|line| line.split(':').next().unwrap())
        .collect();
    assert_eq!(words, ["CLAIMED", "LOCKED", "REFRESHED", "LOCKED", "RELEASED"], "{what}\n{text}");
}

#[test]
fn inside_hooks_of_the_main_and_of_a_linked_worktree() {
    for linked in [false, true] {
        let lab = Lab::new();
        let main = lab.clone("a");
        let repo = if linked { main.worktree("w") } else { main.clone() };
        let session = Session::start();
        std::fs::write(repo.path.join("file"), "changed\n").unwrap();
        let notes = hooked(&repo, "pre-commit", &session);
        repo.git(&["commit", "-q", "-a", "-m", "change"]);
        assert_hook_worked(&notes, "pre-commit");
        assert_eq!(repo.git(&["status", "--porcelain"]), "", "the commit holds what it should");
        assert_eq!(repo.git(&["show", "--format=", "--name-only"]), "file");
        let notes = hooked(&repo, "post-checkout", &session);
        repo.git(&["checkout", "-q", "-b", "other"]);
        assert_hook_worked(&notes, "post-checkout");
        let notes = hooked(&repo, "pre-push", &session);
        repo.git(&["push", "-q", "origin", "other"]);
        assert_hook_worked(&notes, "pre-push");
        assert!(lab.server().tip("refs/heads/other").is_some());
        assert_eq!(lab.server().lock_files(), [""; 0]);
    }
}

#[test]
fn inside_a_commit_hook_of_a_repository_without_a_remote() {
    let lab = Lab::empty();
    let repo = lab.alone("a").worktree("w");
    let session = Session::start();
    std::fs::write(repo.path.join("file"), "changed\n").unwrap();
    let notes = hooked(&repo, "pre-commit", &session);
    repo.git(&["commit", "-q", "-m", "change", "--", "file"]);
    assert_hook_worked(&notes, "pre-commit");
    assert_eq!(repo.git(&["show", "--format=", "--name-only"]), "file");
}

#[test]
fn variables_that_point_elsewhere() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    let foreign = lab.alone("foreign");
    let before = Fingerprint::of(&foreign);
    let stored = foreign.git(&["count-objects", "-v"]);
    let git_dir = foreign.git_dir();
    let objects = git_dir.join("objects");
    let index = git_dir.join("index");
    let session = Session::start();
    let settings: [&[(&str, &Path)]; 7] = [
        &[("GIT_OBJECT_DIRECTORY", &objects)],
        &[("GIT_ALTERNATE_OBJECT_DIRECTORIES", &objects)],
        &[("GIT_INDEX_FILE", &index)],
        &[("GIT_WORK_TREE", &foreign.path)],
        &[("GIT_NAMESPACE", Path::new("space"))],
        &[("GIT_COMMON_DIR", &git_dir)],
        &[
            ("GIT_OBJECT_DIRECTORY", &objects),
            ("GIT_QUARANTINE_PATH", &objects),
            ("GIT_PREFIX", Path::new("x/")),
        ],
    ];
    for variables in settings {
        let run = |args: &[&str]| {
            variables
                .iter()
                .fold(repo.lock(args).session(&session), |run, (name, value)| run.env(name, value))
                .go()
        };
        run(&["claim", "42"]).expect("CLAIMED", 0);
        assert_eq!(lab.server().lock_files(), ["t42_lock.yaml"], "{variables:?}");
        run(&["list"]).expect("LOCKED", 0);
        run(&["release", "42"]).expect("RELEASED", 0);
        assert_eq!(lab.server().lock_files(), [""; 0]);
    }
    Fingerprint::of(&foreign).assert_same(&before, "a command about another repository");
    assert_eq!(foreign.git(&["count-objects", "-v"]), stored, "nothing was written there");
    // GIT_DIR is honoured, as git does; -C names a repository whatever GIT_DIR says.
    repo.lock(&["claim", "1"]).session(&session).env("GIT_DIR", &git_dir).go().expect("CLAIMED", 0);
    assert_eq!(foreign.lock_files(), ["t1_lock.yaml"]);
    let named = repo.lock(&["-C", repo.path.to_str().unwrap(), "claim", "2"]).session(&session);
    named.env("GIT_DIR", &git_dir).go().expect("CLAIMED", 0);
    assert_eq!(lab.server().lock_files(), ["t2_lock.yaml"]);
    assert_eq!(foreign.lock_files(), ["t1_lock.yaml"]);
}

#[test]
fn configuration_arrives_through_git() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    let session = Session::start();
    let through_git = |args: &[&str]| {
        let mut command = lab.command("git");
        command.current_dir(&repo.path).args(args).arg("--porcelain");
        command.env("AIT_AGENT_PID", session.pid().to_string());
        Output::of(command)
    };
    through_git(&["aitask-lock", "claim", "1"]).expect("CLAIMED", 0);
    through_git(&["-c", "aitask-lock.branch=x", "aitask-lock", "claim", "2"]).expect("CLAIMED", 0);
    assert_eq!(lab.server().git(&["ls-tree", "--name-only", "refs/heads/x"]), "t2_lock.yaml");
    let email = ["-c", "aitask-lock.email=it's me@x", "aitask-lock", "claim", "3"];
    assert_eq!(through_git(&email).expect("CLAIMED", 0).field(1), "it's me@x");
    through_git(&["-C", repo.path.to_str().unwrap(), "aitask-lock", "check", "1"]).expect("LOCKED", 0);
    repo.git(&["config", "alias.lk", "aitask-lock claim"]);
    through_git(&["lk", "4"]).expect("CLAIMED", 0);
    let counted = repo.lock(&["claim", "5"]).session(&session).env("GIT_CONFIG_COUNT", "1");
    let counted = counted.env("GIT_CONFIG_KEY_0", "aitask-lock.email").env("GIT_CONFIG_VALUE_0", "count@x");
    assert_eq!(counted.go().expect("CLAIMED", 0).field(1), "count@x");
    let git_dir = format!("--git-dir={}", repo.git_dir().display());
    through_git(&[&git_dir, "aitask-lock", "check", "5"]).expect("LOCKED", 0);
    assert_eq!(repo.try_git(&["-c", "aitask-lock.branch=a..b", "aitask-lock", "list"]).code(), 2);
    assert_eq!(repo.try_git(&["-c", "aitask-lock.timeout=soon", "aitask-lock", "list"]).code(), 2);
}

/// Whether this test can become another user, or make mounts of its own.
fn can_mount() -> bool {
    let can = Command::new("unshare").args(["-m", "true"]).output().is_ok_and(|out| out.status.success());
    if !can {
        println!("skipped: unshare -m is refused here");
    }
    can
}

#[test]
fn a_git_directory_that_cannot_be_written() {
    if !can_mount() {
        return;
    }
    let lab = Lab::new();
    let session = Session::start();
    let (remote, alone) = (lab.clone("a"), lab.alone("alone"));
    remote.lock(&["claim", "1"]).session(&session).go().expect("CLAIMED", 0);
    alone.lock(&["claim", "1"]).session(&session).go().expect("CLAIMED", 0);
    for (repo, arbiter) in [(&remote, lab.server()), (&alone, alone.clone())] {
        let tip = arbiter.tip(BRANCH);
        let run = |args: &str| {
            let line = format!(
                "mount --bind .git .git && mount -o remount,ro,bind .git && exec \"$TOOL\" {args} --porcelain"
            );
            let mut command = lab.command("unshare");
            command.current_dir(&repo.path).args(["-m", "sh", "-c", &line]).env("TOOL", program());
            command.env("AIT_AGENT_PID", session.pid().to_string());
            Output::of(command)
        };
        let probe = run("--version");
        if probe.stderr.contains("mount") {
            println!("skipped: no bind mount can be made here");
            return;
        }
        let refused = run("claim 42").expect("LOCK_ERROR", 128);
        assert!(refused.line().starts_with("LOCK_ERROR:not_writable"), "{refused}");
        assert!(refused.stderr.contains("Read-only file system"), "{refused}");
        assert!(refused.stderr.contains(".git"), "the place is named\n{refused}");
        assert_eq!(arbiter.tip(BRANCH), tip, "nothing was claimed");
        run("release 1").expect("LOCK_ERROR", 128);
        assert_eq!(arbiter.tip(BRANCH), tip);
        repo.lock(&["claim", "42"]).session(&session).go().expect("CLAIMED", 0);
    }
}

#[test]
fn a_left_over_lock_file_is_named() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let session = Session::start();
    repo.lock(&["claim", "1"]).session(&session).go().expect("CLAIMED", 0);
    std::fs::write(repo.git_dir().join("config.lock"), "").unwrap();
    repo.lock(&["claim", "2"]).session(&session).go().expect("CLAIMED", 0);
    let stuck = repo.git_dir().join("refs/heads/aitask-locks.lock");
    std::fs::write(&stuck, "").unwrap();
    let refused = repo.lock(&["claim", "3", "--timeout=1s"]).session(&session).go();
    let refused = refused.expect_line("LOCK_ERROR:not_writable|ref_locked", 128);
    assert!(refused.stderr.contains("aitask-locks.lock"), "{refused}");
    repo.lock(&["check", "3"]).session(&session).go().expect("FREE", 1);
    std::fs::remove_file(stuck).unwrap();
    repo.lock(&["claim", "3"]).session(&session).go().expect("CLAIMED", 0);
}

#[test]
fn nobody_is_named_as_the_owner() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    let session = Session::start();
    repo.lock(&["claim", "1"]).session(&session).go().expect("CLAIMED", 0);
    std::fs::write(lab.global_config(), "").unwrap();
    let refused = repo.lock(&["claim", "42"]).session(&session).go().expect("LOCK_ERROR", 2);
    for source in [
        "--email",
        "GIT_AITASK_LOCK_EMAIL",
        "aitask-lock.email",
        "userconfig.yaml",
        "emails.txt",
        "user.email",
    ] {
        assert!(refused.stderr.contains(source), "{source} is named\n{refused}");
    }
    // Reading needs no owner.
    repo.lock(&["list"]).session(&session).go().expect("LOCKED", 0);
    repo.lock(&["check", "42"]).session(&session).go().expect("FREE", 1);
    // Each source, the later ones overridden by the earlier ones.
    let owner = |args: &[&str]| {
        let claimed =
            repo.lock(&[&["claim", "9"], args].concat()).session(&session).go().expect("CLAIMED", 0);
        let owner = claimed.field(1).to_owned();
        repo.lock(&[&["release", "9"], args].concat()).session(&session).go().expect("RELEASED", 0);
        owner
    };
    repo.git(&["config", "user.email", "e@x"]);
    assert_eq!(owner(&[]), "e@x");
    let metadata = repo.path.join("aitasks/metadata");
    std::fs::create_dir_all(&metadata).unwrap();
    std::fs::write(metadata.join("emails.txt"), "d@x\nother@x\n").unwrap();
    assert_eq!(owner(&[]), "d@x");
    std::fs::write(metadata.join("userconfig.yaml"), "email: c@x\n").unwrap();
    assert_eq!(owner(&[]), "c@x");
    repo.git(&["config", "aitask-lock.email", "b@x"]);
    assert_eq!(owner(&[]), "b@x");
    assert_eq!(owner(&["--email", "a@x"]), "a@x");
    let variable = repo.lock(&["claim", "9"]).session(&session).email("v@x").go();
    assert_eq!(variable.expect("CLAIMED", 0).field(1), "v@x");
}

#[test]
fn nothing_of_the_users_runs() {
    for (local, alone) in [(true, true), (true, false), (false, true), (false, false)] {
        let lab = Lab::new();
        let repo = if alone { lab.alone("a") } else { lab.clone("a") };
        let ran = lab.path("ran");
        let marker = |name: &str| format!("echo {name} \"$@\" >> '{}'; exit 1", ran.display());
        let hooks = if local { repo.git_dir().join("hooks") } else { lab.path("global-hooks") };
        for hook in [
            "pre-push",
            "reference-transaction",
            "post-checkout",
            "pre-commit",
            "post-commit",
            "commit-msg",
            "prepare-commit-msg",
            "post-rewrite",
            "pre-auto-gc",
            "post-index-change",
            "push-to-checkout",
        ] {
            lab.script(hooks.join(hook), &marker(hook));
        }
        let program = |name: &str| lab.script(name, &marker(name)).to_str().unwrap().to_owned();
        let mut settings = vec![
            ("core.editor", program("editor")),
            ("sequence.editor", program("sequence-editor")),
            ("core.askPass", program("askpass")),
            ("core.pager", program("pager")),
            ("core.fsmonitor", program("fsmonitor")),
            ("gpg.program", program("gpg")),
            ("gpg.ssh.program", program("ssh-keygen")),
            ("commit.gpgSign", "true".to_owned()),
            ("tag.gpgSign", "true".to_owned()),
            ("push.gpgSign", "true".to_owned()),
            ("user.signingKey", "nobody".to_owned()),
            ("push.followTags", "true".to_owned()),
            ("push.default", "matching".to_owned()),
            ("fetch.prune", "true".to_owned()),
            ("fetch.pruneTags", "true".to_owned()),
            ("fetch.writeCommitGraph", "true".to_owned()),
            ("gc.auto", "1".to_owned()),
            ("push.recurseSubmodules", "on-demand".to_owned()),
            ("core.logAllRefUpdates", "always".to_owned()),
            ("push.useForceIfIncludes", "true".to_owned()),
        ];
        if !local {
            settings.push(("core.hooksPath", hooks.to_str().unwrap().to_owned()));
        }
        // Written to the file itself: git config would start some of these programs.
        let mut text = std::fs::read_to_string(lab.global_config()).unwrap();
        for (key, value) in &settings {
            let (section, name) = key.rsplit_once('.').unwrap();
            let section = section.split_once('.').map_or(section.to_owned(), |(a, b)| format!("{a} \"{b}\""));
            text.push_str(&format!("[{section}]\n\t{name} = {value}\n"));
        }
        let config = lab.path("home/hostile");
        std::fs::write(&config, text).unwrap();
        // A server reached by its path reads the same user's configuration; its hooks are its own.
        lab.server().git(&["config", "core.hooksPath", "hooks"]);
        let (first, second) = (Session::start(), Session::start());
        let arbiter = if alone { repo.clone() } else { lab.server() };
        let before = Fingerprint::of(&repo).without_lock_branch();
        let run = |args: &[&str], session: &Session| {
            let run = repo.lock(args).session(session).env("GIT_CONFIG_GLOBAL", &config);
            run.env("GIT_EDITOR", lab.path("editor")).env("GIT_ASKPASS", lab.path("askpass")).go()
        };
        run(&["claim", "42"], &first).expect("CLAIMED", 0);
        run(&["claim", "42"], &second).expect("LOCK_LIVE_HOLDER", 13);
        run(&["claim", "42", "--force"], &second).expect("FORCE_UNLOCKED", 0);
        run(&["list"], &second).expect("LOCKED", 0);
        run(&["refresh", "42"], &second).expect("REFRESHED", 0);
        run(&["release", "42"], &second).expect("RELEASED", 0);
        run(&["cleanup", "--gone"], &second).expect_all(&[], 0);
        run(&["init"], &second).expect("INITIALIZED", 0);
        let ran = std::fs::read_to_string(ran).unwrap_or_default();
        assert_eq!(ran, "", "nothing of the user's runs");
        Fingerprint::of(&repo).without_lock_branch().assert_same(&before, "lock traffic");
        assert!(!arbiter.git(&["cat-file", "commit", BRANCH]).contains("gpgsig"), "no signature");
    }
}

/// Brings a clone into some state.
type Prepare<'a> = &'a dyn Fn(&Repo<'_>);

#[test]
fn trees_in_the_middle_of_something_stay_as_they_are() {
    let lab = Lab::new();
    let session = Session::start();
    let prepare: [(&str, Prepare<'_>); 6] = [
        ("conflict", &|repo| {
            repo.git(&["checkout", "-q", "-b", "other"]);
            repo.commit("file", "theirs\n");
            repo.git(&["checkout", "-q", "main"]);
            repo.commit("file", "ours\n");
            assert_eq!(repo.try_git(&["merge", "other"]).code(), 1);
        }),
        ("rebase", &|repo| {
            repo.git(&["checkout", "-q", "-b", "other"]);
            repo.commit("file", "theirs\n");
            repo.git(&["checkout", "-q", "main"]);
            repo.commit("file", "ours\n");
            assert_eq!(repo.try_git(&["rebase", "other"]).code(), 1);
        }),
        ("bisect", &|repo| {
            repo.commit("file", "two\n");
            repo.commit("file", "three\n");
            repo.git(&["bisect", "start", "HEAD", "HEAD~2"]);
        }),
        ("sparse", &|repo| {
            repo.git(&["sparse-checkout", "set", "nothing"]);
        }),
        ("detached", &|repo| {
            repo.git(&["checkout", "-q", "--detach"]);
        }),
        ("unborn", &|repo| {
            repo.git(&["checkout", "-q", "--orphan", "new"]);
        }),
    ];
    for (name, prepare) in prepare {
        let repo = lab.clone(name);
        prepare(&repo);
        let before = Fingerprint::of(&repo);
        repo.lock(&["claim", name]).session(&session).go().expect("CLAIMED", 0);
        repo.lock(&["list"]).session(&session).go().no_panic();
        repo.lock(&["release", name]).session(&session).go().expect("RELEASED", 0);
        Fingerprint::of(&repo).assert_same(&before, name);
    }
}

#[test]
fn the_users_tracking_refs_and_fetch_head_stay() {
    let lab = Lab::new();
    let (a, b) = (lab.clone("a"), lab.clone("b"));
    let session = Session::start();
    b.lock(&["claim", "1"]).session(&session).go().expect("CLAIMED", 0);
    a.git(&["fetch", "-q"]);
    let before = Fingerprint::of(&a);
    let tracking = a.tip("refs/remotes/origin/aitask-locks");
    assert!(tracking.is_some());
    b.lock(&["claim", "2"]).session(&session).go().expect("CLAIMED", 0);
    a.lock(&["claim", "3"]).session(&session).go().expect("CLAIMED", 0);
    a.lock(&["list"]).session(&session).go().expect_all(&["LOCKED"; 3], 0);
    Fingerprint::of(&a).assert_same(&before, "lock traffic");
    assert_eq!(a.tip("refs/remotes/origin/aitask-locks"), tracking);
    // Nor does it matter where they stand.
    a.git(&["update-ref", "-d", "refs/remotes/origin/aitask-locks"]);
    a.lock(&["claim", "4"]).session(&session).go().expect("CLAIMED", 0);
}

#[test]
fn what_is_only_remembered_may_be_broken() {
    let lab = Lab::new();
    let clone = lab.clone("clone");
    let session = Session::start();
    clone.lock(&["claim", "1"]).session(&session).go().expect("CLAIMED", 0);
    let known = clone.path.join(".git/refs/aitask-lock/known");
    let known = std::fs::read_dir(known).unwrap().next().unwrap().unwrap().path();
    for broken in ["", "junk\n", "1111111111111111111111111111111111111111\n"] {
        for (args, word, code) in [
            (["check", "1"], "LOCKED", 0),
            (["claim", "1"], "REFRESHED", 0),
            (["release", "9"], "NOT_HELD", 0),
        ] {
            std::fs::write(&known, broken).unwrap();
            clone.lock(&args).session(&session).go().expect(word, code);
        }
    }
}
