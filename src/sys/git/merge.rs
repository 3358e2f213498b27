//! What a merge asks of git: branches by full name, the checkout, the merge itself.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::time::Duration;

use super::{Answer, Git, GitFailure, Hooks, lockfile};
use crate::sys::clock;

impl Git {
    /// The branch that HEAD names, by full name; `None` when HEAD is detached.
    ///
    /// # Errors
    /// git cannot tell.
    pub fn head_branch(&self) -> Result<Option<String>, GitFailure> {
        self.symbolic_ref("HEAD")
    }

    /// The reference that a symbolic one names; `None` when there is none, or it is not symbolic.
    ///
    /// # Errors
    /// git cannot tell.
    pub fn symbolic_ref(&self, name: &str) -> Result<Option<String>, GitFailure> {
        let answer = self.run(Hooks::Off, &["symbolic-ref", "--quiet", name])?;
        match answer.code {
            0 => Ok(Some(answer.line())),
            1 => Ok(None),
            code => Err(GitFailure::of_exit("symbolic-ref", code, &answer.stderr)),
        }
    }

    /// The commit that a full reference name, an object id or HEAD leads to; `None` when there is none.
    ///
    /// # Errors
    /// git could not be asked.
    pub fn oid(&self, name: &str) -> Result<Option<String>, GitFailure> {
        self.rev(&format!("{name}^{{commit}}"))
    }

    /// The object that a revision leads to.
    pub(super) fn rev(&self, revision: &str) -> Result<Option<String>, GitFailure> {
        let answer = self.run(Hooks::Off, &["rev-parse", "--quiet", "--verify", revision])?;
        Ok(answer.ok().then(|| answer.line()))
    }

    /// Whether a short name leads to something at all: a tag, a remote branch, an object.
    ///
    /// # Errors
    /// git could not be asked.
    pub fn is_revision(&self, name: &str) -> Result<bool, GitFailure> {
        if name.starts_with('-') {
            return Ok(false);
        }
        Ok(self.rev(name)?.is_some())
    }

    /// Whether a commit is in the history of another.
    ///
    /// # Errors
    /// git cannot tell, because one of them is missing for instance.
    pub fn is_ancestor(&self, old: &str, new: &str) -> Result<bool, GitFailure> {
        let answer = self.run(Hooks::Off, &["merge-base", "--is-ancestor", old, new])?;
        match answer.code {
            0 => Ok(true),
            1 => Ok(false),
            code => Err(GitFailure::of_exit("merge-base", code, &answer.stderr)),
        }
    }

    /// The branches, remote branches and tags at a commit, by full name, branches first.
    ///
    /// # Errors
    /// git could not be asked.
    pub fn names_at(&self, oid: &str) -> Result<Vec<String>, GitFailure> {
        if oid.is_empty() {
            return Ok(Vec::new());
        }
        let args = ["for-each-ref", "--points-at", oid, "--format=%(refname)"];
        let places = ["refs/heads", "refs/remotes", "refs/tags"];
        let answer = self.run(Hooks::Off, &[&args[..], &places].concat())?;
        // An object that is not there has no names.
        Ok(if answer.ok() { answer.line().lines().map(str::to_owned).collect() } else { Vec::new() })
    }

    /// Whether a reference of these places (`refs/heads`, …) has a commit in its history.
    ///
    /// # Errors
    /// git cannot tell.
    pub fn is_kept(&self, oid: &str, places: &[&str]) -> Result<bool, GitFailure> {
        let args = ["for-each-ref", "--count=1", "--contains", oid, "--format=%(refname)"];
        let answer = self.run(Hooks::Off, &[&args[..], places].concat())?;
        if !answer.ok() {
            return Err(GitFailure::of_exit("for-each-ref", answer.code, &answer.stderr));
        }
        Ok(!answer.line().is_empty())
    }

    /// Checks out a branch, given by full name. Whether that worked is for the caller to see: a hook
    /// may fail after it has.
    ///
    /// # Errors
    /// git could not be started or did not end by itself.
    pub fn checkout(&self, branch: &str, past_stale_entries: bool) -> Result<Answer, GitFailure> {
        let short = branch.strip_prefix("refs/heads/").unwrap_or(branch);
        let mut args = vec!["checkout", "--quiet", "--no-guess"];
        if past_stale_entries {
            // Only ever when no folder of another worktree has it: git counts left-over entries.
            args.push("--ignore-other-worktrees");
        }
        args.push("--no-overwrite-ignore");
        args.extend([short, "--"]);
        self.run(Hooks::AsConfigured, &args)
    }

    /// Merges a branch, given by full name, into what is checked out. `mark` is handed to the hooks in
    /// the environment. The outcome is for the caller to observe.
    ///
    /// # Errors
    /// git could not be started or did not end by itself; the merge may have happened all the same.
    pub fn merge(
        &self,
        branch: &str,
        options: &[OsString],
        mark: (&str, &str),
    ) -> Result<Answer, GitFailure> {
        // The short name makes the message that people know; a tag of the same name would win over it.
        let short = branch.strip_prefix("refs/heads/").unwrap_or(branch);
        let named = self.run(Hooks::Off, &["rev-parse", "--symbolic-full-name", short])?;
        let name =
            if named.ok() && named.line() == branch && named.stderr.is_empty() { short } else { branch };
        // Of use for a fast-forward only; whoever wants it says so in the options.
        let mut args: Vec<&OsStr> = vec![OsStr::new("merge"), OsStr::new("--no-overwrite-ignore")];
        args.extend(options.iter().map(OsString::as_os_str));
        args.extend([OsStr::new("--no-edit"), OsStr::new(name)]);
        let before = self.oid("HEAD")?;
        let until = clock::deadline_in(self.lock_wait);
        let once = self.clone().waiting(Duration::ZERO);
        loop {
            let answer =
                once.run_with(Hooks::AsConfigured, &args, &[(mark.0.into(), mark.1.into())], None)?;
            // Only where it was refused before it had done anything is it the same merge once more.
            let again = !answer.ok()
                && lockfile::index_was_taken(&answer.stderr)
                && !clock::remaining(until).is_zero()
                && !self.time_left().is_zero()
                && self.residue().is_ok_and(|residue| residue.is_clean())
                && self.oid("HEAD")? == before;
            if !again {
                return Ok(answer);
            }
            clock::sleep(lockfile::TICK);
        }
    }

    /// Ignored files that stand where a merge of one commit into another would put files of its own: git
    /// overwrites those without a word.
    ///
    /// # Errors
    /// git could not be asked.
    pub fn ignored_in_the_way(&self, into: &str, oid: &str) -> Result<Vec<String>, GitFailure> {
        let there = self.in_the_way(&format!("{into}...{oid}"))?;
        if there.is_empty() {
            return Ok(there);
        }
        let input = there.iter().flat_map(|path| [path.as_bytes(), &b"\0"[..]].concat()).collect();
        let answer = self.run_with(Hooks::Off, &["check-ignore", "-z", "--stdin"], &[], Some(input))?;
        match answer.code {
            0 | 1 => {}
            code => return Err(GitFailure::of_exit("check-ignore", code, &answer.stderr)),
        }
        let paths = answer.stdout.split(|&byte| byte == 0).filter(|path| !path.is_empty());
        Ok(paths.map(|path| String::from_utf8_lossy(path).into_owned()).collect())
    }

    /// Files, ignored or not, that stand where a checkout (`HEAD..<commit>`) or a merge (`HEAD...<commit>`)
    /// would put files of its own.
    ///
    /// # Errors
    /// git could not be asked.
    pub fn in_the_way(&self, range: &str) -> Result<Vec<String>, GitFailure> {
        let args = ["diff", "--name-only", "-z", "--no-renames", "--diff-filter=A", range, "--"];
        let added = self.run(Hooks::Off, &args)?;
        // Histories without a common commit: git refuses them, or was told not to.
        if !added.ok() {
            return Ok(Vec::new());
        }
        let mut there: Vec<&[u8]> = Vec::new();
        for path in added.stdout.split(|&byte| byte == 0).filter(|path| !path.is_empty()) {
            // The path, or a file where it has a folder.
            let above = (1..path.len()).filter(|&at| path.get(at) == Some(&b'/'));
            let above = above.filter_map(|at| path.get(..at));
            let kind = |path: &[u8]| {
                self.work_dir()
                    .join(OsStr::from_bytes(path))
                    .symlink_metadata()
                    .ok()
                    .map(|data| data.is_dir())
            };
            let file_above = above.into_iter().find(|folder| kind(folder) == Some(false));
            there.extend(file_above.or_else(|| kind(path).map(|_| path)));
        }
        there.dedup();
        Ok(there.into_iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect())
    }

    /// Commits of `new` that neither `old` nor `without` has, by first parents, newest first, each with
    /// its parents. At most a hundred.
    ///
    /// # Errors
    /// git cannot list them.
    pub fn first_parents(
        &self,
        old: &str,
        new: &str,
        without: &[String],
    ) -> Result<Vec<(String, Vec<String>)>, GitFailure> {
        let mut excluded = vec![format!("^{old}")];
        excluded.extend(without.iter().map(|oid| format!("^{oid}")));
        let mut args = vec!["rev-list", "--first-parent", "--parents", "--max-count=100", new];
        args.extend(excluded.iter().map(String::as_str));
        let answer = self.run(Hooks::Off, &args)?;
        if !answer.ok() {
            return Err(GitFailure::of_exit("rev-list", answer.code, &answer.stderr));
        }
        let listing = answer.line();
        let lines = listing.lines().filter_map(|line| {
            let mut oids = line.split(' ').map(str::to_owned);
            Some((oids.next()?, oids.collect()))
        });
        Ok(lines.collect())
    }

    /// Paths in which conflict markers, both kinds, came in or went between two commits.
    ///
    /// # Errors
    /// git cannot compare them.
    pub fn conflict_markers(&self, old: &str, new: &str) -> Result<Vec<String>, GitFailure> {
        let with = |pattern: &str| {
            let args = [
                "diff-tree",
                "-r",
                "-z",
                "--no-renames",
                "--diff-filter=d",
                "--name-only",
                pattern,
                old,
                new,
            ];
            let answer = self.run(Hooks::Off, &args)?;
            if !answer.ok() {
                return Err(GitFailure::of_exit("diff-tree", answer.code, &answer.stderr));
            }
            let paths = answer.stdout.split(|&byte| byte == 0).filter(|path| !path.is_empty());
            Ok(paths.map(|path| String::from_utf8_lossy(path).into_owned()).collect::<Vec<_>>())
        };
        let closing = with("-G^>>>>>>> ")?;
        let mut paths = with("-G^<<<<<<< ")?;
        paths.retain(|path| closing.contains(path));
        Ok(paths)
    }

    /// Removes a branch, given by full name, if it still stands at `tip`, with its configuration.
    ///
    /// # Errors
    /// It is still there.
    pub fn delete_branch(&self, branch: &str, tip: &str) -> Result<(), GitFailure> {
        let input = format!("delete {branch}\0{tip}\0").into_bytes();
        let answer = self.run_with(Hooks::Off, &["update-ref", "-z", "--stdin"], &[], Some(input))?;
        if !answer.ok() {
            return Err(GitFailure::of_exit("update-ref", answer.code, &answer.stderr));
        }
        let short = branch.strip_prefix("refs/heads/").unwrap_or(branch);
        // Most branches have none, and what is left of it does no harm.
        _ = self.run(Hooks::Off, &["config", "--local", "--remove-section", &format!("branch.{short}")]);
        Ok(())
    }

    /// Removes a worktree without force: git refuses where anything in it would be lost, which is
    /// the inner failure.
    ///
    /// # Errors
    /// git could not be started or did not end by itself.
    pub fn remove_worktree(&self, path: &std::path::Path) -> Result<Result<(), GitFailure>, GitFailure> {
        let args = [OsStr::new("worktree"), OsStr::new("remove"), OsStr::new("--"), path.as_os_str()];
        let answer = self.run(Hooks::Off, &args)?;
        let failed = || GitFailure::of_exit("worktree remove", answer.code, &answer.stderr);
        Ok(if answer.ok() { Ok(()) } else { Err(failed()) })
    }
}
