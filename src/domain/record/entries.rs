//! A lock file's lines, grouped into top-level entries.
//!
//! What a line is depends on that line alone. An entry that was read from one file is therefore
//! the same entry in any other file it is written to: it cannot become a known key there.

use std::collections::BTreeMap;

use super::known;

/// What stands behind a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    /// Nothing, `null` or `~`.
    Missing,
    /// A text.
    Text(String),
    /// A quoted or block text that cannot be read, as it stands in the file: it may be cut off.
    Broken(String),
}

/// A key at the start of a line, and everything up to the next one.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    /// The key, unquoted.
    pub(super) key: String,
    /// All lines of the entry.
    pub(super) verbatim: &'a str,
    /// What follows the key's colon, continuation lines included.
    value: &'a str,
}

/// The entries of one file.
#[derive(Debug)]
pub(super) struct Split<'a> {
    /// In the order of the file.
    pub(super) entries: Vec<Entry<'a>>,
    /// Whether there are lines that are neither a key nor belong to one.
    pub(super) strays: bool,
    /// Whether the last line lacks its line break, so that the last value may be cut off.
    pub(super) unterminated: bool,
}

/// The content behind what may stand before it: directives, comments, a document marker.
pub(super) fn body(text: &str) -> &str {
    let mut rest = text;
    while let Some(line) = rest.split_inclusive('\n').next() {
        let bare = line.trim_end();
        let marker = bare.strip_prefix("---").is_some_and(|after| after.is_empty() || is_filler(after));
        if !(is_filler(bare) || bare.starts_with('%') || marker) {
            break;
        }
        rest = rest.get(line.len()..).unwrap_or_default();
    }
    rest
}

/// Groups the lines of a [`body`].
pub(super) fn split(body: &str) -> Split<'_> {
    let mut heads: Vec<(usize, Key)> = Vec::new();
    let mut strays = false;
    let mut end = None;
    let mut offset = 0;
    for line in body.split_inclusive('\n') {
        let start = offset;
        offset += line.len();
        let bare = line.strip_suffix('\n').unwrap_or(line);
        if is_filler(bare) {
            continue;
        }
        if end.is_some() {
            // A second document: which of the two counts cannot be told.
            strays = true;
        } else if bare.trim_end() == "..." {
            end = Some(start);
        } else if is_continuation(bare) {
            strays |= heads.is_empty();
        } else {
            match Key::read(bare) {
                Some(key) => heads.push((start, key)),
                None => strays = true,
            }
        }
    }
    let unterminated = end.is_none() && !body.is_empty() && !body.ends_with('\n');
    let mut next = end.unwrap_or(body.len());
    let mut entries = Vec::with_capacity(heads.len());
    for (start, key) in heads.into_iter().rev() {
        let verbatim = body.get(start..next).unwrap_or_default();
        let value = verbatim.get(key.value_at..).unwrap_or_default();
        entries.push(Entry { key: key.name, verbatim, value });
        next = start;
    }
    entries.reverse();
    Split { entries, strays, unterminated }
}

impl Entry<'_> {
    /// Reads the value as a text.
    ///
    /// A plain value is its raw text, so that `no`, `1e5` and `Ann Example: lead # core` stay what
    /// they are; only quotes and block texts are left to YAML.
    pub(super) fn scalar(&self) -> Scalar {
        let pieces: Vec<&str> = self.pieces().collect();
        match pieces.first() {
            None => Scalar::Missing,
            Some(first) if first.starts_with(['"', '\'']) => self.unquoted(false),
            Some(first) if first.starts_with(['|', '>']) => self.unquoted(true),
            Some(first) if pieces.len() == 1 && is_null(first) => Scalar::Missing,
            Some(_) => Scalar::Text(pieces.join(" ")),
        }
    }

    fn unquoted(&self, is_block: bool) -> Scalar {
        let read = serde_yaml::from_str::<BTreeMap<String, String>>(&format!("v:{}", self.value));
        match read.ok().and_then(|mut map| map.remove("v").filter(|_| map.is_empty())) {
            Some(text) if is_block => {
                // It ends in line breaks that nobody means.
                let text = text.trim_end_matches('\n');
                if text.is_empty() { Scalar::Missing } else { Scalar::Text(text.to_owned()) }
            }
            Some(text) if text.is_empty() => Scalar::Missing,
            Some(text) => Scalar::Text(text),
            None => Scalar::Broken(self.pieces().collect::<Vec<&str>>().join(" ")),
        }
    }

    /// The trimmed lines of the value, without empty and comment lines behind the first.
    fn pieces(&self) -> impl Iterator<Item = &str> {
        self.value
            .split('\n')
            .enumerate()
            .filter(|(index, line)| *index == 0 || !is_filler(line))
            .map(|(_, line)| line.trim_matches(BLANKS))
            .filter(|line| !line.is_empty())
    }
}

/// Whether a plain text means "nothing".
pub(super) fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// What YAML takes for white space within a line; any other is part of a value.
const BLANKS: [char; 2] = [' ', '\t'];

/// An empty line or a comment: part of the entry before it, and of no meaning.
fn is_filler(line: &str) -> bool {
    let content = line.trim_start_matches(BLANKS);
    content.is_empty() || content.starts_with('#')
}

fn is_continuation(line: &str) -> bool {
    line.starts_with(BLANKS) || line == "-" || line.starts_with("- ") || line.starts_with("-\t")
}

/// A key at the start of a line.
struct Key {
    name: String,
    value_at: usize,
}

impl Key {
    fn read(line: &str) -> Option<Self> {
        match line.chars().next()? {
            quote @ ('"' | '\'') => Self::quoted(line, quote),
            // Tags, anchors, aliases, flow collections, block texts, reserved signs: a reader
            // of YAML may see a known key behind them.
            '!' | '&' | '*' | '[' | ']' | '{' | '}' | ',' | '|' | '>' | '@' | '`' | '%' => None,
            '?' if line == "?" || line.starts_with("? ") || line.starts_with("?\t") => None,
            _ => {
                let colon = line.match_indices(':').map(|(at, _)| at).find(|at| ends_key(line, *at))?;
                let name = line.get(..colon)?.trim_end_matches(BLANKS);
                // To a reader that goes by lines, `pid:1: x` is a pid.
                let ambiguous = name.split_once(':').is_some_and(|(first, _)| known(first).is_some());
                let named = !name.is_empty() && !ambiguous;
                named.then(|| Self { name: name.to_owned(), value_at: colon + 1 })
            }
        }
    }

    fn quoted(line: &str, quote: char) -> Option<Self> {
        let mut chars = line.char_indices().skip(1).peekable();
        let mut end = None;
        while let Some((at, c)) = chars.next() {
            if c == '\\' && quote == '"' {
                chars.next();
            } else if c == quote {
                if quote == '\'' && chars.peek().is_some_and(|(_, next)| *next == quote) {
                    chars.next();
                } else {
                    end = Some(at + 1);
                    break;
                }
            }
        }
        let end = end?;
        let rest = line.get(end..)?;
        let colon = end + (rest.len() - rest.trim_start_matches(BLANKS).len());
        if !(line.get(colon..)?.starts_with(':') && ends_key(line, colon)) {
            return None;
        }
        let name = serde_yaml::from_str(line.get(..end)?).ok()?;
        Some(Self { name, value_at: colon + 1 })
    }
}

/// Whether the colon at this offset ends a key: a blank or nothing follows.
fn ends_key(line: &str, colon: usize) -> bool {
    line.get(colon + 1..).is_some_and(|after| after.is_empty() || after.starts_with(BLANKS))
}
