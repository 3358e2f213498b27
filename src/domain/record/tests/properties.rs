//! What holds for every file and every record.

use proptest::prelude::*;
use proptest::sample::Index;

use super::*;

/// Texts that mean something else to some reader of YAML, and any other.
fn text() -> impl Strategy<Value = String> {
    let tricky = prop::sample::select(vec![
        "no",
        "yes",
        "null",
        "Null",
        "~",
        "true",
        "123",
        "1e5",
        "0x1F",
        "16_2",
        ".inf",
        "1:30",
        "- x",
        "# x",
        "a: b",
        "a:",
        ": a",
        "a #b",
        "'",
        "\"",
        "'a'",
        "\"a\"",
        "\\",
        "|",
        ">",
        "&a",
        "*a",
        "!a",
        "!!str a",
        "%a",
        "@a",
        "`a`",
        "[a]",
        "{a}",
        "?",
        "? a",
        "-",
        "--",
        "---",
        "...",
        " ",
        " a",
        "a ",
        "\ta",
        "a\nb",
        "a\n",
        "\n",
        "<<",
        "=",
        ",",
        "\u{feff}",
        "\u{2028}",
        "\u{85}",
        "\u{a0}",
        "２",
        "é",
        "😀",
        "user@example.com",
        "…",
    ]);
    prop_oneof![
        tricky.prop_map(str::to_owned),
        "[ -~]{1,40}",
        prop::collection::vec(any::<char>(), 1..60).prop_map(String::from_iter),
        (any::<char>(), 1..=MAX_FIELD_BYTES).prop_map(|(c, n)| c.to_string().repeat(n / c.len_utf8())),
    ]
    .prop_filter("an empty text is no text", |text| !text.is_empty())
}

/// Texts that can stand behind a shared key.
fn shared() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => text().prop_filter("not plain", |text| plain(text).is_ok()),
        // Most texts of signs are not plain, and those that are not far from it are the interesting ones.
        1 => "[-a0._~:#'\"? ]{1,12}".prop_filter("not plain", |text| plain(text).is_ok()),
    ]
}

fn process() -> impl Strategy<Value = RecordedProcess> {
    let kind = prop_oneof![
        Just(TokenKind::Proc),
        Just(TokenKind::Ps),
        shared().prop_map(|word| TokenKind::parse(Some(&word))),
    ];
    let token = (shared(), any::<u64>(), kind).prop_map(|(text, number, kind)| {
        let value = match kind {
            TokenKind::Proc => number.to_string(),
            _ => text,
        };
        StartToken { value, kind }
    });
    prop_oneof![
        1 => Just(RecordedProcess::None),
        1 => Just(RecordedProcess::Garbled),
        6 => (1..=i32::MAX.unsigned_abs(), prop::option::of(token))
            .prop_map(|(pid, token)| RecordedProcess::Process { pid, token }),
    ]
}

fn extra() -> impl Strategy<Value = Vec<String>> {
    let entry = prop::sample::select(vec![
        "agent: claude\n",
        "labels:\n  - slow\n  - db\n",
        "labels:\n- a\n\n# comment\n",
        "\"quoted: key\": 'x'\n",
        "text: |\n  locked_by: x\n",
        "a: &a [x, x]\n",
        "b: [*a\n",
        "c: 'open\n",
        "Locked_By: x\n",
    ]);
    prop::collection::vec(entry.prop_map(str::to_owned), 0..5)
}

prop_compose! {
    fn record()(
        owner in shared(), locked_at in shared(), hostname in prop::option::of(shared()), process in process(),
        table in prop::option::of(("[0-9a-f]{1,8}(-[0-9a-f]{4}){0,4}", 1..=u64::MAX, 1..=u64::MAX)),
        machine_id in prop::option::of(text()), lock_id in prop::option::of(text()),
        refreshed_at in prop::option::of(text()), anchor_source in prop::option::of(text()),
        note in prop::option::of(text()), extra in extra(),
    ) -> LockRecord {
        LockRecord {
            owner: Some(owner), locked_at: Some(locked_at),
            anchor: Anchor {
                process,
                table: table.map(|(boot_id, pid_namespace, time_namespace)| {
                    ProcessTable { boot_id, pid_namespace, time_namespace }
                }),
                hostname: hostname.filter(|name| !name.trim().is_empty() && name != "unknown"),
                machine_id: machine_id.filter(|id| id != "-"),
            },
            lock_id, refreshed_at, anchor_source, note, extra,
        }
    }
}

/// Files made of lines that are almost right.
fn soup() -> impl Strategy<Value = String> {
    let key = prop::sample::select(vec![
        "locked_by",
        "locked_at",
        "hostname",
        "pid",
        "pid_starttime",
        "pid_starttime_kind",
        "boot_id",
        "pid_namespace",
        "time_namespace",
        "machine_id",
        "note",
        "x",
        "<<",
        "\"pid\"",
        "'locked_by'",
        "\"locked\\x5fby\"",
        "!!str pid",
        "&a pid",
        "? pid",
        "- pid",
        "  pid",
        "\tpid",
        "#pid",
        "---",
        "...",
        "%Y",
        "{",
    ]);
    let colon = prop::sample::select(vec![": ", ":", " : ", ":\t", ":\n  ", ":\n- ", ""]);
    let end =
        prop::sample::select(vec!["\n", "\n", "\n", "\r\n", "\r", "\n\n", "", "\u{2028}", "\n  ", "\n# c\n"]);
    let value = prop_oneof![text(), "[1-9][0-9]{0,6}", "['\"|>].{0,9}"];
    let line =
        (key, colon, value, end).prop_map(|(key, colon, value, end)| format!("{key}{colon}{value}{end}"));
    let whole = Just("locked_by: a\nlocked_at: b\nhostname: h\n".to_owned());
    (prop_oneof![whole, Just(String::new())], prop::collection::vec(line, 0..8))
        .prop_map(|(start, lines)| start + &lines.concat())
}

/// A known key at the start of a line, to a reader that goes by lines.
fn by_lines<'a>(text: &'a str, key: &str) -> Vec<&'a str> {
    text.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix(':')).map(str::trim_start).collect()
}

/// Checks that a written file says to every reader what the record says, and nothing of its extras.
fn says_only(text: &str, record: &LockRecord) {
    let bare = LockRecord { extra: Vec::new(), ..record.clone() };
    let bare_text = encode(&task("1"), &bare);
    let Reading::Whole(mut read) = decode(text.as_bytes()) else { panic!("damaged: {text:?}") };
    read.extra.clear();
    assert_eq!(read, bare, "our own reader: {text:?}");
    for key in KEYS {
        assert_eq!(by_lines(text, key), by_lines(&bare_text, key), "a reader of lines: {text:?}");
    }
    let known = |text: &str| -> Option<Vec<serde_yaml::Value>> {
        let mapping: serde_yaml::Mapping = serde_yaml::from_str(text).ok()?;
        Some(KEYS.iter().filter_map(|key| mapping.get(key).cloned()).collect())
    };
    if let Some(values) = known(text) {
        assert_eq!(Some(values), known(&bare_text), "a reader of YAML: {text:?}");
    }
}

proptest! {
    #[test]
    fn what_is_written_reads_back(record in record()) {
        let text = encode(&task("16_2"), &record);
        prop_assert!(text.len() <= MAX_BYTES && text.ends_with('\n'));
        prop_assert_eq!(decode(text.as_bytes()), Reading::Whole(record.clone()));
        for key in KEYS {
            prop_assert!(by_lines(&text, key).len() <= 1, "one line for each known key");
        }
        says_only(&encode(&task("1"), &record), &record);
    }

    #[test]
    fn what_was_read_can_be_written_and_read_again(text in soup()) {
        if let Reading::Whole(record) = decode(text.as_bytes())
            && super::super::encode(&task("1"), &record).is_ok()
        {
            says_only(&encode(&task("1"), &record), &record);
        }
    }

    #[test]
    fn entries_that_are_kept_say_nothing_else(text in soup(), pieces in prop::collection::vec(soup(), 0..3)) {
        let (read, _) = parts(decode(text.as_bytes()));
        for extra in [read.extra, pieces] {
            let record = LockRecord { extra, ..full() };
            says_only(&encode(&task("1"), &record), &record);
        }
    }

    #[test]
    fn any_bytes_are_a_reading(bytes in prop::collection::vec(any::<u8>(), 0..400), text in any::<String>()) {
        let _ = decode(&bytes);
        let _ = decode(text.as_bytes());
    }

    #[test]
    fn any_change_of_a_sample_is_a_reading(
        sample in any::<Index>(), at in any::<Index>(), byte in any::<u8>(), length in 0_usize..3, repeat in 0_usize..4,
    ) {
        let samples: Vec<Vec<u8>> = samples().into_values().collect();
        let mut bytes = sample.get(&samples).clone();
        let at = at.index(bytes.len() + 1);
        let end = (at + length).min(bytes.len());
        bytes.splice(at..end, std::iter::repeat_n(byte, repeat));
        let (record, _) = parts(decode(&bytes));
        if let Ok(text) = super::super::encode(&task("1"), &record) {
            prop_assert!(text.len() <= MAX_BYTES);
        }
    }

    #[test]
    fn a_value_is_plain_when_both_kinds_of_readers_agree_on_it(text in prop_oneof![text(), "[-a0._~:#'\"? ]{1,6}"]) {
        // Asked for as a text: of which type a reader would make it otherwise is not the question.
        let yaml = serde_yaml::from_str::<serde_yaml::Value>(&format!("v: !!str {text}\n"));
        let yaml = yaml.ok().and_then(|map| map.get("v")?.as_str().map(str::to_owned));
        if plain(&text).is_ok() {
            prop_assert_eq!(yaml.as_deref(), Some(text.as_str()));
            let file = format!("locked_by: {text}\nlocked_at: b\nhostname: h\n");
            prop_assert_eq!(shown(&file).owner, Some(text));
        }
    }
}

/// A file that was cut off never says something else of the process than the whole file: it says
/// the same, less, or that it cannot tell.
#[test]
fn a_cut_file_never_names_another_process() {
    let mut files = samples();
    let longer = LockRecord { extra: vec!["agent: claude\n".to_owned()], ..full() };
    files.insert("full".to_owned(), encode(&task("42"), &longer).into_bytes());
    for (name, bytes) in &files {
        let (whole, _) = parts(decode(bytes));
        for length in 0..bytes.len() {
            let cut = &bytes[..length];
            let Reading::Whole(read) = decode(cut) else { continue };
            let context = format!("{name} cut to {length} bytes");
            assert_eq!(read.owner, whole.owner, "{context}");
            assert_eq!(read.locked_at, whole.locked_at, "{context}");
            assert!(read.anchor.table.is_none() || read.anchor.table == whole.anchor.table, "{context}");
            assert!(
                read.anchor.machine_id.is_none() || read.anchor.machine_id == whole.anchor.machine_id,
                "{context}"
            );
            match (&read.anchor.process, &whole.anchor.process) {
                (RecordedProcess::Garbled, _) => {}
                (RecordedProcess::None, RecordedProcess::None) => {}
                (RecordedProcess::None, _) => {
                    assert!(!String::from_utf8_lossy(cut).contains("\npid:"), "{context}");
                }
                (
                    RecordedProcess::Process { pid, token },
                    RecordedProcess::Process { pid: whole_pid, token: whole_token },
                ) => {
                    assert_eq!(pid, whole_pid, "{context}");
                    if let (Some(token), Some(whole)) = (token, whole_token) {
                        assert_eq!(token.value, whole.value, "{context}");
                        let other = matches!(token.kind, TokenKind::Other(_));
                        assert!(other || token.kind == whole.kind, "{context}: {:?}", token.kind);
                    }
                }
                (read, whole) => panic!("{context}: {read:?} instead of {whole:?}"),
            }
        }
    }
}
