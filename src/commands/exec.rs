//! `exec`: run a command as a session of its own.

use std::ffi::OsString;

use super::Answer;
use crate::domain::failure::{Failure, FailureKind};
use crate::domain::verdict::Verdict;
use crate::sys::replace;

/// Arguments of `exec`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// Runs `exec`: on success this process becomes the command, and `AIT_AGENT_PID` names it.
///
/// # Errors
/// None: a command that cannot be started is told with the exit codes of shells.
pub fn run(args: &Args) -> Result<Answer, Failure> {
    let error = replace::with_session(&args.command);
    let name = args.command.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let failure = Failure::new(FailureKind::Fatal, format!("cannot run {name}: {error}")).detail("exec");
    // As shells and `env` tell it: not found, or found and not to be run.
    let exit = if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 };
    Ok(Answer::with_exit(vec![Verdict::LockError(failure)], exit))
}
