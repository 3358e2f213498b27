//! The printed way out of what stands in the way of any command here: the program, the manual, the owner,
//! the session, the settings. Run as printed, it resolves the state, from inside the repository and from
//! elsewhere.

use std::path::Path;
use std::process::Command;

use crate::remedies::{commands, paste, printed};
use crate::support::merging::Scene;
use crate::support::printed::ran;
use crate::support::{Lab, Output, Repo, Session};

/// The remedy of what `doctor` found, and whether it found a problem.
pub fn found(output: &Output, check: &str) -> Option<String> {
    let document = output.stdout.lines().find(|line| line.starts_with('{'));
    let report: serde_json::Value =
        serde_json::from_str(document.unwrap_or_else(|| panic!("{output}"))).unwrap();
    let findings = report["results"].as_array().unwrap();
    let of_check = |finding: &&serde_json::Value| finding["check"] == check && finding["level"] != "ok";
    let finding = findings.iter().find(of_check)?;
    Some(finding["remedy"].as_str().unwrap_or_else(|| panic!("{finding}")).to_owned())
}

fn doctor(repo: &Repo<'_>, session: &Session) -> Output {
    repo.human(&["doctor", "--json"]).session(session).go().no_panic()
}

/// A repository seen from inside and from elsewhere: where a command is run, and what it begins with.
fn views<'lab>(repo: &Repo<'lab>) -> [(Repo<'lab>, Vec<String>); 2] {
    let far = Repo { lab: repo.lab, path: repo.lab.root().to_owned() };
    let there = repo.path.to_str().unwrap().to_owned();
    [(repo.clone(), Vec::new()), (far, vec!["-C".to_owned(), there])]
}

/// Runs a command that is refused and then what it prints, from inside and from elsewhere; `spoil` makes
/// the state. The last printed command has to resolve it.
#[track_caller]
pub fn resolves_everywhere(
    repo: &Repo<'_>,
    session: &Session,
    args: &[&str],
    code: i32,
    mut spoil: impl FnMut(),
) {
    for (from, mut whole) in views(repo) {
        spoil();
        whole.extend(args.iter().map(|arg| (*arg).to_owned()));
        let whole: Vec<&str> = whole.iter().map(String::as_str).collect();
        let refused = from.human(&whole).session(session).go().no_panic();
        assert_eq!(refused.code(), code, "{whole:?}\n{refused}");
        let command = printed(&refused).pop().unwrap();
        assert_eq!(paste(&from, session, &command).code(), 0, "{whole:?}\n{refused}");
        let again = from.human(&whole).session(session).go();
        assert_ne!(again.code(), code, "{whole:?}\nafter {command}\n{again}");
    }
}

/// A program that is installed in the lab, in a folder that is in no search path.
fn installed(lab: &Lab) -> (std::path::PathBuf, String) {
    let own = lab.path("a prefix/bin/git-aitask-lock");
    std::fs::create_dir_all(own.parent().unwrap()).unwrap();
    // By another process: a copy that is open for writing here would be open in whatever another test starts.
    let copied = Command::new("cp").arg(crate::support::program()).arg(&own).status().unwrap();
    assert!(copied.success());
    let theirs = std::env::var("PATH").unwrap_or_default();
    let others = std::env::split_paths(&theirs).filter(|folder| !folder.join("git-aitask-lock").exists());
    (own, std::env::join_paths(others).unwrap().into_string().unwrap())
}

fn bash(lab: &Lab, folder: &Path, path: &str, script: &str) -> Output {
    let mut shell: Command = lab.command("bash");
    shell.args(["-c", script]).current_dir(folder).env("PATH", path).env_remove("MANPATH");
    Output::of(shell).no_panic()
}

#[test]
pub fn of_the_search_path_and_the_manual() {
    let lab = Lab::empty();
    let repo = lab.alone("a b");
    let (own, path) = installed(&lab);
    let run = |script: &str| bash(&lab, &repo.path, &path, script);
    let told = run(&format!("'{}' doctor --json", own.display()));
    let export = found(&told, "program").unwrap();
    ran(&*export);
    let told = run(&format!("{export}\ngit aitask-lock doctor --json"));
    assert_eq!(found(&told, "program"), None, "{export}\n{told}");
    // It is found now, and its pages are not.
    let install = found(&told, "man-pages").unwrap();
    ran(&*install);
    let told = run(&format!("{export}\n{install} -q\ngit aitask-lock doctor --json"));
    assert_eq!(found(&told, "man-pages"), None, "{install}\n{told}");
    // In a folder where man does not look.
    let elsewhere = "git aitask-lock man --install --dir '../my pages/man1'";
    let told = run(&format!("{export}\nrm -r '{}'\n{elsewhere}", lab.path("a prefix/share").display()));
    let exported = printed(&told).remove(0);
    ran(&*exported);
    let told = run(&format!("{export}\n{exported}\ngit aitask-lock doctor --json"));
    assert_eq!(found(&told, "man-pages"), None, "{exported}\n{told}");
    // Where the prefix cannot be written, the reader's own folder can.
    std::fs::write(lab.path("a prefix/share"), "").unwrap();
    let told = run(&format!("{export}\n{install}"));
    let own = printed(&told).remove(0);
    ran(&*own);
    let told = run(&format!("{export}\n{own}"));
    assert_eq!(told.code(), 0, "{own}\n{told}");
    let told = run(&format!("{export}\n{}\ngit aitask-lock doctor --json", printed(&told)[0]));
    assert_eq!(found(&told, "man-pages"), None, "{own}\n{told}");
    // Those that are there, and not looked at.
    std::fs::remove_file(lab.path("a prefix/share")).unwrap();
    let told = run(&format!("{export}\n{install}\nexport MANPATH=/nowhere\ngit aitask-lock doctor --json"));
    let how = found(&told, "man-pages").unwrap();
    ran(&*how);
    let told = run(&format!("{export}\nexport MANPATH=/nowhere\n{how}"));
    let told = run(&format!("{export}\n{}\ngit aitask-lock doctor --json", printed(&told)[0]));
    assert_eq!(found(&told, "man-pages"), None, "{how}\n{told}");
}

#[test]
pub fn of_an_owner_who_is_not_named() {
    let lab = Lab::empty();
    let repo = lab.alone("a b");
    let session = Session::start();
    let global = std::fs::read_to_string(lab.global_config()).unwrap();
    let spoil = |with: &str| {
        _ = repo.try_git(&["config", "--unset-all", "aitask-lock.email"]).code();
        std::fs::write(lab.global_config(), global.replace("\temail = alice@example.com\n", with)).unwrap();
    };
    let check = ["claim", "42"];
    resolves_everywhere(&repo, &session, &check, 2, || spoil(""));
    // What is named further down is overruled.
    resolves_everywhere(&repo, &session, &check, 2, || spoil("\temail = \"a\\tb\"\n"));
    // What overrules it is taken out.
    resolves_everywhere(&repo, &session, &check, 2, || {
        spoil("\temail = alice@example.com\n[aitask-lock]\n\temail = \"a\\tb\"\n");
    });
    let variable = repo.human(&check).session(&session).env("GIT_AITASK_LOCK_EMAIL", "a\tb").go();
    assert_eq!(variable.code(), 2, "{variable}");
    let unset = printed(&variable).remove(0);
    ran(&*unset);
    spoil("\temail = alice@example.com\n");
    let then = format!("export GIT_AITASK_LOCK_EMAIL='a\tb'; {unset}; git aitask-lock claim 43");
    assert_eq!(paste(&repo, &session, &then).code(), 0, "{then}");
    spoil("");
    let remedy = found(&doctor(&repo, &session), "owner").unwrap();
    assert_eq!(paste(&repo, &session, &remedy).code(), 0, "{remedy}");
    assert_eq!(found(&doctor(&repo, &session), "owner"), None);
}

/// The printed launcher, with a command of the reader's in the place of the placeholder.
fn launched(output: &Output, command: &str) -> String {
    let text = format!("{}{}", output.stdout, output.stderr);
    let (_, rest) = text.split_once("exec -- '").unwrap_or_else(|| panic!("no launcher\n{output}"));
    let placeholder = rest.split_once('\'').unwrap().0;
    assert!(placeholder.starts_with('<'), "{output}");
    ran(format!("git aitask-lock exec -- '{placeholder}'"));
    format!("git aitask-lock exec -- sh -c '{command}; :'")
}

#[test]
pub fn of_a_session_that_no_process_stands_for() {
    let lab = Lab::empty();
    let repo = lab.alone("a b");
    let run = |command: &str| {
        let mut shell = lab.command("sh");
        shell.args(["-c", command]).current_dir(&repo.path);
        Output::of(shell).no_panic()
    };
    for (told, command, says) in [
        ("git aitask-lock claim 1", "git aitask-lock claim 2", "Claimed. Task 2 is yours (session process"),
        ("git aitask-lock anchor", "git aitask-lock anchor", "A lock taken here names process"),
        ("git aitask-lock doctor", "git aitask-lock doctor", "found through AIT_AGENT_PID"),
    ] {
        let told = run(told);
        let resolved = run(&launched(&told, command));
        assert!(format!("{}{}", resolved.stdout, resolved.stderr).contains(says), "{told}\n{resolved}");
    }
    // A warning about the variable names it, and without it the command has none.
    let foreign = repo.human(&["claim", "3"]).env("AIT_AGENT_PID", "1").go();
    assert!(foreign.stderr.contains("AIT_AGENT_PID"), "{foreign}");
}

#[test]
pub fn of_settings() {
    let lab = Lab::empty();
    let repo = lab.alone("a b");
    let session = Session::start();
    for (key, value) in [
        ("timeout", "soon"),
        ("timeout", "0"),
        ("refreshInterval", "never"),
        ("branch", "a..b"),
        ("remote", "nosuch"),
    ] {
        let key = format!("aitask-lock.{key}");
        for place in ["--local", "--global"] {
            resolves_everywhere(&repo, &session, &["refresh", "42"], 2, || {
                repo.git(&["config", place, &key, value]);
            });
        }
        // Of several, the one that counts is taken out first.
        repo.git(&["config", "--global", &key, value]);
        repo.git(&["config", &key, value]);
        for _ in 0..2 {
            let refused = repo.human(&["refresh", "42"]).session(&session).go();
            assert_eq!(refused.code(), 2, "{refused}");
            assert_eq!(paste(&repo, &session, &printed(&refused)[0]).code(), 0, "{refused}");
        }
        assert_ne!(repo.human(&["refresh", "42"]).session(&session).go().code(), 2, "{key}");
        // Where no file holds it, no command is made up.
        let given = repo.try_git(&["-c", &format!("{key}={value}"), "aitask-lock", "refresh", "42"]);
        assert_eq!(given.code(), 2, "{given}");
        assert!(commands(&given).iter().all(|hint| !hint.starts_with("git config")), "{given}");
    }
    // One that is included from another file.
    std::fs::write(lab.path("included"), "[aitask-lock]\n\ttimeout = soon\n").unwrap();
    repo.git(&["config", "include.path", lab.path("included").to_str().unwrap()]);
    resolves_everywhere(&repo, &session, &["refresh", "42"], 2, || {
        std::fs::write(lab.path("included"), "[aitask-lock]\n\ttimeout = soon\n").unwrap();
    });
}

#[test]
pub fn of_a_place_to_merge_in() {
    let lab = Lab::empty();
    let scene = Scene::in_place(lab.alone("a b"), "task", "other");
    let (root, session) = (&scene.root, &scene.session);
    let spoil = || {
        root.git(&["config", "aitask-lock.mergeWorktree", "gone"]);
    };
    resolves_everywhere(root, session, &["merge", "begin", "42"], 22, spoil);
    let held = root.lock(&["merge", "release", "42"]).session(session).go();
    held.expect("RELEASED", 0);
    resolves_everywhere(root, session, &["hook", "install"], 128, spoil);
    // Hooks that are turned off for all repositories are turned on for this one.
    root.git(&["config", "--global", "core.hooksPath", "/dev/null"]);
    resolves_everywhere(root, session, &["hook", "install"], 128, || {
        _ = root.try_git(&["config", "--unset-all", "core.hooksPath"]).code();
    });
    assert!(root.git_dir().join("hooks/pre-commit").exists());
    // A bare repository names the worktrees that there are.
    let bare = lab.bare("bare.git", &[]);
    bare.git(&["worktree", "add", "-q", "../a tree", "main"]);
    let tree = lab.at("a tree");
    resolves_everywhere(&tree, session, &["merge", "claim", "42"], 22, || {
        _ = bare.try_git(&["config", "--unset-all", "aitask-lock.mergeWorktree"]).code();
    });
}
