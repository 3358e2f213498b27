//! The only door to signal handlers: the signals that end us must end a running child too.
//!
//! A child runs in a process group of its own, so Ctrl-C on the terminal reaches only us. Handlers
//! are installed when the first child starts and stay, because a handler that was unregistered
//! would swallow the signal. While no child runs they do what would have happened without them.

use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use crate::sys::process;

/// The signals with which people, terminals and supervisors end a command.
const ENDING: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];

/// True while no child runs: a signal then ends us as if there were no handler.
static IDLE: AtomicBool = AtomicBool::new(true);
/// The last ending signal that arrived while a child ran; 0 for none.
static RECEIVED: AtomicUsize = AtomicUsize::new(0);
/// Only there to have a handler for SIGCHLD.
static CHILD_ENDED: AtomicBool = AtomicBool::new(false);
/// What has to be undone before a signal ends us, such as a screen of our own.
static UNDO: Mutex<Option<fn()>> = Mutex::new(None);
static STATE: Mutex<State> = Mutex::new(State { watching: 0, wake: None });

struct State {
    /// Children that run now; more than one only with threads.
    watching: usize,
    /// Readable once a signal has arrived; kept unread until the last child is done, so that
    /// everybody sees it.
    wake: Option<Arc<UnixStream>>,
}

/// Holds the ending signals back while a child runs.
pub struct Watch {
    wake: Arc<UnixStream>,
    over: bool,
}

impl Watch {
    /// Starts to hold the signals back.
    ///
    /// # Errors
    /// When the handlers cannot be installed.
    pub fn start() -> io::Result<Self> {
        let mut state = state();
        let wake = match &state.wake {
            Some(wake) => Arc::clone(wake),
            None => Arc::clone(state.wake.insert(Arc::new(install()?))),
        };
        state.watching += 1;
        IDLE.store(false, Ordering::SeqCst);
        Ok(Self { wake, over: false })
    }

    /// Polls readable once a signal has arrived. Not to be read.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// The signal that has arrived, if any.
    pub fn received(&self) -> Option<i32> {
        signal(RECEIVED.load(Ordering::SeqCst))
    }

    /// Ends the watch and hands over the signal that arrived during it. The caller ends with it
    /// ([`die_of`]): nobody else will.
    pub fn finish(mut self) -> Option<i32> {
        self.over = true;
        self.leave()
    }

    fn leave(&self) -> Option<i32> {
        let mut state = state();
        state.watching = state.watching.saturating_sub(1);
        if state.watching > 0 {
            return self.received();
        }
        // Before the look: a signal from here on ends us by itself.
        IDLE.store(true, Ordering::SeqCst);
        let received = RECEIVED.swap(0, Ordering::SeqCst);
        let mut unread = [0; 64];
        while matches!((&*self.wake).read(&mut unread), Ok(count) if count > 0) {}
        signal(received)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.over
            && let Some(signal) = self.leave()
        {
            // Nobody asked for it, and it must not be lost.
            die_of(signal);
        }
    }
}

/// Sets what is called before [`die_of`] ends this process.
pub fn before_dying(undo: fn()) {
    *UNDO.lock().unwrap_or_else(PoisonError::into_inner) = Some(undo);
}

/// Ends this process the way `signal` would have.
pub fn die_of(signal: i32) -> ! {
    let undo = UNDO.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(undo) = undo {
        undo();
    }
    // Returns only for a signal it does not know.
    _ = signal_hook::low_level::emulate_default_handler(signal);
    std::process::exit(128 + signal)
}

fn install() -> io::Result<UnixStream> {
    let (reader, writer) = UnixStream::pair()?;
    reader.set_nonblocking(true)?;
    let ignored = ignored_signals();
    for signal in ENDING {
        // `nohup` and shells that start a background job ask us to ignore some: that stays.
        if ignores(ignored, signal) {
            continue;
        }
        // Actions run in this order. The note comes first: a watch that ends between the actions
        // sees the note, or the last action sees that nobody watches any more.
        let value = usize::try_from(signal).unwrap_or_default();
        signal_hook::flag::register_usize(signal, &RECEIVED, value)?;
        signal_hook::low_level::pipe::register(signal, writer.try_clone()?)?;
        signal_hook::flag::register_conditional_default(signal, &IDLE)?;
    }
    if ignores(ignored, SIGCHLD) {
        // With SIGCHLD ignored the kernel would reap our children and lose how they ended.
        signal_hook::flag::register(SIGCHLD, &CHILD_ENDED)?;
    }
    Ok(reader)
}

/// The signals we were started to ignore, bit `n - 1` for signal `n`; none where that cannot be seen.
fn ignored_signals() -> u64 {
    process::own_status("SigIgn:").and_then(|mask| u64::from_str_radix(&mask, 16).ok()).unwrap_or(0)
}

fn ignores(mask: u64, signal: i32) -> bool {
    u32::try_from(signal - 1).ok().and_then(|bit| mask.checked_shr(bit)).is_some_and(|rest| rest & 1 == 1)
}

fn signal(number: usize) -> Option<i32> {
    i32::try_from(number).ok().filter(|&number| number != 0)
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}
