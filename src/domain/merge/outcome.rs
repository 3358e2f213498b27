//! What a merge came to, decided on what is there afterwards. git's exit status takes no part: a hook can
//! fail after the merge is made, and a merge can stop half-way with any status.

use super::preflight::Plan;
use super::residue::Residue;

/// What was observed when git had ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// The tip of the output branch before.
    pub tip_before: String,
    /// The tip of the task's branch when it was merged.
    pub task_tip: String,
    /// The tip of the output branch now.
    pub tip: Option<String>,
    /// Whether the task's tip is in the history of the output branch now.
    pub contained: bool,
    /// The branch that HEAD names now, by full name.
    pub head: Option<String>,
    /// What stands in the shared root now.
    pub residue: Residue,
}

/// What a merge came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The task's branch is in the output branch.
    Merged {
        /// The output branch's tip.
        tip: String,
        /// `merged`, `fast-forward` or `up-to-date`.
        how: &'static str,
        /// What is not as it should be all the same.
        remarks: Vec<Remark>,
    },
    /// It stopped at conflicts in these paths.
    Conflict(Vec<String>),
    /// It failed; the residue says what it left.
    Failed,
}

/// Something that is odd after a merge that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remark {
    /// HEAD is not the output branch any more.
    HeadMoved,
    /// The shared root is not clean.
    NotClean,
}

/// Decides what a merge came to.
#[must_use]
pub fn decide(plan: &Plan, observed: &Observed) -> Outcome {
    let residue = &observed.residue;
    match &observed.tip {
        Some(tip) if observed.contained => {
            let how = if *tip == observed.tip_before {
                "up-to-date"
            } else if *tip == observed.task_tip {
                "fast-forward"
            } else {
                "merged"
            };
            let head_moved = (observed.head.as_ref() != Some(&plan.output)).then_some(Remark::HeadMoved);
            let not_clean = (!residue.is_clean()).then_some(Remark::NotClean);
            Outcome::Merged {
                tip: tip.clone(),
                how,
                remarks: head_moved.into_iter().chain(not_clean).collect(),
            }
        }
        _ if !residue.unmerged.is_empty() => Outcome::Conflict(residue.unmerged.clone()),
        _ => Outcome::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observed() -> Observed {
        Observed {
            tip_before: "a".to_owned(),
            task_tip: "t".to_owned(),
            tip: Some("a".to_owned()),
            contained: false,
            head: Some("refs/heads/main".to_owned()),
            residue: Residue::default(),
        }
    }

    fn outcome(change: impl FnOnce(&mut Observed)) -> Outcome {
        let plan = Plan {
            output: "refs/heads/main".to_owned(),
            task_branch: "refs/heads/t42".to_owned(),
            checkout: false,
            past_stale_entries: false,
        };
        let mut observed = observed();
        change(&mut observed);
        decide(&plan, &observed)
    }

    fn merged(tip: &str, how: &'static str, remarks: &[Remark]) -> Outcome {
        Outcome::Merged { tip: tip.to_owned(), how, remarks: remarks.to_vec() }
    }

    #[test]
    fn what_is_in_is_merged() {
        let with = |tip: &str| {
            let tip = tip.to_owned();
            outcome(|observed| {
                observed.tip = Some(tip);
                observed.contained = true;
            })
        };
        assert_eq!(with("a"), merged("a", "up-to-date", &[]));
        assert_eq!(with("t"), merged("t", "fast-forward", &[]));
        assert_eq!(with("m"), merged("m", "merged", &[]));
    }

    #[test]
    fn a_later_mishap_does_not_unmake_a_merge() {
        let odd = outcome(|observed| {
            observed.tip = Some("m".to_owned());
            observed.contained = true;
            observed.head = None;
            observed.residue.dirty = vec!["x".to_owned()];
        });
        assert_eq!(odd, merged("m", "merged", &[Remark::HeadMoved, Remark::NotClean]));
    }

    #[test]
    fn what_is_not_in_is_not_merged() {
        let conflict = outcome(|observed| observed.residue.unmerged = vec!["x".to_owned()]);
        assert_eq!(conflict, Outcome::Conflict(vec!["x".to_owned()]));
        assert_eq!(outcome(|_| {}), Outcome::Failed);
        // A hook refused it, or a signer: all is staged, nothing is committed.
        assert_eq!(outcome(|observed| observed.residue.merge_head = Some("t".to_owned())), Outcome::Failed);
        // Something else was committed in its place.
        assert_eq!(outcome(|observed| observed.tip = Some("s".to_owned())), Outcome::Failed);
        assert_eq!(outcome(|observed| observed.tip = None), Outcome::Failed);
    }
}
