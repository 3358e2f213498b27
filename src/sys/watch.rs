//! The only door to waiting for others: sleeps until a folder changes, a process ends, or a signal
//! arrives. Every wake-up only means "look again".

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::getppid;

use crate::domain::anchor::Observed;
use crate::sys::signals::Watch;
use crate::sys::{clock, process};

/// The longest sleep: where nothing can wake us, this is how often we look.
pub const LONGEST: Duration = Duration::from_secs(1);

/// What a wait is woken by.
pub struct Waker {
    changes: Option<OwnedFd>,
    holder: Option<(u32, Option<OwnedFd>)>,
    callers: Callers,
    signals: Watch,
}

impl Waker {
    /// Watches these folders. Ending signals are held back from here on: ask [`Waker::signal`], and
    /// end with [`super::signals::die_of`] after tidying up.
    ///
    /// # Errors
    /// The signals cannot be held back.
    pub fn new(folders: &[&Path], callers: Callers) -> std::io::Result<Self> {
        Ok(Self { changes: changes(folders), holder: None, callers, signals: Watch::start()? })
    }

    /// Watches the process of the holder as well; none where its number means nothing here.
    pub fn watch_holder(&mut self, pid: Option<u32>) {
        if self.holder.as_ref().map(|(pid, _)| *pid) != pid {
            self.holder = pid.map(|pid| (pid, process::end_watch(pid)));
        }
    }

    /// The signal that asked us to end.
    #[must_use]
    pub fn signal(&self) -> Option<i32> {
        self.signals.received()
    }

    /// Whether those for whom we wait are still there.
    #[must_use]
    pub fn callers(&self) -> &Callers {
        &self.callers
    }

    /// Sleeps until something may have changed, at most for `limit` and for [`LONGEST`].
    pub fn sleep(&self, limit: Duration) {
        let limit = limit.min(LONGEST);
        let mut fds = vec![PollFd::from_borrowed_fd(self.signals.fd(), PollFlags::IN)];
        let holder = self.holder.as_ref().and_then(|(_, fd)| fd.as_ref());
        let ended = holder.into_iter().chain(self.callers.ends());
        for fd in self.changes.iter().chain(ended) {
            fds.push(PollFd::from_borrowed_fd(fd.as_fd(), PollFlags::IN));
        }
        match poll(&mut fds, Timespec::try_from(limit).ok().as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => clock::sleep(limit),
        }
        self.drain();
    }

    /// Takes the events that are there, so that the next sleep waits for new ones.
    fn drain(&self) {
        let Some(changes) = &self.changes else { return };
        let mut events = [0_u8; 4096];
        while matches!(rustix::io::read(changes, &mut events), Ok(count) if count > 0) {}
    }
}

#[cfg(target_os = "linux")]
fn changes(folders: &[&Path]) -> Option<OwnedFd> {
    use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
    let changes = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
    let flags = WatchFlags::CREATE | WatchFlags::DELETE | WatchFlags::MOVED_TO | WatchFlags::MOVED_FROM;
    let watched = folders.iter().filter(|folder| add_watch(&changes, **folder, flags).is_ok()).count();
    (watched > 0).then_some(changes)
}

#[cfg(not(target_os = "linux"))]
fn changes(_folders: &[&Path]) -> Option<OwnedFd> {
    None
}

/// Those for whom a command waits: its session's process, and the command that started it. Once one
/// of them is gone nobody would use what is taken.
pub struct Callers {
    session: (u32, Option<String>),
    parents: Vec<u32>,
    ends: Vec<OwnedFd>,
    direct_parent: Option<u32>,
}

impl Callers {
    /// The callers of this command, whose session is the process `session` with this start token.
    #[must_use]
    pub fn new(session: u32, token: Option<String>) -> Self {
        let direct_parent = parent();
        let mut parents: Vec<u32> = direct_parent.into_iter().collect();
        // `git aitask-lock` puts a git between us and who asked; it would outlive them for our sake.
        if let Some(git) = direct_parent.filter(|pid| process::comm(*pid).as_deref() == Some("git")) {
            parents.extend(process::ancestors(git).pids.first());
        }
        // A parent that does not end with anybody is none that could go away.
        parents.retain(|pid| *pid > 1);
        let watched = parents.iter().chain(std::iter::once(&session));
        let ends = watched.filter_map(|pid| process::end_watch(*pid)).collect();
        Self { session: (session, token), parents, ends, direct_parent }
    }

    /// Whether all of them are still there.
    #[must_use]
    pub fn are_there(&self) -> bool {
        let (session, token) = &self.session;
        let same = match process::observe(*session) {
            Observed::Absent | Observed::Ended => false,
            Observed::NotSeen => true,
            Observed::Exists { start_ticks } => match (start_ticks, token) {
                (Some(ticks), Some(token)) => ticks.to_string() == *token,
                _ => true,
            },
        };
        // An orphan gets another parent at once.
        let adopted = self.direct_parent.is_some_and(|pid| pid > 1) && parent() != self.direct_parent;
        let gone = |pid: &u32| matches!(process::observe(*pid), Observed::Absent | Observed::Ended);
        same && !adopted && !self.parents.iter().any(gone)
    }

    fn ends(&self) -> impl Iterator<Item = &OwnedFd> {
        self.ends.iter()
    }
}

fn parent() -> Option<u32> {
    getppid().and_then(|pid| u32::try_from(pid.as_raw_pid()).ok())
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::time::Instant;

    use super::*;

    fn long_sleep() -> std::process::Child {
        Command::new("sleep").arg("600").stdout(Stdio::null()).spawn().unwrap()
    }

    #[test]
    fn a_session_that_is_gone_is_noticed() {
        let mut session = long_sleep();
        let token = process::start_token(session.id()).map(|token| token.value);
        let callers = Callers::new(session.id(), token);
        assert!(callers.are_there());
        session.kill().unwrap();
        session.wait().unwrap();
        assert!(!callers.are_there());
    }

    #[test]
    fn a_session_whose_number_was_given_away_is_gone() {
        let mut session = long_sleep();
        assert!(!Callers::new(session.id(), Some("1".to_owned())).are_there());
        session.kill().unwrap();
        session.wait().unwrap();
    }

    #[test]
    fn a_change_of_a_watched_folder_ends_the_sleep() {
        let dir = tempfile::tempdir().unwrap();
        let callers = Callers::new(std::process::id(), None);
        let waker = Waker::new(&[dir.path()], callers).unwrap();
        std::fs::write(dir.path().join("new"), "").unwrap();
        // Without the event this would take a second at least; nothing is measured here but that
        // the events are used up.
        waker.sleep(Duration::from_secs(60));
        let before = Instant::now();
        waker.sleep(Duration::from_millis(50));
        assert!(before.elapsed() >= Duration::from_millis(50), "the event was taken");
    }
}
