//! The story of locks for a person: one line for each event, newest first.

use super::escape::for_terminal;
use super::{View, style};
use crate::domain::history::{Event, EventKind};
use crate::domain::moment;
use crate::domain::verdict::Verdict;

/// One line each, the tasks in a column of their own.
#[must_use]
pub fn render(verdicts: &[Verdict], view: &View) -> String {
    let events = || {
        verdicts.iter().filter_map(|verdict| match verdict {
            Verdict::Event(event) => Some(event),
            _ => None,
        })
    };
    // One absurd name does not push everything to the right.
    let width = events().map(|event| event.task.as_str().len()).max().unwrap_or(0).min(16);
    events().map(|event| line(event, width, view)).collect()
}

/// One event in one line.
#[must_use]
pub fn line(event: &Event, width: usize, view: &View) -> String {
    let time = for_terminal(&moment::read(&event.time, &view.zone).to_string());
    let task = format!("{:width$}", event.task.as_str());
    let commit: String = event.commit.chars().take(10).collect();
    format!("{}  {}  {}  {}\n", style::dim(&time), style::strong(&task), sentence(event), style::dim(&commit))
}

fn sentence(event: &Event) -> String {
    let who = known(event.owner.as_deref(), "somebody unknown");
    let whose = known(event.previous_owner.as_deref(), "somebody unknown");
    let host = known(event.hostname.as_deref(), "an unknown host");
    let text = match event.action {
        EventKind::Claimed => format!("{} by {who} on {host}", style::good("claimed")),
        EventKind::Refreshed => format!("renewed by {who} on {host}"),
        EventKind::Reclaimed => {
            format!("{} by {who} on {host}, {}", style::doubtful("reclaimed"), lost_session(event))
        }
        EventKind::Forced => format!("{} by {who} on {host}, from {whose}", style::bad("taken by force")),
        EventKind::ForceReleased => format!("{} by {who}; it was {whose}'s", style::bad("removed by force")),
        EventKind::Released => format!("released by {who}"),
        EventKind::CleanedUp => format!("cleaned up by {who}; it was {whose}'s"),
        EventKind::Removed => {
            format!("removed by {who}, in a commit that does not say why; it was {whose}'s")
        }
        EventKind::Edited => format!("its record was edited; it is {who}'s"),
    };
    match event.note.as_deref().filter(|_| event.action != EventKind::Refreshed) {
        Some(note) => format!("{text}: {}", for_terminal(note)),
        None => text,
    }
}

/// Which session it was taken over from.
fn lost_session(event: &Event) -> String {
    let host = known(event.previous_hostname.as_deref(), "an unknown host");
    match event.previous_pid {
        _ if event.previous_hostname != event.hostname => format!("from their session on {host}"),
        Some(pid) => format!("after their session (process {pid}) was lost"),
        None => "from a lock of theirs that named no process".to_owned(),
    }
}

fn known(text: Option<&str>, otherwise: &str) -> String {
    text.map_or_else(|| otherwise.to_owned(), for_terminal)
}
