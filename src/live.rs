//! `list --watch`: the list, shown again and again in place. One connection for each look; when the
//! remote cannot be read, the last list stays, with its age.

use std::time::Duration;

use jiff::Timestamp;

use crate::commands::merge::status;
use crate::commands::{Answer, list};
use crate::context::{Context, Format, GlobalArgs, Layout};
use crate::domain::failure::{Failure, FailureKind};
use crate::domain::lock::State;
use crate::domain::merge::verdict::MergeVerdict;
use crate::domain::verdict::Verdict;
use crate::render::{View, escape, human, style, table};
use crate::sys::child::die_of;
use crate::sys::screen::{Screen, Woken};
use crate::sys::{clock, screen, terminal};

/// Most time for one look, so that the keys are not dead for long.
const LOOK_LIMIT: Duration = Duration::from_secs(15);

/// What is shown.
#[derive(Debug, Default)]
struct Picture {
    locks: Vec<Verdict>,
    /// When the locks were read; never so far when missing.
    read_at: Option<Timestamp>,
    /// Why the last look failed.
    trouble: Option<Failure>,
    /// Who holds the merge, and who waits for it.
    merge: Vec<Verdict>,
}

/// Shows the list until the reader has seen enough.
#[must_use]
pub fn run(global: &GlobalArgs, args: &list::Args) -> Answer {
    if !screen::possible() {
        let message = "--watch needs a terminal for input and output";
        return Failure::new(FailureKind::Usage, message).hint("git aitask-lock list").into();
    }
    // What can never work is said on the plain screen.
    if let Err(failure) = Context::open(global).and_then(|context| context.arbiter().map(drop)) {
        return failure.into();
    }
    match watch(global, args) {
        Ok(()) => Answer::with_exit(Vec::new(), 0),
        Err(error) => {
            Failure::new(FailureKind::Fatal, format!("the terminal cannot be used: {error}")).into()
        }
    }
}

fn watch(global: &GlobalArgs, args: &list::Args) -> std::io::Result<()> {
    let screen = Screen::enter()?;
    let mut picture = Picture::default();
    screen.draw(&[style::dim("Reading the locks …")])?;
    loop {
        look(global, args, &mut picture);
        let due = clock::deadline_in(args.interval);
        loop {
            let (rows, columns) = terminal::size().unwrap_or((24, 80));
            let view = View {
                format: Format::Human,
                now: clock::now(),
                zone: clock::zone(),
                columns: Some(columns),
                quiet: false,
                layout: Layout::default(),
                carried: crate::render::Carried::default(),
            };
            let lines = compose(&picture, args, &view, usize::from(rows));
            screen.draw(&plain_where_wanted(lines))?;
            match screen.wait(due) {
                Woken::Key(b'q' | b'Q') | Woken::Closed => return Ok(()),
                Woken::Due | Woken::Key(b'r' | b' ') => break,
                Woken::Key(_) | Woken::Resized => {}
                Woken::Signal(signal) => die_of(signal),
            }
        }
    }
}

fn look(global: &GlobalArgs, args: &list::Args, picture: &mut Picture) {
    let mut bounded = global.clone();
    bounded.timeout = Some(global.timeout.map_or(LOOK_LIMIT, |timeout| timeout.min(LOOK_LIMIT)));
    let read = Context::open(&bounded).and_then(|context| {
        picture.merge = merge_of(&context);
        list::read(&context, args)
    });
    match read {
        Ok(locks) => {
            *picture = Picture {
                locks,
                read_at: Some(clock::now()),
                trouble: None,
                merge: std::mem::take(&mut picture.merge),
            };
        }
        Err(failure) => picture.trouble = Some(failure),
    }
}

/// The merge reservation and its queue, where somebody holds it or waits. A mutex that cannot be read is no
/// reason not to show the locks.
fn merge_of(context: &Context) -> Vec<Verdict> {
    let Ok(answer) = status::run(context) else { return Vec::new() };
    let idle = |verdict: &Verdict| match verdict {
        Verdict::Merge(merge) => {
            matches!(&**merge, MergeVerdict::Free(standing) if standing.queue.is_empty())
        }
        _ => false,
    };
    if answer.verdicts.iter().any(idle) { Vec::new() } else { answer.verdicts }
}

/// The lines of one picture, at most `rows`.
fn compose(picture: &Picture, args: &list::Args, view: &View, rows: usize) -> Vec<String> {
    let mut lines = vec![heading(picture, args, view)];
    if let Some(failure) = &picture.trouble {
        let message = escape::for_terminal(&failure.message);
        lines.push(format!("{} {message}", style::bad("cannot look:")));
        if let Some(read_at) = picture.read_at {
            let age = seconds_since(view.now, read_at);
            lines.push(style::doubtful(&format!("What is shown was read {age} s ago.")));
        }
    }
    // At most a third of the screen: the locks are what was asked for.
    let merge = human::render(&picture.merge, view).stdout;
    lines.extend(merge.lines().take((rows / 3).max(1)).map(str::to_owned));
    lines.push(String::new());
    let room = rows.saturating_sub(lines.len());
    if picture.locks.is_empty() {
        if picture.read_at.is_some() {
            lines.push("No such lock.".to_owned());
        }
    } else {
        lines.extend(fitted(&picture.locks, view, room));
    }
    lines.truncate(rows);
    lines
}

/// The table in at most `room` lines. Where not all fit, what concerns this session comes first.
fn fitted(locks: &[Verdict], view: &View, room: usize) -> Vec<String> {
    if locks.len() < room {
        return table::render(locks, view).lines().map(str::to_owned).collect();
    }
    // One line for the titles, one for what is left out.
    let shown = room.saturating_sub(2);
    let mut order: Vec<&Verdict> = locks.iter().collect();
    order.sort_by_key(|verdict| state(verdict));
    let first: Vec<Verdict> = order.into_iter().take(shown).cloned().collect();
    let mut lines: Vec<String> = if first.is_empty() {
        Vec::new()
    } else {
        table::render(&first, view).lines().map(str::to_owned).collect()
    };
    lines.push(style::dim(&format!("… and {} more", locks.len() - first.len())));
    lines
}

fn state(verdict: &Verdict) -> Option<State> {
    match verdict {
        Verdict::Locked(lock) => Some(lock.state),
        _ => None,
    }
}

/// How many locks of which kind, and when that was.
fn heading(picture: &Picture, args: &list::Args, view: &View) -> String {
    const STATES: [(State, &str); 6] = [
        (State::Mine, "mine"),
        (State::Live, "live"),
        (State::Gone, "gone"),
        (State::CannotTell, "cannot tell"),
        (State::Elsewhere, "elsewhere"),
        (State::Unreadable, "unreadable"),
    ];
    let count = |wanted| picture.locks.iter().filter(|lock| state(lock) == Some(wanted)).count();
    let counts = STATES.into_iter().map(|(state, word)| (count(state), word)).filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, word)| format!("{count} {word}")).collect();
    let counts = if counts.is_empty() { String::new() } else { format!(": {}", counts.join(", ")) };
    let total = picture.locks.len();
    let locks = format!("{total} {}{counts}", if total == 1 { "lock" } else { "locks" });
    let every = args.interval.as_secs();
    let Some(read_at) = picture.read_at else {
        // Nothing is known: that is not "no locks".
        let keys = format!("every {every} s; r looks now, q ends");
        return format!("{}  {}", style::strong("Nothing is known of the locks."), style::dim(&keys));
    };
    let time = read_at.to_zoned_datetime(view.zone.clone()).strftime("%H:%M:%S").to_string();
    let keys = format!("{time}, every {every} s; r looks now, q ends");
    format!("{}  {}", style::strong(&locks), style::dim(&keys))
}

fn seconds_since(now: Timestamp, then: Timestamp) -> i64 {
    now.duration_since(then).as_secs().max(0)
}

/// Without styles where the reader wants none (`NO_COLOR`).
fn plain_where_wanted(lines: Vec<String>) -> Vec<String> {
    if anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never {
        return lines;
    }
    lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect()
}

#[cfg(test)]
mod tests;
