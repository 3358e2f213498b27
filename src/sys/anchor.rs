//! The only door to the question which process stands for the session of the running command.
//!
//! First hit wins: `AIT_AGENT_PID`, then the process of the caller's tmux pane, then none. There is
//! no further fallback: a parent process is usually a shell that ends with its one command, and a
//! lock on it would look abandoned at once.

use std::ffi::{OsStr, OsString};
use std::time::Duration;

use crate::domain::anchor::{AnchorSource, Here, Observed, Session, SessionProcess};
use crate::sys::child::die_of;
use crate::sys::process::{self, Ancestry};
use crate::sys::tmux::{self, TmuxEnv, TmuxError};

mod words;

pub use words::{AnchorNote, AnchorWarning, Candidate, Outcome};

/// How long the tmux server may take; it answers within milliseconds or hardly at all.
pub const TMUX_LIMIT: Duration = Duration::from_secs(2);

/// Programs that read commands and outlive them.
const SHELLS: [&str; 13] =
    ["sh", "bash", "dash", "ash", "zsh", "fish", "ksh", "mksh", "tcsh", "csh", "busybox", "nu", "pwsh"];

/// The variables that say which session this is.
#[derive(Clone, Debug, Default)]
pub struct AnchorEnv {
    /// `AIT_AGENT_PID`.
    pub agent_pid: Option<OsString>,
    /// `TMUX`.
    pub tmux: Option<OsString>,
    /// `TMUX_PANE`.
    pub tmux_pane: Option<OsString>,
}

impl AnchorEnv {
    /// The variables as this process was started with. An empty one counts as not set.
    #[must_use]
    pub fn from_env() -> Self {
        let read = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        Self { agent_pid: read("AIT_AGENT_PID"), tmux: read("TMUX"), tmux_pane: read("TMUX_PANE") }
    }
}

/// The session of the running command, and how it was found.
#[derive(Debug)]
pub struct Resolution {
    /// The session.
    pub session: Session,
    /// What may go wrong with it; to be shown whenever a lock is taken or a candidate was refused.
    pub warnings: Vec<AnchorWarning>,
    /// What is worth knowing but common; to be shown where somebody asks about the anchor.
    pub notes: Vec<AnchorNote>,
    /// Each candidate in the order of precedence, and what became of it.
    pub candidates: Vec<Candidate>,
}

/// Finds the session of the running command.
///
/// Ends this process when it receives a signal that ends it while it waits for tmux.
#[must_use]
pub fn resolve(here: Here, env: &AnchorEnv) -> Resolution {
    let ancestry = process::ancestors(std::process::id());
    let mut found = Resolution {
        session: Session { here, process: None },
        warnings: Vec::new(),
        notes: Vec::new(),
        candidates: Vec::new(),
    };
    let agent = env.agent_pid.as_deref().map(|value| agent_process(value, &ancestry));
    found.consider(AnchorSource::AgentPid, agent);
    let tmux = if found.session.process.is_some() {
        None
    } else {
        env.tmux.as_deref().map(|tmux| pane_process(tmux, env.tmux_pane.as_deref(), &ancestry, TMUX_LIMIT))
    };
    found.consider(AnchorSource::Tmux, tmux);
    found
}

/// A candidate that may be used, with what there is to say against it.
struct Usable {
    pid: u32,
    name: Option<String>,
    token: Option<crate::domain::anchor::StartToken>,
    doubts: Vec<AnchorWarning>,
}

impl Resolution {
    fn consider(&mut self, source: AnchorSource, candidate: Option<Result<Usable, Box<AnchorWarning>>>) {
        let outcome = match candidate {
            None if self.session.process.is_some() => Outcome::NotNeeded,
            None => Outcome::NotSet,
            Some(Err(reason)) => {
                let said = reason.to_string();
                self.warnings.push(*reason);
                Outcome::Refused { reason: said }
            }
            Some(Ok(Usable { pid, name, token, doubts })) => {
                self.warnings.extend(doubts);
                if token.is_none() {
                    self.warnings.push(AnchorWarning::NotInspectable { pid });
                }
                if let Some(name) = name.as_ref().filter(|name| is_shell(name)) {
                    self.notes.push(AnchorNote::PlainShell { pid, name: name.clone() });
                }
                self.session.process = Some(SessionProcess { pid, token, source });
                Outcome::Taken { pid, name }
            }
        };
        self.candidates.push(Candidate { source, outcome });
    }
}

/// The process that `AIT_AGENT_PID` names.
fn agent_process(value: &OsStr, ancestry: &Ancestry) -> Result<Usable, Box<AnchorWarning>> {
    let Some(pid) = parse_agent_pid(value) else {
        let shown = value.to_string_lossy().escape_debug().take(40).collect();
        return Err(Box::new(AnchorWarning::AgentPidMalformed { value: shown }));
    };
    let start_ticks = match process::observe(pid) {
        Observed::Exists { start_ticks } => start_ticks,
        Observed::Absent | Observed::Ended => return Err(Box::new(AnchorWarning::AgentPidGone { pid })),
        Observed::NotSeen => return Err(Box::new(AnchorWarning::AgentPidNotSeen { pid })),
    };
    let name = process::comm(pid);
    let mut doubts = Vec::new();
    match ancestry.contains(pid) {
        _ if is_this_command(pid, ancestry) => doubts.push(AnchorWarning::AgentPidIsThisCommand { pid }),
        Some(true) => {}
        Some(false) => doubts.push(AnchorWarning::AgentPidNotAncestor { pid, name: name.clone() }),
        None => doubts.push(AnchorWarning::AgentPidAncestryUnknown { pid }),
    }
    if let Some(uid) = process::uid(pid).filter(|&uid| uid != rustix::process::getuid().as_raw()) {
        doubts.push(AnchorWarning::AgentPidOtherUser { pid, uid });
    }
    if name.as_ref().is_some_and(|name| name.starts_with("tmux: server")) {
        doubts.push(AnchorWarning::AgentPidIsTmuxServer { pid });
    }
    Ok(Usable { pid, name, token: start_ticks.map(process::proc_token), doubts })
}

/// Decimal digits only, above 1: pid 1 is the machine or the container, never an agent.
fn parse_agent_pid(value: &OsStr) -> Option<u32> {
    let text = value.to_str()?;
    let number: i32 = text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())??;
    u32::try_from(number).ok().filter(|&pid| pid > 1)
}

/// Whether `pid` ends together with this command: itself, or the `git` that started it. A shell
/// becomes its last command, so this may well be the session that took its locks before.
fn is_this_command(pid: u32, ancestry: &Ancestry) -> bool {
    pid == std::process::id()
        || (ancestry.pids.first() == Some(&pid) && process::comm(pid).as_deref() == Some("git"))
}

/// The process of the caller's pane.
fn pane_process(
    tmux: &OsStr,
    pane: Option<&OsStr>,
    ancestry: &Ancestry,
    limit: Duration,
) -> Result<Usable, Box<AnchorWarning>> {
    let failed = |error| Box::new(AnchorWarning::Tmux(error));
    let pane = pane
        .and_then(OsStr::to_str)
        .ok_or_else(|| failed(TmuxError::Environment { variable: "TMUX_PANE" }))?;
    let pane = match tmux::pane_process(TmuxEnv { tmux, pane }, limit) {
        Ok(pane) => pane,
        Err(TmuxError::Interrupted(signal)) => die_of(signal),
        Err(error) => return Err(failed(error)),
    };
    // The environment may be older than the server, and the server may count other processes.
    match ancestry.contains(pane.pid) {
        Some(true) => {}
        Some(false) => {
            return Err(Box::new(AnchorWarning::PaneNotAncestor { pane: pane.id, pid: pane.pid }));
        }
        None => return Err(Box::new(AnchorWarning::PaneAncestryUnknown { pane: pane.id, pid: pane.pid })),
    }
    match process::observe(pane.pid) {
        Observed::Exists { start_ticks } => {
            let name = process::comm(pane.pid);
            let token = start_ticks.map(process::proc_token);
            Ok(Usable { pid: pane.pid, name, token, doubts: Vec::new() })
        }
        // It was our ancestor a moment ago, so it has just ended.
        _ => Err(failed(TmuxError::PaneGone { pane: pane.id })),
    }
}

/// Login shells call themselves `-bash`.
fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name.strip_prefix('-').unwrap_or(name))
}

#[cfg(test)]
mod in_tmux;
#[cfg(test)]
mod tests;
