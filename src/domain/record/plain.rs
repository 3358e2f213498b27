//! Which texts can stand behind a shared key as they are.
//!
//! The shell implementation takes everything behind `key:` and blanks, up to the end of the line,
//! literally; a reader of YAML strips quotes, comments and escapes. Only a text that is the same to
//! both may be written there.

use std::fmt;

use super::entries;

/// Why a text cannot be a value of a shared key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotPlain {
    /// Nothing stands there.
    Empty,
    /// White space at its beginning or end, which readers strip.
    Padded,
    /// A control character or a line break of any kind, or a character that YAML does not allow.
    Control,
    /// It begins with a character that means something to YAML.
    Sign(char),
    /// `: ` within it, or `:` at its end, which begin a value.
    Colon,
    /// ` #` within it, which begins a comment.
    Comment,
    /// A word for "nothing": `~`, `null`, or `-`, which the shell implementation writes for it.
    Nothing,
}

impl fmt::Display for NotPlain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it is empty"),
            Self::Padded => f.write_str("it begins or ends with white space"),
            Self::Control => f.write_str("it holds control characters"),
            Self::Sign(sign) => write!(f, "it begins with {sign}, which means something else in a record"),
            Self::Colon => f.write_str("it holds a colon before a blank or at its end"),
            Self::Comment => f.write_str("it holds a # after a blank, which begins a comment"),
            Self::Nothing => f.write_str("it is a word for nothing"),
        }
    }
}

/// Whether a text can stand behind a shared key without quotes, and is the same there to a reader of
/// lines and to a reader of YAML.
///
/// What YAML takes for another type (`no`, `1e5`, `16_2`) is the same text to both, and this
/// program reads texts.
///
/// # Errors
/// What is in the way.
pub fn plain(text: &str) -> Result<(), NotPlain> {
    let Some(first) = text.chars().next() else { return Err(NotPlain::Empty) };
    // What begins or ends with a line separator is padded, too; the more telling word comes first.
    if text.chars().any(is_forbidden) {
        Err(NotPlain::Control)
    } else if text.trim() != text {
        Err(NotPlain::Padded)
    } else if text == "-" || entries::is_null(text) {
        Err(NotPlain::Nothing)
    } else if is_sign(first, text) {
        Err(NotPlain::Sign(first))
    } else if text.contains(": ") || text.ends_with(':') {
        Err(NotPlain::Colon)
    } else if text.contains(" #") {
        Err(NotPlain::Comment)
    } else {
        Ok(())
    }
}

/// Control characters, line breaks, and what readers of YAML refuse or swallow.
pub(super) fn is_forbidden(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Whether YAML takes the first character for a sign of its own.
fn is_sign(first: char, text: &str) -> bool {
    match first {
        ',' | '[' | ']' | '{' | '}' | '#' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`' => {
            true
        }
        // Signs only before a blank. A text that is nothing but dots or dashes would be one at the
        // start of a line, where it never stands.
        '-' | '?' | ':' => text.chars().nth(1).is_none_or(|second| second == ' '),
        _ => false,
    }
}
