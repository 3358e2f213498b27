//! What `claim`, `refresh` and `release` share: from an order to verdicts, through the one retry loop.

use super::locks::{self, Store};
use super::{Answer, explain};
use crate::context::Context;
use crate::domain::failure::{Failure, FailureKind};
use crate::domain::plan::{self, Asker, Consent, Order};
use crate::domain::task_id::TaskId;
use crate::domain::verdict::{Verdict, Wanted};
use crate::owner;
use crate::store::attempt::{self, Budget, Outcome};
use crate::sys::{clock, random};

/// What the command line asks.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// To claim, refresh or release.
    pub wanted: Wanted,
    /// The tasks as typed, in canonical form.
    pub tasks: &'a [TaskId],
    /// `--first`.
    pub first: bool,
    /// `--force`.
    pub force: bool,
    /// `--expect`.
    pub expect: Option<&'a str>,
    /// `--note`.
    pub note: Option<&'a str>,
    /// `--email`.
    pub email: Option<&'a str>,
}

/// Carries out an order.
///
/// # Errors
/// What kept it from deciding or from writing.
pub fn run(context: &Context, ask: &Ask<'_>) -> Result<Answer, Failure> {
    let mut tasks: Vec<TaskId> = Vec::new();
    for task in ask.tasks {
        if !tasks.contains(task) {
            tasks.push(task.clone());
        }
    }
    if ask.expect.is_some() && tasks.len() > 1 {
        return Err(Failure::new(FailureKind::Usage, "--expect names one lock: it goes with one task"));
    }
    let owner = context.owner(ask.email)?;
    let resolution = context.session();
    let lock_ids = tasks.iter().map(|_| random::hex128()).collect::<Result<Vec<String>, _>>();
    let asker = Asker {
        owner: owner.clone(),
        session: resolution.session.clone(),
        now: clock::now(),
        refresh_interval: context.refresh_interval()?,
        lock_ids: lock_ids.map_err(|error| Failure::new(FailureKind::Fatal, error.to_string()))?,
    };
    let order = Order {
        wanted: ask.wanted,
        tasks: tasks.clone(),
        first: ask.first,
        force: ask.force,
        expect: ask.expect.map(str::to_owned),
        note: ask.note.map(str::to_owned),
        consent: Consent::NotAsked,
    };
    let verdicts = carry_out(context, &order, &asker)?;
    let mut remarks = Vec::new();
    if records_a_session(&verdicts) {
        remarks.extend(resolution.warnings.iter().map(ToString::to_string));
        if resolution.session.process.is_none() {
            remarks.push(NO_PROCESS.to_owned());
        }
    }
    Ok(Answer::of(verdicts).remark(remarks))
}

/// Decides and writes an order on whatever stands on the branch.
///
/// # Errors
/// What kept it from deciding or from writing.
pub fn carry_out(context: &Context, order: &Order, asker: &Asker) -> Result<Vec<Verdict>, Failure> {
    let (name, email) = owner::committer(&context.repo, &asker.owner);
    let mut store = Store::open(context, (&name, &email))?;
    let budget = Budget { deadline: context.deadline, name: name.clone(), email: email.clone() };
    let creates = order.wanted == Wanted::Claim;
    let here = &asker.session.here;
    let outcome = attempt::update(store.as_dyn(), &budget, &mut |objects, snapshot| {
        locks::branch_exists(snapshot, creates)?;
        let found = locks::of_tasks(objects, snapshot, &order.tasks, here);
        Ok(plan::decide(order, asker, &found))
    });
    match outcome {
        Ok(Outcome::Done(verdicts)) => Ok(verdicts),
        Ok(Outcome::Ask(_)) => Err(Failure::new(FailureKind::Fatal, "nobody is there to be asked")),
        Ok(Outcome::Exhausted { tries, last }) => Err(explain::exhausted(context, tries, last.as_ref())),
        Err(error) => Err(explain::store_error(context, &error, &order.tasks)),
    }
}

/// What a lock without a process means for its owner.
const NO_PROCESS: &str = "no process stands for this session, so whether it still works on the task can never \
                          be told: start the agent with git aitask-lock exec -- <command>, in a tmux pane, or \
                          with AIT_AGENT_PID set";

/// Whether this session is recorded somewhere, so that doubts about its anchor matter.
fn records_a_session(verdicts: &[Verdict]) -> bool {
    verdicts.iter().any(|verdict| {
        matches!(
            verdict,
            Verdict::Claimed(_)
                | Verdict::ReclaimCrash(_)
                | Verdict::LockReclaim(_)
                | Verdict::ReclaimStatus(_)
                | Verdict::ForceUnlocked(_)
        )
    })
}
