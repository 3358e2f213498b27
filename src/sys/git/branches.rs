//! Local branches with their worktrees, as git lists them.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use super::{Git, GitFailure, Hooks};

/// A local branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Its name below `refs/heads/`; untrusted text.
    pub name: String,
    /// The worktree that has it checked out.
    pub worktree: Option<PathBuf>,
    /// How long ago its last commit was made, in git's words.
    pub age: String,
    /// The first line of its last commit; untrusted text.
    pub subject: String,
}

impl Git {
    /// All local branches.
    ///
    /// # Errors
    /// git failed.
    pub fn branches(&self) -> Result<Vec<Branch>, GitFailure> {
        let format =
            "--format=%(refname:lstrip=2)%00%(worktreepath)%00%(committerdate:relative)%00%(subject)%00";
        let answer = self.run(Hooks::Off, &["for-each-ref", format, "refs/heads"])?;
        if !answer.ok() {
            return Err(GitFailure::of_exit("for-each-ref", answer.code, &answer.stderr));
        }
        Ok(parse(&answer.stdout))
    }

    /// How many files of a worktree have changes that are not committed, untracked files included.
    ///
    /// # Errors
    /// git failed.
    pub fn uncommitted(&self, worktree: &Path) -> Result<usize, GitFailure> {
        let git = Self::in_worktree(worktree, self.deadline);
        let answer = git.run(Hooks::Off, &["status", "--porcelain", "-z"])?;
        if !answer.ok() {
            return Err(GitFailure::of_exit("status", answer.code, &answer.stderr));
        }
        Ok(answer.stdout.split(|byte| *byte == 0).filter(|entry| entry.get(2) == Some(&b' ')).count())
    }
}

fn parse(stdout: &[u8]) -> Vec<Branch> {
    let mut fields = stdout.split(|byte| *byte == 0);
    let mut branches = Vec::new();
    while let (Some(name), Some(worktree), Some(age), Some(subject)) =
        (fields.next(), fields.next(), fields.next(), fields.next())
    {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_start_matches('\n').to_owned();
        let worktree = PathBuf::from(OsString::from_vec(worktree.to_vec()));
        branches.push(Branch {
            name: text(name),
            worktree: Some(worktree).filter(|path| !path.as_os_str().is_empty()),
            age: text(age),
            subject: text(subject),
        });
    }
    branches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_paths_may_hold_anything_but_nul() {
        let branches = parse(b"main\0/a\nb\0 2 days ago\0first\0\nt7\0\0now\0second\0\n");
        let names: Vec<&str> = branches.iter().map(|branch| branch.name.as_str()).collect();
        assert_eq!(names, ["main", "t7"]);
        assert_eq!(branches[0].worktree.as_deref(), Some(Path::new("/a\nb")));
        assert_eq!(branches[1].worktree, None);
        assert_eq!(branches[1].subject, "second");
    }
}
