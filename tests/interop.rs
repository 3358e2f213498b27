//! One branch for both implementations: what one writes, the other reads as the same, and each excludes
//! the other.

use std::process::Stdio;
use std::time::Duration;

use crate::support::line_reader::{self, KEYS, Outcome, Ruling, Shell, random};
use crate::support::planting::{self, plant_file};
use crate::support::{BRANCH, Lab, OWNER, Repo, Session, race};

/// A session that has ended, its pid free.
fn ended() -> Session {
    let mut session = Session::start();
    session.end();
    session
}

/// A lab whose server has a lock branch.
fn lab() -> Lab {
    let lab = Lab::new();
    lab.clone("first").lock(&["init"]).go().expect("INITIALIZED", 0);
    lab
}

#[test]
fn a_lock_of_ours_says_to_a_reader_of_lines_who_holds_it() {
    let lab = lab();
    let (clone, session) = (lab.clone("clone"), Session::start());
    clone
        .lock(&["claim", "42", "16_2", "--note", "half: way # there"])
        .session(&session)
        .go()
        .success("claim");
    for task in ["42", "16_2"] {
        let record = lab.server().lock_file(&format!("t{task}_lock.yaml"));
        let read = KEYS.map(|key| line_reader::value(&record, key));
        let (pid, token, host) = (session.pid().to_string(), session.token(), planting::hostname());
        assert!(read[2].ends_with('Z'), "{record}");
        assert_eq!(read, [task, OWNER, read[2], &host, &pid, &token, "proc"], "{record}");
        let lines: Vec<&str> = record.lines().take(7).map(|line| line.split(':').next().unwrap()).collect();
        assert_eq!(lines, KEYS, "the shared keys come first");
    }
}

/// A lock of ours in each state, and what the other implementation makes of it.
#[test]
fn each_row_of_the_table_by_the_rules_of_the_other_one() {
    let lab = lab();
    let (clone, mine) = (lab.clone("clone"), Session::start());
    let shell = Shell::new(lab.clone("shell"), OWNER, &Session::start());
    let claim = |task: &str| clone.lock(&["claim", task]);
    let mut other = Session::start();
    claim("2").email("bob@example.com").session(&mine).go().expect("CLAIMED", 0);
    claim("3").session(&mine).go().expect("CLAIMED", 0);
    claim("4").session(&mine).go().expect("CLAIMED", 0);
    claim("5").session(&other).go().expect("CLAIMED", 0);
    claim("7").go().expect("CLAIMED", 0);
    clone.git(&["config", "aitask-lock.hostname", "elsewhere"]);
    claim("6").session(&mine).go().expect("CLAIMED", 0);
    other.end();
    let same = Shell::new(lab.at("shell"), OWNER, &mine);
    for (shell, task, ruling) in [
        (&shell, "1", Ruling::Free),
        (&shell, "2", Ruling::OtherOwner),
        (&same, "3", Ruling::Mine),
        (&shell, "4", Ruling::Alive),
        (&shell, "5", Ruling::Dead),
        (&shell, "6", Ruling::OtherHost),
        (&shell, "7", Ruling::NoSession),
    ] {
        let expected = if ruling.takes() { Outcome::Taken(ruling) } else { Outcome::Refused(ruling) };
        assert_eq!(shell.claim(task), expected, "task {task}");
    }
    let files = lab.server().lock_files();
    assert_eq!(files.len(), 7, "{files:?}");
    assert_eq!(shell.unlock("1"), Outcome::Taken(Ruling::Free));
    clone.lock(&["check", "1"]).go().expect("FREE", 1);
}

/// What each command of ours makes of a lock of theirs, in each state.
#[test]
fn each_row_of_the_table_for_a_lock_of_the_other_one() {
    let lab = lab();
    let (clone, server) = (lab.clone("clone"), lab.server());
    let (mine, other, gone) = (Session::start(), Session::start(), ended());
    let of = |session: &Session, owner: &str| Shell {
        session: [session.pid().to_string(), "1".to_owned(), "proc".to_owned()],
        ..Shell::new(lab.at("first"), owner, &other)
    };
    let weak = [other.pid().to_string(), line_reader::ps_token(&other), "ps".to_owned()];
    let none = ["-".to_owned(), "-".to_owned(), "none".to_owned()];
    let alive = Shell::new(lab.at("first"), OWNER, &other);
    let rows = [
        ("another owner", Shell { owner: "bob@example.com".to_owned(), ..alive.clone() }),
        ("this session", Shell::new(lab.at("first"), OWNER, &mine)),
        ("alive", alive.clone()),
        ("cannot tell", Shell { session: weak, ..alive.clone() }),
        ("gone", of(&gone, OWNER)),
        ("another host", Shell { host: "elsewhere".to_owned(), ..alive.clone() }),
        ("no process", Shell { session: none, ..alive.clone() }),
    ];
    let verbs: [&[&str]; 7] = [
        &["claim", "9"],
        &["refresh", "9"],
        &["release", "9"],
        &["claim", "9", "--force"],
        &["check", "9", "--mine"],
        &["cleanup", "--gone"],
        &["list"],
    ];
    let mut table = String::new();
    for (row, shell) in &rows {
        table.push_str(&format!("{row}\n"));
        for verb in verbs {
            plant_file(&server, "t9_lock.yaml", &shell.record("9"));
            let before = server.tip(BRANCH);
            let output = clone.lock(verb).session(&mine).go().no_panic();
            let word = output.words().first().copied().unwrap_or("nothing").to_owned();
            let after = match server.lock_files().as_slice() {
                [] => "no lock",
                _ if server.tip(BRANCH) == before => "as it was",
                _ => {
                    let record = server.lock_file("t9_lock.yaml");
                    let read = KEYS.map(|key| line_reader::value(&record, key));
                    assert_eq!((read[0], read[1], read[5]), ("9", OWNER, mine.token().as_str()), "{record}");
                    "ours"
                }
            };
            table.push_str(&format!("  {:<16} {word} {}: {after}\n", verb.join(" "), output.code()));
        }
    }
    crate::support::snapshot("interop_rows", &table);
}

/// A record in quotes, as earlier versions wrote it, is plain once it is written again.
#[test]
fn a_record_in_quotes_becomes_plain() {
    let lab = lab();
    let (clone, session, server) = (lab.clone("clone"), Session::start(), lab.server());
    let token = format!("'{}'", session.token());
    let quoted = planting::record(
        "42",
        &session,
        &[("task_id", "'42'"), ("pid_starttime", &token), ("agent", "\"a: b\"")],
    );
    plant_file(&server, "t42_lock.yaml", &quoted);
    clone.git(&["config", "aitask-lock.refreshInterval", "0s"]);
    clone.lock(&["check", "42", "--mine"]).session(&session).go().expect("LOCKED", 0);
    clone.lock(&["claim", "42"]).session(&Session::start()).go().expect("LOCK_LIVE_HOLDER", 13);
    clone.lock(&["refresh", "42"]).session(&session).go().expect("REFRESHED", 0);
    let record = server.lock_file("t42_lock.yaml");
    assert_eq!(line_reader::value(&record, "task_id"), "42");
    assert_eq!(line_reader::value(&record, "pid_starttime"), session.token());
    assert!(record.contains("agent: \"a: b\""), "what is not ours stays as it was: {record}");
    let shell = Shell::new(lab.clone("shell"), OWNER, &Session::start());
    assert_eq!(shell.claim("42"), Outcome::Refused(Ruling::Alive));
}

/// What cannot stand plain is refused by name, wherever it is set, and nothing is written.
#[test]
fn a_value_that_two_readers_would_read_differently_is_refused_where_it_is_set() {
    let lab = lab();
    let (clone, session) = (lab.clone("clone"), Session::start());
    let refused = |run: crate::support::Run, source: &str| {
        let output = run.session(&session).go();
        assert_eq!(output.code(), 2, "{output}");
        assert!(output.stderr.contains(source), "{source} is named\n{output}");
        assert_eq!(lab.server().lock_files(), [""; 0]);
    };
    for owner in ["Ann: lead", "Ann #1", "@ann", "'ann'", "~", "null", "-", "- ann", "a\u{2028}b", "a:"] {
        refused(clone.human(&["claim", "1", &format!("--email={owner}")]), "--email");
    }
    refused(clone.human(&["claim", "1"]).email("Ann: lead"), "GIT_AITASK_LOCK_EMAIL");
    clone.git(&["config", "user.email", "Ann: lead"]);
    refused(clone.human(&["claim", "1"]), "user.email");
    let folder = clone.path.join("aitasks/metadata");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("emails.txt"), "Ann #1\n").unwrap();
    refused(clone.human(&["claim", "1"]), "emails.txt");
    std::fs::write(folder.join("userconfig.yaml"), "email: 'ann: lead'\n").unwrap();
    refused(clone.human(&["claim", "1"]), "userconfig.yaml");
    clone.git(&["config", "aitask-lock.email", "&ann"]);
    refused(clone.human(&["claim", "1"]), "aitask-lock.email");
    let doctor = clone.human(&["doctor"]).session(&session).go();
    assert!(doctor.stdout.contains("aitask-lock.email names no owner: it begins with &"), "{doctor}");
    clone.git(&["config", "aitask-lock.email", OWNER]);
    clone.git(&["config", "aitask-lock.hostname", "my: host"]);
    refused(clone.human(&["claim", "1"]), "aitask-lock.hostname");
    let doctor = clone.human(&["doctor"]).session(&session).go();
    assert!(format!("{doctor}").contains("aitask-lock.hostname"), "{doctor}");
    clone.git(&["config", "--unset", "aitask-lock.hostname"]);
    refused(clone.human(&["claim", "1", "--note", "a\u{85}b"]), "a note is one line");
    clone.lock(&["claim", "1", "--note", "'a: b' # c"]).session(&session).go().expect("CLAIMED", 0);
}

/// Both at once, some killed in the middle. All sessions live on, so nobody may take what another has.
fn burst(tasks: usize) {
    let lab = lab();
    let sessions: Vec<Session> = (0..16).map(|_| Session::start()).collect();
    let clones: Vec<Repo<'_>> = (0..4).map(|n| lab.clone_with(format!("c{n}"), &["--no-checkout"])).collect();
    let racer = |number: usize| {
        let (clone, session) = (&clones[number % 4], &sessions[number]);
        move || {
            let owner = if number.is_multiple_of(3) { "bob@example.com" } else { OWNER };
            let mut won = Vec::new();
            for step in 0..tasks {
                let task = ((step + number * 5) % tasks + 1).to_string();
                let dies = random(5) == 0;
                let claimed = if number < 8 {
                    let run = clone.lock(&["claim", &task]).email(owner).session(session);
                    let mut command = run.into_command();
                    if dies {
                        let command = command.stdout(Stdio::null()).stderr(Stdio::null());
                        let mut child = command.spawn().unwrap();
                        std::thread::sleep(Duration::from_millis(random(120)));
                        let _gone_already = child.kill();
                        child.wait().unwrap();
                        false
                    } else {
                        crate::support::Output::of(command).no_panic().code() == 0
                    }
                } else {
                    let mut shell = Shell::new(clone.clone(), owner, session);
                    shell.killed = dies.then(|| (random(2) as usize, Duration::from_millis(random(60))));
                    matches!(shell.claim(&task), Outcome::Taken(_))
                };
                if claimed {
                    won.push((task, session.pid()));
                }
            }
            won
        }
    };
    let won: Vec<(String, u32)> = race((0..16).map(racer).collect()).into_iter().flatten().collect();
    assert!(!won.is_empty());
    let server = lab.server();
    for (task, pid) in &won {
        let record = server.lock_file(&format!("t{task}_lock.yaml"));
        assert_eq!(line_reader::value(&record, "pid"), pid.to_string(), "task {task}: {won:?}\n{record}");
    }
    for file in server.lock_files() {
        let pids = server.git(&["log", "--format=", "-p", "-G^pid:", BRANCH, "--", &file]);
        let pids: std::collections::BTreeSet<&str> =
            pids.lines().filter_map(|line| line.strip_prefix("+pid: ")).collect();
        assert_eq!(pids.len(), 1, "{file} never changed hands: {pids:?}");
    }
    assert_eq!(server.git(&["rev-list", "--min-parents=2", BRANCH]), "");
}

#[test]
fn both_at_once_never_two_owners() {
    burst(3);
}

#[test]
#[ignore = "minutes"]
fn both_at_once_never_two_owners_at_length() {
    for _ in 0..5 {
        burst(12);
    }
}
