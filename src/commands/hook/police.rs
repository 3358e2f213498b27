//! What the hooks run: whether a commit may go on, as far as the two locks are concerned. Silence is
//! consent; what cannot be found out never stops work that has nothing to do with a lock.

use std::time::Duration;

use crate::commands::locks::{self, Store};
use crate::commands::merge::run::MARK;
use crate::commands::{Answer, explain};
use crate::context::{Context, duration_setting};
use crate::domain::failure::{Failure, FailureKind};
use crate::domain::hook::HookVerdict;
use crate::domain::liveness;
use crate::domain::lock::Found;
use crate::domain::merge::rules::Seen;
use crate::domain::rules::{self, Ruling};
use crate::domain::task_branch::{names_task, numbered_tasks};
use crate::domain::task_guard::{self, Enforced, Judgement, Knowledge};
use crate::domain::task_id::TaskId;
use crate::owner;
use crate::store::mutex::{self, Mutex};
use crate::store::{Snapshot, StoreError, tree};
use crate::sys::git::worktree::MergeRoot;

/// How old the last known state of the lock branch may be before a commit asks for a newer one.
const MAX_AGE: &str = "aitask-lock.hookMaxAge";
/// The most that a commit waits for a server.
const LONGEST_LOOK: Duration = Duration::from_secs(10);

/// Judges a commit: by the merge reservation in the shared root, and by the task's lock on a task's branch.
///
/// # Errors
/// The merge mutex cannot be read, or a setting makes no sense.
pub fn run(context: &Context, name: &str, tasks: Enforced) -> Result<Answer, Failure> {
    let refused = by_reservation(context, name)?;
    match refused {
        Some(refused) => Ok(Answer::of(vec![refused.into()])),
        None if tasks == Enforced::Off => Ok(Answer::of(Vec::new())),
        None => by_task_lock(context, tasks),
    }
}

fn by_reservation(context: &Context, name: &str) -> Result<Option<HookVerdict>, Failure> {
    // Without a shared root nothing merges anywhere.
    let Ok(root) = MergeRoot::find(&context.repo, context.deadline()) else { return Ok(None) };
    if !root.is_of(&context.repo) {
        return Ok(None);
    }
    let look = Mutex::new(&context.repo.common_dir).look().map_err(|error| {
        Failure::new(FailureKind::Unreadable, format!("nothing can be said of the merge mutex: {error}"))
            .hint("git aitask-lock merge status")
    })?;
    let session = context.session().session;
    if let Seen::Taken(reservation) = &look.seen
        // Our own merge runs under it.
        && (std::env::var(MARK).is_ok_and(|mark| mark == reservation.id)
            || liveness::same_session(&reservation.anchor, &session.anchor(), &session.here))
    {
        return Ok(None);
    }
    let holder = look.seen.holder(mutex::liveness(&look.seen, &session.here));
    Ok(holder.map(|holder| HookVerdict::CommitRefused {
        of_merge: name == "pre-merge-commit",
        holder: Box::new(holder),
    }))
}

/// What is known of the lock branch, and how well.
struct Known {
    snapshot: Option<Snapshot>,
    how: Knowledge,
    warnings: Vec<String>,
}

fn by_task_lock(context: &Context, enforced: Enforced) -> Result<Answer, Failure> {
    let passed = Answer::of(Vec::new());
    let Some(branch) = context.repo.branch_at_work() else { return Ok(passed) };
    let session = context.session().session;
    let owner = context.owner(None)?;
    let (name, email) = owner::committer(&context.repo, &owner);
    let mut store = Store::open(context, (&name, &email))?;
    let Known { snapshot, how, mut warnings } = look(context, &mut store)?;
    let mut tasks = numbered_tasks(&branch);
    let entries = snapshot.as_ref().map(Snapshot::entries).unwrap_or_default();
    for entry in entries.iter().filter(|entry| names_task(&branch, &entry.task)) {
        if !tasks.contains(&entry.task) {
            tasks.push(entry.task.clone());
        }
    }
    let found = snapshot.map_or_else(Vec::new, |snapshot| {
        locks::of_tasks(store.as_dyn().objects(), &snapshot, &tasks, &session.here)
    });
    let anchor = session.anchor();
    for task in tasks {
        let locks: Vec<&Found> = found.iter().filter(|lock| lock.task == task).collect();
        let rulings = locks.iter().map(|lock| {
            (rules::decide(lock.holder(&owner, &anchor, &session.here)), Some(lock.liveness), Some(*lock))
        });
        let free = locks.is_empty().then_some((Ruling::Claim, None, None));
        for (ruling, alive, lock) in rulings.chain(free) {
            match task_guard::judge(enforced, ruling, alive, how) {
                Judgement::Pass => {}
                Judgement::Warn => warnings.push(warned(&task, ruling)),
                Judgement::Refuse => {
                    let holder = lock.map(|lock| Box::new(lock.view(Some(&owner), &anchor, &session.here)));
                    let refused = HookVerdict::TaskCommitRefused { task, branch, holder };
                    return Ok(Answer::of(vec![refused.into()]).warn(warnings));
                }
            }
        }
    }
    Ok(passed.warn(warnings))
}

fn warned(task: &TaskId, ruling: Ruling) -> String {
    let what = match ruling {
        Ruling::Claim => "is not claimed by this session, as far as is known here",
        Ruling::ReclaimCrash => "is locked by a session of yours that is gone",
        Ruling::ReclaimAnomaly => "is locked by you, but the lock names no session",
        _ => "may be locked by another session",
    };
    format!("task {task} {what}: git aitask-lock claim {task}")
}

/// Looks at the lock branch: without a connection where what was seen last is young enough.
fn look(context: &Context, store: &mut Store<'_>) -> Result<Known, Failure> {
    let most = duration_setting(&context.repo, MAX_AGE, Duration::from_secs(300))?;
    if store.age_of_last_known().is_some_and(|age| age < most) {
        let snapshot = last_known(store).map_err(|error| explain::store_error(context, &error, &[]))?;
        return Ok(Known { snapshot, how: Knowledge::Fresh, warnings: Vec::new() });
    }
    context.limit_deadline(LONGEST_LOOK);
    let why = match store.read() {
        Ok(snapshot) => {
            store.remember_the_look();
            return Ok(Known { snapshot: Some(snapshot), how: Knowledge::Fresh, warnings: Vec::new() });
        }
        Err(StoreError::BranchMissing { deleted: false }) => {
            return Ok(Known { snapshot: None, how: Knowledge::Fresh, warnings: Vec::new() });
        }
        Err(why) => explain::store_error(context, &why, &[]),
    };
    let warnings =
        vec![format!("this commit is judged by what was seen last of the task locks: {}", why.message)];
    // What cannot be read even here stops nobody's work.
    let snapshot = last_known(store).unwrap_or_default();
    Ok(Known { snapshot, how: Knowledge::Old, warnings })
}

/// What this clone knows, without waiting for anybody.
fn last_known(store: &mut Store<'_>) -> Result<Option<Snapshot>, StoreError> {
    let Some(tip) = store.last_known()? else { return Ok(None) };
    let base = tree::Base::read(store.as_dyn().objects(), tip)?;
    Ok(Some(Snapshot { base: Some(base), lease: None, current: false }))
}
