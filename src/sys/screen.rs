//! A screen of our own: the terminal's alternate one, with keys read one by one. However this process
//! ends, short of SIGKILL, the terminal is left as it was.

use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, Once, PoisonError};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

use super::clock;
use super::signals::{self, Watch};

/// The terminal's settings while a screen is up.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);
static HOOK: Once = Once::new();

/// Alternate screen, no cursor, no wrapping of long lines.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
const LEAVE: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";

/// Whether there is a terminal to have a screen on.
#[must_use]
pub fn possible() -> bool {
    let able = std::env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb");
    able && io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// What woke a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// The time has come.
    Due,
    /// A key.
    Key(u8),
    /// The terminal has another size now.
    Resized,
    /// This signal is to end us.
    Signal(i32),
    /// Nobody reads or types there any more.
    Closed,
}

/// A screen that is up until it is dropped.
pub struct Screen {
    watch: Option<Watch>,
    resized: UnixStream,
}

impl Screen {
    /// Takes the terminal over.
    ///
    /// # Errors
    /// It is no terminal, or signals cannot be watched.
    pub fn enter() -> io::Result<Self> {
        let watch = Watch::start()?;
        let (resized, writer) = UnixStream::pair()?;
        resized.set_nonblocking(true)?;
        signal_hook::low_level::pipe::register(signal_hook::consts::SIGWINCH, writer)?;
        let stdin = io::stdin();
        let before = tcgetattr(&stdin)?;
        let mut raw = before.clone();
        raw.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        raw.special_codes[SpecialCodeIndex::VMIN] = 1;
        raw.special_codes[SpecialCodeIndex::VTIME] = 0;
        // A stopped screen would leave the shell on the alternate one: Ctrl-Z does nothing here.
        raw.special_codes[SpecialCodeIndex::VSUSP] = 0;
        *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
        HOOK.call_once(|| {
            let report = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |info| {
                restore();
                report(info);
            }));
        });
        signals::before_dying(restore);
        tcsetattr(&stdin, OptionalActions::Flush, &raw)?;
        write(ENTER)?;
        Ok(Self { watch: Some(watch), resized })
    }

    /// Shows lines, from the top; what is longer than the terminal is cut by it.
    ///
    /// # Errors
    /// The terminal cannot be written.
    pub fn draw(&self, lines: &[String]) -> io::Result<()> {
        let mut text = String::from("\x1b[H");
        for (index, line) in lines.iter().enumerate() {
            if index > 0 {
                text.push_str("\r\n");
            }
            text.push_str(line);
            text.push_str("\x1b[0m\x1b[K");
        }
        text.push_str("\x1b[J");
        write(&text)
    }

    /// Waits for a key, a new size, a signal, or `until`.
    #[must_use]
    pub fn wait(&self, until: Instant) -> Woken {
        let stdin = io::stdin();
        loop {
            if let Some(signal) = self.watch.as_ref().and_then(Watch::received) {
                return Woken::Signal(signal);
            }
            let left = clock::remaining(until);
            if left.is_zero() {
                return Woken::Due;
            }
            let mut fds = vec![PollFd::new(&stdin, PollFlags::IN), PollFd::new(&self.resized, PollFlags::IN)];
            fds.extend(self.watch.as_ref().map(|watch| PollFd::from_borrowed_fd(watch.fd(), PollFlags::IN)));
            match poll(&mut fds, Timespec::try_from(left).ok().as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(_) => return Woken::Closed,
            }
            let ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
            let mut unread = [0; 64];
            if ready.get(1) == Some(&true)
                && matches!((&self.resized).read(&mut unread), Ok(count) if count > 0)
            {
                return Woken::Resized;
            }
            if ready.first() == Some(&true) {
                let mut key = [0; 1];
                return match rustix::io::read(stdin.as_fd(), &mut key) {
                    Ok(1) => Woken::Key(key[0]),
                    Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => continue,
                    Ok(_) | Err(_) => Woken::Closed,
                };
            }
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
        if let Some(signal) = self.watch.take().and_then(Watch::finish) {
            signals::die_of(signal);
        }
    }
}

/// Puts the terminal back, once.
fn restore() {
    let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(before) = before {
        let _gone = write(LEAVE);
        let _gone = tcsetattr(io::stdin(), OptionalActions::Flush, &before);
    }
}

fn write(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}
