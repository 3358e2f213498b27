//! Plain text becomes roff for man(7).
//!
//! The texts are written as one reads them: paragraphs, `# HEADINGS`, `## subheadings`, lists with
//! `* `, definitions (`term::`, explained in the lines below it), blocks indented by four blanks that
//! are kept as they are, `code` between backticks and <placeholders>.

use std::fmt::Write as _;

/// A title line and what stands below it.
#[must_use]
pub fn title(page: &str, date: &str, source: &str) -> String {
    let comment =
        ".\\\" Made of the command definitions and of src/manual/text; tests/manual.rs keeps it current.";
    format!(
        "{comment}\n.TH \"{}\" \"1\" \"{date}\" \"{source}\" \"Git Manual\"\n.nh\n.ad l\n",
        escaped(&page.to_uppercase())
    )
}

/// A section.
#[must_use]
pub fn section(name: &str) -> String {
    format!(".SH \"{}\"\n", escaped(name))
}

/// A part of a section.
#[must_use]
pub fn subsection(name: &str) -> String {
    format!(".SS \"{}\"\n", escaped(name))
}

/// A definition: a term in roff, and its explanation in plain text.
#[must_use]
pub fn definition(term: &str, explanation: &str) -> String {
    format!(".TP\n{term}\n{}\n", inline(explanation))
}

/// Text that is typed.
#[must_use]
pub fn bold(text: &str) -> String {
    format!("\\fB{}\\fR", escaped(text))
}

/// Text that stands for something else.
#[must_use]
pub fn italic(text: &str) -> String {
    format!("\\fI{}\\fR", escaped(text))
}

/// Text without any meaning to roff. Characters that roff would beautify stay what they are: they
/// are copied out of manuals.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => safe.push_str("\\e"),
            '-' => safe.push_str("\\-"),
            '\'' => safe.push_str("\\(aq"),
            '`' => safe.push_str("\\(ga"),
            '^' => safe.push_str("\\(ha"),
            '~' => safe.push_str("\\(ti"),
            '"' => safe.push_str("\\(dq"),
            c if c.is_ascii() => safe.push(c),
            c => {
                let _infallible = write!(safe, "\\[u{:04X}]", u32::from(c));
            }
        }
    }
    safe
}

/// One paragraph's text: `code` in bold, <placeholders> in italics.
#[must_use]
pub fn inline(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for (index, part) in text.split('`').enumerate() {
        if index % 2 == 1 {
            line.push_str(&bold(part));
        } else {
            placeholders(part, &mut line);
        }
    }
    guarded(&line)
}

fn placeholders(text: &str, line: &mut String) {
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        let Some((name, tail)) = after.split_once('>') else { break };
        line.push_str(&escaped(before));
        line.push_str(&italic(&format!("<{name}>")));
        rest = tail;
    }
    // In prose a hyphen is a hyphen.
    line.push_str(&escaped(rest).replace("\\-", "-"));
}

/// A line of text must not look like a request.
fn guarded(line: &str) -> String {
    if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line.to_owned() }
}

/// A whole text, up to its end.
#[must_use]
pub fn text(source: &str) -> String {
    let mut roff = String::new();
    let mut state = State::Between;
    for line in source.lines() {
        if let Some(literal) = line.strip_prefix("    ") {
            if state != State::Literal {
                // Right below a heading there is space enough.
                roff.push_str(if state == State::First { ".RS 4\n.nf\n" } else { ".PP\n.RS 4\n.nf\n" });
                state = State::Literal;
            }
            roff.push_str(&guarded(&escaped(literal)));
            roff.push('\n');
            continue;
        }
        if state == State::Literal {
            roff.push_str(".fi\n.RE\n");
            state = State::Between;
        }
        state = one(line, state, &mut roff);
    }
    if state == State::Literal {
        roff.push_str(".fi\n.RE\n");
    }
    roff
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// After a blank line or a heading.
    Between,
    /// After a heading: the first paragraph needs no space.
    First,
    /// Inside a paragraph or an item.
    Running,
    /// Inside a block that is kept as it is.
    Literal,
}

fn one(line: &str, state: State, roff: &mut String) -> State {
    if line.trim().is_empty() {
        return if state == State::First { State::First } else { State::Between };
    }
    if let Some(name) = line.strip_prefix("## ") {
        roff.push_str(&subsection(name));
        return State::First;
    }
    if let Some(name) = line.strip_prefix("# ") {
        roff.push_str(&section(name));
        return State::First;
    }
    if let Some(item) = line.strip_prefix("* ") {
        let _infallible = writeln!(roff, ".IP \\(bu 3\n{}", inline(item));
        return State::Running;
    }
    if let Some(term) = line.strip_suffix("::") {
        let _infallible = writeln!(roff, ".TP\n{}", inline(term));
        return State::Running;
    }
    if state == State::Between {
        roff.push_str(".PP\n");
    }
    let _infallible = writeln!(roff, "{}", inline(line.trim_start()));
    State::Running
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_as_one_reads_it_becomes_roff() {
        let source = "# DESCRIPTION\n\nIt takes `-n` <count>\nlines.\n\nMore.\n\n    git x -y\n    .dot\n\n\
                      * one\n  and a half\n* two\n\n`a`::\n  first\n";
        let roff = ".SH \"DESCRIPTION\"\nIt takes \\fB\\-n\\fR \\fI<count>\\fR\nlines.\n.PP\nMore.\n\
                    .PP\n.RS 4\n.nf\ngit x \\-y\n\\&.dot\n.fi\n.RE\n\
                    .IP \\(bu 3\none\nand a half\n.IP \\(bu 3\ntwo\n.TP\n\\fBa\\fR\nfirst\n";
        assert_eq!(text(source), roff);
    }

    #[test]
    fn nothing_in_a_text_is_a_request() {
        assert_eq!(inline(".git is it"), "\\&.git is it");
        assert_eq!(escaped("a\\b 'c' \u{2026}"), "a\\eb \\(aqc\\(aq \\[u2026]");
        assert_eq!(inline("well-known `--x`"), "well-known \\fB\\-\\-x\\fR");
    }
}
