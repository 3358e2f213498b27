//! What a merge asks of git: branches by full name, the checkout, the merge itself.

use std::ffi::{OsStr, OsString};

use super::{Answer, Git, GitFailure, Hooks};

impl Git {
    /// The branch that HEAD names, by full name; `None` when HEAD is detached.
    ///
    /// # Errors
    /// git cannot tell.
    pub fn head_branch(&self) -> Result<Option<String>, GitFailure> {
        let answer = self.run(Hooks::Off, &["symbolic-ref", "--quiet", "HEAD"])?;
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
        let mut args: Vec<&OsStr> = vec![OsStr::new("merge")];
        args.extend(options.iter().map(OsString::as_os_str));
        args.extend([OsStr::new("--no-edit"), OsStr::new(name)]);
        self.run_with(Hooks::AsConfigured, &args, &[(mark.0.into(), mark.1.into())], None)
    }
}
