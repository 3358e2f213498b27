//! `merge cleanup`: remove the merged branch of a task, and its worktree.

use std::path::{Path, PathBuf};

use super::desk::{Desk, working_under};
use super::root;
use crate::commands::Answer;
use crate::context::{Context, task_id};
use crate::domain::failure::Failure;
use crate::domain::merge::branch::{full_name, short_name};
use crate::domain::merge::reservation::Reservation;
use crate::domain::merge::verdict::{Cleaned, MergeVerdict, Refusal};
use crate::domain::task_branch;
use crate::domain::task_id::TaskId;
use crate::sys::git::GitFailure;
use crate::sys::git::worktree::{MergeRoot, Worktree};
use crate::sys::shell;

/// Arguments of `merge cleanup`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The task
    #[arg(value_name = "TASK", value_parser = task_id)]
    pub task: TaskId,
    /// The task is done: its branch and its worktree are not needed any more
    #[arg(long)]
    pub task_complete: bool,
}

/// Runs `merge cleanup`. The reservation is kept.
///
/// # Errors
/// What kept it from deciding.
pub fn run(context: &Context, args: &Args) -> Result<Answer, Failure> {
    let task = &args.task;
    let desk = Desk::open(context);
    let mut reservation = match working_under(&desk, task)? {
        Ok(reservation) => reservation,
        Err(refused) => return Ok(refused),
    };
    if !args.task_complete {
        let verdict = MergeVerdict::CleanupRequiresCompletion { task: task.clone() };
        return Ok(Answer::of(vec![verdict.into()]));
    }
    let root = match root::find(&desk, task) {
        Ok(root) => root,
        Err(refused) => return Ok(Answer::of(vec![(*refused).into()])),
    };
    let failed = |failure: GitFailure| root::git_failure(task, &failure);
    let target = target(context, &root, task, &reservation);
    let (branch, output) = match target.map_err(failed)? {
        Ok(target) => target,
        Err(refusal) => return Ok(Answer::of(vec![MergeVerdict::TargetMismatch(refusal).into()])),
    };
    // Afterwards the branch is gone, and the release has to know what was merged.
    if let Some(tip) = root.git.resolve_ref(&branch).map_err(failed)?
        && reservation.task_tip.as_ref() != Some(&tip)
        && let Some(into) = root.git.resolve_ref(&output).map_err(failed)?
        && root.git.is_ancestor(&tip, &into).map_err(failed)?
    {
        reservation.task_branch = Some(branch.clone());
        reservation.task_tip = Some(tip);
        desk.rewrite(&reservation)?;
    }
    let mut cleaned = Cleaned { task: task.clone(), removed: Vec::new(), stayed: Vec::new() };
    clean(&root, &branch, &output, &mut cleaned).map_err(failed)?;
    let (verdict, next) = if cleaned.stayed.is_empty() {
        (MergeVerdict::Cleaned(cleaned), format!("give it back: git aitask-lock merge release {task}"))
    } else {
        let again = format!("then again: git aitask-lock merge cleanup {task} --task-complete");
        (MergeVerdict::CleanedPartial(cleaned), again)
    };
    let next = format!("the reservation is kept; {next}");
    Ok(Answer::of(vec![verdict.into()]).note([next]))
}

/// The branch to remove and the one that it must be in, by full name.
fn target(
    context: &Context,
    root: &MergeRoot,
    task: &TaskId,
    reservation: &Reservation,
) -> Result<Result<(String, String), Refusal>, GitFailure> {
    let mismatch = |about: &str, why: String, hints: Vec<String>| {
        Ok(Err(Refusal { hints, ..root::refusal(task, short_name(about), why) }))
    };
    let run = vec![format!("git aitask-lock merge run {task}")];
    let Some(output) = reservation.output_branch.clone() else {
        return mismatch("", "no merge was run under this reservation".to_owned(), run);
    };
    let branch = if let Some(branch) = &reservation.task_branch {
        branch.clone()
    } else {
        let named = root.git.branches()?.into_iter().map(|branch| branch.name);
        let named: Vec<String> = named.filter(|name| task_branch::names_task(name, task)).collect();
        match named.as_slice() {
            [only] => full_name(only),
            [] => return mismatch("", format!("no branch is known for task {task}"), run),
            several => {
                let names = several.join(", ");
                return mismatch("", format!("several branches are named after task {task}: {names}"), run);
            }
        }
    };
    if branch == output || branch == full_name(&context.branch) {
        let why = format!("{} is no task's branch", short_name(&branch));
        return mismatch(&branch, why, Vec::new());
    }
    Ok(Ok((branch, output)))
}

fn clean(root: &MergeRoot, branch: &str, output: &str, cleaned: &mut Cleaned) -> Result<(), GitFailure> {
    let short = short_name(branch);
    let Some(tip) = root.git.resolve_ref(branch)? else { return Ok(()) };
    let merged = match root.git.resolve_ref(output)? {
        Some(output_tip) => root.git.is_ancestor(&tip, &output_tip)?,
        None => false,
    };
    if !merged {
        cleaned.stayed.push(format!(
            "branch {short}: it is not merged into {}; git aitask-lock merge run {}",
            short_name(output),
            cleaned.task
        ));
        return Ok(());
    }
    if root.git.head_branch()?.as_deref() == Some(branch) {
        cleaned.stayed.push(format!("branch {short}: it is checked out in the shared root"));
        return Ok(());
    }
    let mut free = true;
    for worktree in root.others()?.into_iter().filter(|worktree| worktree.branch.as_deref() == Some(branch)) {
        match remove_worktree(root, &worktree)? {
            Ok(()) => cleaned.removed.push(format!("worktree {}", worktree.path.display())),
            Err(why) => {
                free = false;
                cleaned.stayed.push(format!("worktree {}: {why}", worktree.path.display()));
            }
        }
    }
    if !free {
        cleaned.stayed.push(format!("branch {short}: its worktree stayed"));
        return Ok(());
    }
    match root.git.delete_branch(branch, &tip) {
        Ok(()) => cleaned.removed.push(format!("branch {short}")),
        Err(failure) => cleaned.stayed.push(format!("branch {short}: {}", failure.said)),
    }
    Ok(())
}

/// Removes a worktree, if nothing in it would be lost: why not otherwise.
fn remove_worktree(root: &MergeRoot, worktree: &Worktree) -> Result<Result<(), String>, GitFailure> {
    let path = &worktree.path;
    if let Some(reason) = &worktree.locked {
        let reason = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
        let command = format!("git -C {} worktree unlock {}", shell::quote(&root.path), shell::quote(path));
        return Ok(Err(format!("it is locked{reason}; {command}")));
    }
    if stands_in(path) {
        let command = format!("cd {}", shell::quote(&root.path));
        return Ok(Err(format!("this command runs in it; first {command}")));
    }
    root.git.remove_worktree(path).map(|removed| removed.map_err(|failure| failure.said))
}

/// Whether the command was started in a folder, which would then vanish under the caller.
fn stands_in(folder: &Path) -> bool {
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    let folder: Option<PathBuf> = folder.canonicalize().ok();
    matches!((here, folder), (Ok(here), Some(folder)) if here.starts_with(&folder))
}
