//! Everything that a real branch holds and this program did not write: never dropped, never "free", no
//! fault of ours, and harmless on a terminal.

use std::collections::BTreeSet;

use crate::support::planting::{Planted, plant};
use crate::support::{Lab, Output, Repo, Session, manifest_dir};

/// The sample files, by name.
fn samples() -> Vec<(String, Vec<u8>)> {
    let folder = manifest_dir().join("tests/records");
    let mut samples: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_name() != ".gitattributes")
        .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap()))
        .collect();
    samples.sort();
    samples
}

/// The task of a lock file's name.
fn task_of(name: &str) -> Option<&str> {
    name.strip_prefix('t')?.strip_suffix("_lock.yaml")
}

/// Nothing that was stored reaches a terminal as more than text.
#[track_caller]
fn assert_harmless(output: &Output) {
    let hostile = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
    };
    for text in [&output.stdout, &output.stderr] {
        assert!(!text.chars().any(hostile), "{text:?}");
    }
}

const FORMATS: [&str; 3] = ["--porcelain", "--json", "--quiet"];

/// Runs every reading command in every rendering: the task is locked, whatever stands there.
#[track_caller]
fn assert_locked(repo: &Repo<'_>, task: &str) {
    let session = Session::start();
    for format in FORMATS {
        for verb in
            [&["check", task][..], &["list"], &["list", "--gone"], &["cleanup", "--gone", "--dry-run"]]
        {
            let output = repo.human(verb).arg(format).session(&session).go().no_panic();
            assert_eq!(output.code(), 0, "{verb:?} {format} of {task}\n{output}");
            assert_harmless(&output);
            assert!(!output.stdout.contains("FREE") && !output.stdout.contains(" is free"), "{output}");
        }
        for verb in [["claim", task], ["release", task], ["refresh", task]] {
            let output = repo.human(&verb).arg(format).email("mallory@example.com").session(&session).go();
            let output = output.no_panic();
            assert_eq!(output.code(), 1, "{verb:?} {format} of {task}\n{output}");
            assert_harmless(&output);
        }
        let log = repo.human(&["log", task]).arg(format).go().no_panic();
        assert_harmless(&log);
    }
}

#[test]
fn every_sample_is_a_lock_that_counts() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let samples = samples();
    let planted: Vec<(&str, Planted<'_>)> =
        samples.iter().map(|(name, content)| (name.as_str(), Planted::File(content))).collect();
    let tip = plant(&repo, &planted);
    let names: Vec<&str> = samples.iter().map(|(name, _)| name.as_str()).collect();
    let tasks: Vec<&str> = names.iter().filter_map(|name| task_of(name)).collect();
    assert!(tasks.len() >= 20);
    for task in &tasks {
        assert_locked(&repo, task);
    }
    let list = repo.lock(&["list"]).session(&Session::start()).go();
    assert_eq!(list.words(), vec!["LOCKED"; tasks.len()], "each file is a line of its own\n{list}");
    assert_eq!(repo.tip(crate::support::BRANCH), Some(tip), "looking and being refused changes nothing");
}

#[test]
fn what_each_sample_reads_as() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let samples = samples();
    let planted: Vec<(&str, Planted<'_>)> =
        samples.iter().map(|(name, content)| (name.as_str(), Planted::File(content))).collect();
    plant(&repo, &planted);
    let session = Session::start();
    let host = crate::support::planting::hostname();
    let mut table = String::new();
    for task in samples.iter().filter_map(|(name, _)| task_of(name)) {
        let check = repo.lock(&["check", task]).session(&session).go();
        let claim = repo.lock(&["claim", task]).email("user@example.com").session(&session).go();
        table.push_str(&format!("{task}\n  {}\n  {}\n", check.line(), claim.line()));
    }
    let mine = session.pid().to_string();
    let table = crate::support::output::redact(&table, &[(&host, "[here]"), (&mine, "[pid]")]);
    crate::support::snapshot("samples", &table);
}

/// A file of many kinds that is no record.
#[test]
fn what_is_no_record_is_held_by_somebody_unknown() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let megabyte = vec![b'x'; 1024 * 1024];
    let long_value = format!("task_id: 9\nlocked_by: {}\n", "y".repeat(20_000));
    let deep = format!("locked_by: {}{}\n", "[".repeat(5_000), "]".repeat(5_000));
    let tree = repo.git(&["rev-parse", "HEAD^{tree}"]);
    let commit = repo.git(&["rev-parse", "HEAD"]);
    let link = repo.git_with_input(&["hash-object", "-w", "--stdin"], b"/etc/passwd");
    let nowhere = "1".repeat(commit.len());
    let planted: [Planted<'_>; 14] = [
        Planted::File(b""),
        Planted::File(b"\n\n\n"),
        Planted::File(b"\0"),
        Planted::File(b"\xff\xfe\x00l\x00o"),
        Planted::File(&megabyte),
        Planted::File(long_value.as_bytes()),
        Planted::File(deep.as_bytes()),
        Planted::File(b"- a\n- list\n"),
        Planted::File(b"just words"),
        Planted::File(b"%YAML 9.9\n---\n!!python/object:os.system [x]\n"),
        Planted::Entry("040000", "tree", &tree),
        Planted::Entry("120000", "blob", &link),
        Planted::Entry("160000", "commit", &commit),
        Planted::Entry("100644", "blob", &nowhere),
    ];
    for planted in planted {
        plant(&repo, &[("t9_lock.yaml", planted)]);
        assert_locked(&repo, "9");
        let session = Session::start();
        // Whoever asks: the owner is unknown.
        let refused = repo.lock(&["claim", "9"]).session(&session).go().expect("LOCK_FAILED", 1);
        let shown = refused.field(6).to_owned();
        assert!(!shown.is_empty(), "what is wrong with it is said\n{refused}");
        // The command that the refusal prints works, and only with the lock that was looked at.
        let told = repo.human(&["claim", "9"]).session(&session).go();
        let command = told.stderr.lines().find_map(|line| line.split_once("git aitask-lock claim 9"));
        let (_, options) = command.unwrap_or_else(|| panic!("no remedy is named\n{told}"));
        let options: Vec<&str> = options.split_whitespace().collect();
        let forced = repo.lock(&[&["claim", "9"], &options[..]].concat()).session(&session).go();
        forced.expect("FORCE_UNLOCKED", 0);
        repo.lock(&["check", "9", "--mine"]).session(&session).go().expect("LOCKED", 0);
        repo.lock(&["release", "9"]).session(&session).go().expect("RELEASED", 0);
        assert_eq!(repo.lock_files(), [""; 0]);
    }
}

#[test]
fn every_truncation_of_a_record_is_a_lock() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let session = Session::start();
    let whole = crate::support::planting::record("9", &session, &[]);
    // All lengths at once, each as the lock of a task of its own.
    let files: Vec<(String, &[u8])> = (0..whole.len())
        .map(|length| (format!("t{length}_lock.yaml"), &whole.as_bytes()[..length]))
        .collect();
    let planted: Vec<(&str, Planted<'_>)> =
        files.iter().map(|(name, content)| (name.as_str(), Planted::File(content))).collect();
    plant(&repo, &planted);
    let other = Session::start();
    let list = repo.lock(&["list"]).session(&other).go().no_panic();
    let tasks: BTreeSet<String> =
        list.stdout.lines().filter_map(|line| line.split('|').nth(4)).map(str::to_owned).collect();
    assert_eq!(tasks.len(), whole.len());
    // Nobody else gets any of them.
    let claim: Vec<String> = (0..whole.len()).map(|length| length.to_string()).collect();
    let claim: Vec<&str> = std::iter::once("claim").chain(claim.iter().map(String::as_str)).collect();
    let refused = repo.lock(&claim).email("bob@example.com").session(&other).go();
    let words: BTreeSet<&str> = refused.words().into_iter().collect();
    assert_eq!(words, BTreeSet::from(["LOCK_FAILED"]), "{refused}");
}

#[test]
fn another_spelling_of_the_task_refuses_and_is_named() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let text = "task_id: 7\nlocked_by: other@example.com\nlocked_at: 2026-08-18 18:36\nhostname: my-laptop\n";
    for name in ["t07_lock.yaml", "tt7_lock.yaml", "tT7_lock.yaml", "t007_lock.yaml"] {
        plant(&repo, &[(name, Planted::File(text.as_bytes()))]);
        let session = Session::start();
        for spelling in ["7", "07", "t7", "T7", "t007"] {
            repo.lock(&["claim", spelling]).session(&session).go().expect_line("LOCK_FAILED:other@", 1);
            repo.lock(&["check", spelling]).session(&session).go().expect("LOCKED", 0);
            let told = repo.human(&["claim", spelling]).session(&session).go();
            assert!(told.stderr.contains(name), "{told}");
        }
        assert_eq!(repo.lock_files(), [name], "nothing was written beside it");
        repo.lock(&["claim", "7", "--force"]).session(&session).go().expect("FORCE_UNLOCKED", 0);
        assert_eq!(repo.lock_files(), ["t7_lock.yaml"], "one lock, under the canonical name");
        repo.lock(&["release", "7"]).session(&session).go().expect("RELEASED", 0);
        assert_eq!(repo.lock_files(), [""; 0]);
    }
}

#[test]
fn other_tasks_are_other_tasks() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let session = Session::start();
    let tasks = ["7", "7_1", "7.1", "71", "17", "7-1", "a7", "A7"];
    repo.lock(&[&["claim"], &tasks[..]].concat()).session(&session).go().expect_all(&["CLAIMED"; 8], 0);
    assert_eq!(repo.lock_files().len(), 8);
}

#[test]
fn the_file_name_says_which_task_it_is() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let text =
        "task_id: ../../x\nlocked_by: alice@example.com\nlocked_at: 2026-08-18 18:36\nhostname: elsewhere\n";
    plant(&repo, &[("t13_lock.yaml", Planted::File(text.as_bytes()))]);
    let session = Session::start();
    repo.lock(&["claim", "13"]).session(&session).go().expect("LOCK_RECLAIM", 0);
    assert_eq!(repo.lock_files(), ["t13_lock.yaml"]);
    assert_eq!(repo.lock_value("13", "task_id").as_deref(), Some("13"));
}

#[test]
fn unknown_keys_are_kept_when_a_record_is_rewritten() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let sample = std::fs::read(manifest_dir().join("tests/records/t12_lock.yaml")).unwrap();
    plant(&repo, &[("t12_lock.yaml", Planted::File(&sample))]);
    let session = Session::start();
    let claim = repo.lock(&["claim", "12"]).email("user@example.com").session(&session).go();
    claim.expect("LOCK_RECLAIM", 0);
    let text = repo.lock_file("t12_lock.yaml");
    assert!(text.contains("agent: claude"), "{text}");
    assert!(text.contains("labels:") && text.contains("- slow") && text.contains("- db"), "{text}");
    repo.git(&["config", "aitask-lock.refreshInterval", "0s"]);
    let refresh = repo.lock(&["refresh", "12"]).email("user@example.com").session(&session).go();
    refresh.expect("REFRESHED", 0);
    let text = repo.lock_file("t12_lock.yaml");
    assert!(text.contains("agent: claude") && text.contains("- db"), "{text}");
}

#[test]
fn texts_that_attack_a_terminal_are_harmless() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let attacks = [
        "\\e[2J\\e]52;c;aGk=\\a",
        "\\r\\nLOCKED:me|x",
        "\\b\\b\\b",
        "\\x85\\x9b31m",
        "\\u202Eevil",
        "\\u2028line",
        "a|b%c",
        "$(touch x)`touch y`",
        "'; touch z; '",
        "\\x7f",
    ];
    for attack in attacks {
        let text = format!(
            "task_id: 9\nlocked_by: \"{attack}\"\nlocked_at: \"{attack}\"\nhostname: \"{attack}\"\npid: \"{attack}\"\n\
             lock_id: \"{attack}\"\nnote: \"{attack}\"\nanchor_source: \"{attack}\"\n\"{attack}\": \"{attack}\"\n"
        );
        plant(&repo, &[("t9_lock.yaml", Planted::File(text.as_bytes()))]);
        assert_locked(&repo, "9");
        let check = repo.lock(&["check", "9"]).go();
        assert_eq!(check.stdout.lines().count(), 1, "{check}");
        assert!(check.line().starts_with("LOCKED:"), "{check}");
        assert_eq!(check.line().split('|').nth(4), Some("9"), "separators in a value are none\n{check}");
        // The printed command stays safe to paste.
        let told = repo.human(&["claim", "9"]).session(&Session::start()).go();
        let command =
            told.stderr.lines().find_map(|line| line.find("git aitask-lock claim").map(|at| &line[at..]));
        let mut shell = lab.command("sh");
        shell.current_dir(&repo.path).args(["-c", command.unwrap()]);
        Output::of(shell).no_panic();
        let tree = repo.git(&["status", "--porcelain"]);
        assert_eq!(tree, "", "a pasted command ran something else");
    }
}
