//! What must be read from the files that stand on real branches.

mod hostile;
mod properties;
mod values;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::*;
use crate::domain::anchor::{ProcessTable, RecordedProcess, StartToken, TokenKind};
use crate::domain::task_id::TaskId;

/// Writes a record of which every shared value is plain.
fn encode(task: &TaskId, record: &LockRecord) -> String {
    super::encode(task, record).expect("plain values")
}

/// Every sample of `tests/records`, by file name.
fn samples() -> BTreeMap<String, Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records");
    fs::read_dir(folder)
        .expect("the samples")
        .map(|entry| entry.expect("a sample").path())
        .map(|path| (path.file_name().unwrap_or_default().to_string_lossy().into_owned(), path))
        .filter(|(name, _)| TaskId::of_file_name(name).is_some())
        .map(|(name, path)| (name, fs::read(path).expect("a sample's content")))
        .collect()
}

fn record(owner: &str, locked_at: &str, hostname: &str) -> LockRecord {
    LockRecord {
        owner: Some(owner.to_owned()),
        locked_at: Some(locked_at.to_owned()),
        anchor: Anchor {
            process: RecordedProcess::None,
            table: None,
            hostname: Some(hostname.to_owned()),
            machine_id: None,
        },
        lock_id: None,
        refreshed_at: None,
        anchor_source: None,
        note: None,
        extra: Vec::new(),
    }
}

fn with_process(mut record: LockRecord, pid: u32, token: Option<(&str, TokenKind)>) -> LockRecord {
    let token = token.map(|(value, kind)| StartToken { value: value.to_owned(), kind });
    record.anchor.process = RecordedProcess::Process { pid, token };
    record
}

/// A record with every field.
fn full() -> LockRecord {
    let record = record("alice@example.com", "2026-11-30T23:28:05Z", "laptop");
    let mut record = with_process(record, 12345, Some(("987654", TokenKind::Proc)));
    record.anchor.table = Some(ProcessTable {
        boot_id: "6f1c2f9e-7a53-4c1e-9d0b-2b8a5a0f3c11".to_owned(),
        pid_namespace: 4_026_531_836,
        time_namespace: 4_026_531_834,
    });
    record.anchor.machine_id = Some("b0a1".to_owned());
    record.lock_id = Some("5f0c".to_owned());
    record.refreshed_at = Some("2026-11-30T23:38:05Z".to_owned());
    record.anchor_source = Some("tmux".to_owned());
    record.note = Some("half way".to_owned());
    record
}

fn task(text: &str) -> TaskId {
    TaskId::parse(text).expect(text)
}

/// What could be read, and what is wrong.
fn parts(reading: Reading) -> (LockRecord, Option<Damage>) {
    match reading {
        Reading::Whole(record) => (record, None),
        Reading::Damaged { why, shown } => (shown, Some(why)),
    }
}

fn shown(text: &str) -> LockRecord {
    parts(decode(text.as_bytes())).0
}

fn damage(text: impl AsRef<[u8]>) -> Option<Damage> {
    parts(decode(text.as_ref())).1
}

#[test]
fn every_sample_reads_as_agreed() {
    let august = "2026-08-18 18:36";
    let plain = |at| record("user@example.com", at, "my-laptop");
    let strong = || with_process(plain(august), 48211, Some(("9033410", TokenKind::Proc)));
    let damaged = |owner: Option<&str>, process| LockRecord {
        owner: owner.map(str::to_owned),
        locked_at: None,
        anchor: Anchor { process, hostname: None, ..plain("").anchor },
        ..plain("")
    };
    // Written by this program: in quotes (earlier versions), plain, and without a process. The boot and
    // the machine are made up, so that no machine takes them for its own.
    let ours = |at: &str, lock_id: &str, process: Option<(u32, &str)>| {
        let mut record = self::record("user@example.com", at, "my-laptop");
        if let Some((pid, token)) = process {
            record = with_process(record, pid, Some((token, TokenKind::Proc)));
            record.anchor_source = Some("AIT_AGENT_PID".to_owned());
            record.note = Some("half: way # there".to_owned());
        }
        record.anchor.table = full().anchor.table;
        record.anchor.machine_id = Some("0f3cb1d7a44e5c1e9d0b2b8a5a0f3c11".to_owned());
        record.lock_id = Some(lock_id.to_owned());
        record
    };
    let mut expected = vec![
        ("t1", plain("2026-02-24 14:30"), None),
        ("t2", strong(), None),
        ("t3", plain(august), None),
        ("t4", plain("2026-05-02 09:01"), None),
        (
            "t5",
            with_process(
                record("user@example.com", "2026-08-10 09:20", "mac-mini.local"),
                771,
                Some(("Mon_Aug_10_09:19:16_2026", TokenKind::Ps)),
            ),
            None,
        ),
        ("t6", LockRecord { locked_at: Some("2026-06-01 10:00".to_owned()), ..strong() }, None),
        ("t7", strong(), None),
        ("t8", plain(august), None),
        ("t9", damaged(Some("user@exam"), RecordedProcess::None), Some(Damage::Incomplete)),
        ("t10", damaged(None, RecordedProcess::Garbled), Some(Damage::Empty)),
        ("t11", damaged(None, RecordedProcess::Garbled), Some(Damage::Binary)),
        (
            "t12",
            LockRecord {
                extra: vec!["agent: claude\n".to_owned(), "labels:\n  - slow\n  - db\n".to_owned()],
                ..strong()
            },
            None,
        ),
        ("t13", plain(august), None),
        ("t14", record("no", "2099-01-01 00:00", "1e5"), None),
        ("t15", record("evil\u{1b}[2J\u{1b}]52;c;aGk=\u{7}@example.com", "yesterday", "a|b%c\nLOCKED"), None),
        ("t16_2", strong(), None),
        ("t17", LockRecord { owner: None, ..plain(august) }, Some(Damage::DuplicateKey)),
        ("t18", with_process(record("Ann Example: lead # core", august, "my-laptop"), 48211, None), None),
        ("t19", damaged(Some("user@example.com"), RecordedProcess::None), Some(Damage::Incomplete)),
        (
            "t20",
            ours("2026-12-07T11:22:56Z", "b78b9384833a539465f66e7b0bfd41ef", Some((7475, "740275"))),
            None,
        ),
        (
            "t21",
            ours("2026-12-07T11:22:27Z", "7e7ab220f49f311374c02a3a4de71a63", Some((1800, "737388"))),
            None,
        ),
        ("t22", ours("2026-12-07T11:22:27Z", "dede34a241a6185cc91e52c96bf64d72", None), None),
        ("t07", record("other@example.com", august, "my-laptop"), None),
    ];
    for (name, bytes) in samples() {
        let at = expected.iter().position(|(row, ..)| format!("{row}_lock.yaml") == name).expect(&name);
        let (_, record, why) = expected.remove(at);
        let (mut read, damage) = parts(decode(&bytes));
        if name == "t19_lock.yaml" {
            assert_eq!(read.extra.len(), 6, "the entries of the alias bomb are kept as text");
            read.extra.clear();
        }
        assert_eq!((read, damage), (record, why), "{name}");
    }
    assert!(expected.is_empty(), "no sample for {expected:?}");
}

#[test]
fn a_record_is_written_as_agreed() {
    let mut record = full();
    record.extra = vec!["labels:\n  - slow\n".to_owned()];
    let text = "\
task_id: 42
locked_by: alice@example.com
locked_at: 2026-11-30T23:28:05Z
hostname: laptop
pid: 12345
pid_starttime: 987654
pid_starttime_kind: proc
lock_id: 5f0c
refreshed_at: 2026-11-30T23:38:05Z
boot_id: 6f1c2f9e-7a53-4c1e-9d0b-2b8a5a0f3c11
pid_namespace: 4026531836
time_namespace: 4026531834
machine_id: b0a1
anchor_source: tmux
note: half way
labels:
  - slow
";
    assert_eq!(encode(&task("42"), &record), text);
    assert_eq!(decode(text.as_bytes()), Reading::Whole(record));
    assert_eq!(
        encode(&task("16_2"), &self::record("no", "2026-08-18 18:36", "1e5")),
        "task_id: 16_2\nlocked_by: no\nlocked_at: 2026-08-18 18:36\nhostname: 1e5\n",
        "no process, no process keys"
    );
}

#[test]
fn a_session_without_a_host_name_writes_a_whole_record() {
    let mut record = record("a@example.com", "2026-08-18 18:36", "");
    record.anchor.hostname = None;
    let text = encode(&task("1"), &record);
    assert!(text.contains("\nhostname: unknown\n"), "{text}");
    assert_eq!(decode(text.as_bytes()), Reading::Whole(record));
}

#[test]
fn markers_and_comments_around_the_entries_are_skipped() {
    let entries = "locked_by: a\nlocked_at: b\nhostname: h\n";
    let whole = decode(entries.as_bytes());
    for text in [
        format!("---\n{entries}"),
        format!("%YAML 1.2\n--- # lock\n{entries}"),
        format!("\n# a comment\n\n{entries}# another\n\n"),
        format!("{entries}...\n\n"),
        format!("{entries}..."),
        format!("\u{feff}---\r\n{}", entries.replace('\n', "\r\n")),
        entries.replace('\n', "\r"),
    ] {
        assert_eq!(decode(text.as_bytes()), whole, "{text:?}");
    }
}

#[test]
fn each_damage_has_its_name() {
    let entries = "locked_by: a\nlocked_at: b\nhostname: h\n";
    for (text, why) in [
        (String::new(), Damage::Empty),
        ("\u{feff}".to_owned(), Damage::Empty),
        (" \r\n\t\n".to_owned(), Damage::Empty),
        (format!("{entries}note: {}", "x".repeat(MAX_BYTES)), Damage::TooLarge),
        ("\0".to_owned(), Damage::Binary),
        (format!("{entries}note: \u{1b}[2J\n"), Damage::Binary),
        (format!("{entries}note: \u{9b}2J\n"), Damage::Binary),
        (format!("{entries}note: \u{7f}\n"), Damage::Binary),
        (format!("{entries}pid: 1\npid: 1\n"), Damage::DuplicateKey),
        (format!("{entries}\"pid\": 1\n'pid' : 1\n"), Damage::DuplicateKey),
        (format!("{entries}\"\\x70id\": 1\npid: 1\n"), Damage::DuplicateKey),
        (format!("{entries}x: 1\rlocked_by: b\n"), Damage::DuplicateKey),
        ("# nothing\n".to_owned(), Damage::NotAMapping),
        ("---\n".to_owned(), Damage::NotAMapping),
        ("hello\n".to_owned(), Damage::NotAMapping),
        (format!("- x\n{entries}"), Damage::NotAMapping),
        (format!("  x: 1\n{entries}"), Damage::NotAMapping),
        (format!("{entries}pid_star"), Damage::NotAMapping),
        (format!("{entries}pid:1\n"), Damage::NotAMapping),
        (format!("{entries}pid:1: x\n"), Damage::NotAMapping),
        (format!("{entries}: x\n"), Damage::NotAMapping),
        (format!("{entries}? x\n"), Damage::NotAMapping),
        (format!("{entries}!!str pid: 1\n"), Damage::NotAMapping),
        (format!("{entries}&a pid: 1\n"), Damage::NotAMapping),
        (format!("{entries}---\nx: 1\n"), Damage::NotAMapping),
        (format!("{entries}...\nx: 1\n"), Damage::NotAMapping),
        ("[locked_by, a]\n".to_owned(), Damage::NotAMapping),
        ("locked_at: b\nhostname: h\n".to_owned(), Damage::Incomplete),
        ("locked_by: a\nhostname: h\n".to_owned(), Damage::Incomplete),
        ("locked_by: a\nlocked_at: b\n".to_owned(), Damage::Incomplete),
        ("locked_by:\nlocked_at: b\nhostname: h\n".to_owned(), Damage::Incomplete),
        ("locked_by: a\nlocked_at:\nhostname: h\n".to_owned(), Damage::Incomplete),
    ] {
        assert_eq!(damage(&text), Some(why), "{:?}", text.get(..text.len().min(120)));
    }
    assert_eq!(damage(b"locked_by: a\xff\n"), Some(Damage::Binary));
    let fits = format!("{entries}note: ");
    let fits = format!("{fits}{}", "x".repeat(MAX_BYTES - fits.len()));
    assert_eq!(damage(fits), None, "the largest file");
}

#[test]
fn a_key_that_stands_twice_is_not_shown() {
    let record = shown("locked_by: a\nlocked_at: b\nhostname: h\nhostname: i\npid: 1\npid: 1\n");
    assert_eq!(record.owner.as_deref(), Some("a"));
    assert_eq!(record.anchor.hostname, None);
    assert_eq!(record.anchor.process, RecordedProcess::Garbled);
}

#[test]
fn one_flow_mapping_is_a_record_too() {
    let mut expected = with_process(record("a@example.com", "2026-08-18 18:36", "1e5"), 48211, None);
    for text in [
        "{locked_by: a@example.com, locked_at: 2026-08-18 18:36, hostname: 1e5, pid: 48211}\n",
        "{\"locked_by\":\"a@example.com\",\"locked_at\":\"2026-08-18 18:36\",\"hostname\":\"1e5\",\"pid\":48211}",
        "---\n{\n\t\"task_id\": 1, \"locked_by\": \"a@example.com\",\n  'locked_at': 2026-08-18 18:36, hostname: 1e5, pid: 48211, lock_id: null}\n",
    ] {
        assert_eq!(decode(text.as_bytes()), Reading::Whole(expected.clone()), "{text}");
    }
    expected.extra =
        vec!["agent: claude\n".to_owned(), "labels:\n- slow\n- 2\n".to_owned(), "'': null\n".to_owned()];
    let text = "{agent: claude, locked_by: a@example.com, labels: [slow, 2], locked_at: 2026-08-18 18:36, hostname: 1e5, pid: 48211, '': ~}\n";
    assert_eq!(decode(text.as_bytes()), Reading::Whole(expected.clone()));
    let rewritten = encode(&task("1"), &expected);
    assert_eq!(decode(rewritten.as_bytes()), Reading::Whole(expected));
    for (text, why) in [
        ("{}", Damage::NotAMapping),
        ("{locked_by: a, locked_at: b, hostname: h", Damage::NotAMapping),
        ("{locked_by: a, locked_at: b, hostname: h}\nlocked_by: b\n", Damage::NotAMapping),
        (
            &format!("{{x: {}{}, locked_by: a, locked_at: b, hostname: h}}", "[".repeat(64), "]".repeat(64)),
            Damage::NotAMapping,
        ),
        ("{locked_by: [a], locked_at: b, hostname: h}", Damage::NotAMapping),
        ("{x: &a b, locked_by: *a, locked_at: b, hostname: h}", Damage::NotAMapping),
        ("{locked_by: a, locked_at: b, hostname: h, locked_by: b}", Damage::DuplicateKey),
        ("{locked_by: a, locked_at: b}", Damage::Incomplete),
    ] {
        assert_eq!(damage(text), Some(why), "{text}");
    }
}
