//! What a lost session left behind: its task branch, its worktree, uncommitted files, the last commit.

use crate::context::Context;
use crate::domain::task_branch;
use crate::domain::task_id::TaskId;

/// One line for each branch that names the task. Nothing that fails here is worth a failure.
#[must_use]
pub fn of_task(context: &Context, task: &TaskId) -> Vec<String> {
    let git = context.git();
    let branches = git.branches().unwrap_or_default();
    let of_task = branches.into_iter().filter(|branch| task_branch::names_task(&branch.name, task));
    of_task
        .map(|branch| {
            let mut line = format!(
                "left behind: branch {}, last commit {}: {}",
                branch.name, branch.age, branch.subject
            );
            if let Some(worktree) = &branch.worktree {
                let changed = git.uncommitted(worktree).map_or_else(
                    |_| "its changes cannot be counted".to_owned(),
                    |count| match count {
                        0 => "nothing uncommitted".to_owned(),
                        1 => "1 file uncommitted".to_owned(),
                        _ => format!("{count} files uncommitted"),
                    },
                );
                line.push_str(&format!("; worktree {} ({changed})", worktree.display()));
            }
            line
        })
        .collect()
}
