//! What the story of the locks adds up to, for each owner: claims, releases, lost sessions, hours held.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use super::history::{Event, EventKind};
use super::task_id::TaskId;

/// The sum for one owner.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// The owner, untrusted text; none for those who cannot be read.
    pub owner: Option<String>,
    /// Locks taken, in whatever way.
    pub claims: u64,
    /// Locks given back by their owner.
    pub releases: u64,
    /// Locks taken over from a session of theirs on the same host that was lost.
    pub crashes: u64,
    /// Locks that others took or removed by force.
    pub lost_by_force: u64,
    /// Seconds in which tasks were held, added up, within the time that was asked for.
    pub held_seconds: u64,
    /// Locks held now.
    pub held_now: u64,
}

/// Adds up `events`, newest first. `held` are the locks of now with their owners; `from` is where the time
/// that was asked for begins, if it was: what was held before counts from then on.
#[must_use]
pub fn tally(
    events: &[Event],
    held: &[(TaskId, Option<String>)],
    from: Option<Timestamp>,
    now: Timestamp,
) -> Vec<Tally> {
    let mut sums: BTreeMap<Option<String>, Tally> = BTreeMap::new();
    // Since when each task is held, by whom.
    let mut open: BTreeMap<TaskId, (Option<String>, Timestamp)> = BTreeMap::new();
    let mut seen = Vec::new();
    for event in events.iter().rev() {
        let time: Timestamp = event.time.parse().unwrap_or(now);
        // The first that is told of a task may be the end of a time that began before the window.
        if !seen.contains(&&event.task) {
            seen.push(&event.task);
            if let (Some(from), true) = (from, event.action != EventKind::Claimed) {
                let holder = event.previous_owner.clone().or_else(|| event.owner.clone());
                open.insert(event.task.clone(), (holder, from));
            }
        }
        let mut sum =
            |owner: &Option<String>, add: fn(&mut Tally)| add(sums.entry(owner.clone()).or_default());
        match event.action {
            EventKind::Claimed | EventKind::Forced => sum(&event.owner, |tally| tally.claims += 1),
            EventKind::Reclaimed => sum(&event.owner, |tally| tally.claims += 1),
            EventKind::Released => sum(&event.owner, |tally| tally.releases += 1),
            EventKind::Refreshed
            | EventKind::Edited
            | EventKind::ForceReleased
            | EventKind::CleanedUp
            | EventKind::Removed => {}
        }
        if event.action == EventKind::Reclaimed
            && event.previous_pid.is_some()
            && event.previous_hostname == event.hostname
        {
            sum(&event.owner, |tally| tally.crashes += 1);
        }
        if matches!(event.action, EventKind::Forced | EventKind::ForceReleased) {
            sum(&event.previous_owner, |tally| tally.lost_by_force += 1);
        }
        match event.action {
            EventKind::Refreshed | EventKind::Edited => {}
            EventKind::Claimed | EventKind::Reclaimed | EventKind::Forced => {
                let before = open.insert(event.task.clone(), (event.owner.clone(), time));
                close(&mut sums, before, time);
            }
            EventKind::Released | EventKind::ForceReleased | EventKind::CleanedUp | EventKind::Removed => {
                let before = open.remove(&event.task);
                close(&mut sums, before, time);
            }
        }
    }
    for (task, owner) in held {
        sums.entry(owner.clone()).or_default().held_now += 1;
        let before = open.remove(task).or_else(|| from.map(|from| (owner.clone(), from)));
        close(&mut sums, before, now);
    }
    let named = sums.into_iter().map(|(owner, tally)| Tally { owner, ..tally });
    named.collect()
}

/// A time of holding ends. The clocks of several machines do not agree: none is shorter than nothing.
fn close(
    sums: &mut BTreeMap<Option<String>, Tally>,
    held: Option<(Option<String>, Timestamp)>,
    until: Timestamp,
) {
    if let Some((owner, since)) = held {
        let seconds = until.as_second().saturating_sub(since.as_second());
        sums.entry(owner).or_default().held_seconds += u64::try_from(seconds).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(minute: i64, action: EventKind, task: &str, owner: &str, previous: Option<&str>) -> Event {
        Event {
            time: Timestamp::from_second(minute * 60).unwrap().to_string(),
            action,
            task: TaskId::parse(task).unwrap(),
            owner: Some(owner.to_owned()),
            previous_owner: previous.map(str::to_owned),
            lock_id: None,
            hostname: Some("here".to_owned()),
            previous_pid: previous.map(|_| 1),
            previous_hostname: previous.map(|_| "here".to_owned()),
            note: None,
            commit: String::new(),
        }
    }

    /// owner, claims, releases, crashes, lost by force, minutes held, held now
    type Row<'a> = (&'a str, u64, u64, u64, u64, u64, u64);

    /// What is told, the events in the order of time, the locks of now, the minute in which the window begins.
    type Case<'a> = (&'a str, Vec<Event>, &'a [(&'a str, &'a str)], Option<i64>, &'a [Row<'a>]);

    fn rows(mut events: Vec<Event>, held: &[(&str, &str)], from: Option<i64>) -> Vec<(String, [u64; 6])> {
        events.reverse();
        let minute = |minute: i64| Timestamp::from_second(minute * 60).unwrap();
        let held: Vec<_> = held
            .iter()
            .map(|(task, owner)| (TaskId::parse(task).unwrap(), Some((*owner).to_owned())))
            .collect();
        let tallies = tally(&events, &held, from.map(minute), minute(100));
        let row = |t: Tally| {
            let sums = [t.claims, t.releases, t.crashes, t.lost_by_force, t.held_seconds / 60, t.held_now];
            (t.owner.unwrap_or_default(), sums)
        };
        tallies.into_iter().map(row).collect()
    }

    #[test]
    fn every_row() {
        use EventKind::{Claimed, CleanedUp, ForceReleased, Forced, Reclaimed, Refreshed, Released, Removed};
        let story: [Case<'_>; 9] = [
            (
                "held and given back",
                vec![event(10, Claimed, "1", "a", None), event(25, Released, "1", "a", Some("a"))],
                &[],
                None,
                &[("a", 1, 1, 0, 0, 15, 0)],
            ),
            (
                "held still, renewed in between",
                vec![event(10, Claimed, "1", "a", None), event(20, Refreshed, "1", "a", Some("a"))],
                &[("1", "a")],
                None,
                &[("a", 1, 0, 0, 0, 90, 1)],
            ),
            (
                "a lost session's lock taken over",
                vec![event(10, Claimed, "1", "a", None), event(20, Reclaimed, "1", "a", Some("a"))],
                &[("1", "a")],
                None,
                &[("a", 2, 0, 1, 0, 90, 1)],
            ),
            (
                "taken by force, then removed by force",
                vec![
                    event(10, Claimed, "1", "a", None),
                    event(30, Forced, "1", "b", Some("a")),
                    event(35, ForceReleased, "1", "c", Some("b")),
                ],
                &[],
                None,
                &[("a", 1, 0, 0, 1, 20, 0), ("b", 1, 0, 0, 1, 5, 0)],
            ),
            (
                "cleaned up or removed by somebody",
                vec![
                    event(10, Claimed, "1", "a", None),
                    event(11, Claimed, "2", "a", None),
                    event(20, CleanedUp, "1", "b", Some("a")),
                    event(21, Removed, "2", "b", Some("a")),
                ],
                &[],
                None,
                &[("a", 2, 0, 0, 0, 20, 0)],
            ),
            (
                "what began before the window counts from its beginning",
                vec![event(60, Released, "1", "a", Some("a"))],
                &[],
                Some(50),
                &[("a", 0, 1, 0, 0, 10, 0)],
            ),
            (
                "nothing happened to it in the window",
                vec![],
                &[("1", "a")],
                Some(50),
                &[("a", 0, 0, 0, 0, 50, 1)],
            ),
            (
                "without a window, what cannot be seen is not made up",
                vec![event(60, Released, "1", "a", Some("a"))],
                &[],
                None,
                &[("a", 0, 1, 0, 0, 0, 0)],
            ),
            (
                "clocks that disagree",
                vec![event(30, Claimed, "1", "a", None), event(20, Released, "1", "a", Some("a"))],
                &[],
                None,
                &[("a", 1, 1, 0, 0, 0, 0)],
            ),
        ];
        for (what, events, held, from, wanted) in story {
            let wanted: Vec<_> = wanted
                .iter()
                .map(|(o, a, b, c, d, e, f)| ((*o).to_owned(), [*a, *b, *c, *d, *e, *f]))
                .collect();
            assert_eq!(rows(events, held, from), wanted, "{what}");
        }
    }
}
