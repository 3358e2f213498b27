//! The story of a lock out of the branch's history: what one commit did to one task.
//!
//! The files before and after a commit are what happened. Trailers and subjects only name the
//! intention, and are believed where the files bear them out: anybody can write a commit by hand.

use serde::Serialize;

use super::record::LockRecord;
use super::task_id::TaskId;

/// What happened to a task's lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// Taken while nobody held it.
    Claimed,
    /// Renewed by the session that held it.
    Refreshed,
    /// Taken over by its owner from a session of theirs that was lost or is elsewhere.
    Reclaimed,
    /// Taken from its holder by force.
    Forced,
    /// Removed by force, and free since.
    ForceReleased,
    /// Given back by its owner.
    Released,
    /// Removed in a clean-up.
    CleanedUp,
    /// Removed by a commit that does not say why.
    Removed,
    /// Its record was changed by a commit that does not say why, without a change of hands.
    Edited,
}

impl EventKind {
    /// The stable word of the machine forms.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Claimed => "claimed",
            Self::Refreshed => "refreshed",
            Self::Reclaimed => "reclaimed",
            Self::Forced => "forced",
            Self::ForceReleased => "force-released",
            Self::Released => "released",
            Self::CleanedUp => "cleaned-up",
            Self::Removed => "removed",
            Self::Edited => "edited",
        }
    }
}

/// All kinds, in the order of the manual.
pub const KINDS: [EventKind; 9] = [
    EventKind::Claimed,
    EventKind::Refreshed,
    EventKind::Reclaimed,
    EventKind::Forced,
    EventKind::ForceReleased,
    EventKind::Released,
    EventKind::CleanedUp,
    EventKind::Removed,
    EventKind::Edited,
];

/// A lock at one end of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// The owner; `None` when it cannot be read.
    pub owner: Option<String>,
    /// The host.
    pub hostname: Option<String>,
    /// The session's process.
    pub pid: Option<u32>,
    /// The process with its start token, to tell two sessions apart.
    pub session: Option<(u32, String)>,
    /// When it was claimed, as recorded.
    pub locked_at: Option<String>,
    /// The lock's ID.
    pub lock_id: Option<String>,
    /// The note.
    pub note: Option<String>,
}

impl Side {
    /// What of a record matters here.
    #[must_use]
    pub fn of(record: &LockRecord) -> Self {
        let session = match &record.anchor.process {
            super::anchor::RecordedProcess::Process { pid, token: Some(token) } => {
                Some((*pid, token.value.clone()))
            }
            _ => None,
        };
        Self {
            owner: record.owner.clone(),
            hostname: record.anchor.hostname.clone(),
            pid: record.anchor.process.pid(),
            session,
            locked_at: record.locked_at.clone(),
            lock_id: record.lock_id.clone(),
            note: record.note.clone(),
        }
    }

    /// Whether two records are of one claim: the same ID, or, without one, the same owner, session
    /// and time.
    fn same_claim(&self, other: &Self) -> bool {
        match (&self.lock_id, &other.lock_id) {
            (Some(ours), Some(theirs)) => ours == theirs,
            (None, None) => {
                (&self.owner, &self.session, &self.locked_at)
                    == (&other.owner, &other.session, &other.locked_at)
            }
            // The record of the shell implementation gets its ID at the first refresh.
            _ => self.owner == other.owner && self.same_session(other),
        }
    }

    fn same_session(&self, other: &Self) -> bool {
        self.session.is_some() && self.session == other.session && self.hostname == other.hostname
    }
}

/// What a commit says that it is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Intent {
    /// The subject.
    pub subject: String,
    /// `Lock-Action` and `Lock-Task` trailers, in pairs.
    pub actions: Vec<(String, TaskId)>,
}

impl Intent {
    /// Reads a commit message.
    #[must_use]
    pub fn read(message: &str) -> Self {
        let mut intent =
            Self { subject: message.lines().next().unwrap_or_default().trim().to_owned(), actions: vec![] };
        let mut action = None;
        for line in message.lines().skip(1) {
            if let Some(word) = line.strip_prefix("Lock-Action: ") {
                action = Some(word.trim().to_owned());
            } else if let Some(task) = line.strip_prefix("Lock-Task: ")
                && let (Some(word), Ok(task)) = (action.take(), TaskId::parse(task.trim()))
            {
                intent.actions.push((word, task));
            }
        }
        intent
    }

    fn word(&self, task: &TaskId) -> Option<&str> {
        self.actions.iter().find(|(_, about)| about == task).map(|(word, _)| word.as_str())
    }
}

/// What a change of one task's lock was. Equal sides are no change.
#[must_use]
pub fn classify(
    intent: &Intent,
    task: &TaskId,
    before: Option<&Side>,
    after: Option<&Side>,
) -> Option<EventKind> {
    match (before, after) {
        (None, None) => None,
        (None, Some(_)) => Some(EventKind::Claimed),
        (Some(_), None) => Some(removed(intent, task)),
        (Some(before), Some(after)) => Some(replaced(intent.word(task), before, after)),
    }
}

fn removed(intent: &Intent, task: &TaskId) -> EventKind {
    match intent.word(task) {
        Some("release") => EventKind::Released,
        Some("force") => EventKind::ForceReleased,
        Some("cleanup") => EventKind::CleanedUp,
        Some(_) => EventKind::Removed,
        None if intent.subject.starts_with("ait: Unlock task") => EventKind::Released,
        None if intent.subject.starts_with("ait: Cleanup ") => EventKind::CleanedUp,
        None => EventKind::Removed,
    }
}

fn replaced(word: Option<&str>, before: &Side, after: &Side) -> EventKind {
    if before.owner != after.owner || before.owner.is_none() {
        return EventKind::Forced;
    }
    match word {
        _ if before.same_claim(after) && word.is_some() => EventKind::Refreshed,
        Some("force") => EventKind::Forced,
        Some(_) => EventKind::Reclaimed,
        // The other implementation knows no words: a lock claimed again by its session is renewed.
        None if before.same_session(after) => EventKind::Refreshed,
        None if before.same_claim(after) => EventKind::Edited,
        None => EventKind::Reclaimed,
    }
}

/// One thing that happened to one task. Texts are as they stand on the branch, untrusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Event {
    /// When the commit was made, by its maker's clock.
    pub time: String,
    /// What happened.
    pub action: EventKind,
    /// The task.
    pub task: TaskId,
    /// Who did it: the owner of the lock after it; where it was removed by others than its owner, the
    /// commit's author.
    pub owner: Option<String>,
    /// Who held it before, if anybody did.
    pub previous_owner: Option<String>,
    /// The lock's ID after it, or before it where the lock was removed.
    pub lock_id: Option<String>,
    /// The host of the lock after it, or before it where the lock was removed.
    pub hostname: Option<String>,
    /// The process of the session that held it before, where it was taken over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_pid: Option<u32>,
    /// The host it was taken over from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_hostname: Option<String>,
    /// The note of the lock after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The commit.
    pub commit: String,
}

/// A commit of the branch, as far as events need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its object id.
    pub id: String,
    /// When it was made.
    pub time: String,
    /// Its author's email.
    pub author: String,
    /// What it says.
    pub intent: Intent,
}

impl Event {
    /// What a commit did to a task, if it did anything.
    #[must_use]
    pub fn of(commit: &Commit, task: &TaskId, before: Option<&Side>, after: Option<&Side>) -> Option<Self> {
        let action = classify(&commit.intent, task, before, after)?;
        let author = || Some(commit.author.clone()).filter(|author| !author.is_empty());
        let held = after.or(before)?;
        let previous = before.filter(|_| after.is_some());
        Some(Self {
            time: commit.time.clone(),
            action,
            task: task.clone(),
            owner: match action {
                EventKind::ForceReleased | EventKind::CleanedUp | EventKind::Removed => author(),
                _ => held.owner.clone(),
            },
            previous_owner: before.and_then(|before| before.owner.clone()),
            lock_id: held.lock_id.clone(),
            hostname: held.hostname.clone(),
            previous_pid: previous.and_then(|previous| previous.pid),
            previous_hostname: previous.and_then(|previous| previous.hostname.clone()),
            note: after.and_then(|after| after.note.clone()),
            commit: commit.id.clone(),
        })
    }
}

#[cfg(test)]
mod tests;
