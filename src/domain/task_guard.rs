//! Whether a commit on a task's branch may go on: what the hooks ask of task locks.
//!
//! The rule is the one of a claim: what a claim would refuse stops a commit, too. A lock of the same
//! owner on another host stops it as well, because its session may still be at work there.

use serde::Serialize;

use super::liveness::Liveness;
use super::rules::Ruling;

/// What a hook asks of task locks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Enforced {
    /// Nothing.
    #[default]
    Off,
    /// That no other session holds the task.
    Held,
    /// That this very session holds the task.
    Required,
}

impl Enforced {
    /// The stable word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Held => "held",
            Self::Required => "required",
        }
    }

    /// The option that asks for it, with a blank before it.
    #[must_use]
    pub fn option(self) -> &'static str {
        match self {
            Self::Off => "",
            Self::Held => " --tasks",
            Self::Required => " --tasks=required",
        }
    }
}

/// How fresh the knowledge is on which a judgement stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knowledge {
    /// Asked of the arbiter, or younger than the setting allows.
    Fresh,
    /// Older, and the arbiter cannot be asked now.
    Old,
}

/// What becomes of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Judgement {
    /// It goes on.
    Pass,
    /// It goes on, and the reader is told.
    Warn,
    /// It is refused.
    Refuse,
}

/// Judges a commit on the branch of a task. `ruling` and `liveness` are those of the task's lock; without a
/// lock, [`Ruling::Claim`].
///
/// Work is never stopped because a server cannot be reached: on old knowledge only a session that is
/// provably alive now stops a commit.
#[must_use]
pub fn judge(enforced: Enforced, ruling: Ruling, liveness: Option<Liveness>, known: Knowledge) -> Judgement {
    let refuse = match known {
        Knowledge::Fresh => Judgement::Refuse,
        Knowledge::Old if liveness == Some(Liveness::Alive) => Judgement::Refuse,
        Knowledge::Old => Judgement::Warn,
    };
    match (enforced, ruling) {
        (Enforced::Off, _) | (_, Ruling::Refresh) => Judgement::Pass,
        (
            _,
            Ruling::RefuseOwner
            | Ruling::RefuseUnreadable
            | Ruling::RefuseLive
            | Ruling::RefuseUnverifiable
            | Ruling::ReclaimOtherHost,
        )
        | (Enforced::Required, Ruling::Claim | Ruling::ReclaimCrash | Ruling::ReclaimAnomaly) => refuse,
        (Enforced::Held, Ruling::Claim) => Judgement::Pass,
        (Enforced::Held, Ruling::ReclaimCrash | Ruling::ReclaimAnomaly) => Judgement::Warn,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::liveness::{Doubt, Evidence};

    #[test]
    fn every_row() {
        use Judgement::{Pass, Refuse, Warn};
        let unknown = Some(Liveness::Unknown(Doubt::OtherTable));
        let dead = Some(Liveness::Dead(Evidence::Gone));
        let alive = Some(Liveness::Alive);
        // Ruling, liveness; fresh: held, required; old: held, required.
        for (ruling, liveness, rows) in [
            (Ruling::Claim, None, [Pass, Refuse, Pass, Warn]),
            (Ruling::Refresh, alive, [Pass, Pass, Pass, Pass]),
            (Ruling::ReclaimCrash, dead, [Warn, Refuse, Warn, Warn]),
            (Ruling::ReclaimAnomaly, unknown, [Warn, Refuse, Warn, Warn]),
            (Ruling::ReclaimOtherHost, unknown, [Refuse, Refuse, Warn, Warn]),
            (Ruling::RefuseOwner, unknown, [Refuse, Refuse, Warn, Warn]),
            (Ruling::RefuseOwner, alive, [Refuse, Refuse, Refuse, Refuse]),
            (Ruling::RefuseOwner, dead, [Refuse, Refuse, Warn, Warn]),
            (Ruling::RefuseUnreadable, unknown, [Refuse, Refuse, Warn, Warn]),
            (Ruling::RefuseLive, alive, [Refuse, Refuse, Refuse, Refuse]),
            (Ruling::RefuseUnverifiable, unknown, [Refuse, Refuse, Warn, Warn]),
        ] {
            let columns = [
                (Enforced::Held, Knowledge::Fresh),
                (Enforced::Required, Knowledge::Fresh),
                (Enforced::Held, Knowledge::Old),
                (Enforced::Required, Knowledge::Old),
            ];
            for ((enforced, known), wanted) in columns.into_iter().zip(rows) {
                let got = judge(enforced, ruling, liveness, known);
                assert_eq!(got, wanted, "{enforced:?} {ruling:?} {liveness:?} {known:?}");
                assert_eq!(judge(Enforced::Off, ruling, liveness, known), Pass);
            }
        }
    }
}
