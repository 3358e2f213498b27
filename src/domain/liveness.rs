//! Is the session that a lock recorded still there? One pure function for task locks and the
//! merge mutex.
//!
//! `alive` and `dead` both need positive proof; everything else is `unknown`, with its reason.

use std::fmt;

use super::anchor::{Anchor, Here, Observed, ProcessTable, RecordedProcess, StartToken, TokenKind};

/// The answer, with what it rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Liveness {
    /// The very process that was recorded exists.
    Alive,
    /// The recorded process is provably gone.
    Dead(Evidence),
    /// Neither can be proven.
    Unknown(Doubt),
}

/// What proves that a session is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Evidence {
    /// The same machine has been started anew since.
    Rebooted,
    /// No process has the recorded pid.
    Gone,
    /// The process has ended and only waits to be reaped.
    Ended,
    /// The pid belongs to a process that was started at another time.
    PidReused,
}

/// Why it cannot be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Doubt {
    /// The record names no process.
    NoProcess,
    /// What stands in the record is no process id.
    Garbled,
    /// The pid means something in another process table: another machine, container or namespace.
    OtherTable,
    /// The process exists, but may not be looked at.
    NotInspectable,
    /// The process exists, but no start token says that it is the same one.
    BarePid,
    /// The start token has one-second resolution, so that its equality proves nothing.
    WeakToken,
    /// The start token is of a kind that this program does not know.
    UnknownToken,
    /// Nobody could look.
    NotSeen,
}

impl Liveness {
    /// The stable word: `alive`, `dead` or `unknown`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Alive => "alive",
            Self::Dead(_) => "dead",
            Self::Unknown(_) => "unknown",
        }
    }

    /// The stable word of what the answer rests on.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Alive => "same-process",
            Self::Dead(Evidence::Rebooted) => "rebooted",
            Self::Dead(Evidence::Gone) => "gone",
            Self::Dead(Evidence::Ended) => "ended",
            Self::Dead(Evidence::PidReused) => "pid-reused",
            Self::Unknown(Doubt::NoProcess) => "no-process",
            Self::Unknown(Doubt::Garbled) => "garbled",
            Self::Unknown(Doubt::OtherTable) => "other-process-table",
            Self::Unknown(Doubt::NotInspectable) => "not-inspectable",
            Self::Unknown(Doubt::BarePid) => "bare-pid",
            Self::Unknown(Doubt::WeakToken) => "weak-token",
            Self::Unknown(Doubt::UnknownToken) => "unknown-token",
            Self::Unknown(Doubt::NotSeen) => "not-seen",
        }
    }
}

impl fmt::Display for Liveness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Alive => "its session is alive",
            Self::Dead(Evidence::Rebooted) => "its session is gone: the machine was restarted",
            Self::Dead(Evidence::Gone) => "its session is gone: no such process",
            Self::Dead(Evidence::Ended) => "its session is gone: the process has ended",
            Self::Dead(Evidence::PidReused) => {
                "its session is gone: the process id was given to another process"
            }
            Self::Unknown(Doubt::NoProcess) => "it never recorded a process",
            Self::Unknown(Doubt::Garbled) => "its recorded process cannot be read",
            Self::Unknown(Doubt::OtherTable) => {
                "its process belongs to another process table (machine, container or namespace)"
            }
            Self::Unknown(Doubt::NotInspectable) => "its process exists but may not be inspected",
            Self::Unknown(Doubt::BarePid) => {
                "a process has its id, but nothing proves that it is the same one"
            }
            Self::Unknown(Doubt::WeakToken) => {
                "its start time is too coarse to prove that it is the same process"
            }
            Self::Unknown(Doubt::UnknownToken) => "its start token is of an unknown kind",
            Self::Unknown(Doubt::NotSeen) => "its process could not be looked at",
        })
    }
}

/// Whether a record's process table may be taken for ours.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Table {
    Ours,
    Other,
    Rebooted,
}

/// Reads where the recorded pid means something, seen from here.
fn table(recorded: &Anchor, here: &Here) -> Table {
    match (&recorded.table, &here.table) {
        (Some(theirs), Some(ours)) => {
            if theirs == ours {
                Table::Ours
            } else if theirs.boot_id != ours.boot_id
                && recorded.machine_id.is_some()
                && recorded.machine_id == here.machine_id
            {
                Table::Rebooted
            } else {
                Table::Other
            }
        }
        // A record of the time before namespaces were recorded: trusted on the host name alone,
        // unless we sit in a container that may have borrowed it.
        (None, _) if older_record_is_from_here(recorded, here) => Table::Ours,
        _ => Table::Other,
    }
}

fn older_record_is_from_here(recorded: &Anchor, here: &Here) -> bool {
    here.table.is_some() && here.initial_pid_namespace && same_hostname(recorded, here)
}

fn same_hostname(recorded: &Anchor, here: &Here) -> bool {
    recorded.hostname.is_some() && recorded.hostname == here.hostname
}

/// Whether the recorded pid is worth looking up in our own process table.
///
/// Where this is `None`, no look at the process can prove anything.
#[must_use]
pub fn pid_to_observe(recorded: &Anchor, here: &Here) -> Option<u32> {
    match table(recorded, here) {
        Table::Ours => recorded.process.pid(),
        Table::Other | Table::Rebooted => None,
    }
}

/// A weak token is a local time without a zone: only a difference that no pair of zones explains
/// counts as one.
const ZONE_SLACK_SECONDS: u64 = 27 * 60 * 60;

/// Start tokens count in hundredths of a second (`USER_HZ`), whatever the kernel's own clock is.
const TICKS_PER_SECOND: u64 = 100;

fn started_unix(here: &Here, start_ticks: u64) -> Option<i64> {
    here.booted_unix?.checked_add(i64::try_from(start_ticks / TICKS_PER_SECOND).ok()?)
}

/// Reads the start time that `ps -o lstart` prints (`Mon_Aug_10_09:19:16_2026`), as if in UTC.
fn weak_start(token: &str) -> Option<i64> {
    let words: Vec<&str> = token.split(['_', ' ']).filter(|word| !word.is_empty()).collect();
    let time = jiff::fmt::strtime::parse("%a %b %d %H:%M:%S %Y", words.join(" ")).ok()?;
    Some(time.to_datetime().ok()?.in_tz("UTC").ok()?.timestamp().as_second())
}

/// Judges a recorded anchor by what was observed of its pid. The first row that fits decides.
#[must_use]
pub fn judge(recorded: &Anchor, here: &Here, observed: &Observed) -> Liveness {
    let (pid, token) = match &recorded.process {
        RecordedProcess::None => return Liveness::Unknown(Doubt::NoProcess),
        RecordedProcess::Garbled => return Liveness::Unknown(Doubt::Garbled),
        RecordedProcess::Process { pid, token } => (*pid, token.as_ref()),
    };
    if pid == 0 {
        return Liveness::Unknown(Doubt::NoProcess);
    }
    match table(recorded, here) {
        Table::Rebooted => return Liveness::Dead(Evidence::Rebooted),
        Table::Other => return Liveness::Unknown(Doubt::OtherTable),
        Table::Ours => {}
    }
    let start_ticks = match observed {
        Observed::NotSeen => return Liveness::Unknown(Doubt::NotSeen),
        Observed::Absent => return Liveness::Dead(Evidence::Gone),
        Observed::Ended => return Liveness::Dead(Evidence::Ended),
        Observed::Exists { start_ticks: None } => return Liveness::Unknown(Doubt::NotInspectable),
        Observed::Exists { start_ticks: Some(ticks) } => *ticks,
    };
    let Some(StartToken { value, kind }) = token else {
        return Liveness::Unknown(Doubt::BarePid);
    };
    match kind {
        TokenKind::Proc => match value.parse::<u64>() {
            Ok(recorded_ticks) if recorded_ticks == start_ticks => Liveness::Alive,
            Ok(_) => Liveness::Dead(Evidence::PidReused),
            Err(_) => Liveness::Unknown(Doubt::UnknownToken),
        },
        TokenKind::Ps => match started_unix(here, start_ticks).zip(weak_start(value)) {
            Some((seen, recorded)) if seen.abs_diff(recorded) > ZONE_SLACK_SECONDS => {
                Liveness::Dead(Evidence::PidReused)
            }
            _ => Liveness::Unknown(Doubt::WeakToken),
        },
        TokenKind::Other(_) => Liveness::Unknown(Doubt::UnknownToken),
    }
}

/// Whether a record was made on this host.
///
/// The same process table says so whatever the host name is now; otherwise the same host name,
/// with machine ids that do not contradict it.
#[must_use]
pub fn same_host(recorded: &Anchor, here: &Here) -> bool {
    let same_table = recorded.table.is_some() && recorded.table == here.table;
    let contradicted = matches!(
        (&recorded.machine_id, &here.machine_id),
        (Some(theirs), Some(ours)) if theirs != ours
    );
    same_table || (same_hostname(recorded, here) && !contradicted)
}

/// Whether a record names exactly the session that is asking.
///
/// A literal comparison of the whole anchor, under two mercies. The host name is left out where
/// the process table says more. And a record of the shell implementation, which knows no
/// tables, is compared by what it has. A session that cannot name its process, or has no strong
/// start token, is never the same.
#[must_use]
pub fn same_session(recorded: &Anchor, mine: &Anchor, here: &Here) -> bool {
    let (
        RecordedProcess::Process { pid: their_pid, token: Some(their_token) },
        RecordedProcess::Process { pid: my_pid, token: Some(my_token) },
    ) = (&recorded.process, &mine.process)
    else {
        return false;
    };
    if their_pid != my_pid || their_token != my_token || my_token.kind != TokenKind::Proc {
        return false;
    }
    match (&recorded.table, &mine.table) {
        (Some(theirs), Some(ours)) => same_table(theirs, ours),
        (None, Some(_)) => older_record_is_from_here(recorded, here),
        _ => false,
    }
}

fn same_table(theirs: &ProcessTable, ours: &ProcessTable) -> bool {
    theirs == ours
}

#[cfg(test)]
mod tests;
