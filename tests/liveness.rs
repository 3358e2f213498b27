//! A session that runs, ended, was never reaped, was stopped, or lives where nobody can look. `alive` and
//! `dead` both need proof; everything else is refused.

use std::process::Command;

use crate::support::actors::{signal, state, wait_until};
use crate::support::planting::{plant_file, record};
use crate::support::{Lab, Output, Repo, Session, program};

/// What `check`, `list`, `claim` and `release` say of a planted record, by the second session: the
/// claim comes last, because it may change something.
#[track_caller]
fn judged(repo: &Repo<'_>, text: &str, state: &str, reason: &str, claim: &str) {
    plant_file(repo, "t42_lock.yaml", text);
    let second = Session::start();
    let check = repo.lock(&["check", "42"]).session(&second).go().expect("LOCKED", 0);
    assert_eq!([check.field(6), check.field(7)], [state, reason], "check\n{text}\n{check}");
    let list = repo.lock(&["list"]).session(&second).go().expect("LOCKED", 0);
    assert_eq!(list.line(), check.line(), "list agrees with check");
    let gone = repo.lock(&["list", "--gone"]).session(&second).go();
    assert_eq!(gone.words().len(), usize::from(state == "gone"), "{gone}");
    let dry = repo.lock(&["cleanup", "--gone", "--dry-run"]).session(&second).go();
    assert_eq!(dry.words().len(), usize::from(state == "gone"), "{dry}");
    let refuses = claim.starts_with("LOCK_LIVE") || claim.starts_with("LOCK_UNV");
    let refresh = repo.lock(&["refresh", "42"]).session(&second).go();
    assert_eq!(refresh.word(), if refuses { claim } else { "NOT_HELD" }, "{refresh}");
    let outcome = repo.lock(&["claim", "42"]).session(&second).go();
    assert_eq!(outcome.word(), claim, "{text}\n{outcome}");
    plant_file(repo, "t42_lock.yaml", text);
    let release = repo.lock(&["release", "42"]).session(&second).go();
    assert_eq!(release.word(), if refuses { claim } else { "RELEASED" }, "{release}");
}

const LIVE: &str = "LOCK_LIVE_HOLDER";
const DOUBT: &str = "LOCK_UNVERIFIABLE_HOLDER";
const CRASH: &str = "RECLAIM_CRASH";

#[test]
fn a_running_session_is_alive() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let session = Session::start();
    judged(&repo, &record("42", &session, &[]), "live", "same-process", LIVE);
}

#[test]
fn a_session_that_ended_is_gone() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let mut session = Session::start();
    let text = record("42", &session, &[]);
    session.end();
    judged(&repo, &text, "gone", "gone", CRASH);
}

#[test]
fn a_zombie_is_gone() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let mut session = Session::start();
    let text = record("42", &session, &[]);
    session.end_unreaped();
    judged(&repo, &text, "gone", "ended", CRASH);
    assert_eq!(state(session.pid()), Some('Z'), "it was a zombie all the time");
}

#[test]
fn a_session_whose_main_thread_ended_is_alive() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let script = "import ctypes, threading, time\n\
                  threading.Thread(target=time.sleep, args=(1000,)).start()\n\
                  ctypes.CDLL(None).pthread_exit(None)";
    let mut python = Command::new("python3");
    python.args(["-c", script]).stderr(std::process::Stdio::null());
    if Command::new("python3").arg("-c").arg("import ctypes").status().is_ok_and(|status| status.success()) {
        let session = Session::of(python);
        wait_until("its main thread ended", || state(session.pid()) == Some('Z'));
        judged(&repo, &record("42", &session, &[]), "live", "same-process", LIVE);
    } else {
        println!("skipped: there is no python3 with ctypes");
    }
}

#[test]
fn a_stopped_session_is_alive() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let session = Session::start();
    session.signal("STOP");
    wait_until("the session is stopped", || state(session.pid()) == Some('T'));
    judged(&repo, &record("42", &session, &[]), "live", "same-process", LIVE);
}

#[test]
fn a_program_name_with_brackets_hides_nothing() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let path = lab.path("a) R 1 (x");
    let sleep = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .map(|folder| folder.join("sleep"))
        .find(|path| path.is_file())
        .unwrap();
    std::fs::copy(sleep, &path).unwrap();
    let mut command = Command::new(path);
    command.arg("1000");
    let session = Session::of(command);
    judged(&repo, &record("42", &session, &[]), "live", "same-process", LIVE);
}

#[test]
fn a_reused_pid_is_gone() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let session = Session::start();
    judged(&repo, &record("42", &session, &[("pid_starttime", "'17'")]), "gone", "pid-reused", CRASH);
}

#[test]
fn a_weak_token_proves_death_only() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let session = Session::start();
    let bare = [("pid_starttime", ""), ("pid_starttime_kind", "")];
    judged(&repo, &record("42", &session, &bare), "cannot-tell", "bare-pid", DOUBT);
    let other = [("pid_starttime_kind", "lunar")];
    judged(&repo, &record("42", &session, &other), "cannot-tell", "unknown-token", DOUBT);
    let ps = [("pid_starttime", "Mon_Aug_10_09:19:16_2020"), ("pid_starttime_kind", "ps")];
    judged(&repo, &record("42", &session, &ps), "gone", "pid-reused", CRASH);
    let started = Output::of({
        let mut ps = lab.command("ps");
        ps.env("LC_ALL", "C").args(["-o", "lstart=", "-p"]).arg(session.pid().to_string());
        ps
    })
    .success("ps");
    let started = started.split_whitespace().collect::<Vec<_>>().join("_");
    let ps = [("pid_starttime", started.as_str()), ("pid_starttime_kind", "ps")];
    judged(&repo, &record("42", &session, &ps), "cannot-tell", "weak-token", DOUBT);
}

#[test]
fn another_boot_of_the_same_machine_is_death_and_of_another_is_not() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let session = Session::start();
    repo.lock(&["claim", "1"]).session(&session).go().expect("CLAIMED", 0);
    let other_boot = ("boot_id", "11111111-2222-3333-4444-555555555555");
    match repo.lock_value("1", "machine_id") {
        Some(machine) => {
            let text = record("42", &session, &[other_boot, ("machine_id", &machine)]);
            judged_alone(&repo, &text, "gone", "rebooted", CRASH);
        }
        None => println!("skipped: this machine has no machine id"),
    }
    let text = record("42", &session, &[other_boot]);
    judged_alone(&repo, &text, "cannot-tell", "other-process-table", DOUBT);
}

/// As [`judged`], on a branch that holds other locks.
#[track_caller]
fn judged_alone(repo: &Repo<'_>, text: &str, state: &str, reason: &str, claim: &str) {
    plant_file(repo, "t42_lock.yaml", text);
    let second = Session::start();
    let check = repo.lock(&["check", "42"]).session(&second).go().expect("LOCKED", 0);
    assert_eq!([check.field(6), check.field(7)], [state, reason], "check\n{text}\n{check}");
    let outcome = repo.lock(&["claim", "42"]).session(&second).go();
    assert_eq!(outcome.word(), claim, "{text}\n{outcome}");
}

#[test]
fn an_older_record_without_a_process_table_is_judged_by_proof_alone() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let mut session = Session::start();
    let older = [("boot_id", ""), ("pid_namespace", ""), ("time_namespace", ""), ("lock_id", "")];
    let text = record("42", &session, &older);
    judged(&repo, &text, "live", "same-process", LIVE);
    session.end();
    judged(&repo, &text, "gone", "gone", CRASH);
    let elsewhere = [older.as_slice(), &[("hostname", "elsewhere")]].concat();
    judged(
        &repo,
        &record("42", &Session::start(), &elsewhere),
        "elsewhere",
        "other-process-table",
        "LOCK_RECLAIM",
    );
}

#[test]
fn times_never_decide() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let session = Session::start();
    for time in ["1970-01-01T00:00:00Z", "2099-01-01 00:00", "2001-02-03", "yesterday"] {
        let text = record("42", &session, &[("locked_at", time)]);
        judged(&repo, &text, "live", "same-process", LIVE);
    }
}

#[test]
fn throw_away_shells_are_not_the_session() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let session = Session::start();
    let tool = program().display();
    let through = |line: &str| {
        let mut shell = lab.command("sh");
        shell.current_dir(&repo.path).env("AIT_AGENT_PID", session.pid().to_string()).args(["-c", line]);
        Output::of(shell)
    };
    through(&format!("{tool} claim 42 --porcelain; :")).expect("CLAIMED", 0);
    for line in [
        "( sh -c '{} claim 42 --porcelain'; exit $? )",
        "setsid -w {} claim 42 --porcelain",
        "nohup {} claim 42 --porcelain 2>/dev/null",
        "timeout 20 {} claim 42 --porcelain",
    ] {
        through(&line.replace("{}", &tool.to_string())).expect("REFRESHED", 0);
    }
    repo.lock(&["claim", "42"]).session(&Session::start()).go().expect(LIVE, 13);
}

#[test]
fn exec_makes_a_session_of_a_command() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let tool = program().display();
    let line = format!(
        "{tool} claim 42 --porcelain; sh -c '{tool} claim 42 --porcelain; {tool} check --mine 42 --porcelain'"
    );
    let output = repo.human(&["exec", "--", "sh", "-c", &line]).go();
    let output = output.expect_all(&["CLAIMED", "REFRESHED", "LOCKED"], 0);
    assert_eq!(output.stderr, "", "its process is an ancestor: nothing to warn of");
    // The shell is gone now, and it was the session.
    repo.lock(&["claim", "42"]).session(&Session::start()).go().expect(CRASH, 0);
}

#[test]
fn the_last_command_of_a_session_is_still_that_session() {
    // A shell becomes its last command, so the session's process is the program then, or its git.
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let tool = program().display();
    let folder = program().parent().unwrap().display();
    for last in [format!("{tool}"), format!("env PATH='{folder}':\"$PATH\" git aitask-lock")] {
        let line = format!("{tool} claim 42 --porcelain; exec {last} release 42 --porcelain");
        let output = repo.human(&["exec", "--", "sh", "-c", &line]).go();
        let output = output.expect_all(&["CLAIMED", "RELEASED"], 0);
        assert_eq!(output.stderr, "", "nothing is left that could look abandoned");

        let line = format!("exec {last} claim 42 --porcelain");
        let output = repo.human(&["exec", "--", "sh", "-c", &line]).go().expect("CLAIMED", 0);
        assert!(output.stderr.contains("is this very command"), "{output:?}");
        repo.lock(&["claim", "42"]).session(&Session::start()).go().expect(CRASH, 0);
        repo.lock(&["release", "42", "--force"]).go().expect("RELEASED", 0);
    }
}

/// Whether the kernel lets this test make namespaces of these kinds.
fn can_unshare(flags: &[&str]) -> bool {
    let can = Command::new("unshare").args(flags).arg("true").output().is_ok_and(|out| out.status.success());
    if !can {
        println!("skipped: unshare {} is refused here", flags.join(" "));
    }
    can
}

/// The program, run through `unshare` by a shell line in which `$TOOL` is the program. The owner of
/// the files looks like another one in a user namespace, so git is told to trust the folder.
fn unshared(lab: &Lab, repo: &Repo<'_>, flags: &[&str], line: &str, pid: Option<u32>) -> Output {
    let mut command = lab.command("unshare");
    command.current_dir(&repo.path).args(flags).args(["sh", "-c", line]).env("TOOL", program());
    if let Some(pid) = pid {
        command.env("AIT_AGENT_PID", pid.to_string());
    }
    Output::of(command)
}

#[test]
fn another_pid_namespace_is_another_process_table() {
    let flags = ["-Urpf", "--mount-proc"];
    if !can_unshare(&flags) {
        return;
    }
    let lab = Lab::empty();
    let repo = lab.alone("a");
    // Outside, looked at from inside.
    let session = Session::start();
    repo.lock(&["claim", "42"]).session(&session).go().expect("CLAIMED", 0);
    let inside = "sleep 100 & AIT_AGENT_PID=$! \"$TOOL\" claim 42 --porcelain; code=$?; kill $!; exit $code";
    unshared(&lab, &repo, &flags, inside, None).expect(DOUBT, 14);
    // Inside, looked at from outside, and from a namespace beside it; both are told by number only.
    // The first one stays there: the number of a namespace that is gone may be given out anew.
    let stay = "sleep 100 & AIT_AGENT_PID=$! \"$TOOL\" claim 43 --porcelain; wait";
    let mut first = lab.command("unshare");
    first.current_dir(&repo.path).args(flags).args(["sh", "-c", stay]).env("TOOL", program());
    let mut first = first.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut claimed = [0; 7];
    std::io::Read::read_exact(first.stdout.as_mut().unwrap(), &mut claimed).unwrap();
    assert_eq!(&claimed, b"CLAIMED");
    let take = "sleep 100 & AIT_AGENT_PID=$! \"$TOOL\" claim 43 --porcelain; code=$?; kill $!; exit $code";
    assert_ne!(repo.lock_value("43", "pid_namespace"), repo.lock_value("42", "pid_namespace"));
    assert_eq!(repo.lock_value("43", "boot_id"), repo.lock_value("42", "boot_id"));
    assert_eq!(repo.lock_value("43", "hostname"), repo.lock_value("42", "hostname"));
    repo.lock(&["claim", "43"]).session(&session).go().expect(DOUBT, 14);
    unshared(&lab, &repo, &flags, take, None).expect(DOUBT, 14);
    first.kill().unwrap();
    first.wait().unwrap();
}

#[test]
fn another_time_namespace_is_another_process_table() {
    let flags = ["-T", "--boottime", "1000000"];
    if !can_unshare(&flags) {
        return;
    }
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let session = Session::start();
    repo.lock(&["claim", "42"]).session(&session).go().expect("CLAIMED", 0);
    let second = Session::start();
    let claim = "\"$TOOL\" claim 42 --porcelain";
    unshared(&lab, &repo, &flags, claim, Some(second.pid())).expect(DOUBT, 14);
}

#[test]
fn a_changed_host_name_hides_no_session() {
    let flags = ["-Uur"];
    if !can_unshare(&flags) {
        return;
    }
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let (mut first, second) = (Session::start(), Session::start());
    repo.lock(&["claim", "42"]).session(&first).go().expect("CLAIMED", 0);
    let claim = "hostname renamed && \"$TOOL\" claim 42 --porcelain";
    unshared(&lab, &repo, &flags, claim, Some(first.pid())).expect("REFRESHED", 0);
    unshared(&lab, &repo, &flags, claim, Some(second.pid())).expect(LIVE, 13);
    first.end();
    unshared(&lab, &repo, &flags, claim, Some(second.pid())).expect(CRASH, 0);
    assert_eq!(repo.lock_value("42", "hostname").as_deref(), Some("renamed"));
    repo.lock(&["claim", "42"]).session(&Session::start()).go().expect(LIVE, 13);
    repo.git(&["config", "aitask-lock.hostname", "pinned"]);
    repo.lock(&["claim", "43"]).session(&second).go().expect("CLAIMED", 0);
    assert_eq!(repo.lock_value("43", "hostname").as_deref(), Some("pinned"));
}

#[test]
fn a_process_that_may_not_be_inspected_is_not_gone() {
    if !can_unshare(&["-m"]) || !is_root() {
        println!("skipped: it takes root to become another user");
        return;
    }
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let session = Session::start();
    repo.lock(&["claim", "42"]).session(&session).go().expect("CLAIMED", 0);
    let owner = "chown -R 65534:65534 \"$LAB\" && chmod 755 \"$LAB\"";
    let mut chown = lab.command("sh");
    chown.args(["-c", owner]).env("LAB", lab.root());
    Output::of(chown).success("chown");
    let other = "exec setpriv --reuid 65534 --regid 65534 --clear-groups";
    // Another user's process may be looked at, unless the proc file system hides it.
    let claim = format!("{other} \"$TOOL\" claim 42 --porcelain");
    let tool_is_reachable = format!("{other} \"$TOOL\" --version");
    let reachable = unshared(&lab, &repo, &["-m"], &tool_is_reachable, None);
    if reachable.code() != 0 {
        println!("skipped: another user cannot run the program from here: {reachable}");
        return;
    }
    unshared(&lab, &repo, &["-m"], &claim, None).expect(LIVE, 13);
    let hidden = format!("mount -t proc -o hidepid=2 proc /proc && {claim}");
    let refused = unshared(&lab, &repo, &["-m"], &hidden, None);
    if refused.stderr.contains("mount") {
        println!("skipped: no proc file system can be mounted here");
        return;
    }
    let refused = refused.expect(DOUBT, 14);
    assert_eq!(refused.field(6), "not-inspectable");
    signal(session.pid(), "0");
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

#[test]
fn doubtful_anchors_are_left_out_with_a_warning() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    for (number, pid) in ["0", "1", "-5", "12 34", "0x10", "99999999", "x", "4294967296"].iter().enumerate() {
        let task = (number + 1).to_string();
        let claimed = repo.lock(&["claim", &task]).env("AIT_AGENT_PID", pid).go().expect("CLAIMED", 0);
        assert_eq!(claimed.field(3), "-", "{pid}");
        assert!(claimed.stderr.contains("AIT_AGENT_PID"), "{pid}: a warning names it\n{claimed}");
        assert_eq!(repo.lock_value(&task, "pid"), None, "{pid}");
    }
    let mut ended = Session::start();
    ended.end();
    let claimed = repo.lock(&["claim", "90"]).session(&ended).go().expect("CLAIMED", 0);
    assert!(claimed.field(3) == "-" && claimed.stderr.contains("AIT_AGENT_PID"), "{claimed}");
}
