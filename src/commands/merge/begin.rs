//! `merge begin`: `merge claim` and `merge run` in one.

use std::ffi::OsString;
use std::time::Duration;

use super::again::Again;
use super::claim::{self, Ask};
use super::desk::Desk;
use super::run::{self as merge, Ended};
use super::verify;
use crate::commands::Answer;
use crate::context::{Context, duration, task_id};
use crate::domain::failure::Failure;
use crate::domain::merge::branch::full_name;
use crate::domain::merge::verdict::MergeVerdict;
use crate::domain::task_id::TaskId;
use crate::domain::verdict::Verdict;

/// Arguments of `merge begin`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The task
    #[arg(value_name = "TASK", value_parser = task_id)]
    pub task: TaskId,
    /// The branch to merge; default: the one that is named after the task
    #[arg(value_name = "BRANCH")]
    pub branch: Option<String>,
    /// The branch to merge into; by default what aitask-lock.mergeInto or the remote's HEAD names
    #[arg(long, value_name = "BRANCH")]
    pub into: Option<String>,
    /// How long to wait for one's turn, such as 30s; 0 does not queue
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub wait: Option<Duration>,
    /// Run this command in the shared root after the merge; where it fails, undo the merge and release
    #[arg(long, value_name = "COMMAND")]
    pub verify: Option<String>,
    /// Options for git merge
    #[arg(last = true, value_name = "GIT_MERGE_OPTIONS", allow_hyphen_values = true)]
    pub options: Vec<OsString>,
}

/// Runs `merge begin`. What is refused before the merge leaves no reservation that was taken for it.
///
/// # Errors
/// What kept it from deciding or from changing anything.
pub fn run(context: &Context, args: &Args) -> Result<Answer, Failure> {
    merge::check_options(&args.options)?;
    let desk = Desk::open(context);
    let branch = args.branch.as_deref().map(full_name);
    let again = Again {
        verb: "begin",
        task: &args.task,
        branch: args.branch.as_deref(),
        into: args.into.as_deref(),
        verify: args.verify.as_deref(),
        options: &args.options,
    };
    let ask =
        Ask { again, task: &args.task, into: again.into, task_branch: branch.as_deref(), wait: args.wait };
    let claimed = match claim::take(&desk, &ask)? {
        Ok(claimed) => claimed,
        Err(refusal) => {
            let note = desk.guard_note(&refusal);
            return Ok(Answer::of(vec![refusal]).warn(desk.warnings()).note(note));
        }
    };
    // Waiting for one's turn took none of the time for the merge.
    context.restart_deadline();
    let merged = match desk.holding(&args.task)? {
        Ok(reservation) => merge::under(&desk, reservation, args.branch.as_deref(), &args.options),
        Err(refusal) => {
            Ok(Ended { answer: Answer::of(vec![refusal.into()]), refused_before: false, tip_before: None })
        }
    };
    let refused = merged.as_ref().map_or(true, |ended| ended.refused_before);
    let given_back = refused
        && !claimed.again
        && desk.give_back(&args.task, Some(&claimed.id)).is_ok_and(|given| given.is_ok());
    let Ended { mut answer, tip_before, .. } = merged?;
    if let Some(line) = verify::command(&desk, args.verify.as_deref())
        && let [Verdict::Merge(verdict)] = &answer.verdicts[..]
        && let MergeVerdict::MergeOk(merged) = verdict.as_ref()
        && let Some(unverified) = verify::verified(&desk, merged, &tip_before.unwrap_or_default(), &line)?
    {
        answer = Answer::of(vec![unverified.into()]);
    }
    again.name_in_all(&mut answer.verdicts, !given_back);
    Ok(answer.warn(desk.warnings()).note(desk.notes()))
}
