//! The shared root: where it is, and what a merge finds there.

use std::path::Path;

use super::desk::{Desk, by_hand, some, unlock};
use crate::context::Context;
use crate::domain::failure::{Failure, FailureKind};
use crate::domain::merge::branch::{full_name, short_name};
use crate::domain::merge::preflight::{Asked, Facts, Refused, Unsafe};
use crate::domain::merge::residue::{Residue, remedy_for};
use crate::domain::merge::verdict::{MergeVerdict, Refusal, StaleResidue};
use crate::domain::task_id::TaskId;
use crate::sys::git::GitFailure;
use crate::sys::git::worktree::{MergeRoot, NoMergeRoot, SETTING};
use crate::sys::{files, shell};

/// Finds the worktree in which merges run, for a session that holds the reservation.
///
/// # Errors
/// The refusal.
pub fn find(desk: &Desk<'_>, task: &TaskId) -> Result<MergeRoot, Box<MergeVerdict>> {
    desk.root().map_err(|why| Box::new(no_root(desk, task, &why, true)))
}

/// There is no place to merge in.
#[must_use]
pub fn no_root(desk: &Desk<'_>, task: &TaskId, why: &NoMergeRoot, kept: bool) -> MergeVerdict {
    let hints = place_to_merge(desk.context, why);
    MergeVerdict::PreflightMissing(Refusal { hints, kept, ..refusal(task, "root", why.to_string()) })
}

/// There is no place to merge in, where nobody asked for a merge.
#[must_use]
pub fn nowhere_to_merge(context: &Context, why: &NoMergeRoot) -> Failure {
    let failure = Failure::new(FailureKind::Fatal, why.to_string()).detail("no_merge_root");
    place_to_merge(context, why).into_iter().fold(failure, Failure::hint)
}

/// What gives a repository a place to merge in.
#[must_use]
pub fn place_to_merge(context: &Context, why: &NoMergeRoot) -> Vec<String> {
    if let NoMergeRoot::NotOurs { .. } = why {
        return vec![context.repo.set_right(SETTING)];
    }
    let worktrees = context.git().worktrees().unwrap_or_default();
    let usable = worktrees.iter().filter(|worktree| !worktree.bare && worktree.exists());
    let hints: Vec<String> =
        usable.map(|worktree| format!("git config {SETTING} {}", shell::quote(&worktree.path))).collect();
    if hints.is_empty() {
        return vec!["make a worktree to merge in: git worktree add ../merge-root '<branch>'".to_owned()];
    }
    hints
}

/// A git that failed where it should only have looked.
#[must_use]
pub fn git_failure(task: &TaskId, failure: &GitFailure) -> Failure {
    let message = format!("the shared root cannot be looked at: {failure}");
    let mut failure = Failure::new(FailureKind::Fatal, message).detail(failure.cause.word());
    failure.tasks = vec![task.clone()];
    failure
}

/// The root as an argument of a printed command.
#[must_use]
pub fn git_there(root: &MergeRoot) -> String {
    format!("git -C {}", shell::quote(&root.path))
}

/// A refusal without hints; the reservation is kept until somebody says otherwise.
#[must_use]
pub fn refusal(task: &TaskId, about: &str, why: String) -> Refusal {
    Refusal { task: task.clone(), about: about.to_owned(), why, hints: Vec::new(), kept: true, into: None }
}

/// Looks at everything that a decision on a merge stands on. `output` and `task_branch` are as they
/// were asked for; without an output branch, what HEAD names counts.
///
/// # Errors
/// git cannot tell.
pub fn facts(
    context: &Context,
    root: &MergeRoot,
    output: Option<&str>,
    task_branch: Option<&str>,
) -> Result<Facts, GitFailure> {
    let residue = root.git.residue()?;
    let head = root.git.head_branch()?;
    let output = match output.or(head.as_deref()) {
        Some(name) => Some(asked(root, name)?),
        None => None,
    };
    let task_branch = match task_branch {
        Some(name) => Some(asked(root, name)?),
        None => None,
    };
    let branches = root.git.branches()?.into_iter().map(|branch| full_name(&branch.name)).collect();
    let elsewhere = root.others()?.into_iter().filter_map(|worktree| {
        let there = worktree.exists();
        worktree.branch.map(|branch| (branch, worktree.path.to_string_lossy().into_owned(), there))
    });
    let elsewhere = elsewhere.collect();
    let lock_branch = context.branch.clone();
    Ok(Facts { residue, head, output, task_branch, branches, lock_branch, elsewhere })
}

/// What there is of a branch that was asked for.
///
/// # Errors
/// git cannot tell.
pub fn asked(root: &MergeRoot, name: &str) -> Result<Asked, GitFailure> {
    let full = full_name(name);
    // Asked exactly: what a name could also mean is never taken for the branch.
    let tip = root.git.resolve_ref(&full)?;
    let leads_elsewhere = tip.is_none() && root.git.is_revision(name)?;
    Ok(Asked { name: full, tip, leads_elsewhere })
}

/// A refusal of the preflight as it is told.
#[must_use]
pub fn told(
    desk: &Desk<'_>,
    task: &TaskId,
    refused: Refused,
    root: &MergeRoot,
    residue: Residue,
) -> MergeVerdict {
    let there = git_there(root);
    let with = |about: &str, why: String, hints: Vec<String>| Refusal { hints, ..refusal(task, about, why) };
    match refused {
        Refused::Residue => MergeVerdict::StaleMergeResidue(StaleResidue {
            task: task.clone(),
            remedy: remedy_for(&residue),
            next: ends(desk, task, root, &residue),
            residue,
            root: shell::quote(&root.path),
            holder: None,
        }),
        Refused::Dirty => dirty(task, root, &residue),
        Refused::NoOutputBranch(branch) => MergeVerdict::PreflightMissing(with(
            &branch,
            format!("there is no branch {branch} to merge into"),
            vec![format!("git aitask-lock merge release {task}"), into(task)],
        )),
        Refused::NoTaskBranch(branch) => MergeVerdict::PreflightMissing(with(
            &branch,
            format!("there is no branch {branch} that could be merged for task {task}"),
            vec![format!("{there} branch --list"), format!("git aitask-lock merge run {task} '<branch>'")],
        )),
        Refused::WhichTaskBranch(names) if names.is_empty() => MergeVerdict::PreflightMissing(with(
            &format!("t{task}"),
            format!(
                "no branch is named after task {task} (t{task}, task/{task}, aitask/t{task}_…), the one to \
                 merge into aside"
            ),
            vec![
                format!("if it is the one that is checked out, say where it goes: {}", into(task)),
                format!("else name it: git aitask-lock merge run {task} '<branch>'"),
            ],
        )),
        Refused::WhichTaskBranch(names) => MergeVerdict::PreflightMissing(with(
            &names.join(","),
            format!("several branches are named after task {task}: {}", names.join(", ")),
            names.iter().map(|name| format!("git aitask-lock merge run {task} {}", quoted(name))).collect(),
        )),
        Refused::Unsafe { branch, why } => {
            let reason = match why {
                Unsafe::LockBranch => format!("{branch} holds the task locks; nothing is merged into it"),
                Unsafe::TaskBranch => format!("{branch} is the branch that is to be merged"),
                Unsafe::NoBranch => format!("{branch} is no branch"),
                Unsafe::Detached => {
                    "no branch is checked out in the shared root (HEAD is detached)".to_owned()
                }
            };
            let hints = vec![format!("git aitask-lock merge release {task}"), into(task)];
            MergeVerdict::UnsafeOutputBranch(with(&branch, reason, hints))
        }
        Refused::Foreign { branch, folder } => {
            let quoted = shell::quote(Path::new(&folder));
            MergeVerdict::PreflightForeignWorktree(with(
                &folder,
                format!("the branch {branch} is checked out in another worktree: {folder}"),
                vec![format!("git -C {quoted} switch --detach"), format!("git worktree remove {quoted}")],
            ))
        }
    }
}

/// What ends what stands there, for the session that holds the reservation.
fn ends(desk: &Desk<'_>, task: &TaskId, root: &MergeRoot, residue: &Residue) -> Vec<String> {
    if residue.index_locked {
        return vec![unlock(root)];
    }
    if residue.merge_head.is_some() && residue.operations.is_empty() {
        let finish = format!("resolve it, then: {} commit --no-edit", git_there(root));
        return vec![finish, format!("or undo it: {}", desk.command(&format!("abort {task}")))];
    }
    if residue.index_damaged {
        return mend_index(root).into_iter().collect();
    }
    by_hand(residue, root)
}

/// The command that puts an index which git cannot read aside and makes it anew from HEAD; it touches no file.
#[must_use]
pub fn mend_index(root: &MergeRoot) -> Option<String> {
    let index = root.git.git_dir().join("index");
    let damaged = root.git.index_digest().is_err() && files::is_there(&index);
    let aside = shell::quote(&files::free_name(&index));
    damaged.then(|| format!("mv {} {aside} && {} read-tree HEAD", shell::quote(&index), git_there(root)))
}

/// Tracked files are changed.
#[must_use]
pub fn dirty(task: &TaskId, root: &MergeRoot, residue: &Residue) -> MergeVerdict {
    let shown: Vec<&str> = residue.dirty.iter().take(5).map(String::as_str).collect();
    let more = if residue.dirty.len() > shown.len() { ", …" } else { "" };
    let there = git_there(root);
    MergeVerdict::DirtyTree(Refusal {
        hints: vec![
            format!("look: {there} status"),
            format!("commit them, or put them away: {there} stash push"),
        ],
        ..refusal(
            task,
            &residue.dirty.join(","),
            format!("tracked files are changed in the shared root: {}{more}", shown.join(", ")),
        )
    })
}

/// As many files in the way are named each with a command.
const MOVED: usize = 10;

/// The commands that move files out of the way, each to a name that is free.
#[must_use]
pub fn moves(root: &MergeRoot, paths: &[String]) -> Vec<String> {
    let moved = paths.iter().take(MOVED).map(|path| {
        let path = root.path.join(path);
        format!("mv {} {}", shell::quote(&path), shell::quote(&files::free_name(&path)))
    });
    moved.collect()
}

/// Ignored files stand where the merge would put its own.
#[must_use]
pub fn in_the_way(task: &TaskId, root: &MergeRoot, paths: &[String]) -> MergeVerdict {
    let let_go = format!("or let them go: git aitask-lock merge run {task} -- --overwrite-ignore");
    MergeVerdict::DirtyTree(Refusal {
        hints: moves(root, paths).into_iter().chain([let_go]).collect(),
        ..refusal(
            task,
            &paths.join(","),
            format!("the merge would overwrite ignored files in the shared root: {}", some(paths)),
        )
    })
}

/// The command that names the branch to merge into, which only a person can.
#[must_use]
pub fn into(task: &TaskId) -> String {
    format!("git aitask-lock merge begin {task} --into '<branch>'")
}

/// A branch as an argument of a printed command.
#[must_use]
pub fn quoted(name: &str) -> String {
    shell::quote(Path::new(short_name(name)))
}
