//! The printed way out of what a merge can meet: run as printed, it resolves the state.

use std::process::{Command, Stdio};

use crate::merge_ladder;
use crate::remedies::{commands, lost, paste, printed, walk};
use crate::support::actors::wait_until;
use crate::support::merging::Scene;
use crate::support::{Lab, Output, Repo, Session};

/// Every command that is printed succeeds; the last one's answer.
#[track_caller]
fn all_succeed(repo: &Repo<'_>, session: &Session, args: &[&str], code: i32) -> Output {
    let ran = walk(repo, session, args, code);
    for (command, output) in &ran {
        assert_eq!(output.code(), 0, "{command}\n{output}");
    }
    ran.into_iter().next_back().unwrap().1
}

#[test]
pub fn of_a_busy_mutex() {
    let lab = Lab::empty();
    let repo = lab.alone("a b");
    let (mut holder, session) = (Session::start(), Session::start());
    repo.lock(&["merge", "claim", "41"]).session(&holder).go().expect("MERGE_CLAIMED", 0);
    let claim = ["merge", "claim", "42", "--wait", "0"];
    let refused = repo.human(&claim).session(&session).go();
    assert_eq!(refused.code(), 21, "{refused}");
    let wait = printed(&refused).remove(0);
    // It waits for the holder, who ends meanwhile.
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| paste(&repo, &session, &wait));
        wait_until("it waits", || repo.human(&["merge", "status"]).go().stdout.contains("42"));
        assert!(!waiting.is_finished(), "it did not wait: {wait}");
        holder.end();
        let output = waiting.join().unwrap();
        assert_eq!(output.code(), 0, "{wait}\n{output}");
    });
    repo.lock(&["merge", "release", "42"]).session(&session).go().expect("RELEASED", 0);
}

#[test]
pub fn of_a_holder_that_cannot_be_told() {
    let lab = Lab::empty();
    let repo = lab.alone("a b");
    let session = Session::start();
    lost(&repo);
    let file = crate::merge_mutex::reservation(&repo);
    let text = std::fs::read_to_string(&file).unwrap();
    let kept = text.lines().filter(|line| !line.starts_with("pid_starttime") && !line.starts_with("boot_id"));
    let kept: Vec<String> =
        kept.map(|line| {
            if line.starts_with("pid:") { format!("pid: {}", std::process::id()) } else { line.to_owned() }
        })
        .collect();
    std::fs::write(&file, kept.join("\n") + "\n").unwrap();
    let shown = all_succeed(&repo, &session, &["merge", "claim", "42", "--wait", "0"], 21);
    // The dry run names the armed command.
    let armed = merge_ladder::commands(&shown).remove(0);
    assert_eq!(paste(&repo, &session, &armed).code(), 0, "{armed}");
    repo.lock(&["merge", "claim", "42"]).session(&session).go().expect("MERGE_CLAIMED", 0);
}

#[test]
pub fn of_the_ladder() {
    let lab = Lab::empty();
    let repo = lab.alone("a b");
    let session = Session::start();
    // The wrong remedy: the right one is printed.
    lost(&repo);
    let right = merge_ladder::printed(&repo).remove(0);
    let wrong = paste(&repo, &session, &right.replace("--yes", "--reset-hard --yes"));
    assert_eq!(wrong.code(), 28, "{wrong}");
    assert_eq!(printed(&wrong)[0], right, "{wrong}");
    assert_eq!(paste(&repo, &session, &right).code(), 0, "{right}");
    repo.lock(&["merge", "status"]).go().expect("FREE", 0);
    // What it was for has changed: a look prints the command for what is there now.
    lost(&repo);
    let changed = paste(&repo, &session, &right);
    assert_eq!(changed.code(), 27, "{changed}");
    let shown = paste(&repo, &session, &printed(&changed)[0]);
    let now = merge_ladder::printed(&repo).remove(0);
    assert!(now != right && shown.stdout.contains(&now), "{shown}");
    assert_eq!(paste(&repo, &session, &now).code(), 0);
    // Nobody's session is ended: the command is its own, to be run by it.
    let holder = Session::start();
    repo.lock(&["merge", "claim", "41"]).session(&holder).go().expect("MERGE_CLAIMED", 0);
    let token = repo.lock(&["merge", "force-release"]).go().field(0).to_owned();
    let args = ["merge", "force-release", "--yes", "--expect", &token];
    let refused = repo.human(&args).session(&holder).go();
    assert_eq!(refused.code(), 26, "{refused}");
    assert_eq!(printed(&refused).len(), 2, "{refused}");
    for command in printed(&refused) {
        assert_eq!(paste(&repo, &holder, &command).code(), 0, "{command}");
    }
    repo.lock(&["merge", "status"]).go().expect("FREE", 0);
}

#[test]
pub fn of_residue_with_a_lost_session() {
    let kinds: [&[&str]; 3] = [&["merge", "t42"], &["revert", "--no-edit", "main~1"], &["rm", "-q", "file"]];
    for kind in kinds {
        let lab = Lab::empty();
        let repo = lab.alone("a b");
        let scene = Scene::in_place(repo, "file", "file");
        scene.root.commit("file", "ours again\n");
        lost(&scene.root);
        let _stops = scene.root.try_git(kind);
        let shown = all_succeed(&scene.root, &scene.session, &["merge", "claim", "43"], 22);
        let armed = merge_ladder::commands(&shown).remove(0);
        assert_eq!(paste(&scene.root, &scene.session, &armed).code(), 0, "{kind:?} {armed}");
        assert_eq!((scene.status().as_str(), scene.changes().as_str()), ("FREE", ""), "{kind:?}");
    }
}

#[test]
pub fn of_a_checkout_that_fails() {
    let lab = Lab::empty();
    let scene = Scene::in_place(lab.alone("a b"), "task", "other");
    scene.root.git(&["switch", "-q", "-c", "release", "t42"]);
    scene.root.commit("extra", "tracked there\n");
    scene.root.git(&["switch", "-q", "main"]);
    scene.write("extra", "untracked here\n");
    let begin = ["merge", "begin", "42", "--into", "release"];
    let refused = scene.root.human(&begin).session(&scene.session).go();
    assert_eq!(refused.code(), 22, "{refused}");
    assert!(refused.stderr.contains("extra"), "what is in the way is named\n{refused}");
    // What is in the way is moved to a name that is free.
    scene.write("extra.kept", "older\n");
    let refused = scene.root.human(&begin).session(&scene.session).go();
    for command in printed(&refused) {
        let ran = paste(&scene.root, &scene.session, &command);
        assert_eq!(ran.code(), 0, "{refused}{command}\n{ran}");
    }
    assert_eq!(
        [scene.read("extra.kept"), scene.read("extra.kept2")],
        [b"older\n".to_vec(), b"untracked here\n".to_vec()]
    );
    assert_eq!(
        (scene.read("task"), scene.root.git(&["symbolic-ref", "HEAD"])),
        (b"of the task\n".to_vec(), "refs/heads/release".to_owned())
    );
}

#[test]
pub fn of_a_merge_that_fails() {
    let lab = Lab::empty();
    let scene = Scene::in_place(lab.alone("a b"), "task", "other");
    scene.hook("pre-merge-commit", "exit 1");
    let ran = walk(&scene.root, &scene.session, &["merge", "begin", "42"], 24);
    let (command, last) = ran.last().unwrap();
    assert_eq!(last.code(), 0, "{command}\n{last}");
    assert_eq!((scene.status().as_str(), scene.changes().as_str()), ("FREE", ""));
}

#[test]
pub fn of_a_session_without_a_process() {
    let lab = Lab::empty();
    let scene = Scene::in_place(lab.alone("a b"), "task", "other");
    let refused = scene.root.human(&["merge", "begin", "42"]).go();
    assert_eq!(refused.code(), 20, "{refused}");
    // The printed launcher, with a command of the reader's in the place of the name.
    let launcher = commands(&refused).into_iter().find(|text| text.contains("exec --"));
    let launcher = launcher.unwrap_or_else(|| panic!("{refused}"));
    let placeholder = launcher.split_once("exec -- ").unwrap().1.to_owned();
    let command = launcher.replace(&placeholder, "sh -c 'git aitask-lock merge begin 42; :'");
    let mut shell = lab.command("sh");
    shell.args(["-c", &command]).current_dir(&scene.root.path);
    assert_eq!(Output::of(shell).code(), 0, "{command}");
    assert_eq!(scene.read("task"), b"of the task\n");
}

#[test]
pub fn of_a_stopped_command() {
    let lab = Lab::new();
    let repo = lab.clone("a b");
    let session = Session::start();
    repo.lock(&["init"]).go().expect("INITIALIZED", 0);
    // One that the server holds up keeps the turn.
    let go = lab.path("go");
    let held_up = format!("until [ -e '{}' ]; do sleep 0.05; done", go.display());
    lab.script(lab.path("server.git/hooks/post-receive"), &held_up);
    let mut claim = repo.lock(&["claim", "41"]).session(&session).into_command();
    let mut child = claim.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let pid = child.id().to_string();
    wait_until("it takes the turn", || {
        let locks = std::fs::read_to_string("/proc/locks").unwrap();
        locks.lines().any(|line| line.split_whitespace().any(|word| word == pid))
    });
    assert!(Command::new("kill").args(["-STOP", &pid]).status().unwrap().success());
    let refused = repo.human(&["check", "42", "--timeout", "1s"]).session(&session).go();
    assert_ne!(refused.code(), 0, "{refused}");
    let wake = printed(&refused).into_iter().find(|text| text.contains("-CONT"));
    let wake = wake.unwrap_or_else(|| panic!("{refused}"));
    std::fs::write(go, "").unwrap();
    assert_eq!(paste(&repo, &session, &wake).code(), 0, "{wake}");
    // Both come to their end now.
    repo.lock(&["check", "42"]).session(&session).go().expect("FREE", 1);
    assert!(child.wait().unwrap().success());
    repo.lock(&["check", "41", "--mine"]).session(&session).go().expect("LOCKED", 0);
}
