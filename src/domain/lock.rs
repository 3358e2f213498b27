//! One lock as it is shown: what the record says, and what is known of its session.

use serde::{Serialize, Serializer};

use super::anchor::{Anchor, Here, RecordedProcess};
use super::liveness::{self, Liveness};
use super::record::{Damage, LockRecord, Reading};
use super::rules::Holder;
use super::task_id::TaskId;

/// A lock that stands on the branch, with its file and what was observed of its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The task whose lock it is.
    pub task: TaskId,
    /// The file's name on the branch; another spelling than the canonical one is possible.
    pub file: String,
    /// What the file reads as.
    pub reading: Reading,
    /// The record's `lock_id`, or for a record without one a name of its exact content
    /// (`blob-…`): what `--expect` is compared with.
    pub lock_id: String,
    /// Whether the recorded session is still there.
    pub liveness: Liveness,
}

impl Found {
    /// The record as far as it could be read.
    #[must_use]
    pub fn record(&self) -> &LockRecord {
        match &self.reading {
            Reading::Whole(record) | Reading::Damaged { shown: record, .. } => record,
        }
    }

    /// The lock as the rule table sees it.
    #[must_use]
    pub fn holder(&self, owner: &str, mine: &Anchor, here: &Here) -> Holder {
        let Reading::Whole(record) = &self.reading else { return Holder::Unreadable };
        let Some(recorded_owner) = &record.owner else { return Holder::Unreadable };
        Holder::Known {
            mine: recorded_owner == owner,
            same_session: liveness::same_session(&record.anchor, mine, here),
            this_host: liveness::same_host(&record.anchor, here),
            has_process: record.anchor.process != RecordedProcess::None,
            liveness: self.liveness,
        }
    }

    /// The lock as it is shown to the session that asks.
    #[must_use]
    pub fn view(&self, owner: Option<&str>, mine: &Anchor, here: &Here) -> LockView {
        let record = self.record();
        let damage = match &self.reading {
            Reading::Whole(_) => None,
            Reading::Damaged { why, .. } => Some(*why),
        };
        let is_mine = owner.is_none_or(|owner| record.owner.as_deref() == Some(owner));
        let state = if damage.is_some() {
            State::Unreadable
        } else if is_mine && liveness::same_session(&record.anchor, mine, here) {
            State::Mine
        } else {
            match self.liveness {
                Liveness::Alive => State::Live,
                Liveness::Dead(_) => State::Gone,
                Liveness::Unknown(_) if liveness::same_host(&record.anchor, here) => State::CannotTell,
                Liveness::Unknown(_) => State::Elsewhere,
            }
        };
        LockView {
            task: self.task.clone(),
            owner: record.owner.clone(),
            locked_at: record.locked_at.clone(),
            hostname: record.anchor.hostname.clone(),
            pid: record.anchor.process.pid(),
            state,
            liveness: self.liveness,
            lock_id: self.lock_id.clone(),
            refreshed_at: record.refreshed_at.clone(),
            anchor_source: record.anchor_source.clone(),
            note: record.note.clone(),
            file: (self.file != self.task.file_name()).then(|| self.file.clone()),
            damage,
        }
    }
}

/// How a lock stands to the session that looks at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// This very session holds it.
    Mine,
    /// Its session is alive.
    Live,
    /// Its session is provably gone.
    Gone,
    /// On this host, and nothing can be proven of its session.
    CannotTell,
    /// On another host, where we cannot look.
    Elsewhere,
    /// The record cannot be read; the lock is held all the same.
    Unreadable,
}

impl State {
    /// The stable word of the machine forms.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Mine => "mine",
            Self::Live => "live",
            Self::Gone => "gone",
            Self::CannotTell => "cannot-tell",
            Self::Elsewhere => "elsewhere",
            Self::Unreadable => "unreadable",
        }
    }
}

/// What is shown of a lock. Texts are as they stand in the record, untrusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LockView {
    /// The task.
    pub task: TaskId,
    /// The owner, where it can be read.
    pub owner: Option<String>,
    /// When it was claimed, as recorded.
    pub locked_at: Option<String>,
    /// The host it was claimed on.
    pub hostname: Option<String>,
    /// The session's process.
    pub pid: Option<u32>,
    /// How it stands to the session that looks.
    pub state: State,
    /// Whether its session is still there, and why that is believed.
    #[serde(serialize_with = "liveness_word")]
    pub liveness: Liveness,
    /// What `--expect` is compared with.
    pub lock_id: String,
    /// When it was last refreshed, as recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refreshed_at: Option<String>,
    /// How the session's process was found, as recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor_source: Option<String>,
    /// The note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The file's name, where it is another spelling of the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// What is wrong with the record.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "damage_word")]
    pub damage: Option<Damage>,
}

fn liveness_word<S: Serializer>(liveness: &Liveness, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&format!("{}:{}", liveness.word(), liveness.reason()))
}

#[expect(clippy::ref_option, reason = "the shape that serde calls")]
fn damage_word<S: Serializer>(damage: &Option<Damage>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(damage.map(Damage::word).unwrap_or_default())
}

impl Damage {
    /// The stable word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::TooLarge => "too-large",
            Self::Binary => "binary",
            Self::DuplicateKey => "duplicate-key",
            Self::NotAMapping => "not-a-mapping",
            Self::Incomplete => "incomplete",
            Self::NotAFile => "not-a-file",
            Self::Missing => "missing-object",
        }
    }

    /// What is wrong, as part of a sentence.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Empty => "its record is empty",
            Self::TooLarge => "its record is larger than 64 KiB",
            Self::Binary => "its record is not text",
            Self::DuplicateKey => "its record names a key twice",
            Self::NotAMapping => "its record is no list of keys and values",
            Self::Incomplete => "its record is incomplete",
            Self::NotAFile => "something that is no file stands in its place",
            Self::Missing => "its record is not in this clone and could not be read",
        }
    }
}
