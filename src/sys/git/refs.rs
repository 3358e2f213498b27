//! References through git itself: for repositories that keep them as reftables.

use super::{Answer, Git, GitFailure, Hooks};

impl Git {
    /// What a full reference name resolves to; `None` when there is no such reference.
    ///
    /// # Errors
    /// git failed for another reason.
    pub fn resolve_ref(&self, name: &str) -> Result<Option<String>, GitFailure> {
        let args = ["for-each-ref", "--format=%(objectname) %(refname)", name];
        let answer = self.run(Hooks::Off, &args)?;
        if !answer.ok() {
            return Err(GitFailure::of_exit("for-each-ref", answer.code, &answer.stderr));
        }
        let listing = answer.line();
        // A pattern also matches names below it.
        Ok(listing.lines().find_map(|line| {
            let (id, found) = line.split_once(' ')?;
            (found == name).then(|| id.to_owned())
        }))
    }

    /// The names of the local branches.
    ///
    /// # Errors
    /// git failed.
    pub fn local_branches(&self) -> Result<Vec<String>, GitFailure> {
        let args = ["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/"];
        let answer = self.run(Hooks::Off, &args)?;
        if !answer.ok() {
            return Err(GitFailure::of_exit("for-each-ref", answer.code, &answer.stderr));
        }
        Ok(answer.line().lines().map(str::to_owned).collect())
    }

    /// Removes a reference, whatever it names; one that is not there is no failure.
    ///
    /// # Errors
    /// It is still there.
    pub fn drop_ref(&self, name: &str) -> Result<(), GitFailure> {
        let answer = self.run(Hooks::Off, &["update-ref", "--no-deref", "-d", name])?;
        if answer.ok() { Ok(()) } else { Err(GitFailure::of_exit("update-ref", answer.code, &answer.stderr)) }
    }

    /// Moves a reference from `old` (none: it must not exist) to `new`.
    ///
    /// # Errors
    /// It was not moved: the caller has to look why.
    pub fn swap_ref(&self, name: &str, old: Option<&str>, new: &str, log: &str) -> Result<(), GitFailure> {
        let line = match old {
            None => format!("create {name}\0{new}\0"),
            Some(old) => format!("update {name}\0{new}\0{old}\0"),
        };
        let args = ["update-ref", "-m", log, "-z", "--stdin"];
        let Answer { code, stderr, .. } = self.run_with(Hooks::Off, &args, &[], Some(line.into_bytes()))?;
        if code == 0 { Ok(()) } else { Err(GitFailure::of_exit("update-ref", code, &stderr)) }
    }
}
