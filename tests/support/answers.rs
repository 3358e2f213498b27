//! What every command has to answer where the remote cannot be read.

use super::actors::wait_until;
use super::fingerprint::Fingerprint;
use super::{BRANCH, Lab, Repo, Run};

/// Every command that talks to the remote.
pub const VERBS: [&[&str]; 8] = [
    &["check", "42"],
    &["list"],
    &["claim", "42"],
    &["claim", "42", "--force"],
    &["refresh", "42"],
    &["release", "42"],
    &["cleanup", "--gone"],
    &["init"],
];

/// Every command answers with this line and code, and changes nothing.
#[track_caller]
pub fn all_answer(repo: &Repo<'_>, line: &str, code: i32, adapt: impl Fn(Run) -> Run) {
    let before = Fingerprint::of(repo);
    for verb in VERBS {
        let output = adapt(repo.lock(verb)).go().expect_line(line, code);
        assert!(!output.stdout.contains("FREE"), "{output}");
        assert!(output.stderr.starts_with("error: "), "people are told as well\n{output}");
    }
    Fingerprint::of(repo).assert_same(&before, "a command that cannot read the remote");
    assert_eq!(repo.tip(BRANCH), None, "nothing falls back to a local lock");
}

/// Nothing that ran in this lab is left, judged by the environment of all processes.
#[track_caller]
pub fn assert_nobody_is_left(lab: &Lab) {
    wait_until("all children are gone", || left(lab).is_empty());
}

pub fn left(lab: &Lab) -> Vec<u32> {
    let root = lab.root().to_str().unwrap().as_bytes();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid: &u32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.windows(root.len()).any(|window| window == root)
    })
    .collect()
}
