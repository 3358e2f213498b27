//! `doctor`: what would go wrong here, and the command that mends it. Changes nothing.

mod remote;
mod repository;
mod session;

use super::Answer;
use crate::context::{Context, GlobalArgs};
use crate::domain::finding::{self, Finding};
use crate::domain::verdict::Verdict;
use crate::sys::{clock, git, man};

/// Runs `doctor`.
#[must_use]
pub fn run(global: &GlobalArgs) -> Answer {
    let mut findings = vec![git_version()];
    findings.extend(session::program());
    match Context::open(global) {
        Err(failure) => {
            let mut finding = Finding::problem("repository", failure.message);
            finding.remedy = failure.hints.into_iter().next();
            findings.push(finding);
        }
        Ok(context) => {
            findings.extend(repository::format(&context));
            findings.extend(remote::look(&context));
            findings.extend(session::look(&context));
            findings.extend(repository::state(&context));
        }
    }
    findings.push(man_pages());
    findings.push(completion());
    Answer::of(findings.into_iter().map(Verdict::Finding).collect())
}

fn git_version() -> Finding {
    let deadline = clock::deadline_in(std::time::Duration::from_secs(10));
    match git::run_anywhere(std::path::Path::new("/"), &["version"], deadline) {
        Ok(answer) => finding::git(&answer.line(), git::OLDEST_GIT),
        Err(failure) => Finding::problem("git", failure.to_string()).mend("install git"),
    }
}

fn man_pages() -> Finding {
    const CHECK: &str = "man-pages";
    if man::locate("git-aitask-lock").is_some() {
        return Finding::ok(CHECK, "git help aitask-lock finds them");
    }
    let names: Vec<&str> = man::PAGES.iter().map(|(name, _)| *name).collect();
    match man::beside_the_program() {
        Some(folder) if man::present(&folder, &names) > 0 => {
            Finding::note(CHECK, format!("they are in {}, where man does not look", folder.display()))
                .mend("git aitask-lock man")
        }
        _ => Finding::note(CHECK, "they are missing: git help aitask-lock finds nothing")
            .mend("git aitask-lock man --install"),
    }
}

/// Whether a shell has loaded it cannot be seen from here.
fn completion() -> Finding {
    let shell = std::env::var("SHELL").unwrap_or_default();
    let name = shell.rsplit('/').next().unwrap_or_default();
    let text = match name {
        "bash" => "for bash: source <(git aitask-lock completions bash)",
        "zsh" => "for zsh: source <(git aitask-lock completions zsh)",
        "fish" => "for fish: git aitask-lock completions fish | source",
        _ => "for bash, zsh and fish: git aitask-lock completions <shell>",
    };
    Finding::ok("completion", text)
}
