//! `merge`: the mutex for end-of-task merges in the shared repository root.

use super::Answer;
use crate::context::Context;
use crate::domain::failure::Failure;

pub mod abort;
pub mod again;
pub mod begin;
pub mod claim;
pub mod cleanup;
pub mod desk;
pub mod findings;
pub mod force_release;
pub mod foreseen;
pub mod guard;
pub mod into;
pub mod parked;
pub mod recovery;
pub mod release;
pub mod root;
pub mod run;
pub mod settle;
pub mod status;
pub mod task_lock;
pub mod verify;
pub mod wait;

/// Arguments of `merge`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// What is asked of the mutex.
    #[command(subcommand)]
    pub command: MergeCommand,
}

/// What can be asked of the mutex.
#[derive(clap::Subcommand, Debug)]
pub enum MergeCommand {
    /// Take the reservation for a task's merge, or queue for it
    Claim(claim::Args),
    /// Merge a task's branch under the reservation
    Run(run::Args),
    /// Take the reservation and merge, in one go
    Begin(begin::Args),
    /// Undo an unfinished merge, then give the reservation back
    Abort(abort::Args),
    /// Remove the merged branch of a task, and its worktree
    Cleanup(cleanup::Args),
    /// Give the reservation back
    #[command(visible_alias = "finish")]
    Release(release::Args),
    /// Say who has the reservation, and who waits for it
    Status,
    /// Free a reservation whose session is gone; without --yes only say what that would do
    ForceRelease(force_release::Args),
}

/// Runs `merge`.
///
/// # Errors
/// What kept it from deciding or from changing anything.
pub fn run(context: &Context, args: &Args) -> Result<Answer, Failure> {
    desk::index_wait(context)?;
    match &args.command {
        MergeCommand::Claim(args) => {
            task_lock::tell_if_displaced(context, &args.task);
            claim::run(context, args)
        }
        MergeCommand::Run(args) => {
            task_lock::tell_if_displaced(context, &args.task);
            run::run(context, args)
        }
        MergeCommand::Begin(args) => {
            task_lock::tell_if_displaced(context, &args.task);
            begin::run(context, args)
        }
        MergeCommand::Abort(args) => abort::run(context, args),
        MergeCommand::Cleanup(args) => cleanup::run(context, args),
        MergeCommand::Release(args) => release::run(context, args),
        MergeCommand::Status => status::run(context),
        MergeCommand::ForceRelease(args) => force_release::run(context, args),
    }
}
