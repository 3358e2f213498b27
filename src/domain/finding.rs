//! What `doctor` finds: how bad, about what, in which words, and the command that mends it.

use serde::Serialize;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// As it should be.
    Ok,
    /// Works, and is worth knowing.
    Note,
    /// Something would fail.
    Problem,
}

impl Level {
    /// The stable word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Problem => "problem",
        }
    }
}

/// One thing that was looked at. Texts may hold untrusted text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub level: Level,
    /// What was looked at: a stable word.
    pub check: &'static str,
    /// What was found, as a sentence without its full stop.
    pub text: String,
    /// The command that mends it, or what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl Finding {
    /// As it should be.
    #[must_use]
    pub fn ok(check: &'static str, text: impl Into<String>) -> Self {
        Self { level: Level::Ok, check, text: text.into(), remedy: None }
    }

    /// Worth knowing.
    #[must_use]
    pub fn note(check: &'static str, text: impl Into<String>) -> Self {
        Self { level: Level::Note, check, text: text.into(), remedy: None }
    }

    /// Would fail.
    #[must_use]
    pub fn problem(check: &'static str, text: impl Into<String>) -> Self {
        Self { level: Level::Problem, check, text: text.into(), remedy: None }
    }

    /// Adds what mends it.
    #[must_use]
    pub fn mend(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

/// Reads `git version 2.43.0` and its variants (`2.39.5 (Apple Git-154)`, `2.50.0-rc1`).
#[must_use]
pub fn git_version(line: &str) -> Option<(u32, u32)> {
    let number = line.trim().strip_prefix("git version ")?;
    let mut parts = number.split('.');
    let major = parts.next()?.parse().ok()?;
    let minor = parts.next()?;
    let minor = minor.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
    Some((major, minor))
}

/// Whether git is new enough.
#[must_use]
pub fn git(line: &str, oldest: (u32, u32)) -> Finding {
    let needed = format!("{}.{}", oldest.0, oldest.1);
    match git_version(line) {
        Some(version) if version >= oldest => Finding::ok("git", line.trim()),
        Some(_) => Finding::problem("git", format!("{} is older than {needed}", line.trim()))
            .mend(format!("install git {needed} or newer")),
        None => Finding::note("git", format!("the version of git cannot be told from {:?}", line.trim()))
            .mend(format!("git --version; {needed} or newer is needed")),
    }
}

/// File systems whose `flock` may exclude less than it says, as `/proc/self/mountinfo` calls them.
const NETWORK: [&str; 12] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "9p",
    "afs",
    "ceph",
    "glusterfs",
    "lustre",
    "beegfs",
    "fuse.sshfs",
];

/// What to expect of the file system that holds the merge mutex.
#[must_use]
pub fn file_system(kind: Option<&str>, flock: Result<(), String>) -> Finding {
    const CHECK: &str = "file-system";
    let name = kind.unwrap_or("an unknown file system");
    match flock {
        Err(why) => Finding::problem(CHECK, format!("flock does not work on {name}: {why}"))
            .mend("keep the repository on a local file system"),
        Ok(()) if kind.is_some_and(|kind| NETWORK.contains(&kind)) => Finding::note(
            CHECK,
            format!(
                "{name} is a network file system: commands on several machines may not exclude each other in the merge mutex; task locks are not affected when a remote decides"
            ),
        ),
        Ok(()) => Finding::ok(CHECK, format!("flock works ({name})")),
    }
}

/// The mount that a path lies on, out of `/proc/self/mountinfo`: the file system's name.
#[must_use]
pub fn mount_of(mountinfo: &str, path: &str) -> Option<String> {
    let mut best: Option<(usize, String)> = None;
    for line in mountinfo.lines() {
        let Some((place, kind)) = mount(line) else { continue };
        let below =
            path == place || place == "/" || path.strip_prefix(&place).is_some_and(|r| r.starts_with('/'));
        // Of equal mount points, the later line covers the earlier.
        if below && best.as_ref().is_none_or(|(length, _)| place.len() >= *length) {
            best = Some((place.len(), kind));
        }
    }
    best.map(|(_, kind)| kind)
}

/// `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw`: mount point and type.
fn mount(line: &str) -> Option<(String, String)> {
    let (before, after) = line.split_once(" - ")?;
    let place = before.split(' ').nth(4)?;
    let kind = after.split(' ').next()?;
    let place = place.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\");
    Some((place, kind.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_versions_as_distributions_print_them() {
        for (line, version) in [
            ("git version 2.43.0", Some((2, 43))),
            ("git version 2.39.5 (Apple Git-154)\n", Some((2, 39))),
            ("git version 2.50.0-rc1", Some((2, 50))),
            ("git version 2.52-rc0", Some((2, 52))),
            ("git version 3.0", Some((3, 0))),
            ("hub version 2.14", None),
            ("", None),
        ] {
            assert_eq!(git_version(line), version, "{line}");
        }
        assert_eq!(git("git version 2.28.1", (2, 29)).level, Level::Problem);
        assert_eq!(git("git version 2.29.0", (2, 29)).level, Level::Ok);
        assert_eq!(git("git version 3.0", (2, 29)).level, Level::Ok);
        assert_eq!(git("what", (2, 29)).level, Level::Note);
    }

    #[test]
    fn the_mount_that_a_path_lies_on() {
        let mounts = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
                      30 22 0:5 / /home rw shared:1 - nfs4 server:/home rw\n\
                      31 22 0:6 / /home\\040two rw - tmpfs none rw\n\
                      32 30 0:7 / /home/me rw - btrfs /dev/sdb rw\n\
                      garbage\n";
        for (path, kind) in [
            ("/srv/x/.git", "ext4"),
            ("/home/x/.git", "nfs4"),
            ("/home two/x", "tmpfs"),
            ("/homer/x", "ext4"),
            ("/home/me", "btrfs"),
            ("/home/me/x", "btrfs"),
        ] {
            assert_eq!(mount_of(mounts, path).as_deref(), Some(kind), "{path}");
        }
        assert_eq!(mount_of("", "/x"), None);
    }

    #[test]
    fn what_a_file_system_is_good_for() {
        assert_eq!(file_system(Some("ext4"), Ok(())).level, Level::Ok);
        assert_eq!(file_system(None, Ok(())).level, Level::Ok);
        assert_eq!(file_system(Some("nfs4"), Ok(())).level, Level::Note);
        assert_eq!(file_system(Some("ext4"), Err("no".to_owned())).level, Level::Problem);
    }
}
