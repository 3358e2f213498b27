//! Which branch a merge goes into: what names one is gathered here, and a first answer is told.

use super::again::Again;
use super::desk::Desk;
use super::root::{self, git_there, quoted};
use crate::domain::merge::branch::{full_name, short_name};
use crate::domain::merge::into::{self, Chosen, Elsewhere, Named, Why};
use crate::domain::merge::verdict::{MergeVerdict, Refusal};
use crate::domain::task_branch;
use crate::sys::files;
use crate::sys::git::GitFailure;
use crate::sys::git::worktree::MergeRoot;

/// The setting that names the branch for good.
pub const SETTING: &str = "aitask-lock.mergeInto";

/// The file, beside the reservation, that keeps the last answer, so that another one is told.
const LAST: &str = "merge-into";

/// Gathers what names a branch to merge into. `asked` is a full name, and `head` the branch that HEAD of
/// the shared root names or will name.
///
/// # Errors
/// git cannot tell.
pub fn named(
    desk: &Desk<'_>,
    root: &MergeRoot,
    asked: Option<String>,
    head: Option<String>,
) -> Result<Named, GitFailure> {
    let mut named = Named { asked, head, ..Named::default() };
    if named.asked.is_some() {
        return Ok(named);
    }
    let repo = &desk.context.repo;
    let setting = |key: &str| repo.config(key).filter(|name| !name.is_empty());
    named.setting = setting(SETTING).map(|name| full_name(&name));
    let remotes = repo.config_subsections("remote");
    let only = || remotes.first().filter(|_| remotes.len() == 1).cloned();
    let remote = [setting("aitask-lock.remote"), Some("origin".to_owned()), only()];
    let remote = remote.into_iter().flatten().find(|name| remotes.contains(name));
    if let Some(remote) = remote {
        let below = format!("refs/remotes/{remote}/");
        if let Some(target) = root.git.symbolic_ref(&format!("{below}HEAD"))?
            && let Some(name) = target.strip_prefix(&below)
        {
            named.remote_head = Some((remote, full_name(name)));
        }
    }
    let exists = |name: String| -> Result<Option<String>, GitFailure> {
        let full = full_name(&name);
        Ok(root.git.resolve_ref(&full)?.map(|_| full))
    };
    if let Some(name) = setting("init.defaultBranch") {
        named.default_branch = exists(name)?;
    }
    for name in ["main", "master"] {
        named.usual.extend(exists(name.to_owned())?);
    }
    Ok(named)
}

/// Decides which branch it is; where it cannot be that one, the refusal.
///
/// # Errors
/// git cannot tell.
pub fn settled(
    desk: &Desk<'_>,
    again: &Again<'_>,
    root: &MergeRoot,
    head: Option<String>,
) -> Result<Result<Chosen, Box<MergeVerdict>>, GitFailure> {
    let named = named(desk, root, again.into.map(full_name), head)?;
    Ok(match into::choose(&named) {
        Ok(chosen) => Ok(chosen),
        Err(elsewhere) => Err(Box::new(refusal(desk, again, root, &elsewhere)?)),
    })
}

/// The refusal, with the two commands that settle it.
fn refusal(
    desk: &Desk<'_>,
    again: &Again<'_>,
    root: &MergeRoot,
    elsewhere: &Elsewhere,
) -> Result<MergeVerdict, GitFailure> {
    let (head, wanted) = (short_name(&elsewhere.head), short_name(&elsewhere.wanted));
    if elsewhere.why == Why::Setting && root.git.resolve_ref(&elsewhere.wanted)?.is_none() {
        let why = format!("{SETTING} names {wanted}, and there is no such branch to merge into");
        let hints = vec![desk.context.repo.set_right(SETTING), again.into_branch(head)];
        let refusal = root::refusal(again.task, wanted, why);
        return Ok(MergeVerdict::PreflightMissing(Refusal { hints, kept: false, ..refusal }));
    }
    let back = format!("{} switch --no-overwrite-ignore {}", git_there(root), quoted(&elsewhere.wanted));
    // A task's own branch is nothing to merge the task into.
    let named = if task_branch::names_task(head, again.task) {
        format!("or name the branch, and it is checked out: {}", again.into_branch(wanted))
    } else {
        format!("if {head} is meant, say so: {}", again.into_branch(head))
    };
    Ok(MergeVerdict::PreflightHeadMismatch(Refusal {
        hints: vec![format!("to merge into {wanted}, put the root on it: {back}"), named],
        into: Some(elsewhere.wanted.clone().into()),
        kept: false,
        ..root::refusal(again.task, head, elsewhere.sentence())
    }))
}

/// Says which branch it is, and why, unless that is as it was last time.
pub fn tell(desk: &Desk<'_>, chosen: &Chosen) {
    let Some(branch) = chosen.branch.as_deref().map(short_name).filter(|_| chosen.why != Why::Asked) else {
        return;
    };
    let why = chosen.why.phrase();
    let line = format!("{branch} {why}\n");
    let last = desk.mutex.folder().join(LAST);
    let known = files::read_bounded(&last, 4096).ok().flatten();
    if known.as_deref() == Some(line.as_bytes()) && chosen.why != Why::OnlyHead {
        return;
    }
    // Where it cannot be written, it is told once more.
    _ = files::replace(desk.mutex.folder(), LAST, line.as_bytes());
    let is = format!("merges go into {branch}, the branch that {why}");
    if chosen.why == Why::OnlyHead {
        desk.remark(Some(format!("{is}; to name it for good: git config {SETTING} {}", quoted(branch))));
    } else {
        desk.note(is);
    }
}
