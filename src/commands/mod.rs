//! The commands: arguments in, verdicts out. Each has a file of its own; the comments of its
//! arguments are its help.

use clap::{Parser, Subcommand};

use crate::context::{Context, GlobalArgs, Layout};
use crate::domain::failure::Failure;
use crate::domain::verdict::{self, Verdict};
use crate::render::Carried;

pub mod anchor;
pub mod ask;
pub mod check;
pub mod claim;
pub mod cleanup;
pub mod complete;
pub mod completions;
pub mod doctor;
pub mod exec;
pub mod explain;
pub mod hook;
pub mod init;
pub mod leftovers;
pub mod list;
pub mod locks;
pub mod log;
pub mod man;
pub mod merge;
pub mod order;
pub mod refresh;
pub mod release;
pub mod verdicts;

/// Two locks that keep coding agents on one repository from stepping on each other
#[derive(Debug, Parser)]
#[command(name = "git aitask-lock", bin_name = "git aitask-lock", version = env!("AITASK_LOCK_VERSION"))]
#[command(subcommand_required = true, arg_required_else_help = true, max_term_width = 100)]
pub struct Cli {
    /// What every command takes.
    #[command(flatten)]
    pub global: GlobalArgs,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// What can be asked.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Claim tasks for this session
    #[command(visible_alias = "lock")]
    Claim(claim::Args),
    /// Renew this session's locks
    Refresh(refresh::Args),
    /// Give tasks back
    #[command(visible_alias = "unlock")]
    Release(release::Args),
    /// Say whether a task is locked: exit code 0 locked, 1 free
    Check(check::Args),
    /// List all locks
    List(list::Args),
    /// Tell who held what, and when
    Log(log::Args),
    /// Create the lock branch, or accept it as it is now
    Init(init::Args),
    /// Remove the locks of archived tasks
    Cleanup(cleanup::Args),
    /// The mutex for end-of-task merges
    Merge(merge::Args),
    /// Show which process a lock taken here would name, and why
    Anchor,
    /// Run a command as a session of its own
    Exec(exec::Args),
    /// Hooks that keep commits out of the shared root during a merge
    Hook(hook::Args),
    /// Say what would go wrong here, and how to fix it
    Doctor,
    /// List every word that a command can answer with
    Verdicts,
    /// Print a completion script for a shell
    Completions(completions::Args),
    /// Say where the man pages are, or install them
    Man(man::Args),
    /// What a completion script asks
    #[command(name = "__complete", hide = true)]
    Complete(complete::Args),
}

impl Cli {
    /// The options that printed commands have to repeat.
    #[must_use]
    pub fn carried(&self) -> Carried {
        let email = match &self.command {
            Command::Claim(args) => args.email.as_deref(),
            Command::Refresh(args) => args.email.as_deref(),
            Command::Release(args) => args.email.as_deref(),
            _ => None,
        };
        let directory = self.global.directory.as_ref().map(|dir| dir.to_string_lossy());
        Carried::of(directory.as_deref(), self.global.remote.as_deref(), email)
    }
}

/// What a command came to.
#[derive(Debug)]
pub struct Answer {
    /// The outcomes, in the order of the tasks.
    pub verdicts: Vec<Verdict>,
    /// The exit code.
    pub exit: u8,
    /// What may go wrong later.
    pub warnings: Vec<String>,
    /// What a person may want to know besides.
    pub notes: Vec<String>,
    /// How a person is shown them.
    pub layout: Layout,
}

impl Answer {
    /// The outcomes, with the exit code that they give.
    #[must_use]
    pub fn of(verdicts: Vec<Verdict>) -> Self {
        let exit = verdict::exit_code(&verdicts);
        Self::with_exit(verdicts, exit)
    }

    /// The outcomes of a command for which they are answers, whatever they say.
    #[must_use]
    pub fn with_exit(verdicts: Vec<Verdict>, exit: u8) -> Self {
        Self { verdicts, exit, warnings: Vec::new(), notes: Vec::new(), layout: Layout::Sentences }
    }

    /// Sets how a person is shown the outcomes.
    #[must_use]
    pub fn laid_out(self, layout: Layout) -> Self {
        Self { layout, ..self }
    }

    /// Adds what may go wrong later.
    #[must_use]
    pub fn warn(mut self, warnings: impl IntoIterator<Item = String>) -> Self {
        self.warnings.extend(warnings);
        self
    }

    /// Adds what a person may want to know.
    #[must_use]
    pub fn note(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        self.notes.extend(notes);
        self
    }
}

impl From<Failure> for Answer {
    fn from(failure: Failure) -> Self {
        Self::of(vec![Verdict::LockError(failure)])
    }
}

/// Runs a command.
#[must_use]
pub fn run(cli: &Cli) -> Answer {
    let global = &cli.global;
    let context = || Context::open(global);
    let ran = match &cli.command {
        Command::Claim(args) => context().and_then(|context| claim::run(&context, args)),
        Command::Refresh(args) => context().and_then(|context| refresh::run(&context, args)),
        Command::Release(args) => context().and_then(|context| release::run(&context, args)),
        Command::Check(args) => context().and_then(|context| check::run(&context, args)),
        // `--watch` needs a screen: main gives it to `live`.
        Command::List(args) => context().and_then(|context| list::run(&context, args)),
        Command::Log(args) => context().and_then(|context| log::run(&context, args)),
        Command::Init(args) => context().and_then(|context| init::run(&context, args)),
        Command::Cleanup(args) => context().and_then(|context| cleanup::run(&context, args)),
        Command::Merge(args) => context().and_then(|context| merge::run(&context, args)),
        Command::Anchor => anchor::run(global),
        Command::Exec(args) => exec::run(args),
        Command::Hook(args) => context().and_then(|context| hook::run(&context, args)),
        Command::Doctor => Ok(doctor::run(global)),
        Command::Verdicts => Ok(verdicts::run()),
        Command::Completions(args) => Ok(completions::run(args)),
        Command::Man(args) => man::run(args),
        Command::Complete(args) => Ok(complete::run(global, args)),
    };
    ran.unwrap_or_else(Answer::from)
}
