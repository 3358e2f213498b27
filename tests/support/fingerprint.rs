//! Everything of the user's that lock traffic must leave as it is, byte for byte.

use std::collections::BTreeMap;
use std::path::Path;

use super::{BRANCH, Repo};

/// The state of a repository, less what is the lock's own.
#[derive(Clone, PartialEq, Eq)]
pub struct Fingerprint(BTreeMap<String, String>);

impl Fingerprint {
    /// Takes it.
    pub fn of(repo: &Repo<'_>) -> Self {
        let git_dir = repo.git_dir();
        let common = repo.git(&["rev-parse", "--path-format=absolute", "--git-common-dir"]);
        let common = Path::new(&common);
        let mut parts = BTreeMap::new();
        let mut put = |name: &str, value: String| parts.insert(name.to_owned(), value);
        for name in ["index", "HEAD", "ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD", "config.worktree", "logs/HEAD"]
        {
            put(name, bytes(&git_dir.join(name)));
        }
        for name in ["config", "packed-refs", "info/exclude", "shallow"] {
            put(&format!("common {name}"), bytes(&common.join(name)));
        }
        put("names", names(common));
        let refs = repo.git(&["for-each-ref", "--format=%(objectname) %(refname) %(symref)"]);
        let kept = refs.lines().filter(|line| !line.contains(" refs/aitask-lock/"));
        put("refs", kept.collect::<Vec<_>>().join("\n"));
        put("worktrees", repo.git(&["worktree", "list", "--porcelain"]));
        if repo.git(&["rev-parse", "--is-inside-work-tree"]) == "true" {
            let status = ["--no-optional-locks", "status", "--porcelain=v2", "--ignored", "--branch"];
            put("status", repo.git(&status));
        }
        Self(parts)
    }

    /// The same, without the lock branch: for a repository that is the arbiter itself.
    pub fn without_lock_branch(mut self) -> Self {
        if let Some(refs) = self.0.get_mut("refs") {
            let kept = refs.lines().filter(|line| !line.contains(BRANCH));
            *refs = kept.collect::<Vec<_>>().join("\n");
        }
        self
    }

    /// Fails when something of it has changed.
    #[track_caller]
    pub fn assert_same(&self, before: &Self, what: &str) {
        for (name, value) in &before.0 {
            assert_eq!(self.0.get(name), Some(value), "{what} changed {name}");
        }
        assert_eq!(self.0.len(), before.0.len(), "{what}");
    }
}

fn bytes(path: &Path) -> String {
    std::fs::read(path).map_or_else(|_| "absent".to_owned(), |bytes| format!("{bytes:?}"))
}

/// What stands in the git directory itself: a stray file would be taken for a revision.
fn names(folder: &Path) -> String {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| !["aitask-lock", "logs", "objects"].contains(&name.as_str()))
        .collect();
    names.sort();
    names.join("\n")
}
