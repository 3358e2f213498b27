//! Locks that this program did not write, put onto the lock branch through plain git.

use super::{BRANCH, Repo, Session};

/// What stands under a name of the lock branch.
pub enum Planted<'a> {
    /// A plain file.
    File(&'a [u8]),
    /// An entry of another kind: mode, type, object id.
    Entry(&'a str, &'a str, &'a str),
    /// Nothing any more.
    Nothing,
}

/// Puts entries onto the lock branch of a repository, which is the arbiter itself.
pub fn plant(arbiter: &Repo<'_>, entries: &[(&str, Planted<'_>)]) -> String {
    let tip = arbiter.tip(BRANCH);
    let mut lines: Vec<String> = Vec::new();
    if tip.is_some() {
        lines.extend(arbiter.git(&["ls-tree", BRANCH]).lines().map(str::to_owned));
    }
    for (name, planted) in entries {
        lines.retain(|line| !line.ends_with(&format!("\t{name}")));
        match planted {
            Planted::File(content) => {
                let blob = arbiter.git_with_input(&["hash-object", "-w", "--stdin"], content);
                lines.push(format!("100644 blob {blob}\t{name}"));
            }
            Planted::Entry(mode, kind, id) => lines.push(format!("{mode} {kind} {id}\t{name}")),
            Planted::Nothing => {}
        }
    }
    let listing: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let tree = arbiter.git_with_input(&["mktree", "--missing"], listing.as_bytes());
    let mut args = vec!["commit-tree", "-m", "planted", &tree];
    if let Some(tip) = &tip {
        args.extend(["-p", tip]);
    }
    let commit = arbiter.git(&args);
    arbiter.git(&["update-ref", BRANCH, &commit]);
    commit
}

/// Puts one file onto the lock branch.
pub fn plant_file(arbiter: &Repo<'_>, name: &str, content: &str) -> String {
    plant(arbiter, &[(name, Planted::File(content.as_bytes()))])
}

/// The host's name, as the kernel has it.
pub fn hostname() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim().to_owned()
}

/// A record like one that a session of this machine wrote, with single lines replaced: a value
/// of "" leaves a line out.
pub fn record(task: &str, session: &Session, changes: &[(&str, &str)]) -> String {
    let link = |name: &str| {
        let target = std::fs::read_link(format!("/proc/self/ns/{name}")).unwrap();
        let digits = |c: char| c.is_ascii_digit();
        target.to_string_lossy().chars().filter(|c| digits(*c)).collect::<String>()
    };
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap().trim().to_owned();
    let mut lines: Vec<(&str, String)> = vec![
        ("task_id", task.to_owned()),
        ("locked_by", super::OWNER.to_owned()),
        ("locked_at", "2026-08-18T18:36:00Z".to_owned()),
        ("hostname", hostname()),
        ("pid", session.pid().to_string()),
        ("pid_starttime", session.token()),
        ("pid_starttime_kind", "proc".to_owned()),
        ("lock_id", "0123456789abcdef0123456789abcdef".to_owned()),
        ("boot_id", boot),
        ("pid_namespace", link("pid")),
        ("time_namespace", link("time")),
    ];
    for (key, value) in changes {
        match lines.iter_mut().find(|(name, _)| name == key) {
            Some(line) => (*value).clone_into(&mut line.1),
            None => lines.push((key, (*value).to_owned())),
        }
    }
    let lines = lines.iter().filter(|(_, value)| !value.is_empty());
    lines.map(|(key, value)| format!("{key}: {value}\n")).collect()
}
