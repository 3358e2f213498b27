//! Who gets a task lock: one pure function, every row of the table in its order.

use super::liveness::Liveness;

/// What stands on the branch for a task, seen from the session that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// No lock.
    Nobody,
    /// A lock whose file cannot be read, or whose owner cannot be told.
    Unreadable,
    /// A readable lock.
    Known {
        /// The recorded owner is the one who asks.
        mine: bool,
        /// The recorded anchor is the asking session, by literal comparison.
        same_session: bool,
        /// It was recorded on this host.
        this_host: bool,
        /// It recorded a process.
        has_process: bool,
        /// Whether that session is still there.
        liveness: Liveness,
    },
}

/// What the table answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ruling {
    /// Nobody holds it: claim.
    Claim,
    /// This very session holds it: refresh, silently.
    Refresh,
    /// Mine, and its session is provably gone: claim, after the crash prompt.
    ReclaimCrash,
    /// Mine, on another host: claim, after the multi-PC prompt.
    ReclaimOtherHost,
    /// Mine, and no process was ever recorded: claim, after the anomaly prompt.
    ReclaimAnomaly,
    /// A different owner holds it.
    RefuseOwner,
    /// The record cannot be read: its owner is unknown.
    RefuseUnreadable,
    /// Mine, and another session on this host that is alive holds it.
    RefuseLive,
    /// Mine, and another session on this host holds it of which nothing can be proven.
    RefuseUnverifiable,
}

impl Ruling {
    /// Whether the answer is no.
    #[must_use]
    pub fn refuses(self) -> bool {
        match self {
            Self::RefuseOwner | Self::RefuseUnreadable | Self::RefuseLive | Self::RefuseUnverifiable => true,
            Self::Claim
            | Self::Refresh
            | Self::ReclaimCrash
            | Self::ReclaimOtherHost
            | Self::ReclaimAnomaly => false,
        }
    }

    /// Whether a person at a terminal is asked before the lock is taken.
    #[must_use]
    pub fn asks_first(self) -> bool {
        match self {
            Self::ReclaimCrash | Self::ReclaimOtherHost | Self::ReclaimAnomaly => true,
            Self::Claim
            | Self::Refresh
            | Self::RefuseOwner
            | Self::RefuseUnreadable
            | Self::RefuseLive
            | Self::RefuseUnverifiable => false,
        }
    }
}

/// Decides who gets the lock. The first row that fits answers.
#[must_use]
pub fn decide(holder: Holder) -> Ruling {
    let Holder::Known { mine, same_session, this_host, has_process, liveness } = holder else {
        return match holder {
            Holder::Nobody => Ruling::Claim,
            _ => Ruling::RefuseUnreadable,
        };
    };
    if !mine {
        return Ruling::RefuseOwner;
    }
    if same_session {
        return Ruling::Refresh;
    }
    // A death that is proven holds wherever the record says it was made.
    if matches!(liveness, Liveness::Dead(_)) {
        return Ruling::ReclaimCrash;
    }
    if !this_host {
        return Ruling::ReclaimOtherHost;
    }
    if !has_process {
        return Ruling::ReclaimAnomaly;
    }
    match liveness {
        Liveness::Alive => Ruling::RefuseLive,
        Liveness::Dead(_) => Ruling::ReclaimCrash,
        Liveness::Unknown(_) => Ruling::RefuseUnverifiable,
    }
}

#[cfg(test)]
mod tests;
