use super::*;

fn sample() -> Reservation {
    Reservation {
        id: "0123456789abcdef0123456789abcdef".to_owned(),
        task: TaskId::parse("16_2").unwrap(),
        output_branch: Some("refs/heads/main".to_owned()),
        task_branch: Some("refs/heads/no: '\"\u{1b}[2J\nx".to_owned()),
        task_tip: Some("b".repeat(40)),
        owner: Some("ann@example.com".to_owned()),
        anchor: Anchor {
            process: RecordedProcess::Process {
                pid: 4711,
                token: Some(StartToken { value: "987".to_owned(), kind: TokenKind::Proc }),
            },
            table: Some(ProcessTable {
                boot_id: "5f0c".to_owned(),
                pid_namespace: 4_026_531_836,
                time_namespace: 4_026_531_834,
            }),
            hostname: Some("laptop".to_owned()),
            machine_id: Some("m".to_owned()),
        },
        anchor_source: Some("tmux".to_owned()),
        taken_at: "2026-11-30T23:28:05Z".to_owned(),
        baseline: Baseline {
            head: Some("refs/heads/main".to_owned()),
            tip: Some("a".repeat(40)),
            index: None,
        },
    }
}

#[test]
fn what_is_written_is_read_back() {
    let text = encode(&sample()).unwrap();
    assert_eq!(decode(text.as_bytes()), Ok(sample()));
    assert!(text.starts_with("version: 1\ntask: 16_2\n"), "{text}");
    assert!(text.ends_with("id: 0123456789abcdef0123456789abcdef\n"), "{text}");
}

#[test]
fn a_file_cut_off_anywhere_is_unreadable() {
    let text = encode(&sample()).unwrap();
    // Only the line break at the end may be missing.
    for length in 0..text.len() - 1 {
        assert!(decode(&text.as_bytes()[..length]).is_err(), "cut to {length} bytes");
    }
}

#[test]
fn an_all_digit_id_stays_a_text() {
    let reservation = Reservation { id: "1".repeat(32), ..sample() };
    let text = encode(&reservation).unwrap();
    assert_eq!(decode(text.as_bytes()), Ok(reservation));
}

#[test]
fn what_is_no_reservation_says_why() {
    let large = format!("version: 1\nnote: {}\n", "x".repeat(MAX_BYTES));
    for (bytes, why) in [
        (&b""[..], Unreadable::Empty),
        (b"\n\n", Unreadable::Empty),
        (b"\xff\xfe", Unreadable::Binary),
        (b"version: 2\nelse: 1\n", Unreadable::Newer),
        (b"hello", Unreadable::Incomplete),
        (b"[1, 2]", Unreadable::Incomplete),
        (
            b"version: 1\ntask: ../x\ntaken_at: now\nid: 0123456789abcdef0123456789abcdef\n",
            Unreadable::Incomplete,
        ),
        (b"version: 1\ntask: '4'\ntaken_at: now\nid: 0123\n", Unreadable::Incomplete),
        (large.as_bytes(), Unreadable::NotAFile),
    ] {
        assert_eq!(decode(bytes), Err(why), "{:?}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn a_process_without_its_table_proves_nothing() {
    let text = encode(&sample()).unwrap();
    let without: String =
        text.lines().filter(|line| !line.starts_with("boot_id")).map(|line| line.to_owned() + "\n").collect();
    assert_eq!(decode(without.as_bytes()).unwrap().anchor.process, RecordedProcess::Garbled);
}

#[test]
fn head_goes_back_only_where_the_session_led_it_away() {
    let mut reservation = sample();
    reservation.output_branch = Some("refs/heads/main".to_owned());
    reservation.baseline.head = Some("refs/heads/began".to_owned());
    assert_eq!(reservation.strayed_from(Some("refs/heads/main")), None);
    assert_eq!(reservation.strayed_from(Some("refs/heads/began")), None);
    assert_eq!(reservation.strayed_from(Some("refs/heads/else")), Some("refs/heads/main"));
    assert_eq!(reservation.strayed_from(None), Some("refs/heads/main"));
    reservation.baseline.head = Some("1".repeat(40));
    assert_eq!(reservation.strayed_from(None), None, "it was detached before");
    reservation.output_branch = None;
    assert_eq!(reservation.strayed_from(Some("refs/heads/else")), None);
}

#[test]
fn a_killed_merge_is_known_by_the_commit_that_it_began_on() {
    let main = Some("refs/heads/main");
    let mut reservation = sample();
    reservation.output_branch = main.map(str::to_owned);
    reservation.baseline.tip = Some("1".repeat(40));
    let left = Residue { head: Some("1".repeat(40)), dirty: vec!["a".to_owned()], ..Residue::default() };
    assert!(reservation.began_here(&left, main));
    assert!(!reservation.began_here(&left, Some("refs/heads/else")));
    assert!(!reservation.began_here(&left, None));
    let locked = Residue { index_locked: true, ..left.clone() };
    let merging = Residue { merge_head: Some("2".repeat(40)), ..left.clone() };
    let moved = Residue { head: Some("3".repeat(40)), ..left };
    for other in [locked, merging, moved] {
        assert!(!reservation.began_here(&other, main), "{other:?}");
    }
}
