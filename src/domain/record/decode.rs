//! A lock file's bytes become a [`Reading`].

use super::fields::Fields;
use super::{Damage, LockRecord, MAX_BYTES, Reading};
use crate::domain::anchor::{Anchor, ProcessTable, RecordedProcess, StartToken, TokenKind};

/// Reads a lock file. Time and memory are bounded by [`MAX_BYTES`], whatever stands in it.
///
/// Every file is a lock: what cannot be read is [`Reading::Damaged`], never nothing.
/// `task_id` is not looked at; the file's name says which task it is.
#[must_use]
pub fn decode(bytes: &[u8]) -> Reading {
    match text_of(bytes) {
        Ok(text) => judge(&Fields::of(&text)),
        Err(why) => Reading::Damaged { why, shown: nothing() },
    }
}

/// The text of a file, without byte-order mark, every line ended by `\n`.
fn text_of(bytes: &[u8]) -> Result<String, Damage> {
    if bytes.len() > MAX_BYTES {
        return Err(Damage::TooLarge);
    }
    let text = std::str::from_utf8(bytes).map_err(|_| Damage::Binary)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.chars().any(|c| c.is_control() && !matches!(c, '\t' | '\n' | '\r')) {
        return Err(Damage::Binary);
    }
    if text.trim().is_empty() {
        return Err(Damage::Empty);
    }
    // To YAML a carriage return alone ends a line, too.
    Ok(text.replace("\r\n", "\n").replace('\r', "\n"))
}

/// What is known of a file without readable content.
/// What stands for a record that could not be read at all, for a reason outside of its text.
#[must_use]
pub fn damaged(why: Damage) -> Reading {
    Reading::Damaged { why, shown: nothing() }
}

fn nothing() -> LockRecord {
    LockRecord {
        owner: None,
        locked_at: None,
        anchor: Anchor { process: RecordedProcess::Garbled, table: None, hostname: None, machine_id: None },
        lock_id: None,
        refreshed_at: None,
        anchor_source: None,
        note: None,
        extra: Vec::new(),
    }
}

fn judge(fields: &Fields) -> Reading {
    let text = |key| fields.text(key).map(str::to_owned);
    let record = LockRecord {
        owner: text("locked_by"),
        locked_at: text("locked_at"),
        anchor: anchor(fields),
        lock_id: text("lock_id"),
        refreshed_at: text("refreshed_at"),
        anchor_source: text("anchor_source"),
        note: text("note"),
        extra: fields.extra.clone(),
    };
    let why = if fields.has_duplicates() {
        Damage::DuplicateKey
    } else if !fields.is_mapping {
        Damage::NotAMapping
    } else if fields.has_broken()
        || record.owner.is_none()
        || record.locked_at.is_none()
        || !fields.has("hostname")
    {
        Damage::Incomplete
    } else {
        return Reading::Whole(record);
    };
    Reading::Damaged { why, shown: record }
}

fn anchor(fields: &Fields) -> Anchor {
    let (table, table_is_doubtful) = table(fields);
    Anchor {
        process: if table_is_doubtful { RecordedProcess::Garbled } else { process(fields) },
        table,
        hostname: fields
            .text("hostname")
            .filter(|name| !name.trim().is_empty() && *name != "unknown")
            .map(str::to_owned),
        // The beginning of our own machine's id would read as another machine.
        machine_id: fields
            .text("machine_id")
            .filter(|id| *id != "-" && !fields.is_doubtful("machine_id"))
            .map(str::to_owned),
    }
}

/// The process table, and whether one was recorded that cannot be told.
///
/// Without any of the three parts a record is an older one, and liveness may go by the host name.
/// With some of them it is not: its process is then [`RecordedProcess::Garbled`], which proves
/// nothing.
fn table(fields: &Fields) -> (Option<ProcessTable>, bool) {
    const KEYS: [&str; 3] = ["boot_id", "pid_namespace", "time_namespace"];
    if !KEYS.iter().any(|key| fields.has(key)) {
        return (None, false);
    }
    let table = match KEYS.map(|key| fields.text(key).filter(|_| !fields.is_doubtful(key))) {
        [Some(boot_id), Some(pid), Some(time)] if is_boot_id(boot_id) => {
            decimal(pid).zip(decimal(time)).map(|(pid_namespace, time_namespace)| ProcessTable {
                boot_id: boot_id.to_owned(),
                pid_namespace,
                time_namespace,
            })
        }
        _ => None,
    };
    let doubtful = table.is_none();
    (table, doubtful)
}

fn process(fields: &Fields) -> RecordedProcess {
    // The first digits of a number are another number.
    if fields.is_doubtful("pid") || fields.is_doubtful("pid_starttime") {
        return RecordedProcess::Garbled;
    }
    match fields.text("pid") {
        None | Some("-" | "0") => RecordedProcess::None,
        Some(text) => match decimal(text).and_then(|pid| i32::try_from(pid).ok()) {
            Some(pid) => RecordedProcess::Process { pid: pid.unsigned_abs(), token: token(fields) },
            None => RecordedProcess::Garbled,
        },
    }
}

fn token(fields: &Fields) -> Option<StartToken> {
    let value = fields.text("pid_starttime").filter(|value| *value != "-")?;
    // A kind without a value may be cut off: it is not the same as a record without the key.
    let word =
        fields.has("pid_starttime_kind").then(|| fields.text("pid_starttime_kind").unwrap_or_default());
    let kind = match TokenKind::parse(word) {
        // `/proc` shows digits only. Compared with such a token, anything else would differ and
        // prove a death that nobody saw.
        TokenKind::Proc if !is_digits(value) => TokenKind::Other(word.unwrap_or_default().to_owned()),
        kind => kind,
    };
    Some(StartToken { value: value.to_owned(), kind })
}

fn is_boot_id(text: &str) -> bool {
    text.len() <= 64 && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') && text != "-"
}

/// A number above zero, written in digits as programs write it.
fn decimal(text: &str) -> Option<u64> {
    if is_digits(text) && !text.starts_with('0') { text.parse().ok() } else { None }
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit())
}
