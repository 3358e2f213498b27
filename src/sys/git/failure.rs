//! Why a git call did not do what it was asked, sorted by what can be done about it.

use std::fmt;
use std::path::Path;

use crate::sys::shell;

/// What kept git from doing its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The program could not be started.
    NotStarted,
    /// It did not end within the time limit and was ended, with its helpers.
    TimedOut,
    /// A signal ended it.
    Killed(i32),
    /// The remote could not be reached, or is no repository.
    Unreachable,
    /// Credentials are missing or wrong.
    Authentication,
    /// The credentials are good, the permission is not there.
    Permission,
    /// The connection was there and broke.
    ConnectionLost,
    /// git does not trust this repository's ownership.
    DubiousOwnership,
    /// A reference of ours is held by another git, or was moved by one.
    RefLocked,
    /// Our side cannot be written: read-only, no space, no permission.
    NotWritable,
    /// Something else; git's own words say what.
    Other,
}

impl Cause {
    /// The stable word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::NotStarted => "no_git",
            Self::TimedOut => "timeout",
            Self::Killed(_) => "killed",
            Self::Unreachable => "unreachable",
            Self::Authentication => "authentication",
            Self::Permission => "permission",
            Self::ConnectionLost => "connection_lost",
            Self::DubiousOwnership => "dubious_ownership",
            Self::RefLocked => "ref_locked",
            Self::NotWritable => "not_writable",
            Self::Other => "unknown",
        }
    }

    /// Whether only git's words tell this cause: git ended by itself, with a status that many failures
    /// share.
    #[must_use]
    pub fn is_read_from_words(self) -> bool {
        !matches!(self, Self::NotStarted | Self::TimedOut | Self::Killed(_))
    }

    /// Whether git gave up before anything could have reached the server.
    #[must_use]
    pub fn before_anything_was_sent(self) -> bool {
        match self {
            Self::NotStarted
            | Self::Unreachable
            | Self::Authentication
            | Self::Permission
            | Self::DubiousOwnership
            | Self::NotWritable => true,
            Self::RefLocked | Self::TimedOut | Self::Killed(_) | Self::ConnectionLost | Self::Other => false,
        }
    }
}

/// A git call that failed, with its cause and git's own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitFailure {
    /// The git command: `push`, `fetch`, …
    pub verb: String,
    /// The kind of failure.
    pub cause: Cause,
    /// What git said, without addresses that carry credentials; untrusted text.
    pub said: String,
}

impl GitFailure {
    /// A failure whose cause is known from the way the child ended.
    #[must_use]
    pub fn new(verb: &str, cause: Cause, stderr: &[u8]) -> Self {
        Self { verb: verb.to_owned(), cause, said: words(stderr) }
    }

    /// git could not be started at all.
    #[must_use]
    pub fn not_started(verb: &str, why: &str) -> Self {
        Self { verb: verb.to_owned(), cause: Cause::NotStarted, said: why.to_owned() }
    }

    /// A failure with exit status `code`. The words on standard error only refine it: whatever
    /// they are, the call has failed.
    #[must_use]
    pub fn of_exit(verb: &str, code: i32, stderr: &[u8]) -> Self {
        let said = words(stderr);
        let cause = cause_of(&said);
        let said = if said.is_empty() { format!("exit status {code}") } else { said };
        Self { verb: verb.to_owned(), cause, said }
    }
}

impl fmt::Display for GitFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cause {
            Cause::NotStarted => write!(f, "git could not be started: {}", self.said),
            Cause::TimedOut => write!(f, "git {} did not end within the time limit", self.verb),
            Cause::Killed(signal) => write!(f, "git {} was ended by signal {signal}", self.verb),
            _ => write!(f, "git {} failed: {}", self.verb, self.said),
        }
    }
}

impl std::error::Error for GitFailure {}

/// How git is made to trust the folder that it names in what it said; `asked` where it names none.
#[must_use]
pub fn trust(said: &str, asked: &Path) -> String {
    let named = said.split_once("repository at '").and_then(|(_, rest)| rest.split_once('\''));
    let folder = shell::quote(named.map_or(asked, |(folder, _)| Path::new(folder)));
    format!("make git trust the folder: git config --global --add safe.directory {folder}")
}

/// Reads the cause out of git's English words (the locale is fixed). Unknown words are `Other`.
fn cause_of(said: &str) -> Cause {
    let has = |needles: &[&str]| needles.iter().any(|needle| said.contains(needle));
    if has(&["detected dubious ownership"]) {
        Cause::DubiousOwnership
    } else if has(&["cannot lock ref", "could not lock ref"]) {
        Cause::RefLocked
    } else if has(&[
        "Authentication failed",
        "could not read Username",
        "could not read Password",
        "Permission denied (",
        "Host key verification failed",
        "returned error: 401",
        "HTTP Basic: Access denied",
    ]) {
        Cause::Authentication
    } else if has(&["returned error: 403", "access denied", "Write access to repository not granted"]) {
        Cause::Permission
    } else if has(&[
        "the remote end hung up unexpectedly",
        "early EOF",
        "unexpected disconnect",
        "Connection reset",
        "Broken pipe",
        "RPC failed",
        "Connection timed out after",
        "send-pack: ",
    ]) {
        Cause::ConnectionLost
    } else if has(&[
        "Read-only file system",
        "No space left on device",
        "insufficient permission for adding an object",
        "unable to write",
        "unable to create temporary",
        "Disk quota exceeded",
    ]) {
        Cause::NotWritable
    } else if has(&[
        "does not appear to be a git repository",
        "unable to access",
        "Could not resolve host",
        "unable to look up",
        "Connection refused",
        "unable to connect",
        "Could not connect",
        "No route to host",
        "Network is unreachable",
        "does not exist",
        "not found",
        "repository not exported",
        "Could not read from remote repository",
        "no path specified",
        "is not supported",
        "transport '",
        "Unable to find remote helper",
        "unable to find remote helper",
        "No such device or address",
    ]) {
        Cause::Unreachable
    } else {
        Cause::Other
    }
}

/// Lines that git adds to many failures and that say nothing of this one.
const BOILERPLATE: [&str; 3] = [
    "fatal: Could not read from remote repository.",
    "Please make sure you have the correct access rights",
    "and the repository exists.",
];

/// git's words: the lines that say something, at most a few, credentials taken out of addresses.
fn words(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let said = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("hint:"));
    let mut lines: Vec<String> =
        said.clone().filter(|line| !BOILERPLATE.contains(line)).map(redact).collect();
    if lines.is_empty() {
        lines = said.map(redact).collect();
    }
    let first = lines.len().saturating_sub(8);
    let mut said = lines[first..].join("; ");
    if said.len() > 1000 {
        let cut = (0..=1000).rev().find(|&at| said.is_char_boundary(at)).unwrap_or(0);
        said.truncate(cut);
        said.push('…');
    }
    said
}

/// Takes `user:password@` out of every address in a text.
#[must_use]
pub fn redact(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        shown.push_str(before);
        let end =
            after.find(|c: char| c.is_whitespace() || matches!(c, '/' | '\'' | '"')).unwrap_or(after.len());
        let (authority, tail) = after.split_at(end);
        shown.push_str(match authority.rfind('@') {
            Some(user_ends) => authority.get(user_ends + 1..).unwrap_or_default(),
            None => authority,
        });
        rest = tail;
    }
    shown.push_str(rest);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_that_git_names_is_to_be_trusted() {
        let said = "fatal: detected dubious ownership in repository at '/a b'\nTo add an exception, call:";
        let trust = |said| trust(said, Path::new("/asked"));
        assert!(trust(said).ends_with("--add safe.directory '/a b'"));
        assert!(trust("dubious ownership").ends_with("--add safe.directory /asked"));
    }

    #[test]
    fn the_cause_is_read_from_gits_words() {
        for (said, cause) in [
            ("fatal: '/no/where' does not appear to be a git repository", Cause::Unreachable),
            (
                "fatal: unable to access 'http://x/': Failed to connect to x port 1: Could not connect to server",
                Cause::Unreachable,
            ),
            ("fatal: Authentication failed for 'http://127.0.0.1/x.git/'", Cause::Authentication),
            (
                "fatal: could not read Username for 'http://x': terminal prompts disabled",
                Cause::Authentication,
            ),
            (
                "git@x: Permission denied (publickey).\nfatal: Could not read from remote repository.",
                Cause::Authentication,
            ),
            ("fatal: unable to access 'http://x/': The requested URL returned error: 403", Cause::Permission),
            ("fatal: the remote end hung up unexpectedly", Cause::ConnectionLost),
            ("fatal: detected dubious ownership in repository at '/x'", Cause::DubiousOwnership),
            ("error: unable to write file: No space left on device", Cause::NotWritable),
            ("fatal: something new", Cause::Other),
            ("", Cause::Other),
        ] {
            assert_eq!(GitFailure::of_exit("fetch", 128, said.as_bytes()).cause, cause, "{said}");
        }
    }

    #[test]
    fn credentials_never_reach_a_message() {
        assert_eq!(
            redact("fatal: unable to access 'https://ann:s3cret@host/x.git/': and ssh://bob@h:22/y"),
            "fatal: unable to access 'https://host/x.git/': and ssh://h:22/y"
        );
        assert_eq!(redact("no address here"), "no address here");
        assert_eq!(redact("https://a:p@b@host"), "https://host");
    }
}
