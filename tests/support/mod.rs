//! The lab: a folder of its own, a cleared environment, a bare server, clones and worktrees of it,
//! and sessions that are real processes.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub mod actors;
pub mod answers;
pub mod fingerprint;
pub mod history;
pub mod line_reader;
pub mod merging;
pub mod net;
pub mod output;
pub mod planting;
pub mod printed;
pub mod scene;
pub mod terminal;

pub use actors::{Session, race};
pub use output::Output;

/// The owner that the lab's git configuration names.
pub const OWNER: &str = "alice@example.com";
/// The lock branch.
pub const BRANCH: &str = "refs/heads/aitask-locks";

/// The program under test.
pub fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_git-aitask-lock"))
}

/// The crate's folder.
pub fn manifest_dir() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Compares a whole document with its file in `snapshots/`.
pub fn snapshot(name: &str, document: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(manifest_dir().join("snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, document));
}

/// A folder of its own, removed at the end, and an environment that holds nothing of the user's.
pub struct Lab {
    folder: tempfile::TempDir,
    root: PathBuf,
}

impl Lab {
    /// An empty lab.
    pub fn empty() -> Self {
        let folder = tempfile::Builder::new().prefix("lock-lab-").tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("home")).unwrap();
        let lab = Self { folder, root };
        let config = "[user]\n\tname = Alice\n\temail = alice@example.com\n[init]\n\tdefaultBranch = main\n\
                      [protocol \"file\"]\n\tallow = always\n[uploadpack]\n\tallowFilter = true\n\
                      [advice]\n\tdetachedHead = false\n";
        std::fs::write(lab.global_config(), config).unwrap();
        lab
    }

    /// A lab with a bare server that holds one commit on `main`.
    pub fn new() -> Self {
        let lab = Self::empty();
        lab.bare("server.git", &[]);
        lab
    }

    /// The lab's folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path in the lab.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.root.join(name)
    }

    /// The file that git takes for the user's configuration.
    pub fn global_config(&self) -> PathBuf {
        self.path("home/.gitconfig")
    }

    /// The bare server.
    pub fn server(&self) -> Repo<'_> {
        self.at("server.git")
    }

    /// A repository that is there already.
    pub fn at(&self, name: impl AsRef<Path>) -> Repo<'_> {
        Repo { lab: self, path: self.path(name) }
    }

    /// A new bare repository with one commit on `main`.
    pub fn bare(&self, name: &str, options: &[&str]) -> Repo<'_> {
        let path = self.path(name);
        self.git(&self.root, &[&["init", "-q", "--bare"], options, &[path.to_str().unwrap()]].concat());
        let repo = Repo { lab: self, path };
        let blob = repo.git_with_input(&["hash-object", "-w", "--stdin"], b"content\n");
        let tree = repo.git_with_input(&["mktree"], format!("100644 blob {blob}\tfile\n").as_bytes());
        let commit = repo.git(&["commit-tree", "-m", "first", &tree]);
        repo.git(&["update-ref", "refs/heads/main", &commit]);
        repo
    }

    /// A clone of the server.
    pub fn clone(&self, name: impl AsRef<Path>) -> Repo<'_> {
        self.clone_with(name, &[])
    }

    /// A clone of the server, made with more options.
    pub fn clone_with(&self, name: impl AsRef<Path>, options: &[&str]) -> Repo<'_> {
        let path = self.path(name);
        let url = format!("file://{}", self.path("server.git").display());
        let mut command = self.command("git");
        command.current_dir(&self.root).args(["clone", "-q"]).args(options).arg(url).arg(&path);
        Output::of(command).success("clone");
        Repo { lab: self, path }
    }

    /// A repository without a remote, with one commit.
    pub fn alone(&self, name: &str) -> Repo<'_> {
        self.alone_with(name, &[])
    }

    /// The same, made with more options of `git init`.
    pub fn alone_with(&self, name: &str, options: &[&str]) -> Repo<'_> {
        let path = self.path(name);
        self.git(&self.root, &[&["init", "-q"], options, &[path.to_str().unwrap()]].concat());
        let repo = Repo { lab: self, path };
        repo.commit("file", "content\n");
        repo
    }

    /// Runs git in a folder; it has to succeed.
    pub fn git(&self, folder: &Path, args: &[&str]) -> String {
        let mut command = self.command("git");
        command.current_dir(folder).args(args);
        Output::of(command).success(&format!("git {args:?}"))
    }

    /// A program in the lab's environment: nothing of the caller's but the search path, which
    /// begins with the program under test.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        let own = self::program().parent().unwrap().to_owned();
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(own).chain(std::env::split_paths(&inherited)));
        command
            .env_clear()
            .env("PATH", path.unwrap())
            .env("HOME", self.path("home"))
            .env("GIT_CONFIG_GLOBAL", self.global_config())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CEILING_DIRECTORIES", self.root.parent().unwrap())
            .env("TZ", "UTC")
            .stdin(Stdio::null());
        command
    }

    /// Writes an executable script.
    pub fn script(&self, name: impl AsRef<Path>, text: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// Keeps the folder, to look at it.
    #[expect(dead_code, reason = "for whoever hunts a fault")]
    pub fn keep(self) -> PathBuf {
        self.folder.keep()
    }
}

/// A repository of the lab.
#[derive(Clone)]
pub struct Repo<'lab> {
    /// The lab.
    pub lab: &'lab Lab,
    /// Its top folder, or the git directory of a bare one.
    pub path: PathBuf,
}

impl<'lab> Repo<'lab> {
    /// Runs git; it has to succeed. Returns its standard output without the last newline.
    pub fn git(&self, args: &[&str]) -> String {
        self.lab.git(&self.path, args)
    }

    /// Runs git, whatever it comes to.
    #[must_use = "an output that nobody looks at tests nothing"]
    pub fn try_git(&self, args: &[&str]) -> Output {
        let mut command = self.lab.command("git");
        command.current_dir(&self.path).args(args);
        Output::of(command)
    }

    /// Runs git with something on standard input; it has to succeed.
    pub fn git_with_input(&self, args: &[&str], input: &[u8]) -> String {
        let mut command = self.lab.command("git");
        command.current_dir(&self.path).args(args);
        Output::of_input(command, input).success(&format!("git {args:?}"))
    }

    /// The git directory, absolute.
    pub fn git_dir(&self) -> PathBuf {
        PathBuf::from(self.git(&["rev-parse", "--absolute-git-dir"]))
    }

    /// Writes and commits a file.
    pub fn commit(&self, file: &str, content: &str) -> String {
        std::fs::write(self.path.join(file), content).unwrap();
        self.git(&["add", "--", file]);
        self.git(&["commit", "-q", "-m", &format!("change {file}")]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// A linked worktree beside it, on a branch of the same name.
    pub fn worktree(&self, name: &str) -> Repo<'lab> {
        let path = self.lab.path(name);
        self.git(&["worktree", "add", "-q", "-b", name, path.to_str().unwrap()]);
        Repo { lab: self.lab, path }
    }

    /// The tip of a ref; nothing when there is none.
    pub fn tip(&self, name: &str) -> Option<String> {
        let listing = self.git(&["for-each-ref", "--format=%(objectname) %(refname)", name]);
        let line = listing.lines().find(|line| line.ends_with(&format!(" {name}")))?;
        line.split_once(' ').map(|(id, _)| id.to_owned())
    }

    /// The names of the files on the lock branch of this very repository, asked of git.
    pub fn lock_files(&self) -> Vec<String> {
        if self.tip(BRANCH).is_none() {
            return Vec::new();
        }
        self.git(&["ls-tree", "--name-only", BRANCH]).lines().map(str::to_owned).collect()
    }

    /// A file of the lock branch, asked of git.
    pub fn lock_file(&self, name: &str) -> String {
        self.git(&["cat-file", "blob", &format!("{BRANCH}:{name}")])
    }

    /// One value of a lock file, asked of git.
    pub fn lock_value(&self, task: &str, key: &str) -> Option<String> {
        let text = self.lock_file(&format!("t{task}_lock.yaml"));
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{key}: ")))?;
        Some(line.trim_matches('\'').to_owned())
    }

    /// Number of commits on the lock branch.
    pub fn lock_commits(&self) -> usize {
        self.git(&["rev-list", "--count", BRANCH]).parse().unwrap()
    }

    /// The program, to be run here, with porcelain output.
    pub fn lock(&self, args: &[&str]) -> Run {
        let run = self.human(args);
        run.arg("--porcelain")
    }

    /// The program, to be run here, in the rendering for people.
    pub fn human(&self, args: &[&str]) -> Run {
        let mut command = self.lab.command(program());
        command.current_dir(&self.path).args(args);
        Run { command }
    }
}

/// One run of the program.
pub struct Run {
    command: Command,
}

impl Run {
    /// As the session.
    pub fn session(self, session: &Session) -> Self {
        self.env("AIT_AGENT_PID", session.pid().to_string())
    }

    /// As another owner.
    pub fn email(self, email: &str) -> Self {
        self.env("GIT_AITASK_LOCK_EMAIL", email)
    }

    /// With a variable.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// With one more argument.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    /// From another folder.
    pub fn from(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// Runs it.
    #[must_use = "an output that nobody looks at tests nothing"]
    pub fn go(self) -> Output {
        Output::of(self.command)
    }

    /// The command, to be run in a special way.
    pub fn into_command(self) -> Command {
        self.command
    }
}
