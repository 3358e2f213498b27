use super::*;
use crate::domain::anchor::{ProcessTable, RecordedProcess, StartToken, TokenKind};
use crate::domain::liveness::Evidence;
use crate::domain::merge::reservation::Baseline;

const ALIVE: Liveness = Liveness::Alive;
const DEAD: Liveness = Liveness::Dead(Evidence::Gone);
const ELSEWHERE: Liveness = Liveness::Unknown(Doubt::OtherTable);
const NOBODY: Liveness = Liveness::Unknown(Doubt::NoProcess);

fn taken(same_session: bool, same_task: bool, liveness: Liveness) -> Seat {
    Seat::Taken { same_session, same_task, liveness }
}

#[test]
fn every_row_of_the_table() {
    use BusyWhy as Why;
    use Ruling::{Again, Reclaim, Refuse, Take, Wait};
    for (seat, guarded, first, ruling) in [
        (Seat::Free, false, true, Take),
        (Seat::Free, false, false, Wait(Why::Queue)),
        (Seat::Free, true, true, Refuse(Why::Guard)),
        (Seat::Unreadable, false, true, Refuse(Why::Unreadable)),
        (Seat::Unreadable, true, true, Refuse(Why::Guard)),
        (taken(true, true, ALIVE), false, true, Again),
        // A holder finds its own again whatever else stands there.
        (taken(true, true, ALIVE), true, false, Again),
        (taken(true, false, ALIVE), false, true, Refuse(Why::OwnOtherTask)),
        (taken(true, false, ALIVE), true, true, Refuse(Why::OwnOtherTask)),
        (taken(false, false, ALIVE), false, true, Wait(Why::Alive)),
        (taken(false, true, ALIVE), false, true, Wait(Why::Alive)),
        (taken(false, false, ALIVE), true, true, Refuse(Why::Guard)),
        (taken(false, false, DEAD), false, true, Reclaim),
        (taken(false, true, DEAD), false, true, Reclaim),
        (taken(false, false, DEAD), false, false, Wait(Why::Queue)),
        (taken(false, false, DEAD), true, true, Refuse(Why::Guard)),
        (taken(false, false, ELSEWHERE), false, true, Wait(Why::Unknown)),
        (taken(false, true, ELSEWHERE), false, true, Wait(Why::Unknown)),
        (taken(false, false, NOBODY), false, true, Refuse(Why::Unknown)),
    ] {
        assert_eq!(decide(seat, guarded, first), ruling, "{seat:?} guarded={guarded} first={first}");
    }
}

/// The rule that everything rests on: what is not provably free or gone is never taken.
#[test]
fn what_cannot_be_told_is_never_taken() {
    let doubts = [
        Doubt::NoProcess,
        Doubt::Garbled,
        Doubt::OtherTable,
        Doubt::NotInspectable,
        Doubt::BarePid,
        Doubt::WeakToken,
        Doubt::UnknownToken,
        Doubt::NotSeen,
    ];
    let all = doubts.map(Liveness::Unknown).into_iter().chain([ALIVE]);
    for liveness in all {
        for bits in 0..8_u8 {
            let [same_task, guarded, first] = [1, 2, 4].map(|bit| bits & bit != 0);
            let ruling = decide(taken(false, same_task, liveness), guarded, first);
            assert!(matches!(ruling, Ruling::Wait(_) | Ruling::Refuse(_)), "{liveness:?}: {ruling:?}");
        }
    }
}

fn table() -> ProcessTable {
    ProcessTable { boot_id: "boot".to_owned(), pid_namespace: 1, time_namespace: 2 }
}

fn here() -> Here {
    Here {
        table: Some(table()),
        hostname: Some("host".to_owned()),
        machine_id: None,
        initial_pid_namespace: true,
        booted_unix: None,
    }
}

fn anchor(pid: u32) -> Anchor {
    let token = Some(StartToken { value: "9".to_owned(), kind: TokenKind::Proc });
    Anchor {
        process: RecordedProcess::Process { pid, token },
        table: Some(table()),
        hostname: Some("host".to_owned()),
        machine_id: None,
    }
}

fn held_by(task: &str, anchor: Anchor) -> Seen {
    Seen::Taken(Box::new(Reservation {
        id: "0".repeat(32),
        task: TaskId::parse(task).unwrap(),
        output_branch: None,
        task_branch: None,
        task_tip: None,
        owner: None,
        anchor,
        anchor_source: None,
        taken_at: "now".to_owned(),
        baseline: Baseline::default(),
    }))
}

#[test]
fn only_the_holding_session_for_the_holding_task() {
    let task = TaskId::parse("42").unwrap();
    let word = |seen: &Seen| match holding(seen, &task, &anchor(7), &here(), ELSEWHERE) {
        Ok(_) => "ok",
        Err(refusal) => refusal.word(),
    };
    assert_eq!(word(&held_by("42", anchor(7))), "ok");
    assert_eq!(word(&held_by("42", anchor(8))), "NOT_OWNER_SESSION");
    assert_eq!(word(&held_by("43", anchor(7))), "NOT_HOLDER");
    assert_eq!(word(&held_by("43", anchor(8))), "NOT_HOLDER");
    assert_eq!(word(&Seen::Free), "NOT_HELD");
    assert_eq!(word(&Seen::Unreadable(Unreadable::Empty)), "HOLDER_INCOMPLETE");
    let nobody = Anchor { process: RecordedProcess::None, ..anchor(7) };
    assert_eq!(word(&held_by("42", nobody)), "HOLDER_INCOMPLETE");
}
