//! What `doctor` found, for a person: what is wrong, and the command that mends it.

use super::escape::for_terminal;
use super::style;
use crate::domain::finding::{Finding, Level};

/// One finding: a line, and its remedy below it.
#[must_use]
pub fn render(finding: &Finding) -> String {
    let mark = match finding.level {
        Level::Ok => style::good("ok     "),
        Level::Note => style::doubtful("note   "),
        Level::Problem => style::bad("problem"),
    };
    let text = format!("{mark}  {:<12} {}\n", finding.check, for_terminal(&finding.text));
    match &finding.remedy {
        None => text,
        Some(remedy) => format!("{text}{:22} {} {}\n", "", style::dim("→"), for_terminal(remedy)),
    }
}
