//! `hook`: opt-in hooks that keep a commit made by hand out of the shared root while another session
//! holds the merge reservation and, with `--tasks`, off the branch of a task that another session holds.
//!
//! Where the program is not on the hook's `PATH`, the hook says so and lets the commit pass, since it binds
//! only those who take part. What the hooks run is in [`police`].

use std::path::PathBuf;

use super::Answer;
use super::merge::root::nowhere_to_merge;
use crate::context::Context;
use crate::domain::failure::{Failure, FailureKind};
use crate::domain::hook::{self, Hook, HookVerdict, Hooks, NAMES, State};
use crate::domain::task_guard::Enforced;
use crate::sys::files::FileError;
use crate::sys::git::worktree::MergeRoot;
use crate::sys::hooks::Folder;

pub mod police;

/// Arguments of `hook`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: HookCommand,
}

/// What can be done with the hooks.
#[derive(clap::Subcommand, Debug)]
pub enum HookCommand {
    /// Refuse commits in the shared root while another session holds the merge reservation
    Install(Asked),
    /// Take the hooks out again; those that were there before come back
    Uninstall,
    /// Say whether they are in force: exit code 0 if so
    Status,
    /// What the hooks run, for a hook manager's own file: exit code 0 if the commit may go on
    Run {
        /// The hook
        #[arg(value_parser = NAMES)]
        name: String,
        /// What it asks.
        #[command(flatten)]
        asked: Asked,
    },
}

/// What is asked of task locks.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct Asked {
    /// Refuse a commit on a branch that names a task which another session holds or, if required, which this
    /// session does not hold
    #[arg(long, value_name = "WHEN", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "held", value_parser = enforced)]
    pub tasks: Option<Enforced>,
}

fn enforced(text: &str) -> Result<Enforced, String> {
    let modes = [Enforced::Held, Enforced::Required];
    modes.into_iter().find(|mode| mode.word() == text).ok_or_else(|| "it is held or required".to_owned())
}

/// Runs `hook`.
///
/// # Errors
/// What kept it from deciding or from writing.
pub fn run(context: &Context, args: &Args) -> Result<Answer, Failure> {
    match &args.command {
        HookCommand::Install(asked) => install(context, asked.tasks.unwrap_or_default()),
        HookCommand::Uninstall => uninstall(context),
        HookCommand::Status => {
            let place = Place::find(context)?;
            Ok(Answer::of(vec![HookVerdict::standing(place.hooks()?).into()]))
        }
        HookCommand::Run { name, asked } => police::run(context, name, asked.tasks.unwrap_or_default()),
    }
}

/// The hooks folder in force.
struct Place {
    folder: Folder,
    warnings: Vec<String>,
}

impl Place {
    fn find(context: &Context) -> Result<Self, Failure> {
        let root = MergeRoot::find(&context.repo, context.deadline())
            .map_err(|why| nowhere_to_merge(context, &why))?;
        let failed = |error: crate::sys::git::GitFailure| Failure::new(FailureKind::Fatal, error.to_string());
        let path = root.path.join(root.git.hooks_folder().map_err(failed)?);
        if path.exists() && !path.is_dir() {
            let message = format!("hooks are turned off here: core.hooksPath names {}", path.display());
            let own = crate::sys::shell::quote(&context.repo.common_dir.join("hooks"));
            let there = crate::sys::shell::quote(&root.path);
            return Err(Failure::new(FailureKind::Fatal, message).hint(format!(
                "to turn them on for this repository alone: git -C {there} config core.hooksPath {own}"
            )));
        }
        let mut warnings = Vec::new();
        let scope = root.git.config_scope("core.hooksPath").map_err(failed)?;
        if matches!(scope.as_deref(), Some("global" | "system")) {
            warnings.push(format!("core.hooksPath is set for all your repositories: {}", path.display()));
        }
        let common = &context.repo.common_dir;
        if path.starts_with(&root.path) && !path.starts_with(common) {
            warnings.push(format!(
                "the hooks folder {} is a part of the worktree: a hook that is tracked shows up as changed",
                path.display()
            ));
        }
        if path.ends_with(".husky/_") {
            warnings.push("husky makes this folder anew: put the line git-aitask-lock hook run pre-commit into .husky/pre-commit instead".to_owned());
        }
        Ok(Self { folder: Folder::new(path), warnings })
    }

    fn state(&self, name: &str) -> Result<State, Failure> {
        let found = self.folder.read(name).map_err(|error| file_failure(&error))?;
        Ok(found.map_or(State::None, |found| hook::state(&found.content, found.executable)))
    }

    fn hooks(&self) -> Result<Hooks, Failure> {
        let states =
            NAMES.into_iter().map(|name| Ok(Hook { name: name.to_owned(), state: self.state(name)? }));
        let hooks = states.collect::<Result<Vec<_>, Failure>>()?;
        let mut tasks = Vec::new();
        for name in NAMES {
            let found = self.folder.read(name).map_err(|error| file_failure(&error))?;
            tasks.push(found.map_or(Enforced::Off, |found| hook::enforced(&found.content)));
        }
        let tasks = tasks.into_iter().max().unwrap_or_default();
        Ok(Hooks { folder: self.folder.path().to_string_lossy().into_owned(), hooks, tasks })
    }
}

fn file_failure(error: &FileError) -> Failure {
    Failure::new(FailureKind::NotWritable, error.to_string())
}

fn damaged(place: &Place, name: &str, why: &str) -> Failure {
    let path: PathBuf = place.folder.path().join(name);
    Failure::new(FailureKind::NotWritable, format!("the hook {} {why}; it was left alone", path.display()))
        .detail("damaged_hook")
        .hint("edit it by hand: what is ours stands between the lines '# >>> git-aitask-lock >>>' and '# <<< git-aitask-lock <<<'")
}

fn install(context: &Context, tasks: Enforced) -> Result<Answer, Failure> {
    let place = Place::find(context)?;
    let folder = &place.folder;
    let failed = |error: FileError| file_failure(&error);
    for name in NAMES {
        let found = folder.read(name).map_err(failed)?;
        let state = found.as_ref().map_or(State::None, |found| hook::state(&found.content, found.executable));
        match (state, found) {
            (State::Installed, Some(found)) if hook::enforced(&found.content) != tasks => {
                let content = hook::with_block_replaced(&found.content, name, tasks);
                let content =
                    content.ok_or_else(|| damaged(&place, name, "has only a part of our block in it"))?;
                folder.write(name, &content).map_err(failed)?;
            }
            (State::Installed, _) => {}
            (State::Damaged, Some(found)) if hook::state(&found.content, true) == State::Installed => {
                let path = folder.path().join(name);
                let message = format!("the hook {} is not executable, so it is not in force", path.display());
                let command = format!("chmod +x {}", crate::sys::shell::quote(&path));
                return Err(Failure::new(FailureKind::NotWritable, message)
                    .detail("damaged_hook")
                    .hint(command));
            }
            (State::Damaged, _) => {
                return Err(damaged(&place, name, "has our block in it, but not in force"));
            }
            (State::None | State::Foreign, None) => {
                folder.write(name, &hook::own(name, tasks)).map_err(failed)?;
            }
            (State::None | State::Foreign, Some(found)) => {
                let block =
                    hook::with_block(&found.content, name, tasks).filter(|_| found.plain && found.executable);
                if let Some(content) = block {
                    folder.write(name, &content).map_err(failed)?;
                } else {
                    folder.save(name).map_err(failed)?;
                    folder.write(name, &hook::wrapper(name, tasks)).map_err(failed)?;
                }
            }
        }
    }
    Ok(Answer::of(vec![HookVerdict::standing(place.hooks()?).into()]).warn(place.warnings))
}

fn uninstall(context: &Context) -> Result<Answer, Failure> {
    let place = Place::find(context)?;
    let folder = &place.folder;
    let failed = |error: FileError| file_failure(&error);
    for name in NAMES {
        let Some(found) = folder.read(name).map_err(failed)? else {
            if folder.has_saved(name) {
                folder.restore(name).map_err(failed)?;
            }
            continue;
        };
        if hook::state(&found.content, true) == State::Foreign {
            continue;
        }
        if folder.has_saved(name) {
            if !hook::is_wrapper(&found.content, name) {
                return Err(damaged(&place, name, "was changed since it was installed"));
            }
            folder.restore(name).map_err(failed)?;
            continue;
        }
        match hook::without_block(&found.content) {
            Some((_, true)) => folder.remove(name).map_err(failed)?,
            Some((content, false)) => folder.write(name, &content).map_err(failed)?,
            None => return Err(damaged(&place, name, "has only a part of our block in it")),
        }
    }
    Ok(Answer::of(vec![HookVerdict::HooksRemoved(place.hooks()?).into()]))
}
