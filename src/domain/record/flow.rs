//! A lock file that is one flow mapping: `{locked_by: …}`, or JSON.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_yaml::Value;

use super::known;

/// The pairs of a flow mapping, in order, duplicates included.
pub(super) struct Pairs {
    /// Known keys and the text of their values.
    pub(super) known: Vec<(&'static str, String)>,
    /// The other ones, each as an entry of a block mapping.
    pub(super) extra: Vec<String>,
}

/// Reads a flow mapping; `None` for what is not one, or has a known key without a plain value.
pub(super) fn read(text: &str) -> Option<Pairs> {
    // An alias needs an anchor. Without both, what is read is never larger than its text; with
    // both, 64 KiB can stand for gigabytes.
    if text.contains('&') && text.contains('*') || is_deep(text) {
        return None;
    }
    serde_yaml::from_str(text).ok()
}

/// Whether brackets are nested deeper than anybody means: the YAML scanner's time grows with the
/// square of it.
fn is_deep(text: &str) -> bool {
    const DEEPEST: usize = 64;
    let mut depth: usize = 0;
    text.chars().any(|c| {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > DEEPEST
    })
}

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PairsVisitor)
    }
}

struct PairsVisitor;

impl<'de> Visitor<'de> for PairsVisitor {
    type Value = Pairs;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
        let mut pairs = Pairs { known: Vec::new(), extra: Vec::new() };
        while let Some(key) = map.next_key::<String>()? {
            if let Some(known) = known(&key) {
                pairs.known.push((known, map.next_value()?));
            } else {
                let pair = BTreeMap::from([(key, map.next_value::<Value>()?)]);
                pairs.extra.extend(serde_yaml::to_string(&pair));
            }
        }
        Ok(pairs)
    }
}
