//! `cleanup`: remove the locks of archived tasks and of lost sessions.

use super::locks::{self, Store};
use super::{Answer, explain};
use crate::context::Context;
use crate::domain::cleanup::{self, Sweep};
use crate::domain::failure::{Failure, FailureKind};
use crate::domain::plan::Asker;
use crate::owner;
use crate::store::attempt::{self, Budget, Outcome};
use crate::sys::{clock, files};

/// Arguments of `cleanup`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Also remove your locks whose session is provably gone
    #[arg(long)]
    pub gone: bool,
    /// Only say what would be removed
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}

/// Runs `cleanup`.
///
/// # Errors
/// The branch cannot be read or changed, or the archive cannot be read.
pub fn run(context: &Context, args: &Args) -> Result<Answer, Failure> {
    let names = match context.archived_dir() {
        None => Vec::new(),
        Some(folder) => files::names_below(&folder, 2)
            .map_err(|error| Failure::new(FailureKind::Fatal, error.to_string()))?,
    };
    let archived = names.iter().filter_map(|name| cleanup::archived_task(name)).collect();
    let sweep = Sweep { archived, gone: args.gone, dry_run: args.dry_run };
    let owner = context.owner(None)?;
    let asker = Asker {
        owner: owner.clone(),
        session: context.session().session,
        now: clock::now(),
        refresh_interval: context.refresh_interval()?,
        lock_ids: Vec::new(),
    };
    let (name, email) = owner::committer(&context.repo, &owner);
    let mut store = Store::open(context, (&name, &email))?;
    let budget = Budget { deadline: context.deadline(), name: name.clone(), email: email.clone() };
    let outcome = attempt::update(store.as_dyn(), &budget, &mut |objects, snapshot| {
        locks::branch_exists(snapshot, false)?;
        let locks = locks::all(objects, snapshot, &asker.session.here);
        Ok(cleanup::decide(&sweep, &asker, &locks))
    });
    match outcome {
        Ok(Outcome::Done(verdicts)) => {
            let nothing = verdicts.is_empty().then(|| "there is nothing to clean up".to_owned());
            Ok(Answer::of(verdicts).note(nothing))
        }
        Ok(Outcome::Ask(_)) => Ok(Answer::of(Vec::new())),
        Ok(Outcome::Exhausted { tries, last }) => Err(explain::exhausted(context, tries, last.as_ref())),
        Err(error) => Err(explain::store_error(context, &error, &[])),
    }
}
