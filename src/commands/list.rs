//! `list`: all locks.

use super::locks::{self, Store};
use super::{Answer, explain};
use crate::context::Context;
use crate::domain::failure::Failure;
use crate::domain::lock::State;
use crate::domain::verdict::Verdict;
use crate::owner;

/// Arguments of `list`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Only what this session holds
    #[arg(long)]
    pub mine: bool,
    /// Only locks whose session is provably gone
    #[arg(long, conflicts_with = "mine")]
    pub gone: bool,
}

/// Runs `list`.
///
/// # Errors
/// The branch cannot be read: that is never an empty list.
pub fn run(context: &Context, args: &Args) -> Result<Answer, Failure> {
    let session = context.session().session;
    let asker = context.owner(None).ok();
    let (name, email) = owner::committer(&context.repo, asker.as_deref().unwrap_or("nobody"));
    let mut store = Store::open(context, (&name, &email))?;
    let snapshot = store.read().map_err(|error| explain::store_error(context, &error, &[]))?;
    let anchor = session.anchor();
    let locks = locks::all(store.as_dyn().objects(), &snapshot, &session.here);
    let views = locks.iter().map(|lock| lock.view(asker.as_deref(), &anchor, &session.here));
    let wanted = views.filter(|view| match (args.mine, args.gone) {
        (true, _) => view.state == State::Mine,
        (false, true) => view.state == State::Gone,
        (false, false) => true,
    });
    Ok(Answer::with_exit(wanted.map(Verdict::Locked).collect(), 0))
}
