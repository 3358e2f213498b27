//! The arbiter: which, reachable, writable, and the branch on it.

use super::super::explain;
use super::super::locks::Store;
use crate::context::Context;
use crate::domain::failure::Failure;
use crate::domain::finding::Finding;
use crate::owner;
use crate::store::{Snapshot, StoreError, compact};
use crate::sys::git::push::PushAnswer;
use crate::sys::git::remote::Arbiter;

/// From how many commits on a history is called long: a new clone notices some 10,000.
const LONG_HISTORY: usize = 10_000;

/// Looks at the place that decides who holds a lock.
pub fn look(context: &Context) -> Vec<Finding> {
    let arbiter = match context.arbiter() {
        Err(failure) => return vec![of_failure("remote", failure)],
        Ok(None) => {
            let text = "there is none: the branch of this repository decides, and other clones see no lock";
            return vec![Finding::ok("remote", text), branch(context).0];
        }
        Ok(Some(arbiter)) => arbiter,
    };
    let remote = Finding::ok("remote", format!("{} decides who holds a lock", arbiter.label()));
    let (branch, snapshot) = branch(context);
    let mut findings = vec![remote, branch];
    findings.extend(snapshot.map(|snapshot| write(context, &arbiter, &snapshot)));
    findings
}

/// A failure as a finding, with its first hint as the remedy.
fn of_failure(check: &'static str, failure: Failure) -> Finding {
    let mut finding = Finding::problem(check, failure.message);
    finding.remedy = failure.hints.into_iter().next();
    finding
}

fn branch(context: &Context) -> (Finding, Option<Snapshot>) {
    const CHECK: &str = "branch";
    let name = context.branch_name();
    let asker = context.owner(None).unwrap_or_else(|_| "nobody".to_owned());
    let (signer, email) = owner::committer(&context.repo, &asker);
    let mut store = match Store::open(context, (&signer, &email)) {
        Ok(store) => store,
        Err(failure) => return (of_failure(CHECK, failure), None),
    };
    match store.read() {
        Ok(snapshot) => {
            let locks = snapshot.entries().len();
            let plural = if locks == 1 { "lock" } else { "locks" };
            let tip = snapshot.base.as_ref().map(|base| base.commit);
            let commits = tip.map_or(0, |tip| compact::length(&context.repo.gix, tip, LONG_HISTORY));
            let finding = if commits < LONG_HISTORY {
                Finding::ok(CHECK, format!("{name} can be read: {locks} {plural}"))
            } else {
                let text = format!(
                    "{name} can be read: {locks} {plural}; its history is long ({LONG_HISTORY} commits or more), and every new clone fetches all of it"
                );
                Finding::note(CHECK, text).mend("git aitask-lock init --compact")
            };
            (finding, Some(snapshot))
        }
        Err(StoreError::BranchMissing { deleted: false }) => {
            let finding =
                Finding::note(CHECK, format!("there is no branch {name} yet; the first claim creates it"))
                    .mend("git aitask-lock init");
            let none = Snapshot { base: None, lease: None, current: true };
            (finding, Some(none))
        }
        Err(error) => (of_failure(CHECK, explain::store_error(context, &error, &[])), None),
    }
}

/// A push that only pretends: it connects and is authorized like a real one. What the server's hooks
/// would say is known only to them.
fn write(context: &Context, arbiter: &Arbiter, snapshot: &Snapshot) -> Finding {
    const CHECK: &str = "write";
    let head = || context.repo.gix.head_id().ok().map(gix::Id::detach);
    let base = snapshot.base.as_ref().map(|base| base.commit);
    let Some(commit) = snapshot.lease.or(base).or_else(head) else {
        return Finding::note(CHECK, "there is no commit yet to try a push with");
    };
    let lease = snapshot.lease.map(|lease| lease.to_string());
    let git = context.git();
    match git.try_push(arbiter, &commit.to_string(), &context.branch, lease.as_deref()) {
        Ok(pushed) => match pushed.answer {
            PushAnswer::Moved | PushAnswer::UpToDate => Finding::ok(
                CHECK,
                format!("{} takes a push (dry run; its hooks are not asked)", arbiter.label()),
            ),
            // Somebody was faster than the dry run: it is being written all the time.
            PushAnswer::Stale => Finding::ok(CHECK, "the branch is being written right now"),
            PushAnswer::Rejected { reason } => {
                Finding::problem(CHECK, format!("a push would be refused: {reason}"))
            }
            PushAnswer::Silent => Finding::problem(CHECK, format!("a push would fail: {}", pushed.said)),
        },
        Err(failure) => of_failure(CHECK, explain::store_error(context, &StoreError::Push(failure), &[])),
    }
}
