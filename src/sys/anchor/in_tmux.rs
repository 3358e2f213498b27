//! Anchors in the panes of a real tmux server, on a socket of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use super::*;
use crate::sys::host;

struct Server {
    dir: tempfile::TempDir,
    pid: u32,
}

impl Server {
    /// A server with one pane, `%0`, that runs `script`; `None` where there is no tmux.
    fn start(script: &str) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let mut server = Self { dir, pid: 0 };
        let started = server.command(&["new-session", "-d", "-x", "80", "-y", "24", script]).output();
        if !started.is_ok_and(|output| output.status.success()) {
            println!("skipped: no tmux server can be started here");
            return None;
        }
        server.pid = server.ask("#{pid}", "%0");
        Some(server)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Commas in its name must not confuse anybody.
    fn socket(&self) -> PathBuf {
        self.path("so,ck,et")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("tmux");
        command
            .args(["-f", "/dev/null", "-S"])
            .arg(self.socket())
            .args(arguments)
            .env_remove("TMUX")
            .env_remove("TMUX_PANE")
            .env("SHELL", "/bin/sh")
            .env("TEST_BINARY", std::env::current_exe().unwrap())
            .env("AITASK_LOCK_TEST_DIR", self.dir.path())
            .stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) {
        let output = self.command(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn ask(&self, field: &str, pane: &str) -> u32 {
        let output = self.command(&["display-message", "-p", "-t", pane, field]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
    }

    fn variable(&self) -> OsString {
        let mut value = self.socket().into_os_string();
        value.push(format!(",{},0", self.pid));
        value
    }

    /// As something with this pane's environment that does not run in it.
    fn resolve_from_outside(&self, pane: &str) -> Resolution {
        let env = AnchorEnv { agent_pid: None, tmux: Some(self.variable()), tmux_pane: Some(pane.into()) };
        resolve(host::here(None), &env)
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.pid as i32).unwrap(), signal).unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.command(&["kill-server"]).output();
    }
}

/// Waits for a file that is sure to come.
fn content_of(path: &Path) -> String {
    for _ in 0..3000 {
        if let Ok(text) = std::fs::read_to_string(path) {
            return text;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{} never came", path.display());
}

/// What the panes below run: the answer goes to the file that `$1` names, the rest nowhere, because
/// the terminal may be gone.
const PART: &str = r#"part() { ANSWER="$AITASK_LOCK_TEST_DIR/$1" "$TEST_BINARY" --exact sys::anchor::in_tmux::in_a_pane --ignored >/dev/null 2>&1; }; "#;

#[test]
#[ignore = "only a part of other tests"]
fn in_a_pane() {
    let Some(answer) = std::env::var_os("ANSWER").map(PathBuf::from) else { return };
    let found = resolve(host::here(None), &AnchorEnv::from_env());
    let text = match found.session.process {
        Some(process) => format!("{} {}", process.source.as_str(), process.pid),
        None => format!("none: {:?}", found.warnings),
    };
    let draft = answer.with_extension("draft");
    std::fs::write(&draft, text).unwrap();
    std::fs::rename(draft, answer).unwrap();
}

#[test]
fn each_pane_is_its_own_session_whichever_is_active() {
    let first = format!(
        "{PART} cd \"$AITASK_LOCK_TEST_DIR\"; until test -e go; do sleep 0.05; done; part first; sleep 600"
    );
    let Some(server) = Server::start(&first) else { return };
    let second = format!("{PART} part second; sleep 600");
    server.run(&["split-window", "-t", "%0", &second]);
    // The second pane is the active one now; the first is asked in its shadow.
    std::fs::write(server.path("go"), "").unwrap();
    let (first, second) = (server.ask("#{pane_pid}", "%0"), server.ask("#{pane_pid}", "%1"));
    assert_ne!(first, second);
    assert_eq!(content_of(&server.path("first")), format!("tmux {first}"));
    assert_eq!(content_of(&server.path("second")), format!("tmux {second}"));
}

#[test]
fn a_respawned_pane_belongs_to_its_new_process_only() {
    // What is left of the old pane: deaf to the hang-up, with the pane's environment.
    let old = format!(
        "{PART} (trap '' HUP; cd \"$AITASK_LOCK_TEST_DIR\"; touch up; until test -e go; do sleep 0.05; done; part stale) & sleep 600"
    );
    let Some(server) = Server::start(&old) else { return };
    content_of(&server.path("up"));
    let old_pid = server.ask("#{pane_pid}", "%0");
    let new = format!("{PART} part new; sleep 600");
    server.run(&["respawn-pane", "-k", "-t", "%0", &new]);
    let new_pid = server.ask("#{pane_pid}", "%0");
    assert_ne!(old_pid, new_pid);
    assert_eq!(content_of(&server.path("new")), format!("tmux {new_pid}"));
    std::fs::write(server.path("go"), "").unwrap();
    let stale = content_of(&server.path("stale"));
    assert!(stale.starts_with("none: [PaneNotAncestor"), "{stale}");
}

#[test]
fn a_pane_that_is_not_ours_is_no_anchor() {
    let Some(server) = Server::start("sleep 600") else { return };
    let strangers = server.resolve_from_outside("%0");
    assert_eq!(strangers.session.process, None);
    assert!(
        matches!(strangers.warnings[..], [AnchorWarning::PaneNotAncestor { .. }]),
        "{:?}",
        strangers.warnings
    );

    let gone = server.resolve_from_outside("%99");
    assert_eq!(gone.session.process, None);
    assert!(
        matches!(
            gone.warnings[..],
            [AnchorWarning::Tmux(TmuxError::PaneGone { .. } | TmuxError::Failed { .. })]
        ),
        "{:?}",
        gone.warnings
    );

    server.run(&["kill-server"]);
    let without_server = server.resolve_from_outside("%0");
    assert!(
        matches!(without_server.warnings[..], [AnchorWarning::Tmux(TmuxError::Failed { .. })]),
        "{:?}",
        without_server.warnings
    );
}

#[test]
fn the_server_as_an_agent_is_warned_about() {
    let Some(server) = Server::start("sleep 600") else { return };
    let env = AnchorEnv { agent_pid: Some(server.pid.to_string().into()), ..AnchorEnv::default() };
    let found = resolve(host::here(None), &env);
    if process::proc_is_ours() {
        assert!(
            found
                .warnings
                .iter()
                .any(|warning| matches!(warning, AnchorWarning::AgentPidIsTmuxServer { .. })),
            "{:?}",
            found.warnings
        );
    }
}

#[test]
fn a_stopped_server_holds_nobody_up() {
    let Some(server) = Server::start("sleep 600") else { return };
    server.signal(Signal::STOP);
    while process::is_stopped(server.pid) == Some(false) {
        std::thread::sleep(Duration::from_millis(1));
    }
    let tmux = server.variable();
    let answer = tmux::pane_process(TmuxEnv { tmux: &tmux, pane: "%0" }, Duration::from_millis(300));
    server.signal(Signal::CONT);
    assert!(matches!(answer, Err(TmuxError::TimedOut { .. })), "{answer:?}");
    // The same question is answered once the server goes on.
    let answer = tmux::pane_process(TmuxEnv { tmux: &tmux, pane: "%0" }, Duration::from_secs(60));
    assert_eq!(answer.unwrap().pid, server.ask("#{pane_pid}", "%0"));
}
