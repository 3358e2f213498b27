//! What a command runs with: its global options, the configuration and the repository, settled once.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use jiff::SignedDuration;

use crate::arbiter;
use crate::domain::failure::{Failure, FailureKind};
use crate::domain::task_id::TaskId;
use crate::owner;
use crate::sys::anchor::{self, AnchorEnv, Resolution};
use crate::sys::git::remote::Arbiter;
use crate::sys::git::{Git, failure};
use crate::sys::host;
use crate::sys::repository::{OpenError, Repository};
use crate::sys::terminal;

/// The setting that pins this host's name.
const HOSTNAME: &str = "aitask-lock.hostname";
/// The setting for how long a command may take.
const TIMEOUT: &str = "aitask-lock.timeout";

/// Options that every command takes.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Options for every command")]
pub struct GlobalArgs {
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub directory: Option<PathBuf>,
    /// Print one JSON document on standard output
    #[arg(long, global = true, conflicts_with = "porcelain")]
    pub json: bool,
    /// Print one stable line for each task on standard output
    #[arg(long, global = true)]
    pub porcelain: bool,
    /// Say nothing that is not asked for
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Say which git commands are run, and how long they take
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// The remote that decides, by name or address; `.` means none
    #[arg(long, value_name = "NAME", global = true)]
    pub remote: Option<String>,
    /// Most time that the command may take, such as 30s or 2m
    #[arg(long, value_name = "DURATION", value_parser = some_time, global = true)]
    pub timeout: Option<Duration>,
    /// Answer every question with yes
    #[arg(short, long, global = true)]
    pub yes: bool,
    /// Never ask anything
    #[arg(long, global = true)]
    pub no_input: bool,
}

/// How a verdict is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Sentences.
    Human,
    /// `WORD:field|field`.
    Porcelain,
    /// One JSON document.
    Json,
}

/// How outcomes are laid out for a person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// A sentence or two each.
    #[default]
    Sentences,
    /// A row of one table each.
    Table {
        /// What is said when there is none.
        none: String,
    },
    /// A line each, shown page by page on a terminal.
    Story {
        /// What is said when there is none.
        none: String,
    },
}

impl GlobalArgs {
    /// The chosen rendering.
    #[must_use]
    pub fn format(&self) -> Format {
        match (self.json, self.porcelain) {
            (true, _) => Format::Json,
            (false, true) => Format::Porcelain,
            (false, false) => Format::Human,
        }
    }

    /// Whether a person can be asked.
    #[must_use]
    pub fn interactive(&self) -> bool {
        self.format() == Format::Human && !self.yes && !self.no_input && terminal::can_ask()
    }
}

/// Reads a duration such as `60s`, `2m` or `1h30m`; a bare number counts seconds.
///
/// # Errors
/// The text is no duration, or a negative one.
pub fn duration(text: &str) -> Result<Duration, String> {
    if let Ok(seconds) = text.parse::<u64>() {
        return Ok(Duration::from_secs(seconds));
    }
    let parsed: SignedDuration =
        text.parse().map_err(|_| "a duration is written like 30s, 2m or 1h30m".to_owned())?;
    Duration::try_from(parsed).map_err(|_| "a duration is not negative".to_owned())
}

/// Reads a duration that leaves time to do something.
fn some_time(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("nothing can be done in no time".to_owned()),
        time => Ok(time),
    }
}

/// A command's repository and settings.
pub struct Context {
    /// The global options.
    pub global: GlobalArgs,
    /// The repository.
    pub repo: Repository,
    /// The lock branch, as a full reference name.
    pub branch: String,
    timeout: Duration,
    deadline: Cell<Instant>,
}

impl Context {
    /// Opens the repository and reads the settings that every command needs.
    ///
    /// # Errors
    /// There is no usable repository, or a setting makes no sense.
    pub fn open(global: &GlobalArgs) -> Result<Self, Failure> {
        let started = Instant::now();
        let repo = Repository::find(global.directory.as_deref()).map_err(no_repository)?;
        let timeout = match global.timeout {
            Some(timeout) => timeout,
            None => duration_setting(&repo, TIMEOUT, Duration::from_secs(60))?,
        };
        if timeout.is_zero() && global.timeout.is_none() {
            return Err(bad_setting(&repo, TIMEOUT, "0", "in no time nothing can be done"));
        }
        let name = repo.config("aitask-lock.branch").unwrap_or_else(|| "aitask-locks".to_owned());
        let branch = format!("refs/heads/{name}");
        if gix::refs::FullName::try_from(branch.as_str()).is_err() {
            return Err(bad_setting(&repo, "aitask-lock.branch", &name, "it is no branch name"));
        }
        // Locks would be committed onto a branch of the project, under a worktree that knows nothing of it.
        let head = repo.gix.head_name().ok().flatten();
        if head.is_some_and(|head| head.as_bstr() == branch.as_str())
            && repo.config("aitask-lock.branch").is_some()
        {
            let why = "it is the branch that is checked out here, and locks need one of their own";
            return Err(bad_setting(&repo, "aitask-lock.branch", &name, why));
        }
        if let Some(pinned) = repo.config(HOSTNAME)
            && let Err(why) = host::check_hostname(pinned.trim())
        {
            return Err(bad_setting(&repo, HOSTNAME, &pinned, &why));
        }
        let timeout = timeout.min(Duration::from_secs(24 * 60 * 60));
        let deadline = Cell::new(started + timeout);
        Ok(Self { global: global.clone(), repo, branch, timeout, deadline })
    }

    /// When the command has to be done.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.deadline.get()
    }

    /// Starts the time limit anew: the time that a person takes to answer does not count.
    pub fn restart_deadline(&self) {
        self.deadline.set(Instant::now() + self.timeout);
    }

    /// Shortens the time limit, where less than the usual patience is right.
    pub fn limit_deadline(&self, most: Duration) {
        self.deadline.set(self.deadline().min(Instant::now() + most));
    }

    /// A sealed git for this repository.
    #[must_use]
    pub fn git(&self) -> Git {
        Git::new(&self.repo.git_dir, self.repo.command_dir(), self.deadline()).traced(self.global.verbose)
    }

    /// The one address that decides who holds a lock; none where the local branch does.
    ///
    /// # Errors
    /// Several addresses could be meant.
    pub fn arbiter(&self) -> Result<Option<Arbiter>, Failure> {
        arbiter::resolve(&self.repo, self.global.remote.as_deref())
    }

    /// The lock branch as people write it.
    #[must_use]
    pub fn branch_name(&self) -> &str {
        self.branch.strip_prefix("refs/heads/").unwrap_or(&self.branch)
    }

    /// The owner of locks taken here.
    ///
    /// # Errors
    /// Nobody is configured.
    pub fn owner(&self, option: Option<&str>) -> Result<String, Failure> {
        owner::resolve(&self.repo, option)
    }

    /// The session of this command. Warnings about it are kept for whoever shows them.
    #[must_use]
    pub fn session(&self) -> Resolution {
        let pinned = self.repo.config(HOSTNAME);
        anchor::resolve(host::here(pinned.as_deref()), &AnchorEnv::from_env())
    }

    /// How old a lock may be before a refresh writes.
    ///
    /// # Errors
    /// The setting is no duration.
    pub fn refresh_interval(&self) -> Result<Duration, Failure> {
        duration_setting(&self.repo, "aitask-lock.refreshInterval", Duration::from_secs(600))
    }

    /// The folder of archived tasks.
    #[must_use]
    pub fn archived_dir(&self) -> Option<PathBuf> {
        let folder = self.repo.config("aitask-lock.archivedDir");
        let folder = folder.unwrap_or_else(|| "aitasks/archived".to_owned());
        self.repo.work_dir.as_ref().map(|top| top.join(Path::new(&folder)))
    }
}

/// A setting that is a duration.
///
/// # Errors
/// The setting is no duration.
pub fn duration_setting(repo: &Repository, key: &str, default: Duration) -> Result<Duration, Failure> {
    match repo.config(key) {
        None => Ok(default),
        Some(value) => duration(&value).map_err(|why| bad_setting(repo, key, &value, &why)),
    }
}

fn bad_setting(repo: &Repository, key: &str, value: &str, why: &str) -> Failure {
    Failure::new(FailureKind::Usage, format!("the setting {key} is {value:?}: {why}"))
        .hint(repo.set_right(key))
}

fn no_repository(error: OpenError) -> Failure {
    let failure = Failure::new(FailureKind::NoRepository, error.to_string());
    match error {
        OpenError::NotFound { .. } => failure.hint("run it inside a repository, or name one with -C"),
        OpenError::Refused { directory, said } if said.contains("dubious ownership") => {
            failure.detail("dubious_ownership").hint(failure::trust(&said, &directory))
        }
        OpenError::Refused { .. } | OpenError::Directory { .. } => failure,
    }
}

/// Reads a task ID of the command line.
///
/// # Errors
/// Says which rule the text breaks.
pub fn task_id(text: &str) -> Result<TaskId, String> {
    TaskId::parse(text).map_err(|why| why.to_string())
}
