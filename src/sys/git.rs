//! The only place that starts git.
//!
//! Every call is sealed: no prompt, no editor, no signing, no inherited repository variables,
//! stable messages, a time limit that ends the child and its helpers. Calls for lock traffic run
//! no hook of the user's either. What git answers becomes a typed outcome.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::child::{self, End, Finished, Limits};
use super::{clock, terminal};

pub mod branches;
mod ends;
pub mod environment;
pub mod failure;
pub mod lockfile;
pub mod merge;
pub mod push;
pub mod refs;
pub mod remote;
pub mod rescue;
pub mod residue;
pub mod undo;
pub mod worktree;

pub use failure::{Cause, GitFailure};

/// Most output that is kept of one call, in bytes.
const MAX_OUTPUT: usize = 8 * 1024 * 1024;

/// Oldest git that has what this program relies on: `fetch --no-write-fetch-head` and
/// `--no-auto-maintenance` came with 2.29.
pub const OLDEST_GIT: (u32, u32) = (2, 29);

/// Whether the user's hooks run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hooks {
    /// None at all: lock traffic.
    Off,
    /// As the user configured them: the merge.
    AsConfigured,
}

/// A sealed git for one repository.
#[derive(Clone, Debug)]
pub struct Git {
    /// None: found from the folder it is started in.
    git_dir: Option<PathBuf>,
    work_dir: PathBuf,
    deadline: Instant,
    /// Whether calls with the user's hooks find the repository by themselves.
    discovers: bool,
    traced: bool,
    /// How long a call is tried again that is refused only because a lock file of git's stands there.
    lock_wait: Duration,
}

/// One finished call.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Exit status.
    pub code: i32,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
}

impl Answer {
    /// Whether the exit status is 0.
    #[must_use]
    pub fn ok(&self) -> bool {
        self.code == 0
    }

    /// Standard output without the final newline.
    #[must_use]
    pub fn line(&self) -> String {
        String::from_utf8_lossy(&self.stdout).trim_end_matches(['\n', '\r']).to_owned()
    }
}

impl Git {
    /// A git for the repository at `git_dir`, started in `work_dir` (where relative remote
    /// addresses count from), with everything over by `deadline`.
    #[must_use]
    pub fn new(git_dir: &Path, work_dir: &Path, deadline: Instant) -> Self {
        let git_dir = Some(git_dir.to_owned());
        Self {
            git_dir,
            work_dir: work_dir.to_owned(),
            deadline,
            discovers: false,
            traced: false,
            lock_wait: Duration::ZERO,
        }
    }

    /// A git for the worktree at `work_dir`, whose git directory it finds itself.
    #[must_use]
    pub fn in_worktree(work_dir: &Path, deadline: Instant) -> Self {
        Self {
            git_dir: None,
            work_dir: work_dir.to_owned(),
            deadline,
            discovers: true,
            traced: false,
            lock_wait: Duration::ZERO,
        }
    }

    /// A git for one worktree, started at its top.
    ///
    /// Hooks that run in there see what they see under a git called by hand: `GIT_DIR` is not set for
    /// them where git can do without, since a hook that changes the folder would drag it along.
    #[must_use]
    pub fn of_worktree(git_dir: &Path, top: &Path, deadline: Instant) -> Self {
        let discovers = top.join(".git").exists();
        Self { discovers, ..Self::new(git_dir, top, deadline) }
    }

    /// The private git directory; where none was named, the folder that git is started in.
    #[must_use]
    pub fn git_dir(&self) -> &Path {
        self.git_dir.as_deref().unwrap_or(&self.work_dir)
    }

    /// Where git is started: the top of the worktree, where there is one.
    #[must_use]
    pub fn work_dir(&self) -> &Path {
        &self.work_dir
    }

    /// The same git, telling on standard error what it runs and how long that took.
    #[must_use]
    pub fn traced(self, traced: bool) -> Self {
        Self { traced, ..self }
    }

    /// The same git, which tries again for so long where only a lock file of git's stands in the way.
    #[must_use]
    pub fn waiting(self, lock_wait: Duration) -> Self {
        Self { lock_wait, ..self }
    }

    /// The same git with another deadline.
    #[must_use]
    pub fn until(&self, deadline: Instant) -> Self {
        Self { deadline, ..self.clone() }
    }

    /// The same git with at most `share` of the time that is left.
    #[must_use]
    pub fn with_share(&self, share: f64) -> Self {
        let left = self.time_left();
        self.until(Instant::now() + left.mul_f64(share.clamp(0.0, 1.0)))
    }

    /// Time until the deadline.
    #[must_use]
    pub fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Runs one git command and waits for its end, whatever its exit status is.
    ///
    /// # Errors
    /// git could not be started, was killed, or did not end before the deadline.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, hooks: Hooks, args: &[S]) -> Result<Answer, GitFailure> {
        self.run_with(hooks, args, &[], None)
    }

    /// Like [`Git::run`], with more environment and something on standard input.
    ///
    /// # Errors
    /// As [`Git::run`].
    #[expect(clippy::needless_pass_by_value, reason = "callers make it for this call")]
    pub(crate) fn run_with<S: AsRef<OsStr>>(
        &self,
        hooks: Hooks,
        args: &[S],
        env: &[(OsString, OsString)],
        stdin: Option<Vec<u8>>,
    ) -> Result<Answer, GitFailure> {
        let until = clock::deadline_in(self.lock_wait);
        loop {
            let answer = self.run_once(hooks, args, env, stdin.clone())?;
            let waits = !answer.ok() && lockfile::in_the_way(&answer.stderr).is_some();
            if !waits || clock::remaining(until).is_zero() || self.time_left().is_zero() {
                return Ok(answer);
            }
            clock::sleep(lockfile::TICK);
        }
    }

    fn run_once<S: AsRef<OsStr>>(
        &self,
        hooks: Hooks,
        args: &[S],
        env: &[(OsString, OsString)],
        stdin: Option<Vec<u8>>,
    ) -> Result<Answer, GitFailure> {
        let mut command = Command::new("git");
        command.current_dir(&self.work_dir);
        environment::seal(&mut command);
        environment::seal_hooks(&mut command, hooks);
        for setting in environment::settings(hooks) {
            command.arg("-c").arg(setting);
        }
        if let Some(git_dir) = self.git_dir.as_ref().filter(|_| hooks == Hooks::Off || !self.discovers) {
            command.arg("--git-dir").arg(git_dir);
        }
        command.args(args);
        for (name, value) in env {
            command.env(name, value);
        }
        let started = Instant::now();
        let answer = finish(command, self.deadline, stdin, args.first().map(AsRef::as_ref));
        if self.traced {
            // The settings before it are always the same, and addresses are not among the arguments.
            let args: Vec<_> = args.iter().map(|arg| arg.as_ref().to_string_lossy()).collect();
            let end =
                answer.as_ref().map_or_else(ToString::to_string, |answer| format!("exit {}", answer.code));
            terminal::tell(&format!(
                "git {} ({} ms, {end})",
                args.join(" ").escape_debug(),
                started.elapsed().as_millis()
            ));
        }
        answer
    }
}

/// Runs git outside any repository that we know of: for questions such as its version, or for its
/// own words on why a folder is no repository of ours.
///
/// # Errors
/// As [`Git::run`].
pub fn run_anywhere(directory: &Path, args: &[&str], deadline: Instant) -> Result<Answer, GitFailure> {
    let mut command = Command::new("git");
    command.current_dir(directory);
    environment::seal_messages(&mut command);
    environment::seal_hooks(&mut command, Hooks::Off);
    command.args(args);
    finish(command, deadline, None, args.first().map(OsStr::new))
}

/// Like [`run_anywhere`], without the repository that an enclosing git command names.
///
/// # Errors
/// As [`Git::run`].
pub fn run_detached(directory: &Path, args: &[&str], deadline: Instant) -> Result<Answer, GitFailure> {
    let mut command = Command::new("git");
    command.current_dir(directory);
    environment::seal(&mut command);
    environment::seal_hooks(&mut command, Hooks::Off);
    command.args(args);
    finish(command, deadline, None, args.first().map(OsStr::new))
}

fn finish(
    command: Command,
    deadline: Instant,
    stdin: Option<Vec<u8>>,
    verb: Option<&OsStr>,
) -> Result<Answer, GitFailure> {
    let verb = verb.unwrap_or_default().to_string_lossy().into_owned();
    let limits = Limits { deadline, max_output: MAX_OUTPUT, stdin };
    let Finished { end, stdout, stderr, .. } =
        child::run(command, limits).map_err(|error| GitFailure::not_started(&verb, &error.to_string()))?;
    match end {
        End::Exited(code) => Ok(Answer { code, stdout, stderr }),
        End::TimedOut => Err(GitFailure::new(&verb, Cause::TimedOut, &stderr)),
        End::Signalled(signal) => Err(GitFailure::new(&verb, Cause::Killed(signal), &stderr)),
        End::Interrupted(signal) => child::die_of(signal),
    }
}
