//! What a forced release would do, for people.

use super::human::{branch, who};
use crate::domain::liveness::Liveness;
use crate::domain::merge::verdict::DryRun;
use crate::render::View;
use crate::render::escape::for_terminal;

/// All that would be put back or discarded, and the commands that do it.
#[must_use]
pub fn text(dry: &DryRun, view: &View) -> String {
    let mut text = match &dry.holder {
        Some(holder) => match holder.damage {
            Some(damage) => format!("The merge reservation is held, but {damage}.\n"),
            None => {
                format!("Task {} holds the merge reservation: {}.\n", holder.task_name(), who(holder, view))
            }
        },
        None => String::new(),
    };
    text.push_str(&format!("In the shared root {}: {}.\n", for_terminal(&dry.root), dry.residue));
    match dry.remedy.option() {
        None if dry.holder.is_none() => text.push_str("Nobody holds the reservation: nothing to release.\n"),
        // Nothing of a locked index can be put back; whoever locked it has to let go.
        None if !dry.residue.is_clean() => text.push_str("No file would be put back.\n"),
        None => text.push_str("It is clean, so only the reservation would go.\n"),
        Some(option) => {
            text.push_str(&format!("It takes {option}.\n"));
            let files = || dry.residue.unmerged.iter().chain(&dry.residue.dirty);
            if files().next().is_some() {
                text.push_str("These files would be put back, after what they hold now is saved:\n");
            }
            for path in files() {
                text.push_str(&format!("  {}\n", for_terminal(path)));
            }
            if !dry.residue.operations.is_empty() {
                text.push_str("This would be discarded, and is not saved:\n");
            }
            for operation in &dry.residue.operations {
                text.push_str(&format!("  {}\n", operation.loses()));
            }
        }
    }
    if let Some(name) = &dry.back_to {
        text.push_str(&format!("HEAD would go back to {}.\n", branch(name)));
    }
    if let Some(holder) = &dry.holder
        && holder.liveness == Liveness::Alive
    {
        text.push_str(&format!(
            "Its session is alive, so nothing can be forced. Ask it to give the reservation back: git aitask-lock merge release {}\n",
            holder.task_name()
        ));
    }
    if let Some(guard) = &dry.guard {
        text.push_str(&format!(
            "An earlier reclaim or recovery did not end; its guard stands there: {}.\n",
            for_terminal(guard)
        ));
        match &dry.remove_guard {
            None => text.push_str("Its maker is gone: the next claim or forced release takes it down.\n"),
            Some(command) if dry.commands.is_empty() => {
                text.push_str(&format!("To take it away: {}\n", for_terminal(command)));
            }
            Some(_) => {}
        }
    }
    text.push_str("Nothing was changed.");
    if !dry.commands.is_empty() {
        text.push_str(" To do it, run:");
    }
    text.push('\n');
    for command in &dry.commands {
        text.push_str(&format!("  {}\n", for_terminal(command)));
    }
    text
}
