//! A record, read by this program, by a reader of lines and by a reader of YAML: the same values.

use git_aitask_lock::domain::anchor::{Anchor, RecordedProcess, StartToken, TokenKind};
use git_aitask_lock::domain::record::{self, LockRecord, Reading};
use git_aitask_lock::domain::task_id::TaskId;
use proptest::prelude::*;

use crate::support::line_reader::{self, KEYS};

/// What a reader of lines gets from each recorded file; where the program reads another value, it says so.
#[test]
fn what_each_recorded_file_is_to_a_reader_of_lines() {
    let folder = crate::support::manifest_dir().join("tests/records");
    let mut names: Vec<String> = std::fs::read_dir(folder.clone())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with("_lock.yaml"))
        .collect();
    names.sort();
    let mut table = String::new();
    for name in names {
        let bytes = std::fs::read(folder.join(&name)).unwrap();
        let file = String::from_utf8_lossy(&bytes);
        let Reading::Whole(ours) = record::decode(&bytes) else {
            table.push_str(&format!("{name}: nobody's\n"));
            continue;
        };
        let read = KEYS.map(|key| line_reader::value(&file, key));
        table.push_str(&format!("{name}: {read:?}\n"));
        let hostname = ours.anchor.hostname.unwrap_or("unknown".to_owned());
        for (key, theirs, ours) in
            [("locked_by", read[1], ours.owner.unwrap_or_default()), ("hostname", read[3], hostname)]
        {
            if theirs != ours {
                table.push_str(&format!("  {key}: {ours:?} to the program\n"));
            }
        }
    }
    crate::support::snapshot("interop_records", &table);
}

/// Texts of every kind that means something to a reader of YAML or of lines, and any other.
fn text() -> impl Strategy<Value = String> {
    let words = [
        "no",
        "null",
        "~",
        "1e5",
        "0x10",
        "16_2",
        "042",
        "1:30",
        "12:30:45",
        ".inf",
        "-",
        "--",
        "---",
        "...",
        "<<",
        "=",
        "?",
        "a: b",
        "a #b",
        "a:b",
        "a#b",
        "a:",
        "- a",
        "'a'",
        "\"a\"",
        "a'b",
        "|",
        "> a",
        "&a",
        "*a",
        "!a",
        "%a",
        "@a",
        "`a",
        "[a]",
        "{a",
        ", a",
        " a",
        "a ",
        "a\tb",
        "a\r",
        "a\nb",
        "a\u{85}b",
        "a\u{2028}b",
        "\u{feff}a",
        "\u{a0}",
        "jos\u{e9}",
        "unknown",
        "user@example.com",
        "Mon_Aug_10_09:19:16_2026",
        "2026-11-30T23:28:05Z",
    ];
    prop_oneof![
        3 => prop::sample::select(words.to_vec()).prop_map(str::to_owned),
        2 => "[a-z]{1,8}@[a-z]{1,8}\\.example",
        1 => "[ -~]{1,12}",
        1 => "[-a0._~:#'\"?@ ]{1,6}",
        1 => prop::collection::vec(any::<char>(), 1..8).prop_map(String::from_iter),
    ]
}

/// Those that the program does not refuse.
fn plain() -> impl Strategy<Value = String> {
    text().prop_filter("refused", |text| record::plain(text).is_ok())
}

/// A scalar as a reader of YAML has it, as a text.
fn by_yaml(file: &str, key: &str) -> Option<String> {
    let line = file.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "))?;
    let map: serde_yaml::Value = serde_yaml::from_str(&format!("v: !!str {line}\n")).unwrap();
    Some(map.get("v")?.as_str()?.to_owned())
}

proptest! {
    #![proptest_config(ProptestConfig { max_local_rejects: 1_000_000, cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_one_reader_reads_the_other_reads_as_the_same(
        task in "[A-Za-z0-9][A-Za-z0-9._-]{0,9}", owner in plain(), at in plain(), host in prop::option::of(plain()),
        pid in 0..=i32::MAX.unsigned_abs(), token in prop::option::of((any::<u64>(), plain())),
        note in prop::option::of(text()),
    ) {
        let task = TaskId::parse(&task).unwrap();
        let token = token.map(|(ticks, text)| match ticks % 3 {
            0 => StartToken { value: text, kind: TokenKind::Ps },
            _ => StartToken { value: ticks.to_string(), kind: TokenKind::Proc },
        });
        let process = if pid == 0 { RecordedProcess::None } else { RecordedProcess::Process { pid, token } };
        let anchor = Anchor { process, table: None, hostname: host, machine_id: None };
        let record = LockRecord {
            owner: Some(owner), locked_at: Some(at), anchor, lock_id: None, refreshed_at: None, anchor_source: None,
            note, extra: Vec::new(),
        };
        let file = record::encode(&task, &record).unwrap();
        let lines = |key: &str| line_reader::value(&file, key).to_owned();
        let Reading::Whole(ours) = record::decode(file.as_bytes()) else { panic!("damaged: {file:?}") };
        prop_assert_eq!(lines("task_id"), task.to_string());
        prop_assert_eq!(Some(lines("locked_by")), ours.owner.clone());
        prop_assert_eq!(&ours.owner, &record.owner);
        prop_assert_eq!(Some(lines("locked_at")), ours.locked_at.clone());
        prop_assert_eq!(&ours.locked_at, &record.locked_at);
        prop_assert_eq!(lines("hostname"), ours.anchor.hostname.clone().unwrap_or("unknown".to_owned()));
        let (pid, token) = match &ours.anchor.process {
            RecordedProcess::Process { pid, token } => (pid.to_string(), token.clone()),
            _ => (String::new(), None),
        };
        prop_assert_eq!(lines("pid"), pid.clone());
        let value = token.as_ref().map_or_else(String::new, |token| token.value.clone());
        prop_assert_eq!(lines("pid_starttime"), value);
        // Without a token, nothing may look as if one had been compared.
        let kind = token.as_ref().map_or(if pid.is_empty() { "" } else { "none" }, |token| token.kind.as_str());
        prop_assert_eq!(lines("pid_starttime_kind"), kind);
        for key in KEYS {
            prop_assert_eq!(by_yaml(&file, key).unwrap_or_default(), lines(key), "{}", key);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_the_other_one_writes_is_read_as_it_reads_it(owner in text(), host in text()) {
        let odd = |text: &str| text.starts_with(['\'', '"', '|', '>']) || ["~", "null"].contains(&text.trim());
        let one_line = |text: &str| !text.chars().any(char::is_control) && text.trim() == text;
        if odd(&owner) || odd(&host) || !one_line(&owner) || !one_line(&host) || host == "unknown" {
            return Ok(());
        }
        let file = format!("task_id: 9\nlocked_by: {owner}\nlocked_at: 2026-08-18 18:36\nhostname: {host}\n");
        let Reading::Whole(ours) = record::decode(file.as_bytes()) else { panic!("damaged: {file:?}") };
        prop_assert_eq!(ours.owner.as_deref(), Some(line_reader::value(&file, "locked_by")));
        prop_assert_eq!(ours.anchor.hostname.as_deref(), Some(line_reader::value(&file, "hostname")));
    }
}
