//! What a single value means.

use super::*;

/// A whole record with these lines in it.
fn with_lines(lines: &str) -> LockRecord {
    let text = format!("locked_by: a@example.com\nlocked_at: 2026-08-18 18:36\nhostname: h\n{lines}");
    match decode(text.as_bytes()) {
        Reading::Whole(record) => record,
        Reading::Damaged { why, .. } => panic!("{why:?}: {text:?}"),
    }
}

#[test]
fn the_pid_is_a_number_or_proves_nothing() {
    for (line, process) in [
        ("", RecordedProcess::None),
        ("pid:\n", RecordedProcess::None),
        ("pid: -\n", RecordedProcess::None),
        ("pid: 0\n", RecordedProcess::None),
        ("pid: null\n", RecordedProcess::None),
        ("pid: ''\n", RecordedProcess::None),
        ("pid: 1\n", RecordedProcess::Process { pid: 1, token: None }),
        ("pid: '48211'\n", RecordedProcess::Process { pid: 48211, token: None }),
        ("\"pid\": 48211\n", RecordedProcess::Process { pid: 48211, token: None }),
        ("pid : 48211\n", RecordedProcess::Process { pid: 48211, token: None }),
        ("pid: 2147483647\n", RecordedProcess::Process { pid: 2_147_483_647, token: None }),
        ("pid: 2147483648\n", RecordedProcess::Garbled),
        ("pid: 99999999999999999999999\n", RecordedProcess::Garbled),
        ("pid: -1\n", RecordedProcess::Garbled),
        ("pid: +1\n", RecordedProcess::Garbled),
        ("pid: 007\n", RecordedProcess::Garbled),
        ("pid: 0x10\n", RecordedProcess::Garbled),
        ("pid: 1e5\n", RecordedProcess::Garbled),
        ("pid: 4 8\n", RecordedProcess::Garbled),
        ("pid: 4\n  8\n", RecordedProcess::Garbled),
        ("pid: 48211 # agent\n", RecordedProcess::Garbled),
        ("pid: unknown\n", RecordedProcess::Garbled),
        ("pid: ４８\n", RecordedProcess::Garbled),
        // No last line break: the rest of the number may be missing.
        ("pid: 48211", RecordedProcess::Garbled),
        ("pid: ", RecordedProcess::Garbled),
        ("pid: 48211\npid_starttime: 9", RecordedProcess::Garbled),
        ("pid: 48211\nboot_id: a-b\npid_namespace: 1\ntime_namespace: 4", RecordedProcess::Garbled),
    ] {
        assert_eq!(with_lines(line).anchor.process, process, "{line:?}");
    }
}

#[test]
fn a_start_token_counts_for_no_more_than_it_is() {
    let other = |word: &str| TokenKind::Other(word.to_owned());
    for (lines, token) in [
        ("", None),
        ("pid_starttime: -\npid_starttime_kind: none\n", None),
        ("pid_starttime:\npid_starttime_kind: proc\n", None),
        ("pid_starttime_kind: proc\n", None),
        ("pid_starttime: 7\n", Some(("7", TokenKind::Proc))),
        ("pid_starttime: 0\n", Some(("0", TokenKind::Proc))),
        ("pid_starttime: '7'\npid_starttime_kind: proc\n", Some(("7", TokenKind::Proc))),
        ("pid_starttime: 7\npid_starttime_kind: 'proc'", Some(("7", TokenKind::Proc))),
        ("pid_starttime: Mon_Aug_10\npid_starttime_kind: ps\n", Some(("Mon_Aug_10", TokenKind::Ps))),
        ("pid_starttime: 7\npid_starttime_kind: none\n", Some(("7", other("none")))),
        // Cut off: not a record without a kind, and not a token of /proc.
        ("pid_starttime: 7\npid_starttime_kind: ", Some(("7", other("")))),
        ("pid_starttime: 7\npid_starttime_kind: p", Some(("7", other("p")))),
        ("pid_starttime: Mon_Aug_10\n", Some(("Mon_Aug_10", other("")))),
        ("pid_starttime: 7x\npid_starttime_kind: proc\n", Some(("7x", other("proc")))),
    ] {
        let expected = with_process(record("", "", ""), 5, token).anchor.process;
        assert_eq!(with_lines(&format!("pid: 5\n{lines}")).anchor.process, expected, "{lines:?}");
    }
}

#[test]
fn a_process_table_is_complete_or_proves_nothing() {
    let lines = ["boot_id: 6f1c-2f\n", "pid_namespace: 4026531836\n", "time_namespace: 4026531834\n"];
    for present in 0..8_u32 {
        let some: String = (0..3).filter(|bit| present & (1 << bit) != 0).map(|bit| lines[bit]).collect();
        let anchor = with_lines(&format!("pid: 5\n{some}")).anchor;
        let known = RecordedProcess::Process { pid: 5, token: None };
        match present {
            0 => assert_eq!((anchor.table, anchor.process), (None, known), "an older record"),
            7 => {
                assert!(anchor.table.is_some(), "all three parts");
                assert_eq!(anchor.process, known);
            }
            _ => assert_eq!((anchor.table, anchor.process), (None, RecordedProcess::Garbled), "{some:?}"),
        }
    }
    for broken in [
        "boot_id: \npid_namespace: 1\ntime_namespace: 2\n",
        "boot_id: -\npid_namespace: 1\ntime_namespace: 2\n",
        "boot_id: a b\npid_namespace: 1\ntime_namespace: 2\n",
        "boot_id: a\npid_namespace: x\ntime_namespace: 2\n",
        "boot_id: a\npid_namespace: 0\ntime_namespace: 2\n",
        "boot_id: a\npid_namespace: 1\ntime_namespace: -2\n",
        "boot_id: a\npid_namespace: 1\ntime_namespace: 99999999999999999999\n",
    ] {
        let anchor = with_lines(&format!("pid: 5\n{broken}")).anchor;
        assert_eq!((anchor.table, anchor.process), (None, RecordedProcess::Garbled), "{broken:?}");
    }
}

#[test]
fn a_cut_machine_id_is_no_other_machine() {
    assert_eq!(with_lines("machine_id: abcd\n").anchor.machine_id.as_deref(), Some("abcd"));
    for lines in ["machine_id: ab", "machine_id: -\n", "machine_id:\n", ""] {
        assert_eq!(with_lines(lines).anchor.machine_id, None, "{lines:?}");
    }
}

#[test]
fn a_host_without_a_name_is_none() {
    for value in ["", "unknown", "''", "' '", "~"] {
        let text = format!("locked_by: a\nlocked_at: b\nhostname: {value}\n");
        let (record, why) = parts(decode(text.as_bytes()));
        assert_eq!((record.anchor.hostname, why), (None, None), "{value:?}");
    }
}

#[test]
fn a_value_is_its_raw_text_unless_it_is_quoted() {
    for (value, owner) in [
        ("user@example.com", Some("user@example.com")),
        ("  user@example.com \t", Some("user@example.com")),
        ("Ann: lead # core", Some("Ann: lead # core")),
        ("- x", Some("- x")),
        ("*star", Some("*star")),
        ("!!str x", Some("!!str x")),
        ("[a, b]", Some("[a, b]")),
        ("a\"b'c", Some("a\"b'c")),
        ("\u{a0}x\u{a0}", Some("\u{a0}x\u{a0}")),
        ("'it''s'", Some("it's")),
        ("\"a\\tb\" # comment", Some("a\tb")),
        ("' x '", Some(" x ")),
        ("'null'", Some("null")),
        ("\n  user@example.com", Some("user@example.com")),
        ("\n  'user@example.com'", Some("user@example.com")),
        ("user@example.com\n  and more\n\n  # comment\n", Some("user@example.com and more")),
        ("\n- a\n- b", Some("- a - b")),
        ("|\n  a\n  b", Some("a\nb")),
        (">-\n  a\n  b", Some("a b")),
        ("", None),
        ("~", None),
        ("null", None),
        ("''", None),
    ] {
        let text = format!("locked_by: {value}\nlocked_at: b\nhostname: h\n");
        let (record, why) = parts(decode(text.as_bytes()));
        assert_eq!(record.owner.as_deref(), owner, "{value:?}");
        let expected = if owner.is_none() { Some(Damage::Incomplete) } else { None };
        assert_eq!(why, expected, "{value:?}");
    }
}

#[test]
fn what_cannot_be_unquoted_is_shown_and_not_decided_on() {
    for value in ["'open", "\"open", "\"a\" b", "\"\\q\"", "| x", "'a'\n  b", "'a\n  b"] {
        let text = format!("locked_by: a\nlocked_at: b\nhostname: {value}\n");
        assert_eq!(damage(&text), Some(Damage::Incomplete), "{value:?}");
        assert!(shown(&text).anchor.hostname.is_some(), "{value:?}");
    }
}
