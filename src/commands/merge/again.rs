//! The command that was refused, as its refusal prints it: with all that was typed.

use std::ffi::OsString;
use std::path::Path;

use super::root::{into, quoted};
use crate::domain::merge::verdict::MergeVerdict;
use crate::domain::task_id::TaskId;
use crate::domain::verdict::Verdict;
use crate::sys::shell;

/// A command that asks for a merge, to be given again.
#[derive(Clone, Copy, Debug)]
pub struct Again<'a> {
    /// `claim`, `begin` or `run`.
    pub verb: &'static str,
    /// The task.
    pub task: &'a TaskId,
    /// The branch to merge, as it was typed.
    pub branch: Option<&'a str>,
    /// The branch to merge into, as it was typed.
    pub into: Option<&'a str>,
    /// `--verify`, which goes with `begin`.
    pub verify: Option<&'a str>,
    /// Options for git merge.
    pub options: &'a [OsString],
}

impl Again<'_> {
    /// The whole command; `wait` is how long it waits for its turn.
    #[must_use]
    pub fn command(&self, wait: Option<&str>) -> String {
        let into = self.into.map(quoted);
        self.composed(self.verb, self.branch.map(quoted), into.as_deref(), wait, None)
    }

    /// The same into a branch that is named: `begin` where a merge was to be run.
    #[must_use]
    pub fn into_branch(&self, into: &str) -> String {
        let verb = if self.verb == "run" { "begin" } else { self.verb };
        self.composed(verb, self.branch.map(quoted), Some(&quoted(into)), None, None)
    }

    /// Makes refusals among the outcomes name it; `kept` is whether there is still a reservation.
    pub fn name_in_all(&self, verdicts: &mut [Verdict], kept: bool) {
        for verdict in verdicts {
            if let Verdict::Merge(verdict) = verdict {
                self.name_in(verdict, kept);
            }
        }
    }

    /// Makes one outcome name it.
    pub fn name_in(&self, verdict: &mut MergeVerdict, kept: bool) {
        if let MergeVerdict::MergeFailed(failed) = verdict {
            failed.again = self.composed("run", self.branch.map(quoted), None, None, None);
        }
        let (MergeVerdict::DirtyTree(refusal)
        | MergeVerdict::PreflightMissing(refusal)
        | MergeVerdict::PreflightForeignWorktree(refusal)
        | MergeVerdict::PreflightCheckoutFailed(refusal)
        | MergeVerdict::PreflightHeadMismatch(refusal)
        | MergeVerdict::UnsafeOutputBranch(refusal)) = verdict
        else {
            return;
        };
        refusal.kept = kept;
        if !kept {
            let release = format!("git aitask-lock merge release {}", self.task);
            refusal.hints.retain(|hint| *hint != release);
        }
        let run = format!("git aitask-lock merge run {}", self.task);
        let asks_where = into(self.task);
        for hint in &mut refusal.hints {
            if let Some((words, rest)) = hint.split_once(&run) {
                *hint = format!("{words}{}", self.repeated(rest, kept));
            } else if let Some(words) = hint.strip_suffix(&asks_where) {
                let verb = if self.verb == "run" { "begin" } else { self.verb };
                let branch = self.branch.map(quoted);
                *hint = format!("{words}{}", self.composed(verb, branch, Some("'<branch>'"), None, None));
            }
        }
    }

    /// A printed `merge run` as this command; `rest` is what the hint has behind the task.
    fn repeated(&self, rest: &str, kept: bool) -> String {
        let (branch, more) =
            rest.split_once(" -- ").map_or((rest, None), |(branch, more)| (branch, Some(more)));
        let branch = if branch.is_empty() { self.branch.map(quoted) } else { Some(branch.trim().to_owned()) };
        // Under a reservation the branch to merge into is settled.
        let (verb, into) = if kept { ("run", None) } else { ("begin", self.into.map(quoted)) };
        self.composed(verb, branch, into.as_deref(), None, more)
    }

    fn composed(
        &self,
        verb: &str,
        branch: Option<String>,
        into: Option<&str>,
        wait: Option<&str>,
        more: Option<&str>,
    ) -> String {
        let mut command = format!("git aitask-lock merge {verb} {}", self.task);
        if let Some(branch) = branch {
            command.extend([" ", &branch]);
        }
        for (option, value) in [("--into", into), ("--wait", wait)] {
            if let Some(value) = value {
                command.extend([" ", option, " ", value]);
            }
        }
        if let Some(line) = self.verify.filter(|_| verb == "begin") {
            command.extend([" --verify ", &shell::quote(Path::new(line))]);
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
        let plain = Again { verb: "run", task: &task, branch: None, into: None, verify: None, options: &[] };
        let whole =
            Again { verb: "begin", branch: Some("a b"), into: Some("main"), options: &options, ..plain };
        for (again, kept, rest, command) in [
            (plain, true, "", "merge run 42"),
            (plain, true, " '<branch>'", "merge run 42 '<branch>'"),
            (whole, true, "", "merge run 42 'a b' -- -X \"it's\""),
            (whole, false, " t42", "merge begin 42 t42 --into main -- -X \"it's\""),
            (whole, false, " -- --later", "merge begin 42 'a b' --into main -- -X \"it's\" --later"),
        ] {
            assert_eq!(again.repeated(rest, kept), format!("git aitask-lock {command}"), "{rest}");
        }
        let waits = whole.command(Some("5m"));
        assert_eq!(waits, "git aitask-lock merge begin 42 'a b' --into main --wait 5m -- -X \"it's\"");
    }
}
