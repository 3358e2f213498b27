//! The command that was refused, as its refusal prints it: with all that was typed.

use std::ffi::OsString;
use std::path::Path;

use super::root::{into, quoted};
use crate::domain::merge::verdict::{MergeVerdict, Refusal};
use crate::domain::task_id::TaskId;
use crate::domain::verdict::Verdict;
use crate::sys::shell;

/// A `merge run` or `merge begin` to be given again.
#[derive(Clone, Copy, Debug)]
pub struct Again<'a> {
    /// Whether the reservation that was taken for the merge is given back, because it was refused.
    pub given_back: bool,
    /// The task.
    pub task: &'a TaskId,
    /// The branch to merge, as it was typed.
    pub branch: Option<&'a str>,
    /// The branch to merge into, as it was typed.
    pub into: Option<&'a str>,
    /// Options for git merge.
    pub options: &'a [OsString],
}

impl Again<'_> {
    /// Makes refusals among the outcomes name it.
    pub fn name_in_all(&self, verdicts: &mut [Verdict]) {
        for verdict in verdicts {
            if let Verdict::Merge(verdict) = verdict {
                self.name_in(verdict);
            }
        }
    }

    /// Makes a refusal name it, and say whether there is still a reservation.
    pub fn name_in(&self, verdict: &mut MergeVerdict) {
        let (MergeVerdict::DirtyTree(refusal)
        | MergeVerdict::PreflightMissing(refusal)
        | MergeVerdict::PreflightForeignWorktree(refusal)
        | MergeVerdict::PreflightCheckoutFailed(refusal)
        | MergeVerdict::PreflightHeadMismatch(refusal)
        | MergeVerdict::UnsafeOutputBranch(refusal)) = verdict
        else {
            return;
        };
        if self.given_back {
            refusal.kept = false;
            let release = format!("git aitask-lock merge release {}", self.task);
            refusal.hints.retain(|hint| *hint != release);
        }
        self.repeat(refusal);
    }

    fn repeat(&self, refusal: &mut Refusal) {
        let run = format!("git aitask-lock merge run {}", self.task);
        let asks_where = into(self.task);
        for hint in &mut refusal.hints {
            if let Some((words, rest)) = hint.split_once(&run) {
                *hint = format!("{words}{}", self.repeated(rest));
            } else if let (true, Some(branch)) = (hint.ends_with(&asks_where), self.branch) {
                *hint = hint.replace(" --into ", &format!(" {} --into ", quoted(branch)));
            }
        }
    }

    /// The whole command; `rest` is what the hint has behind the task.
    fn repeated(&self, rest: &str) -> String {
        let verb = if self.given_back { "begin" } else { "run" };
        let mut command = format!("git aitask-lock merge {verb} {}", self.task);
        let (branch, more) =
            rest.split_once(" -- ").map_or((rest, None), |(branch, more)| (branch, Some(more)));
        if !branch.is_empty() {
            command.push_str(branch);
        } else if let Some(branch) = self.branch {
            command.extend([" ", &quoted(branch)]);
        }
        if let Some(into) = self.into {
            command.extend([" --into ", &quoted(into)]);
        }
        let options = self.options.iter().map(|option| shell::quote(Path::new(option)));
        let options: Vec<String> = options.chain(more.map(str::to_owned)).collect();
        if !options.is_empty() {
            command.extend([" -- ", &options.join(" ")]);
        }
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_is_typed_again() {
        let task = TaskId::parse("42").unwrap();
        let options = ["-X".into(), "it's".into()];
        let plain = Again { given_back: false, task: &task, branch: None, into: None, options: &[] };
        let whole = Again { branch: Some("a b"), into: Some("main"), options: &options, ..plain };
        let given_back = Again { given_back: true, ..whole };
        for (again, rest, command) in [
            (plain, "", "merge run 42"),
            (plain, " '<branch>'", "merge run 42 '<branch>'"),
            (whole, "", "merge run 42 'a b' --into main -- -X \"it's\""),
            (given_back, " t42", "merge begin 42 t42 --into main -- -X \"it's\""),
            (given_back, " -- --later", "merge begin 42 'a b' --into main -- -X \"it's\" --later"),
        ] {
            assert_eq!(again.repeated(rest), format!("git aitask-lock {command}"), "{rest}");
        }
    }
}
