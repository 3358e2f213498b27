//! What a holder is told when it gives the reservation back: changes that others made meanwhile, and a
//! merge that is none. It is a report; nothing is refused because of it.

use super::branch::short_name;
use super::reservation::Baseline;
use super::residue::Residue;
use super::verdict::Finding;

/// A commit on the output branch that the task's branch does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCommit {
    /// Its object ID.
    pub oid: String,
    /// Its parents.
    pub parents: Vec<String>,
}

/// What was recorded at the beginning, and what is observed at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The shared root as it was when the reservation was taken.
    pub baseline: Baseline,
    /// The branch that was merged into, by full name.
    pub output_branch: Option<String>,
    /// The branch that was merged, by full name.
    pub task_branch: Option<String>,
    /// What HEAD names now: a branch by full name, or an object ID.
    pub head: Option<String>,
    /// The output branch's tip now.
    pub tip: Option<String>,
    /// Tips of the task's branch: when it was merged, and now. None where both are unknown.
    pub task_tips: Vec<String>,
    /// Whether the task's tip is in the history of the output branch.
    pub contained: bool,
    /// Whether the old tip is in the history of the new one.
    pub descends: bool,
    /// Commits of the output branch since the old tip, by first parents, newest first, without those
    /// of the task's branch.
    pub commits: Vec<NewCommit>,
    /// Paths that have conflict markers now and had none on either side.
    pub markers: Vec<String>,
    /// What stands in the shared root.
    pub residue: Residue,
    /// The index's digest now.
    pub index: Option<String>,
}

/// Says what the holder should know.
#[must_use]
pub fn judge(seen: &Seen) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut find = |word, text: String| findings.push(Finding { word, text });
    let output = seen.output_branch.as_deref().map_or("the output branch", short_name);
    let task = seen.task_branch.as_deref().map_or("the task's branch", short_name);
    let moved = seen.baseline.tip.is_some() && seen.tip != seen.baseline.tip;

    let left = leftovers(&seen.residue);
    if let Some(left) = left {
        find("RESIDUE_LEFT", format!("the shared root is left with {left}; whoever merges next is refused"));
    } else if !seen.residue.dirty.is_empty() && !untouched(seen) {
        find(
            "INDEX_CHANGED",
            format!("changed files are left in the shared root: {}", listed(&seen.residue.dirty)),
        );
    }
    let expected = [seen.output_branch.as_ref(), seen.baseline.head.as_ref()];
    if seen.head.is_some() && !expected.contains(&seen.head.as_ref()) && expected.iter().any(Option::is_some)
    {
        let now = seen.head.as_deref().map(short_name).unwrap_or_default();
        find("HEAD_CHANGED", format!("HEAD of the shared root is {now} now, not {output}"));
    }
    if seen.baseline.tip.is_some() && seen.tip.is_none() {
        find("OUTPUT_BRANCH_GONE", format!("{output} is gone"));
        return findings;
    }
    if moved && !seen.descends {
        find(
            "HISTORY_REWRITTEN",
            format!("{output} does not descend any more from where it stood when the reservation was taken"),
        );
    } else if moved {
        judge_commits(seen, output, task, &mut find);
    }
    if moved && !seen.task_tips.is_empty() && !seen.contained {
        find("TASK_NOT_MERGED", format!("{task} is not in {output}"));
    }
    if !seen.markers.is_empty() {
        find("CONFLICT_MARKERS", format!("conflict markers were committed in {}", listed(&seen.markers)));
    }
    findings
}

/// Commits besides the one that merges the task.
fn judge_commits(seen: &Seen, output: &str, task: &str, find: &mut impl FnMut(&'static str, String)) {
    let merges = |commit: &&NewCommit| {
        let others = commit.parents.get(1..).unwrap_or_default();
        let of_task = seen.task_tips.is_empty() || others.iter().any(|oid| seen.task_tips.contains(oid));
        of_task && !others.is_empty()
    };
    let merge = seen.commits.iter().find(merges);
    let besides = seen.commits.iter().filter(|commit| Some(*commit) != merge);
    let besides: Vec<&str> = besides.map(|commit| short_oid(&commit.oid)).collect();
    if besides.is_empty() {
        return;
    }
    let commits = besides.iter().take(5).copied().collect::<Vec<_>>().join(", ");
    let single = seen.commits.iter().all(|commit| commit.parents.len() < 2);
    if !seen.contained && single && seen.task_branch.is_some() {
        find(
            "NOT_A_MERGE",
            format!("{output} got a commit with a single parent ({commits}) where {task} was to be merged"),
        );
    } else {
        find("OUTPUT_BRANCH_CHANGED", format!("{output} got other commits meanwhile: {commits}"));
    }
}

fn leftovers(residue: &Residue) -> Option<String> {
    let started =
        residue.merge_head.is_some() || !residue.operations.is_empty() || !residue.unmerged.is_empty();
    (started || residue.index_locked).then(|| residue.to_string())
}

/// Whether all is exactly as it was when the reservation was taken.
fn untouched(seen: &Seen) -> bool {
    seen.index.is_some() && seen.index == seen.baseline.index && seen.tip == seen.baseline.tip
}

fn short_oid(oid: &str) -> &str {
    oid.get(..10).unwrap_or(oid)
}

fn listed(paths: &[String]) -> String {
    let shown = paths.iter().take(5).map(String::as_str).collect::<Vec<_>>().join(", ");
    if paths.len() > 5 { format!("{shown}, and {} more", paths.len() - 5) } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged() -> Seen {
        Seen {
            baseline: Baseline {
                head: Some("refs/heads/main".to_owned()),
                tip: Some("base".to_owned()),
                index: Some("i".to_owned()),
            },
            output_branch: Some("refs/heads/main".to_owned()),
            task_branch: Some("refs/heads/t42".to_owned()),
            head: Some("refs/heads/main".to_owned()),
            tip: Some("merge".to_owned()),
            task_tips: vec!["task".to_owned()],
            contained: true,
            descends: true,
            commits: vec![commit("merge", &["base", "task"])],
            markers: Vec::new(),
            residue: Residue::default(),
            index: Some("j".to_owned()),
        }
    }

    fn commit(oid: &str, parents: &[&str]) -> NewCommit {
        NewCommit { oid: oid.to_owned(), parents: parents.iter().map(|&parent| parent.to_owned()).collect() }
    }

    #[track_caller]
    fn assert_found(change: impl FnOnce(&mut Seen), words: &[&str]) {
        let mut seen = merged();
        change(&mut seen);
        let found: Vec<&str> = judge(&seen).iter().map(|finding| finding.word).collect();
        assert_eq!(found, words, "{seen:?}");
    }

    #[test]
    fn a_proper_end_finds_nothing() {
        assert_found(|_| {}, &[]);
        // Fast-forward.
        assert_found(
            |seen| {
                seen.tip = Some("task".to_owned());
                seen.commits.clear();
            },
            &[],
        );
        // Nothing was merged, nothing was changed.
        assert_found(
            |seen| {
                seen.tip = Some("base".to_owned());
                seen.contained = false;
                seen.commits.clear();
            },
            &[],
        );
        // The task's branch was removed meanwhile.
        assert_found(|seen| seen.task_tips.clear(), &[]);
        // Files were changed before, and nothing was done.
        assert_found(
            |seen| {
                seen.tip = Some("base".to_owned());
                seen.commits.clear();
                seen.index = Some("i".to_owned());
                seen.residue.dirty = vec!["a".to_owned()];
            },
            &[],
        );
    }

    #[test]
    fn changes_by_others_are_told() {
        assert_found(|seen| seen.head = Some("refs/heads/other".to_owned()), &["HEAD_CHANGED"]);
        assert_found(|seen| seen.head = Some("0123".to_owned()), &["HEAD_CHANGED"]);
        assert_found(|seen| seen.residue.dirty = vec!["a".to_owned()], &["INDEX_CHANGED"]);
        assert_found(
            |seen| {
                seen.tip = Some("late".to_owned());
                seen.commits.insert(0, commit("late", &["merge"]));
            },
            &["OUTPUT_BRANCH_CHANGED"],
        );
        assert_found(|seen| seen.tip = None, &["OUTPUT_BRANCH_GONE"]);
    }

    #[test]
    fn a_merge_that_is_none_is_told() {
        assert_found(
            |seen| {
                seen.contained = false;
                seen.commits = vec![commit("merge", &["base"])];
            },
            &["NOT_A_MERGE", "TASK_NOT_MERGED"],
        );
        assert_found(
            |seen| {
                seen.contained = false;
                seen.descends = false;
            },
            &["HISTORY_REWRITTEN", "TASK_NOT_MERGED"],
        );
        assert_found(|seen| seen.markers = vec!["a".to_owned()], &["CONFLICT_MARKERS"]);
        assert_found(
            |seen| {
                seen.residue.merge_head = Some("task".to_owned());
                seen.residue.unmerged = vec!["a".to_owned()];
                seen.tip = Some("base".to_owned());
                seen.contained = false;
                seen.commits.clear();
            },
            &["RESIDUE_LEFT"],
        );
    }
}
