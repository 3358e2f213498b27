//! A record becomes the text of a lock file.

use std::fmt::Display;

use super::{LockRecord, MAX_BYTES, bounded, entries, known};
use crate::domain::anchor::RecordedProcess;
use crate::domain::task_id::TaskId;

/// Writes a lock file: the known keys in their order, absent ones left out, then the entries of
/// [`LockRecord::extra`] as they are.
///
/// Every known key stands on one line, for readers that go by lines. Texts longer than
/// [`super::MAX_FIELD_BYTES`] are cut. An extra entry is left out when a reader might take it for
/// a known key, or when the file would grow beyond [`MAX_BYTES`] with it.
#[must_use]
pub fn encode(task: &TaskId, record: &LockRecord) -> String {
    let anchor = &record.anchor;
    let mut file = File(String::new());
    // Always in quotes: some readers of YAML make 162 of 16_2.
    file.line("task_id", format_args!("'{task}'"));
    file.text("locked_by", record.owner.as_deref());
    file.text("locked_at", record.locked_at.as_deref());
    // Without the key the record would read as cut off.
    file.text("hostname", Some(anchor.hostname.as_deref().unwrap_or("unknown")));
    match &anchor.process {
        RecordedProcess::None => {}
        // Left out, it would read as a lock that never recorded a process.
        RecordedProcess::Garbled => file.text("pid", Some("unknown")),
        RecordedProcess::Process { pid, token } => {
            file.line("pid", pid);
            if let Some(token) = token {
                file.text("pid_starttime", Some(&token.value));
                file.text("pid_starttime_kind", Some(token.kind.as_str()));
            }
        }
    }
    file.text("lock_id", record.lock_id.as_deref());
    file.text("refreshed_at", record.refreshed_at.as_deref());
    if let Some(table) = &anchor.table {
        file.text("boot_id", Some(&table.boot_id));
        file.line("pid_namespace", table.pid_namespace);
        file.line("time_namespace", table.time_namespace);
    }
    file.text("machine_id", anchor.machine_id.as_deref());
    file.text("anchor_source", record.anchor_source.as_deref());
    file.text("note", record.note.as_deref());
    for entry in &record.extra {
        file.extra(entry);
    }
    file.0
}

struct File(String);

impl File {
    fn line(&mut self, key: &str, value: impl Display) {
        self.0.push_str(&format!("{key}: {value}\n"));
    }

    fn text(&mut self, key: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.line(key, scalar(&bounded(text.to_owned())));
        }
    }

    fn extra(&mut self, entry: &str) {
        let split = entries::split(entry);
        // Not in the middle of an entry either: a line separator ends a line to some readers.
        if split.strays || entry.contains(['\u{2028}', '\u{2029}']) || entry.chars().any(is_forbidden) {
            return;
        }
        for entry in split.entries {
            // `<<` merges the keys of another mapping.
            let foreign = known(&entry.key).is_none() && entry.key != "<<";
            if foreign && self.0.len() + entry.verbatim.len() < MAX_BYTES {
                self.0.push_str(entry.verbatim);
                if !entry.verbatim.ends_with('\n') {
                    self.0.push('\n');
                }
            }
        }
    }
}

/// A control character that would make the file read as binary, or end a line unseen.
fn is_forbidden(c: char) -> bool {
    c.is_control() && !matches!(c, '\t' | '\n')
}

/// A text as one line of YAML, quoted where it would read as something else.
fn scalar(text: &str) -> String {
    if !text.contains(needs_escape)
        && let Ok(yaml) = serde_yaml::to_string(text)
        && let Some(line) = yaml.strip_suffix('\n')
    {
        return line.to_owned();
    }
    // serde_yaml would write several lines, or one that some readers take for several.
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\x{:02x}", u32::from(c))),
            c if needs_escape(c) => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Line breaks, control characters, and what readers of YAML refuse or swallow.
fn needs_escape(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}
