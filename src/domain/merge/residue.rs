//! What an unfinished merge, or something like it, left in the shared root, and which remedy it needs.

use std::fmt;

use serde::Serialize;

/// What stands in the shared root that a merge must not start on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Residue {
    /// The object ID in `MERGE_HEAD`: a merge is under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merge_head: Option<String>,
    /// Other operations under way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<Operation>,
    /// Paths with unmerged index entries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unmerged: Vec<String>,
    /// Tracked paths that differ from HEAD in the index or in the tree, unmerged ones left out; and
    /// files that stand where such a path, or one of its folders, was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dirty: Vec<String>,
    /// The index is locked, and stayed so for as long as the observer waited. What else is said
    /// here may be out of date.
    pub index_locked: bool,
    /// git cannot read the index. What is said of files is by comparison with HEAD.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub index_damaged: bool,
    /// The object ID of HEAD.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// A digest of the tracked state, so that a token names exactly what was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

/// A git operation that can be under way, besides a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// A rebase (`rebase-merge`, or `rebase-apply` of the older kind).
    Rebase,
    /// `git am` (`rebase-apply`).
    Am,
    /// A cherry-pick (`CHERRY_PICK_HEAD`, or its sequencer).
    CherryPick,
    /// A revert (`REVERT_HEAD`, or its sequencer).
    Revert,
    /// A bisection (`BISECT_LOG`).
    Bisect,
}

impl Operation {
    /// The stable word, which is git's own name for the command.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Rebase => "rebase",
            Self::Am => "am",
            Self::CherryPick => "cherry-pick",
            Self::Revert => "revert",
            Self::Bisect => "bisect",
        }
    }
}

impl Operation {
    /// The word with its article, as part of a sentence.
    #[must_use]
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Rebase => "a rebase",
            Self::Am => "a git am",
            Self::CherryPick => "a cherry-pick",
            Self::Revert => "a revert",
            Self::Bisect => "a bisection",
        }
    }

    /// What ends with it, besides changed files.
    #[must_use]
    pub fn loses(self) -> &'static str {
        match self {
            Self::Rebase => "the to-do list of the rebase; what it had replayed is a parent of what is saved",
            Self::Am => "the patches that git am has not applied yet (rebase-apply)",
            Self::CherryPick => "the to-do list of the cherry-pick",
            Self::Revert => "the to-do list of the revert",
            Self::Bisect => "the log of the bisection (git bisect log prints it)",
        }
    }
}

/// What brings the shared root back to a clean state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Remedy {
    /// Nothing has to be done.
    None,
    /// `git merge --abort`.
    AbortMerge,
    /// `git reset --hard`, and the end of whatever operation is under way.
    ResetHard,
}

impl Remedy {
    /// The stable word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::AbortMerge => "abort-merge",
            Self::ResetHard => "reset-hard",
        }
    }

    /// The option of `merge force-release` that asks for it; none where nothing is needed.
    #[must_use]
    pub fn option(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::AbortMerge => Some("--abort-merge"),
            Self::ResetHard => Some("--reset-hard"),
        }
    }
}

/// The one remedy that a residue needs.
///
/// `git merge --abort` restores what `git reset --hard` would throw away, but it works only while
/// `MERGE_HEAD` is there; for everything else there is only the reset.
#[must_use]
pub fn remedy_for(residue: &Residue) -> Remedy {
    if residue.merge_head.is_some() {
        Remedy::AbortMerge
    } else if residue.unmerged.is_empty()
        && residue.dirty.is_empty()
        && residue.operations.is_empty()
        && !residue.index_damaged
    {
        Remedy::None
    } else {
        Remedy::ResetHard
    }
}

impl Residue {
    /// Whether a merge may start: nothing is under way, no tracked file differs, nobody holds the
    /// index.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        remedy_for(self) == Remedy::None && !self.index_locked
    }

    /// The stable word of its most telling part: `merge`, an operation, `index-damaged`, `unmerged`,
    /// `dirty`, `index-lock` or `clean`.
    #[must_use]
    pub fn state(&self) -> &'static str {
        match (&self.merge_head, self.operations.first()) {
            (Some(_), _) => "merge",
            (None, Some(operation)) => operation.word(),
            _ if self.index_damaged => "index-damaged",
            _ if !self.unmerged.is_empty() => "unmerged",
            _ if !self.dirty.is_empty() => "dirty",
            _ if self.index_locked => "index-lock",
            _ => "clean",
        }
    }
}

impl fmt::Display for Residue {
    /// All of it, as part of a sentence: `a merge in progress, 2 unmerged files`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> = Vec::new();
        if self.merge_head.is_some() {
            parts.push("a merge in progress".to_owned());
        }
        parts.extend(self.operations.iter().map(|operation| format!("{} in progress", operation.phrase())));
        let files = |count: usize| if count == 1 { "file" } else { "files" };
        if !self.unmerged.is_empty() {
            parts.push(format!("{} unmerged {}", self.unmerged.len(), files(self.unmerged.len())));
        }
        if !self.dirty.is_empty() {
            parts.push(format!("{} changed {}", self.dirty.len(), files(self.dirty.len())));
        }
        if self.index_damaged {
            parts.push("an index that cannot be read".to_owned());
        }
        if self.index_locked {
            parts.push("a locked index (index.lock)".to_owned());
        }
        if parts.is_empty() { f.write_str("nothing") } else { f.write_str(&parts.join(", ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(merge: bool, operation: Option<Operation>, unmerged: bool, dirty: bool, locked: bool) -> Residue {
        let paths = |there: bool| if there { vec!["a".to_owned()] } else { Vec::new() };
        Residue {
            merge_head: merge.then(|| "1".repeat(40)),
            operations: operation.into_iter().collect(),
            unmerged: paths(unmerged),
            dirty: paths(dirty),
            index_locked: locked,
            ..Residue::default()
        }
    }

    #[test]
    fn an_index_that_cannot_be_read_needs_a_remedy_as_well() {
        for (merge, remedy, state) in
            [(true, Remedy::AbortMerge, "merge"), (false, Remedy::ResetHard, "index-damaged")]
        {
            let residue = Residue { index_damaged: true, ..of(merge, None, false, false, false) };
            assert_eq!((remedy_for(&residue), residue.state()), (remedy, state));
            assert!(!residue.is_clean() && residue.to_string().contains("index that cannot be read"));
        }
    }

    #[test]
    fn every_residue_has_one_remedy() {
        let operations = [None, Some(Operation::Rebase), Some(Operation::Am), Some(Operation::CherryPick)];
        let operations = operations.into_iter().chain([Some(Operation::Revert), Some(Operation::Bisect)]);
        for operation in operations {
            for bits in 0..16_u8 {
                let [merge, unmerged, dirty, locked] = [1, 2, 4, 8].map(|bit| bits & bit != 0);
                let residue = of(merge, operation, unmerged, dirty, locked);
                let expected = if merge {
                    Remedy::AbortMerge
                } else if operation.is_some() || unmerged || dirty {
                    Remedy::ResetHard
                } else {
                    Remedy::None
                };
                assert_eq!(remedy_for(&residue), expected, "{residue:?}");
                assert_eq!(residue.is_clean(), expected == Remedy::None && !locked, "{residue:?}");
                assert_eq!(residue.state() == "clean", residue.is_clean(), "{residue:?}");
                assert_eq!(residue.to_string() == "nothing", residue.is_clean(), "{residue:?}");
            }
        }
    }
}
