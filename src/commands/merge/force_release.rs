//! `merge force-release`: look first, then free a reservation whose session is gone.

use super::desk::{Desk, git_failure};
use super::recovery::{self, Order};
use super::status;
use crate::commands::Answer;
use crate::context::Context;
use crate::domain::failure::{Failure, FailureKind};
use crate::domain::liveness::Liveness;
use crate::domain::merge::residue::{self, Remedy};
use crate::domain::merge::rules::Seen;
use crate::domain::merge::verdict::{DryRun, MergeVerdict};
use crate::sys::shell;

/// Arguments of `merge force-release`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Undo the merge that is under way, with git merge --abort
    #[arg(long, conflicts_with = "reset_hard")]
    pub abort_merge: bool,
    /// Put the tracked files back to HEAD, with git reset --hard
    #[arg(long)]
    pub reset_hard: bool,
    /// Refuse unless everything still is as the dry run found it; goes with --yes
    #[arg(long, value_name = "TOKEN")]
    pub expect: Option<String>,
}

impl Args {
    fn remedy(&self) -> Remedy {
        match (self.abort_merge, self.reset_hard) {
            (true, _) => Remedy::AbortMerge,
            (false, true) => Remedy::ResetHard,
            (false, false) => Remedy::None,
        }
    }
}

/// Runs `merge force-release`.
///
/// # Errors
/// What kept it from deciding or from changing anything.
pub fn run(context: &Context, args: &Args) -> Result<Answer, Failure> {
    let desk = Desk::open(context);
    match (&args.expect, context.global.yes) {
        (None, false) => look(&desk),
        (Some(expect), true) => {
            let order = Order { expect, remedy: args.remedy() };
            let verdict = recovery::carry_out(&desk, &order)?;
            Ok(Answer::of(vec![verdict.into()]).warn(desk.remarks()))
        }
        (Some(_), false) => Err(usage("--expect goes with --yes", &desk)),
        (None, true) => Err(usage("--yes goes with --expect and the token of a dry run", &desk)),
    }
}

fn usage(what: &str, desk: &Desk<'_>) -> Failure {
    Failure::new(FailureKind::Usage, format!("{what}; nothing was changed"))
        .hint(format!("a dry run prints the whole command: {}", desk.command("force-release")))
}

/// The dry run. It takes no lock, changes nothing, and works on a read-only disk.
fn look(desk: &Desk<'_>) -> Result<Answer, Failure> {
    let (look, live) = desk.look()?;
    if look.seen == Seen::Free {
        return status::answer(desk);
    }
    let root = recovery::root(desk)?;
    let residue = root.git.residue().map_err(|error| git_failure(&error))?;
    let remedy = residue::remedy_for(&residue);
    let token = recovery::token(&look, &residue)?;
    let (guard, remove_guard) = desk.left_guard()?.map(|left| (left.shown, left.remedy)).unzip();
    let remove_guard: Option<String> = remove_guard.flatten();
    let mut commands: Vec<String> = remove_guard.clone().into_iter().collect();
    let back = match &look.seen {
        Seen::Taken(reservation) => {
            let head = root.git.head_branch().map_err(|error| git_failure(&error))?;
            recovery::would_go_back(&root, reservation, head.as_deref())
        }
        Seen::Free | Seen::Unreadable(_) => None,
    };
    let (back_to, ways) = back.unzip();
    if live == Liveness::Alive {
        // It would be refused.
        commands.clear();
    } else {
        if residue.index_locked {
            // Whether a git command still runs there is for people to see.
            commands.push(format!("rm {}", shell::quote(&root.git.git_dir().join("index.lock"))));
        }
        commands.extend(ways.unwrap_or_default());
        commands.push(recovery::armed(desk, remedy, &token));
    }
    let dry = DryRun {
        token,
        remedy,
        holder: look.seen.holder(live),
        root: shell::quote(&root.path),
        residue,
        back_to,
        guard,
        remove_guard,
        commands,
    };
    Ok(Answer::of(vec![MergeVerdict::DryRun(dry).into()]))
}
