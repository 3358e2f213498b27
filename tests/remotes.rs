//! Remotes that are gone, refuse, hang or ask: an answer of its own for each, inside the time limit,
//! nothing claimed, and never "free".

use std::path::Path;

use crate::support::answers::{all_answer, assert_nobody_is_left};
use crate::support::net::{Daemon, Silent, answering, closed_port};
use crate::support::{Lab, Run, Session};

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
fn a_first_claim_needs_no_protocol_that_says_what_is_missing() {
    for protocol in ["0", "1", "2"] {
        for round in 0..10 {
            let lab = Lab::new();
            let repo = lab.clone("a");
            repo.git(&["config", "protocol.version", protocol]);
            // A path is served without the helper that a file:// address gets.
            if round % 2 == 0 {
                repo.git(&["config", "remote.origin.url", lab.path("server.git").to_str().unwrap()]);
            }
            let session = Session::start();
            repo.lock(&["check", "42"]).go().expect("LOCK_ERROR", 10);
            repo.lock(&["claim", "42"]).session(&session).go().expect("CLAIMED", 0);
            assert_eq!(lab.server().lock_files(), ["t42_lock.yaml"], "protocol {protocol}");
        }
    }
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
