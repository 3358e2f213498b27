//! Keeps text of others from doing anything to a terminal, to a line format, or to a shell.

/// Whether a character could steer a terminal, hide text, or end a line.
#[must_use]
pub fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// Text for a person: hostile characters become visible.
#[must_use]
pub fn for_terminal(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            '\r' => shown.push_str("\\r"),
            '\u{1b}' => shown.push_str("\\e"),
            c if is_hostile(c) => shown.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => shown.push(c),
        }
    }
    shown
}

/// A field of a porcelain line: `%`, `|` and hostile characters percent-encoded, byte by byte.
#[must_use]
pub fn for_field(text: &str) -> String {
    let mut field = String::with_capacity(text.len());
    let mut bytes = [0; 4];
    for c in text.chars() {
        if c == '%' || c == '|' || is_hostile(c) {
            for byte in c.encode_utf8(&mut bytes).bytes() {
                field.push_str(&format!("%{byte:02X}"));
            }
        } else {
            field.push(c);
        }
    }
    field
}

/// An argument of a printed command, safe to paste whatever it holds.
#[must_use]
pub fn for_shell(text: &str) -> String {
    if text.chars().any(is_hostile) {
        // Nothing invisible is ever pasted: the reader sees that it has to be typed.
        return format!("'<{}>'", for_terminal(text).replace('\'', "?"));
    }
    shlex::try_quote(text).map_or_else(|_| "'?'".to_owned(), std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_becomes_harmless() {
        for (text, terminal, field) in [
            ("plain é", "plain é", "plain é"),
            ("a\u{1b}[2Jb", "a\\e[2Jb", "a%1B[2Jb"),
            ("a\nb\tc\r", "a\\nb\\tc\\r", "a%0Ab%09c%0D"),
            ("a|b%c", "a|b%c", "a%7Cb%25c"),
            ("x\u{202e}y", "x\\u{202e}y", "x%E2%80%AEy"),
            ("\u{85}\u{7f}", "\\u{85}\\u{7f}", "%C2%85%7F"),
        ] {
            assert_eq!(for_terminal(text), terminal);
            assert_eq!(for_field(text), field);
        }
    }

    #[test]
    fn printed_arguments_are_safe_to_paste() {
        assert_eq!(for_shell("abc-1"), "abc-1");
        assert_eq!(for_shell("a b"), "'a b'");
        assert_eq!(for_shell("$(rm x)"), "'$(rm x)'");
        assert_eq!(for_shell("a\u{1b}'b"), "'<a\\e?b>'");
    }
}
