//! `merge release`: give the reservation back.

use super::desk::Desk;
use super::findings::merge_findings;
use crate::commands::Answer;
use crate::context::{Context, task_id};
use crate::domain::failure::Failure;
use crate::domain::merge::verdict::{MergeReleased, MergeVerdict};
use crate::domain::task_id::TaskId;

/// Arguments of `merge release`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The task that holds it
    #[arg(value_name = "TASK", value_parser = task_id)]
    pub task: TaskId,
}

/// Runs `merge release`.
///
/// # Errors
/// What kept it from deciding or from changing anything.
pub fn run(context: &Context, args: &Args) -> Result<Answer, Failure> {
    let desk = Desk::open(context);
    let reservation = match desk.holding(&args.task)? {
        Ok(reservation) => reservation,
        Err(refusal) => return Ok(Answer::of(vec![refusal.into()])),
    };
    // Before others get their turn: afterwards the shared root is theirs to change.
    let findings = merge_findings(context, &reservation);
    let verdict = match desk.give_back(&args.task, Some(&reservation.id))? {
        Err(refusal) => refusal,
        Ok(reservation) => {
            MergeVerdict::Released(MergeReleased { task: reservation.task, id: reservation.id, findings })
        }
    };
    Ok(Answer::of(vec![verdict.into()]))
}
