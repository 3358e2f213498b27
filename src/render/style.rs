//! The few styles of human output. They are taken out again where no terminal reads.

use anstyle::{AnsiColor, Style};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default();
const STRONG: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

fn labelled(style: Style, label: &str, text: &str) -> String {
    format!("{style}{label}:{style:#} {text}\n")
}

/// A line that says what went wrong.
#[must_use]
pub fn error(text: &str) -> String {
    labelled(ERROR, "error", text)
}

/// A line that says what may go wrong.
#[must_use]
pub fn warning(text: &str) -> String {
    labelled(WARNING, "warning", text)
}

/// A line that says what is worth knowing.
#[must_use]
pub fn note(text: &str) -> String {
    labelled(HINT, "note", text)
}

/// A line that says what to do next.
#[must_use]
pub fn hint(text: &str) -> String {
    labelled(HINT, "hint", text)
}

/// A line that says what was asked for and not given.
#[must_use]
pub fn refused(text: &str) -> String {
    labelled(WARNING, "refused", text)
}

/// A word that the eye should find.
#[must_use]
pub fn strong(text: &str) -> String {
    format!("{STRONG}{text}{STRONG:#}")
}

/// A word that may be overlooked.
#[must_use]
pub fn dim(text: &str) -> String {
    format!("{DIM}{text}{DIM:#}")
}

/// A word in the colour of good news.
#[must_use]
pub fn good(text: &str) -> String {
    let style = AnsiColor::Green.on_default();
    format!("{style}{text}{style:#}")
}

/// A word in the colour of bad news.
#[must_use]
pub fn bad(text: &str) -> String {
    let style = AnsiColor::Red.on_default();
    format!("{style}{text}{style:#}")
}

/// A word in the colour of doubt.
#[must_use]
pub fn doubtful(text: &str) -> String {
    let style = AnsiColor::Yellow.on_default();
    format!("{style}{text}{style:#}")
}
