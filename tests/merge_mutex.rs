//! Who has the merge mutex: the table of the design, with real sessions, and who waits for it.

use std::path::PathBuf;
use std::process::{Child, Stdio};

use crate::support::actors::{signal, wait_until};
use crate::support::fingerprint::Fingerprint;
use crate::support::merging::run_printed;
use crate::support::{Lab, Output, Repo, Session};

/// A shared root with a branch `t42` that conflicts with `main`.
pub fn root<'lab>(lab: &'lab Lab, name: &str) -> Repo<'lab> {
    let repo = lab.alone(name);
    repo.git(&["checkout", "-q", "-b", "t42"]);
    repo.commit("file", "theirs\n");
    repo.git(&["checkout", "-q", "main"]);
    repo.commit("file", "ours\n");
    repo
}

/// A command of the mutex.
pub fn merge(repo: &Repo<'_>, args: &[&str]) -> crate::support::Run {
    repo.lock(&[&["merge"], args].concat())
}

/// The reservation's file.
pub fn reservation(repo: &Repo<'_>) -> PathBuf {
    PathBuf::from(repo.git(&["rev-parse", "--path-format=absolute", "--git-common-dir"]))
        .join("aitask-lock/merge.yaml")
}

/// The tickets that stand in the queue, live or not.
pub fn tickets(repo: &Repo<'_>) -> usize {
    let folder = reservation(repo).with_file_name("queue");
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries.filter(|entry| !entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("tmp-")).count()
}

/// A claim that waits in the queue.
pub struct Waiter {
    child: Child,
    pub session: Session,
}

impl Waiter {
    /// Starts to wait, and returns once the place is taken.
    pub fn queue(repo: &Repo<'_>, task: &str) -> Self {
        let before = tickets(repo);
        let session = Session::start();
        let mut command = merge(repo, &["claim", task, "--wait", "100"]).session(&session).into_command();
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_until("the waiter has its ticket", || tickets(repo) > before);
        Self { child, session }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its end.
    pub fn end(self) -> (Output, Session) {
        (Output::from(self.child.wait_with_output().unwrap()), self.session)
    }

    /// Kills the waiting command.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn it_outlives_the_command_and_is_claimed_again() {
    let lab = Lab::empty();
    let repo = root(&lab, "a b\nc");
    let session = Session::start();
    let claimed = merge(&repo, &["claim", "t042"]).session(&session).go().expect("MERGE_CLAIMED", 0);
    assert_eq!([claimed.field(0), claimed.field(2)], ["42", "refs/heads/main"]);
    let again = merge(&repo, &["claim", "42"]).session(&session).go().expect("MERGE_CLAIMED", 0);
    assert_eq!([again.field(1), again.field(4)], [claimed.field(1), "again"]);
    let status = merge(&repo, &["status"]).go().expect("HELD", 0);
    let pid = session.pid().to_string();
    let fields = [0, 1, 2, 3].map(|field| status.field(field).to_owned());
    assert_eq!(fields, ["42", &pid, "alive", "refs/heads/main"]);
    merge(&repo, &["finish", "42"]).session(&session).go().expect_line("RELEASED:42|", 0);
    merge(&repo, &["status"]).go().expect_line("FREE", 0);
    merge(&repo, &["release", "42"]).session(&session).go().expect_line("NOT_HELD:42", 0);
}

#[test]
fn every_worktree_finds_the_same_one() {
    let lab = Lab::empty();
    let repo = root(&lab, "a");
    let linked = repo.worktree("linked");
    let session = Session::start();
    merge(&linked, &["claim", "42"]).session(&session).go().expect("MERGE_CLAIMED", 0);
    let seen = merge(&repo, &["status"]).go().expect("HELD", 0);
    assert_eq!(merge(&linked, &["status"]).go().line(), seen.line());
    let other = Session::start();
    merge(&repo, &["claim", "43", "--wait", "0"]).session(&other).go().expect_line("BUSY:42:0|alive", 21);
    merge(&repo, &["release", "42"]).session(&session).go().expect("RELEASED", 0);
}

#[test]
fn a_bare_layout_needs_to_be_told_where_merges_run() {
    let lab = Lab::empty();
    let bare = lab.bare("bare.git", &[]);
    let tree = bare.worktree("tree");
    let session = Session::start();
    let refused = merge(&tree, &["claim", "42"]).session(&session).go().expect("PREFLIGHT_MISSING", 22);
    assert_eq!(refused.field(0), "root");
    bare.git(&["config", "aitask-lock.mergeWorktree", tree.path.to_str().unwrap()]);
    let claim = ["claim", "42", "--into", "tree"];
    let claimed = merge(&bare, &claim).session(&session).go().expect("MERGE_CLAIMED", 0);
    assert_eq!(claimed.field(2), "refs/heads/tree");
}

#[test]
fn without_a_session_there_is_no_reservation() {
    let lab = Lab::empty();
    let repo = root(&lab, "a");
    let refused = repo.human(&["merge", "claim", "42"]).go();
    assert_eq!(refused.code(), 20, "{refused}");
    assert!(refused.stderr.contains("aitask-lock exec") && refused.stderr.contains("AIT_AGENT_PID"));
    merge(&repo, &["claim", "42"]).go().expect_line("NO_SESSION_ANCHOR", 20);
    assert!(!reservation(&repo).exists());
}

#[test]
fn a_live_holder_is_named_and_left_alone() {
    let lab = Lab::empty();
    let repo = root(&lab, "a");
    let (first, second) = (Session::start(), Session::start());
    merge(&repo, &["claim", "42"]).session(&first).go().expect("MERGE_CLAIMED", 0);
    let before = std::fs::read(reservation(&repo)).unwrap();
    let busy = merge(&repo, &["claim", "43", "--wait", "1"]).session(&second).go().expect("BUSY", 21);
    let waited = busy.field(0).strip_prefix("42:").unwrap_or_else(|| panic!("{busy}"));
    assert!(waited.parse::<u64>().unwrap() >= 1 && busy.field(1) == "alive", "{busy}");
    assert!(busy.stderr.starts_with("WAITING:42:0\n"), "{busy}");
    let quiet = merge(&repo, &["claim", "43", "--wait", "1", "-q"]).session(&second).go().expect("BUSY", 21);
    assert_eq!(quiet.stderr, "");
    // The same task in another session is another holder all the same.
    merge(&repo, &["claim", "42", "--wait", "0"]).session(&second).go().expect("BUSY", 21);
    let own = merge(&repo, &["claim", "43"]).session(&first).go().expect("BUSY", 21);
    assert_eq!(own.field(1), "own-other-task");
    merge(&repo, &["release", "42"]).session(&second).go().expect("NOT_OWNER_SESSION", 25);
    merge(&repo, &["release", "43"]).session(&first).go().expect("NOT_HOLDER", 25);
    assert_eq!(std::fs::read(reservation(&repo)).unwrap(), before);
    assert_eq!(tickets(&repo), 0, "who gives up leaves no ticket");
}

#[test]
fn a_lost_session_is_reclaimed_if_the_root_is_clean() {
    let lab = Lab::empty();
    let repo = root(&lab, "a");
    let (mut first, second) = (Session::start(), Session::start());
    merge(&repo, &["claim", "42"]).session(&first).go().expect("MERGE_CLAIMED", 0);
    first.end_unreaped();
    let claimed = merge(&repo, &["claim", "43"]).session(&second).go().expect("MERGE_CLAIMED", 0);
    assert_eq!([claimed.field(0), claimed.field(3)], ["43", "42"], "it says from whom");
    assert!(!reservation(&repo).with_file_name("merge.guard").exists());
}

#[test]
fn residue_is_left_to_a_person() {
    let lab = Lab::empty();
    let repo = root(&lab, "a");
    let (mut first, second) = (Session::start(), Session::start());
    merge(&repo, &["claim", "42"]).session(&first).go().expect("MERGE_CLAIMED", 0);
    assert_eq!(repo.try_git(&["merge", "t42"]).code(), 1);
    first.end();
    let before = Fingerprint::of(&repo);
    let held = std::fs::read(reservation(&repo)).unwrap();
    let stale = merge(&repo, &["claim", "43"]).session(&second).go().expect("STALE_MERGE_RESIDUE", 22);
    assert_eq!([0, 1, 2].map(|field| stale.field(field).to_owned()), ["merge", "abort-merge", "42"]);
    Fingerprint::of(&repo).assert_same(&before, "a refused claim");
    assert_eq!(std::fs::read(reservation(&repo)).unwrap(), held);
}

#[test]
fn a_newcomer_meets_what_was_left_without_a_reservation() {
    let lab = Lab::empty();
    let repo = root(&lab, "a");
    let session = Session::start();
    assert_eq!(repo.try_git(&["merge", "t42"]).code(), 1);
    merge(&repo, &["claim", "43"]).session(&session).go().expect("STALE_MERGE_RESIDUE", 22);
    merge(&repo, &["status"]).go().expect_line("FREE", 0);
    repo.git(&["merge", "--abort"]);
    std::fs::write(repo.path.join("file"), "changed\n").unwrap();
    merge(&repo, &["claim", "43"]).session(&session).go().expect_line("DIRTY_TREE:file|43|released", 22);
    merge(&repo, &["status"]).go().expect_line("FREE", 0);
    repo.git(&["checkout", "-q", "file"]);
    std::fs::write(repo.path.join("untracked"), "").unwrap();
    merge(&repo, &["claim", "43", "--into", "nowhere"])
        .session(&session)
        .go()
        .expect("PREFLIGHT_MISSING", 22);
    merge(&repo, &["claim", "43"]).session(&session).go().expect("MERGE_CLAIMED", 0);
}

#[test]
fn what_cannot_be_told_is_left_alone() {
    let lab = Lab::empty();
    let repo = root(&lab, "a");
    let (mut first, second) = (Session::start(), Session::start());
    merge(&repo, &["claim", "42"]).session(&first).go().expect("MERGE_CLAIMED", 0);
    first.end();
    let whole = std::fs::read_to_string(reservation(&repo)).unwrap();
    let without = |keys: &[&str]| -> String {
        let kept = whole.lines().filter(|line| !keys.iter().any(|key| line.starts_with(key)));
        kept.map(|line| format!("{line}\n")).collect()
    };
    let elsewhere = whole.replace("pid_namespace: ", "pid_namespace: 1");
    for (text, why) in [
        (elsewhere, "unknown"),
        (without(&["pid"]), "unknown"),
        (without(&["boot_id"]), "unknown"),
        (without(&["id:"]), "unreadable"),
        (String::new(), "unreadable"),
        ("not yaml: [".to_owned(), "unreadable"),
    ] {
        std::fs::write(reservation(&repo), &text).unwrap();
        let busy = merge(&repo, &["claim", "43", "--wait", "0"]).session(&second).go().expect("BUSY", 21);
        assert_eq!(busy.field(1), why, "{text}\n{busy}");
        let status = merge(&repo, &["status"]).go().expect("HELD", 0);
        assert_eq!(status.field(2), "unknown", "{text}\n{status}");
        let human = repo.human(&["merge", "claim", "43", "--wait", "0"]).session(&second).go();
        assert!(human.stderr.contains("git aitask-lock merge force-release"), "{human}");
        assert_eq!(std::fs::read_to_string(reservation(&repo)).unwrap(), text);
    }
}

#[test]
fn waiters_come_in_order_past_a_killed_and_a_stopped_one() {
    let lab = Lab::empty();
    let repo = root(&lab, "a");
    let first = Session::start();
    merge(&repo, &["claim", "1"]).session(&first).go().expect("MERGE_CLAIMED", 0);
    let stopped = Waiter::queue(&repo, "2");
    let killed = Waiter::queue(&repo, "3");
    let third = Waiter::queue(&repo, "4");
    let fourth = Waiter::queue(&repo, "5");
    signal(stopped.pid(), "STOP");
    killed.kill();
    let status: serde_json::Value =
        serde_json::from_str(&repo.human(&["merge", "status", "--json"]).go().stdout).unwrap();
    let queue = status["results"][0]["queue"].as_array().unwrap();
    let tasks: Vec<&str> =
        queue.iter().map(|waiter| waiter["task"].as_str().unwrap_or_else(|| panic!("{status}"))).collect();
    assert_eq!(tasks, ["2", "4", "5"], "who waits, in order");
    merge(&repo, &["release", "1"]).session(&first).go().expect("RELEASED", 0);
    let (output, third) = third.end();
    output.expect_line("MERGE_CLAIMED:4|", 0);
    // What was passed over looks again like everyone else.
    signal(stopped.pid(), "CONT");
    merge(&repo, &["release", "4"]).session(&third).go().expect("RELEASED", 0);
    let (output, stopped) = stopped.end();
    output.expect_line("MERGE_CLAIMED:2|", 0);
    merge(&repo, &["release", "2"]).session(&stopped).go().expect("RELEASED", 0);
    let (output, _) = fourth.end();
    output.expect_line("MERGE_CLAIMED:5|", 0);
}

#[test]
fn the_holders_death_wakes_the_next() {
    let lab = Lab::empty();
    let repo = root(&lab, "a");
    let mut first = Session::start();
    merge(&repo, &["claim", "1"]).session(&first).go().expect("MERGE_CLAIMED", 0);
    let next = Waiter::queue(&repo, "2");
    first.end();
    let (output, _) = next.end();
    let output = output.expect_line("MERGE_CLAIMED:2|", 0);
    assert_eq!(output.field(3), "1");
}

#[test]
fn nobody_waits_for_a_session_that_is_gone() {
    let lab = Lab::empty();
    let repo = root(&lab, "a");
    let first = Session::start();
    merge(&repo, &["claim", "1"]).session(&first).go().expect("MERGE_CLAIMED", 0);
    let mut waiter = Waiter::queue(&repo, "2");
    waiter.session.end();
    let (output, _) = waiter.end();
    assert_eq!(output.expect("BUSY", 21).field(1), "session-ended");
    assert_eq!(tickets(&repo), 0);
}

#[test]
fn nobody_waits_for_a_caller_that_is_gone() {
    let lab = Lab::empty();
    let repo = root(&lab, "a");
    let (first, second) = (Session::start(), Session::start());
    merge(&repo, &["claim", "1"]).session(&first).go().expect("MERGE_CLAIMED", 0);
    let mut shell = lab.command("sh");
    let script = "git aitask-lock merge claim 2 --wait 100 --porcelain & wait";
    shell.args(["-c", script]).current_dir(&repo.path).env("AIT_AGENT_PID", second.pid().to_string());
    let mut shell = shell.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("it waits", || tickets(&repo) == 1);
    shell.kill().unwrap();
    shell.wait().unwrap();
    wait_until("it left the queue", || tickets(&repo) == 0);
    merge(&repo, &["release", "1"]).session(&first).go().expect("RELEASED", 0);
    merge(&repo, &["status"]).go().expect_line("FREE", 0);
}

#[test]
fn a_session_has_one_place_for_one_task() {
    let lab = Lab::empty();
    let repo = root(&lab, "a");
    let first = Session::start();
    merge(&repo, &["claim", "1"]).session(&first).go().expect("MERGE_CLAIMED", 0);
    let earlier = Waiter::queue(&repo, "2");
    let behind = Waiter::queue(&repo, "3");
    let again = merge(&repo, &["claim", "2", "--wait", "100"]).session(&earlier.session);
    let again = again.into_command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (output, second) = earlier.end();
    assert_eq!(output.expect("BUSY", 21).field(1), "superseded");
    assert_eq!(tickets(&repo), 2, "the place was taken over");
    merge(&repo, &["release", "1"]).session(&first).go().expect("RELEASED", 0);
    Output::from(again.wait_with_output().unwrap()).expect_line("MERGE_CLAIMED:2|", 0);
    merge(&repo, &["release", "2"]).session(&second).go().expect("RELEASED", 0);
    behind.end().0.expect_line("MERGE_CLAIMED:3|", 0);
}

/// The way out that is printed works.
#[test]
fn what_stands_in_the_place_of_our_folders_is_moved_away() {
    let lab = Lab::empty();
    let repo = root(&lab, "a");
    let session = Session::start();
    let folder = repo.git_dir().join("aitask-lock");
    let away = |code: i32| {
        let told = repo.human(&["merge", "claim", "42", "--wait", "0"]).session(&session).go();
        assert_eq!(told.code(), code, "{told}");
        let at = told.stderr.find("mv ").unwrap_or_else(|| panic!("{told}"));
        run_printed(&lab, told.stderr[at..].lines().next().unwrap());
    };
    std::fs::write(&folder, "").unwrap();
    away(11);
    merge(&repo, &["claim", "42"]).session(&session).go().expect("MERGE_CLAIMED", 0);
    merge(&repo, &["release", "42"]).session(&session).go().expect("RELEASED", 0);
    std::fs::create_dir_all(folder.join("merge.guard/x")).unwrap();
    let status = repo.human(&["merge", "status"]).go();
    assert!(status.stderr.contains("x in it is not ours"), "{status}");
    away(21);
    let _no_queue_yet = std::fs::remove_dir_all(folder.join("queue"));
    std::fs::write(folder.join("queue"), "").unwrap();
    away(11);
    merge(&repo, &["claim", "42"]).session(&session).go().expect("MERGE_CLAIMED", 0);
}

#[test]
fn a_removed_queue_is_said_so() {
    let lab = Lab::empty();
    let repo = root(&lab, "a");
    let first = Session::start();
    merge(&repo, &["claim", "1"]).session(&first).go().expect("MERGE_CLAIMED", 0);
    let waiter = Waiter::queue(&repo, "2");
    std::fs::remove_dir_all(reservation(&repo).with_file_name("queue")).unwrap();
    let (output, _session) = waiter.end();
    assert_eq!(output.expect("BUSY", 21).field(1), "queue-removed");
}

#[test]
fn an_interrupted_waiter_leaves_no_ticket() {
    let lab = Lab::empty();
    let repo = root(&lab, "a");
    let first = Session::start();
    merge(&repo, &["claim", "1"]).session(&first).go().expect("MERGE_CLAIMED", 0);
    for (name, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let waiter = Waiter::queue(&repo, "2");
        signal(waiter.pid(), name);
        let (output, _session) = waiter.end();
        assert_eq!(output.code(), code, "{output}");
        assert_eq!(tickets(&repo), 0, "{name}");
    }
}

/// A private tmux server, ended with the value.
struct Tmux<'lab> {
    lab: &'lab Lab,
}

impl Tmux<'_> {
    fn run(&self, args: &[&str]) -> Output {
        let mut command = self.lab.command("tmux");
        command.arg("-S").arg(self.lab.path("tmux")).args(["-f", "/dev/null"]).args(args);
        Output::of(command)
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        let _gone_already = self.run(&["kill-server"]);
    }
}

#[test]
fn a_tmux_pane_is_a_session() {
    let lab = Lab::empty();
    let repo = root(&lab, "a");
    if std::process::Command::new("tmux").arg("-V").output().is_err() {
        println!("skipped: no tmux");
        return;
    }
    let tmux = Tmux { lab: &lab };
    let out = lab.path("out");
    let script = format!(
        "git aitask-lock merge claim 42 --porcelain > '{0}.part' 2>&1; mv '{0}.part' '{0}'; exec sleep 1000",
        out.display()
    );
    let folder = repo.path.to_str().unwrap();
    tmux.run(&["new-session", "-d", "-s", "x", "-c", folder, "sh", "-c", &script]).success("tmux");
    wait_until("the pane has claimed", || out.exists());
    let said = std::fs::read_to_string(&out).unwrap();
    assert!(said.starts_with("MERGE_CLAIMED:42|"), "{said}");
    let pane = tmux.run(&["display-message", "-p", "-t", "x", "#{pane_pid}"]).success("tmux");
    let status = merge(&repo, &["status"]).go().expect("HELD", 0);
    assert_eq!([status.field(1), status.field(2)], [pane.trim(), "alive"]);
    let other = Session::start();
    merge(&repo, &["claim", "43", "--wait", "0"]).session(&other).go().expect_line("BUSY:42:0|alive", 21);
    tmux.run(&["respawn-pane", "-k", "-t", "x", "sleep 1000"]).success("tmux");
    let claimed = merge(&repo, &["claim", "43"]).session(&other).go().expect("MERGE_CLAIMED", 0);
    assert_eq!(claimed.field(3), "42", "the pane stands, its session is gone");
}
