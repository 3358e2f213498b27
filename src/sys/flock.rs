//! The only door to `flock(2)`: short exclusion among the commands of one machine.
//!
//! The kernel drops a lock with its holder, so none can leak. It is advisory, and some network file
//! systems pretend: whatever must never happen twice rests on atomic publication
//! ([`crate::sys::files`]) as well.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::sys::files::FileError;
use crate::sys::{clock, failpoint};

/// The longest sleep between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub struct Flock {
    file: File,
}

impl Drop for Flock {
    fn drop(&mut self) {
        // Said aloud: a child that is being started may hold a copy of the descriptor for a moment.
        _ = rustix::fs::flock(&self.file, FlockOperation::Unlock);
    }
}

fn lock(file: &File, operation: FlockOperation) -> Result<(), Errno> {
    // As a file system does that knows no locks, and grants every one.
    if failpoint::is_planted("flock-pretends") {
        return Ok(());
    }
    rustix::fs::flock(file, operation)
}

/// Locks a folder, or any other existing file, through its descriptor; `None` when somebody else
/// holds it. Never waits.
///
/// # Errors
/// When it is missing, or its file system refuses such locks.
pub fn try_flock(path: &Path) -> Result<Option<Flock>, FileError> {
    loop {
        let file = File::open(path).map_err(|error| FileError::new(path, "cannot open", error))?;
        match lock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::INTR) => continue,
            // `EAGAIN` is the same number.
            Err(Errno::WOULDBLOCK) => return Ok(None),
            Err(errno) => return Err(FileError::new(path, "cannot lock", explained(errno))),
        }
        let flock = Flock { file };
        // What was removed and made again meanwhile is another file, and locking it excludes nobody.
        if flock.is_of(path)? {
            return Ok(Some(flock));
        }
    }
}

/// As [`try_flock`], but tries again until `deadline`; `None` when it was held all the time.
///
/// # Errors
/// As [`try_flock`].
pub fn flock_until(path: &Path, deadline: Instant) -> Result<Option<Flock>, FileError> {
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(lock) = try_flock(path)? {
            return Ok(Some(lock));
        }
        let left = clock::remaining(deadline);
        if left.is_zero() {
            return Ok(None);
        }
        clock::sleep(pause.min(left));
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Whether somebody holds the lock of a file or folder right now. Asking does not get into the way
/// of others who ask; `false` for what is missing.
///
/// # Errors
/// When it cannot be opened, or its file system refuses such locks.
pub fn is_held(path: &Path) -> Result<bool, FileError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(FileError::new(path, "cannot open", error)),
    };
    loop {
        match lock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => {
                _ = rustix::fs::flock(&file, FlockOperation::Unlock);
                return Ok(false);
            }
            Err(Errno::INTR) => {}
            Err(Errno::WOULDBLOCK) => return Ok(true),
            Err(errno) => return Err(FileError::new(path, "cannot lock", explained(errno))),
        }
    }
}

/// The process that holds the lock of a file or folder, where the kernel shows it: for messages only.
#[cfg(target_os = "linux")]
#[must_use]
pub fn holder(path: &Path) -> Option<u32> {
    let there = std::fs::metadata(path).ok()?;
    let device = there.dev();
    let name = format!("{:02x}:{:02x}:{}", rustix::fs::major(device), rustix::fs::minor(device), there.ino());
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    holder_among(&locks, &name)
}

/// No other kernel shows it.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn holder(_: &Path) -> Option<u32> {
    None
}

/// Reads `1: FLOCK  ADVISORY  WRITE 2068 fe:00:10256619 0 EOF`. Who waits for a lock has `->` before
/// its kind.
#[cfg(any(target_os = "linux", test))]
fn holder_among(locks: &str, name: &str) -> Option<u32> {
    locks.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace().skip(1);
        let (kind, pid, place) = (words.next()?, words.nth(2)?, words.next()?);
        // A process of another namespace is shown as 0.
        (kind == "FLOCK" && place == name).then(|| pid.parse().ok())?.filter(|pid| *pid > 0)
    })
}

impl Flock {
    /// Whether `path` still names the file that is locked. A waiter's ticket that somebody removed
    /// is locked for nothing.
    ///
    /// # Errors
    /// When that cannot be seen. A missing file is no error.
    pub fn is_of(&self, path: &Path) -> Result<bool, FileError> {
        let failed = |error| FileError::new(path, "cannot look at", error);
        let own = self.file.metadata().map_err(failed)?;
        match std::fs::metadata(path) {
            Ok(there) => Ok((there.dev(), there.ino()) == (own.dev(), own.ino())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(failed(error)),
        }
    }
}

fn explained(errno: Errno) -> io::Error {
    let error = io::Error::from(errno);
    match errno {
        Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL => io::Error::new(
            io::ErrorKind::Unsupported,
            format!(
                "this file system does not support flock, without which commands cannot exclude each other ({error})"
            ),
        ),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_folder_is_locked_once_and_free_again_after_the_drop() {
        let dir = tempfile::tempdir().unwrap();
        let held = try_flock(dir.path()).unwrap().unwrap();
        assert!(try_flock(dir.path()).unwrap().is_none());
        assert!(flock_until(dir.path(), clock::instant()).unwrap().is_none());
        drop(held);
        assert!(try_flock(dir.path()).unwrap().is_some());
    }

    #[test]
    fn a_waiter_gets_it_when_the_holder_lets_go() {
        let dir = tempfile::tempdir().unwrap();
        let held = try_flock(dir.path()).unwrap().unwrap();
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| flock_until(dir.path(), clock::deadline_in(Duration::from_secs(60))));
            drop(held);
            assert!(waiter.join().unwrap().unwrap().is_some());
        });
    }

    #[test]
    fn a_removed_ticket_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let ticket = dir.path().join("ticket");
        std::fs::write(&ticket, "").unwrap();
        let held = try_flock(&ticket).unwrap().unwrap();
        assert!(held.is_of(&ticket).unwrap());
        std::fs::remove_file(&ticket).unwrap();
        assert!(!held.is_of(&ticket).unwrap());
        // A new file of that name is another lock.
        std::fs::write(&ticket, "").unwrap();
        assert!(!held.is_of(&ticket).unwrap());
        assert!(try_flock(&ticket).unwrap().is_some());
    }

    #[test]
    fn what_is_missing_is_an_error_and_not_a_free_lock() {
        let dir = tempfile::tempdir().unwrap();
        assert!(try_flock(&dir.path().join("missing")).unwrap_err().is_not_found());
    }

    #[test]
    fn a_killed_holder_leaves_no_lock() {
        let dir = tempfile::tempdir().unwrap();
        let script =
            "open my $d, '<', $ARGV[0] or die; flock($d, 2) or die; $| = 1; print qq(held\\n); sleep 600";
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        let spawned = Command::new("perl").args(["-e", script]).arg(&file).stdout(Stdio::piped()).spawn();
        let Ok(mut holder) = spawned else {
            println!("skipped: no perl to hold the lock");
            return;
        };
        let mut said = String::new();
        io::BufRead::read_line(&mut io::BufReader::new(holder.stdout.take().unwrap()), &mut said).unwrap();
        assert_eq!(said, "held\n");
        assert!(try_flock(&file).unwrap().is_none());
        holder.kill().unwrap();
        holder.wait().unwrap();
        assert!(try_flock(&file).unwrap().is_some());
    }

    #[test]
    fn the_holder_is_found_by_the_files_number() {
        let locks = "1: FLOCK  ADVISORY  WRITE 2068 fe:00:10 0 EOF\n\
                     2: POSIX  ADVISORY  WRITE 9 fe:00:11 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 7 fe:00:11 0 EOF\n\
                     3: FLOCK  ADVISORY  READ 8 fe:00:11 0 EOF\nrubbish\n";
        assert_eq!(holder_among(locks, "fe:00:10"), Some(2068));
        assert_eq!(holder_among(locks, "fe:00:11"), Some(8));
        assert_eq!(holder_among(locks, "fe:00:12"), None);
        let dir = tempfile::tempdir().unwrap();
        let lock = try_flock(dir.path()).unwrap();
        let seen = holder(dir.path());
        assert!(seen.is_none_or(|pid| pid == std::process::id()), "{seen:?}");
        drop(lock);
        assert_eq!(holder(dir.path()), None);
    }

    #[test]
    fn a_refusing_file_system_is_named_as_such() {
        for errno in [Errno::NOLCK, Errno::OPNOTSUPP, Errno::NOSYS] {
            assert!(explained(errno).to_string().contains("does not support flock"), "{errno}");
        }
        assert!(!explained(Errno::IO).to_string().contains("does not support flock"));
    }
}
