//! One JSON document, on every path. It keeps the exact data; characters that could steer a terminal
//! are escaped.

use serde::Serialize;

use super::escape;
use crate::domain::verdict::Verdict;

/// The version of the document's shape. A new key is no new version; a changed meaning is.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    results: &'a [Verdict],
}

/// Renders all outcomes.
#[must_use]
pub fn render(verdicts: &[Verdict]) -> String {
    let document = Document { version: VERSION, results: verdicts };
    let text = serde_json::to_string(&document).unwrap_or_else(|_| {
        format!("{{\"version\":{VERSION},\"results\":[{{\"verdict\":\"LOCK_ERROR\"}}]}}")
    });
    let mut escaped = String::with_capacity(text.len() + 1);
    let mut units = [0; 2];
    for c in text.chars() {
        if escape::is_hostile(c) {
            for unit in c.encode_utf16(&mut units) {
                escaped.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            escaped.push(c);
        }
    }
    escaped.push('\n');
    escaped
}
