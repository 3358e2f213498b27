//! Brings a worktree back to a clean state. Whoever calls this has saved the work first.

use super::{Git, GitFailure, Hooks};
use crate::domain::merge::residue::Operation;

impl Git {
    /// `git merge --abort`: the state before the merge comes back.
    ///
    /// # Errors
    /// git would not; look at the residue for what stands there now.
    pub fn abort_merge(&self) -> Result<(), GitFailure> {
        self.must(&["merge", "--abort"])
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

    fn must(&self, args: &[&str]) -> Result<(), GitFailure> {
        let answer = self.run(Hooks::Off, args)?;
        if answer.ok() {
            Ok(())
        } else {
            Err(GitFailure::of_exit(&args.join(" "), answer.code, &answer.stderr))
        }
    }
}
