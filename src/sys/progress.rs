//! The only door through which a command that is still running talks: lines on standard error, or one
//! line that is written over on a terminal.

use std::io::{IsTerminal as _, Write as _};

/// What a spinner shows, one after the other.
const FRAMES: [char; 4] = ['|', '/', '-', '\\'];

/// Talk on standard error. What cannot be written is left unsaid.
pub struct Progress {
    quiet: bool,
    animated: bool,
    frame: usize,
    shown: bool,
}

impl Progress {
    /// Talk, or none at all.
    #[must_use]
    pub fn new(quiet: bool) -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        Self { quiet, animated: !quiet && !dumb && std::io::stderr().is_terminal(), frame: 0, shown: false }
    }

    /// Whether a person watches a line that moves.
    #[must_use]
    pub fn is_animated(&self) -> bool {
        self.animated
    }

    /// A line of its own. It holds nothing of others: no control characters.
    pub fn line(&self, text: &str) {
        if !self.quiet {
            _ = writeln!(std::io::stderr(), "{text}");
        }
    }

    /// The moving line, with what is to be said now.
    pub fn spin(&mut self, text: &str) {
        let frame = FRAMES.get(self.frame % FRAMES.len()).copied().unwrap_or(' ');
        self.frame = self.frame.wrapping_add(1);
        self.shown = true;
        let mut stderr = std::io::stderr();
        _ = write!(stderr, "\r\x1b[K{frame} {text}");
        _ = stderr.flush();
    }

    /// Takes the moving line away.
    pub fn clear(&mut self) {
        if self.shown {
            self.shown = false;
            _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
