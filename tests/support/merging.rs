//! Repositories with something to merge in them.

use super::{Lab, Output, Repo, Session};

/// A repository with a task's branch, and a session to merge it.
pub struct Scene<'lab> {
    /// The shared root.
    pub root: Repo<'lab>,
    /// The session.
    pub session: Session,
}

impl<'lab> Scene<'lab> {
    /// `t42` and `main` each have a commit, in files of their own: `task` and `other`.
    pub fn apart(lab: &'lab Lab) -> Self {
        Self::with(lab, "task", "other")
    }

    /// `t42` and `main` each have a commit that changes `file`.
    pub fn conflicting(lab: &'lab Lab) -> Self {
        Self::with(lab, "file", "file")
    }

    fn with(lab: &'lab Lab, on_task: &str, on_main: &str) -> Self {
        let root = lab.alone("root");
        Self::in_place(root, on_task, on_main)
    }

    /// The same in a repository that is there already.
    pub fn in_place(root: Repo<'lab>, on_task: &str, on_main: &str) -> Self {
        root.git(&["switch", "-q", "-c", "t42"]);
        root.commit(on_task, "of the task\n");
        root.git(&["switch", "-q", "main"]);
        root.commit(on_main, "of main\n");
        Self { root, session: Session::start() }
    }

    /// `merge <args>`, as this scene's session, with porcelain output.
    pub fn merge(&self, args: &[&str]) -> Output {
        let args = [&["--porcelain", "merge"], args].concat();
        self.root.human(&args).session(&self.session).go()
    }

    /// What `merge status` says first.
    pub fn status(&self) -> String {
        self.merge(&["status"]).word().to_owned()
    }

    /// The commit that `main` stands at.
    pub fn main(&self) -> String {
        self.root.git(&["rev-parse", "refs/heads/main"])
    }

    /// A file of the shared root.
    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.root.path.join(name)).unwrap()
    }

    /// Writes a file of the shared root.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.root.path.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Installs a hook.
    pub fn hook(&self, name: &str, text: &str) {
        let folder = self.root.git_dir().join("hooks");
        self.root.lab.script(folder.join(name), text);
    }

    /// What `git status` has to say, untracked files included.
    pub fn changes(&self) -> String {
        self.root.git(&["status", "--porcelain"])
    }
}

/// Runs a command as it was printed; it has to succeed.
#[track_caller]
pub fn run_printed(lab: &Lab, command: &str) {
    super::printed::ran(command);
    let mut shell = lab.command("bash");
    shell.args(["-c", command]);
    Output::of(shell).success(command);
}
