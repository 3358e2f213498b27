//! What `doctor` found, for a person: what is wrong, and the command that mends it.

use super::escape::for_terminal;
use super::style;
use crate::domain::finding::{Finding, Level};

/// Where the texts begin: behind the level and the check.
const INDENT: usize = 22;

/// One finding: a line, and its remedy below it; in a terminal, broken between words. A remedy is never
/// broken: it is there to be copied.
#[must_use]
pub fn render(finding: &Finding, columns: Option<u16>) -> String {
    let mark = match finding.level {
        Level::Ok => style::good("ok     "),
        Level::Note => style::doubtful("note   "),
        Level::Problem => style::bad("problem"),
    };
    let text = for_terminal(&finding.text);
    let width = columns.map_or(usize::MAX, |columns| usize::from(columns).saturating_sub(INDENT).max(20));
    let lines = broken(&text, width).join(&format!("\n{:INDENT$}", ""));
    let told = format!("{mark}  {:<12} {lines}\n", finding.check);
    match &finding.remedy {
        None => told,
        Some(remedy) => format!("{told}{:INDENT$}{} {}\n", "", style::dim("→"), for_terminal(remedy)),
    }
}

/// Breaks a text between words.
fn broken(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            lines.push(String::new());
            used = 0;
        }
        if let Some(line) = lines.last_mut() {
            if used > 0 {
                line.push(' ');
                used += 1;
            }
            line.push_str(word);
            used += length;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_broken_and_remedies_are_not() {
        let finding =
            Finding::note("anchor", "one two three four five six").mend("git a long command to be copied");
        let told = anstream::adapter::strip_str(&render(&finding, Some(42))).to_string();
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(lines[0], "note     anchor       one two three four");
        assert_eq!(lines[1], "                      five six");
        assert_eq!(lines[2], "                      → git a long command to be copied");
        assert_eq!(render(&finding, None).lines().count(), 2, "a pipe has no width");
    }
}
