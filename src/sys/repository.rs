//! Finds and opens the repository that a command is about.
//!
//! `GIT_DIR` is honoured, as git does, unless the command itself names a folder (`-C`). Every other
//! variable that names a part of a repository is ignored, so that a call from inside a hook
//! reads and writes the same objects and refs as a call from a shell.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{git, shell};

/// An open repository.
pub struct Repository {
    /// The object database, references and configuration.
    pub gix: gix::Repository,
    /// The private git directory of the worktree we stand in.
    pub git_dir: PathBuf,
    /// The git directory that all worktrees of the repository share.
    pub common_dir: PathBuf,
    /// The worktree we stand in; `None` in a bare repository or inside a git directory.
    pub work_dir: Option<PathBuf>,
    /// Whether the references are kept in the reftable format, which gix cannot read.
    pub reftable: bool,
}

/// Why no repository could be opened.
#[derive(Debug)]
pub enum OpenError {
    /// There is none here; git's own words where they could be had.
    NotFound {
        /// Where it was looked for.
        directory: PathBuf,
        /// What git says.
        said: String,
    },
    /// The folder cannot be entered.
    Directory {
        /// The folder.
        directory: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// It is there, but git refuses to trust or to read it.
    Refused {
        /// Where it was looked for.
        directory: PathBuf,
        /// What git or the reader says.
        said: String,
    },
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { directory, said } => {
                write!(f, "{} is not in a git repository: {said}", directory.display())
            }
            Self::Directory { directory, source } => {
                write!(f, "cannot enter {}: {source}", directory.display())
            }
            Self::Refused { directory, said } => {
                write!(f, "the repository at {} cannot be used: {said}", directory.display())
            }
        }
    }
}

impl std::error::Error for OpenError {}

/// How long git may take to say why it refuses a repository.
const QUESTION_LIMIT: Duration = Duration::from_secs(10);

impl Repository {
    /// Opens the repository of `directory` (`-C`), else the one `GIT_DIR` names, else the one around
    /// the current folder.
    ///
    /// # Errors
    /// There is none, or git would not use it; git's own words are passed on.
    pub fn find(directory: Option<&Path>) -> Result<Self, OpenError> {
        let start = directory.unwrap_or(Path::new("."));
        let start = start
            .canonicalize()
            .map_err(|source| OpenError::Directory { directory: start.to_owned(), source })?;
        let options = open_options();
        let git_dir = std::env::var_os("GIT_DIR").filter(|dir| directory.is_none() && !dir.is_empty());
        let opened = match git_dir {
            Some(git_dir) => options.open_path_as_is(true).open(PathBuf::from(git_dir)),
            None => discover(&start, &options),
        };
        let opened = match opened {
            Ok(opened) => opened,
            Err(error) => return Err(why_not(&start, directory.is_some(), &error.to_string())),
        };
        let mut gix = opened.to_thread_local();
        // A test switch of git's own, with which people reproduce ownership refusals.
        let ask_git = std::env::var_os("GIT_TEST_ASSUME_DIFFERENT_OWNER").is_some();
        if (gix.git_dir_trust() != gix::sec::Trust::Full || ask_git)
            && let Some(said) = gits_refusal(&start, directory.is_some())
        {
            return Err(OpenError::Refused { directory: start, said });
        }
        gix.clear_namespace();
        let git_dir = absolute(gix.git_dir());
        let common_dir = absolute(gix.common_dir());
        let work_dir = gix.workdir().map(absolute);
        let reftable = gix
            .config_snapshot()
            .string("extensions.refStorage")
            .is_some_and(|format| format.to_ascii_lowercase() == b"reftable");
        Ok(Self { gix, git_dir, common_dir, work_dir, reftable })
    }

    /// Where git commands for this repository are started: relative remote addresses count from
    /// the worktree, as they do for git itself.
    #[must_use]
    pub fn command_dir(&self) -> &Path {
        self.work_dir.as_deref().filter(|dir| dir.is_dir()).unwrap_or(&self.git_dir)
    }

    /// Whether this is a partial clone: objects that it refers to may be missing here.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        let promisor = |name: &String| {
            let values = self.config_values("remote", name, "promisor");
            values.last().is_some_and(|value| !matches!(value.as_str(), "false" | "no" | "off" | "0"))
        };
        self.config("extensions.partialClone").is_some()
            || self.config_subsections("remote").iter().any(promisor)
    }

    /// One value of the configuration; the last one wins.
    #[must_use]
    pub fn config(&self, key: &str) -> Option<String> {
        self.gix.config_snapshot().string(key).map(|value| value.to_string())
    }

    /// What a person can do about a setting (`section.key`) that will not do.
    #[must_use]
    pub fn set_right(&self, key: &str) -> String {
        match self.unset_command(key) {
            Some(unset) => format!("set it right, or take it out: {unset}"),
            None => format!("no file sets {key}: it comes from the environment, or from git -c"),
        }
    }

    /// The command that takes out a setting, in whichever file it stands.
    fn unset_command(&self, key: &str) -> Option<String> {
        let (section, name) = key.split_once('.')?;
        let snapshot = self.gix.config_snapshot();
        let mut file = None;
        for section in snapshot.plumbing().sections_by_name(section)? {
            // As for its value, the last one wins.
            if section.header().subsection_name().is_none() && section.value(name).is_some() {
                file = section.meta().path.as_deref().map(absolute);
            }
        }
        let file = file?;
        Some(format!("git config --file {} --unset-all {key}", shell::quote(&file)))
    }

    /// The branch that is being worked on here, without `refs/heads/`: the one that is checked out, or in a
    /// rebase the one that is rebased. None for a detached HEAD, and where it cannot be told.
    #[must_use]
    pub fn branch_at_work(&self) -> Option<String> {
        let head = if self.reftable {
            git::Git::new(&self.git_dir, self.command_dir(), Instant::now() + QUESTION_LIMIT)
                .head_branch()
                .ok()?
        } else {
            self.gix.head_name().ok()?.map(|name| name.as_bstr().to_string())
        };
        let rebased = || {
            let states = ["rebase-merge/head-name", "rebase-apply/head-name"];
            let read = states.iter().find_map(|name| std::fs::read_to_string(self.git_dir.join(name)).ok());
            read.map(|name| name.trim().to_owned())
        };
        head.or_else(rebased)?.strip_prefix("refs/heads/").map(str::to_owned)
    }

    /// All values of one key of a named subsection, in order: `("remote", "origin", "url")`.
    #[must_use]
    pub fn config_values(&self, section: &str, subsection: &str, key: &str) -> Vec<String> {
        let snapshot = self.gix.config_snapshot();
        let values = snapshot.plumbing().raw_values_by(section, Some(subsection.into()), key);
        values.unwrap_or_default().iter().map(ToString::to_string).collect()
    }

    /// The names of all subsections of a section (`remote`, `url`), each once.
    #[must_use]
    pub fn config_subsections(&self, section: &str) -> Vec<String> {
        let snapshot = self.gix.config_snapshot();
        let Some(sections) = snapshot.plumbing().sections_by_name(section) else { return Vec::new() };
        let mut names: Vec<String> = Vec::new();
        for name in sections.filter_map(|section| section.header().subsection_name()) {
            let name = name.to_string();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

fn open_options() -> gix::open::Options {
    let mut permissions = gix::open::Permissions::secure();
    // Quarantine and object directories of an enclosing git command are not ours.
    permissions.env.objects = gix::sec::Permission::Deny;
    gix::open::Options::default()
        .permissions(permissions)
        .cli_overrides(command_line_configuration(std::env::var_os("GIT_CONFIG_PARAMETERS")))
}

/// Reads `GIT_CONFIG_PARAMETERS`, through which `git -c key=value aitask-lock` arrives: words
/// quoted for a shell, each `'key=value'` (older git) or `'key'='value'`.
fn command_line_configuration(parameters: Option<OsString>) -> Vec<String> {
    let parameters = parameters.and_then(|text| text.into_string().ok()).unwrap_or_default();
    shlex::split(&parameters).unwrap_or_default()
}

fn discover(start: &Path, options: &gix::open::Options) -> gix::Result<gix::ThreadSafeRepository> {
    let upwards = gix::discover::upwards::Options { match_ceiling_dir_or_error: false, ..Default::default() };
    let trust = gix::sec::trust::Mapping { full: options.clone(), reduced: options.clone() };
    gix::ThreadSafeRepository::discover_opts(start, upwards.apply_environment(), trust)
}

fn absolute(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Asks git itself why a folder is no repository of ours: it knows about ownership, formats and
/// broken files, and people know its words.
fn why_not(start: &Path, explicit: bool, reader: &str) -> OpenError {
    let directory = start.to_owned();
    match gits_refusal(start, explicit) {
        Some(said) if said.starts_with("fatal: not a git repository") => {
            OpenError::NotFound { directory, said }
        }
        Some(said) => OpenError::Refused { directory, said },
        None => OpenError::Refused { directory, said: reader.to_owned() },
    }
}

fn gits_refusal(start: &Path, explicit: bool) -> Option<String> {
    let deadline = Instant::now() + QUESTION_LIMIT;
    // With an explicit folder, an inherited GIT_DIR does not speak for it.
    let answer = if explicit {
        git::run_detached(start, &["rev-parse", "--git-dir"], deadline)
    } else {
        git::run_anywhere(start, &["rev-parse", "--git-dir"], deadline)
    };
    match answer {
        Ok(answer) if answer.ok() => None,
        Ok(answer) => {
            let failure = git::GitFailure::of_exit("rev-parse", answer.code, &answer.stderr);
            Some(failure.said)
        }
        Err(failure) => Some(failure.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configuration_of_git_c_arrives() {
        for (parameters, settings) in [
            ("'a.b=c'", vec!["a.b=c"]),
            ("'a.b'='c'", vec!["a.b=c"]),
            ("'a.b'='it'\\''s' 'x.y'='1 2'", vec!["a.b=it's", "x.y=1 2"]),
            ("'a.b'", vec!["a.b"]),
            ("", vec![]),
            ("'unfinished", vec![]),
        ] {
            assert_eq!(command_line_configuration(Some(parameters.into())), settings, "{parameters}");
        }
        assert_eq!(command_line_configuration(None), Vec::<String>::new());
    }
}
