//! `list`, `list --watch`, `log` and `doctor`, as people see them.

use crate::support::actors::wait_until;
use crate::support::planting::{self, Planted};
use crate::support::terminal::Tmux;
use crate::support::{BRANCH, Lab, Output, Repo, Session};

#[test]
fn a_single_lock_is_a_table_and_none_is_said_aside() {
    let (lab, session) = (Lab::new(), Session::start());
    let clone = lab.clone("clone");
    clone.lock(&["init"]).go().expect("INITIALIZED", 0);
    for (args, said) in [
        (&["list"][..], "No task is locked.\n"),
        (&["list", "--mine"], "This session holds no locks.\n"),
        (&["list", "--gone"], "No lock's session is provably gone.\n"),
    ] {
        let empty = clone.human(args).go();
        assert_eq!((empty.stdout.as_str(), empty.stderr.as_str(), empty.code()), ("", said, 0), "{args:?}");
    }
    clone.lock(&["claim", "42", "--note", "a\u{e9}"]).session(&session).go().expect("CLAIMED", 0);
    let listed = clone.human(&["list"]).session(&session).go();
    let lines: Vec<&str> = listed.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{listed}");
    assert!(lines[0].starts_with("TASK  OWNER "), "{listed}");
    let columns: Vec<&str> = lines[1].split_whitespace().collect();
    let pid = session.pid().to_string();
    let host = planting::hostname();
    assert_eq!(
        columns,
        ["42", "alice@example.com", &host, &pid, "mine", "just", "now", "a\u{e9}"],
        "{listed}"
    );
    assert!(!listed.stdout.contains('\u{1b}'), "plain in a pipe: {listed}");
    let checked = clone.human(&["check", "42"]).session(&session).go();
    assert!(checked.stdout.starts_with("Task 42 is yours"), "check answers in a sentence: {checked}");
}

/// What `log --porcelain` says: action, task, owner and previous owner of each event.
fn story(repo: &Repo<'_>, args: &[&str]) -> Vec<String> {
    let said = repo.lock(&[&["log"], args].concat()).go().success("log");
    let event = |line: &str| {
        let fields: Vec<&str> = line.strip_prefix("EVENT:").unwrap().split('|').collect();
        fields[1..5].join(" ")
    };
    said.lines().map(event).collect()
}

#[test]
fn the_log_tells_the_story_of_both_implementations() {
    let (lab, mut session) = (Lab::new(), Session::start());
    let clone = lab.clone("clone");
    let run = |session: &Session, args: &[&str]| clone.lock(args).session(session).go().success("a step");
    run(&session, &["claim", "42", "7"]);
    session.end();
    let session = Session::start();
    run(&session, &["claim", "42"]);
    clone.lock(&["claim", "42", "--force"]).email("bob@example.com").go().expect("FORCE_UNLOCKED", 0);
    clone.lock(&["release", "42", "--force"]).session(&session).go().expect("FORCE_UNLOCKED", 0);
    clone.lock(&["cleanup", "--gone"]).session(&session).go().success("cleanup");
    // The shell implementation, through plain git.
    let server = lab.server();
    let shell = |subject: &str, planted: Planted<'_>| {
        planting::plant(&server, &[("t9_lock.yaml", planted)]);
        let tree = server.git(&["rev-parse", &format!("{BRANCH}^{{tree}}")]);
        let parent = server.git(&["rev-parse", &format!("{BRANCH}^")]);
        let commit = server.git(&["commit-tree", "-m", subject, "-p", &parent, &tree]);
        server.git(&["update-ref", BRANCH, &commit]);
    };
    let record = "task_id: 9\nlocked_by: eve@example.com\nlocked_at: 2026-02-24 14:30\nhostname: pc\n";
    shell("ait: Lock task t9 for eve@example.com", Planted::File(record.as_bytes()));
    shell("ait: Unlock task t9", Planted::Nothing);
    shell("ait: Lock task t9 for eve@example.com", Planted::File(record.as_bytes()));
    shell("ait: Cleanup 1 stale lock(s)", Planted::Nothing);
    let (alice, bob, eve) = ("alice@example.com", "bob@example.com", "eve@example.com");
    let expected = [
        format!("cleaned-up 9 {alice} {eve}"),
        format!("claimed 9 {eve} -"),
        format!("released 9 {eve} {eve}"),
        format!("claimed 9 {eve} -"),
        format!("cleaned-up 7 {alice} {alice}"),
        format!("force-released 42 {alice} {bob}"),
        format!("forced 42 {bob} {alice}"),
        format!("reclaimed 42 {alice} {alice}"),
        format!("claimed 7 {alice} -"),
        format!("claimed 42 {alice} -"),
    ];
    assert_eq!(story(&clone, &[]), expected);
    assert_eq!(story(&clone, &["-n", "2"]), expected[..2]);
    assert_eq!(story(&clone, &["7"]), [expected[4].clone(), expected[8].clone()]);
    assert_eq!(story(&clone, &["7", "t09", "-n3"]), expected[..3]);
    assert_eq!(story(&clone, &["--since", "1 day"]), expected);
    assert_eq!(story(&clone, &["--since", "2999-01-01"]), Vec::<String>::new());
    // The same, added up: owner, claims, releases, crashes, lost by force; the seconds are the run's own.
    let sums = clone.lock(&["log", "--stat"]).go().success("sums");
    let sum =
        |line: &str| line.strip_prefix("TALLY:").unwrap().split('|').take(5).collect::<Vec<_>>().join(" ");
    let sums: Vec<String> = sums.lines().map(sum).collect();
    assert_eq!(sums, [format!("{alice} 3 0 1 1"), format!("{bob} 1 0 0 1"), format!("{eve} 2 1 0 0")]);
    assert_eq!(clone.lock(&["log", "--stat", "--since", "2999-01-01"]).go().success("none"), "");
    let shown = clone.human(&["log", "--stat", "42"]).go().success("sums of a task");
    assert!(shown.starts_with("OWNER") && shown.lines().count() == 3, "{shown}");
    clone.lock(&["log", "--since", "soon"]).go().expect_line("LOCK_ERROR:usage", 2);
    let human = clone.human(&["log", "42"]).go().success("log");
    assert_eq!(human.lines().count(), 4, "{human}");
    assert!(human.contains("42  taken by force by bob@example.com on "), "{human}");
    assert!(human.contains("was lost"), "the crash is told: {human}");
    let none = clone.human(&["log", "1000"]).go();
    assert_eq!((none.stdout.as_str(), none.stderr.as_str()), ("", "Nothing has happened to 1000 yet.\n"));
}

#[test]
fn another_spelling_of_a_task_is_no_other_story() {
    let (lab, session) = (Lab::new(), Session::start());
    let server = lab.server();
    let record = planting::record("16_2", &session, &[]);
    planting::plant_file(&server, "t16_02_lock.yaml", &record);
    let renamed =
        [("t16_02_lock.yaml", Planted::Nothing), ("t16_2_lock.yaml", Planted::File(record.as_bytes()))];
    planting::plant(&server, &renamed);
    planting::plant_file(&server, "README.md", "no lock\n");
    let clone = lab.clone("clone");
    let alice = "alice@example.com";
    let expected = [format!("refreshed 16_2 {alice} {alice}"), format!("claimed 16_2 {alice} -")];
    assert_eq!(story(&clone, &[]), expected);
    assert_eq!(story(&clone, &["t016_02"]), expected);
}

#[test]
fn a_hostile_history_is_harmless() {
    let lab = Lab::new();
    let server = lab.server();
    let record = "task_id: 5\nlocked_by: \"\\e[2Jeve|x\"\nlocked_at: \"2026-02-24 14:30\"\nhostname: \"\\u202ehost\"\n";
    planting::plant_file(&server, "t5_lock.yaml", record);
    planting::plant(&server, &[("t5_lock.yaml", Planted::File(b"\xff\xfe binary"))]);
    let clone = lab.clone("clone");
    for format in [&["log"][..], &["log", "--porcelain"], &["log", "--json"]] {
        let said = clone.human(format).go().no_panic();
        assert_eq!(said.code(), 0, "{said}");
        assert!(!said.stdout.contains(['\u{1b}', '\u{202e}']), "{said}");
    }
    let said = clone.lock(&["log"]).go().success("log");
    assert!(said.lines().all(|line| line.split('|').count() == 7), "{said}");
}

fn findings(repo: &Repo<'_>, session: &Session) -> (Vec<String>, i32) {
    let said = repo.lock(&["doctor"]).session(session).go();
    let finding = |line: &str| {
        let fields: Vec<&str> = line.strip_prefix("FINDING:").unwrap().split('|').collect();
        format!("{} {}", fields[0], fields[1])
    };
    (said.stdout.lines().map(finding).collect(), said.code())
}

#[test]
fn the_doctor_finds_what_would_fail() {
    let (lab, session) = (Lab::new(), Session::start());
    let clone = lab.clone("clone");
    let (found, code) = findings(&clone, &session);
    assert_eq!(code, 0, "{found:?}");
    assert!(found.contains(&"note branch".to_owned()), "there is no branch yet: {found:?}");
    assert!(found.contains(&"ok write".to_owned()), "{found:?}");
    assert_eq!(lab.server().tip(BRANCH), None, "looking changes nothing");
    clone.lock(&["claim", "42"]).session(&session).go().expect("CLAIMED", 0);
    let (found, code) = findings(&clone, &session);
    assert!(found.contains(&"ok branch".to_owned()) && code == 0, "{found:?}");

    let homeless = clone.lock(&["doctor"]).go();
    assert_eq!(homeless.code(), 1, "without a session a merge would fail: {homeless}");
    assert!(homeless.stdout.contains("FINDING:problem|anchor|"), "{homeless}");

    let lock = clone.git_dir().join("refs/heads/aitask-locks.lock");
    std::fs::write(&lock, "").unwrap();
    let (found, code) = findings(&clone, &session);
    assert!(found.contains(&"problem references".to_owned()) && code == 1, "{found:?}");
    std::fs::remove_file(lock).unwrap();

    std::fs::rename(lab.path("server.git"), lab.path("gone.git")).unwrap();
    let (found, code) = findings(&clone, &session);
    assert!(found.contains(&"problem branch".to_owned()) && code == 1, "{found:?}");

    let outside = lab.command(crate::support::program());
    let mut outside = outside;
    outside.current_dir(lab.root()).args(["doctor", "--porcelain"]);
    let outside = Output::of(outside);
    assert!(outside.stdout.contains("FINDING:problem|repository|") && outside.code() == 1, "{outside}");
}

#[test]
fn the_man_pages_are_installed_without_ceremony() {
    let lab = Lab::new();
    let folder = lab.path("share/man/man1");
    let there = folder.to_str().unwrap();
    let clone = lab.clone("clone");
    clone.lock(&["man", "--dir", there]).go().expect("MANUAL", 1);
    clone.lock(&["man", "--install", "--dir", there]).go().expect("MANUAL", 0);
    clone.lock(&["man", "--dir", there]).go().expect("MANUAL", 0);
    let page = std::fs::read_to_string(folder.join("git-aitask-lock-claim.1")).unwrap();
    assert!(page.contains(".TH \"GIT\\-AITASK\\-LOCK\\-CLAIM\""), "{page}");
}

#[test]
fn watching_fits_the_screen_and_gives_it_back() {
    let (lab, session) = (Lab::new(), Session::start());
    let clone = lab.clone("clone");
    let texts: Vec<(String, String)> = (1..=1000)
        .map(|task| {
            let text = "task_id: 1\nlocked_by: eve@example.com\nlocked_at: 2026-02-24 14:30\nhostname: pc\n";
            (format!("t{task}_lock.yaml"), text.to_owned())
        })
        .collect();
    let entries: Vec<(&str, Planted<'_>)> =
        texts.iter().map(|(name, text)| (name.as_str(), Planted::File(text.as_bytes()))).collect();
    planting::plant(&lab.server(), &entries);
    let Some(tmux) = Tmux::start(&lab, &clone, 12) else { return };
    tmux.keys(&["echo before", "Enter"]);
    tmux.shows("\nbefore\n");
    tmux.keys(&["git aitask-lock list --watch --interval 2s; echo \"code:$?\"", "Enter"]);
    tmux.shows("1000 locks: 1000 elsewhere");
    tmux.shows("\u{2026} and 992 more");
    assert!(!tmux.screen().contains("before"), "a screen of its own");
    // What concerns me comes first, and what happens elsewhere shows up by itself.
    clone.lock(&["claim", "5000"]).session(&session).go().expect("CLAIMED", 0);
    tmux.shows("1001 locks: 1 live, 1000 elsewhere");
    tmux.shows("5000  alice@example.com");
    std::fs::rename(lab.path("server.git"), lab.path("gone.git")).unwrap();
    tmux.shows("cannot look: ");
    tmux.shows("5000  alice@example.com");
    std::fs::rename(lab.path("gone.git"), lab.path("server.git")).unwrap();
    wait_until("the trouble is over", || !tmux.screen().contains("cannot look"));
    tmux.keys(&["q"]);
    tmux.shows("code:0");
    tmux.shows("\nbefore\n");
    // Ctrl-C gives the screen back as well, and the keyboard with it.
    tmux.keys(&["clear; git aitask-lock list --watch", "Enter"]);
    tmux.shows("1001 locks");
    tmux.keys(&["C-c"]);
    tmux.shows("ready:");
    tmux.keys(&["echo typed", "Enter"]);
    tmux.shows("\ntyped\n");
}

#[test]
fn watching_needs_a_terminal() {
    let lab = Lab::new();
    let clone = lab.clone("clone");
    let refused = clone.human(&["list", "--watch"]).go();
    assert_eq!((refused.code(), refused.stdout.as_str()), (2, ""), "{refused}");
    assert!(refused.stderr.contains("needs a terminal"), "{refused}");
    assert_eq!(clone.human(&["list", "--watch", "--json"]).go().code(), 2);
    assert_eq!(clone.human(&["list", "--watch", "--interval", "1s"]).go().code(), 2);
}

#[test]
fn a_long_story_is_shown_in_the_pager() {
    let (lab, session) = (Lab::new(), Session::start());
    let clone = lab.clone("clone");
    clone.lock(&["claim", "42"]).session(&session).go().expect("CLAIMED", 0);
    let Some(tmux) = Tmux::start(&lab, &clone, 12) else { return };
    lab.script("pager", "sed 's/^/paged: /'");
    let pager = lab.path("pager");
    clone.git(&["config", "core.pager", pager.to_str().unwrap()]);
    tmux.keys(&["clear; git aitask-lock log; echo done", "Enter"]);
    tmux.shows("paged: 20");
    tmux.shows("\ndone\n");
    tmux.keys(&["clear; git --no-pager aitask-lock log; echo without", "Enter"]);
    tmux.shows("\nwithout\n");
    assert!(!tmux.screen().contains("paged: "), "{}", tmux.screen());
    assert!(tmux.screen().contains("claimed by alice"), "{}", tmux.screen());
}
