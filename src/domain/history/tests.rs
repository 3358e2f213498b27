use super::*;

fn side(owner: &str, pid: u32, lock_id: Option<&str>) -> Side {
    Side {
        owner: (!owner.is_empty()).then(|| owner.to_owned()),
        hostname: Some("laptop".to_owned()),
        pid: (pid > 0).then_some(pid),
        session: (pid > 0).then(|| (pid, format!("{pid}00"))),
        locked_at: Some("2026-11-30T10:00:00Z".to_owned()),
        lock_id: lock_id.map(str::to_owned),
        note: None,
    }
}

fn task() -> TaskId {
    TaskId::parse("42").unwrap()
}

fn ours(word: &str) -> String {
    format!("ait: Something\n\nLock-Action: {word}\nLock-Task: 42\nLock-Id: abc\nLock-Attempt: x\n")
}

#[test]
fn what_a_commit_did_to_a_task() {
    use EventKind::*;
    let alice = side("alice", 7, Some("aaaaaaaa"));
    let again = side("alice", 8, Some("bbbbbbbb"));
    let bob = side("bob", 9, Some("cccccccc"));
    let unreadable = Side::default();
    let shell = |pid| side("alice", pid, None);
    let later = Side { locked_at: Some("2026-11-30T11:00:00Z".to_owned()), ..shell(7) };
    let nobody = Side { locked_at: Some("2026-11-30T11:00:00Z".to_owned()), ..shell(0) };
    let lock = "ait: Lock task t42 for alice".to_owned();
    for (message, before, after, kind) in [
        (ours("claim"), None, Some(&alice), Some(Claimed)),
        (ours("release"), None, Some(&alice), Some(Claimed)),
        (lock.clone(), None, Some(&alice), Some(Claimed)),
        (ours("claim"), None, None, None),
        (ours("refresh"), Some(&alice), Some(&alice), Some(Refreshed)),
        (ours("reclaim"), Some(&alice), Some(&again), Some(Reclaimed)),
        (ours("force"), Some(&alice), Some(&again), Some(Forced)),
        (ours("force"), Some(&alice), Some(&bob), Some(Forced)),
        (ours("refresh"), Some(&alice), Some(&bob), Some(Forced)),
        (ours("force"), Some(&unreadable), Some(&bob), Some(Forced)),
        (ours("refresh"), Some(&shell(7)), Some(&alice), Some(Refreshed)),
        (ours("release"), Some(&alice), None, Some(Released)),
        (ours("force"), Some(&alice), None, Some(ForceReleased)),
        (ours("cleanup"), Some(&alice), None, Some(CleanedUp)),
        (ours("claim"), Some(&alice), None, Some(Removed)),
        // The shell implementation: only subjects.
        (lock.clone(), Some(&shell(7)), Some(&later), Some(Refreshed)),
        (lock.clone(), Some(&shell(7)), Some(&shell(8)), Some(Reclaimed)),
        (lock.clone(), Some(&shell(0)), Some(&nobody), Some(Reclaimed)),
        (lock.clone(), Some(&shell(7)), Some(&bob), Some(Forced)),
        ("ait: Unlock task t42".to_owned(), Some(&shell(7)), None, Some(Released)),
        ("ait: Cleanup 3 stale lock(s)".to_owned(), Some(&shell(7)), None, Some(CleanedUp)),
        // By hand.
        ("fix things".to_owned(), Some(&alice), None, Some(Removed)),
        ("fix things".to_owned(), Some(&shell(0)), Some(&shell(0)), Some(Edited)),
    ] {
        let intent = Intent::read(&message);
        assert_eq!(classify(&intent, &task(), before, after), kind, "{message} {before:?} {after:?}");
    }
}

#[test]
fn a_trailer_speaks_for_its_own_task_only() {
    let message = "ait: Unlock tasks t41, t42\n\nLock-Action: force\nLock-Task: 41\nLock-Id: a\n\
                   Lock-Action: release\nLock-Task: t042\nLock-Id: b\nLock-Task: 43\n";
    let intent = Intent::read(message);
    assert_eq!(intent.word(&task()), Some("release"));
    assert_eq!(intent.word(&TaskId::parse("41").unwrap()), Some("force"));
    assert_eq!(intent.word(&TaskId::parse("43").unwrap()), None, "a task without an action says nothing");
}

#[test]
fn who_did_it_and_from_whom() {
    let commit = |word: &str| Commit {
        id: "1234".to_owned(),
        time: "2026-11-30T10:00:00Z".to_owned(),
        author: "carol".to_owned(),
        intent: Intent::read(&ours(word)),
    };
    let alice = side("alice", 7, Some("aaaaaaaa"));
    let bob = side("bob", 9, Some("cccccccc"));
    let event = |word: &str, before, after| {
        let event = Event::of(&commit(word), &task(), before, after).unwrap();
        (event.owner.unwrap_or_default(), event.previous_owner, event.lock_id, event.previous_pid)
    };
    let id = |text: &str| Some(text.to_owned());
    assert_eq!(event("claim", None, Some(&alice)), ("alice".into(), None, id("aaaaaaaa"), None));
    assert_eq!(
        event("force", Some(&alice), Some(&bob)),
        ("bob".into(), id("alice"), id("cccccccc"), Some(7))
    );
    assert_eq!(event("force", Some(&alice), None), ("carol".into(), id("alice"), id("aaaaaaaa"), None));
    assert_eq!(event("release", Some(&alice), None), ("alice".into(), id("alice"), id("aaaaaaaa"), None));
    assert_eq!(event("cleanup", Some(&alice), None), ("carol".into(), id("alice"), id("aaaaaaaa"), None));
}

#[test]
fn words_are_stable() {
    let words: Vec<&str> = KINDS.iter().map(|kind| kind.word()).collect();
    assert_eq!(
        words,
        [
            "claimed",
            "refreshed",
            "reclaimed",
            "forced",
            "force-released",
            "released",
            "cleaned-up",
            "removed",
            "edited"
        ]
    );
    for kind in KINDS {
        assert_eq!(
            serde_json::to_string(&kind).unwrap(),
            format!("\"{}\"", kind.word()),
            "one word everywhere"
        );
    }
}
