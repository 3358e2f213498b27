//! What a `hook` command came to, as a line and in sentences.

use super::escape::{for_field, for_terminal};
use super::{Printed, View, style};
use crate::domain::hook::{HookVerdict, Hooks, State};
use crate::domain::liveness::Liveness;
use crate::domain::lock::LockView;
use crate::domain::task_guard::Enforced;

/// Renders one outcome as its line, without the line break: `WORD:folder|hook=state|…`.
#[must_use]
pub fn porcelain(verdict: &HookVerdict) -> String {
    let fields: Vec<String> = match verdict {
        HookVerdict::HooksInstalled(hooks)
        | HookVerdict::HooksPartly(hooks)
        | HookVerdict::HooksMissing(hooks)
        | HookVerdict::HooksRemoved(hooks) => std::iter::once(hooks.folder.clone())
            .chain(hooks.hooks.iter().map(|hook| format!("{}={}", hook.name, hook.state.word())))
            .chain(std::iter::once(format!("tasks={}", hooks.tasks.word())))
            .collect(),
        HookVerdict::TaskCommitRefused { task, branch, holder } => {
            let of = |value: &dyn Fn(&LockView) -> Option<String>| {
                holder.as_deref().and_then(value).unwrap_or_else(|| "-".to_owned())
            };
            vec![
                task.to_string(),
                branch.clone(),
                of(&|lock| Some(lock.owner.clone().unwrap_or_else(|| "unknown".to_owned()))),
                of(&|lock| lock.pid.map(|pid| pid.to_string())),
                holder.as_deref().map_or("free", |lock| lock.state.word()).to_owned(),
                of(&|lock| Some(lock.lock_id.clone())),
            ]
        }
        HookVerdict::CommitRefused { holder, .. } => vec![
            holder.task_name().to_owned(),
            holder.pid.map_or_else(|| "-".to_owned(), |pid| pid.to_string()),
            holder.liveness.word().to_owned(),
        ],
    };
    let fields: Vec<String> = fields.iter().map(|field| for_field(field)).collect();
    format!("{}:{}", verdict.word(), fields.join("|"))
}

/// Tells one outcome.
pub fn human(verdict: &HookVerdict, view: &View, printed: &mut Printed) {
    let folder = |hooks: &Hooks| for_terminal(&hooks.folder);
    match verdict {
        HookVerdict::HooksInstalled(hooks) => {
            let text = format!(
                "Commits in the shared root are refused while another session holds the merge reservation ({}).",
                folder(hooks)
            );
            say(&text, view, printed);
            let tasks = match hooks.tasks {
                Enforced::Off => return,
                Enforced::Held => "another session holds",
                Enforced::Required => "this session does not hold",
            };
            say(&format!("So are commits on a branch that names a task which {tasks}."), view, printed);
        }
        HookVerdict::TaskCommitRefused { task, branch, holder } => {
            let why = match holder {
                Some(lock) => super::human::standing(lock, view),
                None => format!("task {task} is not claimed by this session"),
            };
            printed
                .stderr
                .push_str(&style::refused(&format!("no commit on {}: {why}", for_terminal(branch))));
            printed.stderr.push_str(&style::hint(&format!("git aitask-lock claim {task}")));
            printed.stderr.push_str(&style::hint("to commit all the same: git commit --no-verify"));
        }
        HookVerdict::HooksRemoved(hooks) => {
            say(&format!("The hooks are not in force any more ({}).", folder(hooks)), view, printed);
        }
        HookVerdict::HooksMissing(hooks) => {
            printed.stdout.push_str(&format!("The hooks are not installed ({}).\n", folder(hooks)));
            printed.stderr.push_str(&style::hint("git aitask-lock hook install"));
        }
        HookVerdict::HooksPartly(hooks) => {
            printed.stdout.push_str(&format!("The hooks are only partly in force ({}).\n", folder(hooks)));
            for hook in &hooks.hooks {
                printed.stdout.push_str(&format!("  {}: {}\n", hook.name, told(hook.state)));
            }
            let install = format!("git aitask-lock hook install {}", hooks.tasks.option().trim_start());
            printed.stderr.push_str(&style::hint(install.trim_end()));
        }
        HookVerdict::CommitRefused { of_merge, holder } => {
            let session = match (holder.damage, holder.pid) {
                (Some(damage), _) => damage.to_string(),
                (None, Some(pid)) => format!("session process {pid}, {}", holder.liveness.word()),
                (None, None) => holder.liveness.to_string(),
            };
            let why = match &holder.task {
                Some(task) => format!("task {task} holds the merge reservation of this folder ({session})"),
                None => format!("the merge reservation of this folder is held, but {session}"),
            };
            printed.stderr.push_str(&style::refused(&format!("no commit here now: {why}")));
            if *of_merge {
                printed.stderr.push_str(&style::hint(
                    "git leaves your merge unfinished here; first: git merge --abort",
                ));
            }
            let next =
                if holder.liveness == Liveness::Alive { "merge status" } else { "merge force-release" };
            printed.stderr.push_str(&style::hint(&format!("git aitask-lock {next}")));
            printed.stderr.push_str(&style::hint("to commit all the same: git commit --no-verify"));
        }
    }
}

fn told(state: State) -> &'static str {
    match state {
        State::None => "not there",
        State::Foreign => "another hook, without ours",
        State::Installed => "in force",
        State::Damaged => "changed since it was installed, or not executable",
    }
}

fn say(text: &str, view: &View, printed: &mut Printed) {
    if !view.quiet {
        printed.stdout.push_str(text);
        printed.stdout.push('\n');
    }
}
