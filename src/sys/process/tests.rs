use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Signal, kill_process};

use super::*;

/// A child that is killed and reaped at the end of the test.
struct Victim(Child);

impl Victim {
    fn start(command: &mut Command) -> Self {
        Self(command.stdin(Stdio::null()).spawn().unwrap())
    }

    fn sleeping() -> Self {
        Self::start(Command::new("sleep").arg("600"))
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }

    fn signal(&self, signal: Signal) {
        kill_process(to_pid(self.pid()).unwrap(), signal).unwrap();
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

/// Waits for a condition that is sure to come; a test that waits in vain fails by its message.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..1000 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("never happened: {what}");
}

/// A sleeping process of that name: the kernel takes the name of the link it was started through.
fn sleeping_as(name: &str) -> (tempfile::TempDir, Victim) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join(name);
    std::os::unix::fs::symlink("/bin/sleep", &program).unwrap();
    // A multi-call binary looks at its first argument to know what it is.
    let victim = Victim::start(Command::new(program).arg0("sleep").arg("600"));
    // The kernel lets us go on a moment before it sets the new name.
    let starter = |name: &str| name.starts_with("sys::") || name.starts_with("git_aitask");
    until("new name", || comm(victim.pid()).is_some_and(|name| !starter(&name)));
    (folder, victim)
}

fn skip_without_proc() -> bool {
    if !proc_is_ours() {
        println!("skipped: /proc does not show our own process table here");
    }
    !proc_is_ours()
}

fn line(name: &str) -> String {
    format!("4711 ({name}) S 17 18 19 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2 3\n")
}

#[test]
fn fields_are_counted_after_the_last_parenthesis() {
    let expected = Stat { state: b'S', ppid: 17, pgrp: 18, start_ticks: 987_654 };
    for name in ["sleep", "", "a b", "a) R 1 (x", ")", ") Z 1 1", "(((", "a\nb"] {
        assert_eq!(parse_stat(line(name).as_bytes()), Some(expected), "{name:?}");
    }
    let not_utf8 = [b"1 (\xff\xfe) ".as_slice(), line("").split_once(") ").unwrap().1.as_bytes()].concat();
    assert_eq!(parse_stat(&not_utf8), Some(expected));
}

#[test]
fn a_damaged_stat_line_is_nothing() {
    let whole = line("x");
    let upto_ticks = whole.find(" 987654").unwrap();
    for end in 0..=upto_ticks {
        assert_eq!(parse_stat(&whole.as_bytes()[..end]), None, "{:?}", &whole[..end]);
    }
    for bad in ["1 (x) SS 1 1", "1 (x) S -1 1", &whole.replace("987654", "98a"), "no name at all"] {
        assert_eq!(parse_stat(bad.as_bytes()), None, "{bad:?}");
    }
}

#[test]
fn a_climb_ends_at_the_top_and_never_goes_in_circles() {
    let top = climb(5, |pid| Some(pid - 1));
    assert_eq!(top, Ancestry { pids: vec![4, 3, 2, 1], complete: true });
    assert_eq!((top.contains(2), top.contains(9)), (Some(true), Some(false)));

    let hidden = climb(5, |pid| (pid > 3).then(|| pid - 1));
    assert_eq!(hidden, Ancestry { pids: vec![4, 3], complete: false });
    assert_eq!((hidden.contains(3), hidden.contains(1)), (Some(true), None));

    assert!(!climb(5, |pid| Some(if pid == 5 { 6 } else { 5 })).complete);
    assert!(!climb(5, Some).complete);
    assert_eq!(climb(0, |pid| Some(pid + 1)).pids.len(), MAX_ANCESTORS);
}

#[test]
fn numbers_that_no_process_can_have_are_not_looked_at() {
    for pid in [0, i32::MAX as u32 + 1, u32::MAX] {
        assert_eq!(observe(pid), Observed::NotSeen, "{pid}");
        assert!(end_watch(pid).is_none());
    }
    assert_eq!(observe(i32::MAX as u32), Observed::Absent);
}

#[test]
fn a_process_is_seen_alive_stopped_ended_and_gone() {
    if skip_without_proc() {
        return;
    }
    let mut victim = Victim::sleeping();
    let pid = victim.pid();
    let Observed::Exists { start_ticks: Some(ticks) } = observe(pid) else { panic!("{:?}", observe(pid)) };
    assert_eq!(start_token(pid), Some(proc_token(ticks)));
    assert_eq!(is_stopped(pid), Some(false));
    assert_eq!(is_ancestor(std::process::id(), pid), Some(true));
    assert_eq!(is_ancestor(pid, std::process::id()), Some(false));
    assert_eq!(uid(pid), Some(rustix::process::getuid().as_raw()));

    victim.signal(Signal::STOP);
    until("stopped", || is_stopped(pid) == Some(true));
    assert_eq!(observe(pid), Observed::Exists { start_ticks: Some(ticks) });

    // We do not wait for it, so it stays a zombie.
    let watch = end_watch(pid).unwrap();
    assert_eq!(readable(&watch), Some(false));
    victim.signal(Signal::KILL);
    until("ended", || readable(&watch) == Some(true));
    assert_eq!(stat(pid).unwrap().state, b'Z');
    assert_eq!(observe(pid), Observed::Ended);
    // Without a pidfd the same zombie is there, but proves nothing.
    assert_eq!(observe_by_kill(to_pid(pid).unwrap(), pid), Observed::Exists { start_ticks: None });

    victim.0.wait().unwrap();
    assert_eq!(observe(pid), Observed::Absent);
    assert_eq!(observe_by_kill(to_pid(pid).unwrap(), pid), Observed::Absent);
}

#[test]
fn the_weaker_look_agrees_on_a_living_process() {
    let victim = Victim::sleeping();
    assert_eq!(observe_by_kill(to_pid(victim.pid()).unwrap(), victim.pid()), observe(victim.pid()));
}

#[cfg(target_os = "linux")]
#[test]
fn the_number_of_a_thread_is_not_a_process() {
    if skip_without_proc() {
        return;
    }
    std::thread::spawn(|| {
        let link = std::fs::read_link("/proc/thread-self").unwrap();
        let thread: u32 = link.file_name().unwrap().to_str().unwrap().parse().unwrap();
        assert_ne!(thread, std::process::id());
        assert_eq!(observe(thread), Observed::Absent);
        assert_eq!(observe_by_kill(to_pid(thread).unwrap(), thread), Observed::Absent);
    })
    .join()
    .unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_without_its_main_thread_still_exists() {
    if skip_without_proc() {
        return;
    }
    let script = "import threading,time,ctypes\n\
                  threading.Thread(target=time.sleep,args=(600,)).start()\n\
                  ctypes.CDLL(None).pthread_exit(None)\n";
    let Ok(child) = Command::new("python3").args(["-c", script]).stderr(Stdio::null()).spawn() else {
        println!("skipped: no python3 to end a main thread with");
        return;
    };
    let mut victim = Victim(child);
    let pid = victim.pid();
    until("main thread ended", || {
        stat(pid).is_some_and(|stat| stat.state == b'Z') || victim.0.try_wait().unwrap().is_some()
    });
    if victim.0.try_wait().unwrap().is_some() {
        println!("skipped: this python3 cannot end its main thread");
        return;
    }
    assert!(matches!(observe(pid), Observed::Exists { start_ticks: Some(_) }), "{:?}", observe(pid));
}

#[cfg(target_os = "linux")]
#[test]
fn a_hostile_name_hides_nothing() {
    if skip_without_proc() {
        return;
    }
    let (_folder, victim) = sleeping_as("a) R 1 (x");
    let pid = victim.pid();
    assert_eq!(comm(pid).as_deref(), Some("a) R 1 (x"));
    let stat = stat(pid).unwrap();
    assert_eq!(stat.ppid, std::process::id());
    assert!(stat.start_ticks >= self::stat(std::process::id()).unwrap().start_ticks);
    assert_eq!(is_ancestor(std::process::id(), pid), Some(true));
}

#[test]
fn a_name_brings_no_control_characters_along() {
    if skip_without_proc() {
        return;
    }
    let (_folder, victim) = sleeping_as("a\u{1b}[31m\nb");
    assert_eq!(comm(victim.pid()).as_deref(), Some("a?[31m?b"));
}

#[cfg(target_os = "linux")]
#[test]
fn another_users_process_exists() {
    if skip_without_proc() {
        return;
    }
    if !rustix::process::getuid().is_root() {
        println!("skipped: only root can start a process of another user");
        return;
    }
    let victim = Victim::start(Command::new("sleep").arg("600").uid(65534).gid(65534));
    assert!(matches!(observe(victim.pid()), Observed::Exists { start_ticks: Some(_) }));
    assert_eq!(uid(victim.pid()), Some(65534));
}

#[test]
fn a_group_lives_until_its_last_process_has_ended() {
    if skip_without_proc() {
        return;
    }
    let victim = Victim::start(Command::new("sleep").arg("600").process_group(0));
    assert_eq!(group_lives(victim.pid()), Some(true));
    victim.signal(Signal::KILL);
    until("group ended", || group_lives(victim.pid()) == Some(false));
}
