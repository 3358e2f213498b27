//! Questions to a person at a terminal. Ctrl-C at a question ends the command, and nothing was changed.

use dialoguer::Confirm;
use dialoguer::console::Term;

use super::leftovers;
use crate::context::{Context, Layout};
use crate::domain::plan::Question;
use crate::domain::rules::Ruling;
use crate::domain::verdict::Refused;
use crate::render::escape::for_terminal;
use crate::render::human::{self, since};
use crate::render::{Carried, View, style};
use crate::sys::{clock, terminal};

/// How the reader sees times.
fn view(context: &Context) -> View {
    View {
        format: context.global.format(),
        now: clock::now(),
        zone: clock::zone(),
        columns: terminal::columns(),
        quiet: context.global.quiet,
        layout: Layout::Sentences,
        carried: Carried::default(),
    }
}

/// Whether a lock may be taken over, with what there is to know before.
#[must_use]
pub fn take_over(context: &Context, question: &Question) -> bool {
    let view = view(context);
    let holder = &question.holder;
    let since = since(holder, &view);
    let (what, ask) = match question.ruling {
        Ruling::ReclaimOtherHost => (
            format!(
                "Task {} is yours on {} since {since}. Whether that session still works on it cannot be told from here.",
                holder.task,
                human::host(holder)
            ),
            "Take it over here?",
        ),
        Ruling::ReclaimAnomaly => {
            (format!("Your lock of task {}, {since}, never named a process.", holder.task), "Take it over?")
        }
        _ => (
            format!("Task {} is yours since {since}, but {}.", holder.task, holder.liveness),
            "Take the task over?",
        ),
    };
    say(&style::strong(&what));
    if question.ruling == Ruling::ReclaimCrash {
        let left = leftovers::of_task(context, &holder.task);
        if left.is_empty() {
            say("It left no branch that names the task.");
        }
        for line in left {
            say(&for_terminal(&line));
        }
    }
    confirm(ask, true)
}

/// Whether a lock that was refused is to be taken by force.
#[must_use]
pub fn force(context: &Context, refused: &Refused) -> bool {
    let view = view(context);
    say(human::refusal_sentence(refused, &view).trim_end());
    confirm("Take it all the same? Its holder is not asked", false)
}

fn say(line: &str) {
    // Where the terminal is gone, the question that follows will say no.
    let _unheard = Term::stderr().write_line(line);
}

/// A question that a terminal which went away answers with no.
fn confirm(question: &str, default: bool) -> bool {
    let answer =
        Confirm::new().with_prompt(question).default(default).report(true).interact_on(&Term::stderr());
    answer.unwrap_or(false)
}
