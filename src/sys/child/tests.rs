use std::io::{BufRead as _, BufReader};

use super::*;
use crate::domain::anchor::Observed;

/// A deadline that no test reaches unless something hangs.
fn far() -> Instant {
    clock::deadline_in(Duration::from_secs(120))
}

/// Runs into the deadline after the script has said something, however slow the machine is.
fn overdue(script: &str) -> Finished {
    let mut limit = Duration::from_millis(300);
    loop {
        let done = run(sh(script), limits(clock::deadline_in(limit))).unwrap();
        assert_eq!(done.end, End::TimedOut, "{script}");
        if !done.stdout.is_empty() || limit > Duration::from_secs(60) {
            return done;
        }
        limit *= 4;
    }
}

fn limits(deadline: Instant) -> Limits {
    Limits { deadline, max_output: 1 << 20, stdin: None }
}

fn sh(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

fn pids(output: &[u8]) -> Vec<u32> {
    String::from_utf8_lossy(output).split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

fn is_over(pid: u32) -> bool {
    matches!(process::observe(pid), Observed::Absent | Observed::Ended)
}

#[test]
fn output_code_and_signal_are_told() {
    let done = run(sh("echo out; echo err >&2; exit 7"), limits(far())).unwrap();
    assert_eq!(done.end, End::Exited(7));
    assert_eq!((done.stdout.as_slice(), done.stderr.as_slice()), (&b"out\n"[..], &b"err\n"[..]));
    assert!(!done.truncated);
    assert_eq!(run(sh("kill -KILL $$"), limits(far())).unwrap().end, End::Signalled(9));
}

#[test]
fn a_missing_program_is_named() {
    let mut command = Command::new("no-such-program\u{1b}");
    // A folder on the path that may not be searched would change the answer.
    command.env("PATH", "/usr/bin:/bin");
    let error = run(command, limits(far())).unwrap_err();
    assert!(error.is_not_found());
    let text = error.to_string();
    assert!(text.contains("no-such-program\\u{1b}") && text.contains("No such file"), "{text}");
}

#[test]
fn both_outputs_may_be_larger_than_a_pipe() {
    let script = "head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2";
    let done = run(sh(script), limits(far())).unwrap();
    assert_eq!((done.end, done.stdout.len(), done.stderr.len()), (End::Exited(0), 300_000, 600_000));
}

#[test]
fn what_is_over_the_limit_is_read_but_not_kept() {
    let done = run(sh("head -c 300000 /dev/zero; echo x >&2"), Limits { max_output: 1000, ..limits(far()) });
    let done = done.unwrap();
    assert_eq!((done.end, done.stdout.len(), done.truncated), (End::Exited(0), 1000, true));
    let exact = run(sh("head -c 1000 /dev/zero"), Limits { max_output: 1000, ..limits(far()) }).unwrap();
    assert_eq!((exact.stdout.len(), exact.truncated), (1000, false));
}

#[test]
fn input_is_fed_while_output_is_read() {
    let input: Vec<u8> = (0..500_000_u32).map(|n| n as u8).collect();
    let mut command = Command::new("cat");
    command.env("LC_ALL", "C");
    let done = run(command, Limits { stdin: Some(input.clone()), ..limits(far()) }).unwrap();
    assert_eq!(done.end, End::Exited(0));
    assert!(done.stdout == input, "{} of {} bytes", done.stdout.len(), input.len());
}

#[test]
fn input_that_nobody_reads_does_not_matter() {
    let done = run(sh("exit 3"), Limits { stdin: Some(vec![0; 500_000]), ..limits(far()) }).unwrap();
    assert_eq!(done.end, End::Exited(3));
    let empty = run(Command::new("cat"), Limits { stdin: Some(Vec::new()), ..limits(far()) }).unwrap();
    assert_eq!((empty.end, empty.stdout.len()), (End::Exited(0), 0));
}

#[test]
fn without_input_there_is_nothing_to_wait_for() {
    assert_eq!(run(Command::new("cat"), limits(far())).unwrap().end, End::Exited(0));
}

#[test]
fn a_helper_that_keeps_the_output_open_is_not_waited_for() {
    let done = run(sh("sleep 600 & echo $!"), limits(far())).unwrap();
    assert_eq!(done.end, End::Exited(0));
    let [helper] = pids(&done.stdout)[..] else { panic!("{done:?}") };
    assert!(!is_over(helper), "it ended by itself, so nothing was tested");
    rustix::process::kill_process(Pid::from_raw(helper as i32).unwrap(), Signal::KILL).unwrap();
}

#[test]
fn a_helper_that_never_stops_writing_is_not_waited_for() {
    let done = run(sh("yes & echo $! >&2"), limits(far())).unwrap();
    assert_eq!(done.end, End::Exited(0));
    let [helper] = pids(&done.stderr)[..] else { panic!("{:?}", done.stderr) };
    // Our end of its pipe is closed by now.
    for _ in 0..1000 {
        if is_over(helper) {
            return;
        }
        clock::sleep(TICK);
    }
    panic!("{helper} still writes");
}

#[test]
fn the_deadline_ends_the_whole_group() {
    for script in [
        "sleep 600 & echo $$ $!; wait",
        // Deaf to SIGTERM.
        "trap '' TERM; sleep 600 & echo $$ $!; wait; wait",
        // Stopped, as by a terminal it may not read from.
        "sleep 600 & echo $$ $!; kill -STOP $! $$",
        // Deaf and stopped.
        "trap '' TERM; sleep 600 & echo $$ $!; kill -STOP $! $$; sleep 600",
    ] {
        let done = overdue(script);
        let both = pids(&done.stdout);
        assert_eq!(both.len(), 2, "{script}: {done:?}");
        for pid in both {
            assert!(is_over(pid), "{script}: {pid} {:?}", process::observe(pid));
        }
    }
}

#[test]
fn the_group_may_tidy_up_before_it_is_killed() {
    let script = "trap 'echo tidied; exit 0' TERM; echo $$; while :; do sleep 0.01; done";
    let text = String::from_utf8(overdue(script).stdout).unwrap();
    assert!(text.ends_with("tidied\n"), "{text:?}");
}

#[test]
fn a_passed_deadline_starts_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mark = dir.path().join("mark");
    let mut command = Command::new("touch");
    command.arg(&mark);
    assert_eq!(run(command, limits(clock::instant())).unwrap().end, End::TimedOut);
    assert!(!mark.exists());
}

#[test]
fn children_of_several_threads_do_not_disturb_each_other() {
    std::thread::scope(|scope| {
        for n in 0..6 {
            scope.spawn(move || {
                let done = run(sh(&format!("sleep 0.0{n}; exit {n}")), limits(far())).unwrap();
                assert_eq!(done.end, End::Exited(n));
            });
        }
    });
}

/// What the tests below run in a process of their own, because a signal is for a whole process.
#[test]
#[ignore = "only a part of other tests"]
fn as_another_process() {
    let what = std::env::var("AITASK_LOCK_TEST_PART").unwrap_or_default();
    if what != "in a child" {
        run(sh("exit 0"), limits(far())).unwrap();
    }
    match what.as_str() {
        "idle" => {
            eprintln!("ready");
            clock::sleep(Duration::from_secs(120));
        }
        "in a child" | "in a child, handled before" => {
            let script = "sleep 600 & echo $$ $! >&3; echo ready >&4; wait";
            let dir = std::env::var("AITASK_LOCK_TEST_DIR").unwrap();
            let mut command = sh(&format!("exec 3>'{dir}/pids' 4>'{dir}/ready'; {script}"));
            command.env("LC_ALL", "C");
            std::thread::spawn(move || {
                while std::fs::read(format!("{dir}/ready")).unwrap_or_default() != b"ready\n" {
                    clock::sleep(TICK);
                }
                eprintln!("ready");
            });
            let done = run(command, limits(far())).unwrap();
            eprintln!("{:?}", done.end);
            // Tidying up may need another child.
            eprintln!("{:?}", run(sh("exit 5"), limits(far())).unwrap().end);
            let End::Interrupted(signal) = done.end else { return };
            die_of(signal);
        }
        _ => {}
    }
}

/// Starts the part, sends it a signal when it is ready; how it ended and what it said after that.
fn signalled(
    part: &str,
    signal: Signal,
    dir: &std::path::Path,
    wrap: &str,
) -> (std::process::ExitStatus, String) {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("{wrap} exec \"$0\" \"$@\"")])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "sys::child::tests::as_another_process", "--ignored", "--nocapture"])
        .env("AITASK_LOCK_TEST_PART", part)
        .env("AITASK_LOCK_TEST_DIR", dir)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    for line in said.by_ref() {
        if line.unwrap() == "ready" {
            break;
        }
    }
    rustix::process::kill_process(Pid::from_child(&child), signal).unwrap();
    if wrap.contains("trap ''") {
        // It ignores the signal; end it in a way that tells the two apart.
        clock::sleep(Duration::from_millis(200));
        rustix::process::kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    }
    let rest: Vec<String> = said.map_while(Result::ok).collect();
    (child.wait().unwrap(), rest.join("\n"))
}

#[test]
fn a_signal_between_children_ends_us_as_ever() {
    let dir = tempfile::tempdir().unwrap();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT] {
        let (status, said) = signalled("idle", signal, dir.path(), "ulimit -c 0;");
        assert_eq!(status.signal(), Some(signal.as_raw()), "{signal:?}: {said}");
    }
}

#[test]
fn a_signal_during_a_child_ends_the_group_and_is_handed_over() {
    for part in ["in a child", "in a child, handled before"] {
        let dir = tempfile::tempdir().unwrap();
        let (status, said) = signalled(part, Signal::INT, dir.path(), "");
        assert_eq!(said, "Interrupted(2)\nExited(5)", "{part}");
        assert_eq!(status.signal(), Some(2), "{part}");
        let both = pids(&std::fs::read(dir.path().join("pids")).unwrap());
        assert_eq!(both.len(), 2);
        for pid in both {
            assert!(is_over(pid), "{part}: {pid}");
        }
    }
}

#[test]
fn a_signal_that_we_were_told_to_ignore_stays_ignored() {
    if !process::proc_is_ours() {
        println!("skipped: /proc does not show which signals are ignored here");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    for part in ["idle", "in a child"] {
        let dir = if part == "idle" { dir.path().to_owned() } else { dir.path().join("x") };
        _ = std::fs::create_dir(&dir);
        let (status, said) = signalled(part, Signal::HUP, &dir, "trap '' HUP;");
        assert_eq!(status.signal(), Some(15), "{part}: {said}");
    }
}

#[test]
fn ignored_child_signals_do_not_lose_the_exit_code() {
    let script = "$SIG{CHLD} = 'IGNORE'; exec @ARGV or die";
    let mut command = Command::new("perl");
    command
        .args(["-e", script])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "sys::child::tests::as_another_process", "--ignored"])
        .env_remove("AITASK_LOCK_TEST_PART");
    match run(command, limits(far())) {
        Err(error) if error.is_not_found() => println!("skipped: no perl to ignore the signal with"),
        done => {
            let done = done.unwrap();
            assert_eq!(done.end, End::Exited(0), "{}", String::from_utf8_lossy(&done.stdout));
        }
    }
}
