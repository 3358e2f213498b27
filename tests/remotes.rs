//! Remotes that are gone, refuse, hang, lie or answer late: an answer of its own for each, inside the
//! time limit, nothing claimed, and never "free".

use std::path::Path;
use std::process::Stdio;

use crate::support::actors::{signal, wait_until};
use crate::support::fingerprint::Fingerprint;
use crate::support::net::{Daemon, Silent, answering, closed_port};
use crate::support::planting::{Planted, plant};
use crate::support::{BRANCH, Lab, Output, Repo, Run, Session};

/// Every command that talks to the remote.
const VERBS: [&[&str]; 8] = [
    &["check", "42"],
    &["list"],
    &["claim", "42"],
    &["claim", "42", "--force"],
    &["refresh", "42"],
    &["release", "42"],
    &["cleanup", "--gone"],
    &["init"],
];

/// Every command answers with this line and code, and changes nothing.
#[track_caller]
fn all_answer(repo: &Repo<'_>, line: &str, code: i32, adapt: impl Fn(Run) -> Run) {
    let before = Fingerprint::of(repo);
    for verb in VERBS {
        let output = adapt(repo.lock(verb)).go().expect_line(line, code);
        assert!(!output.stdout.contains("FREE"), "{output}");
        assert!(output.stderr.starts_with("error: "), "people are told as well\n{output}");
    }
    Fingerprint::of(repo).assert_same(&before, "a command that cannot read the remote");
    assert_eq!(repo.tip(BRANCH), None, "nothing falls back to a local lock");
}

/// Nothing that ran in this lab is left, judged by the environment of all processes.
#[track_caller]
fn assert_nobody_is_left(lab: &Lab) {
    wait_until("all children are gone", || left(lab).is_empty());
}

fn left(lab: &Lab) -> Vec<u32> {
    let root = lab.root().to_str().unwrap().as_bytes();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid: &u32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.windows(root.len()).any(|window| window == root)
    })
    .collect()
}

#[test]
fn a_remote_that_is_gone() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    std::fs::rename(lab.path("server.git"), lab.path("gone.git")).unwrap();
    all_answer(&repo, "LOCK_ERROR:fetch_failed|unreachable", 11, |run| run);
    // The same for one that was known well before.
    std::fs::rename(lab.path("gone.git"), lab.path("server.git")).unwrap();
    let session = Session::start();
    repo.lock(&["claim", "42"]).session(&session).go().expect("CLAIMED", 0);
    std::fs::rename(lab.path("server.git"), lab.path("gone.git")).unwrap();
    all_answer(&repo, "LOCK_ERROR:fetch_failed|unreachable", 11, |run| run.session(&session));
    all_answer(&repo, "LOCK_ERROR:fetch_failed|unreachable", 11, |run| run);
}

#[test]
fn a_port_that_nobody_listens_on() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    for scheme in ["git", "http"] {
        let url = format!("{scheme}://127.0.0.1:{}/server.git", closed_port());
        repo.git(&["config", "remote.origin.url", &url]);
        all_answer(&repo, "LOCK_ERROR:fetch_failed|unreachable", 11, |run| run);
    }
}

#[test]
fn no_locale_changes_an_answer() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    repo.git(&["config", "remote.origin.url", &format!("git://127.0.0.1:{}/x", closed_port())]);
    let german = |run: Run| run.env("LC_ALL", "de_DE.UTF-8").env("LANGUAGE", "de").env("LANG", "de_DE.UTF-8");
    all_answer(&repo, "LOCK_ERROR:fetch_failed|unreachable", 11, german);
}

/// A `git` first on the search path that is the real one without a word on standard error.
fn speechless_git(lab: &Lab) -> std::ffi::OsString {
    let git = lab.git(lab.root(), &["--exec-path"]) + "/git";
    let shim = lab.script("speechless/git", &format!("exec '{git}' \"$@\" 2>/dev/null"));
    search_path(shim.parent().unwrap())
}

/// The search path with a folder before all others.
fn search_path(first: &Path) -> std::ffi::OsString {
    let inherited = std::env::var_os("PATH").unwrap();
    std::env::join_paths(std::iter::once(first.to_owned()).chain(std::env::split_paths(&inherited))).unwrap()
}

#[test]
fn no_answer_rests_on_words_alone() {
    let lab = Lab::new();
    let (a, b) = (lab.clone("a"), lab.clone("b"));
    let path = speechless_git(&lab);
    let (first, second) = (Session::start(), Session::start());
    a.lock(&["check", "42"]).env("PATH", &path).go().expect("LOCK_ERROR", 10);
    a.lock(&["claim", "42"]).session(&first).env("PATH", &path).go().expect("CLAIMED", 0);
    b.lock(&["claim", "42"]).session(&second).env("PATH", &path).go().expect("LOCK_LIVE_HOLDER", 13);
    b.lock(&["claim", "43"]).session(&second).env("PATH", &path).go().expect("CLAIMED", 0);
    a.lock(&["claim", "44"]).session(&first).env("PATH", &path).go().expect("CLAIMED", 0);
    lab.script("server.git/hooks/pre-receive", "exit 1");
    a.lock(&["claim", "45"]).session(&first).env("PATH", &path).go().expect("LOCK_ERROR", 15);
    std::fs::rename(lab.path("server.git"), lab.path("gone.git")).unwrap();
    let gone = a.lock(&["check", "46"]).env("PATH", &path).go();
    gone.expect_line("LOCK_ERROR:fetch_failed|", 11);
}

#[test]
fn credentials_that_are_missing_or_wrong() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    let port = answering("401 Unauthorized");
    let asked = lab.path("asked");
    let ask = lab.script("ask", &format!("touch '{}'; sleep 1000", asked.display()));
    for address in [format!("127.0.0.1:{port}"), format!("user:secret@127.0.0.1:{port}")] {
        repo.git(&["config", "remote.origin.url", &format!("http://{address}/server.git")]);
        repo.git(&["config", "core.askPass", ask.to_str().unwrap()]);
        let askpass = |run: Run| run.env("GIT_ASKPASS", &ask).env("SSH_ASKPASS", &ask).env("DISPLAY", ":0");
        all_answer(&repo, "LOCK_ERROR:fetch_failed|authentication", 11, askpass);
        let told = repo.human(&["check", "42"]).go();
        assert!(!told.stderr.contains("secret"), "{told}");
    }
    assert!(!asked.exists(), "nobody was asked");
    assert_nobody_is_left(&lab);
}

#[test]
fn a_permission_that_is_not_there() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    let url = format!("http://127.0.0.1:{}/server.git", answering("403 Forbidden"));
    repo.git(&["config", "remote.origin.url", &url]);
    all_answer(&repo, "LOCK_ERROR:fetch_failed|permission", 11, |run| run);
}

#[test]
fn a_remote_that_never_answers() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    let silent = Silent::start();
    for scheme in ["git", "http"] {
        let url = format!("{scheme}://127.0.0.1:{}/server.git", silent.port());
        repo.git(&["config", "remote.origin.url", &url]);
        let started = std::time::Instant::now();
        all_answer(&repo, "LOCK_ERROR:fetch_failed|timeout", 11, |run| run.arg("--timeout=500ms"));
        assert!(started.elapsed().as_secs() < 60, "the limit ended them, not luck");
    }
    assert_nobody_is_left(&lab);
}

#[test]
fn a_credential_helper_that_never_answers() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    let url = format!("http://127.0.0.1:{}/server.git", answering("401 Unauthorized"));
    repo.git(&["config", "remote.origin.url", &url]);
    repo.git(&["config", "credential.helper", "!sleep 1000;"]);
    all_answer(&repo, "LOCK_ERROR:fetch_failed|timeout", 11, |run| run.arg("--timeout=500ms"));
    assert_nobody_is_left(&lab);
}

#[test]
fn an_ssh_that_wants_to_ask() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    repo.git(&["config", "remote.origin.url", "ssh://host.invalid/server.git"]);
    let seen = lab.path("seen");
    let ssh =
        lab.script("bin/ssh", &format!("echo \"$@\" >> '{}'; exec sleep 1000 < /dev/tty", seen.display()));
    let path = search_path(ssh.parent().unwrap());
    all_answer(&repo, "LOCK_ERROR:fetch_failed|", 11, |run| run.env("PATH", &path).arg("--timeout=1s"));
    let seen = std::fs::read_to_string(seen).unwrap();
    assert!(seen.lines().any(|line| line.contains("-oBatchMode=yes")), "{seen}");
    // An ssh command of the user's own is used as it is.
    let own_seen = lab.path("own-seen");
    let own = lab.script("own-ssh", &format!("echo \"$@\" >> '{}'; exit 255", own_seen.display()));
    repo.git(&["config", "core.sshCommand", own.to_str().unwrap()]);
    all_answer(&repo, "LOCK_ERROR:fetch_failed|", 11, |run| run.env("PATH", &path).arg("--timeout=5s"));
    assert!(!std::fs::read_to_string(own_seen).unwrap().contains("BatchMode"));
    assert_nobody_is_left(&lab);
}

/// A branch that is locked on, a server that refuses to change it from now on.
#[track_caller]
fn refuses_writing(repo: &Repo<'_>, line: &str) -> Output {
    let session = Session::start();
    let tip = repo.lab.server().tip(BRANCH);
    let before = Fingerprint::of(repo);
    let claim = repo.lock(&["claim", "42"]).session(&session).go().expect_line(line, 15);
    repo.lock(&["claim", "42", "43"]).session(&session).go().no_panic().code_is(15);
    Fingerprint::of(repo).assert_same(&before, "a claim that the server refused");
    assert_eq!(repo.lab.server().tip(BRANCH), tip);
    claim
}

impl Output {
    #[track_caller]
    fn code_is(self, code: i32) {
        assert_eq!(self.code(), code, "\n{self}");
    }
}

#[test]
fn a_server_whose_policy_says_no() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    lab.script("server.git/hooks/pre-receive", "printf 'branch is \\033[2Jprotected\\n' >&2; exit 1");
    let refused = refuses_writing(&repo, "LOCK_ERROR:push_refused|policy|42");
    assert!(refused.stderr.contains("protected") && !refused.stderr.contains('\u{1b}'), "{refused:?}");
    std::fs::remove_file(lab.path("server.git/hooks/pre-receive")).unwrap();
    repo.lock(&["init"]).go().expect("INITIALIZED", 0);
    let decline = "while read -r _ _ ref; do case $ref in *aitask-locks) echo no >&2; exit 1;; esac; done";
    lab.script("server.git/hooks/pre-receive", decline);
    let refused = refuses_writing(&repo, "LOCK_ERROR:push_refused|policy|42");
    assert!(refused.stderr.contains("nothing was changed"), "{refused}");
    repo.lock(&["check", "42"]).go().expect("FREE", 1);
    repo.lock(&["list"]).go().expect_all(&[], 0);
}

#[test]
fn a_server_that_wants_another_commit_identity() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    let script = "while read -r _ new _; do case $(git log -1 --format=%ae%ce $new) in \
                  bot@corp.examplebot@corp.example) ;; *) echo 'wrong author' >&2; exit 1;; esac; done";
    lab.script("server.git/hooks/pre-receive", script);
    let refused = refuses_writing(&repo, "LOCK_ERROR:push_refused|policy|42");
    assert!(refused.stderr.contains("wrong author"), "{refused}");
    assert!(refused.stderr.contains("aitask-lock.committer"), "the remedy is named\n{refused}");
    repo.git(&["config", "aitask-lock.committer", "Bot <bot@corp.example>"]);
    let session = Session::start();
    repo.lock(&["claim", "42"]).session(&session).go().expect("CLAIMED", 0);
    assert_eq!(lab.server().lock_value("42", "locked_by").as_deref(), Some("alice@example.com"));
}

#[test]
fn a_server_that_is_read_only() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    repo.lock(&["init"]).go().expect("INITIALIZED", 0);
    let daemon = Daemon::start(&lab, false);
    repo.git(&["config", "remote.origin.url", &format!("git://127.0.0.1:{}/server.git", daemon.port)]);
    repo.lock(&["check", "42"]).go().expect("FREE", 1);
    let refused = refuses_writing(&repo, "LOCK_ERROR:push_refused|permission|42");
    assert!(refused.stderr.contains("nothing was changed"), "{refused}");
    // Known nothing of it before: the first read works, the write is refused all the same.
    let fresh = lab.clone("b");
    fresh.git(&["config", "remote.origin.url", &format!("git://127.0.0.1:{}/server.git", daemon.port)]);
    refuses_writing(&fresh, "LOCK_ERROR:push_refused|permission|42");
    std::fs::remove_dir_all(lab.path("server.git")).unwrap();
    fresh.lock(&["check", "42"]).go().expect("LOCK_ERROR", 11);
}

#[test]
fn through_git_daemon() {
    let lab = Lab::new();
    let (a, b) = (lab.clone("a"), lab.clone("b"));
    let daemon = Daemon::start(&lab, true);
    for repo in [&a, &b] {
        repo.git(&["config", "remote.origin.url", &format!("git://127.0.0.1:{}/server.git", daemon.port)]);
    }
    let (first, second) = (Session::start(), Session::start());
    a.lock(&["claim", "42"]).session(&first).go().expect("CLAIMED", 0);
    b.lock(&["claim", "42"]).session(&second).go().expect("LOCK_LIVE_HOLDER", 13);
    b.lock(&["claim", "43"]).session(&second).go().expect("CLAIMED", 0);
    a.lock(&["release", "42"]).session(&first).go().expect("RELEASED", 0);
    assert_eq!(lab.server().lock_files(), ["t43_lock.yaml"]);
    drop(daemon);
    all_answer(&a, "LOCK_ERROR:fetch_failed|unreachable", 11, |run| run);
}

#[test]
fn a_branch_name_that_is_taken_by_a_folder() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    lab.server().git(&["update-ref", "refs/heads/aitask-locks/x", "refs/heads/main"]);
    let refused = refuses_writing(&repo, "LOCK_ERROR:push_refused|");
    assert!(refused.stderr.contains("aitask-locks"), "{refused}");
}

#[test]
fn a_branch_that_was_deleted() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    let session = Session::start();
    repo.lock(&["claim", "42"]).session(&session).go().expect("CLAIMED", 0);
    let tip = lab.server().tip(BRANCH);
    lab.server().git(&["update-ref", "-d", BRANCH]);
    let before = Fingerprint::of(&repo);
    for verb in VERBS.iter().filter(|verb| verb[0] != "init") {
        let other = Session::start();
        for session in [&session, &other] {
            let output = repo.lock(verb).session(session).go();
            output.expect_line("LOCK_ERROR:branch_missing|deleted", 10);
        }
    }
    Fingerprint::of(&repo).assert_same(&before, "a look at a deleted branch");
    assert_eq!(lab.server().tip(BRANCH), None, "nothing made it anew");
    let restored = repo.lock(&["init"]).go().expect("INITIALIZED", 0);
    assert_eq!(restored.field(2), "created");
    assert_eq!(lab.server().tip(BRANCH), tip, "nothing that was locked became free");
    repo.lock(&["refresh", "42"]).session(&session).go().expect("REFRESHED", 0);
}

#[test]
fn a_branch_that_was_emptied_by_force() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    let session = Session::start();
    repo.lock(&["claim", "42", "43"]).session(&session).go().expect_all(&["CLAIMED"; 2], 0);
    let server = lab.server();
    let known = server.tip(BRANCH).unwrap();
    server.git(&["update-ref", "-d", BRANCH]);
    plant(&server, &[("README.md", Planted::File(b"empty\n"))]);
    let emptied = server.tip(BRANCH);
    for verb in VERBS.iter().filter(|verb| verb[0] != "init") {
        for _ in 0..2 {
            let output = repo.lock(verb).session(&Session::start()).go();
            let output = output.expect_line("LOCK_ERROR:branch_rewritten", 11);
            assert!(output.stderr.contains("42") && output.stderr.contains("43"), "{output}");
        }
    }
    assert_eq!(server.tip(BRANCH), emptied);
    let accepted = repo.lock(&["init"]).go().expect("INITIALIZED", 0);
    assert_eq!([accepted.field(2), accepted.field(3)], ["present", "42,43"]);
    repo.lock(&["check", "42"]).go().expect("FREE", 1);
    // A rewrite that keeps every lock is nobody's loss.
    let tree = server.git(&["rev-parse", &format!("{known}^{{tree}}")]);
    let same = server.git(&["commit-tree", "-m", "squashed", &tree]);
    server.git(&["update-ref", BRANCH, &same]);
    repo.lock(&["check", "42"]).session(&session).go().expect("LOCKED", 0);
}

#[test]
fn a_push_that_landed_although_it_took_too_long() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    let session = Session::start();
    repo.lock(&["init"]).go().expect("INITIALIZED", 0);
    lab.script("server.git/hooks/post-receive", "exec sleep 1000");
    let claimed = repo.lock(&["claim", "42", "--timeout=4s"]).session(&session).go().expect("CLAIMED", 0);
    assert_eq!(lab.server().lock_value("42", "lock_id").as_deref(), Some(claimed.field(2)));
    let released = repo.lock(&["release", "42", "--timeout=4s"]).session(&session).go();
    released.expect("RELEASED", 0);
    assert_eq!(lab.server().lock_files(), [""; 0]);
    assert_nobody_is_left(&lab);
}

/// A shell line that kills the `git push` above a server's hook.
const KILL_THE_PUSH: &str = "p=$PPID\n\
    while [ \"$p\" -gt 1 ]; do\n\
    case \"$(tr '\\0' ' ' < /proc/$p/cmdline)\" in *' push '*) kill -9 $p; break;; esac\n\
    p=$(sed 's/.*) . //; s/ .*//' /proc/$p/stat)\n\
    done";

#[test]
fn a_push_that_landed_although_its_git_was_killed() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    let session = Session::start();
    repo.lock(&["init"]).go().expect("INITIALIZED", 0);
    lab.script("server.git/hooks/post-receive", KILL_THE_PUSH);
    let claimed = repo.lock(&["claim", "42"]).session(&session).go().expect("CLAIMED", 0);
    assert_eq!(lab.server().lock_value("42", "lock_id").as_deref(), Some(claimed.field(2)));
    let refused = repo.lock(&["claim", "42"]).session(&Session::start()).go();
    refused.expect("LOCK_LIVE_HOLDER", 13);
    repo.lock(&["release", "42"]).session(&session).go().expect("RELEASED", 0);
}

#[test]
fn a_push_that_did_not_land_because_its_git_was_killed() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    let session = Session::start();
    repo.lock(&["init"]).go().expect("INITIALIZED", 0);
    let tip = lab.server().tip(BRANCH);
    lab.script("server.git/hooks/pre-receive", &format!("{KILL_THE_PUSH}\nexit 1"));
    // It could still land after the look: that is said, and a repetition settles it.
    let unknown = repo.lock(&["claim", "42"]).session(&session).go();
    let unknown = unknown.expect_line("LOCK_ERROR:outcome_unknown|killed|42", 16);
    assert!(unknown.stderr.contains("git aitask-lock list --mine"), "{unknown}");
    assert_eq!(lab.server().tip(BRANCH), tip);
    std::fs::remove_file(lab.path("server.git/hooks/pre-receive")).unwrap();
    repo.lock(&["claim", "42"]).session(&session).go().expect("CLAIMED", 0);
}

/// Starts a command, kills the program once the server has moved the branch, and lets the
/// server's hook end.
fn killed_after_landing(lab: &Lab, run: Run) {
    let (moved, go) = (lab.path("moved"), lab.path("go"));
    for marker in [&moved, &go] {
        let _from_before = std::fs::remove_file(marker);
    }
    let hook = format!("touch '{}'\nwhile ! [ -e '{}' ]; do sleep 0.05; done", moved.display(), go.display());
    lab.script("server.git/hooks/post-receive", &hook);
    let mut command = run.into_command();
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut tool = command.spawn().unwrap();
    wait_until("the branch moved", || moved.exists());
    signal(tool.id(), "KILL");
    tool.wait().unwrap();
    std::fs::write(&go, "").unwrap();
    std::fs::remove_file(lab.path("server.git/hooks/post-receive")).unwrap();
}

#[test]
fn a_tool_that_was_killed_is_repeated_by_its_session() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    let (first, second) = (Session::start(), Session::start());
    repo.lock(&["init"]).go().expect("INITIALIZED", 0);
    killed_after_landing(&lab, repo.lock(&["claim", "42"]).session(&first));
    let refused = repo.lock(&["claim", "42"]).session(&second).go().expect("LOCK_LIVE_HOLDER", 13);
    assert_eq!(refused.field(3), first.pid().to_string());
    repo.lock(&["claim", "42"]).session(&first).go().expect("REFRESHED", 0);
    killed_after_landing(&lab, repo.lock(&["release", "42"]).session(&first));
    repo.lock(&["release", "42"]).session(&first).go().expect("NOT_HELD", 0);
    repo.lock(&["claim", "42"]).session(&second).go().expect("CLAIMED", 0);
    assert_nobody_is_left(&lab);
}

#[test]
fn two_places_that_could_decide_are_refused_by_name() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    lab.bare("other.git", &[]);
    let other = lab.path("other.git");
    let other = other.to_str().unwrap();
    let settings: [&[&str]; 3] = [
        &["remote.origin.pushurl", other],
        &["--add", "remote.origin.url", other],
        &["url.file:///elsewhere/.pushInsteadOf", "file:///"],
    ];
    for setting in &settings {
        repo.git(&[&["config"], *setting].concat());
        all_answer(&repo, "LOCK_ERROR:ambiguous_remote|split_remote", 128, |run| run);
        // The setting settles it.
        let session = Session::start();
        let run = repo.lock(&["claim", "42", "--remote", lab.path("server.git").to_str().unwrap()]);
        let word = run.session(&session).go();
        assert_eq!(word.code(), 0, "{word}");
        let run = repo.lock(&["release", "42", "--remote", lab.path("server.git").to_str().unwrap()]);
        run.session(&session).go().expect("RELEASED", 0);
        let key = setting.iter().find(|word| word.contains('.') && !word.starts_with('/')).unwrap();
        if *key == "remote.origin.url" {
            repo.git(&["config", "--unset", key, "other.git"]);
        } else {
            repo.git(&["config", "--unset", key]);
        }
    }
    repo.lock(&["list"]).go().expect_all(&[], 0);
    assert_eq!(lab.at("other.git").tip(BRANCH), None);
}

#[test]
fn a_mirror_is_pushed_to_like_any_other() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    repo.git(&["config", "remote.origin.mirror", "true"]);
    repo.git(&["branch", "private"]);
    let session = Session::start();
    repo.lock(&["claim", "42"]).session(&session).go().expect("CLAIMED", 0);
    repo.lock(&["release", "42"]).session(&session).go().expect("RELEASED", 0);
    assert_eq!(lab.server().tip("refs/heads/private"), None, "only the lock branch was pushed");
    assert!(lab.server().tip("refs/heads/main").is_some());
}

#[test]
fn several_remotes_need_a_word() {
    let lab = Lab::new();
    let session = Session::start();
    // The only remote decides, whatever it is called.
    let repo = lab.clone_with("a", &["-o", "gitlab"]);
    repo.lock(&["claim", "42"]).session(&session).go().expect("CLAIMED", 0);
    assert_eq!(lab.server().lock_files(), ["t42_lock.yaml"]);
    lab.bare("upstream.git", &[]);
    repo.git(&["remote", "add", "upstream", lab.path("upstream.git").to_str().unwrap()]);
    repo.git(&["config", "remote.pushDefault", "upstream"]);
    all_answer(&repo, "LOCK_ERROR:ambiguous_remote|several_remotes", 128, |run| run.session(&session));
    let named = repo.lock(&["check", "42", "--remote", "gitlab"]).session(&session).go();
    named.expect("LOCKED", 0);
    repo.git(&["config", "aitask-lock.remote", "upstream"]);
    repo.lock(&["claim", "43"]).session(&session).go().expect("CLAIMED", 0);
    assert_eq!(lab.at("upstream.git").lock_files(), ["t43_lock.yaml"]);
    repo.git(&["config", "aitask-lock.remote", "nowhere"]);
    all_answer(&repo, "LOCK_ERROR:ambiguous_remote|no_such_remote", 128, |run| run.session(&session));
    // `.` means this repository.
    repo.git(&["config", "aitask-lock.remote", "."]);
    repo.lock(&["claim", "44"]).session(&session).go().expect("CLAIMED", 0);
    assert_eq!(repo.lock_files(), ["t44_lock.yaml"]);
}

#[test]
fn locks_of_the_time_before_the_remote_are_published() {
    let lab = Lab::new();
    let repo = lab.alone("a");
    let (first, second) = (Session::start(), Session::start());
    repo.lock(&["claim", "42"]).session(&first).go().expect("CLAIMED", 0);
    let local = repo.tip(BRANCH);
    repo.git(&["remote", "add", "origin", lab.path("server.git").to_str().unwrap()]);
    repo.lock(&["claim", "42"]).session(&second).go().expect("LOCK_LIVE_HOLDER", 13);
    assert_eq!(lab.server().tip(BRANCH), None, "a refusal publishes nothing");
    repo.lock(&["claim", "43"]).session(&second).go().expect("CLAIMED", 0);
    assert_eq!(lab.server().lock_files(), ["t42_lock.yaml", "t43_lock.yaml"]);
    assert_eq!(lab.server().git(&["rev-parse", &format!("{BRANCH}^")]), local.unwrap());
    repo.lock(&["release", "42"]).session(&first).go().expect("RELEASED", 0);
    assert_eq!(lab.server().lock_files(), ["t43_lock.yaml"]);
}
