//! Content made to do harm.

use super::*;

#[test]
fn whatever_a_text_holds_it_stays_on_one_line() {
    let hostile = "a\nlocked_by: b\r\u{85}\u{2028}\u{2029}\u{feff}\"\\'\u{0}\u{7f}\u{9b}\u{fffe}😀";
    let mut record = full();
    record.note = Some(hostile.to_owned());
    let text = encode(&task("1"), &record);
    assert_eq!(text.lines().count(), 15, "{text}");
    assert_eq!(decode(text.as_bytes()), Reading::Whole(record.clone()));
    for c in hostile.chars().filter(|c| c.is_control() || "\u{2028}\u{2029}\u{feff}\u{fffe}".contains(*c)) {
        record.note = Some(format!("a{c}b"));
        let text = encode(&task("1"), &record);
        let (_, note) = text.split_once("\nnote: ").expect("a note");
        assert!(!note.trim_end_matches('\n').contains(c), "{note:?}");
    }
}

/// Inputs that make a parser of whole documents run out of time or memory. That this test comes
/// to its end is the test.
#[test]
fn hostile_files_stay_harmless() {
    let fill = |piece: &str| piece.repeat(MAX_BYTES / piece.len());
    let mut wide = format!("{{a: &a [{}], b: [", "x,".repeat(10_000));
    wide.push_str(&fill("*a,")[..40_000]);
    for text in [
        format!("{wide}]}}"),
        fill("{"),
        fill("["),
        fill("{a: "),
        format!("x: {}", &fill("[")[..60_000]),
        format!("locked_by: \"x\"\n  {}", &fill("[")[..60_000]),
        format!("locked_by: |\n{}", &fill("  x\n")[..60_000]),
        fill("\"\\x61\":\n"),
        fill("'pid': 1\n"),
        fill("a:\n"),
        format!("{{{}}}", &fill("a: b,")[..60_000]),
        fill("!"),
        fill("? "),
        fill("\"\\"),
    ] {
        let (record, _) = parts(decode(text.as_bytes()));
        if let Ok(text) = super::super::encode(&task("1"), &record) {
            assert!(text.len() <= MAX_BYTES);
        }
    }
}

#[test]
fn a_long_text_is_cut_and_never_equal_to_a_real_one() {
    let owner = format!("{}é", "a".repeat(MAX_FIELD_BYTES - 1));
    let text = format!("locked_by: {owner}\nlocked_at: b\nhostname: h\n");
    let cut = shown(&text).owner.expect("an owner");
    assert!(cut.len() <= MAX_FIELD_BYTES && cut.ends_with("a…"), "{cut}");
    let rewritten = encode(&task("1"), &shown(&text));
    assert_eq!(shown(&rewritten).owner, Some(cut), "cutting again changes nothing");
}

#[test]
fn kept_entries_cannot_become_known_keys() {
    let mut record = record("a@example.com", "2026-08-18 18:36", "h");
    let harmless = [
        "agent: claude\n# comment\n\nlabels:\n- a\n  locked_by: x\n",
        "\"quoted key\": |\n  locked_by: x\n",
        "unterminated: 'x",
    ];
    record.extra = harmless.iter().map(|entry| (*entry).to_owned()).collect();
    record.extra.extend(
        [
            "locked_by: x\n",
            "\"pid\": 1\n",
            "x: 1\n\"locked\\x5fby\": x\n",
            "x: 1\rpid: 1\n",
            "x: 1\u{2028}pid: 1\n",
            "x: 1\u{85}pid: 1\n",
            "<<: {pid: 1}\n",
            "!!str pid: 1\n",
            "pid:1: x\n",
            "x: 1\n---\npid: 1\n",
            "stray\n",
            "",
            "\0",
        ]
        .map(str::to_owned),
    );
    let text = encode(&task("1"), &record);
    let kept = text.split_once("hostname: h\n").expect("the known keys").1;
    assert_eq!(kept, format!("{}\nx: 1\n", harmless.concat()), "what is no known key is kept");
    record.extra.clear();
    let Reading::Whole(mut read) = decode(text.as_bytes()) else { panic!("damaged: {text}") };
    read.extra.clear();
    assert_eq!(read, record);
}

#[test]
fn kept_entries_do_not_make_a_record_too_large() {
    let mut record = record("a@example.com", "2026-08-18 18:36", "h");
    record.note = Some("\u{1}".repeat(MAX_FIELD_BYTES));
    record.extra = vec![format!("x: {}\n", "y".repeat(MAX_BYTES - 200)), "small: 1\n".to_owned()];
    let text = encode(&task("1"), &record);
    record.extra.remove(0);
    assert_eq!(decode(text.as_bytes()), Reading::Whole(record));
}
