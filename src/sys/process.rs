//! The only door to other processes: whether they exist, who they are, when they end.
//!
//! `/proc` is read here and in [`crate::sys::host`] only. Nothing here sends a signal.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::Pid;

use crate::domain::anchor::{Anchor, Here, Observed, StartToken, TokenKind};
use crate::domain::liveness::{self, Liveness};

/// No real family of processes is this deep; a walk that gets here saw something else.
const MAX_ANCESTORS: usize = 1024;
/// Holds any of the files that are read here at once, in bytes.
const PROC_BUFFER: usize = 4096;

/// What this program uses of a line of `/proc/<pid>/stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// `R`, `S`, `D`, `T`, `Z`, … `Z` alone is no proof of an end: other threads may live on.
    pub state: u8,
    /// Parent process id; 0 when there is none in this process table.
    pub ppid: u32,
    /// Process group.
    pub pgrp: u32,
    /// Field 22: start in clock ticks since boot, relative to the reader's time namespace.
    pub start_ticks: u64,
}

/// The parents of a process, nearest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ancestry {
    /// Process ids, from the parent upwards.
    pub pids: Vec<u32>,
    /// Whether the walk reached the top. Where it did not (a parent that may not be inspected),
    /// a pid that is missing may still be an ancestor.
    pub complete: bool,
}

/// Whether `/proc` shows our own process table, the one that pids in our system calls refer to.
///
/// In a PID namespace of its own with the outer `/proc` still mounted, its numbers name others.
#[must_use]
pub fn proc_is_ours() -> bool {
    static OURS: OnceLock<bool> = OnceLock::new();
    *OURS.get_or_init(|| {
        let own = std::process::id().to_string();
        cfg!(target_os = "linux")
            && std::fs::read_link("/proc/self").is_ok_and(|link| link.as_os_str() == own.as_str())
            // One number per namespace from the mount's down to ours: equal pids by chance show here.
            && own_status("NSpid:").is_none_or(|pids| pids.split_ascii_whitespace().count() == 1)
    })
}

/// Looks at the process `pid`. What is reported belongs to one process, even if the number is
/// reused meanwhile.
#[must_use]
pub fn observe(pid: u32) -> Observed {
    let Some(target) = to_pid(pid) else { return Observed::NotSeen };
    match open(target) {
        Ok(pidfd) => {
            let stat = stat(pid);
            // Looked at last: what has not ended now was there while its stat line was read.
            match readable(&pidfd) {
                Some(true) => Observed::Ended,
                Some(false) => Observed::Exists { start_ticks: stat.map(|stat| stat.start_ticks) },
                None => Observed::NotSeen,
            }
        }
        Err(Errno::SRCH) => Observed::Absent,
        // The number belongs to a thread of another process, so no process has it. Which of the
        // two errors is told depends on the kernel; neither is enough without the second look.
        Err(Errno::NOENT | Errno::INVAL) if is_bare_thread(pid) => Observed::Absent,
        // An old kernel, or a sandbox that does not let this call through.
        Err(Errno::NOSYS | Errno::PERM) => observe_by_kill(target, pid),
        Err(_) => Observed::NotSeen,
    }
}

/// Looks at the process that an anchor recorded, and judges whether its session is still there.
#[must_use]
pub fn judge(recorded: &Anchor, here: &Here) -> Liveness {
    let observed = liveness::pid_to_observe(recorded, here).map_or(Observed::NotSeen, observe);
    liveness::judge(recorded, here, &observed)
}

/// The weaker look, without a pidfd: it cannot tell a zombie from a process that lost its main
/// thread only, and reports neither as inspected.
fn observe_by_kill(target: Pid, pid: u32) -> Observed {
    match rustix::process::test_kill_process(target) {
        Err(Errno::SRCH) => Observed::Absent,
        Ok(()) | Err(Errno::PERM) if is_bare_thread(pid) => Observed::Absent,
        Ok(()) | Err(Errno::PERM) => Observed::Exists {
            start_ticks: stat(pid)
                .filter(|stat| !matches!(stat.state, b'Z' | b'X'))
                .map(|stat| stat.start_ticks),
        },
        Err(_) => Observed::NotSeen,
    }
}

/// The strong start token of `pid`; `None` when it may not be inspected or is not there.
#[must_use]
pub fn start_token(pid: u32) -> Option<StartToken> {
    stat(pid).map(|stat| proc_token(stat.start_ticks))
}

/// A start token of kind `proc`.
#[must_use]
pub fn proc_token(start_ticks: u64) -> StartToken {
    StartToken { value: start_ticks.to_string(), kind: TokenKind::Proc }
}

/// A descriptor that polls readable once the whole process has ended; `None` when there is no such
/// process or no such call.
#[must_use]
pub fn end_watch(pid: u32) -> Option<OwnedFd> {
    open(to_pid(pid)?).ok()
}

/// The parents of `of`, without `of` itself.
#[must_use]
pub fn ancestors(of: u32) -> Ancestry {
    climb(of, |pid| stat(pid).map(|stat| stat.ppid))
}

/// Whether `pid` is an ancestor of `of`; `None` when the way up cannot be seen to its end.
#[must_use]
pub fn is_ancestor(pid: u32, of: u32) -> Option<bool> {
    ancestors(of).contains(pid)
}

impl Ancestry {
    /// Whether `pid` is among them; `None` when the way up could not be seen to its end.
    #[must_use]
    pub fn contains(&self, pid: u32) -> Option<bool> {
        if self.pids.contains(&pid) { Some(true) } else { self.complete.then_some(false) }
    }
}

fn climb(of: u32, parent: impl Fn(u32) -> Option<u32>) -> Ancestry {
    let mut pids = Vec::new();
    let mut at = of;
    let complete = loop {
        match parent(at) {
            Some(0) => break true,
            // Parents that change while we climb could otherwise lead around in circles.
            Some(next) if next != of && !pids.contains(&next) && pids.len() < MAX_ANCESTORS => {
                pids.push(next);
                at = next;
            }
            Some(_) | None => break false,
        }
    };
    Ancestry { pids, complete }
}

/// The short name of `pid` (at most 15 bytes, chosen by the process: never trust it). Control
/// characters are replaced.
#[must_use]
pub fn comm(pid: u32) -> Option<String> {
    let raw = read(pid, "comm")?;
    let name = String::from_utf8_lossy(raw.strip_suffix(b"\n").unwrap_or(&raw)).into_owned();
    Some(name.replace(char::is_control, "?"))
}

/// The processes that have a file open, as far as the kernel shows them: those of other users are not seen.
#[must_use]
pub fn with_open_file(path: &std::path::Path) -> Vec<u32> {
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let has_it = |pid: &u32| {
        let open = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        open.map(|entry| entry.path()).any(|entry| std::fs::read_link(entry).is_ok_and(|file| file == path))
    };
    if proc_is_ours() { pids.filter(has_it).collect() } else { Vec::new() }
}

/// The real user id of `pid`.
#[must_use]
pub fn uid(pid: u32) -> Option<u32> {
    status_field(&read(pid, "status")?, "Uid:")?.split_ascii_whitespace().next()?.parse().ok()
}

/// Whether `pid` is stopped (SIGSTOP, Ctrl-Z, a debugger); `None` when that cannot be seen.
#[must_use]
pub fn is_stopped(pid: u32) -> Option<bool> {
    stat(pid).map(|stat| matches!(stat.state, b'T' | b't'))
}

/// Whether any process of the group `pgrp` still runs; zombies do not. `None` when that cannot be
/// seen.
#[must_use]
pub fn group_lives(pgrp: u32) -> Option<bool> {
    if !proc_is_ours() {
        return None;
    }
    let lives = std::fs::read_dir("/proc")
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .any(|pid: u32| match stat(pid) {
            Some(stat) if stat.pgrp == pgrp => {
                stat.state != b'Z' || matches!(observe(pid), Observed::Exists { .. })
            }
            _ => false,
        });
    Some(lives)
}

/// A field of our own `/proc/self/status`, such as `SigIgn:`, as it was when this was first asked.
pub(super) fn own_status(name: &str) -> Option<String> {
    static STATUS: OnceLock<Option<Vec<u8>>> = OnceLock::new();
    status_field(STATUS.get_or_init(|| read_proc("/proc/self/status").ok()).as_deref()?, name)
}

/// Reads a file of `/proc`. None has a length, so a buffer would otherwise start at a few bytes and be
/// filled in many small reads.
pub(super) fn read_proc(path: &str) -> std::io::Result<Vec<u8>> {
    let mut content = Vec::with_capacity(PROC_BUFFER);
    // Without the limit the length would be asked for first.
    File::open(path)?.take(u64::MAX).read_to_end(&mut content)?;
    Ok(content)
}

/// Reads one line of `/proc/<pid>/stat`.
///
/// The name in it is the process's own choice and may hold anything, such as `a) R 1 (x`, so
/// fields are counted after the LAST `)`.
#[must_use]
pub fn parse_stat(line: &[u8]) -> Option<Stat> {
    let name_end = line.iter().rposition(|&byte| byte == b')')?;
    let rest = std::str::from_utf8(line.get(name_end + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let &[state] = fields.next()?.as_bytes() else { return None };
    let ppid = fields.next()?.parse().ok()?;
    let pgrp = fields.next()?.parse().ok()?;
    // Field 22 of the line; the group was field 5.
    let start_ticks = fields.nth(16)?.parse().ok()?;
    Some(Stat { state, ppid, pgrp, start_ticks })
}

fn stat(pid: u32) -> Option<Stat> {
    parse_stat(&read(pid, "stat")?)
}

fn read(pid: u32, file: &str) -> Option<Vec<u8>> {
    if !proc_is_ours() {
        return None;
    }
    read_proc(&format!("/proc/{pid}/{file}")).ok()
}

fn status_field(status: &[u8], name: &str) -> Option<String> {
    let line = status.split(|&byte| byte == b'\n').find_map(|line| line.strip_prefix(name.as_bytes()))?;
    Some(std::str::from_utf8(line).ok()?.trim().to_owned())
}

/// Whether `pid` is the number of a thread that is not its process's first.
fn is_bare_thread(pid: u32) -> bool {
    read(pid, "status")
        .and_then(|status| status_field(&status, "Tgid:")?.parse().ok())
        .is_some_and(|leader: u32| leader != pid)
}

fn to_pid(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

#[cfg(target_os = "linux")]
fn open(pid: Pid) -> Result<OwnedFd, Errno> {
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty())
}

#[cfg(not(target_os = "linux"))]
fn open(_: Pid) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}

/// Whether a descriptor is readable right now; `None` when that cannot be told.
fn readable(fd: &OwnedFd) -> Option<bool> {
    loop {
        let mut fds = [PollFd::new(fd, PollFlags::IN)];
        match poll(&mut fds, Some(&Timespec::default())) {
            Ok(_) => return Some(fds.iter().any(|fd| fd.revents().contains(PollFlags::IN))),
            Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod in_namespaces;
#[cfg(test)]
mod tests;
