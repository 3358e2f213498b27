//! Why the reservation cannot be had, in a sentence, and the next command to run.

use super::human::who;
use crate::domain::merge::verdict::{Busy, BusyWhy, Holder};
use crate::render::{View, style};

/// Tells a person who has it, or why the wait ended early.
pub(super) fn busy_text(busy: &Busy, view: &View, stderr: &mut String) {
    let holder = busy.holder.as_ref();
    let who = holder.map(|holder| who(holder, view)).unwrap_or_default();
    let waited = match busy.waited {
        0 => String::new(),
        seconds => format!("; waited {seconds} s"),
    };
    let name = holder.map_or("-", Holder::task_name);
    let (what, hint) = match busy.why {
        BusyWhy::Alive => (
            format!("task {name} holds the merge reservation: {who}{waited}"),
            format!("wait longer: {}", busy.again),
        ),
        BusyWhy::Unknown => (
            format!(
                "task {name} holds the merge reservation, and whether it still works on it cannot be told: {who}{waited}"
            ),
            "if you know that it is gone: git aitask-lock merge force-release".to_owned(),
        ),
        BusyWhy::Unreadable => (
            format!(
                "the merge reservation is held, but {}",
                holder.and_then(|holder| holder.damage).map(|damage| damage.to_string()).unwrap_or_default()
            ),
            "git aitask-lock merge force-release".to_owned(),
        ),
        BusyWhy::OwnOtherTask => (
            format!("this session holds the merge reservation already, for task {name}"),
            format!("finish that first: git aitask-lock merge release {name}"),
        ),
        BusyWhy::Guard => (
            "an earlier reclaim or recovery of the merge reservation did not end".to_owned(),
            busy.remove_guard.clone().unwrap_or_default(),
        ),
        BusyWhy::Queue => (
            format!("others wait for the merge reservation before task {}{waited}", busy.task),
            format!("queue for it: {}", busy.again),
        ),
        BusyWhy::Superseded => (
            format!(
                "a later command of this session waits for task {} in the place of this one{waited}",
                busy.task
            ),
            "git aitask-lock merge status".to_owned(),
        ),
        BusyWhy::SessionEnded => (
            format!(
                "the session that waited with task {} is gone{waited}; nothing was taken for it",
                busy.task
            ),
            "git aitask-lock merge status".to_owned(),
        ),
        BusyWhy::QueueRemoved => (
            format!("somebody removed the place of task {} in the queue{waited}", busy.task),
            format!("queue again: {}", busy.again),
        ),
    };
    stderr.push_str(&style::refused(&what));
    stderr.push_str(&style::hint(&hint));
}
