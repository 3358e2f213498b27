//! A record becomes the text of a lock file.

use std::fmt::{self, Display};

use super::plain::{self, NotPlain, plain};
use super::{LockRecord, MAX_BYTES, bounded, entries, known};
use crate::domain::anchor::RecordedProcess;
use crate::domain::task_id::TaskId;

/// A value of a shared key that cannot stand in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unwritable {
    /// The key.
    pub key: &'static str,
    /// What is in the way.
    pub why: NotPlain,
}

impl Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no record can be written with this {}: {}", self.key, self.why)
    }
}

/// Writes a lock file: the known keys in their order, absent ones left out, then the entries of
/// [`LockRecord::extra`] as they are.
///
/// The shared keys are plain, for readers that go by lines; our own are quoted where YAML needs it.
/// Every known key stands on one line. Texts longer than [`super::MAX_FIELD_BYTES`] are cut. An
/// extra entry is left out when a reader might take it for a known key, or when the file would grow
/// beyond [`MAX_BYTES`] with it.
///
/// # Errors
/// A shared key's value would not be the same to every reader.
pub fn encode(task: &TaskId, record: &LockRecord) -> Result<String, Unwritable> {
    let anchor = &record.anchor;
    let mut file = File(String::new());
    file.line("task_id", task);
    file.shared("locked_by", record.owner.as_deref())?;
    file.shared("locked_at", record.locked_at.as_deref())?;
    // Without the key the record would read as cut off.
    file.shared("hostname", Some(anchor.hostname.as_deref().unwrap_or("unknown")))?;
    match &anchor.process {
        // Without the keys, both implementations read it as no process; `-` is no YAML.
        RecordedProcess::None => {}
        // Left out, it would read as a lock that never recorded a process.
        RecordedProcess::Garbled => {
            file.line("pid", "unknown");
            file.line("pid_starttime", "unknown");
            file.line("pid_starttime_kind", "none");
        }
        RecordedProcess::Process { pid, token: Some(token) } => {
            file.line("pid", pid);
            file.shared("pid_starttime", Some(&token.value))?;
            file.shared("pid_starttime_kind", Some(token.kind.as_str()))?;
        }
        // The shell implementation takes a missing kind for `proc`, and a missing token for one that
        // differs: the process would be dead to it. Any other kind is "cannot tell".
        RecordedProcess::Process { pid, token: None } => {
            file.line("pid", pid);
            file.line("pid_starttime_kind", "none");
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
    Ok(file.0)
}

struct File(String);

impl File {
    fn line(&mut self, key: &str, value: impl Display) {
        self.0.push_str(&format!("{key}: {value}\n"));
    }

    fn shared(&mut self, key: &'static str, text: Option<&str>) -> Result<(), Unwritable> {
        if let Some(text) = text {
            let text = bounded(text.to_owned());
            plain(&text).map_err(|why| Unwritable { key, why })?;
            self.line(key, text);
        }
        Ok(())
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
    if !text.contains(plain::is_forbidden)
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
            c if plain::is_forbidden(c) => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
