//! `list`: all locks.

use std::time::Duration;

use super::locks::{self, Store};
use super::{Answer, explain};
use crate::context::{self, Context, Layout};
use crate::domain::failure::Failure;
use crate::domain::lock::State;
use crate::domain::verdict::Verdict;
use crate::owner;

/// Arguments of `list`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Only what this session holds
    #[arg(long)]
    pub mine: bool,
    /// Only locks whose session is provably gone
    #[arg(long, conflicts_with = "mine")]
    pub gone: bool,
    /// Show the list again and again, in place; q ends it
    #[arg(short, long, conflicts_with_all = ["json", "porcelain"])]
    pub watch: bool,
    /// Time between two looks of --watch: at least 2s
    #[arg(long, value_name = "DURATION", value_parser = interval, default_value = "5s", requires = "watch")]
    pub interval: Duration,
}

fn interval(text: &str) -> Result<Duration, String> {
    let interval = context::duration(text)?;
    // Each look is a connection to a server that others use as well.
    if interval < Duration::from_secs(2) { Err("at least 2s".to_owned()) } else { Ok(interval) }
}

/// Runs `list`.
///
/// # Errors
/// The branch cannot be read: that is never an empty list.
pub fn run(context: &Context, args: &Args) -> Result<Answer, Failure> {
    let locks = read(context, args)?;
    let none = match (args.mine, args.gone) {
        (true, _) => "This session holds no locks.",
        (false, true) => "No lock's session is provably gone.",
        (false, false) => "No task is locked.",
    };
    Ok(Answer::with_exit(locks, 0).laid_out(Layout::Table { none: none.to_owned() }))
}

/// The locks that are wanted, sorted as people count.
///
/// # Errors
/// The branch cannot be read.
pub fn read(context: &Context, args: &Args) -> Result<Vec<Verdict>, Failure> {
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
    Ok(wanted.map(Verdict::Locked).collect())
}
