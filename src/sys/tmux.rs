//! The only door to tmux: which process runs in the caller's pane.
//!
//! `$TMUX` and `$TMUX_PANE` are inherited by everything that was ever started in a pane, and pane
//! ids start again with every server. Whether the pane is still the caller's is for the caller to
//! find out: its process must be one of the caller's ancestors.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Command;
use std::time::Duration;

use crate::sys::child::{self, End, Limits, SpawnError};
use crate::sys::clock;

/// What a pane's environment says about it.
#[derive(Clone, Copy, Debug)]
pub struct TmuxEnv<'a> {
    /// `$TMUX`: `<socket>,<server pid>,<session>`.
    pub tmux: &'a OsStr,
    /// `$TMUX_PANE`: `%` and a number.
    pub pane: &'a str,
}

/// A pane, as its server knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pane {
    /// The process that the pane was started with, in the server's process table.
    pub pid: u32,
    /// Its id, the one that was asked for.
    pub id: String,
}

/// Why there is no answer.
#[derive(Debug)]
pub enum TmuxError {
    /// `$TMUX` or `$TMUX_PANE` is not what tmux sets.
    Environment {
        /// Which of the two.
        variable: &'static str,
    },
    /// There is no `tmux` to ask with, or it could not be run.
    NotRun(SpawnError),
    /// The server did not answer: it is stopped or overloaded.
    TimedOut {
        /// The limit that was set.
        limit: Duration,
    },
    /// The server has no such pane.
    PaneGone {
        /// The pane that was asked for.
        pane: String,
    },
    /// tmux failed; usually there is no server at that socket any more.
    Failed {
        /// What it said, control characters escaped.
        message: String,
    },
    /// The answer makes no sense.
    Garbled,
    /// We received this signal meanwhile; see [`child::die_of`].
    Interrupted(i32),
}

impl fmt::Display for TmuxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Environment { variable } => write!(f, "{variable} does not hold what tmux puts there"),
            Self::NotRun(error) => error.fmt(f),
            Self::TimedOut { limit } => {
                write!(f, "the tmux server did not answer within {} s", limit.as_secs_f64())
            }
            Self::PaneGone { pane } => write!(f, "the tmux server has no pane {pane}"),
            Self::Failed { message } if message.is_empty() => write!(f, "tmux failed without a word"),
            Self::Failed { message } => write!(f, "tmux failed: {message}"),
            Self::Garbled => write!(f, "the tmux server's answer makes no sense"),
            Self::Interrupted(signal) => write!(f, "interrupted by signal {signal}"),
        }
    }
}

impl std::error::Error for TmuxError {}

/// Asks the server that `$TMUX` names for the process of the pane that `$TMUX_PANE` names.
///
/// # Errors
/// See [`TmuxError`]. The call returns within `limit` and the moment it takes to end the client.
pub fn pane_process(env: TmuxEnv<'_>, limit: Duration) -> Result<Pane, TmuxError> {
    let socket = socket(env.tmux).ok_or(TmuxError::Environment { variable: "TMUX" })?;
    if !is_pane_id(env.pane) {
        return Err(TmuxError::Environment { variable: "TMUX_PANE" });
    }
    let mut command = Command::new("tmux");
    // Without `-t` the answer would be the active pane's.
    command.arg("-S").arg(socket).args(["display-message", "-p", "-t", env.pane, "#{pane_pid}|#{pane_id}"]);
    let limits = Limits { deadline: clock::deadline_in(limit), max_output: 4096, stdin: None };
    let done = child::run(command, limits).map_err(TmuxError::NotRun)?;
    match done.end {
        End::Exited(0) => parse_answer(&done.stdout, env.pane),
        End::Exited(_) | End::Signalled(_) => Err(TmuxError::Failed { message: one_line(&done.stderr) }),
        End::TimedOut => Err(TmuxError::TimedOut { limit }),
        End::Interrupted(signal) => Err(TmuxError::Interrupted(signal)),
    }
}

/// The socket in `$TMUX`. Its path may hold commas, so the two numbers are taken off the end.
fn socket(tmux: &OsStr) -> Option<OsString> {
    let mut parts = tmux.as_bytes().rsplitn(3, |&byte| byte == b',');
    let (session, server, socket) = (parts.next()?, parts.next()?, parts.next()?);
    let numbers =
        [session, server].into_iter().all(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit));
    // A relative path could name anything, and a leading dash an option.
    (numbers && socket.starts_with(b"/")).then(|| OsStr::from_bytes(socket).to_owned())
}

fn is_pane_id(pane: &str) -> bool {
    pane.strip_prefix('%').is_some_and(|number| {
        (1..=10).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Reads `<pane_pid>|<pane_id>`. Both are empty for a pane that is gone.
fn parse_answer(answer: &[u8], pane: &str) -> Result<Pane, TmuxError> {
    let text = std::str::from_utf8(answer).map_err(|_| TmuxError::Garbled)?.trim_end_matches('\n');
    let (pid, id) = text.split_once('|').ok_or(TmuxError::Garbled)?;
    if id.is_empty() {
        return Err(TmuxError::PaneGone { pane: pane.to_owned() });
    }
    match pid.parse() {
        Ok(pid) if pid > 1 && id == pane => Ok(Pane { pid, id: id.to_owned() }),
        _ => Err(TmuxError::Garbled),
    }
}

fn one_line(message: &[u8]) -> String {
    let text = String::from_utf8_lossy(message);
    text.lines().next().unwrap_or_default().escape_debug().take(200).collect()
}

#[cfg(test)]
mod tests;
