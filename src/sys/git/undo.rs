//! Brings a worktree back to a clean state. Whoever calls this has saved the work first.

use super::{Git, GitFailure, Hooks};
use crate::domain::merge::branch::short_name;
use crate::domain::merge::residue::{Operation, Remedy};

impl Git {
    /// Applies a remedy. Where `git merge --abort` refuses, or leaves tracked files changed, it goes on
    /// with a reset, which ends the merge as well.
    ///
    /// # Errors
    /// git would not; look at the residue for what stands there now.
    pub fn remedy(&self, remedy: Remedy) -> Result<(), GitFailure> {
        match remedy {
            Remedy::None => Ok(()),
            Remedy::AbortMerge => {
                // An abort applies what an autostash put away, and the reset would discard it; a reset
                // alone makes it an entry of the stash.
                let stashed = self.git_dir().join("MERGE_AUTOSTASH").symlink_metadata().is_ok();
                let aborted = !stashed && self.must(&["merge", "--abort"]).is_ok();
                if aborted && self.residue()?.is_clean() { Ok(()) } else { self.reset_hard() }
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
    /// files and `refs/stash` stay as they are.
    ///
    /// # Errors
    /// git would not; look at the residue for what stands there now.
    pub fn reset_hard(&self) -> Result<(), GitFailure> {
        let operations = self.residue()?.operations;
        let mut bisecting = false;
        for operation in operations {
            match operation {
                // What it had replayed is only forgotten by name: it is a parent of the rescue commit.
                Operation::Rebase => {
                    self.keep_autostash()?;
                    if self.must(&["rebase", "--abort"]).is_err() {
                        self.must(&["rebase", "--quit"])?;
                    }
                }
                Operation::Am => self.must(&["am", "--quit"])?,
                Operation::CherryPick => self.must(&["cherry-pick", "--quit"])?,
                Operation::Revert => self.must(&["revert", "--quit"])?,
                Operation::Bisect => bisecting = true,
            }
        }
        self.must(&["reset", "--hard", "--quiet"])?;
        // This one moves HEAD, for which the tree has to be clean.
        if bisecting { self.must(&["bisect", "reset"]) } else { Ok(()) }
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
