//! The checker of histories finds what it is there for: each row is a small history with one fault in it.

use std::collections::BTreeMap;

use crate::support::history::{Act, Commit, Fault, History, Lock, Op, Said, Told, Verb, check, names};

fn lock(id: &str, session: &str, op: usize) -> Lock {
    Lock { id: id.to_owned(), owner: "ann".to_owned(), session: session.to_owned(), op: Some(op) }
}

fn commit(word: &str, lock_id: &str, locks: &[Lock]) -> Commit {
    let act = Act { word: word.to_owned(), task: "1".to_owned(), lock_id: lock_id.to_owned() };
    let locks: BTreeMap<String, Lock> = locks.iter().map(|lock| ("1".to_owned(), lock.clone())).collect();
    Commit { acts: vec![act], locks, doubled: None }
}

fn op(session: &str, verb: Verb, times: (u64, u64), told: Told) -> Op {
    Op {
        session: session.to_owned(),
        owner: "ann".to_owned(),
        verb,
        tasks: vec!["1".to_owned()],
        force: false,
        began: times.0,
        ended: times.1,
        told,
    }
}

fn said(word: &str, lock: Option<&str>, stood: Option<&str>) -> Told {
    Told::Answers(vec![Said {
        word: word.to_owned(),
        task: "1".to_owned(),
        lock: lock.map(str::to_owned),
        stood: stood.map(str::to_owned),
        written: true,
    }])
}

/// A claims, B is refused, A renews and gives back, B claims and dies, A follows.
fn good() -> History {
    let (x, y, z) = (lock("x", "A", 0), lock("y", "B", 4), lock("z", "A", 5));
    History {
        commits: vec![
            commit("claim", "x", std::slice::from_ref(&x)),
            commit("refresh", "x", &[x]),
            commit("release", "x", &[]),
            commit("claim", "y", &[y]),
            commit("reclaim", "z", &[z]),
        ],
        ops: vec![
            op("A", Verb::Claim, (10, 20), said("CLAIMED", Some("x"), None)),
            op("B", Verb::Claim, (15, 25), said("LOCK_LIVE_HOLDER", None, Some("x"))),
            op("A", Verb::Refresh, (26, 28), said("REFRESHED", Some("x"), None)),
            op("A", Verb::Release, (30, 40), said("RELEASED", None, Some("x"))),
            op("B", Verb::Claim, (50, 60), said("CLAIMED", Some("y"), None)),
            op("A", Verb::Claim, (80, 90), said("RECLAIM_CRASH", Some("z"), Some("y"))),
            op("C", Verb::List, (61, 70), said("LOCKED", None, Some("y"))),
            op("C", Verb::Check, (42, 49), said("FREE", None, None)),
        ],
        deaths: [("B".to_owned(), (70, 72))].into(),
    }
}

#[test]
fn a_good_history_has_no_fault() {
    assert_eq!(check(&good()), []);
}

/// The faults of the good history after a change.
#[track_caller]
fn row(change: impl FnOnce(&mut History), expected: &[Fault]) {
    let mut history = good();
    change(&mut history);
    let found = check(&history);
    assert_eq!(names(&found), expected, "{found:#?}");
}

#[test]
fn each_fault_is_found_by_its_name() {
    use Fault::*;
    // A lock that is gone without a word, or written without a word.
    row(|h| h.commits[2].acts.clear(), &[Vanished, NotInHistory]);
    row(|h| h.commits[3].acts.clear(), &[Unexplained, NotInHistory]);
    // A commit that says what it does not do; a change that nobody asked for.
    row(|h| h.commits.push(commit("claim", "z", &[lock("z", "A", 5)])), &[Unexplained]);
    row(|h| h.commits.push(commit("release", "z", &[])), &[Unexplained]);
    row(|h| h.commits[3].acts[0].lock_id = "w".to_owned(), &[Unexplained, NotInHistory]);
    row(|h| h.commits[4].locks.get_mut("1").unwrap().op = Some(99), &[Unexplained]);
    // Another session's lock, without proof of death; by force where force was not asked for.
    row(|h| h.deaths.clear(), &[ChangedHands]);
    row(|h| h.deaths.insert("B".to_owned(), (95, 96)).map(drop).unwrap_or_default(), &[ChangedHands]);
    row(|h| h.commits[4].acts[0].word = "force".to_owned(), &[ChangedHands]);
    row(|h| h.commits[1].locks.get_mut("1").unwrap().session = "C".to_owned(), &[ChangedHands]);
    row(|h| h.ops[5].owner = "bob".to_owned(), &[ChangedHands]);
    row(|h| h.commits[4].doubled = Some("1".to_owned()), &[TwoLocks]);
    // A request that was carried again after its lock was given back; a renewal that was carried twice.
    row(
        |h| {
            h.commits.push(commit("release", "z", &[]));
            h.ops.push(op("A", Verb::Release, (91, 92), said("RELEASED", None, Some("z"))));
            h.commits.push(commit("claim", "z", &[lock("z", "A", 5)]));
        },
        &[CarriedTwice, NotInHistory, OutOfOrder, WrongHolder],
    );
    row(|h| h.commits.insert(1, h.commits[1].clone()), &[CarriedTwice]);
    row(|h| h.ops.push(op("C", Verb::Release, (30, 40), said("RELEASED", None, Some("x")))), &[TwoWinners]);
    // A success that is nowhere.
    row(|h| h.ops.push(op("C", Verb::Claim, (91, 95), said("CLAIMED", Some("w"), None))), &[NotInHistory]);
    row(|h| h.ops.push(op("C", Verb::Release, (91, 95), said("RELEASED", None, Some("z")))), &[NotInHistory]);
    row(|h| drop(h.commits.remove(1)), &[NotInHistory]);
    // Refused, or failed with nothing changed, and it was.
    row(|h| h.ops[5].told = said("LOCK_LIVE_HOLDER", None, Some("y")), &[RefusedButDone, WrongHolder]);
    row(|h| h.ops[5].told = Told::Failed, &[RefusedButDone]);
    // B was told before A began.
    row(|h| (h.ops[4].began, h.ops[4].ended) = (1, 5), &[OutOfOrder, WrongHolder]);
    // A refusal in the name of one who came later, was gone, or was dead.
    row(|h| (h.ops[1].began, h.ops[1].ended) = (1, 5), &[WrongHolder]);
    row(|h| (h.ops[1].began, h.ops[1].ended) = (45, 48), &[WrongHolder]);
    row(
        |h| h.ops.push(op("C", Verb::Claim, (74, 76), said("LOCK_LIVE_HOLDER", None, Some("y")))),
        &[WrongHolder],
    );
    // Free, not held, or a list that leaves one out, while somebody held it.
    row(|h| h.ops.push(op("C", Verb::Check, (61, 65), said("FREE", None, None))), &[WrongHolder]);
    row(|h| h.ops.push(op("C", Verb::Release, (61, 65), said("NOT_HELD", None, None))), &[WrongHolder]);
    row(|h| h.ops[6].told = Told::Answers(Vec::new()), &[WrongHolder]);
    // Taken over from another lock than the one that is named.
    row(|h| h.ops[5].told = said("RECLAIM_CRASH", Some("z"), Some("x")), &[WrongHolder]);
}

#[test]
fn what_was_told_nothing_may_have_happened_or_not() {
    for killed in [0, 2, 3, 4, 5] {
        row(|h| h.ops[killed].told = Told::Nothing, &[]);
    }
    row(|h| h.ops.push(op("C", Verb::Claim, (1, 2), Told::Nothing)), &[]);
    // Of several that may have removed it, one that was allowed to.
    row(
        |h| {
            h.ops.insert(
                0,
                Op { owner: "bob".to_owned(), force: true, ..op("B", Verb::Release, (1, 2), Told::Nothing) },
            );
            h.ops[4].told = Told::Nothing;
            let locks = h.commits.iter_mut().flat_map(|commit| commit.locks.values_mut());
            locks.for_each(|lock| lock.op = lock.op.map(|op| op + 1));
        },
        &[],
    );
    // By force, whoever held it.
    row(
        |h| {
            h.deaths.clear();
            h.commits[4].acts[0].word = "force".to_owned();
            h.ops[5].force = true;
            h.ops[5].told = said("FORCE_UNLOCKED", Some("z"), Some("y"));
        },
        &[],
    );
}
