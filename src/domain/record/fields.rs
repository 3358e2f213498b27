//! What was found in a lock file, before it is judged.

use super::entries::{self, Scalar};
use super::{bounded, flow, known};

/// The values of the known keys, and everything else.
#[derive(Default)]
pub(super) struct Fields {
    values: Vec<(&'static str, Scalar)>,
    duplicates: Vec<&'static str>,
    cut: Option<&'static str>,
    /// Entries of unknown keys, verbatim.
    pub(super) extra: Vec<String>,
    /// Whether the file is a mapping and nothing else.
    pub(super) is_mapping: bool,
}

impl Fields {
    /// Collects the fields of a text whose lines end in `\n`.
    pub(super) fn of(text: &str) -> Self {
        let body = entries::body(text);
        if body.trim_start().starts_with('{') { Self::of_flow(body) } else { Self::of_lines(body) }
    }

    fn of_flow(body: &str) -> Self {
        let mut fields = Self::default();
        let Some(pairs) = flow::read(body) else { return fields };
        fields.is_mapping = !(pairs.known.is_empty() && pairs.extra.is_empty());
        for (key, text) in pairs.known {
            fields.add(key, || if entries::is_null(&text) { Scalar::Missing } else { Scalar::Text(text) });
        }
        fields.extra = pairs.extra;
        fields
    }

    fn of_lines(body: &str) -> Self {
        let split = entries::split(body);
        let mut fields = Self { is_mapping: !split.strays && !split.entries.is_empty(), ..Self::default() };
        for entry in &split.entries {
            if let Some(key) = known(&entry.key) {
                fields.add(key, || entry.scalar());
            } else {
                let mut verbatim = entry.verbatim.to_owned();
                if !verbatim.ends_with('\n') {
                    verbatim.push('\n');
                }
                fields.extra.push(verbatim);
            }
        }
        if split.unterminated {
            fields.cut = split.entries.last().and_then(|entry| known(&entry.key));
        }
        fields
    }

    fn add(&mut self, key: &'static str, value: impl FnOnce() -> Scalar) {
        if self.values.iter().any(|(present, _)| *present == key) {
            if !self.duplicates.contains(&key) {
                self.duplicates.push(key);
            }
            return;
        }
        let value = match value() {
            Scalar::Missing => Scalar::Missing,
            Scalar::Text(text) => Scalar::Text(bounded(text)),
            Scalar::Broken(raw) => Scalar::Broken(bounded(raw)),
        };
        self.values.push((key, value));
    }

    /// Whether the key stands in the file, with or without a value.
    pub(super) fn has(&self, key: &str) -> bool {
        self.values.iter().any(|(present, _)| *present == key)
    }

    /// The text of a key that stands in the file once; also what cannot be unquoted, to be shown.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        if self.duplicates.contains(&key) {
            return None;
        }
        self.values.iter().find(|(present, _)| *present == key).and_then(|(_, value)| match value {
            Scalar::Missing => None,
            Scalar::Text(text) | Scalar::Broken(text) => Some(text.as_str()),
        })
    }

    /// Whether the key's value cannot be relied on: it may be cut off, or there are two.
    pub(super) fn is_doubtful(&self, key: &str) -> bool {
        self.cut == Some(key)
            || self.duplicates.contains(&key)
            || self
                .values
                .iter()
                .any(|(present, value)| *present == key && matches!(value, Scalar::Broken(_)))
    }

    /// Whether a known key stands in the file twice.
    pub(super) fn has_duplicates(&self) -> bool {
        !self.duplicates.is_empty()
    }

    /// Whether a known key's value cannot be unquoted.
    pub(super) fn has_broken(&self) -> bool {
        self.values.iter().any(|(_, value)| matches!(value, Scalar::Broken(_)))
    }
}
