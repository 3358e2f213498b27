//! `anchor`: which process a lock taken here would name, and why.

use super::Answer;
use crate::context::{Context, GlobalArgs};
use crate::domain::anchor::TokenKind;
use crate::domain::failure::Failure;
use crate::domain::verdict::{AnchorReport, Verdict};
use crate::sys::anchor::{self, AnchorEnv};
use crate::sys::{host, process};

/// Runs `anchor`. It works outside of a repository as well; only the host's pinned name is read there.
///
/// # Errors
/// None of its own.
pub fn run(global: &GlobalArgs) -> Result<Answer, Failure> {
    let found = match Context::open(global) {
        Ok(context) => context.session(),
        Err(_) => anchor::resolve(host::here(None), &AnchorEnv::from_env()),
    };
    let tried = found.candidates.iter().map(ToString::to_string).collect();
    let verdict = match &found.session.process {
        None => Verdict::NoSessionAnchor { tried },
        Some(anchor) => Verdict::Anchor(AnchorReport {
            pid: anchor.pid,
            program: process::comm(anchor.pid),
            source: anchor.source,
            strong: anchor.token.as_ref().is_some_and(|token| token.kind == TokenKind::Proc),
            hostname: found.session.here.hostname.clone(),
            tried,
        }),
    };
    let warnings = found.warnings.iter().map(ToString::to_string);
    let notes = found.notes.iter().map(ToString::to_string);
    Ok(Answer::of(vec![verdict]).warn(warnings).note(notes))
}
