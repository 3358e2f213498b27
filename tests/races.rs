//! Many at once: nobody fails for want of luck, one task has one winner, and every lock that was
//! promised stands on the branch.

use std::path::PathBuf;

use crate::support::{BRANCH, Lab, Output, Repo, Run, Session, race};

const CROWD: usize = 32;

/// One racer for each run; what they came to, in order.
fn all_at_once(runs: Vec<Run>) -> Vec<Output> {
    race(runs.into_iter().map(|run| move || run.go()).collect())
}

/// Every run claimed its own task, and all the locks stand on the arbiter's branch with the ids
/// that were told.
#[track_caller]
fn assert_all_claimed(arbiter: &Repo<'_>, outputs: Vec<Output>) {
    let count = outputs.len();
    for output in outputs {
        let claimed = output.expect("CLAIMED", 0);
        let recorded = arbiter.lock_value(claimed.field(0), "lock_id");
        assert_eq!(recorded.as_deref(), Some(claimed.field(2)));
    }
    assert_eq!(arbiter.lock_files().len(), count);
    let history = arbiter.git(&["rev-list", "--min-parents=2", BRANCH]);
    assert_eq!(history, "", "the branch is one line of commits");
    arbiter.git(&["fsck", "--strict"]);
}

/// One run won; all the others were refused in the winner's name.
#[track_caller]
fn assert_one_winner(arbiter: &Repo<'_>, outputs: Vec<Output>, word: &str) {
    let won: Vec<&Output> = outputs.iter().filter(|output| output.code() == 0).collect();
    assert_eq!(won.len(), 1, "{outputs:?}");
    let winner = won[0].clone().expect(word, 0);
    let lock_id = arbiter.lock_value("42", "lock_id").unwrap();
    assert!(winner.line().contains(&lock_id), "the branch names the winner\n{winner}");
    for output in outputs.into_iter().filter(|output| output.code() != 0) {
        let refused = output.expect("LOCK_LIVE_HOLDER", 13);
        assert_eq!(refused.field(5), lock_id, "a refusal names the winner");
    }
    assert_eq!(arbiter.lock_files(), ["t42_lock.yaml"]);
}

fn sessions(count: usize) -> Vec<Session> {
    (0..count).map(|_| Session::start()).collect()
}

/// Clones without worktrees of their own: nothing but a lock is taken there.
fn clones(lab: &Lab, count: usize) -> Vec<Repo<'_>> {
    (0..count).map(|number| lab.clone_with(format!("c{number}"), &["--no-checkout"])).collect()
}

#[test]
fn clones_claiming_a_task_each() {
    let lab = Lab::new();
    let sessions = sessions(CROWD);
    let clones = clones(&lab, CROWD);
    let runs = clones.iter().zip(&sessions).enumerate();
    let runs = runs.map(|(n, (repo, session))| repo.lock(&["claim", &format!("{n}")]).session(session));
    assert_all_claimed(&lab.server(), all_at_once(runs.collect()));
}

#[test]
fn commands_of_one_clone_claiming_a_task_each() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    let sessions = sessions(CROWD);
    let runs = sessions.iter().enumerate();
    let runs = runs.map(|(n, session)| repo.lock(&["claim", &format!("{n}")]).session(session));
    assert_all_claimed(&lab.server(), all_at_once(runs.collect()));
}

#[test]
fn sessions_of_clones_and_worktrees_claiming_one_task() {
    let lab = Lab::new();
    let first = lab.clone("a");
    let mut places: Vec<Repo<'_>> = (0..8).map(|number| first.worktree(&format!("w{number}"))).collect();
    places.extend(clones(&lab, 8));
    let sessions = sessions(CROWD);
    let runs = sessions.iter().enumerate();
    let runs = runs.map(|(n, session)| places[n % places.len()].lock(&["claim", "42"]).session(session));
    assert_one_winner(&lab.server(), all_at_once(runs.collect()), "CLAIMED");
}

#[test]
fn sessions_reclaiming_one_lost_task() {
    let lab = Lab::new();
    let first = lab.clone("a");
    let clones = clones(&lab, 4);
    let mut lost = Session::start();
    first.lock(&["claim", "42"]).session(&lost).go().expect("CLAIMED", 0);
    lost.end();
    let sessions = sessions(16);
    let runs = sessions.iter().enumerate();
    let runs = runs.map(|(n, session)| clones[n % 4].lock(&["claim", "42"]).session(session));
    assert_one_winner(&lab.server(), all_at_once(runs.collect()), "RECLAIM_CRASH");
}

#[test]
fn without_a_remote_a_task_each() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let places: Vec<Repo<'_>> = (0..4).map(|number| repo.worktree(&format!("w{number}"))).collect();
    let sessions = sessions(CROWD);
    let runs = sessions.iter().enumerate();
    let runs = runs.map(|(n, session)| places[n % 4].lock(&["claim", &format!("{n}")]).session(session));
    assert_all_claimed(&repo, all_at_once(runs.collect()));
}

#[test]
fn without_a_remote_one_task() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let place = repo.worktree("w");
    let sessions = sessions(CROWD);
    let places = [&repo, &place];
    let runs = sessions.iter().enumerate();
    let runs = runs.map(|(n, session)| places[n % 2].lock(&["claim", "42"]).session(session));
    assert_one_winner(&repo, all_at_once(runs.collect()), "CLAIMED");
}

#[test]
fn in_a_reftable_repository() {
    let lab = Lab::empty();
    let probe = lab.path("probe");
    let mut init = lab.command("git");
    init.args(["init", "-q", "--ref-format=reftable"]).arg(&probe);
    if Output::of(init).code() != 0 {
        println!("skipped: this git knows no reftable");
        return;
    }
    let repo = lab.alone_with("a", &["--ref-format=reftable"]);
    let sessions = sessions(8);
    let runs = sessions.iter().map(|session| repo.lock(&["claim", "42"]).session(session));
    assert_one_winner(&repo, all_at_once(runs.collect()), "CLAIMED");
    repo.lock(&["release", "42", "--force"]).go().expect("FORCE_UNLOCKED", 0);
    let runs = sessions.iter().enumerate();
    let runs = runs.map(|(n, session)| repo.lock(&["claim", &format!("{n}")]).session(session));
    assert_all_claimed(&repo, all_at_once(runs.collect()));
}

#[test]
fn equal_dates_owners_and_anchors_still_have_one_winner() {
    let lab = Lab::new();
    let (a, b) = (lab.clone("a"), lab.clone("b"));
    let session = Session::start();
    for round in 0..5 {
        let task = format!("{}", 42 + round);
        // No process at all, so that the two sessions cannot be told apart by their anchor either.
        let run = |repo: &Repo<'_>| {
            let run = repo.lock(&["claim", "--first", &task]).env("GIT_AUTHOR_DATE", "1700000000 +0000");
            run.env("GIT_COMMITTER_DATE", "1700000000 +0000")
        };
        let outputs = all_at_once(vec![run(&a), run(&b)]);
        let won = outputs.iter().filter(|output| output.code() == 0).count();
        assert_eq!(won, 1, "{outputs:?}");
        let lock_id = lab.server().lock_value(&task, "lock_id").unwrap();
        assert!(outputs.iter().any(|output| output.code() == 0 && output.field(2) == lock_id));
    }
    // Two attempts of one session never make the same commit, even in the same second.
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..6 {
        a.lock(&["claim", "1"]).session(&session).go().expect("CLAIMED", 0);
        assert!(seen.insert(lab.server().tip(BRANCH)));
        a.lock(&["release", "1"]).session(&session).go().expect("RELEASED", 0);
        assert!(seen.insert(lab.server().tip(BRANCH)));
    }
}

#[test]
fn a_slow_server_makes_nobody_lose() {
    let lab = Lab::new();
    lab.script("server.git/hooks/pre-receive", "sleep 0.2");
    let clones = clones(&lab, 12);
    let sessions = sessions(12);
    let runs = clones.iter().zip(&sessions).enumerate();
    let runs = runs.map(|(n, (repo, session))| repo.lock(&["claim", &format!("{n}")]).session(session));
    assert_all_claimed(&lab.server(), all_at_once(runs.collect()));
}

#[test]
fn claims_and_releases_of_many_lose_nothing() {
    let lab = Lab::new();
    let clones = clones(&lab, 4);
    let racers = clones.iter().enumerate().map(|(number, repo)| {
        move || {
            let session = Session::start();
            for round in 0..6 {
                let task = format!("{number}_{round}");
                repo.lock(&["claim", &task]).session(&session).go().expect("CLAIMED", 0);
                if round % 2 == 0 {
                    repo.lock(&["release", &task]).session(&session).go().expect("RELEASED", 0);
                }
            }
        }
    });
    race(racers.collect());
    let mut kept: Vec<String> = lab.server().lock_files();
    kept.sort();
    let expected: Vec<String> =
        (0..4).flat_map(|n| [1, 3, 5].map(|round| format!("t{n}_{round}_lock.yaml"))).collect();
    assert_eq!(kept, expected);
    assert_eq!(lab.server().lock_commits(), 4 * (6 + 3));
}

#[test]
fn a_claim_between_the_look_and_the_push_of_another_is_seen() {
    let lab = Lab::new();
    let (a, b) = (lab.clone("a"), lab.clone("b"));
    let (first, second) = (Session::start(), Session::start());
    a.lock(&["init"]).go().expect("INITIALIZED", 0);
    for (task, word, code) in [("42", "LOCK_LIVE_HOLDER", 13), ("43", "CLAIMED", 0)] {
        // A git that lets the other clone claim 42 before the first push of this one.
        let marker: PathBuf = lab.path(format!("marker-{task}"));
        let git = lab.git(lab.root(), &["--exec-path"]) + "/git";
        let script = format!(
            "case \" $* \" in *' push '*)\n  if mkdir '{marker}' 2>/dev/null; then\n    (cd '{b}' && \
             AIT_AGENT_PID={pid} PATH=\"$REAL_PATH\" git-aitask-lock claim 42 --porcelain >&2) || exit 99\n  fi;;\n\
             esac\nexec '{git}' \"$@\"",
            marker = marker.display(),
            b = b.path.display(),
            pid = second.pid(),
        );
        let shim = lab.script(format!("shim-{task}/git"), &script);
        let real = a
            .lock(&[])
            .into_command()
            .get_envs()
            .find_map(|(name, value)| (name == "PATH").then(|| value.unwrap().to_owned()));
        let real = real.unwrap();
        let folders = std::iter::once(shim.parent().unwrap().to_owned()).chain(std::env::split_paths(&real));
        let path = std::env::join_paths(folders).unwrap();
        let run = a.lock(&["claim", task]).session(&first).env("PATH", path).env("REAL_PATH", &real);
        run.go().expect(word, code);
        assert!(marker.is_dir(), "the other clone had its chance");
    }
    assert_eq!(lab.server().lock_files(), ["t42_lock.yaml", "t43_lock.yaml"]);
    assert_eq!(lab.server().lock_value("42", "pid"), Some(second.pid().to_string()));
}
