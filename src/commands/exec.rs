//! `exec`: run a command as a session of its own.

use std::ffi::OsString;

use super::Answer;
use crate::domain::failure::{Failure, FailureKind};
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
/// The command cannot be started.
pub fn run(args: &Args) -> Result<Answer, Failure> {
    let error = replace::with_session(&args.command);
    let name = args.command.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Err(Failure::new(FailureKind::Fatal, format!("cannot run {name}: {error}")).detail("exec"))
}
