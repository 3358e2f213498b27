//! Moments in time as records hold them, and how they are shown.
//!
//! Other programs and other machines wrote them: minutes only, in a local time nobody recorded, by
//! a clock that may be wrong. They are shown to people; nothing is decided by them, except that a
//! young refresh need not be repeated.

use std::fmt;
use std::time::Duration;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// A moment as it was read from a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A point in time.
    Instant(Timestamp),
    /// A text that is no time, as it stands in the record; it may hold control characters.
    Unreadable(String),
}

/// How long ago a moment was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Age {
    /// Less than a minute, in either direction: the clocks of two machines differ by seconds.
    JustNow,
    /// Whole minutes, below an hour.
    Minutes(u64),
    /// Whole hours, below two days.
    Hours(u64),
    /// Whole days.
    Days(u64),
    /// A minute or more from now.
    InTheFuture,
    /// The moment cannot be read.
    Unknown,
}

/// Longest text that can be a time, in bytes.
const MAX_BYTES: usize = 80;

/// Reads a time: RFC 3339 with an offset or `Z`, or `2026-02-24 14:30`, with or without seconds,
/// with a blank or a `T`, which is a local time in `zone`.
#[must_use]
pub fn read(text: &str, zone: &TimeZone) -> Moment {
    match absolute(text).or_else(|| local(text, zone)) {
        Some(instant) => Moment::Instant(instant),
        None => Moment::Unreadable(text.to_owned()),
    }
}

fn absolute(text: &str) -> Option<Timestamp> {
    if text.len() > MAX_BYTES { None } else { text.trim().parse().ok() }
}

fn local(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    // A date alone is no moment: midnight would be an invention.
    if text.len() > MAX_BYTES || !text.contains(':') {
        return None;
    }
    let time: DateTime = text.trim().parse().ok()?;
    zone.to_ambiguous_timestamp(time).compatible().ok()
}

/// How long before `now` a moment was.
#[must_use]
pub fn age(now: Timestamp, then: &Moment) -> Age {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    let Moment::Instant(then) = then else { return Age::Unknown };
    let passed = now.duration_since(*then);
    match passed.unsigned_abs().as_secs() {
        0..MINUTE => Age::JustNow,
        _ if passed.is_negative() => Age::InTheFuture,
        seconds if seconds < HOUR => Age::Minutes(seconds / MINUTE),
        seconds if seconds < 2 * DAY => Age::Hours(seconds / HOUR),
        seconds => Age::Days(seconds / DAY),
    }
}

/// An age for a table: `just now`, `5 min`, `3 h`, `2 days`, `in the future`, `unknown`.
#[must_use]
pub fn age_text(age: Age) -> String {
    match age {
        Age::JustNow => "just now".to_owned(),
        Age::Minutes(count) => format!("{count} min"),
        Age::Hours(count) => format!("{count} h"),
        Age::Days(count) => format!("{count} days"),
        Age::InTheFuture => "in the future".to_owned(),
        Age::Unknown => "unknown".to_owned(),
    }
}

/// A moment and its age for a sentence: `2026-11-30 23:28 UTC (3 h ago)`. What cannot be read is
/// shown as it is, without an age.
#[must_use]
pub fn with_age(now: Timestamp, then: &Moment) -> String {
    let age = age(now, then);
    match age {
        Age::Unknown => then.to_string(),
        Age::JustNow | Age::InTheFuture => format!("{then} ({})", age_text(age)),
        Age::Minutes(_) | Age::Hours(_) | Age::Days(_) => format!("{then} ({} ago)", age_text(age)),
    }
}

impl fmt::Display for Moment {
    /// `2026-11-30 23:28 UTC`, or the unreadable text as it is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Instant(instant) => instant.strftime("%Y-%m-%d %H:%M UTC").fmt(f),
            Self::Unreadable(text) => f.write_str(text),
        }
    }
}

/// A time as this program writes it: `2026-11-30T23:28:05Z`, in whole seconds.
#[must_use]
pub fn stamp(instant: Timestamp) -> String {
    instant.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Whether a recorded time lies less than `interval` before `now`.
///
/// Never for a time without an offset, one that cannot be read, or one in the future: repeating a
/// refresh is harmless, leaving one out on a wrong clock's word is not.
#[must_use]
pub fn younger_than(text: &str, now: Timestamp, interval: Duration) -> bool {
    absolute(text).is_some_and(|then| {
        let passed: SignedDuration = now.duration_since(then);
        !passed.is_negative() && passed.unsigned_abs() < interval
    })
}

#[cfg(test)]
mod tests;
