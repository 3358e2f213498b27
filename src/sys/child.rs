//! The only door through which programs are started: with a deadline, in a process group of their
//! own, and with nothing left behind.
//!
//! A program that leaves the group by itself (`setsid`, a daemon) is out of reach, and is meant to
//! be. Reading stops when the program itself has ended: its helpers (ssh, a tmux server) may hold
//! its output open for as long as they like.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use self::pipes::{Feed, Intake};
use crate::sys::signals::Watch;
use crate::sys::{clock, process};

mod pipes;

pub use crate::sys::signals::die_of;

/// How long a group may tidy up after SIGTERM (git removes its lock files) before SIGKILL.
const GRACE: Duration = Duration::from_millis(300);
/// How long to wait for a killed group to vanish. Only a process that hangs in the kernel, on a
/// dead file server for instance, takes longer; it is left to its fate.
const VANISHING: Duration = Duration::from_secs(2);
/// Between two looks where nothing can wake us.
const TICK: Duration = Duration::from_millis(10);

/// What bounds a run.
#[derive(Clone, Debug)]
pub struct Limits {
    /// When the program is killed.
    pub deadline: Instant,
    /// Bytes kept of each of the two outputs; the rest is read and thrown away.
    pub max_output: usize,
    /// What the program reads on its standard input; without it, `/dev/null`.
    pub stdin: Option<Vec<u8>>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this exit code.
    Exited(i32),
    /// By a signal that did not come from here.
    Signalled(i32),
    /// Killed at the deadline.
    TimedOut,
    /// We received this signal. The program was killed unless it had just ended; the caller
    /// finishes what it must and calls [`die_of`].
    Interrupted(i32),
}

/// A run that took place.
#[derive(Clone, Debug)]
pub struct Finished {
    /// How it ended.
    pub end: End,
    /// The beginning of its standard output.
    pub stdout: Vec<u8>,
    /// The beginning of its standard error.
    pub stderr: Vec<u8>,
    /// Whether either was longer than [`Limits::max_output`].
    pub truncated: bool,
}

/// A program that could not be run.
#[derive(Debug)]
pub struct SpawnError {
    /// The program, as it was asked for.
    pub program: OsString,
    /// What was being done.
    pub doing: &'static str,
    /// What the system said.
    pub source: io::Error,
}

impl SpawnError {
    /// Whether there is no such program. (A missing working directory looks the same.)
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.source.kind() == io::ErrorKind::NotFound
    }
}

impl fmt::Display for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, doing, source } = self;
        write!(f, "{doing} {}: {source}", program.to_string_lossy().escape_debug())
    }
}

impl std::error::Error for SpawnError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// Runs a program to its end, to the deadline, or to a signal that ends us.
///
/// Program, arguments, environment and working directory are the caller's; the three standard
/// streams and the process group are set here. After [`End::TimedOut`] and [`End::Interrupted`] no
/// process of its group is left running.
///
/// # Errors
/// When the program could not be started, or its status could not be read.
pub fn run(command: Command, limits: Limits) -> Result<Finished, SpawnError> {
    run_as(command, limits, false)
}

/// The same, with all that the program says on our own standard error, as it says it.
///
/// # Errors
/// As [`run`].
pub fn run_shown(command: Command, deadline: Instant) -> Result<End, SpawnError> {
    let limits = Limits { deadline, max_output: 0, stdin: None };
    run_as(command, limits, true).map(|finished| finished.end)
}

fn run_as(mut command: Command, limits: Limits, shown: bool) -> Result<Finished, SpawnError> {
    let program = command.get_program().to_owned();
    let failed = |doing| move |source| SpawnError { program, doing, source };
    let watch = match Watch::start() {
        Ok(watch) => watch,
        Err(source) => return Err(failed("cannot watch for signals while running")(source)),
    };
    if watch.received().is_some() || clock::remaining(limits.deadline).is_zero() {
        return Ok(finished(End::TimedOut, watch, Intake::default(), Intake::default()));
    }

    command
        .stdin(if limits.stdin.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(if shown { Stdio::from(io::stderr()) } else { Stdio::piped() })
        .stderr(if shown { Stdio::inherit() } else { Stdio::piped() })
        .process_group(0);
    let child = match command.spawn() {
        Ok(child) => child,
        Err(source) => return Err(failed("cannot start")(source)),
    };
    let mut running = Running::new(child, limits);
    let stop = running.attend(&watch);
    if matches!(stop, Stop::Due) {
        running.kill_group();
    }
    running.stdout.take_what_is_there();
    running.stderr.take_what_is_there();
    let status = running.reap();
    let end = match (stop, status) {
        (Stop::Ended, Ok(Some(status))) => match (status.code(), status.signal()) {
            (Some(code), _) => End::Exited(code),
            (None, signal) => End::Signalled(signal.unwrap_or_default()),
        },
        (Stop::Ended, Ok(None)) => {
            return Err(failed("cannot tell the end of")(io::ErrorKind::Other.into()));
        }
        (Stop::Ended, Err(source)) => return Err(failed("cannot tell the end of")(source)),
        (Stop::Due, _) => End::TimedOut,
    };
    Ok(finished(end, watch, running.stdout, running.stderr))
}

/// A signal that we received outranks every other end: nobody else will act on it.
fn finished(end: End, watch: Watch, stdout: Intake, stderr: Intake) -> Finished {
    Finished {
        end: watch.finish().map_or(end, End::Interrupted),
        truncated: stdout.truncated || stderr.truncated,
        stdout: stdout.bytes,
        stderr: stderr.bytes,
    }
}

/// How attending to a child ended.
enum Stop {
    /// The child ended by itself.
    Ended,
    /// The deadline passed or we received a signal: it is due to be killed.
    Due,
}

struct Running {
    child: Child,
    pid: Pid,
    /// Wakes us when the child ends; without one (an old kernel) we look every [`TICK`].
    ended: Option<OwnedFd>,
    stdin: Feed,
    stdout: Intake,
    stderr: Intake,
    deadline: Instant,
}

impl Running {
    fn new(mut child: Child, limits: Limits) -> Self {
        Self {
            pid: Pid::from_child(&child),
            ended: process::end_watch(child.id()),
            stdin: Feed::new(child.stdin.take().map(OwnedFd::from), limits.stdin.unwrap_or_default()),
            stdout: Intake::new(child.stdout.take().map(OwnedFd::from), limits.max_output),
            stderr: Intake::new(child.stderr.take().map(OwnedFd::from), limits.max_output),
            deadline: limits.deadline,
            child,
        }
    }

    /// Feeds and reads the child until it ends or has to be ended.
    fn attend(&mut self, watch: &Watch) -> Stop {
        loop {
            if self.has_ended() {
                return Stop::Ended;
            }
            let left = clock::remaining(self.deadline);
            if watch.received().is_some() || left.is_zero() {
                return Stop::Due;
            }
            self.wait_for_events(watch, if self.ended.is_some() { left } else { left.min(TICK) });
            // None of these blocks, so there is no need to know which one it was.
            self.stdin.write_some();
            self.stdout.read_some();
            self.stderr.read_some();
        }
    }

    fn wait_for_events(&self, watch: &Watch, limit: Duration) {
        let watched = watch.fd();
        let mut fds = vec![PollFd::from_borrowed_fd(watched, PollFlags::IN)];
        fds.extend(self.ended.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
        fds.extend(self.stdin.pipe().map(|fd| PollFd::new(fd, PollFlags::OUT)));
        for intake in [&self.stdout, &self.stderr] {
            fds.extend(intake.pipe().map(|fd| PollFd::new(fd, PollFlags::IN)));
        }
        let timeout = Timespec::try_from(limit).ok();
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            // Out of kernel memory at worst: look again later rather than spin.
            Err(_) => clock::sleep(TICK.min(limit)),
        }
    }

    /// Whether the child itself has ended. It is not reaped: until then its number, which is also
    /// its group's, cannot go to somebody else.
    fn has_ended(&self) -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // An error means that there is nothing to wait for any more; reaping will say so.
        !matches!(waitid(WaitId::Pid(self.pid), look), Ok(None) | Err(rustix::io::Errno::INTR))
    }

    /// Ends the whole group: SIGTERM, then SIGKILL after [`GRACE`].
    fn kill_group(&mut self) {
        // An error would mean that the group is empty already.
        _ = kill_process_group(self.pid, Signal::TERM);
        // What is stopped could not act on it.
        _ = kill_process_group(self.pid, Signal::CONT);
        self.wait_for_group(GRACE);
        _ = kill_process_group(self.pid, Signal::KILL);
        self.wait_for_group(VANISHING);
    }

    /// Waits until no process of the group runs any more, at most for `limit`.
    fn wait_for_group(&mut self, limit: Duration) {
        let deadline = clock::deadline_in(limit);
        let lives = |own: &Self| process::group_lives(own.child.id()).unwrap_or_else(|| !own.has_ended());
        while lives(self) && !clock::remaining(deadline).is_zero() {
            clock::sleep(TICK);
            self.stdout.read_some();
            self.stderr.read_some();
        }
    }

    /// Reaps the child if it has ended; never blocks.
    fn reap(&mut self) -> io::Result<Option<std::process::ExitStatus>> {
        self.child.try_wait()
    }
}

#[cfg(test)]
mod tests;
