//! Tables for a person: the list of locks and the list of words, fitted to the terminal.

use comfy_table::{Attribute, Cell, Color, ColumnConstraint, ContentArrangement, Row, Table, presets};

use super::View;
use super::escape::for_terminal;
use crate::domain::lock::{LockView, State};
use crate::domain::moment;
use crate::domain::verdict::Verdict;

/// Whether the outcomes are rows of a list.
#[must_use]
pub fn is_list(verdicts: &[Verdict]) -> bool {
    !verdicts.is_empty() && verdicts.iter().all(|verdict| lock_of(verdict).is_some())
}

/// The list of locks.
#[must_use]
pub fn render(verdicts: &[Verdict], view: &View) -> String {
    let locks: Vec<&LockView> = verdicts.iter().filter_map(lock_of).collect();
    list(&locks, view)
}

fn lock_of(verdict: &Verdict) -> Option<&LockView> {
    match verdict {
        Verdict::Locked(lock) => Some(lock),
        _ => None,
    }
}

fn empty(view: &View, header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    if let Some(columns) = view.columns {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns);
    } else {
        table.force_no_tty();
    }
    table.set_header(header.iter().map(|title| Cell::new(title).add_attribute(Attribute::Bold)));
    if let Some(first) = table.column_mut(0) {
        first.set_padding((0, 1));
    }
    table
}

/// One row and one line a lock: task, owner, host, session, state, age, note. Where the terminal is
/// narrow, the texts of others are cut, never the task and its state.
#[must_use]
pub fn list(locks: &[&LockView], view: &View) -> String {
    let mut table = empty(view, &["TASK", "OWNER", "HOST", "SESSION", "STATE", "AGE", "NOTE"]);
    for lock in locks {
        let unknown = || "unknown".to_owned();
        let age = lock.locked_at.as_deref().map_or_else(unknown, |text| {
            moment::age_text(moment::age(view.now, &moment::read(text, &view.zone)))
        });
        let cells = [
            Cell::new(lock.task.as_str()),
            Cell::new(lock.owner.as_deref().map_or_else(unknown, for_terminal)),
            Cell::new(lock.hostname.as_deref().map_or_else(unknown, for_terminal)),
            Cell::new(lock.pid.map_or_else(|| "-".to_owned(), |pid| pid.to_string())),
            state(lock.state),
            Cell::new(age),
            Cell::new(for_terminal(lock.note.as_deref().unwrap_or_default())),
        ];
        let mut row = Row::from(cells);
        table.add_row(std::mem::take(row.max_height(1)));
    }
    for whole in [0, 3, 4, 5] {
        if let Some(column) = table.column_mut(whole) {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    lines(&table)
}

fn state(state: State) -> Cell {
    let (word, color) = match state {
        State::Mine => ("mine", Color::Green),
        State::Live => ("live", Color::Blue),
        State::Gone => ("gone", Color::Yellow),
        State::CannotTell => ("cannot tell", Color::Magenta),
        State::Elsewhere => ("elsewhere", Color::Cyan),
        State::Unreadable => ("unreadable", Color::Red),
    };
    Cell::new(word).fg(color)
}

/// What the story adds up to.
#[must_use]
pub fn tallies(verdicts: &[Verdict], view: &View) -> String {
    let header = ["OWNER", "CLAIMS", "RELEASES", "LOST SESSIONS", "LOST BY FORCE", "TIME HELD", "HELD NOW"];
    let mut table = empty(view, &header);
    for verdict in verdicts {
        if let Verdict::Tally(sum) = verdict {
            let numbers = [sum.claims, sum.releases, sum.crashes, sum.lost_by_force];
            let owner = sum.owner.as_deref().map_or_else(|| "unknown".to_owned(), for_terminal);
            let mut row = vec![owner];
            row.extend(numbers.map(|number| number.to_string()));
            row.push(format!("{}h{:02}m", sum.held_seconds / 3600, sum.held_seconds / 60 % 60));
            row.push(sum.held_now.to_string());
            table.add_row(row);
        }
    }
    lines(&table)
}

/// The list of words.
#[must_use]
pub fn words(verdicts: &[Verdict], view: &View) -> String {
    let mut table = empty(view, &["WORD", "EXIT", "MEANING"]);
    for verdict in verdicts {
        if let Verdict::Word(word) = verdict {
            table.add_row([word.word, word.exit, word.meaning]);
        }
    }
    lines(&table)
}

fn lines(table: &Table) -> String {
    table.lines().map(|line| line.trim_end().trim_start_matches(' ').to_owned() + "\n").collect()
}
