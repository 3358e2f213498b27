//! What `claim`, `refresh` and `release` share: from an order to verdicts, through the one retry loop.

use super::locks::{self, Store};
use super::{Answer, ask, explain, leftovers};
use crate::context::{Context, Format};
use crate::domain::failure::{Failure, FailureKind};
use crate::domain::lock::LockView;
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
    let mut order = Order {
        wanted: ask.wanted,
        tasks: tasks.clone(),
        first: ask.first,
        force: ask.force,
        expect: ask.expect.map(str::to_owned),
        note: ask.note.map(str::to_owned),
        consent: Consent::NotAsked,
    };
    let interactive = context.global.interactive() && ask.wanted == Wanted::Claim;
    let verdicts = if interactive {
        order.consent = Consent::Asked(Vec::new());
        with_questions(context, &mut order, &asker)?
    } else {
        match carry_out(context, &order, &asker)? {
            Outcome::Done(verdicts) => verdicts,
            // Nobody is asked, so nothing can be open.
            Outcome::Ask(questions) => questions.iter().map(|question| declined(&question.holder)).collect(),
            Outcome::Exhausted { tries, last } => {
                return Err(explain::exhausted(context, tries, last.as_ref()));
            }
        }
    };
    let mut warnings = Vec::new();
    if records_a_session(&verdicts) {
        warnings.extend(resolution.warnings.iter().map(ToString::to_string));
        if resolution.session.process.is_none() {
            warnings.push(NO_PROCESS.to_owned());
        }
    }
    let notes = if interactive { Vec::new() } else { left_behind(context, &verdicts) };
    Ok(Answer::of(verdicts).warn(warnings).note(notes))
}

/// Carries out an order, asking a person where the table says so. What was agreed to is bound to the lock that
/// was shown: when another one stands there meanwhile, the question is asked anew.
fn with_questions(context: &Context, order: &mut Order, asker: &Asker) -> Result<Vec<Verdict>, Failure> {
    loop {
        match carry_out(context, order, asker)? {
            Outcome::Exhausted { tries, last } => {
                return Err(explain::exhausted(context, tries, last.as_ref()));
            }
            Outcome::Ask(questions) => {
                for question in questions {
                    if !ask::take_over(context, &question) {
                        return Ok(vec![declined(&question.holder)]);
                    }
                    if let Consent::Asked(agreed) = &mut order.consent {
                        agreed.push(question.holder.lock_id);
                    }
                }
            }
            Outcome::Done(verdicts) => match verdicts.as_slice() {
                [
                    Verdict::LockFailed(refused)
                    | Verdict::LockLiveHolder(refused)
                    | Verdict::LockUnverifiableHolder(refused),
                ] if !order.force && !order.first => {
                    if !ask::force(context, refused) {
                        return Ok(vec![declined(&refused.holder)]);
                    }
                    order.force = true;
                    order.expect = Some(refused.holder.lock_id.clone());
                }
                _ => return Ok(verdicts),
            },
        }
        context.restart_deadline();
    }
}

/// What the lost sessions left, for those who read sentences and were not asked.
fn left_behind(context: &Context, verdicts: &[Verdict]) -> Vec<String> {
    if context.global.format() != Format::Human || context.global.quiet {
        return Vec::new();
    }
    let crashed = verdicts.iter().filter_map(|verdict| match verdict {
        Verdict::ReclaimCrash(retaken) => Some(&retaken.task),
        _ => None,
    });
    crashed.flat_map(|task| leftovers::of_task(context, task)).collect()
}

fn declined(holder: &LockView) -> Verdict {
    Verdict::Declined { task: holder.task.clone() }
}

/// Decides and writes an order on whatever stands on the branch.
///
/// # Errors
/// What kept it from deciding or from writing.
pub fn carry_out(context: &Context, order: &Order, asker: &Asker) -> Result<Outcome, Failure> {
    let (name, email) = owner::committer(&context.repo, &asker.owner);
    let mut store = Store::open(context, (&name, &email))?;
    let budget = Budget { deadline: context.deadline(), name: name.clone(), email: email.clone() };
    let creates = order.wanted == Wanted::Claim;
    let here = &asker.session.here;
    let outcome = attempt::update(store.as_dyn(), &budget, &mut |objects, snapshot| {
        locks::branch_exists(snapshot, creates)?;
        let found = locks::of_tasks(objects, snapshot, &order.tasks, here);
        Ok(plan::decide(order, asker, &found))
    });
    outcome.map_err(|error| explain::store_error(context, &error, &order.tasks))
}

/// What a lock without a process means for its owner.
const NO_PROCESS: &str = "no process stands for this session, so whether it still works on the task can never \
                          be told: start the agent with git aitask-lock exec -- '<command>', in a tmux pane, or \
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
