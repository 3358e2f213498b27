//! A verdict becomes text: sentences, one stable line, or one JSON document. Nothing here looks at
//! the world; what a rendering needs to know of it arrives in a [`View`].

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::context::{Format, Layout};
use crate::domain::verdict::Verdict;

pub mod escape;
pub mod events;
pub mod findings;
pub mod hook;
pub mod human;
pub mod json;
pub mod merge;
pub mod porcelain;
pub mod style;
pub mod table;

/// What a rendering has to know of the reader.
#[derive(Clone, Debug)]
pub struct View {
    /// The chosen rendering.
    pub format: Format,
    /// Now, for ages.
    pub now: Timestamp,
    /// The reader's time zone.
    pub zone: TimeZone,
    /// Columns of the reader's terminal; none in a pipe.
    pub columns: Option<u16>,
    /// Whether only what was asked for is wanted.
    pub quiet: bool,
    /// How a person is shown the outcomes.
    pub layout: Layout,
}

/// What goes to standard output and to standard error; styled text where a person reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// Data.
    pub stdout: String,
    /// Talk.
    pub stderr: String,
}

/// Renders the outcomes of one command, with what a person may want to know besides.
#[must_use]
pub fn render(verdicts: &[Verdict], warnings: &[String], notes: &[String], view: &View) -> Printed {
    let mut printed = match view.format {
        Format::Human => human::render(verdicts, view),
        Format::Porcelain => {
            Printed { stdout: porcelain::render(verdicts), stderr: failures(verdicts, view) }
        }
        Format::Json => Printed { stdout: json::render(verdicts), stderr: String::new() },
    };
    if !view.quiet && view.format != Format::Json {
        for warning in warnings {
            printed.stderr.push_str(&style::warning(&escape::for_terminal(warning)));
        }
        for note in notes {
            printed.stderr.push_str(&style::note(&escape::for_terminal(note)));
        }
    }
    printed
}

/// Failures are told in words beside the machine line, since the line only names them.
fn failures(verdicts: &[Verdict], view: &View) -> String {
    let failures = verdicts.iter().filter(|verdict| matches!(verdict, Verdict::LockError(_)));
    let failures: Vec<Verdict> = failures.cloned().collect();
    if failures.is_empty() {
        return String::new();
    }
    human::render(&failures, view).stderr
}
