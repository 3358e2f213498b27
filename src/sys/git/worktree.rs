//! Where a merge runs: the main worktree, or the one that `aitask-lock.mergeWorktree` names; and which
//! branches other worktrees hold.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::{Answer, Git, GitFailure, Hooks, lockfile};
use crate::sys::repository::Repository;

/// The setting that names the worktree in which merges run.
pub const SETTING: &str = "aitask-lock.mergeWorktree";

/// The worktree in which merges run.
#[derive(Clone, Debug)]
pub struct MergeRoot {
    /// Its top folder.
    pub path: PathBuf,
    /// A git for it.
    pub git: Git,
}

/// Why there is no worktree for merges.
#[derive(Debug)]
pub enum NoMergeRoot {
    /// The repository has no main worktree, or it cannot be found from here.
    NoMainWorktree {
        /// The git directory that all worktrees share.
        common_dir: PathBuf,
    },
    /// What the setting names is no worktree of this repository.
    NotOurs {
        /// What the setting comes to.
        path: PathBuf,
        /// Why it will not do.
        why: String,
    },
}

impl fmt::Display for NoMergeRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMainWorktree { common_dir } => {
                write!(f, "the repository {} has no main worktree to merge in", common_dir.display())
            }
            Self::NotOurs { path, why } => {
                write!(f, "the setting {SETTING} names {}: {why}", path.display())
            }
        }
    }
}

impl std::error::Error for NoMergeRoot {}

impl MergeRoot {
    /// Finds the worktree in which merges of this repository run, from wherever we stand in it.
    ///
    /// # Errors
    /// There is none, or the setting names something else.
    pub fn find(repo: &Repository, deadline: Instant) -> Result<Self, NoMergeRoot> {
        if let Some(named) = repo.gix.config_snapshot().string(SETTING).filter(|name| !name.is_empty()) {
            // Where the worktree of a `.git` is, or the folder around a bare repository.
            let base = repo.common_dir.parent().unwrap_or(&repo.common_dir);
            let path = base.join(OsStr::from_bytes(&named));
            return Self::at(repo, &path, deadline).map_err(|why| NoMergeRoot::NotOurs { path, why });
        }
        let stands_in_main = repo.git_dir == repo.common_dir;
        if let (true, Some(top)) = (stands_in_main, &repo.work_dir) {
            return Ok(Self::open(top, &repo.git_dir, deadline));
        }
        Self::main_top(repo, deadline)
            .and_then(|top| Self::at(repo, &top, deadline).ok())
            .filter(|root| root.git.git_dir() == repo.common_dir)
            .ok_or_else(|| NoMergeRoot::NoMainWorktree { common_dir: repo.common_dir.clone() })
    }

    /// Where the main worktree should be: where `core.worktree` says, as in submodules, or around a
    /// folder `.git`. The main worktree's own configuration counts, not that of where we stand.
    fn main_top(repo: &Repository, deadline: Instant) -> Option<PathBuf> {
        let common = &repo.common_dir;
        let git = Git::new(common, common, deadline);
        let setting = |args: &[&str]| {
            let args = [&["config"], args].concat();
            let answer = git.run(Hooks::Off, &args).ok().filter(Answer::ok)?;
            Some(answer.stdout.strip_suffix(b"\n").unwrap_or(&answer.stdout).to_vec())
        };
        if let Some(top) = setting(&["--get", "core.worktree"]) {
            return Some(common.join(OsStr::from_bytes(&top)));
        }
        if setting(&["--type=bool", "--get", "core.bare"]).is_some_and(|bare| bare == b"true") {
            return None;
        }
        common.parent().filter(|_| common.file_name() == Some(OsStr::new(".git"))).map(Path::to_owned)
    }

    /// The worktree with its top at `path`, if it is one of this repository.
    fn at(repo: &Repository, path: &Path, deadline: Instant) -> Result<Self, String> {
        let found = Repository::find(Some(path)).map_err(|error| error.to_string())?;
        if found.common_dir != repo.common_dir {
            return Err("it belongs to another repository".to_owned());
        }
        let top = found.work_dir.ok_or("it is no worktree")?;
        if path.canonicalize().ok().as_ref() != Some(&top) {
            return Err(format!("it lies inside the worktree {}", top.display()));
        }
        Ok(Self::open(&top, &found.git_dir, deadline))
    }

    fn open(top: &Path, git_dir: &Path, deadline: Instant) -> Self {
        Self { path: top.to_owned(), git: Git::of_worktree(git_dir, top, deadline).waiting(lockfile::WAIT) }
    }

    /// Whether a repository that was opened stands in this worktree.
    #[must_use]
    pub fn is_of(&self, repo: &Repository) -> bool {
        self.git.git_dir() == repo.git_dir
    }

    /// The other worktrees of the repository.
    ///
    /// # Errors
    /// git cannot list them.
    pub fn others(&self) -> Result<Vec<Worktree>, GitFailure> {
        let mut listed = self.git.worktrees()?;
        // The list begins with the main worktree; of a submodule's, git shows the git directory.
        let is_main = !self.git.git_dir().join("commondir").exists();
        if is_main && !listed.is_empty() {
            listed.remove(0);
        }
        listed.retain(|worktree| is_main || worktree.path.canonicalize().ok().as_ref() != Some(&self.path));
        Ok(listed)
    }
}

/// A worktree as git lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Worktree {
    /// Its top folder, or the git directory for a bare repository.
    pub path: PathBuf,
    /// The branch that is checked out, by full name.
    pub branch: Option<String>,
    /// Whether it is a bare repository, with nothing checked out.
    pub bare: bool,
    /// Whether it is locked against removal, and why.
    pub locked: Option<String>,
}

impl Worktree {
    /// Whether its folder is there; an entry without one is left over.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.path.exists()
    }
}

impl Git {
    /// All worktrees, the main one first.
    ///
    /// # Errors
    /// git cannot list them.
    pub fn worktrees(&self) -> Result<Vec<Worktree>, GitFailure> {
        let mut answer = self.run(Hooks::Off, &["worktree", "list", "--porcelain", "-z"])?;
        let mut end = 0;
        if answer.code == USAGE {
            // Before git 2.36; a path with a newline is cut off there.
            answer = self.run(Hooks::Off, &["worktree", "list", "--porcelain"])?;
            end = b'\n';
        }
        if !answer.ok() {
            return Err(GitFailure::of_exit("worktree list", answer.code, &answer.stderr));
        }
        Ok(parse(&answer.stdout, end))
    }
}

impl Git {
    /// The hooks folder in force, `core.hooksPath` respected; relative to the top of the worktree.
    ///
    /// # Errors
    /// git cannot tell.
    pub fn hooks_folder(&self) -> Result<PathBuf, GitFailure> {
        // With the user's settings: otherwise hooks are turned off.
        let answer = self.run(Hooks::AsConfigured, &["rev-parse", "--git-path", "hooks"])?;
        if !answer.ok() {
            return Err(GitFailure::of_exit("rev-parse", answer.code, &answer.stderr));
        }
        let path = answer.stdout.strip_suffix(b"\n").unwrap_or(&answer.stdout);
        Ok(PathBuf::from(OsStr::from_bytes(path)))
    }

    /// Where a setting comes from (`local`, `global`, `system`, …); `None` when it is not set.
    ///
    /// # Errors
    /// git could not be asked.
    pub fn config_scope(&self, key: &str) -> Result<Option<String>, GitFailure> {
        let answer = self.run(Hooks::AsConfigured, &["config", "--show-scope", "--get", key])?;
        Ok(answer.ok().then(|| answer.line().split('\t').next().unwrap_or_default().to_owned()))
    }
}

/// git's exit status for an option that it does not know.
const USAGE: i32 = 129;

fn parse(listing: &[u8], end: u8) -> Vec<Worktree> {
    let mut worktrees: Vec<Worktree> = Vec::new();
    for line in listing.split(|&byte| byte == end) {
        let (key, value) = match line.iter().position(|&byte| byte == b' ') {
            Some(at) => (&line[..at], line.get(at + 1..).unwrap_or_default()),
            None => (line, &b""[..]),
        };
        let text = || String::from_utf8_lossy(value).into_owned();
        match (key, worktrees.last_mut()) {
            (b"worktree", _) => worktrees
                .push(Worktree { path: PathBuf::from(OsStr::from_bytes(value)), ..Worktree::default() }),
            (b"branch", Some(last)) => last.branch = Some(text()),
            (b"bare", Some(last)) => last.bare = true,
            (b"locked", Some(last)) => last.locked = Some(text()),
            _ => {}
        }
    }
    worktrees
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_is_read_with_any_path() {
        let listing = b"worktree /a\nb c\0HEAD 1\0branch refs/heads/x\0\0worktree /bare.git\0bare\0\0\
                        worktree /l\0HEAD 2\0detached\0locked on a stick\0prunable gone\0\0";
        let worktree = |path: &str| Worktree { path: path.into(), ..Worktree::default() };
        assert_eq!(
            parse(listing, 0),
            [
                Worktree { branch: Some("refs/heads/x".into()), ..worktree("/a\nb c") },
                Worktree { bare: true, ..worktree("/bare.git") },
                Worktree { locked: Some("on a stick".into()), ..worktree("/l") },
            ]
        );
        assert_eq!(
            parse(b"worktree /a\nlocked\n\n", b'\n'),
            [Worktree { locked: Some(String::new()), ..worktree("/a") }]
        );
        assert_eq!(parse(b"", 0), []);
    }
}
