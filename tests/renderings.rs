//! One value of every outcome, in all three renderings: the same words for the same things.

use std::collections::BTreeSet;

use git_aitask_lock::context::{Format, Layout};
use git_aitask_lock::domain::anchor::AnchorSource;
use git_aitask_lock::domain::failure::{Failure, FailureKind};
use git_aitask_lock::domain::finding::Finding;
use git_aitask_lock::domain::history::{Event, KINDS};
use git_aitask_lock::domain::hook::{self, Hook, HookVerdict, Hooks};
use git_aitask_lock::domain::liveness::{Doubt, Evidence, Liveness};
use git_aitask_lock::domain::lock::{LockView, State};
use git_aitask_lock::domain::merge::reservation::Unreadable;
use git_aitask_lock::domain::merge::residue::{Operation, Remedy, Residue};
use git_aitask_lock::domain::merge::verdict as merge;
use git_aitask_lock::domain::merge::verdict::{BusyWhy, Holder, MergeVerdict, Refusal};
use git_aitask_lock::domain::record::Damage;
use git_aitask_lock::domain::tally::Tally;
use git_aitask_lock::domain::task_guard::Enforced;
use git_aitask_lock::domain::task_id::TaskId;
use git_aitask_lock::domain::verdict::{
    AnchorReport, Changed, Forced, HeldBack, NotHeld, Reason, Refused, Released, Retaken, Taken, Verdict,
    Wanted,
};
use git_aitask_lock::domain::words;
use git_aitask_lock::render::{self, Carried, View};

use crate::support::snapshot;

/// Text that would clear a screen, end a line, add a field, and turn the writing around.
const HOSTILE: &str = "a\u{1b}[2J|b%c\nd\u{202e}e";

fn task() -> TaskId {
    TaskId::parse("42").unwrap()
}

fn other() -> TaskId {
    TaskId::parse("16_2").unwrap()
}

fn hostile() -> String {
    HOSTILE.to_owned()
}

fn lock(state: State, liveness: Liveness) -> LockView {
    LockView {
        task: task(),
        owner: Some("ann@example.com".to_owned()),
        locked_at: Some("2026-03-01 11:30".to_owned()),
        hostname: Some("here".to_owned()),
        pid: Some(4711),
        state,
        liveness,
        lock_id: "0123456789abcdef".to_owned(),
        refreshed_at: None,
        anchor_source: None,
        note: None,
        file: None,
        damage: None,
    }
}

/// What a damaged or hostile record shows.
fn odd_lock() -> LockView {
    LockView {
        owner: Some(hostile()),
        locked_at: Some(hostile()),
        hostname: Some(hostile()),
        note: Some(hostile()),
        file: Some("t042_lock.yaml".to_owned()),
        lock_id: hostile(),
        ..lock(State::CannotTell, Liveness::Unknown(Doubt::BarePid))
    }
}

fn unreadable_lock() -> LockView {
    LockView {
        owner: None,
        locked_at: None,
        hostname: None,
        pid: None,
        damage: Some(Damage::Empty),
        ..lock(State::Unreadable, Liveness::Unknown(Doubt::NoProcess))
    }
}

fn live() -> LockView {
    lock(State::Live, Liveness::Alive)
}

fn gone() -> LockView {
    lock(State::Gone, Liveness::Dead(Evidence::Gone))
}

fn elsewhere() -> LockView {
    LockView {
        hostname: Some("there".to_owned()),
        ..lock(State::Elsewhere, Liveness::Unknown(Doubt::OtherTable))
    }
}

fn locks() -> Vec<Verdict> {
    let taken = |written: bool| Taken {
        task: task(),
        owner: "ann@example.com".to_owned(),
        lock_id: "0123456789abcdef".to_owned(),
        pid: written.then_some(4711),
        written,
    };
    let retaken = |previous| Retaken {
        task: task(),
        owner: "ann@example.com".to_owned(),
        lock_id: "fedcba9876543210".to_owned(),
        pid: Some(4712),
        this_host: Some("here".to_owned()),
        previous,
    };
    let forced = |lock_id: Option<&str>, previous| {
        Verdict::ForceUnlocked(Forced { task: task(), lock_id: lock_id.map(str::to_owned), previous })
    };
    let refused = |wanted, holder| Refused { wanted, holder };
    let changed =
        |wanted, now| Verdict::HolderChanged(Changed { task: task(), wanted, expected: hostile(), now });
    let back = || HeldBack { task: task(), because_of: other() };
    let not_held = |wanted, holder| Verdict::NotHeld(NotHeld { task: task(), wanted, holder });
    let mut all = vec![
        Verdict::Claimed(taken(true)),
        Verdict::Claimed(taken(false)),
        Verdict::Refreshed(taken(true)),
        Verdict::Refreshed(taken(false)),
        Verdict::ReclaimCrash(retaken(gone())),
        Verdict::LockReclaim(retaken(elsewhere())),
        Verdict::ReclaimStatus(retaken(LockView { pid: None, ..odd_lock() })),
        forced(Some("fedcba9876543210"), live()),
        forced(None, odd_lock()),
        Verdict::LockFailed(refused(Wanted::Claim, live())),
        Verdict::LockFailed(refused(Wanted::Release, elsewhere())),
        Verdict::LockFailed(refused(Wanted::Claim, unreadable_lock())),
        Verdict::LockLiveHolder(refused(Wanted::Claim, live())),
        Verdict::LockUnverifiableHolder(refused(Wanted::Release, odd_lock())),
        changed(Wanted::Claim, None),
        changed(Wanted::Release, Some(odd_lock())),
        Verdict::NotClaimed(back()),
        Verdict::Declined { task: task() },
        not_held(Wanted::Release, None),
        not_held(Wanted::Refresh, None),
        not_held(Wanted::Refresh, Some(live())),
        Verdict::NotReleased(back()),
        Verdict::Locked(lock(State::Mine, Liveness::Alive)),
        Verdict::Locked(live()),
        Verdict::Locked(gone()),
        Verdict::Locked(elsewhere()),
        Verdict::Locked(odd_lock()),
        Verdict::Locked(unreadable_lock()),
        Verdict::Free { task: task() },
    ];
    for reason in [Reason::Asked, Reason::Gone, Reason::Archived, Reason::Own] {
        let previous = if reason == Reason::Archived { odd_lock() } else { gone() };
        all.push(Verdict::Released(Released { reason, previous: previous.clone() }));
        all.push(Verdict::WouldRelease(Released { reason, previous }));
    }
    all
}

fn reports() -> Vec<Verdict> {
    let made = |remote, created, lost| Verdict::Initialized {
        branch: "aitask-locks".to_owned(),
        remote,
        created,
        replaced: None,
        lost,
    };
    let compacted = Verdict::Initialized {
        branch: "aitask-locks".to_owned(),
        remote: Some("origin".to_owned()),
        created: false,
        replaced: Some("5f0c".repeat(10)),
        lost: Vec::new(),
    };
    let manual = |pages, installed, found| Verdict::Manual {
        folder: "/home/ann/my man/man1".to_owned(),
        pages,
        installed,
        found,
    };
    let mut all = vec![
        made(None, true, Vec::new()),
        made(Some(hostile()), false, vec![task(), other()]),
        compacted,
        Verdict::Anchor(AnchorReport {
            pid: 4711,
            program: Some(hostile()),
            source: AnchorSource::AgentPid,
            strong: true,
            hostname: Some("here".to_owned()),
            tried: vec![hostile()],
        }),
        Verdict::NoSessionAnchor { tried: vec![hostile()] },
        Verdict::Finding(Finding::ok("git", "git version 2.50")),
        Verdict::Finding(Finding::note("remote", hostile()).mend(hostile())),
        Verdict::Finding(Finding::problem("remote", "it cannot be read")),
        manual(0, false, false),
        manual(9, true, true),
        manual(9, false, false),
        Verdict::Text { text: "complete\n".to_owned() },
        Verdict::Word(words::TASK_WORDS[0]),
    ];
    all.extend(KINDS.into_iter().map(|action| {
        Verdict::Event(Event {
            time: "2026-03-01T11:30:00Z".to_owned(),
            action,
            task: task(),
            owner: Some("ann@example.com".to_owned()),
            previous_owner: Some(hostile()),
            lock_id: Some("0123456789abcdef".to_owned()),
            hostname: Some("here".to_owned()),
            previous_pid: Some(4711),
            previous_hostname: Some("here".to_owned()),
            note: Some(hostile()),
            commit: "0123456789abcdef0123".to_owned(),
        })
    }));
    all.push(Verdict::Tally(Tally {
        owner: Some(hostile()),
        claims: 3,
        releases: 1,
        crashes: 1,
        lost_by_force: 0,
        held_seconds: 3 * 3600 + 120,
        held_now: 1,
    }));
    let hooks = |states: [hook::State; 2]| Hooks {
        folder: hostile(),
        hooks: hook::NAMES
            .iter()
            .zip(states)
            .map(|(name, state)| Hook { name: (*name).to_owned(), state })
            .collect(),
        tasks: if states[0] == hook::State::Installed { Enforced::Held } else { Enforced::Off },
    };
    all.extend(
        [
            HookVerdict::HooksInstalled(hooks([hook::State::Installed; 2])),
            HookVerdict::HooksPartly(hooks([hook::State::Installed, hook::State::Foreign])),
            HookVerdict::HooksPartly(hooks([hook::State::Damaged, hook::State::None])),
            HookVerdict::HooksMissing(hooks([hook::State::None; 2])),
            HookVerdict::HooksRemoved(hooks([hook::State::None; 2])),
            HookVerdict::CommitRefused { holder: Box::new(holder(Liveness::Alive)), of_merge: true },
            HookVerdict::CommitRefused {
                holder: Box::new(holder(Liveness::Unknown(Doubt::BarePid))),
                of_merge: false,
            },
            HookVerdict::CommitRefused {
                holder: Box::new(Holder::unreadable(Unreadable::Incomplete)),
                of_merge: false,
            },
            HookVerdict::TaskCommitRefused { task: task(), branch: hostile(), holder: None },
            HookVerdict::TaskCommitRefused {
                task: task(),
                branch: hostile(),
                holder: Some(Box::new(lock(State::Live, Liveness::Alive))),
            },
        ]
        .map(Verdict::from),
    );
    all
}

fn failures() -> Vec<Verdict> {
    use FailureKind as K;
    let kinds = [
        K::Usage,
        K::BranchMissing,
        K::BranchRewritten,
        K::FetchFailed,
        K::Unreadable,
        K::RaceExhaustion,
        K::PushRefused,
        K::OutcomeUnknown,
        K::AmbiguousRemote,
        K::NotWritable,
        K::NoRepository,
        K::Fatal,
    ];
    let failure = |kind| {
        let told = Failure::new(kind, format!("the server said {HOSTILE}")).detail("detail");
        Failure { tasks: vec![task(), other()], ..told.hint("git aitask-lock doctor") }
    };
    let alone = Failure::new(K::FetchFailed, "it cannot be read");
    kinds.into_iter().map(failure).chain([alone]).map(Verdict::LockError).collect()
}

fn holder(liveness: Liveness) -> Holder {
    Holder {
        task: Some(other()),
        id: Some("00112233445566778899aabbccddeeff".to_owned()),
        pid: Some(4711),
        liveness,
        output_branch: Some("refs/heads/main".to_owned()),
        task_branch: Some("refs/heads/t16_2".to_owned()),
        owner: Some(hostile()),
        hostname: Some("here".to_owned()),
        taken_at: Some("2026-03-01T11:30:00Z".to_owned()),
        anchor_source: None,
        damage: None,
    }
}

fn conflicted() -> Residue {
    Residue {
        merge_head: Some("1".repeat(40)),
        unmerged: vec![hostile()],
        dirty: vec!["file".to_owned()],
        ..Residue::default()
    }
}

fn picked() -> Residue {
    Residue { operations: vec![Operation::CherryPick], index_locked: true, ..Residue::default() }
}

#[expect(clippy::too_many_lines, reason = "a value for each case")]
fn merges() -> Vec<Verdict> {
    use MergeVerdict as M;
    let root = || "/shared root".to_owned();
    let quoted = || "'/shared root'".to_owned();
    let lost = || holder(Liveness::Dead(Evidence::Ended));
    let id = || "ffeeddccbbaa99887766554433221100".to_owned();
    let next = || vec!["git aitask-lock merge force-release".to_owned()];
    let claimed = |again, from: Option<Holder>| {
        M::MergeClaimed(merge::MergeClaimed {
            task: task(),
            id: id(),
            output_branch: Some(format!("refs/heads/{HOSTILE}")),
            pid: Some(4711),
            again,
            reclaimed_from: from.map(Box::new),
            waited: 0,
        })
    };
    let busy = |why, waited, holder, guard: Option<&str>| {
        let remove_guard = guard.map(|guard| format!("rmdir {guard}"));
        M::Busy(merge::Busy {
            task: task(),
            why,
            waited,
            holder,
            guard: guard.map(str::to_owned),
            remove_guard,
            again: "git aitask-lock merge claim 42 --wait 5m".to_owned(),
        })
    };
    let standing = |holder, mine, guard: Option<&str>| merge::Standing {
        holder,
        mine,
        queue: vec![merge::Waiter { position: 1, task: Some(task()), pid: Some(9), since: Some(hostile()) }],
        remove_guard: guard.map(|guard| format!("rmdir {guard}")),
        guard: guard.map(str::to_owned),
        next: next(),
    };
    let refusal =
        |kept| Refusal { task: task(), about: hostile(), why: hostile(), hints: next(), kept, into: None };
    let rescue = || -> Option<merge::Rescued> {
        Some(merge::Rescued {
            reference: "refs/aitask-lock/rescue/1".to_owned(),
            commit: "1".repeat(40),
            restore: "git stash apply refs/aitask-lock/rescue/1".to_owned(),
            kept: Some("/repo/.git/aitask-lock/kept/1".to_owned()),
        })
    };
    let failed = |residue: Residue| {
        M::MergeFailed(merge::MergeFailed {
            task: task(),
            code: Some(1),
            said: hostile(),
            residue,
            root: quoted(),
            moves: Vec::new(),
            again: "git aitask-lock merge run 42".to_owned(),
        })
    };
    let undone = |rescue| merge::Undone { task: task(), id: id(), rescue, leftover: None };
    let dry = |remedy, holder: Option<Holder>, residue: Residue, guard: Option<&str>, commands: &[&str]| {
        M::DryRun(merge::DryRun {
            token: "token".to_owned(),
            remedy,
            holder,
            residue,
            root: quoted(),
            guard: guard.map(str::to_owned),
            remove_guard: guard.map(|guard| format!("rmdir {guard}")),
            commands: commands.iter().map(|&command| command.to_owned()).collect(),
            back_to: Some("refs/heads/main".to_owned()),
        })
    };
    let remedied = |given, needed, residue| merge::Remedied {
        holder: Some(lost()),
        residue,
        given,
        needed,
        command: "git aitask-lock merge force-release --expect token".to_owned(),
    };
    let changed = |now: Option<Holder>, residue| M::HolderChanged { now, expected: hostile(), residue };
    vec![
        claimed(false, None),
        claimed(true, None),
        claimed(false, Some(lost())),
        busy(BusyWhy::Alive, 0, Some(holder(Liveness::Alive)), None),
        busy(BusyWhy::Unknown, 3, Some(holder(Liveness::Unknown(Doubt::BarePid))), None),
        busy(BusyWhy::Unreadable, 0, Some(Holder::unreadable(Unreadable::Empty)), None),
        busy(BusyWhy::OwnOtherTask, 0, Some(holder(Liveness::Alive)), None),
        busy(BusyWhy::Guard, 0, Some(lost()), Some("/shared/guard")),
        busy(BusyWhy::Queue, 3, None, None),
        busy(BusyWhy::Superseded, 3, None, None),
        busy(BusyWhy::SessionEnded, 3, None, None),
        busy(BusyWhy::QueueRemoved, 3, None, None),
        M::StaleMergeResidue(merge::StaleResidue {
            task: task(),
            residue: conflicted(),
            remedy: Remedy::AbortMerge,
            root: root(),
            holder: Some(lost()),
            next: next(),
        }),
        M::StaleMergeResidue(merge::StaleResidue {
            task: task(),
            residue: picked(),
            remedy: Remedy::ResetHard,
            root: root(),
            holder: None,
            next: next(),
        }),
        M::Held(standing(Some(holder(Liveness::Alive)), true, None)),
        M::Held(standing(Some(lost()), false, Some("/shared/guard"))),
        M::Held(standing(Some(Holder::unreadable(Unreadable::Newer)), false, None)),
        M::Free(standing(None, false, None)),
        M::Free(standing(None, false, Some("/shared/guard"))),
        M::Released(merge::MergeReleased {
            task: task(),
            id: id(),
            findings: vec![merge::Finding { word: "HEAD_CHANGED", text: hostile() }],
        }),
        M::Retained {
            task: task(),
            because: "MERGE_CONFLICT".to_owned(),
            why: hostile(),
            next: vec!["git aitask-lock merge abort 42".to_owned()],
        },
        M::NotHolder { task: task(), holder: holder(Liveness::Alive) },
        M::NotOwnerSession { task: task(), holder: holder(Liveness::Alive) },
        M::HolderIncomplete { task: task(), holder: Holder::unreadable(Unreadable::Binary) },
        M::NotHeld { task: task() },
        M::DirtyTree(refusal(true)),
        M::PreflightMissing(refusal(false)),
        M::PreflightForeignWorktree(refusal(true)),
        M::PreflightCheckoutFailed(refusal(true)),
        M::PreflightHeadMismatch(refusal(true)),
        M::UnsafeOutputBranch(refusal(true)),
        M::MergeUnverified(merge::Unverified {
            task: task(),
            oid: "1".repeat(40),
            why: hostile(),
            rescue: None,
            kept: true,
            hints: next(),
        }),
        M::MergeOk(merge::Merged {
            task: task(),
            oid: "1".repeat(40),
            output_branch: "refs/heads/main".to_owned(),
            task_branch: format!("refs/heads/{HOSTILE}"),
            how: "merged".to_owned(),
            leftover: None,
        }),
        M::MergeConflict(merge::Conflict {
            task: task(),
            paths: vec![hostile(), "b,c".to_owned()],
            root: quoted(),
        }),
        failed(Residue::default()),
        failed(conflicted()),
        M::Aborted(undone(rescue())),
        M::ReleasedNoMerge(undone(None)),
        M::AbortUnsafe { task: task(), residue: picked(), remedy: Remedy::ResetHard, next: next() },
        M::AbortFailed(refusal(true)),
        M::Cleaned(merge::Cleaned { task: task(), removed: vec![hostile()], stayed: Vec::new() }),
        M::CleanedPartial(merge::Cleaned { task: task(), removed: vec![hostile()], stayed: vec![hostile()] }),
        M::CleanupRequiresCompletion { task: task() },
        M::TargetMismatch(refusal(true)),
        dry(Remedy::AbortMerge, Some(lost()), conflicted(), Some("/shared/guard"), &["rmdir /shared/guard"]),
        dry(Remedy::None, Some(holder(Liveness::Alive)), Residue::default(), None, &[]),
        dry(Remedy::None, None, Residue::default(), None, &[]),
        M::ForceReleased(merge::ForceReleased {
            holder: lost(),
            remedy: Remedy::ResetHard,
            rescue: rescue(),
        }),
        M::RefusedLiveHolder { holder: holder(Liveness::Alive) },
        changed(None, false),
        changed(Some(lost()), true),
        changed(Some(lost()), false),
        M::ResiduePresent(remedied(Remedy::None, Remedy::AbortMerge, conflicted())),
        M::WrongRemedy(remedied(Remedy::ResetHard, Remedy::AbortMerge, conflicted())),
        M::WrongRemedy(remedied(Remedy::ResetHard, Remedy::None, Residue::default())),
        M::RecoveryFailed(merge::RecoveryFailed {
            holder: Some(lost()),
            step: "reset".to_owned(),
            why: hostile(),
            rescue: rescue(),
            remove_guard: None,
            hints: next(),
        }),
        M::RecoveryFailed(merge::RecoveryFailed {
            holder: Some(lost()),
            step: "guard".to_owned(),
            why: hostile(),
            rescue: None,
            remove_guard: Some("rmdir /shared/guard".to_owned()),
            hints: vec!["rmdir /shared/guard".to_owned()],
        }),
        dry(Remedy::None, Some(holder(Liveness::Alive)), Residue::default(), Some("/shared/guard"), &[]),
    ]
    .into_iter()
    .map(Verdict::from)
    .collect()
}

fn rendered(verdict: &Verdict, format: Format) -> render::Printed {
    let view = View {
        format,
        now: "2026-03-01T12:00:00Z".parse().unwrap(),
        zone: jiff::tz::TimeZone::UTC,
        columns: None,
        quiet: false,
        layout: Layout::Sentences,
        carried: Carried::default(),
    };
    let printed = render::render(std::slice::from_ref(verdict), &[], &[], &view);
    let plain = |text: &str| anstream::adapter::strip_str(text).to_string();
    let printed = render::Printed { stdout: plain(&printed.stdout), stderr: plain(&printed.stderr) };
    for text in [&printed.stdout, &printed.stderr] {
        let hostile = text.chars().find(|&c| c != '\n' && render::escape::is_hostile(c));
        assert_eq!(hostile, None, "{verdict:?} as {format:?}");
    }
    printed
}

/// All of one room, each held against the table of words on the way.
fn document(verdicts: &[Verdict]) -> String {
    verdicts.iter().map(entry).collect::<Vec<_>>().join("\n")
}

fn entry(verdict: &Verdict) -> String {
    let porcelain = rendered(verdict, Format::Porcelain).stdout;
    let json = rendered(verdict, Format::Json).stdout;
    let human = rendered(verdict, Format::Human);
    let word = words::all().find(|word| word.word == verdict.word()).unwrap_or_else(|| panic!("{verdict:?}"));
    let exit = verdict.exit_code().to_string();
    assert!(word.exit.split(", ").any(|stated| stated == exit), "{} states no exit {exit}", word.word);
    for line in porcelain.lines() {
        let fields = line.split_once(':').map_or(0, |(_, fields)| fields.split('|').count());
        // A text that `Field` parts by colons counts as one on both sides.
        let named = if word.fields.is_empty() { 0 } else { word.fields.split('|').count() };
        assert!(fields <= named, "{line} has more fields than {}", word.fields);
        assert!(line.starts_with(word.word), "{line}");
    }
    let read: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json.lines().count(), 1, "{json}");
    assert_eq!(read["results"][0]["verdict"], word.word, "{json}");
    format!(
        "## {} [exit {exit}]\n{porcelain}{json}-- stdout\n{}-- stderr\n{}",
        word.word, human.stdout, human.stderr
    )
}

#[test]
fn locks_are_told_alike() {
    snapshot("renderings-locks", &document(&locks()));
}

#[test]
fn merges_are_told_alike() {
    snapshot("renderings-merge", &document(&merges()));
}

#[test]
fn failures_are_told_alike() {
    snapshot("renderings-failures", &document(&failures()));
}

#[test]
fn reports_are_told_alike() {
    snapshot("renderings-reports", &document(&reports()));
}

#[test]
fn no_word_is_left_out() {
    let all = [locks(), merges(), failures(), reports()].concat();
    let told: BTreeSet<&str> = all.iter().map(Verdict::word).collect();
    let listed: BTreeSet<&str> = words::all().map(|word| word.word).collect();
    assert_eq!(told, listed);
}
