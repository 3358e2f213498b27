//! A real terminal: a pane of a tmux server on a socket of its own.

use std::path::PathBuf;

use super::actors::wait_until;
use super::{Lab, Output, Repo};

/// A tmux server of its own, ended with the value.
pub struct Tmux<'lab> {
    lab: &'lab Lab,
    socket: PathBuf,
}

impl<'lab> Tmux<'lab> {
    /// A server with one window of 80 columns, in a folder; none without tmux.
    pub fn start(lab: &'lab Lab, repo: &Repo<'_>, rows: u16) -> Option<Self> {
        let tmux = Self { lab, socket: lab.path("tmux.socket") };
        let mut probe = lab.command("sh");
        probe.args(["-c", "command -v tmux"]);
        if !Output::of(probe).status.success() {
            println!("skipped: tmux is not installed");
            return None;
        }
        let folder = repo.path.to_str().unwrap();
        tmux.run(&[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            "80",
            "-y",
            &rows.to_string(),
            "-c",
            folder,
            "env",
            "PS1=ready:",
            "sh",
        ]);
        // What is typed before the shell reads would stand in its prompt's place.
        tmux.shows("ready:");
        Some(tmux)
    }

    /// Runs a command of tmux; it has to succeed.
    pub fn run(&self, args: &[&str]) -> String {
        let mut command = self.lab.command("tmux");
        command.arg("-S").arg(&self.socket).args(args).env("LC_ALL", "C.UTF-8");
        Output::of(command).success(&format!("tmux {args:?}"))
    }

    /// Types.
    pub fn keys(&self, keys: &[&str]) {
        self.run(&[&["send-keys"], keys].concat());
    }

    /// What the screen shows.
    pub fn screen(&self) -> String {
        self.run(&["capture-pane", "-p"])
    }

    /// Waits until the screen shows a text.
    #[track_caller]
    pub fn shows(&self, text: &str) {
        wait_until(&format!("the screen shows {text:?}"), || self.screen().contains(text));
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        let mut command = self.lab.command("tmux");
        command.arg("-S").arg(&self.socket).arg("kill-server");
        let _gone = command.output();
    }
}
