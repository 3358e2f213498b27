//! Who gets the merge mutex, and who may give it back: every row of the two tables, in its order.

use super::reservation::{Reservation, Unreadable};
use super::residue::Residue;
use super::verdict::{BusyWhy, Holder, MergeVerdict};
use crate::domain::anchor::{Anchor, Here};
use crate::domain::liveness::{self, Doubt, Liveness};
use crate::domain::task_id::TaskId;

/// What stands in the mutex's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Nothing.
    Free,
    /// A reservation.
    Taken(Box<Reservation>),
    /// Something that cannot be read; it is held.
    Unreadable(Unreadable),
}

impl Seen {
    /// As it is shown; none when it is free.
    #[must_use]
    pub fn holder(&self, liveness: Liveness) -> Option<Holder> {
        match self {
            Self::Free => None,
            Self::Taken(reservation) => Some(Holder::of(reservation, liveness)),
            Self::Unreadable(damage) => Some(Holder::unreadable(*damage)),
        }
    }

    /// As the rule table sees it.
    #[must_use]
    pub fn seat(&self, task: &TaskId, mine: &Anchor, here: &Here, liveness: Liveness) -> Seat {
        match self {
            Self::Free => Seat::Free,
            Self::Unreadable(_) => Seat::Unreadable,
            Self::Taken(reservation) => Seat::Taken {
                same_session: liveness::same_session(&reservation.anchor, mine, here),
                same_task: reservation.task == *task,
                liveness,
            },
        }
    }
}

/// Who has the mutex, seen from the session and the task that ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seat {
    /// Nobody.
    Free,
    /// Somebody who cannot be read.
    Unreadable,
    /// Somebody.
    Taken {
        /// The very session that asks.
        same_session: bool,
        /// The very task that is asked for.
        same_task: bool,
        /// Whether that session is still there.
        liveness: Liveness,
    },
}

/// What the table answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ruling {
    /// Take it.
    Take,
    /// This session has it for this task already.
    Again,
    /// Its session is provably gone: take it over, if the shared root is clean.
    Reclaim,
    /// Wait: its holder may give it back, or others come first.
    Wait(BusyWhy),
    /// Refuse at once: waiting cannot help.
    Refuse(BusyWhy),
}

/// Decides who gets the mutex. `guarded` is whether a guard stands there, `first` whether nobody who
/// waits comes before us. The first row that fits answers.
#[must_use]
pub fn decide(seat: Seat, guarded: bool, first: bool) -> Ruling {
    if let Seat::Taken { same_session: true, same_task, .. } = seat {
        return if same_task { Ruling::Again } else { Ruling::Refuse(BusyWhy::OwnOtherTask) };
    }
    // A reclaim or a recovery did not end: nobody knows how far it came.
    if guarded {
        return Ruling::Refuse(BusyWhy::Guard);
    }
    match seat {
        Seat::Free if first => Ruling::Take,
        Seat::Free => Ruling::Wait(BusyWhy::Queue),
        Seat::Unreadable => Ruling::Refuse(BusyWhy::Unreadable),
        Seat::Taken { liveness: Liveness::Alive, .. } => Ruling::Wait(BusyWhy::Alive),
        Seat::Taken { liveness: Liveness::Dead(_), .. } if first => Ruling::Reclaim,
        Seat::Taken { liveness: Liveness::Dead(_), .. } => Ruling::Wait(BusyWhy::Queue),
        // Nobody can be that session, so nobody can give it back: only a person clears it.
        Seat::Taken { liveness: Liveness::Unknown(Doubt::NoProcess | Doubt::Garbled), .. } => {
            Ruling::Refuse(BusyWhy::Unknown)
        }
        // It may be well and about to give it back, in another container for instance.
        Seat::Taken { liveness: Liveness::Unknown(_), .. } => Ruling::Wait(BusyWhy::Unknown),
    }
}

/// Whether this session holds the mutex for this task, which `run`, `release`, `abort` and `cleanup`
/// ask first.
///
/// # Errors
/// The refusal. For [`MergeVerdict::NotHeld`] there is nothing to do.
pub fn holding(
    seen: &Seen,
    task: &TaskId,
    mine: &Anchor,
    here: &Here,
    liveness: Liveness,
) -> Result<Reservation, Box<MergeVerdict>> {
    let task = task.clone();
    let refused = |refusal| Err(Box::new(refusal));
    match seen {
        Seen::Free => refused(MergeVerdict::NotHeld { task }),
        Seen::Unreadable(damage) => {
            refused(MergeVerdict::HolderIncomplete { task, holder: Holder::unreadable(*damage) })
        }
        Seen::Taken(reservation) => {
            let holder = || Holder::of(reservation, liveness);
            if reservation.task != task {
                refused(MergeVerdict::NotHolder { task, holder: holder() })
            } else if liveness::same_session(&reservation.anchor, mine, here) {
                Ok(reservation.as_ref().clone())
            } else if reservation.anchor.process.pid().is_none() {
                refused(MergeVerdict::HolderIncomplete { task, holder: holder() })
            } else {
                refused(MergeVerdict::NotOwnerSession { task, holder: holder() })
            }
        }
    }
}

/// The text whose digest is the holder's half of a recovery token.
#[must_use]
pub fn holder_text(seen: &Seen, raw: &[u8]) -> Vec<u8> {
    match seen {
        Seen::Free => b"free".to_vec(),
        Seen::Taken(reservation) => format!("taken {}", reservation.id).into_bytes(),
        Seen::Unreadable(damage) => [b"unreadable ", damage.word().as_bytes(), b"\n", raw].concat(),
    }
}

/// The text whose digest is the residue's half of a recovery token.
#[must_use]
pub fn residue_text(residue: &Residue) -> Vec<u8> {
    // A locked index is no part of the state: it comes and goes.
    format!("{:?}", Residue { index_locked: false, ..residue.clone() }).into_bytes()
}

#[cfg(test)]
mod tests;
