//! Brings a worktree back to a clean state. Whoever calls this has saved the work first.

use std::path::PathBuf;

use super::ends::{self, Aside};
use super::{Git, GitFailure, Hooks};
use crate::domain::merge::branch::short_name;
use crate::domain::merge::residue::{Operation, Remedy};

impl Git {
    /// Applies a remedy. Where `git merge --abort` refuses, or leaves tracked files changed, it goes on
    /// with a reset, which ends the merge as well. Returns the folder that keeps what git could not end.
    ///
    /// # Errors
    /// git would not; look at the residue for what stands there now.
    pub fn remedy(&self, remedy: Remedy) -> Result<Option<PathBuf>, GitFailure> {
        match remedy {
            Remedy::None => Ok(None),
            Remedy::AbortMerge => {
                // An abort applies what an autostash put away, and the reset would discard it; a reset
                // alone makes it an entry of the stash.
                let stashed = self.git_dir().join("MERGE_AUTOSTASH").symlink_metadata().is_ok();
                let aborted = !stashed && self.must(&["merge", "--abort"]).is_ok();
                if aborted && self.residue()?.is_clean() { Ok(None) } else { self.reset_hard() }
            }
            Remedy::ResetHard => self.reset_hard(),
        }
    }

    /// Checks a branch out, given by full name, if it exists and is not checked out already. Nothing is
    /// written over, ignored files included.
    ///
    /// # Errors
    /// git would not.
    pub fn go_back_to(&self, branch: &str) -> Result<(), GitFailure> {
        if self.head_branch()?.as_deref() == Some(branch) || self.resolve_ref(branch)?.is_none() {
            return Ok(());
        }
        self.must(&["checkout", "--quiet", "--no-overwrite-ignore", short_name(branch), "--"])
    }

    /// Puts the branch that is checked out, the index and the tracked files back to a commit.
    ///
    /// # Errors
    /// git would not.
    pub fn reset_to(&self, commit: &str) -> Result<(), GitFailure> {
        self.must(&["reset", "--hard", "--quiet", commit])
    }

    /// `git merge --quit`: git forgets that a merge is under way; files and the index stay as they are.
    ///
    /// # Errors
    /// git would not.
    pub fn quit_merge(&self) -> Result<(), GitFailure> {
        self.must(&["merge", "--quit"])
    }

    /// Ends whatever operation is under way, and puts the tracked files and the index back to HEAD.
    /// A rebase and a bisection also go back to the branch that they began on. Untracked and ignored
    /// files and `refs/stash` stay as they are. What git cannot read or end is moved aside; the folder that
    /// keeps it is returned.
    ///
    /// # Errors
    /// git would not; look at the residue for what stands there now.
    pub fn reset_hard(&self) -> Result<Option<PathBuf>, GitFailure> {
        let mut aside = Aside::new(self);
        if self.index_is_damaged()? {
            aside.take(&["index"])?;
        }
        let operations = self.residue()?.operations;
        for operation in operations.iter().filter(|operation| **operation != Operation::Bisect) {
            let ended = match operation {
                // What it had replayed is only forgotten by name: it is a parent of the rescue commit.
                Operation::Rebase => self.keep_autostash().and_then(|()| {
                    self.must(&["rebase", "--abort"]).or_else(|_| self.must(&["rebase", "--quit"]))
                }),
                other => self.must(&[other.word(), "--quit"]),
            };
            if ended.is_err() {
                aside.take(ends::of_operation(*operation))?;
            }
        }
        if self.must(&["reset", "--hard", "--quiet"]).is_err() {
            aside.take(&ends::OF_MERGE)?;
            self.must(&["reset", "--hard", "--quiet"])?;
        }
        // git passes over marks that it cannot read.
        let left = self.residue()?;
        if left.merge_head.is_some() {
            aside.take(&ends::OF_MERGE)?;
        }
        for operation in left.operations {
            // This one moves HEAD, for which the tree has to be clean. It may leave its marks and say nothing.
            if operation == Operation::Bisect {
                _ = self.must(&["bisect", "reset"]);
            }
            aside.take(ends::of_operation(operation))?;
        }
        Ok(aside.folder())
    }

    /// `rebase --abort` applies what an autostash put away, and the reset after it would discard that.
    fn keep_autostash(&self) -> Result<(), GitFailure> {
        for name in ["rebase-merge/autostash", "rebase-apply/autostash"] {
            if let Ok(text) = std::fs::read_to_string(self.git_dir().join(name)) {
                self.must(&["stash", "store", "--quiet", "--message", "autostash", text.trim()])?;
            }
        }
        Ok(())
    }

    fn must(&self, args: &[&str]) -> Result<(), GitFailure> {
        let answer = self.run(Hooks::Off, args)?;
        if answer.ok() {
            Ok(())
        } else {
            Err(GitFailure::of_exit(&args.join(" "), answer.code, &answer.stderr))
        }
    }
}
