use jiff::tz::TimeZone;

use super::*;
use crate::domain::liveness::{Doubt, Liveness};
use crate::domain::lock::LockView;
use crate::domain::task_id::TaskId;

const NOW: &str = "2026-12-01T12:00:40Z";

fn lock(task: &str, state: State) -> Verdict {
    Verdict::Locked(LockView {
        task: TaskId::parse(task).unwrap(),
        owner: Some("alice@example.com".to_owned()),
        locked_at: Some("2026-12-01T11:00:00Z".to_owned()),
        hostname: Some("laptop".to_owned()),
        pid: Some(7),
        state,
        liveness: Liveness::Unknown(Doubt::NotSeen),
        lock_id: "0123456789abcdef".to_owned(),
        refreshed_at: None,
        anchor_source: None,
        note: Some("a note that is a good deal longer than a narrow terminal is wide".to_owned()),
        file: None,
        damage: None,
    })
}

fn shown(picture: &Picture, rows: usize) -> Vec<String> {
    let args = list::Args { mine: false, gone: false, watch: true, interval: Duration::from_secs(5) };
    let view = View {
        format: Format::Human,
        now: NOW.parse().unwrap(),
        zone: TimeZone::UTC,
        columns: Some(60),
        quiet: false,
        layout: Layout::default(),
        carried: crate::render::Carried::default(),
    };
    let lines = compose(picture, &args, &view, rows);
    lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect()
}

fn picture(locks: Vec<Verdict>) -> Picture {
    Picture {
        locks,
        read_at: Some("2026-12-01T12:00:05Z".parse().unwrap()),
        trouble: None,
        merge: Vec::new(),
    }
}

#[test]
fn what_does_not_fit_is_counted_and_what_is_mine_comes_first() {
    let mut locks: Vec<Verdict> = (1..=1000).map(|task| lock(&task.to_string(), State::Elsewhere)).collect();
    locks[998] = lock("999", State::Mine);
    let lines = shown(&picture(locks), 8);
    assert_eq!(lines.len(), 8);
    assert!(lines[0].starts_with("1000 locks: 1 mine, 999 elsewhere  12:00:05"), "{lines:#?}");
    assert!(lines[2].starts_with("TASK"), "{lines:#?}");
    assert!(lines[3].starts_with("999 "), "{lines:#?}");
    assert!(lines[4].starts_with("1 "), "{lines:#?}");
    assert_eq!(lines[7], "… and 996 more");
    for line in &lines[2..] {
        assert!(line.chars().count() <= 60, "{line:?} fits");
    }
}

#[test]
fn every_height_is_respected() {
    let locks: Vec<Verdict> = (1..=5).map(|task| lock(&task.to_string(), State::Live)).collect();
    for rows in 0..12 {
        let lines = shown(&picture(locks.clone()), rows);
        assert!(lines.len() <= rows, "{rows}: {lines:#?}");
        let more = lines.iter().any(|line| line.contains("more"));
        let all = lines.iter().filter(|line| line.contains("live  ")).count() == 6;
        assert!(rows < 3 || more != all, "{rows}: {lines:#?}");
    }
}

#[test]
fn the_last_list_stays_with_its_age_when_the_remote_is_gone() {
    let mut picture = picture(vec![lock("42", State::Live)]);
    picture.trouble = Some(Failure::new(FailureKind::FetchFailed, "no\u{1b}[2J route"));
    let lines = shown(&picture, 24);
    assert_eq!(lines[1], "cannot look: no\\e[2J route");
    assert_eq!(lines[2], "What is shown was read 35 s ago.");
    assert!(lines.iter().any(|line| line.starts_with("42 ")), "{lines:#?}");
    picture.read_at = None;
    picture.locks.clear();
    let lines = shown(&picture, 24);
    assert!(lines[0].starts_with("Nothing is known of the locks."), "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("No such lock")), "nothing is known: {lines:#?}");
}
