//! What is said of a guard that an earlier reclaim or recovery left.

use super::desk::{Desk, some, unreadable};
use crate::domain::failure::Failure;
use crate::domain::merge::verdict::MergeVerdict;
use crate::domain::verdict::Verdict;
use crate::sys::{files, shell};

/// What is said where it was taken down.
pub const TAKEN_DOWN: &str =
    "an earlier reclaim or recovery was killed; nobody is behind its guard any more, so it was taken down";

/// A guard that was left behind, as it is shown.
pub struct LeftGuard {
    /// Its path, as a word of a shell command.
    pub shown: String,
    /// The command that takes it away; none where the next command that takes the mutex's lock does so.
    pub remedy: Option<String>,
}

impl Desk<'_> {
    /// A guard that was left behind, seen without the lock.
    ///
    /// # Errors
    /// It cannot be looked for.
    pub fn left_guard(&self) -> Result<Option<LeftGuard>, Failure> {
        let found = self.mutex.leaked_guard().map_err(|error| unreadable(&error))?;
        Ok(found.map(|path| LeftGuard {
            shown: shell::quote(&path),
            remedy: (!self.mutex.heals(self.here())).then(|| self.mutex.remove_guard()),
        }))
    }

    /// Why a guard is moved aside and not removed: it is no empty folder.
    #[must_use]
    pub fn guard_way_out(&self) -> Option<String> {
        let what = match files::entries(&self.mutex.guard_path()) {
            Ok(names) if names.is_empty() => return None,
            Ok(names) => format!("is not empty, and {} in it is not ours", some(&names)),
            Err(_) => "is no folder".to_owned(),
        };
        Some(format!("the guard {what}: it is moved aside"))
    }

    /// The same, where a refusal names the guard.
    #[must_use]
    pub fn guard_note(&self, verdict: &Verdict) -> Option<String> {
        let Verdict::Merge(verdict) = verdict else { return None };
        match verdict.as_ref() {
            MergeVerdict::Busy(busy) if busy.guard.is_some() => self.guard_way_out(),
            _ => None,
        }
    }
}
