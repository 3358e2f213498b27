//! Who a lock would name: the owner, the session's process, the host; and which program answers.

use crate::context::Context;
use crate::domain::anchor::Here;
use crate::domain::finding::Finding;
use crate::sys::anchor::Resolution;
use crate::sys::{process, program};

/// Whether `git aitask-lock` is this program.
pub fn program() -> Option<Finding> {
    const CHECK: &str = "program";
    let own = program::own()?;
    Some(match program::on_path("git-aitask-lock") {
        Some(found) if found == own => {
            Finding::ok(CHECK, format!("{} {}", own.display(), env!("AITASK_LOCK_VERSION")))
        }
        Some(found) => Finding::note(
            CHECK,
            format!("git aitask-lock starts {}, and this is {}", found.display(), own.display()),
        ),
        None => Finding::problem(
            CHECK,
            format!("{} is in no folder of PATH: git does not find it", own.display()),
        )
        .mend(format!("export PATH={}:\"$PATH\"", crate::sys::shell::quote(own.parent().unwrap_or(&own)))),
    })
}

/// Looks at what a lock would record.
pub fn look(context: &Context) -> Vec<Finding> {
    let owner = match context.owner(None) {
        Ok(owner) => Finding::ok("owner", format!("locks taken here are {owner}'s")),
        Err(failure) => {
            let mut finding = Finding::problem("owner", failure.message);
            finding.remedy = failure.hints.into_iter().next();
            finding
        }
    };
    let found = context.session();
    let mut findings = vec![owner, anchor(&found)];
    findings.extend(found.warnings.iter().map(|warning| Finding::note("anchor", warning.to_string())));
    findings.extend(found.notes.iter().map(|note| Finding::note("anchor", note.to_string())));
    findings.extend(host(&found.session.here));
    findings
}

fn anchor(found: &Resolution) -> Finding {
    const CHECK: &str = "anchor";
    let Some(anchor) = &found.session.process else {
        let text = "no process stands for this session: its locks cannot be told from those of a lost one, and \
                    a merge would be refused";
        return Finding::problem(CHECK, text)
            .mend("start the agent in a tmux pane, or through: git aitask-lock exec -- '<agent>'");
    };
    let name = process::comm(anchor.pid).map(|name| format!(" ({name})")).unwrap_or_default();
    let text = format!(
        "locks taken here name process {}{name}, found through {}",
        anchor.pid,
        anchor.source.as_str()
    );
    Finding::ok(CHECK, text)
}

fn host(here: &Here) -> Vec<Finding> {
    const CHECK: &str = "host";
    let mut findings = Vec::new();
    match &here.hostname {
        Some(name) => findings.push(Finding::ok(CHECK, format!("locks taken here name the host {name}"))),
        None => findings.push(
            Finding::note(
                CHECK,
                "this machine has no host name that a record can hold: a lock cannot say where it was taken",
            )
            .mend("git config --global aitask-lock.hostname '<name>'"),
        ),
    }
    if here.table.is_none() {
        let text = "the process table cannot be named here (no /proc): whether a session lives is often not to be told";
        findings.push(Finding::note(CHECK, text));
    } else if !here.initial_pid_namespace {
        let text = "this is a PID namespace of its own, as in a container: sessions outside of it cannot tell \
                    whether one in here lives, nor the other way round";
        findings.push(Finding::note(CHECK, text));
    }
    findings
}
