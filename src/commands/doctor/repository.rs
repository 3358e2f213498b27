//! The repository: its format, what lies about in it, and whether it can be written.

use std::path::{Path, PathBuf};

use super::super::hook;
use crate::context::Context;
use crate::domain::finding::{self, Finding};
use crate::domain::merge::rules::Seen;
use crate::store::mutex::Mutex;
use crate::store::queue;
use crate::sys::{files, flock, place};

/// Which repository, in which format.
pub fn format(context: &Context) -> Vec<Finding> {
    const CHECK: &str = "repository";
    let repo = &context.repo;
    let mut findings = Vec::new();
    let hash = repo.gix.object_hash();
    let references = if repo.reftable { "reftable" } else { "files" };
    let kind = if repo.gix.is_shallow().unwrap_or(false) { ", shallow" } else { "" };
    let text = format!("{} ({hash}, references in {references}{kind})", repo.common_dir.display());
    findings.push(Finding::ok(CHECK, text));
    if repo.reftable {
        findings.push(Finding::note(
            CHECK,
            "references go through git itself: each command takes a little longer",
        ));
    }
    if let Some(worktree) = checked_out_at(context) {
        let named = match &worktree {
            Ok(folder) => folder.display().to_string(),
            Err(missing) => (*missing).to_owned(),
        };
        let text =
            format!("the lock branch is checked out in {named}, where it looks changed after every claim");
        let finding = Finding::note("worktree", text);
        findings.push(match worktree {
            Ok(folder) => finding.mend(format!("git -C {} switch --detach", quoted(&folder))),
            Err(_) => finding.mend("git worktree prune"),
        });
    }
    findings
}

/// The worktree that has the lock branch checked out; its folder where it is known.
fn checked_out_at(context: &Context) -> Option<Result<PathBuf, &'static str>> {
    let gix = &context.repo.gix;
    let is_branch = |git_dir: &Path| {
        let head = files::read_bounded(&git_dir.join("HEAD"), 4096).ok().flatten().unwrap_or_default();
        String::from_utf8_lossy(&head).trim() == format!("ref: {}", context.branch)
    };
    if is_branch(&context.repo.common_dir) && !gix.is_bare() {
        let main = gix.main_repo().ok().and_then(|main| main.workdir().map(Path::to_owned));
        return Some(main.ok_or("the main worktree"));
    }
    let proxies = gix.worktrees().unwrap_or_default();
    let found = proxies.into_iter().find(|proxy| is_branch(proxy.git_dir()))?;
    let folder = found.base().ok().filter(|folder| folder.exists());
    Some(folder.ok_or("a worktree that is missing"))
}

/// File system, permissions, leftovers, hooks.
pub fn state(context: &Context) -> Vec<Finding> {
    let common = &context.repo.common_dir;
    let kind = place::mounts().and_then(|mounts| finding::mount_of(&mounts, &common.to_string_lossy()));
    let locked = flock::try_flock(common).map(drop).map_err(|error| error.to_string());
    let mut findings = vec![finding::file_system(kind.as_deref(), locked), writable(common)];
    findings.extend(leftovers(&Mutex::new(common)));
    findings.extend(stuck_references(context));
    findings.push(hooks(context));
    findings
}

fn writable(common: &Path) -> Finding {
    const CHECK: &str = "writable";
    for folder in [common.to_owned(), common.join("objects"), common.join("refs"), common.join("aitask-lock")]
    {
        if folder.is_file() {
            continue;
        }
        if let Some(why) = place::not_writable(&folder) {
            return Finding::problem(CHECK, format!("{} cannot be written: {why}", folder.display()))
                .mend(format!("ls -ld {}", quoted(&folder)));
        }
    }
    Finding::ok(CHECK, "the common git directory can be written")
}

/// What an interrupted command may have left of the merge mutex.
fn leftovers(mutex: &Mutex) -> Vec<Finding> {
    const CHECK: &str = "leftovers";
    let folder = mutex.folder();
    let mut findings = Vec::new();
    if let Ok(Some(_)) = mutex.leaked_guard() {
        let text = "a guard of the merge mutex is left over from a recovery that was killed";
        findings.push(Finding::problem(CHECK, text).mend(mutex.remove_guard()));
    }
    let queue = folder.join(queue::FOLDER);
    for place in [folder, &queue] {
        if place.symlink_metadata().is_ok_and(|data| !data.is_dir()) {
            let text = format!("{} stands where a folder of ours belongs", place.display());
            let away = format!("mv {} {}", quoted(place), quoted(&files::free_name(place)));
            findings.push(Finding::problem(CHECK, text).mend(away));
        }
    }
    if let Ok(look) = mutex.look()
        && let Seen::Unreadable(damage) = look.seen
    {
        let text = format!("the merge reservation is held, but {damage}: nobody gets it");
        findings.push(Finding::problem(CHECK, text).mend("git aitask-lock merge force-release"));
    }
    let names = place::names(folder);
    for name in names.into_iter().filter(|name| files::is_temporary(name)) {
        let path = folder.join(&name);
        let text = format!("{} is left over from a command that was killed", path.display());
        findings.push(Finding::note(CHECK, text).mend(format!("rm {}", quoted(&path))));
    }
    let dead = |name: &std::ffi::OsString| matches!(flock::is_held(&queue.join(name)), Ok(false));
    let dead = place::names(&queue).into_iter().filter(dead).count();
    if dead > 0 {
        let text = format!("{dead} waiter(s) of the merge queue were killed; the next one clears them away");
        findings.push(Finding::note(CHECK, text));
    }
    if findings.is_empty() {
        findings.push(Finding::ok(CHECK, "nothing is left over from commands that were killed"));
    }
    findings
}

/// Lock files of references of ours, left by a git that was killed.
fn stuck_references(context: &Context) -> Vec<Finding> {
    let common = &context.repo.common_dir;
    let mut files = vec![common.join(format!("{}.lock", context.branch)), common.join("packed-refs.lock")];
    let known = common.join("refs/aitask-lock/known");
    let locks = place::names(&known).into_iter().filter(|name| name.as_encoded_bytes().ends_with(b".lock"));
    files.extend(locks.map(|name| known.join(name)));
    let stuck = files.into_iter().filter(|file| file.exists());
    let finding = |file: std::path::PathBuf| {
        let text = format!(
            "{} keeps a reference locked; if no git command is running here, it is left over",
            file.display()
        );
        Finding::problem("references", text).mend(format!("rm {}", quoted(&file)))
    };
    let mut findings: Vec<Finding> = stuck.map(finding).collect();
    if matches!(context.arbiter(), Ok(None)) {
        findings.extend(below(context));
    }
    findings
}

/// Branches whose names leave no place for the lock branch.
fn below(context: &Context) -> Vec<Finding> {
    let folder = format!("{}/", context.branch_name());
    let branches = context.git().branches().unwrap_or_default();
    let below = branches.into_iter().filter(|branch| branch.name.starts_with(&folder));
    let finding = |name: &str| {
        let text = format!("the branch {name} leaves no place for the lock branch");
        let (old, new) = (Path::new(name), name.replacen('/', "-", 1));
        let rename = format!("git branch -m {} {}", quoted(old), quoted(Path::new(&new)));
        Finding::problem("references", text).mend(rename)
    };
    below.map(|branch| finding(&branch.name)).collect()
}

fn hooks(context: &Context) -> Finding {
    const CHECK: &str = "hooks";
    let asked = hook::Args { command: hook::HookCommand::Status };
    match hook::run(context, &asked) {
        Ok(answer) if answer.exit == 0 => Finding::ok(CHECK, "installed"),
        Ok(_) => {
            let text = "not in force: commits by hand in the shared root are not held up while somebody merges \
                        (git aitask-lock hook install)";
            Finding::ok(CHECK, text)
        }
        Err(failure) => Finding::note(CHECK, failure.message),
    }
}

fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    shlex::try_quote(&text).map_or_else(|_| "<the file>".to_owned(), std::borrow::Cow::into_owned)
}
