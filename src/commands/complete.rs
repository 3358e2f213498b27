//! `__complete`: what a completion script asks at every TAB. Answers from the last known state, without
//! any connection, within milliseconds; whatever goes wrong, there is just nothing to offer.
//!
//! One line for each candidate, with a description behind a tab; `:files` and `:dirs` hand over to
//! the shell.

use std::collections::BTreeSet;
use std::ffi::OsString;

use clap::CommandFactory as _;

use self::place::{Offer, Place, Value};
use super::locks::Store;
use super::{Answer, Cli};
use crate::context::{Context, GlobalArgs};
use crate::domain::task_id::TaskId;
use crate::domain::verdict::Verdict;
use crate::store::tree;

pub mod place;

/// Arguments of `__complete`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The words after the program's name, up to the cursor; the last one is being typed
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "WORD")]
    pub words: Vec<OsString>,
}

/// Runs `__complete`.
#[must_use]
pub fn run(global: &GlobalArgs, args: &Args) -> Answer {
    let words: Vec<String> = args.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let mut cli = Cli::command();
    cli.build();
    let place = Place::of(&cli, &words);
    let mut lines = Vec::new();
    for offer in place.offers() {
        match offer {
            Offer::Word { word, about } => lines.push(format!("{word}\t{about}")),
            Offer::Value { value, before } => {
                let found = values(global, &place, value);
                let fits = found.into_iter().filter(|(word, _)| word.starts_with(&place.typed_value()));
                lines.extend(fits.map(|(word, about)| format!("{before}{word}\t{about}")));
            }
            Offer::Files => lines.push(":files".to_owned()),
            Offer::Folders => lines.push(":dirs".to_owned()),
        }
    }
    let text = lines.into_iter().map(|line| line.trim_end().to_owned() + "\n").collect();
    Answer::with_exit(vec![Verdict::Text { text }], 0)
}

/// What the repository has to offer.
fn values(global: &GlobalArgs, place: &Place<'_>, value: Value) -> Vec<(String, String)> {
    let mut global = global.clone();
    if let Some(directory) = place.option_value("-C") {
        global.directory = Some(directory.into());
    }
    if let Some(remote) = place.option_value("--remote") {
        global.remote = Some(remote);
    }
    let Ok(context) = Context::open(&global) else { return Vec::new() };
    match value {
        Value::HeldTask => held(&context, place).unwrap_or_default(),
        Value::LockId => lock_ids(&context, place).unwrap_or_default(),
        Value::Branch => branches(&context),
        Value::Remote => {
            let named = context.repo.config_subsections("remote").into_iter();
            named.map(|name| (name, String::new())).filter(|(name, _)| harmless(name)).collect()
        }
    }
}

/// The lock files that this clone knows of.
fn entries(store: &mut Store<'_>) -> Option<Vec<tree::Entry>> {
    let tip = store.last_known().ok()??;
    tree::entries(store.as_dyn().objects(), tip).ok()
}

/// Tasks that are held and not named yet.
fn held(context: &Context, place: &Place<'_>) -> Option<Vec<(String, String)>> {
    let mut store = Store::open(context, ("aitask-lock", "aitask-lock")).ok()?;
    let named: BTreeSet<TaskId> = place.words().iter().filter_map(|word| TaskId::parse(word).ok()).collect();
    let entries = entries(&mut store)?;
    let mut tasks: Vec<&TaskId> = entries.iter().map(|entry| &entry.task).collect();
    tasks.sort_by_key(|task| task.sort_key());
    tasks.dedup();
    let left = tasks.into_iter().filter(|task| !named.contains(task));
    Some(left.map(|task| (task.to_string(), String::new())).collect())
}

/// The IDs of the locks of the tasks that are named.
fn lock_ids(context: &Context, place: &Place<'_>) -> Option<Vec<(String, String)>> {
    let mut store = Store::open(context, ("aitask-lock", "aitask-lock")).ok()?;
    let tip = store.last_known().ok()??;
    let here = context.session().session.here;
    let named: Vec<TaskId> = place.words().iter().filter_map(|word| TaskId::parse(word).ok()).collect();
    let base = tree::Base::read(store.as_dyn().objects(), tip).ok()?;
    let snapshot = crate::store::Snapshot { base: Some(base), lease: None, current: false };
    let locks = super::locks::of_tasks(store.as_dyn().objects(), &snapshot, &named, &here);
    Some(locks.into_iter().map(|lock| (lock.lock_id, format!("task {}", lock.task))).collect())
}

/// Local branches, except for the lock branch.
fn branches(context: &Context) -> Vec<(String, String)> {
    let names: Vec<String> = if context.repo.reftable {
        context.git().local_branches().unwrap_or_default()
    } else {
        let Ok(references) = context.repo.gix.references() else { return Vec::new() };
        let Ok(local) = references.local_branches() else { return Vec::new() };
        local.filter_map(Result::ok).map(|branch| branch.name().shorten().to_string()).collect()
    };
    let offered = names.into_iter().filter(|name| name != context.branch_name() && harmless(name));
    offered.map(|name| (name, String::new())).collect()
}

/// Whether a name of others can be put on a command line as it is. The shells' scripts insert
/// candidates without looking: what would have to be quoted is not offered.
fn harmless(name: &str) -> bool {
    name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '+' | '@' | '='))
        && !name.starts_with('-')
}
