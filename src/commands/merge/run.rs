//! `merge run`: merge a task's branch in the shared root, under a reservation.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use super::again::Again;
use super::desk::{Desk, working_under};
use super::into;
use super::parked;
use super::root;
use crate::commands::Answer;
use crate::context::{Context, task_id};
use crate::domain::failure::{Failure, FailureKind};
use crate::domain::merge::branch::short_name;
use crate::domain::merge::options;
use crate::domain::merge::outcome::{self, Observed, Outcome, Remark};
use crate::domain::merge::preflight::{self, Plan};
use crate::domain::merge::reservation::Reservation;
use crate::domain::merge::verdict::{Conflict, Leftover, MergeFailed, MergeVerdict, Merged, Refusal};
use crate::domain::task_id::TaskId;
use crate::sys::git::lockfile::{self, LockFile};
use crate::sys::git::worktree::MergeRoot;
use crate::sys::git::{self, Git, GitFailure};
use crate::sys::{clock, shell};

/// How our own merge shows itself to our own hook: the reservation's ID.
pub const MARK: &str = "AITASK_LOCK_MERGE";

/// How long looking may take once a merge has ended, however long that took.
const LOOKING: Duration = Duration::from_secs(60);

/// The exit code of a merge without a reservation.
const NOT_THE_HOLDER: u8 = 25;

/// The exit code of a git that does not take its arguments.
const USAGE: i32 = 129;

/// Arguments of `merge run`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The task
    #[arg(value_name = "TASK", value_parser = task_id)]
    pub task: TaskId,
    /// The branch to merge; default: the one that is named after the task
    #[arg(value_name = "BRANCH")]
    pub branch: Option<String>,
    /// Options for git merge
    #[arg(last = true, value_name = "GIT_MERGE_OPTIONS", allow_hyphen_values = true)]
    pub options: Vec<OsString>,
}

/// Runs `merge run`. Without `--timeout`, the merge and its hooks may take as long as they like.
///
/// # Errors
/// What kept it from deciding.
pub fn run(context: &Context, args: &Args) -> Result<Answer, Failure> {
    check_options(&args.options)?;
    let desk = Desk::open(context);
    let reservation = match working_under(&desk, &args.task)? {
        Ok(reservation) => reservation,
        Err(refused) => return Ok(without(&desk, &args.task, refused)),
    };
    let ended = under(&desk, reservation, args.branch.as_deref(), &args.options)?;
    let mut answer = ended.answer;
    let branch = args.branch.as_deref();
    let again =
        Again { verb: "run", task: &args.task, branch, into: None, verify: None, options: &args.options };
    again.name_in_all(&mut answer.verdicts, true);
    Ok(answer)
}

/// Nothing to give back is done; nothing to merge under is a refusal.
fn without(desk: &Desk<'_>, task: &TaskId, refused: Answer) -> Answer {
    let not_held = refused.verdicts.iter().any(|verdict| verdict.word() == "NOT_HELD");
    if !not_held {
        return refused;
    }
    let next = desk.command(&format!("claim {task}"));
    Answer { exit: NOT_THE_HOLDER, ..refused }.note([format!("take it first: {next}")])
}

/// Refuses options that would make it something else than a merge.
///
/// # Errors
/// Says which.
pub fn check_options(given: &[OsString]) -> Result<(), Failure> {
    let texts: Vec<String> = given.iter().map(|option| option.to_string_lossy().into_owned()).collect();
    options::check(texts.iter().map(String::as_str))
        .map_err(|why| Failure::new(FailureKind::Usage, why.to_string()).hint("git aitask-lock merge run -h"))
}

/// How a merge ended.
pub struct Ended {
    /// What is told.
    pub answer: Answer,
    /// Whether it was refused before anything was touched.
    pub refused_before: bool,
    /// The commit that the output branch was at.
    pub tip_before: Option<String>,
}

impl Ended {
    fn refused(verdict: MergeVerdict) -> Self {
        Self { answer: Answer::of(vec![verdict.into()]), refused_before: true, tip_before: None }
    }
}

/// Merges under a reservation that this session holds.
///
/// # Errors
/// What kept it from deciding.
pub fn under(
    desk: &Desk<'_>,
    mut reservation: Reservation,
    branch: Option<&str>,
    options: &[OsString],
) -> Result<Ended, Failure> {
    let context = desk.context;
    let task = reservation.task.clone();
    let failed = |failure: GitFailure| root::git_failure(&task, &failure);
    let root = match root::find(desk, &task) {
        Ok(root) => root,
        Err(refused) => return Ok(Ended::refused(*refused)),
    };
    if reservation.output_branch.is_none() {
        let again = Again { verb: "run", task: &task, branch, into: None, verify: None, options };
        let head = root.git.head_branch().map_err(failed)?;
        match into::settled(desk, &again, &root, head).map_err(failed)? {
            Ok(chosen) => reservation.output_branch = chosen.branch,
            Err(refusal) => return Ok(Ended::refused(*refusal)),
        }
    }
    let output = reservation.output_branch.clone();
    let wanted = branch.map(str::to_owned).or_else(|| reservation.task_branch.clone());
    let facts = root::facts(context, &root, output.as_deref(), wanted.as_deref()).map_err(failed)?;
    let plan = match preflight::decide(&task, &facts) {
        Ok(plan) => plan,
        Err(refused) => {
            let whose = parked::parked(&root, &reservation, &facts.residue).map_err(failed)?;
            let mut told = root::told(desk, &task, refused, &root, facts.residue);
            if let MergeVerdict::StaleMergeResidue(stale) = &mut told
                && let Some(next) = parked::other_end(&root, &whose)
            {
                stale.next = vec![next];
            }
            return Ok(Ended::refused(told));
        }
    };
    // Also the last look at whether it still is ours.
    reservation.output_branch = Some(plan.output.clone());
    reservation.task_branch = Some(plan.task_branch.clone());
    desk.rewrite(&reservation)?;
    let limit =
        if context.global.timeout.is_some() { context.deadline() } else { clock::deadline_in(Duration::MAX) };
    // Before HEAD moves: a refusal changes nothing.
    let looking = root.git.until(clock::deadline_in(LOOKING));
    let ignored = overwritten(&looking, &plan.output, &plan.task_branch, options).map_err(failed)?;
    if !ignored.is_empty() {
        return Ok(Ended::refused(root::in_the_way(&task, &root, &ignored)));
    }
    if let Some(refused) = stand_on(&task, &root, &plan, limit).map_err(failed)? {
        return Ok(Ended::refused(refused));
    }
    let git = root.git.until(clock::deadline_in(LOOKING));
    let tips = (git.resolve_ref(&plan.output), git.resolve_ref(&plan.task_branch));
    let (tip_before, task_tip) = match tips {
        (Ok(Some(tip)), Ok(Some(task_tip))) => (tip, task_tip),
        (Err(failure), _) | (_, Err(failure)) => return Err(failed(failure)),
        _ => {
            let gone = preflight::Refused::NoTaskBranch(short_name(&plan.task_branch).to_owned());
            return Ok(Ended::refused(root::told(desk, &task, gone, &root, facts.residue)));
        }
    };

    // What is ignored may be another matter on this branch.
    let in_the_way = overwritten(&git, "HEAD", &task_tip, options).map_err(failed)?;
    if !in_the_way.is_empty() {
        return Ok(Ended::refused(root::in_the_way(&task, &root, &in_the_way)));
    }
    // What stands there later is compared with this, whatever becomes of the branch.
    reservation.task_tip = Some(task_tip.clone());
    desk.rewrite(&reservation)?;
    let merged = root.git.until(limit).merge(&plan.task_branch, options, (MARK, &reservation.id));

    let looking = root.git.until(clock::deadline_in(LOOKING));
    let mut observed = observe(&looking, &plan, tip_before, task_tip).map_err(failed)?;
    let leftover = sweep(&looking, &plan, &mut observed).map_err(failed)?;
    // git refused its own options, before anything was touched.
    if let Ok(answer) = &merged
        && answer.code == USAGE
        && observed.residue.is_clean()
        && observed.tip.as_ref() == Some(&observed.tip_before)
    {
        let words = [&answer.stdout[..], &answer.stderr[..]].concat();
        let words = String::from_utf8_lossy(&words).into_owned();
        let said = words.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let mut refused = Failure::new(FailureKind::Usage, format!("git merge refused its options: {said}"))
            .hint("git merge -h");
        refused.tasks = vec![task.clone()];
        return Err(refused);
    }
    let tip_before = Some(observed.tip_before.clone());
    let answer = told(&task, &root, &plan, merged, observed, leftover);
    Ok(Ended { answer, refused_before: false, tip_before })
}

/// Ignored files that a merge would overwrite, where it was not told to.
///
/// # Errors
/// git cannot tell.
pub fn overwritten(
    git: &Git,
    into: &str,
    tip: &str,
    options: &[OsString],
) -> Result<Vec<String>, GitFailure> {
    if options.iter().any(|option| option == "--overwrite-ignore") {
        return Ok(Vec::new());
    }
    git.ignored_in_the_way(into, tip)
}

/// Puts HEAD on the output branch, and makes sure that it is there: the refusal if not.
fn stand_on(
    task: &TaskId,
    root: &MergeRoot,
    plan: &Plan,
    limit: Instant,
) -> Result<Option<MergeVerdict>, GitFailure> {
    let branch = short_name(&plan.output);
    let there = root::git_there(root);
    let mut said = None;
    if plan.checkout {
        if let Some(refused) = orphaned(task, root)? {
            return Ok(Some(refused));
        }
        // It writes files and runs a hook, as the merge does.
        said = match root.git.until(limit).checkout(&plan.output, plan.past_stale_entries) {
            Ok(answer) if answer.ok() => None,
            Ok(answer) => Some(GitFailure::of_exit("checkout", answer.code, &answer.stderr).said),
            Err(failure) => Some(failure.to_string()),
        };
    }
    let git = root.git.until(clock::deadline_in(LOOKING));
    let head = git.head_branch()?;
    if head.as_ref() == Some(&plan.output) {
        if !plan.checkout {
            return Ok(None);
        }
        // A hook of the checkout, or a filter, may have left something.
        let residue = git.residue()?;
        return Ok((!residue.is_clean()).then(|| root::dirty(task, root, &residue)));
    }
    let now = head.as_deref().map_or("a detached HEAD", short_name);
    let quoted = shell::quote(std::path::Path::new(branch));
    let again = [
        format!("{there} switch --no-overwrite-ignore {quoted}"),
        format!("git aitask-lock merge run {task}"),
    ];
    let in_the_way = git.in_the_way(&format!("HEAD..{}", plan.output)).unwrap_or_default();
    let hints = root::moves(root, &in_the_way).into_iter().chain(again).collect();
    let refusal = |why| Refusal { hints, ..root::refusal(task, branch, why) };
    Ok(Some(match said {
        Some(said) => MergeVerdict::PreflightCheckoutFailed(refusal(format!(
            "{branch} could not be checked out in the shared root: {said}"
        ))),
        None => MergeVerdict::PreflightHeadMismatch(refusal(format!(
            "the shared root stands on {now}, not on {branch}"
        ))),
    }))
}

/// The refusal, where the checkout would leave commits behind that only a detached HEAD has.
fn orphaned(task: &TaskId, root: &MergeRoot) -> Result<Option<MergeVerdict>, GitFailure> {
    let git = root.git.until(clock::deadline_in(LOOKING));
    if git.head_branch()?.is_some() {
        return Ok(None);
    }
    let Some(oid) = git.oid("HEAD")? else { return Ok(None) };
    if git.is_kept(&oid, &["refs/heads", "refs/remotes", "refs/tags"])? {
        return Ok(None);
    }
    let name = oid.get(..12).unwrap_or(&oid);
    let keep = format!("git -C {} branch kept-{name} {oid}", shell::quote(&root.path));
    Ok(Some(MergeVerdict::PreflightHeadMismatch(Refusal {
        hints: vec![format!("keep it: {keep}"), format!("git aitask-lock merge run {task}")],
        ..root::refusal(
            task,
            &oid,
            format!(
                "HEAD of the shared root is detached at {oid}, which no branch, remote branch or tag has"
            ),
        )
    })))
}

fn observe(git: &Git, plan: &Plan, tip_before: String, task_tip: String) -> Result<Observed, GitFailure> {
    let tip = git.resolve_ref(&plan.output)?;
    let contained = match &tip {
        Some(tip) => git.is_ancestor(&task_tip, tip)?,
        None => false,
    };
    Ok(Observed { tip_before, task_tip, tip, contained, head: git.head_branch()?, residue: git.residue()? })
}

/// Removes the marks of a merge that is committed: git was ended before it had done so, by a time limit
/// for instance.
fn sweep(git: &Git, plan: &Plan, observed: &mut Observed) -> Result<Option<Leftover>, GitFailure> {
    let committed = observed.contained && observed.head.as_ref() == Some(&plan.output);
    if !committed || observed.residue.merge_head.as_ref() != Some(&observed.task_tip) {
        return Ok(None);
    }
    if git.quit_merge().is_err() {
        return Ok(Some(Leftover::Kept));
    }
    observed.residue = git.residue()?;
    Ok(Some(Leftover::Removed))
}

/// The outcome as it is told.
fn told(
    task: &TaskId,
    root: &MergeRoot,
    plan: &Plan,
    ended: Result<git::Answer, GitFailure>,
    observed: Observed,
    leftover: Option<Leftover>,
) -> Answer {
    let task = task.clone();
    match outcome::decide(plan, &observed) {
        Outcome::Merged { tip, how, remarks } => {
            let merged = Merged {
                task,
                oid: tip,
                output_branch: plan.output.clone(),
                task_branch: plan.task_branch.clone(),
                how: how.to_owned(),
                leftover,
            };
            let remarks = remarks.into_iter().map(|remark| match remark {
                Remark::HeadMoved => format!(
                    "the shared root does not stand on {} any more: something switched it after the merge",
                    short_name(&plan.output)
                ),
                Remark::NotClean => format!(
                    "the shared root is not clean after the merge: {}; look: {} status",
                    observed.residue,
                    root::git_there(root)
                ),
            });
            let swept = (leftover == Some(Leftover::Removed)).then(|| {
                "git was ended after it had committed the merge; the MERGE_HEAD that it left was removed"
                    .to_owned()
            });
            Answer::of(vec![MergeVerdict::MergeOk(merged).into()]).warn(swept.into_iter().chain(remarks))
        }
        Outcome::Conflict(paths) => {
            let conflict = Conflict { task, paths, root: shell::quote(&root.path) };
            Answer::of(vec![MergeVerdict::MergeConflict(conflict).into()])
        }
        Outcome::Failed => {
            let (code, said) = match ended {
                Ok(answer) => {
                    let lock = lockfile::in_the_way(&answer.stderr).map(|path| LockFile::at(&path));
                    let words = [answer.stdout, answer.stderr].concat();
                    let said = GitFailure::of_exit("merge", answer.code, &words).said;
                    let said = lock.map_or(said.clone(), |lock| format!("{} ({lock})", said.trim_end()));
                    (Some(answer.code), said)
                }
                Err(failure) => (None, failure.to_string()),
            };
            let residue = observed.residue;
            let looking = root.git.until(clock::deadline_in(LOOKING));
            let range = format!("HEAD...{}", plan.task_branch);
            let in_the_way =
                if residue.is_clean() { looking.in_the_way(&range).unwrap_or_default() } else { Vec::new() };
            let failed = MergeFailed {
                again: format!("git aitask-lock merge run {task}"),
                moves: root::moves(root, &in_the_way),
                task,
                code,
                said,
                residue,
                root: shell::quote(&root.path),
            };
            Answer::of(vec![MergeVerdict::MergeFailed(failed).into()])
        }
    }
}
