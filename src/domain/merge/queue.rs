//! The queue for the merge mutex: whose turn it is.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::anchor::{Anchor, Here, ProcessTable, RecordedProcess};

/// How long the first of the queue may leave a free mutex lying before the next may take it.
pub const PATIENCE: Duration = Duration::from_millis(500);

/// Largest ticket that is read, in bytes.
pub const MAX_BYTES: usize = 4 * 1024;

/// What a ticket says of its waiter. It is shown, and a session knows its own by it; whether the
/// waiter lives is told by the lock on the ticket, and by nothing in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The task.
    #[serde(default)]
    pub task: Option<String>,
    /// When the wait began.
    #[serde(default)]
    pub since: Option<String>,
    /// The session's process, its start token, and where these mean something.
    #[serde(default)]
    pub session_pid: Option<u32>,
    /// The start token of the session's process.
    #[serde(default)]
    pub session_starttime: Option<String>,
    /// The process of the waiting command.
    #[serde(default)]
    pub command_pid: Option<u32>,
    /// The process table of both.
    #[serde(default)]
    pub table: Option<ProcessTable>,
}

impl Note {
    /// The note of a waiting command of a session.
    #[must_use]
    pub fn new(task: &str, since: String, session: &Anchor, command_pid: u32) -> Self {
        let (session_pid, session_starttime) = match &session.process {
            RecordedProcess::Process { pid, token } => {
                (Some(*pid), token.as_ref().map(|token| token.value.clone()))
            }
            RecordedProcess::None | RecordedProcess::Garbled => (None, None),
        };
        Self {
            task: Some(task.to_owned()),
            since: Some(since),
            session_pid,
            session_starttime,
            command_pid: Some(command_pid),
            table: session.table.clone(),
        }
    }

    /// Whether both are the same session's place for the same task.
    #[must_use]
    pub fn same_place(&self, other: &Self) -> bool {
        self.session_starttime.is_some()
            && self.table.is_some()
            && (&self.task, self.session_pid, &self.session_starttime, &self.table)
                == (&other.task, other.session_pid, &other.session_starttime, &other.table)
    }

    /// The process of the waiting command, where its number means something here.
    #[must_use]
    pub fn command_here(&self, here: &Here) -> Option<u32> {
        self.command_pid.filter(|_| self.table.is_some() && self.table == here.table)
    }
}

/// How long a mutex has to lie free before the one with `ahead` live waiters before it may take it:
/// each of them gets its chance, so a stopped one holds up the others for a moment only.
#[must_use]
pub fn patience(ahead: usize) -> Duration {
    PATIENCE.saturating_mul(u32::try_from(ahead).unwrap_or(u32::MAX))
}

/// Whether it is our turn: nobody is before us, or those who are let it lie for too long.
#[must_use]
pub fn is_first(ahead: usize, free_for: Duration) -> bool {
    ahead == 0 || free_for >= patience(ahead)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopped_head_is_passed_over_in_order() {
        let at = Duration::from_millis;
        // Seconds before the third, who is behind two.
        assert!(is_first(0, Duration::ZERO));
        assert!(!is_first(1, at(499)));
        assert!(is_first(1, at(500)));
        assert!(!is_first(2, at(999)));
        assert!(is_first(2, at(1000)));
        assert!(!is_first(usize::MAX, Duration::from_secs(3600)));
    }

    #[test]
    fn a_place_is_one_sessions_for_one_task() {
        let note = Note {
            task: Some("42".to_owned()),
            session_pid: Some(7),
            session_starttime: Some("9".to_owned()),
            command_pid: Some(70),
            table: Some(ProcessTable { boot_id: "b".to_owned(), pid_namespace: 1, time_namespace: 2 }),
            since: None,
        };
        let again = Note { command_pid: Some(71), since: Some("later".to_owned()), ..note.clone() };
        assert!(note.same_place(&again));
        for other in [
            Note { task: Some("43".to_owned()), ..note.clone() },
            Note { session_pid: Some(8), ..note.clone() },
            Note { session_starttime: Some("8".to_owned()), ..note.clone() },
            Note { table: None, ..note.clone() },
        ] {
            assert!(!note.same_place(&other), "{other:?}");
        }
        assert!(!Note::default().same_place(&Note::default()), "what says nothing is nobody's place");
    }
}
