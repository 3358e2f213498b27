//! What happened, why, and the next command: failures of the store in words.

use crate::context::Context;
use crate::domain::failure::{Failure, FailureKind};
use crate::domain::task_id::TaskId;
use crate::store::StoreError;
use crate::sys::git::failure::trust;
use crate::sys::git::{Cause, GitFailure};

/// The budget is used up.
#[must_use]
pub fn exhausted(context: &Context, tries: u32, last: Option<&StoreError>) -> Failure {
    if let Some(StoreError::RefLocked(why)) = last {
        return ref_locked(why);
    }
    let message = format!(
        "the branch {} kept changing: {} until the time budget was used up, so nothing was changed",
        context.branch_name(),
        if tries == 1 { "one try lost".to_owned() } else { format!("{tries} tries lost") },
    );
    Failure::new(FailureKind::RaceExhaustion, message)
        .hint("run it again, with more time if need be (--timeout 2m)")
}

/// A store's error for people.
#[must_use]
pub fn store_error(context: &Context, error: &StoreError, tasks: &[TaskId]) -> Failure {
    let mut failure = describe(context, error);
    failure.tasks = tasks.to_vec();
    failure
}

fn describe(context: &Context, error: &StoreError) -> Failure {
    let branch = context.branch_name();
    match error {
        StoreError::BranchMissing { deleted: false } => Failure::new(
            FailureKind::BranchMissing,
            format!(
                "there is no lock branch '{branch}' yet: nothing was ever locked, or it is kept elsewhere"
            ),
        )
        .hint("create it, as the first claim does as well: git aitask-lock init"),
        StoreError::BranchMissing { deleted: true } => Failure::new(
            FailureKind::BranchMissing,
            format!(
                "the lock branch '{branch}' was deleted on the remote: the locks that were on it still count"
            ),
        )
        .detail("deleted")
        .hint("put it back as it was last seen here: git aitask-lock init"),
        StoreError::Rewritten { lost } => {
            let names: Vec<&str> = lost.iter().take(10).map(TaskId::as_str).collect();
            let more = if lost.len() > names.len() { ", …" } else { "" };
            let message = format!(
                "the lock branch '{branch}' was rewritten on the remote and lost the locks of {}{more}",
                names.join(", ")
            );
            Failure::new(FailureKind::BranchRewritten, message)
                .hint("a person may accept the branch as it is now: git aitask-lock init")
        }
        StoreError::Fetch(git) => {
            let message =
                format!("the lock branch '{branch}' cannot be read: {git}; nothing is known of any lock");
            with_cause(Failure::new(FailureKind::FetchFailed, message), context, git)
        }
        StoreError::Push(git) => {
            let message = format!("the lock branch '{branch}' cannot be written: {git}; nothing was changed");
            with_cause(Failure::new(FailureKind::PushRefused, message), context, git)
        }
        StoreError::Refused { reason, said } => refused(context, reason, said),
        StoreError::OutcomeUnknown(git) => {
            let message = format!(
                "whether the change reached the branch '{branch}' cannot be told: {git}, and it did not show up there"
            );
            let ask = "running the same command again is safe; see what this session holds: git aitask-lock list --mine";
            Failure::new(FailureKind::OutcomeUnknown, message).detail(git.cause.word()).hint(ask)
        }
        StoreError::Unreadable(why) => {
            Failure::new(FailureKind::Unreadable, format!("the lock branch '{branch}' cannot be read: {why}"))
                .hint("see what is wrong with this clone: git fsck")
        }
        StoreError::NotWritable(why) => Failure::new(FailureKind::NotWritable, why.clone()),
        StoreError::File(error) => Failure::new(FailureKind::NotWritable, error.to_string()),
        StoreError::Queue { holder, stopped } => queue(*holder, *stopped),
        StoreError::RefLocked(why) => ref_locked(why),
    }
}

fn queue(holder: Option<u32>, stopped: bool) -> Failure {
    let who = holder.map_or_else(String::new, |pid| format!(" (process {pid})"));
    let what = if stopped {
        "is stopped and keeps the remote"
    } else {
        "kept the remote busy until the time was up"
    };
    let message = format!("another command of this clone{who} {what}; nothing was changed");
    let failure = Failure::new(FailureKind::RaceExhaustion, message).detail("queue");
    match holder {
        Some(pid) if stopped => failure.hint(format!("let it go on: kill -CONT {pid}")),
        Some(pid) => failure.hint(format!("see what it does: ps -fp {pid}")),
        None => failure.hint("run it again, with more time if need be (--timeout 2m)"),
    }
}

fn ref_locked(why: &str) -> Failure {
    let message = format!("a reference stays locked, so nothing was changed: {why}");
    Failure::new(FailureKind::NotWritable, message).detail("ref_locked").hint(
        "where git commands were killed, a lock file may be left over; this names it: git aitask-lock doctor",
    )
}

fn with_cause(failure: Failure, context: &Context, git: &GitFailure) -> Failure {
    let failure = failure.detail(git.cause.word());
    match git.cause {
        Cause::Authentication => failure
            .hint(format!("the same question with prompts: git ls-remote {}", remote_argument(context))),
        Cause::Permission => failure
            .hint("ask for write access, or name another remote: git config aitask-lock.remote '<name>'"),
        Cause::Unreachable | Cause::ConnectionLost => {
            failure.hint(format!("git ls-remote {}", remote_argument(context)))
        }
        Cause::TimedOut => failure.hint("try again with more time (--timeout 2m)"),
        Cause::DubiousOwnership => failure.hint(trust(&git.said, context.repo.command_dir())),
        Cause::NotStarted | Cause::Killed(_) | Cause::RefLocked | Cause::NotWritable | Cause::Other => {
            failure
        }
    }
}

/// The arbiter as an argument of git that is safe to paste.
fn remote_argument(context: &Context) -> String {
    let label = context.arbiter().ok().flatten().map(|arbiter| arbiter.label()).unwrap_or_default();
    shlex::try_quote(&label).map_or_else(|_| "'<remote>'".to_owned(), std::borrow::Cow::into_owned)
}

fn refused(context: &Context, reason: &str, said: &str) -> Failure {
    let branch = context.branch_name();
    let server: Vec<&str> = said.split("; ").filter_map(|line| line.strip_prefix("remote: ")).collect();
    let said = if server.is_empty() { String::new() } else { format!("; it says: {}", server.join(" ")) };
    let message = format!("the server refused to change '{branch}' ({reason}){said}; nothing was changed");
    let failure = Failure::new(FailureKind::PushRefused, message);
    if reason.contains("hook declined") {
        let hint = "allow the branch on the server, or set the commit identity it wants: git config \
                    aitask-lock.committer 'Name <email>'";
        return failure.detail("policy").hint(hint);
    }
    if reason.contains("non-fast-forward") {
        let hint = "the server takes no new root (receive.denyNonFastForwards, or a protected branch): whoever keeps it \
                    has to allow that for this one command";
        return failure.detail("no_rewind").hint(hint);
    }
    if reason.contains("unpack") {
        let hint = "the server cannot store objects: its disk is full, or it may not write there";
        return failure.detail("storage").hint(hint);
    }
    failure.detail("rejected").hint(format!(
        "a branch below that name on the server, or a lock file left there, blocks it: git ls-remote {} '{branch}*'",
        remote_argument(context)
    ))
}
