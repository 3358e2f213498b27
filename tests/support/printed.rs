//! The record of printed commands that were run as they were printed.

use std::sync::Mutex;

static RUN: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Takes down that a command was run. One with a placeholder is taken down as it was printed.
pub fn ran(command: impl Into<String>) {
    RUN.lock().unwrap().push(command.into());
}

/// Everything that was run so far.
pub fn all() -> Vec<String> {
    RUN.lock().unwrap().clone()
}
