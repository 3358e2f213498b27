//! `merge claim`: take the reservation, or queue for it.

use std::time::Duration;

use super::again::Again;
use super::desk::{Desk, git_failure, mutex_failure, not_clean, not_writable, unreadable};
use super::foreseen;
use super::recovery::{go_back, ways_back};
use super::root::{no_root, refusal};
use super::settle;
use super::wait::Wait;
use crate::commands::Answer;
use crate::context::{Context, duration, duration_setting, task_id};
use crate::domain::anchor::{AnchorSource, Here};
use crate::domain::failure::{Failure, FailureKind};
use crate::domain::liveness::{self, Liveness};
use crate::domain::merge::branch;
use crate::domain::merge::reservation::{Baseline, Reservation};
use crate::domain::merge::rules::{self, Ruling, Seat, Seen};
use crate::domain::merge::verdict::{Busy, BusyWhy, Holder, MergeClaimed, MergeVerdict, Refusal};
use crate::domain::moment;
use crate::domain::task_id::TaskId;
use crate::domain::verdict::Verdict;
use crate::store::mutex::{Held, Look};
use crate::store::queue;
use crate::sys::files::Publication;
use crate::sys::git::worktree::MergeRoot;
use crate::sys::{clock, failpoint, random, shell};

/// How long a claim waits by default.
const DEFAULT_WAIT: Duration = Duration::from_secs(60);

/// Arguments of `merge claim`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The task whose merge it is
    #[arg(value_name = "TASK", value_parser = task_id)]
    pub task: TaskId,
    /// The branch to merge into; by default what aitask-lock.mergeInto or the remote's HEAD names
    #[arg(long, value_name = "BRANCH")]
    pub into: Option<String>,
    /// How long to wait for one's turn, such as 30s; 0 does not queue
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub wait: Option<Duration>,
}

/// What is asked of the mutex.
#[derive(Clone, Debug)]
pub struct Ask<'a> {
    /// The command, to be given again.
    pub again: Again<'a>,
    /// The task.
    pub task: &'a TaskId,
    /// The branch to merge into, as it was typed.
    pub into: Option<&'a str>,
    /// The branch to merge, by full name, where it is known.
    pub task_branch: Option<&'a str>,
    /// `--wait`.
    pub wait: Option<Duration>,
}

/// Runs `merge claim`.
///
/// # Errors
/// What kept it from deciding or from changing anything.
pub fn run(context: &Context, args: &Args) -> Result<Answer, Failure> {
    let desk = Desk::open(context);
    let into = args.into.as_deref();
    let again = Again { verb: "claim", task: &args.task, branch: None, into, verify: None, options: &[] };
    let ask = Ask { again, task: &args.task, into, task_branch: None, wait: args.wait };
    let (verdict, recorded) = match take(&desk, &ask)? {
        Ok(claimed) => {
            let recorded = !claimed.again;
            (MergeVerdict::MergeClaimed(claimed).into(), recorded)
        }
        Err(refusal) => {
            let nobody = matches!(refusal, Verdict::NoSessionAnchor { .. });
            (refusal, nobody)
        }
    };
    // Doubts about the session matter where it is recorded, or where there is none.
    let warnings = if recorded { desk.warnings() } else { desk.remarks() };
    let notes = desk.notes().into_iter().chain(desk.guard_note(&verdict));
    Ok(Answer::of(vec![verdict]).warn(warnings).note(notes))
}

/// Takes the reservation for this session and a task, after waiting for it if need be. The shared
/// root is clean then, unless this session had the reservation already.
///
/// # Errors
/// What kept it from deciding or from changing anything. A refusal is no error.
pub fn take(desk: &Desk<'_>, ask: &Ask<'_>) -> Result<Result<MergeClaimed, Verdict>, Failure> {
    let process = match desk.process() {
        Ok(process) => process.clone(),
        Err(refusal) => return Ok(Err(*refusal)),
    };
    let root = match desk.root() {
        Ok(root) => root,
        Err(error) => return Ok(Err(no_root(desk, ask.task, &error, false).into())),
    };
    let budget = match (ask.wait, desk.context.global.timeout) {
        (Some(wait), _) => wait,
        (None, timeout) => {
            let wait = duration_setting(&desk.context.repo, "aitask-lock.mergeWait", DEFAULT_WAIT)?;
            timeout.map_or(wait, |timeout| wait.min(timeout))
        }
    };
    let mut wait = Wait::new(desk, ask.task, &process, budget);
    let taken = loop {
        match step(desk, ask, &root, process.source, &mut wait)? {
            Step::Taken(taken) => break taken,
            Step::Refused(refusal) => return Ok(Err((*refusal).into())),
            Step::Wait { holder, watched } => wait.sleep(holder.as_deref(), watched),
        }
    };
    wait.leave();
    failpoint::hit("claim-taken");
    let claimed = MergeClaimed {
        task: ask.task.clone(),
        id: taken.reservation.id.clone(),
        output_branch: taken.reservation.output_branch.clone(),
        pid: Some(process.pid),
        again: taken.again,
        reclaimed_from: taken.reclaimed_from,
        waited: wait.waited(),
    };
    settle::settle(desk, ask, taken.reservation, claimed)
}

/// What one look at the mutex came to.
enum Step {
    Taken(Box<Taken>),
    Refused(Box<MergeVerdict>),
    Wait { holder: Option<Box<Holder>>, watched: Option<u32> },
}

struct Taken {
    reservation: Reservation,
    again: bool,
    reclaimed_from: Option<Box<Holder>>,
}

/// The mutex at one moment, and what the table says of it.
struct View {
    look: Look,
    live: Liveness,
    ruling: Ruling,
    can_be_had: bool,
}

impl View {
    fn of(
        desk: &Desk<'_>,
        ask: &Ask<'_>,
        wait: &mut Wait<'_>,
        held: Option<&Held<'_>>,
    ) -> Result<Self, Failure> {
        let here = desk.here();
        let (look, live) = desk.look()?;
        let seat = look.seen.seat(ask.task, &desk.mine, here, live);
        let can_be_had = matches!(seat, Seat::Free | Seat::Taken { liveness: Liveness::Dead(_), .. });
        let (waiters, guarded) = match held {
            Some(held) => {
                (queue::sweep(held, here).map_err(|error| not_writable(&error))?, held.is_guarded())
            }
            None => (queue::list(&desk.mutex, here).map_err(|error| unreadable(&error))?, false),
        };
        let first = wait.is_first(&waiters, can_be_had);
        Ok(Self { ruling: rules::decide(seat, guarded, first), look, live, can_be_had })
    }

    fn holder(&self) -> Option<Holder> {
        self.look.seen.holder(self.live)
    }

    fn busy(&self, desk: &Desk<'_>, ask: &Ask<'_>, wait: &Wait<'_>, why: BusyWhy) -> Step {
        Step::Refused(Box::new(MergeVerdict::Busy(Busy {
            task: ask.task.clone(),
            // A wait that ended before its time did not end for want of time.
            why: wait.lost().unwrap_or(why),
            waited: wait.waited(),
            holder: self.holder(),
            guard: (why == BusyWhy::Guard).then(|| shell::quote(&desk.mutex.guard_path())),
            again: ask.again.command(Some("5m")),
            remove_guard: (why == BusyWhy::Guard).then(|| desk.mutex.remove_guard()),
        })))
    }

    fn wait(&self, here: &Here) -> Step {
        let watched = match &self.look.seen {
            Seen::Taken(reservation) => liveness::pid_to_observe(&reservation.anchor, here),
            Seen::Free | Seen::Unreadable(_) => None,
        };
        Step::Wait { holder: self.holder().map(Box::new), watched: watched.filter(|_| !self.can_be_had) }
    }
}

/// Looks, decides, and does what can be done at once.
fn step(
    desk: &Desk<'_>,
    ask: &Ask<'_>,
    root: &MergeRoot,
    source: AnchorSource,
    wait: &mut Wait<'_>,
) -> Result<Step, Failure> {
    // A look without the lock changes nothing, and a waiter that is stopped here is in nobody's way.
    let view = View::of(desk, ask, wait, None)?;
    match view.ruling {
        Ruling::Wait(why) if wait.is_over() => return Ok(view.busy(desk, ask, wait, why)),
        Ruling::Wait(_) if wait.is_queued() => return Ok(view.wait(desk.here())),
        _ => {}
    }
    // What a lost session left in the shared root, and what would be refused there, is found out before
    // anything is touched.
    if view.ruling != Ruling::Again
        && matches!(view.live, Liveness::Dead(_))
        && let Some(refusal) =
            foreseen::refusal(desk, &ask.again, ask.task_branch, root, &view.look.seen, view.holder())?
    {
        return Ok(Step::Refused(Box::new(refusal)));
    }

    let held = desk.hold_until(wait.patience())?;
    let view = View::of(desk, ask, wait, Some(&held))?;
    let busy = |why, wait: &Wait<'_>| Ok(view.busy(desk, ask, wait, why));
    if !wait.is_wanted() {
        // Nobody would use it.
        return match view.ruling {
            Ruling::Wait(why) | Ruling::Refuse(why) => busy(why, wait),
            Ruling::Take | Ruling::Again | Ruling::Reclaim => busy(BusyWhy::Queue, wait),
        };
    }
    match view.ruling {
        Ruling::Again => match &view.look.seen {
            Seen::Taken(reservation) => {
                let reservation = reservation.as_ref().clone();
                Ok(Step::Taken(Box::new(Taken { reservation, again: true, reclaimed_from: None })))
            }
            Seen::Free | Seen::Unreadable(_) => busy(BusyWhy::Unreadable, wait),
        },
        Ruling::Take => publish(desk, ask, &held, source, None),
        Ruling::Reclaim => match held.guard(desk.here()).map_err(|error| not_writable(&error))? {
            None => busy(BusyWhy::Guard, wait),
            // The guard comes down at the end, before the lock is given up.
            Some(_guard) => reclaim(desk, ask, root, source, wait, &held),
        },
        Ruling::Refuse(why) => busy(why, wait),
        Ruling::Wait(why) if wait.is_over() => busy(why, wait),
        Ruling::Wait(_) => {
            wait.join(&held)?;
            Ok(view.wait(desk.here()))
        }
    }
}

/// Takes the mutex over from a session that is gone. Behind the guard everything is looked at anew.
fn reclaim(
    desk: &Desk<'_>,
    ask: &Ask<'_>,
    root: &MergeRoot,
    source: AnchorSource,
    wait: &mut Wait<'_>,
    held: &Held<'_>,
) -> Result<Step, Failure> {
    let view = View::of(desk, ask, wait, None)?;
    if !matches!(view.live, Liveness::Dead(_)) {
        return Ok(view.wait(desk.here()));
    }
    if let Some(refusal) = residue(desk, ask, root, &view)? {
        return Ok(refusal);
    }
    if let Seen::Taken(reservation) = &view.look.seen
        && strays(desk, ask, root, reservation)?
    {
        match go_back(&root.git.until(desk.deadline()), reservation) {
            Ok(went_back) => desk.remark(went_back.map(|went_back| went_back.remark)),
            Err((branch, error)) => {
                return Ok(Step::Refused(Box::new(MergeVerdict::PreflightHeadMismatch(Refusal {
                    kept: false,
                    hints: ways_back(root, &branch),
                    ..refusal(
                        ask.task,
                        &branch,
                        format!(
                            "the lost session of task {} left the shared root on another branch than {branch}: {error}",
                            reservation.task
                        ),
                    )
                }))));
            }
        }
    }
    failpoint::hit("reclaim-judged");
    held.remove().map_err(|error| not_writable(&error))?;
    let taken = publish(desk, ask, held, source, view.holder().map(Box::new));
    failpoint::hit("reclaim-published");
    taken
}

/// Whether HEAD has to go back to where the lost session merged.
fn strays(
    desk: &Desk<'_>,
    ask: &Ask<'_>,
    root: &MergeRoot,
    reservation: &Reservation,
) -> Result<bool, Failure> {
    let head = root.git.until(desk.deadline()).head_branch().map_err(|error| git_failure(&error))?;
    let back = foreseen::goes_back(desk, root, reservation, ask.into, head.as_deref());
    Ok(back.map_err(|error| git_failure(&error))?.is_some())
}

/// The refusal, where a lost session left something in the shared root.
fn residue(desk: &Desk<'_>, ask: &Ask<'_>, root: &MergeRoot, view: &View) -> Result<Option<Step>, Failure> {
    let residue = root.git.until(desk.deadline()).residue().map_err(|error| git_failure(&error))?;
    let refused = |residue| not_clean(desk, ask.task, root, residue, view.holder());
    Ok((!residue.is_clean()).then(|| Step::Refused(Box::new(refused(residue)))))
}

fn publish(
    desk: &Desk<'_>,
    ask: &Ask<'_>,
    held: &Held<'_>,
    source: AnchorSource,
    reclaimed_from: Option<Box<Holder>>,
) -> Result<Step, Failure> {
    let reservation = Reservation {
        id: random::hex128().map_err(|error| Failure::new(FailureKind::Fatal, error.to_string()))?,
        task: ask.task.clone(),
        output_branch: ask.into.map(branch::full_name),
        task_branch: ask.task_branch.map(str::to_owned),
        task_tip: None,
        owner: desk.context.owner(None).ok(),
        anchor: desk.mine.clone(),
        anchor_source: Some(source.as_str().to_owned()),
        taken_at: moment::stamp(clock::now()),
        baseline: Baseline::default(),
    };
    match held.publish(&reservation).map_err(|error| mutex_failure(&error))? {
        Publication::Published => {
            Ok(Step::Taken(Box::new(Taken { reservation, again: false, reclaimed_from })))
        }
        // The file system's locks do not exclude; somebody else won.
        Publication::AlreadyThere => Ok(Step::Wait { holder: None, watched: None }),
    }
}
