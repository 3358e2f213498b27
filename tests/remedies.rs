//! What a refusal prints as the next command is run as it is printed, in the same folder: it resolves
//! the state, or at least is a command that a shell and the program understand.

use std::path::Path;

use crate::merge_mutex::reservation;
use crate::support::merging::Scene;
use crate::support::planting::{plant_file, record};
use crate::support::printed::ran;
use crate::support::{BRANCH, Lab, Output, Repo, Session};

/// The commands of the hints, of a refusal or of what `doctor` found.
pub fn commands(output: &Output) -> Vec<String> {
    let lines = output.stderr.lines().chain(output.stdout.lines());
    let hints = lines.filter_map(|line| line.trim_start().strip_prefix("hint: "));
    hints.map(|hint| hint.rsplit(": ").next().unwrap().to_owned()).collect()
}

/// The hints that are commands, of what has to print one; the others are words.
#[track_caller]
pub fn printed(output: &Output) -> Vec<String> {
    let found: Vec<String> = commands(output).into_iter().filter(|text| is_command(text)).collect();
    assert!(!found.is_empty(), "no command is printed\n{output}");
    found
}

fn is_command(text: &str) -> bool {
    ["git ", "rm ", "rmdir ", "mv ", "chmod ", "kill ", "ps ", "export ", "unset "]
        .iter()
        .any(|program| text.starts_with(program))
}

pub fn paste(repo: &Repo<'_>, session: &Session, command: &str) -> Output {
    ran(command);
    let mut shell = repo.lab.command("sh");
    shell.args(["-c", command]).current_dir(&repo.path).env("AIT_AGENT_PID", session.pid().to_string());
    let output = Output::of(shell).no_panic();
    assert!(![126, 127, 129].contains(&output.code()), "{command}\n{output}");
    assert!(output.code() != 2 || !command.starts_with("git aitask-lock"), "{command}\n{output}");
    assert!(!output.stderr.contains("unexpected argument"), "{command}\n{output}");
    output
}

/// Runs a command that is refused, and every command that it prints; returns the refusal and what the
/// printed commands came to.
#[track_caller]
pub fn walk(repo: &Repo<'_>, session: &Session, args: &[&str], code: i32) -> Vec<(String, Output)> {
    let refused = repo.human(args).session(session).go().no_panic();
    assert_eq!(refused.code(), code, "{args:?}\n{refused}");
    printed(&refused).into_iter().map(|command| (command.clone(), paste(repo, session, &command))).collect()
}

/// The same; the last one has to succeed, and the refused command after it.
#[track_caller]
fn resolves(repo: &Repo<'_>, session: &Session, args: &[&str], code: i32) {
    let ran = walk(repo, session, args, code);
    let (command, output) = ran.last().unwrap();
    assert_eq!(output.code(), 0, "{command}\n{output}");
    let again = repo.human(args).session(session).go();
    assert_eq!(again.code(), 0, "after {command}\n{again}");
}

#[test]
pub fn of_held_locks() {
    let other = [("locked_by", "bob@example.com")];
    let unverifiable = [("boot_id", ""), ("pid_starttime", ""), ("pid_starttime_kind", "")];
    let (mine, theirs) = (Session::start(), Session::start());
    for (changes, code) in [(&other[..], 1), (&[], 13), (&unverifiable, 14)] {
        let lab = Lab::empty();
        let repo = lab.alone("a b");
        plant_file(&repo, "t42_lock.yaml", &record("42", &theirs, changes));
        resolves(&repo, &mine, &["claim", "42"], code);
    }
    let lab = Lab::empty();
    let repo = lab.alone("a b");
    plant_file(&repo, "t42_lock.yaml", "not yaml: [");
    resolves(&repo, &mine, &["claim", "42"], 1);
    let (command, output) =
        walk(&repo, &theirs, &["claim", "42", "--force", "--expect", "x"], 27).pop().unwrap();
    assert_eq!(output.code(), 0, "{command}\n{output}");
    resolves(&repo, &mine, &["refresh", "43"], 1);
    // From elsewhere, the printed command says where.
    let far = Repo { lab: &lab, path: lab.root().to_owned() };
    let there = repo.path.to_str().unwrap();
    resolves(&far, &theirs, &["-C", there, "claim", "42"], 13);
}

#[test]
pub fn of_branches_and_remotes() {
    let session = Session::start();
    let lab = Lab::new();
    let repo = lab.clone("a b");
    let runs = |args: &[&str], code| {
        let (command, output) = walk(&repo, &session, args, code).pop().unwrap();
        assert_eq!(output.code(), 0, "{command}\n{output}");
    };
    runs(&["refresh", "42"], 10);
    let empty = lab.server().tip(BRANCH).unwrap();
    resolves(&repo, &session, &["refresh", "42"], 1);
    lab.server().git(&["update-ref", "-d", BRANCH]);
    resolves(&repo, &session, &["check", "42"], 10);
    lab.server().git(&["update-ref", BRANCH, &empty]);
    resolves(&repo, &session, &["claim", "43"], 11);

    // One that is read here and written there.
    let apart = lab.clone("apart");
    lab.bare("other.git", &[]);
    let other = format!("file://{}", lab.path("other.git").display());
    apart.git(&["config", "remote.origin.pushUrl", &other]);
    resolves(&apart, &session, &["claim", "42"], 2);

    // Several remotes: any of them can be named.
    let split = lab.clone("split");
    split.git(&["remote", "rename", "origin", "one"]);
    split.git(&["remote", "add", "two", &format!("file://{}", lab.path("server.git").display())]);
    let refused = split.human(&["check", "42"]).session(&session).go();
    let printed = commands(&refused).into_iter().find(|text| is_command(text));
    let command = printed.unwrap_or_else(|| panic!("{refused}"));
    assert_eq!(paste(&split, &session, &command).code(), 0, "{command}\n{refused}");
    let after = split.lock(&["check", "42"]).session(&session).go();
    assert!(["FREE", "LOCKED"].contains(&after.word()), "{command}\n{refused}{after}");
    let wrong = repo.human(&["--remote", "nowhere", "check", "42"]).session(&session).go();
    for command in commands(&wrong).iter().filter(|text| is_command(text)) {
        assert_eq!(paste(&repo, &session, command).code(), 0, "{command}\n{wrong}");
    }

    // A remote that is gone is shown as git sees it.
    std::fs::rename(lab.path("server.git"), lab.path("gone.git")).unwrap();
    let failed = repo.human(&["claim", "42"]).session(&session).go();
    for command in commands(&failed).iter().filter(|text| is_command(text)) {
        let output = paste(&repo, &session, command);
        assert!(output.stderr.contains("server.git"), "{command}\n{output}");
    }
}

#[test]
pub fn of_left_over_files() {
    let session = Session::start();
    let lab = Lab::empty();
    let repo = lab.alone("a b");
    repo.lock(&["claim", "42"]).session(&session).go().expect("CLAIMED", 0);
    let folder = repo.git_dir().join("aitask-lock");
    let left = [repo.git_dir().join(format!("{BRANCH}.lock")), folder.join("tmp-left")];
    std::fs::create_dir_all(folder.join("merge.guard")).unwrap();
    for file in &left {
        std::fs::write(file, "").unwrap();
    }
    let told = repo.human(&["doctor", "--json"]).session(&session).go();
    let report: serde_json::Value = serde_json::from_str(&told.stdout).unwrap();
    let found = report["results"].as_array().unwrap().iter().filter_map(|finding| finding["remedy"].as_str());
    let remedies: Vec<&str> = found.filter(|remedy| remedy.starts_with("rm")).collect();
    for remedy in &remedies {
        assert_eq!(paste(&repo, &session, remedy).code(), 0, "{remedy}");
    }
    assert!(!left[0].exists() && !folder.join("merge.guard").exists(), "{remedies:?}\n{told}");
    repo.lock(&["claim", "43"]).session(&session).go().expect("CLAIMED", 0);
}

/// A reservation for task 41 whose session is gone.
pub fn lost(repo: &Repo<'_>) {
    let mut session = Session::start();
    repo.lock(&["merge", "claim", "41"]).session(&session).go().expect("MERGE_CLAIMED", 0);
    session.end();
}

#[test]
pub fn of_a_merge_that_is_not_mine() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    let (root, session) = (&scene.root, &scene.session);
    let other = Session::start();
    root.lock(&["merge", "claim", "41"]).session(&other).go().expect("MERGE_CLAIMED", 0);
    let shown = walk(root, session, &["merge", "release", "41"], 25);
    assert_eq!(shown.last().unwrap().1.code(), 0, "{shown:?}");
    let shown = walk(root, &other, &["merge", "release", "42"], 25);
    assert_eq!(shown.last().unwrap().1.code(), 0, "{shown:?}");
    resolves(root, &other, &["merge", "claim", "42", "--wait", "0"], 21);
    root.lock(&["merge", "release", "42"]).session(&other).go().expect("RELEASED", 0);
    lost(root);
    std::fs::write(reservation(root), "not yaml: [").unwrap();
    for (args, code) in
        [(&["merge", "claim", "42", "--wait", "0"][..], 21), (&["merge", "release", "41"], 25)]
    {
        // The dry run prints the command that does it.
        let shown = walk(root, session, args, code).pop().unwrap().1;
        assert_eq!(shown.code(), 0, "{shown}");
    }
    std::fs::remove_file(reservation(root)).unwrap();
    std::fs::create_dir(reservation(root).with_file_name("merge.guard")).unwrap();
    resolves(root, session, &["merge", "claim", "42", "--wait", "0"], 21);
}

#[test]
pub fn of_what_stands_in_the_shared_root() {
    let kinds: [&[&str]; 6] = [
        &["merge", "t42"],
        &["cherry-pick", "t42"],
        &["rebase", "t42"],
        &["rebase", "--apply", "t42"],
        &["bisect", "start"],
        &["rm", "-q", "file"],
    ];
    for kind in kinds {
        let lab = Lab::empty();
        let repo = lab.alone("a b");
        let scene = Scene::in_place(repo, "file", "file");
        let _stops = scene.root.try_git(kind);
        resolves(&scene.root, &scene.session, &["merge", "claim", "42"], 22);
        assert_eq!(scene.root.git(&["symbolic-ref", "HEAD"]), "refs/heads/main", "{kind:?}");
    }
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    std::fs::write(scene.root.git_dir().join("index.lock"), "").unwrap();
    resolves(&scene.root, &scene.session, &["merge", "begin", "42"], 22);
}

#[test]
pub fn of_a_merge_that_stops() {
    let lab = Lab::empty();
    let scene = Scene::conflicting(&lab);
    let stopped = walk(&scene.root, &scene.session, &["merge", "begin", "42"], 23);
    assert_eq!(stopped.last().unwrap().1.code(), 0, "{stopped:?}");
    assert_eq!((scene.status().as_str(), scene.changes().as_str()), ("FREE", ""));

    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.merge(&["begin", "42"]).expect("MERGE_OK", 0);
    let cleaned = walk(&scene.root, &scene.session, &["merge", "cleanup", "42"], 22).pop().unwrap();
    assert_eq!((cleaned.1.code(), scene.root.tip("refs/heads/t42")), (0, None), "{cleaned:?}");
}

#[test]
fn placeholders_are_no_redirections() {
    let folders =
        ["src/commands", "src/render", "src/sys/anchor", "src/arbiter.rs", "src/context.rs", "src/owner.rs"];
    for folder in folders {
        look(&crate::support::manifest_dir().join(folder));
    }
}

/// A printed command with a placeholder quotes it.
fn look(path: &Path) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            look(&entry.unwrap().path());
        }
        return;
    }
    let Ok(text) = std::fs::read_to_string(path) else { return };
    for line in text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .filter(|line| line.contains("git ") || line.contains("mend("))
    {
        for name in ["<branch>", "<folder>", "<name>", "<agent>", "<command>"] {
            let bare = line.contains(name) && !line.contains(&format!("'{name}'"));
            assert!(!bare, "{}: {line}", path.display());
        }
    }
}

#[test]
pub fn of_refused_merges() {
    let lab = Lab::empty();
    let repo = lab.alone("a b");
    let scene = Scene::in_place(repo, "task", "other");
    let (root, session) = (&scene.root, &scene.session);
    let begin = ["merge", "begin", "42"];
    // The branch to merge into is checked out elsewhere.
    root.git(&["worktree", "add", "-q", "-b", "release", "../else where"]);
    let elsewhere = lab.at("else where");
    let foreign = ["merge", "begin", "42", "--into", "release"];
    let ran = walk(root, session, &foreign, 22);
    assert!(ran.iter().all(|(_, output)| output.code() == 0), "{ran:?}");
    assert!(!elsewhere.path.exists());
    // Several branches are the task's.
    root.git(&["branch", "task/42", "t42"]);
    let ran = walk(root, session, &begin, 22);
    assert_eq!(ran[0].1.code(), 0, "{ran:?}");
    root.lock(&["merge", "release", "42"]).session(session).go().expect("RELEASED", 0);
    // What has to be filled in is understood as a name that does not exist, not as a redirection.
    root.git(&["switch", "-q", "--detach"]);
    let ran = walk(root, session, &["merge", "begin", "43"], 22);
    assert!(ran.iter().all(|(_, output)| [0, 22].contains(&output.code())), "{ran:?}");
}
