//! Long answers page by page, the way git does it.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::git;
use super::signals::{Watch, die_of};
use crate::sys::clock;

/// How long git may take to say which pager is configured.
const QUESTION_LIMIT: Duration = Duration::from_secs(5);

/// The pager: `GIT_PAGER`, `core.pager`, `PAGER`, `less`. `None` when the user wants none, which is
/// also how `git --no-pager` arrives: `GIT_PAGER=cat`.
#[must_use]
pub fn wanted(directory: &Path) -> Option<String> {
    let variable = |name| std::env::var(name).ok();
    let configured = || {
        let deadline = clock::deadline_in(QUESTION_LIMIT);
        let answer = git::run_anywhere(directory, &["config", "--get", "core.pager"], deadline).ok()?;
        answer.ok().then(|| answer.line())
    };
    let pager = variable("GIT_PAGER").or_else(configured).or_else(|| variable("PAGER"));
    let pager = pager.unwrap_or_else(|| "less".to_owned());
    (!pager.trim().is_empty() && pager.trim() != "cat").then_some(pager)
}

/// Shows a text in a pager and waits until the reader is done. Whether it was shown.
#[must_use]
pub fn show(pager: &str, text: &str) -> bool {
    // Ctrl-C is the pager's while it runs: ending before it would leave it fighting the shell for
    // the keyboard.
    let Ok(watch) = Watch::start() else { return false };
    let mut command = Command::new("sh");
    command.arg("-c").arg(pager).stdin(Stdio::piped());
    for (name, value) in [("LESS", "FRX"), ("LV", "-c")] {
        if std::env::var_os(name).is_none() {
            command.env(name, value);
        }
    }
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut stdin) = child.stdin.take() {
        // A reader that has seen enough closes the pipe.
        let _enough = stdin.write_all(text.as_bytes());
    }
    // 127: the shell found no such program.
    let shown = child.wait().is_ok_and(|status| status.code() != Some(127));
    if let Some(signal) = watch.finish()
        && signal != signal_hook::consts::SIGINT
    {
        die_of(signal);
    }
    shown
}
