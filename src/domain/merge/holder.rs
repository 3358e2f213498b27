//! Who has the merge mutex, as it is shown.

use serde::{Serialize, Serializer};

use super::reservation::{Reservation, Unreadable};
use crate::domain::liveness::Liveness;
use crate::domain::task_id::TaskId;

/// A reservation as it is shown. Texts are as they stand in the file, untrusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Holder {
    /// The task that holds it; none when that cannot be read.
    #[serde(rename = "holder_task")]
    pub task: Option<TaskId>,
    /// The reservation's ID.
    pub id: Option<String>,
    /// The session's process.
    pub pid: Option<u32>,
    /// Whether the session is still there, and why that is believed.
    #[serde(serialize_with = "liveness_word")]
    pub liveness: Liveness,
    /// The branch that is merged into, by full name.
    pub output_branch: Option<String>,
    /// The branch that is merged, by full name.
    pub task_branch: Option<String>,
    /// The owner's email.
    pub owner: Option<String>,
    /// The host it was taken on.
    pub hostname: Option<String>,
    /// When it was taken, as recorded.
    pub taken_at: Option<String>,
    /// How the session's process was found, as recorded.
    pub anchor_source: Option<String>,
    /// Why it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "damage_word")]
    pub damage: Option<Unreadable>,
}

impl Holder {
    /// A readable reservation, with what is known of its session.
    #[must_use]
    pub fn of(reservation: &Reservation, liveness: Liveness) -> Self {
        Self {
            task: Some(reservation.task.clone()),
            id: Some(reservation.id.clone()),
            pid: reservation.anchor.process.pid(),
            liveness,
            output_branch: reservation.output_branch.clone(),
            task_branch: reservation.task_branch.clone(),
            owner: reservation.owner.clone(),
            hostname: reservation.anchor.hostname.clone(),
            taken_at: Some(reservation.taken_at.clone()),
            anchor_source: reservation.anchor_source.clone(),
            damage: None,
        }
    }

    /// A reservation that cannot be read.
    #[must_use]
    pub fn unreadable(damage: Unreadable) -> Self {
        Self {
            task: None,
            id: None,
            pid: None,
            liveness: Liveness::Unknown(crate::domain::liveness::Doubt::Garbled),
            output_branch: None,
            task_branch: None,
            owner: None,
            hostname: None,
            taken_at: None,
            anchor_source: None,
            damage: Some(damage),
        }
    }

    /// The task, or that it cannot be told.
    #[must_use]
    pub fn task_name(&self) -> &str {
        self.task.as_ref().map_or("unknown", TaskId::as_str)
    }
}

fn liveness_word<S: Serializer>(liveness: &Liveness, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&format!("{}:{}", liveness.word(), liveness.reason()))
}

#[expect(clippy::ref_option, reason = "the shape that serde calls")]
fn damage_word<S: Serializer>(damage: &Option<Unreadable>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(damage.map(Unreadable::word).unwrap_or_default())
}
