//! Becomes another program: the one way in which a session can name its own process for sure.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Replaces this process by `command`, with `AIT_AGENT_PID` naming it: the process id stays the same.
/// Returns only when that failed.
#[must_use]
pub fn with_session(command: &[OsString]) -> io::Error {
    let Some((program, args)) = command.split_first() else {
        return io::Error::new(io::ErrorKind::InvalidInput, "no command was given");
    };
    Command::new(program).args(args).env("AIT_AGENT_PID", std::process::id().to_string()).exec()
}
