//! Whether a merge may begin, decided on what was observed of the shared root. A refusal comes before
//! anything is touched.

use super::branch::{self, full_name, short_name};
use super::residue::Residue;
use crate::domain::{task_branch, task_id::TaskId};

/// A branch as it was asked for, and what was found of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The full name.
    pub name: String,
    /// The commit at its tip; none when there is no such branch.
    pub tip: Option<String>,
    /// Whether the short name leads to something that is no branch: a tag, an object.
    pub leads_elsewhere: bool,
}

/// What was observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// What stands in the shared root.
    pub residue: Residue,
    /// The branch that HEAD names there, by full name; none when it is detached.
    pub head: Option<String>,
    /// The branch to merge into; none where nobody named one and HEAD is detached.
    pub output: Option<Asked>,
    /// The branch to merge, where somebody named one.
    pub task_branch: Option<Asked>,
    /// All branches, by full name: among them the task's is looked for.
    pub branches: Vec<String>,
    /// The branch that holds the task locks, by full name.
    pub lock_branch: String,
    /// What other worktrees have checked out: a branch by full name, the folder, and whether the
    /// folder is there.
    pub elsewhere: Vec<(String, String, bool)>,
}

/// What is to be merged into what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The branch to merge into, by full name.
    pub output: String,
    /// The branch to merge, by full name.
    pub task_branch: String,
    /// Whether the output branch has to be checked out first.
    pub checkout: bool,
    /// Whether an entry of a worktree whose folder is gone still names the output branch.
    pub past_stale_entries: bool,
}

/// Why a merge does not begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Something that was left unfinished stands there, or the index is locked.
    Residue,
    /// Tracked files are changed.
    Dirty,
    /// There is no such output branch.
    NoOutputBranch(String),
    /// There is no such task branch.
    NoTaskBranch(String),
    /// No branch, or several, are named after the task.
    WhichTaskBranch(Vec<String>),
    /// That is no place to merge into.
    Unsafe {
        /// The branch.
        branch: String,
        /// Why not.
        why: Unsafe,
    },
    /// Another worktree has the output branch.
    Foreign {
        /// The branch.
        branch: String,
        /// The worktree's folder.
        folder: String,
    },
}

/// Why a branch is no place to merge into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unsafe {
    /// It holds the task locks.
    LockBranch,
    /// It is the branch that is to be merged.
    TaskBranch,
    /// It is no name of a branch, or of something else.
    NoBranch,
    /// HEAD is detached, and no branch was named.
    Detached,
}

/// Decides whether the merge of a task may begin.
///
/// # Errors
/// Why not.
pub fn decide(task: &TaskId, facts: &Facts) -> Result<Plan, Refused> {
    let residue = &facts.residue;
    if residue.merge_head.is_some()
        || !residue.operations.is_empty()
        || !residue.unmerged.is_empty()
        || residue.index_locked
    {
        return Err(Refused::Residue);
    }
    if !residue.dirty.is_empty() {
        return Err(Refused::Dirty);
    }
    let output = output_branch(facts.output.as_ref(), &facts.lock_branch)?;
    let task_branch = chosen_branch(task, facts, &output)?;
    let unsafe_because = |why| Refused::Unsafe { branch: short_name(&output).to_owned(), why };
    if task_branch == output {
        return Err(unsafe_because(Unsafe::TaskBranch));
    }
    if let Some((_, folder, _)) =
        facts.elsewhere.iter().find(|(branch, _, there)| *branch == output && *there)
    {
        let branch = short_name(&output).to_owned();
        return Err(Refused::Foreign { branch, folder: folder.clone() });
    }
    Ok(Plan {
        checkout: facts.head.as_ref() != Some(&output),
        past_stale_entries: facts.elsewhere.iter().any(|(branch, ..)| *branch == output),
        output,
        task_branch,
    })
}

/// Whether a branch may be merged into at all. `merge claim --into` asks this as well, before it takes
/// the reservation.
///
/// # Errors
/// Why not.
pub fn output_branch(output: Option<&Asked>, lock_branch: &str) -> Result<String, Refused> {
    let Some(output) = output else {
        return Err(Refused::Unsafe { branch: "HEAD".to_owned(), why: Unsafe::Detached });
    };
    let branch = short_name(&output.name).to_owned();
    let unsafe_because = |why| Refused::Unsafe { branch: branch.clone(), why };
    if !output.name.starts_with(branch::HEADS) {
        return Err(unsafe_because(Unsafe::NoBranch));
    }
    if output.name == full_name(lock_branch) {
        return Err(unsafe_because(Unsafe::LockBranch));
    }
    match (&output.tip, output.leads_elsewhere) {
        (Some(_), _) => Ok(output.name.clone()),
        (None, true) => Err(unsafe_because(Unsafe::NoBranch)),
        (None, false) => Err(Refused::NoOutputBranch(branch)),
    }
}

fn chosen_branch(task: &TaskId, facts: &Facts, output: &str) -> Result<String, Refused> {
    if let Some(asked) = &facts.task_branch {
        let usable = asked.tip.is_some()
            && asked.name.starts_with(branch::HEADS)
            && asked.name != full_name(&facts.lock_branch);
        return if usable {
            Ok(asked.name.clone())
        } else {
            Err(Refused::NoTaskBranch(short_name(&asked.name).to_owned()))
        };
    }
    let lock_branch = full_name(&facts.lock_branch);
    let named = facts.branches.iter().filter(|branch| {
        branch.as_str() != output
            && **branch != lock_branch
            && task_branch::names_task(short_name(branch), task)
    });
    let mut named: Vec<String> = named.cloned().collect();
    match (named.pop(), named.is_empty()) {
        (Some(only), true) => Ok(only),
        (last, _) => {
            named.extend(last);
            Err(Refused::WhichTaskBranch(named.iter().map(|name| short_name(name).to_owned()).collect()))
        }
    }
}

#[cfg(test)]
mod tests;
