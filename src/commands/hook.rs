//! `hook`: opt-in hooks that keep a commit made by hand out of the shared root while another session
//! holds the merge reservation.
//!
//! They look only in the shared root: linked worktrees commit as they like. Where the program is not on
//! the hook's `PATH`, the hook says so and lets the commit pass, since it binds only those who take part.

use std::path::PathBuf;

use super::Answer;
use super::merge::root::nowhere_to_merge;
use super::merge::run::MARK;
use crate::context::Context;
use crate::domain::failure::{Failure, FailureKind};
use crate::domain::hook::{self, Hook, HookVerdict, Hooks, NAMES, State};
use crate::domain::liveness;
use crate::domain::merge::rules::Seen;
use crate::store::mutex::{self, Mutex};
use crate::sys::files::FileError;
use crate::sys::git::worktree::MergeRoot;
use crate::sys::hooks::Folder;

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
    Install,
    /// Take the hooks out again; those that were there before come back
    Uninstall,
    /// Say whether they are in force: exit code 0 if so
    Status,
    /// What the hooks run
    #[command(hide = true)]
    Run {
        /// The hook
        #[arg(value_parser = NAMES)]
        name: String,
    },
}

/// Runs `hook`.
///
/// # Errors
/// What kept it from deciding or from writing.
pub fn run(context: &Context, args: &Args) -> Result<Answer, Failure> {
    match &args.command {
        HookCommand::Install => install(context),
        HookCommand::Uninstall => uninstall(context),
        HookCommand::Status => {
            let place = Place::find(context)?;
            Ok(Answer::of(vec![HookVerdict::standing(place.hooks()?).into()]))
        }
        HookCommand::Run { name } => police(context, name),
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
        Ok(Hooks { folder: self.folder.path().to_string_lossy().into_owned(), hooks })
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

fn install(context: &Context) -> Result<Answer, Failure> {
    let place = Place::find(context)?;
    let folder = &place.folder;
    let failed = |error: FileError| file_failure(&error);
    for name in NAMES {
        let found = folder.read(name).map_err(failed)?;
        let state = found.as_ref().map_or(State::None, |found| hook::state(&found.content, found.executable));
        match (state, found) {
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
            (State::None | State::Foreign, None) => folder.write(name, &hook::own(name)).map_err(failed)?,
            (State::None | State::Foreign, Some(found)) => {
                let block =
                    hook::with_block(&found.content, name).filter(|_| found.plain && found.executable);
                if let Some(content) = block {
                    folder.write(name, &content).map_err(failed)?;
                } else {
                    folder.save(name).map_err(failed)?;
                    folder.write(name, &hook::wrapper(name)).map_err(failed)?;
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

/// Whether a commit here may go on. Silence is consent.
fn police(context: &Context, name: &str) -> Result<Answer, Failure> {
    let passed = Ok(Answer::of(Vec::new()));
    // Without a shared root nothing merges anywhere.
    let Ok(root) = MergeRoot::find(&context.repo, context.deadline()) else { return passed };
    if !root.is_of(&context.repo) {
        return passed;
    }
    let look = Mutex::new(&context.repo.common_dir).look().map_err(|error| {
        Failure::new(FailureKind::Unreadable, format!("nothing can be said of the merge mutex: {error}"))
            .hint("git aitask-lock merge status")
    })?;
    if let Seen::Taken(reservation) = &look.seen {
        // Our own merge runs under it.
        if std::env::var(MARK).is_ok_and(|mark| mark == reservation.id) {
            return passed;
        }
        let session = context.session().session;
        if liveness::same_session(&reservation.anchor, &session.anchor(), &session.here) {
            return passed;
        }
    }
    let session = context.session().session;
    match look.seen.holder(mutex::liveness(&look.seen, &session.here)) {
        None => passed,
        Some(holder) => {
            let refused =
                HookVerdict::CommitRefused { of_merge: name == "pre-merge-commit", holder: Box::new(holder) };
            Ok(Answer::of(vec![refused.into()]))
        }
    }
}
