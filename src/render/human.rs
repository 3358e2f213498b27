//! One or two sentences: what happened, who holds it, since when, and the next command to run.

use super::escape::{for_shell, for_terminal};
use super::{Printed, View, events, findings, style, table};
use crate::context::Layout;
use crate::domain::failure::Failure;
use crate::domain::liveness::{Doubt, Liveness};
use crate::domain::lock::LockView;
use crate::domain::moment;
use crate::domain::task_id::TaskId;
use crate::domain::verdict::{Changed, NotHeld, Reason, Refused, Released, Retaken, Verdict, Wanted};

/// Renders all outcomes. Answers and successes are data; refusals, failures and hints are talk.
#[must_use]
pub fn render(verdicts: &[Verdict], view: &View) -> Printed {
    let mut printed = Printed::default();
    match verdicts {
        [Verdict::Word(_), ..] => return Printed { stdout: table::words(verdicts, view), ..printed },
        [Verdict::Tally(_), ..] => return Printed { stdout: table::tallies(verdicts, view), ..printed },
        _ => {}
    }
    match &view.layout {
        Layout::Table { none } | Layout::Story { none } if verdicts.is_empty() => {
            if !view.quiet {
                printed.stderr = format!("{none}\n");
            }
        }
        Layout::Table { .. } if table::is_list(verdicts) => printed.stdout = table::render(verdicts, view),
        Layout::Story { .. } if matches!(verdicts, [Verdict::Event(_), ..]) => {
            printed.stdout = events::render(verdicts, view);
        }
        Layout::Table { .. } | Layout::Story { .. } | Layout::Sentences => {
            sentences(verdicts, view, &mut printed);
        }
    }
    printed
}

fn sentences(verdicts: &[Verdict], view: &View, printed: &mut Printed) {
    for verdict in verdicts {
        tell(verdict, view, printed);
    }
}

fn tell(verdict: &Verdict, view: &View, printed: &mut Printed) {
    if let Verdict::Merge(verdict) = verdict {
        return super::merge::human(verdict, view, printed);
    }
    if let Verdict::Hook(verdict) = verdict {
        return super::hook::human(verdict, view, printed);
    }
    let Printed { stdout, stderr } = printed;
    let mut say = |text: String| {
        if !view.quiet {
            stdout.push_str(&text);
            stdout.push('\n');
        }
    };
    match verdict {
        Verdict::Claimed(taken) => {
            say(format!(
                "{} Task {} is yours ({}).",
                style::good("Claimed."),
                taken.task,
                session(taken.pid)
            ));
        }
        Verdict::Refreshed(taken) if taken.written => {
            say(format!("Task {} is still yours; renewed.", taken.task));
        }
        Verdict::Refreshed(taken) => say(format!("Task {} is still yours.", taken.task)),
        Verdict::ReclaimCrash(retaken) => say(format!(
            "{} Task {} is yours now; {}. It was claimed {}.",
            style::good("Reclaimed."),
            retaken.task,
            retaken.previous.liveness,
            since(&retaken.previous, view)
        )),
        Verdict::LockReclaim(retaken) => say(other_host(retaken, view)),
        Verdict::ReclaimStatus(retaken) => say(format!(
            "{} Task {} is yours: your lock, held since {}, never named a process.",
            style::good("Reclaimed."),
            retaken.task,
            since(&retaken.previous, view)
        )),
        Verdict::ForceUnlocked(forced) => say(format!(
            "{} The lock of task {} was {}'s, since {}; it is {} now.",
            style::doubtful("Forced."),
            forced.task,
            owner(&forced.previous),
            since(&forced.previous, view),
            if forced.lock_id.is_some() { "yours" } else { "free" }
        )),
        Verdict::Released(released) => say(released_text("Released", released)),
        Verdict::WouldRelease(released) => say(released_text("Would release", released)),
        Verdict::NotHeld(NotHeld { task, wanted: Wanted::Release, .. }) => {
            say(format!("Task {task} is not locked: nothing to release."));
        }
        Verdict::Locked(lock) => {
            stdout.push_str(&format!("{}\n", locked(lock, view)));
        }
        Verdict::Free { task } => stdout.push_str(&format!("Task {task} is {}.\n", style::good("free"))),
        Verdict::Initialized { branch, remote, created, replaced, lost } => {
            say(format!(
                "The lock branch {} {} {}.",
                for_terminal(branch),
                match replaced {
                    Some(_) => "was compacted to one commit with the same locks,",
                    None if *created => "was created",
                    None => "is there",
                },
                remote.as_deref().map_or_else(
                    || "in this repository".to_owned(),
                    |remote| format!("on {}", for_terminal(remote))
                )
            ));
            if !lost.is_empty() {
                let tasks: Vec<&str> = lost.iter().map(TaskId::as_str).collect();
                stderr.push_str(&style::warning(&format!(
                    "it is accepted as it is now, without the locks of {} that were on it before",
                    tasks.join(", ")
                )));
            }
        }
        Verdict::Anchor(anchor) => stdout.push_str(&format!(
            "A lock taken here names process {}{}, found through {}.\n{}",
            style::strong(&anchor.pid.to_string()),
            anchor.program.as_deref().map(|name| format!(" ({})", for_terminal(name))).unwrap_or_default(),
            anchor.source.as_str(),
            tried(&anchor.tried)
        )),
        Verdict::NoSessionAnchor { tried: candidates } => {
            stderr.push_str(&style::refused(
                "no process stands for this session, so its locks cannot be told from those of a lost one",
            ));
            stderr.push_str(&tried(candidates));
            stderr.push_str(&style::hint(
                "start the agent as a session of its own: git aitask-lock exec -- '<command>'",
            ));
            stderr.push_str(&style::hint("or start it in a tmux pane, or set AIT_AGENT_PID to its process"));
        }
        Verdict::LockFailed(refused)
        | Verdict::LockLiveHolder(refused)
        | Verdict::LockUnverifiableHolder(refused) => refusal(refused, view, stderr),
        Verdict::HolderChanged(changed) => holder_changed(changed, view, stderr),
        Verdict::NotHeld(not_held) => not_held_text(not_held, view, stderr),
        Verdict::NotClaimed(held_back) | Verdict::NotReleased(held_back) => stderr.push_str(&style::refused(
            &format!("task {} was left alone, because of task {}", held_back.task, held_back.because_of),
        )),
        Verdict::Declined { task } => {
            stderr.push_str(&style::refused(&format!("task {task} was left as it was")));
        }
        Verdict::LockError(failure) => failure_text(failure, stderr),
        Verdict::Tally(_) => {}
        Verdict::Event(event) => stdout.push_str(&events::line(event, 0, view)),
        Verdict::Finding(finding) => {
            if !view.quiet || finding.level != crate::domain::finding::Level::Ok {
                stdout.push_str(&findings::render(finding, view.columns));
            }
        }
        Verdict::Manual { folder, pages, installed, found } => {
            let folder_shown = for_terminal(folder);
            let whether = if *installed { "are installed now" } else { "are installed" };
            match (pages, found) {
                (0, _) => {
                    stderr.push_str(&style::refused(&format!("no man pages are in {folder_shown}")));
                    stderr.push_str(&style::hint("git aitask-lock man --install"));
                }
                (_, true) => say(format!("The man pages {whether} in {folder_shown}: git help aitask-lock")),
                (_, false) => {
                    say(format!("The man pages {whether} in {folder_shown}, where man does not look."));
                    let top = folder.strip_suffix("/man1").unwrap_or(folder);
                    let hint = format!("export MANPATH={}:", for_shell(top));
                    stderr.push_str(&style::hint(&hint));
                }
            }
        }
        Verdict::Text { text } => stdout.push_str(text),
        // Only the table shows the words; merges have a file of their own.
        Verdict::Word(_) | Verdict::Merge(_) | Verdict::Hook(_) => {}
    }
}

fn session(pid: Option<u32>) -> String {
    pid.map_or_else(|| "no process recorded".to_owned(), |pid| format!("session process {pid}"))
}

fn other_host(retaken: &Retaken, view: &View) -> String {
    format!(
        "{} Task {} is yours here; it was claimed on {} at {}. Whether that session still works on it cannot be told from here.",
        style::doubtful("Reclaimed."),
        retaken.task,
        host(&retaken.previous),
        since(&retaken.previous, view)
    )
}

fn released_text(word: &str, released: &Released) -> String {
    let previous = &released.previous;
    let why = match released.reason {
        Reason::Asked => String::new(),
        Reason::Gone => format!(": {}", previous.liveness),
        Reason::Archived => format!(": the task is archived (it was {}'s)", owner(previous)),
        Reason::Own => format!(": it was yours, from {}", host(previous)),
    };
    format!("{word} task {}{why}.", previous.task)
}

fn locked(lock: &LockView, view: &View) -> String {
    use crate::domain::lock::State;
    let who = match lock.state {
        State::Mine => "is yours, in this session".to_owned(),
        _ => format!("is locked by {} on {}", owner(lock), host(lock)),
    };
    let mut text = format!("Task {} {who}, since {}", lock.task, since(lock, view));
    match (lock.damage, lock.state) {
        (Some(damage), _) => text.push_str(&format!("; {}", damage.sentence())),
        (None, State::Mine) => {}
        (None, _) => text.push_str(&format!("; {}", with_pid(lock))),
    }
    text.push('.');
    if let Some(note) = &lock.note {
        text.push_str(&format!("\nNote: {}", for_terminal(note)));
    }
    if let Some(file) = &lock.file {
        text.push_str(&format!("\nIts file has another spelling: {}", for_terminal(file)));
    }
    text
}

/// What is known of the session, with its process.
fn with_pid(lock: &LockView) -> String {
    match (lock.pid, lock.liveness) {
        (Some(pid), Liveness::Alive) => format!("its session (process {pid}) is alive"),
        (Some(pid), Liveness::Unknown(Doubt::OtherTable)) => {
            format!("its process {pid} belongs to another process table (machine, container or namespace)")
        }
        (Some(pid), liveness) => format!("{liveness} (process {pid})"),
        (None, liveness) => liveness.to_string(),
    }
}

/// Who holds what was refused, and what is known of the session.
#[must_use]
pub fn refusal_sentence(refused: &Refused, view: &View) -> String {
    style::refused(&standing(&refused.holder, view))
}

/// Who holds a lock, since when, and what is known of the session, as part of a sentence.
#[must_use]
pub fn standing(holder: &LockView, view: &View) -> String {
    let what = match holder.damage {
        Some(damage) => format!("task {} is locked, and {}", holder.task, damage.sentence()),
        None => format!("task {} is locked by {} on {}", holder.task, owner(holder), host(holder)),
    };
    let session = if holder.damage.is_some() { String::new() } else { format!("; {}", with_pid(holder)) };
    format!("{what}, since {}{session}", since(holder, view))
}

fn refusal(refused: &Refused, view: &View, stderr: &mut String) {
    let holder = &refused.holder;
    stderr.push_str(&refusal_sentence(refused, view));
    if let Some(file) = &holder.file {
        stderr.push_str(&style::hint(&format!("the lock stands there as {}", for_terminal(file))));
    }
    let (what, verb) = match refused.wanted {
        Wanted::Release => ("remove", "release"),
        Wanted::Claim | Wanted::Refresh => ("take", "claim"),
    };
    stderr.push_str(&style::hint(&format!(
        "leave it alone, or {what} it knowingly: git aitask-lock {verb} {} --force --expect {}{}",
        holder.task,
        for_shell(&holder.lock_id),
        view.carried.email
    )));
}

fn holder_changed(changed: &Changed, view: &View, stderr: &mut String) {
    let now = match &changed.now {
        None => "it is free now".to_owned(),
        Some(now) => format!("it is {}'s on {} now, since {}", owner(now), host(now), since(now, view)),
    };
    stderr.push_str(&style::refused(&format!(
        "the lock of task {} is not the one you looked at: {now}",
        changed.task
    )));
    stderr.push_str(&style::hint(&format!("look again: git aitask-lock check {}", changed.task)));
}

fn not_held_text(not_held: &NotHeld, view: &View, stderr: &mut String) {
    let now = match &not_held.holder {
        None => "nobody holds it".to_owned(),
        Some(holder) => format!(
            "it is {}'s, from {}, since {}; {}",
            owner(holder),
            host(holder),
            since(holder, view),
            with_pid(holder)
        ),
    };
    stderr.push_str(&style::refused(&format!("this session does not hold task {}: {now}", not_held.task)));
    stderr.push_str(&style::hint(&format!("git aitask-lock claim {}{}", not_held.task, view.carried.email)));
}

fn failure_text(failure: &Failure, stderr: &mut String) {
    stderr.push_str(&style::error(&for_terminal(&failure.message)));
    for hint in &failure.hints {
        stderr.push_str(&style::hint(&for_terminal(hint)));
    }
}

fn tried(candidates: &[String]) -> String {
    candidates.iter().map(|candidate| format!("  {}\n", for_terminal(candidate))).collect()
}

/// The owner, or that it cannot be told.
#[must_use]
pub fn owner(lock: &LockView) -> String {
    lock.owner.as_deref().map_or_else(|| "somebody unknown".to_owned(), for_terminal)
}

/// The host, or that it cannot be told.
#[must_use]
pub fn host(lock: &LockView) -> String {
    lock.hostname.as_deref().map_or_else(|| "an unknown host".to_owned(), for_terminal)
}

/// When it was claimed, with the age.
#[must_use]
pub fn since(lock: &LockView, view: &View) -> String {
    match &lock.locked_at {
        None => "an unknown time".to_owned(),
        Some(text) => for_terminal(&moment::with_age(view.now, &moment::read(text, &view.zone))),
    }
}
