use proptest::prelude::*;

use super::*;

const TICKS: u64 = 9_033_410;

fn table_of(boot: &str, pid_namespace: u64, time_namespace: u64) -> ProcessTable {
    ProcessTable { boot_id: boot.to_owned(), pid_namespace, time_namespace }
}

fn here() -> Here {
    Here {
        table: Some(table_of("boot-1", 4_026_531_836, 4_026_531_834)),
        hostname: Some("laptop".to_owned()),
        machine_id: Some("machine-1".to_owned()),
        initial_pid_namespace: true,
        booted_unix: Some(1_700_000_000),
    }
}

fn token(value: &str, kind: &str) -> Option<StartToken> {
    Some(StartToken { value: value.to_owned(), kind: TokenKind::parse(Some(kind)) })
}

fn process(token: Option<StartToken>) -> RecordedProcess {
    RecordedProcess::Process { pid: 48_211, token }
}

/// A record of this host with a strong token.
fn recorded() -> Anchor {
    Anchor {
        process: process(token(&TICKS.to_string(), "proc")),
        table: here().table,
        hostname: here().hostname,
        machine_id: here().machine_id,
    }
}

fn older(process: RecordedProcess) -> Anchor {
    Anchor { process, table: None, machine_id: None, ..recorded() }
}

fn seen(ticks: u64) -> Observed {
    Observed::Exists { start_ticks: Some(ticks) }
}

fn verdict(anchor: &Anchor, observed: &Observed) -> &'static str {
    judge(anchor, &here(), observed).reason()
}

#[test]
fn no_process_recorded_is_unknown() {
    for none in [RecordedProcess::None, RecordedProcess::Process { pid: 0, token: None }] {
        assert_eq!(verdict(&Anchor { process: none, ..recorded() }, &Observed::Absent), "no-process");
    }
    let garbled = Anchor { process: RecordedProcess::Garbled, ..recorded() };
    assert_eq!(verdict(&garbled, &Observed::Absent), "garbled");
}

#[test]
fn another_boot_of_the_same_machine_is_death() {
    let rebooted = Anchor { table: Some(table_of("boot-0", 4_026_531_836, 4_026_531_834)), ..recorded() };
    assert_eq!(verdict(&rebooted, &seen(TICKS)), "rebooted");
    let no_machine = Anchor { machine_id: None, ..rebooted.clone() };
    assert_eq!(verdict(&no_machine, &Observed::Absent), "other-process-table");
    let other_machine = Anchor { machine_id: Some("machine-2".to_owned()), ..rebooted };
    assert_eq!(verdict(&other_machine, &Observed::Absent), "other-process-table");
}

#[test]
fn another_namespace_proves_nothing() {
    for table in [table_of("boot-1", 1, 4_026_531_834), table_of("boot-1", 4_026_531_836, 1)] {
        let elsewhere = Anchor { table: Some(table), ..recorded() };
        assert_eq!(verdict(&elsewhere, &Observed::Absent), "other-process-table");
        assert_eq!(pid_to_observe(&elsewhere, &here()), None);
    }
    let blind = Here { table: None, ..here() };
    assert_eq!(judge(&recorded(), &blind, &Observed::Absent).reason(), "other-process-table");
    assert_eq!(judge(&older(recorded().process), &blind, &Observed::Absent).reason(), "other-process-table");
}

#[test]
fn an_older_record_is_judged_by_host_name() {
    let proc = process(token(&TICKS.to_string(), "proc"));
    assert_eq!(verdict(&older(proc.clone()), &seen(TICKS)), "same-process");
    assert_eq!(verdict(&older(proc.clone()), &Observed::Absent), "gone");
    assert_eq!(verdict(&older(proc.clone()), &seen(1)), "pid-reused");
    assert_eq!(verdict(&older(process(None)), &seen(TICKS)), "bare-pid");
    let other_host = Anchor { hostname: Some("desktop".to_owned()), ..older(proc.clone()) };
    assert_eq!(verdict(&other_host, &Observed::Absent), "other-process-table");
    let no_host = Anchor { hostname: None, ..older(proc.clone()) };
    assert_eq!(verdict(&no_host, &Observed::Absent), "other-process-table");
    let container = Here { initial_pid_namespace: false, ..here() };
    assert_eq!(judge(&older(proc), &container, &Observed::Absent).reason(), "other-process-table");
}

#[test]
fn absent_and_ended_are_death() {
    assert_eq!(verdict(&recorded(), &Observed::Absent), "gone");
    assert_eq!(verdict(&recorded(), &Observed::Ended), "ended");
}

#[test]
fn what_may_not_be_inspected_is_unknown() {
    assert_eq!(verdict(&recorded(), &Observed::Exists { start_ticks: None }), "not-inspectable");
    assert_eq!(verdict(&recorded(), &Observed::NotSeen), "not-seen");
}

#[test]
fn tokens_decide_by_their_kind() {
    let with = |token| Anchor { process: process(token), ..recorded() };
    assert_eq!(verdict(&with(None), &seen(TICKS)), "bare-pid");
    assert_eq!(verdict(&recorded(), &seen(TICKS)), "same-process");
    assert_eq!(verdict(&recorded(), &seen(TICKS + 1)), "pid-reused");
    assert_eq!(verdict(&with(token(&TICKS.to_string(), "magic")), &seen(TICKS)), "unknown-token");
    assert_eq!(verdict(&with(token(&TICKS.to_string(), "magic")), &seen(1)), "unknown-token");
    assert_eq!(verdict(&with(token("x", "proc")), &seen(1)), "unknown-token");
}

#[test]
fn a_weak_token_can_only_refute() {
    // Seen: 90 334 s after the boot of 2023-11-14 22:13:20 UTC.
    let with = |value: &str| Anchor { process: process(token(value, "ps")), ..recorded() };
    assert_eq!(verdict(&with("Wed_Nov_15_23:18:54_2023"), &seen(TICKS)), "weak-token");
    assert_eq!(verdict(&with("Thu Nov 16 07:18:54 2023"), &seen(TICKS)), "weak-token", "another zone");
    assert_eq!(verdict(&with("Mon_Aug_10_09:19:16_2026"), &seen(TICKS)), "pid-reused");
    assert_eq!(verdict(&with("gestern"), &seen(TICKS)), "weak-token");
}

#[test]
fn the_same_host_by_table_or_by_name() {
    let renamed = Anchor { hostname: Some("renamed".to_owned()), ..recorded() };
    assert!(same_host(&renamed, &here()), "the same process table, whatever the name");
    let no_table = Anchor { table: None, ..recorded() };
    assert!(same_host(&no_table, &here()), "the same name");
    assert!(!same_host(&Anchor { hostname: None, ..no_table.clone() }, &here()), "no name");
    let clone = Anchor { machine_id: Some("machine-2".to_owned()), ..no_table };
    assert!(!same_host(&clone, &here()), "a machine id that contradicts");
}

#[test]
fn the_same_session_is_the_whole_anchor() {
    let mine = recorded();
    assert!(same_session(&recorded(), &mine, &here()));
    let renamed = Anchor { hostname: Some("renamed".to_owned()), ..recorded() };
    assert!(same_session(&renamed, &mine, &here()), "the process table says more than a name");
    let shell = older(recorded().process);
    assert!(same_session(&shell, &mine, &here()), "a lock that the shell implementation took for us");
    let other_name = Anchor { hostname: Some("desktop".to_owned()), ..shell };
    for other in [
        other_name,
        Anchor { process: RecordedProcess::None, ..recorded() },
        Anchor { process: process(None), ..recorded() },
        Anchor { process: process(token("1", "proc")), ..recorded() },
        Anchor { process: process(token(&TICKS.to_string(), "ps")), ..recorded() },
        Anchor { table: Some(table_of("boot-0", 4_026_531_836, 4_026_531_834)), ..recorded() },
    ] {
        assert!(!same_session(&other, &mine, &here()), "{other:?}");
        assert!(!same_session(&mine, &Anchor { process: RecordedProcess::None, ..mine.clone() }, &here()));
    }
    let weak = Anchor { process: process(token("a", "ps")), ..recorded() };
    assert!(!same_session(&weak, &weak, &here()), "a weak token never makes the same session");
}

fn any_anchor() -> impl Strategy<Value = Anchor> {
    let token = prop_oneof![
        Just(None),
        ("(1|2|x)", "(proc|ps|other)").prop_map(|(value, kind)| self::token(&value, &kind))
    ];
    let process = prop_oneof![
        Just(RecordedProcess::None),
        Just(RecordedProcess::Garbled),
        (0u32..3, token).prop_map(|(pid, token)| RecordedProcess::Process { pid, token }),
    ];
    let table = proptest::option::of(
        ("boot-[01]", 0u64..2, 0u64..2).prop_map(|(boot, pid, time)| table_of(&boot, pid, time)),
    );
    (process, table, proptest::option::of("[ab]"), proptest::option::of("[mn]"))
        .prop_map(|(process, table, hostname, machine_id)| Anchor { process, table, hostname, machine_id })
}

fn any_here() -> impl Strategy<Value = Here> {
    (any_anchor(), any::<bool>()).prop_map(|(anchor, initial_pid_namespace)| Here {
        table: anchor.table,
        hostname: anchor.hostname,
        machine_id: anchor.machine_id,
        initial_pid_namespace,
        booted_unix: Some(0),
    })
}

fn any_observed() -> impl Strategy<Value = Observed> {
    prop_oneof![
        Just(Observed::NotSeen),
        Just(Observed::Absent),
        Just(Observed::Ended),
        proptest::option::of(1u64..3).prop_map(|start_ticks| Observed::Exists { start_ticks }),
    ]
}

proptest! {
    #[test]
    fn alive_needs_the_very_process(
        recorded in any_anchor(), here in any_here(), observed in any_observed()
    ) {
        if judge(&recorded, &here, &observed) == Liveness::Alive {
            let RecordedProcess::Process { token: Some(token), .. } = &recorded.process else {
                return Err(TestCaseError::fail("alive without a token"));
            };
            prop_assert_eq!(&token.kind, &TokenKind::Proc);
            prop_assert_eq!(observed, Observed::Exists { start_ticks: token.value.parse().ok() });
            prop_assert!(recorded.table.is_none() || recorded.table == here.table);
        }
    }

    #[test]
    fn death_needs_proof(recorded in any_anchor(), here in any_here(), observed in any_observed()) {
        match judge(&recorded, &here, &observed) {
            Liveness::Dead(Evidence::Rebooted) => {
                prop_assert!(recorded.machine_id.is_some());
                prop_assert_eq!(&recorded.machine_id, &here.machine_id);
            }
            Liveness::Dead(_) => {
                prop_assert!(recorded.table.is_none() || recorded.table == here.table);
                prop_assert!(observed != Observed::NotSeen, "nobody dies unseen");
                prop_assert!(observed != Observed::Exists { start_ticks: None }, "nor uninspected");
            }
            Liveness::Alive | Liveness::Unknown(_) => {}
        }
    }

    #[test]
    fn one_holder_is_never_both(recorded in any_anchor(), here in any_here(), observed in any_observed()) {
        let verdict = judge(&recorded, &here, &observed);
        prop_assert_eq!(verdict, judge(&recorded, &here, &observed), "the same question, the same answer");
        let mine = Anchor { ..recorded.clone() };
        if same_session(&recorded, &mine, &here) {
            let pid_can_be_seen = pid_to_observe(&recorded, &here).is_some();
            prop_assert!(pid_can_be_seen || recorded.table != here.table || here.table.is_none());
        }
    }
}
