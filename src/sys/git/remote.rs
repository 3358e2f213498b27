//! The three things that lock traffic asks of a remote: fetch a branch, see its tip, push a commit.
//!
//! git knows the arbiter here as a remote of a private name, given for the one call: so no
//! refspec, mirror setting, push address or tracking ref of the user's plays a part, while the
//! settings that say how to connect are carried over.

use std::ffi::OsString;

use super::push::{self, PushAnswer};
use super::{Answer, Git, GitFailure, Hooks, environment};
use crate::sys::failpoint;

/// The name under which a call knows the arbiter.
const REMOTE: &str = "aitask-lock-arbiter";

/// Settings of a remote that say how to connect to it, and are carried over.
pub const CONNECTION_KEYS: [&str; 7] =
    ["proxy", "proxyAuthMethod", "uploadpack", "receivepack", "serverOption", "vcs", "followRemoteHEAD"];

/// The one place that decides who holds a lock: an address, and how to connect to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arbiter {
    /// The remote's name in the configuration, where it has one.
    pub name: Option<String>,
    /// The address for reading and writing, before `url.<base>.insteadOf`.
    pub address: String,
    /// Where that leads, after `insteadOf`: what this clone has seen is remembered for it.
    pub resolved: String,
    /// Values of [`CONNECTION_KEYS`], in order.
    pub connection: Vec<(&'static str, String)>,
    /// Whether the user configured an ssh command of their own.
    pub own_ssh: bool,
}

impl Arbiter {
    /// How messages call it: its name, or its address without credentials.
    #[must_use]
    pub fn label(&self) -> String {
        self.name.clone().unwrap_or_else(|| super::failure::redact(&self.address))
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        let key = |key: &str| format!("remote.{REMOTE}.{key}");
        // A push address of its own keeps `pushInsteadOf` from making a second arbiter.
        let mut pairs =
            vec![(key("url"), self.address.clone().into()), (key("pushurl"), self.address.clone().into())];
        pairs.extend(self.connection.iter().map(|(name, value)| (key(name), value.clone().into())));
        let mut env = environment::configuration(&pairs);
        env.extend(environment::quiet_ssh(self.own_ssh));
        env
    }
}

/// What a push came to, with the server's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pushed {
    /// What git says of the ref.
    pub answer: PushAnswer,
    /// What the server said besides; untrusted text.
    pub said: String,
}

impl Git {
    /// Pushes `commit` to `branch` (a full ref name), provided that the branch is still at `lease`;
    /// `None` means that it must not exist. There is no push without a lease.
    ///
    /// # Errors
    /// git failed without a word on the ref: whether the push landed is open.
    pub fn push_commit(
        &self,
        arbiter: &Arbiter,
        commit: &str,
        branch: &str,
        lease: Option<&str>,
    ) -> Result<Pushed, GitFailure> {
        self.push(&[], arbiter, commit, branch, lease)
    }

    fn push(
        &self,
        options: &[&str],
        arbiter: &Arbiter,
        commit: &str,
        branch: &str,
        lease: Option<&str>,
    ) -> Result<Pushed, GitFailure> {
        let mut lease = format!("--force-with-lease={branch}:{}", lease.unwrap_or_default());
        if failpoint::is_planted("no-compare") {
            "--force".clone_into(&mut lease);
        }
        let refspec = format!("{commit}:{branch}");
        let args = [
            "push",
            "--porcelain",
            "--no-verify",
            "--no-signed",
            "--no-follow-tags",
            "--no-recurse-submodules",
            &lease,
        ];
        let args: Vec<&str> = args.iter().chain(options).copied().chain([REMOTE, &refspec]).collect();
        let Answer { code, stdout, stderr } =
            self.run_with(Hooks::Off, &args, &arbiter.environment(), None)?;
        let failure = GitFailure::of_exit("push", code, &stderr);
        match push::parse(&stdout, branch) {
            PushAnswer::Silent => Err(failure),
            answer => Ok(Pushed { answer, said: failure.said }),
        }
    }

    /// Pretends to push: connects and is authorized as [`Git::push_commit`] is, and changes nothing.
    ///
    /// # Errors
    /// git failed without a word on the ref.
    pub fn try_push(
        &self,
        arbiter: &Arbiter,
        commit: &str,
        branch: &str,
        lease: Option<&str>,
    ) -> Result<Pushed, GitFailure> {
        self.push(&["--dry-run"], arbiter, commit, branch, lease)
    }

    /// Fetches `branch` into `into`, both full ref names, and touches nothing else.
    ///
    /// # Errors
    /// The branch is missing, or the remote cannot be read: [`Git::remote_tip`] tells which.
    pub fn fetch_branch(&self, arbiter: &Arbiter, branch: &str, into: &str) -> Result<(), GitFailure> {
        self.fetch(arbiter, branch, into, &[])
    }

    /// Fetches `branch` into `into` with all its objects, those included that this clone seems to have.
    ///
    /// # Errors
    /// As [`Git::fetch_branch`]; or git is older than 2.36 and cannot do it.
    pub fn refetch_branch(&self, arbiter: &Arbiter, branch: &str, into: &str) -> Result<(), GitFailure> {
        self.fetch(arbiter, branch, into, &["--refetch", "--no-filter"])
    }

    fn fetch(&self, arbiter: &Arbiter, branch: &str, into: &str, how: &[&str]) -> Result<(), GitFailure> {
        let refspec = format!("+{branch}:{into}");
        let mut args = vec![
            "fetch",
            "--quiet",
            "--refmap=",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
            "--no-recurse-submodules",
        ];
        args.extend(how);
        args.extend([REMOTE, &refspec]);
        let answer = self.run_with(Hooks::Off, &args, &arbiter.environment(), None)?;
        if answer.ok() { Ok(()) } else { Err(GitFailure::of_exit("fetch", answer.code, &answer.stderr)) }
    }

    /// The tip of `branch` on the remote; `None` when the remote was reached and has no such branch.
    ///
    /// # Errors
    /// The remote cannot be read.
    pub fn remote_tip(&self, arbiter: &Arbiter, branch: &str) -> Result<Option<String>, GitFailure> {
        let args = ["ls-remote", "--exit-code", REMOTE, branch];
        let answer = self.run_with(Hooks::Off, &args, &arbiter.environment(), None)?;
        match answer.code {
            0 => Ok(tip_of(&answer.stdout, branch)),
            2 => Ok(None),
            code => Err(GitFailure::of_exit("ls-remote", code, &answer.stderr)),
        }
    }
}

/// Finds one ref in the output of `git ls-remote`: `<id>\t<ref>` lines, patterns match by suffix.
fn tip_of(stdout: &[u8], branch: &str) -> Option<String> {
    String::from_utf8_lossy(stdout).lines().find_map(|line| {
        let (id, name) = line.split_once('\t')?;
        (name == branch).then(|| id.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_ref_name_is_not_the_branch() {
        let listing = b"1111\trefs/heads/old/refs/heads/aitask-locks\n2222\trefs/heads/aitask-locks\n";
        assert_eq!(tip_of(listing, "refs/heads/aitask-locks").as_deref(), Some("2222"));
        assert_eq!(tip_of(b"", "refs/heads/aitask-locks"), None);
    }
}
