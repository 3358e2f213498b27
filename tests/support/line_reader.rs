//! The other implementation of the lock branch, as far as its format goes: it reads records line by
//! line, decides by fixed rules, and writes through plain git. Written from a description of what it
//! does, and apart from the program's own reader, so that each can be held against the other.

use std::process::{Command, Stdio};
use std::time::Duration;

use super::{BRANCH, Repo, Session, actors, planting};

/// The keys that both implementations write, in their order.
pub const KEYS: [&str; 7] =
    ["task_id", "locked_by", "locked_at", "hostname", "pid", "pid_starttime", "pid_starttime_kind"];

/// What follows `key:` and blanks, to the end of the line, as it stands; empty when there is no such line.
pub fn value<'a>(text: &'a str, key: &str) -> &'a str {
    let line = text.split('\n').find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    line.unwrap_or_default().trim_start_matches([' ', '\t'])
}

/// A value, or what counts where there is none.
fn or<'a>(value: &'a str, missing: &'a str) -> &'a str {
    if value.is_empty() { missing } else { value }
}

/// What it does about a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// No lock: taken.
    Free,
    /// Its own: written anew.
    Mine,
    /// Taken over: no session was recorded.
    NoSession,
    /// Taken over: the session is gone.
    Dead,
    /// Taken over, with a notice: another host.
    OtherHost,
    /// Refused with 1.
    OtherOwner,
    /// Refused with 13.
    Alive,
    /// Refused with 14.
    CannotTell,
}

impl Ruling {
    /// Whether it writes its own record now.
    pub fn takes(self) -> bool {
        !matches!(self, Self::OtherOwner | Self::Alive | Self::CannotTell)
    }
}

/// What a command of it came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its record stands on the branch.
    Taken(Ruling),
    /// Refused; nothing was changed.
    Refused(Ruling),
    /// Five tries were not enough.
    Exhausted,
    /// Its process was killed in the middle: it never said anything.
    Killed,
}

/// One agent that uses the other implementation.
#[derive(Clone)]
pub struct Shell<'lab> {
    /// The clone in which it works.
    pub repo: Repo<'lab>,
    /// Its owner.
    pub owner: String,
    /// What `hostname` prints.
    pub host: String,
    /// Pid, token and kind, as it records them.
    pub session: [String; 3],
    /// Kills the push of this try after this time: what it did until then may have landed or not.
    pub killed: Option<(usize, Duration)>,
}

impl<'lab> Shell<'lab> {
    /// An agent whose session is this process.
    pub fn new(repo: Repo<'lab>, owner: &str, session: &Session) -> Self {
        let session = [session.pid().to_string(), session.token(), "proc".to_owned()];
        Self { repo, owner: owner.to_owned(), host: planting::hostname(), session, killed: None }
    }

    /// The record that it writes.
    pub fn record(&self, task: &str) -> String {
        let [pid, token, kind] = &self.session;
        let values = [task, &self.owner, "2026-08-18 18:36", &self.host, pid, token, kind];
        KEYS.iter().zip(values).map(|(key, value)| format!("{key}: {value}\n")).collect()
    }

    /// What it does about a record.
    pub fn decides(&self, record: Option<&str>) -> Ruling {
        let Some(record) = record else { return Ruling::Free };
        if value(record, "locked_by") != self.owner {
            return Ruling::OtherOwner;
        }
        let host = or(value(record, "hostname"), "unknown");
        if host != self.host || host == "unknown" {
            return Ruling::OtherHost;
        }
        let recorded = [
            or(value(record, "pid"), "-"),
            or(value(record, "pid_starttime"), "-"),
            or(value(record, "pid_starttime_kind"), "proc"),
        ];
        let [pid, token, kind] = recorded;
        if matches!(pid, "-" | "0") {
            return Ruling::NoSession;
        }
        if recorded == self.session.each_ref().map(String::as_str) {
            return Ruling::Mine;
        }
        let exists = std::path::Path::new("/proc").join(pid).exists();
        match kind {
            "proc" if !exists => Ruling::Dead,
            "proc" if actors::start_token(pid.parse().unwrap()) == token => Ruling::Alive,
            "proc" => Ruling::Dead,
            "ps" if !exists || lstart(pid) != token => Ruling::Dead,
            _ => Ruling::CannotTell,
        }
    }

    /// Takes a task: five tries, each with its own look, and a plain push.
    pub fn claim(&self, task: &str) -> Outcome {
        self.write(task, |record| {
            let ruling = self.decides(record);
            (ruling, ruling.takes().then(|| Some(self.record(task))))
        })
    }

    /// Removes a lock, whoever holds it.
    pub fn unlock(&self, task: &str) -> Outcome {
        self.write(task, |_| (Ruling::Free, Some(None)))
    }

    fn write(
        &self,
        task: &str,
        change: impl Fn(Option<&str>) -> (Ruling, Option<Option<String>>),
    ) -> Outcome {
        let file = format!("t{task}_lock.yaml");
        for attempt in 0..5 {
            // Looked for, then fetched: into a ref of this agent's own, since several share a clone.
            let listed = self.repo.git(&["ls-remote", "origin", BRANCH]);
            assert!(!listed.is_empty(), "it does not make the branch by itself here");
            let own = format!("refs/shell/{}", self.session[0]);
            if self.repo.try_git(&["fetch", "-q", "origin", &format!("+{BRANCH}:{own}")]).code() != 0 {
                pause();
                continue;
            }
            let tip = self.repo.git(&["rev-parse", &own]);
            let listing = self.repo.git(&["ls-tree", &tip]);
            let suffix = format!("\t{file}");
            let present = listing.lines().find(|line| line.ends_with(&suffix));
            let record = present.map(|_| self.repo.git(&["cat-file", "blob", &format!("{tip}:{file}")]));
            let (ruling, written) = change(record.as_deref());
            let Some(content) = written else { return Outcome::Refused(ruling) };
            let mut lines: Vec<String> =
                listing.lines().filter(|line| !line.ends_with(&suffix)).map(str::to_owned).collect();
            if let Some(content) = &content {
                let blob = self.repo.git_with_input(&["hash-object", "-w", "--stdin"], content.as_bytes());
                lines.push(format!("100644 blob {blob}{suffix}"));
            }
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let tree = self.repo.git_with_input(&["mktree"], text.as_bytes());
            let subject = match content {
                Some(_) => format!("ait: Lock task t{task} for {}", self.owner),
                None => format!("ait: Unlock task t{task}"),
            };
            let commit = self.repo.git(&["commit-tree", "-m", &subject, "-p", &tip, &tree]);
            let killed = self.killed.filter(|(at, _)| *at == attempt).map(|(_, after)| after);
            match self.push(&commit, killed) {
                Some(true) => return Outcome::Taken(ruling),
                Some(false) => pause(),
                None => return Outcome::Killed,
            }
        }
        Outcome::Exhausted
    }

    /// A plain push, without a lease: only a fast-forward is taken. Nothing when it was killed.
    fn push(&self, commit: &str, killed_after: Option<Duration>) -> Option<bool> {
        let refspec = format!("{commit}:{BRANCH}");
        let Some(after) = killed_after else {
            return Some(self.repo.try_git(&["push", "-q", "origin", &refspec]).code() == 0);
        };
        let mut command: Command = self.repo.lab.command("git");
        command.current_dir(&self.repo.path).args(["push", "-q", "origin", &refspec]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(after);
        let _gone_already = child.kill();
        child.wait().unwrap();
        None
    }
}

/// What `ps` prints as a process's start, each run of blanks made one `_`.
fn lstart(pid: &str) -> String {
    let output = Command::new("ps").args(["-p", pid, "-o", "lstart="]).env("LC_ALL", "C").output().unwrap();
    String::from_utf8(output.stdout).unwrap().split_whitespace().collect::<Vec<_>>().join("_")
}

/// The token of kind `ps` of a session.
pub fn ps_token(session: &Session) -> String {
    lstart(&session.pid().to_string())
}

/// A number that differs from call to call, below a bound.
pub fn random(bound: u64) -> u64 {
    use std::hash::{BuildHasher as _, RandomState};
    RandomState::new().hash_one(0_u8) % bound
}

/// Between two tries: 0.1 to 0.4 s.
fn pause() {
    std::thread::sleep(Duration::from_millis(100 + random(301)));
}
