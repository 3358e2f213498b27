use std::time::Duration;

use super::*;
use crate::domain::anchor::{
    Anchor, AnchorSource, Here, ProcessTable, RecordedProcess, SessionProcess, StartToken, TokenKind,
};
use crate::domain::liveness::{Doubt, Evidence, Liveness};
use crate::domain::record::{Damage, Reading, damaged};

const NOW: &str = "2026-12-01T12:00:00Z";

fn here() -> Here {
    Here {
        table: Some(ProcessTable { boot_id: "boot".to_owned(), pid_namespace: 1, time_namespace: 2 }),
        hostname: Some("laptop".to_owned()),
        machine_id: Some("machine".to_owned()),
        initial_pid_namespace: true,
        booted_unix: Some(0),
    }
}

fn session(pid: u32) -> Session {
    let token = Some(StartToken { value: "7".to_owned(), kind: TokenKind::Proc });
    Session { here: here(), process: Some(SessionProcess { pid, token, source: AnchorSource::Tmux }) }
}

fn asker(tasks: usize) -> Asker {
    Asker {
        owner: "ann@example.com".to_owned(),
        session: session(100),
        now: NOW.parse().unwrap(),
        refresh_interval: Duration::from_secs(600),
        lock_ids: (0..tasks).map(|n| format!("freshfresh{n}")).collect(),
    }
}

fn order(wanted: Wanted, tasks: &[&str]) -> Order {
    Order {
        wanted,
        tasks: tasks.iter().map(|task| TaskId::parse(task).unwrap()).collect(),
        first: false,
        force: false,
        expect: None,
        note: None,
        consent: Consent::NotAsked,
    }
}

fn record(owner: &str, anchor: Anchor, locked_at: &str) -> LockRecord {
    LockRecord {
        owner: Some(owner.to_owned()),
        locked_at: Some(locked_at.to_owned()),
        anchor,
        lock_id: Some("oldoldoldold".to_owned()),
        refreshed_at: None,
        anchor_source: None,
        note: Some("why".to_owned()),
        extra: vec!["agent: x\n".to_owned()],
    }
}

fn found(task: &str, owner: &str, pid: u32, liveness: Liveness) -> Found {
    let record = record(owner, session(pid).anchor(), "2026-12-01T10:00:00Z");
    Found {
        task: TaskId::parse(task).unwrap(),
        file: format!("t{task}_lock.yaml"),
        lock_id: "oldoldoldold".to_owned(),
        reading: Reading::Whole(record),
        liveness,
    }
}

const ALIVE: Liveness = Liveness::Alive;
const DEAD: Liveness = Liveness::Dead(Evidence::Gone);
const ANN: &str = "ann@example.com";

fn words(plan: &Plan) -> (bool, Vec<&'static str>) {
    match plan {
        Plan::Settled(verdicts) => (false, verdicts.iter().map(Verdict::word).collect()),
        Plan::Write { verdicts, .. } => (true, verdicts.iter().map(Verdict::word).collect()),
        Plan::Ask(_) => (false, vec!["ASK"]),
    }
}

fn edits(plan: &Plan) -> Vec<String> {
    let Plan::Write { edits, .. } = plan else { return Vec::new() };
    let text = |edit: &Edit| match edit {
        Edit::Put { task, .. } => format!("+{}", task.file_name()),
        Edit::Remove { file } => format!("-{file}"),
    };
    edits.iter().map(text).collect()
}

#[test]
fn each_row_in_each_verb() {
    let unknown = Liveness::Unknown(Doubt::BarePid);
    let elsewhere = |mut lock: Found| {
        if let Reading::Whole(record) = &mut lock.reading {
            record.anchor.table = None;
            record.anchor.hostname = Some("desktop".to_owned());
        }
        lock
    };
    let no_process = |mut lock: Found| {
        if let Reading::Whole(record) = &mut lock.reading {
            record.anchor.process = RecordedProcess::None;
        }
        lock
    };
    let unreadable = Found {
        reading: damaged(Damage::Binary),
        ..found("42", "x", 1, Liveness::Unknown(Doubt::NoProcess))
    };
    let no = |word| (false, vec![word]);
    let yes = |word| (true, vec![word]);
    for (name, lock, claim, refresh, release) in [
        ("free", None, yes("CLAIMED"), no("NOT_HELD"), no("NOT_HELD")),
        (
            "other owner",
            Some(found("42", "bob", 1, DEAD)),
            no("LOCK_FAILED"),
            no("LOCK_FAILED"),
            no("LOCK_FAILED"),
        ),
        (
            "this session",
            Some(found("42", ANN, 100, ALIVE)),
            yes("REFRESHED"),
            yes("REFRESHED"),
            yes("RELEASED"),
        ),
        (
            "alive",
            Some(found("42", ANN, 1, ALIVE)),
            no("LOCK_LIVE_HOLDER"),
            no("LOCK_LIVE_HOLDER"),
            no("LOCK_LIVE_HOLDER"),
        ),
        (
            "unknown",
            Some(found("42", ANN, 1, unknown)),
            no("LOCK_UNVERIFIABLE_HOLDER"),
            no("LOCK_UNVERIFIABLE_HOLDER"),
            no("LOCK_UNVERIFIABLE_HOLDER"),
        ),
        ("gone", Some(found("42", ANN, 1, DEAD)), yes("RECLAIM_CRASH"), no("NOT_HELD"), yes("RELEASED")),
        (
            "other host",
            Some(elsewhere(found("42", ANN, 1, unknown))),
            yes("LOCK_RECLAIM"),
            no("NOT_HELD"),
            yes("RELEASED"),
        ),
        (
            "no process",
            Some(no_process(found("42", ANN, 1, Liveness::Unknown(Doubt::NoProcess)))),
            yes("RECLAIM_STATUS"),
            no("NOT_HELD"),
            yes("RELEASED"),
        ),
        ("unreadable", Some(unreadable), no("LOCK_FAILED"), no("LOCK_FAILED"), no("LOCK_FAILED")),
    ] {
        let locks: Vec<Found> = lock.into_iter().collect();
        for (wanted, expected) in
            [(Wanted::Claim, claim), (Wanted::Refresh, refresh), (Wanted::Release, release)]
        {
            let plan = decide(&order(wanted, &["42"]), &asker(1), &locks);
            assert_eq!(words(&plan), expected, "{name}, {wanted:?}");
        }
        for wanted in [Wanted::Claim, Wanted::Release] {
            let forced = Order { force: true, ..order(wanted, &["42"]) };
            let plan = decide(&forced, &asker(1), &locks);
            let free = locks.is_empty() && wanted == Wanted::Release;
            assert!(matches!(plan, Plan::Write { .. }) != free, "{name}: force always gets through");
        }
    }
}

#[test]
fn all_or_nothing() {
    let locks = [found("2", "bob", 1, ALIVE), found("3", ANN, 100, ALIVE)];
    let plan = decide(&order(Wanted::Claim, &["1", "2", "3"]), &asker(3), &locks);
    assert_eq!(words(&plan), (false, vec!["NOT_CLAIMED", "LOCK_FAILED", "REFRESHED"]));
    let plan = decide(&order(Wanted::Release, &["3", "2", "4"]), &asker(3), &locks);
    assert_eq!(words(&plan), (false, vec!["NOT_RELEASED", "LOCK_FAILED", "NOT_HELD"]));
    let plan = decide(&order(Wanted::Claim, &["1", "3"]), &asker(2), &locks);
    assert_eq!(words(&plan), (true, vec!["CLAIMED", "REFRESHED"]));
    assert_eq!(edits(&plan), ["+t1_lock.yaml", "+t3_lock.yaml"], "one commit");
}

#[test]
fn a_young_lock_is_only_verified() {
    let mut lock = found("42", ANN, 100, ALIVE);
    if let Reading::Whole(record) = &mut lock.reading {
        record.refreshed_at = Some("2026-12-01T11:55:00Z".to_owned());
    }
    let locks = [lock];
    assert_eq!(
        words(&decide(&order(Wanted::Refresh, &["42"]), &asker(1), &locks)),
        (false, vec!["REFRESHED"])
    );
    let noted = Order { note: Some("new".to_owned()), ..order(Wanted::Claim, &["42"]) };
    assert_eq!(words(&decide(&noted, &asker(1), &locks)), (true, vec!["REFRESHED"]), "a new note is written");
}

#[test]
fn a_refresh_keeps_what_a_claim_replaces() {
    let put = |plan: Plan| match plan {
        Plan::Write { mut edits, .. } => match edits.pop() {
            Some(Edit::Put { record, .. }) => *record,
            other => panic!("no record written: {other:?}"),
        },
        other => panic!("nothing written: {other:?}"),
    };
    let locks = [found("42", ANN, 100, ALIVE)];
    let refreshed = put(decide(&order(Wanted::Refresh, &["42"]), &asker(1), &locks));
    assert_eq!(refreshed.lock_id.as_deref(), Some("oldoldoldold"), "kept by refresh");
    assert_eq!(refreshed.locked_at.as_deref(), Some("2026-12-01T10:00:00Z"));
    assert_eq!(refreshed.refreshed_at.as_deref(), Some(NOW));
    assert_eq!(refreshed.note.as_deref(), Some("why"));
    let locks = [found("42", ANN, 1, DEAD)];
    let reclaimed = put(decide(&order(Wanted::Claim, &["42"]), &asker(1), &locks));
    assert_eq!(reclaimed.lock_id.as_deref(), Some("freshfresh0"), "new at every claim");
    assert_eq!(reclaimed.locked_at.as_deref(), Some(NOW));
    assert_eq!(reclaimed.note, None);
    assert_eq!(reclaimed.extra, ["agent: x\n"], "what this program does not know is kept");
}

#[test]
fn a_claim_that_landed_already_is_a_claim() {
    let mut lock = found("42", ANN, 1, Liveness::Unknown(Doubt::NoProcess));
    if let Reading::Whole(record) = &mut lock.reading {
        record.lock_id = Some("freshfresh0".to_owned());
    }
    let plan = decide(&order(Wanted::Claim, &["42"]), &asker(1), &[lock]);
    assert_eq!(words(&plan), (false, vec!["CLAIMED"]));
}

#[test]
fn another_spelling_is_the_same_lock() {
    let spelled = |owner: &str, pid, liveness| Found {
        file: "t07_lock.yaml".to_owned(),
        ..found("7", owner, pid, liveness)
    };
    let plan = decide(&order(Wanted::Claim, &["7"]), &asker(1), &[spelled("bob", 1, DEAD)]);
    assert_eq!(words(&plan), (false, vec!["LOCK_FAILED"]));
    let both = [found("7", ANN, 100, ALIVE), spelled("bob", 1, DEAD)];
    let plan = decide(&order(Wanted::Claim, &["7"]), &asker(1), &both);
    assert_eq!(words(&plan), (false, vec!["LOCK_FAILED"]), "any refusal is the answer");
    let mine = [spelled(ANN, 100, ALIVE)];
    let plan = decide(&order(Wanted::Claim, &["7"]), &asker(1), &mine);
    assert_eq!(edits(&plan), ["-t07_lock.yaml", "+t7_lock.yaml"], "one canonical file is left");
    let plan = decide(&order(Wanted::Release, &["7"]), &asker(1), &mine);
    assert_eq!(edits(&plan), ["-t07_lock.yaml"]);
}

#[test]
fn expect_binds_to_what_was_looked_at() {
    let expecting = |lock_id: &str, wanted| Order {
        expect: Some(lock_id.to_owned()),
        force: true,
        ..order(wanted, &["42"])
    };
    let locks = [found("42", "bob", 1, ALIVE)];
    for wanted in [Wanted::Claim, Wanted::Release] {
        let plan = decide(&expecting("oldoldoldold", wanted), &asker(1), &locks);
        assert_eq!(words(&plan), (true, vec!["FORCE_UNLOCKED"]));
        let plan = decide(&expecting("another-one", wanted), &asker(1), &locks);
        assert_eq!(words(&plan), (false, vec!["HOLDER_CHANGED"]));
        let plan = decide(&expecting("oldoldoldold", wanted), &asker(1), &[]);
        assert_eq!(words(&plan), (false, vec!["HOLDER_CHANGED"]), "gone is changed, too");
    }
}

#[test]
fn the_first_free_one() {
    let first = |tasks: &[&str]| Order { first: true, ..order(Wanted::Claim, tasks) };
    let locks = [
        found("1", "bob", 1, ALIVE),
        found("2", ANN, 1, DEAD),
        found("3", ANN, 1, Liveness::Unknown(Doubt::BarePid)),
        found("5", ANN, 100, ALIVE),
    ];
    let plan = decide(&first(&["1", "2", "3", "4"]), &asker(4), &locks);
    assert_eq!(edits(&plan), ["+t4_lock.yaml"], "what nobody holds comes before what was lost");
    let plan = decide(&first(&["1", "2", "3"]), &asker(3), &locks);
    assert_eq!(words(&plan), (true, vec!["RECLAIM_CRASH"]));
    let plan = decide(&first(&["1", "3", "5"]), &asker(3), &locks);
    assert_eq!(
        words(&plan),
        (false, vec!["LOCK_FAILED", "LOCK_UNVERIFIABLE_HOLDER", "LOCK_LIVE_HOLDER"]),
        "a task of this very session is not free either"
    );
}

#[test]
fn a_person_is_asked_before_and_only_for_what_was_shown() {
    let asked = |agreed: &[&str]| Order {
        consent: Consent::Asked(agreed.iter().map(|id| (*id).to_owned()).collect()),
        ..order(Wanted::Claim, &["42"])
    };
    let locks = [found("42", ANN, 1, DEAD)];
    assert!(matches!(decide(&asked(&[]), &asker(1), &locks), Plan::Ask(_)));
    assert!(matches!(decide(&asked(&["another"]), &asker(1), &locks), Plan::Ask(_)));
    assert_eq!(words(&decide(&asked(&["oldoldoldold"]), &asker(1), &locks)), (true, vec!["RECLAIM_CRASH"]));
    assert_eq!(words(&decide(&asked(&[]), &asker(1), &[])), (true, vec!["CLAIMED"]), "nothing to ask");
}

#[test]
fn commits_say_what_they_do() {
    let subject = |wanted, tasks: &[&str], locks: &[Found]| match decide(
        &order(wanted, tasks),
        &asker(tasks.len()),
        locks,
    ) {
        Plan::Write { note, .. } => note.subject,
        other => panic!("{other:?}"),
    };
    assert_eq!(subject(Wanted::Claim, &["42"], &[]), "ait: Lock task t42 for ann@example.com");
    let mine = [found("42", ANN, 100, ALIVE)];
    assert_eq!(subject(Wanted::Release, &["42"], &mine), "ait: Unlock task t42");
    assert_eq!(
        subject(Wanted::Claim, &["1", "2", "3", "4", "5", "6"], &[]),
        "ait: Lock tasks t1, t2, t3, t4 and 2 more for ann@example.com"
    );
}
