//! Runs the command that says whether a merge is good, in the shared root.

use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::child::{self, End};
use super::git::environment::REPOSITORY_VARIABLES;
use super::progress::Progress;

/// Between two lines that say how long it has been running.
const EVERY: Duration = Duration::from_secs(10);

/// Runs a shell command in a folder until it ends or `deadline` passes, and says now and then how long it
/// has been running. Its output goes to standard error. `None` is success, else how it ended, in words.
#[must_use]
pub fn run(folder: &Path, line: &str, deadline: Instant, label: &str, progress: &Progress) -> Option<String> {
    let mut command = Command::new("sh");
    command.arg("-c").arg(line).current_dir(folder);
    for name in REPOSITORY_VARIABLES {
        command.env_remove(name);
    }
    let started = Instant::now();
    let (done, ended) = channel::<()>();
    let end = std::thread::scope(|scope| {
        scope.spawn(move || {
            loop {
                progress.line(&format!("VERIFYING:{label}:{}", started.elapsed().as_secs()));
                if ended.recv_timeout(EVERY) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        });
        let end = child::run_shown(command, deadline);
        drop(done);
        end
    });
    match end {
        Ok(End::Exited(0)) => None,
        Ok(End::Exited(code)) => Some(format!("ended with exit status {code}")),
        Ok(End::Signalled(signal)) => Some(format!("was ended by signal {signal}")),
        Ok(End::TimedOut) => Some("did not end within the time limit".to_owned()),
        Ok(End::Interrupted(signal)) => child::die_of(signal),
        Err(error) => Some(error.to_string()),
    }
}
