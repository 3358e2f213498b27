//! The only door to clocks and to sleeping.

use std::time::{Duration, Instant};

/// The time of day, as records show it. It may jump: never measure a wait with it.
#[must_use]
pub fn now() -> jiff::Timestamp {
    jiff::Timestamp::now()
}

/// The monotonic clock, for waits and deadlines.
#[must_use]
pub fn instant() -> Instant {
    Instant::now()
}

/// The instant `limit` from now. A limit beyond what the clock can express becomes about a century.
#[must_use]
pub fn deadline_in(limit: Duration) -> Instant {
    const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
    let now = instant();
    now.checked_add(limit).or_else(|| now.checked_add(CENTURY)).unwrap_or(now)
}

/// What is left until `deadline`; zero once it has passed.
#[must_use]
pub fn remaining(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(instant())
}

/// Sleeps for at least `duration`.
pub fn sleep(duration: Duration) {
    std::thread::sleep(duration);
}

/// The reader's time zone.
///
/// Without `TZ` it is read from its one file: looking it up by name walks the whole zone database,
/// which takes as long as all the rest of a small command.
#[must_use]
pub fn zone() -> jiff::tz::TimeZone {
    use jiff::tz::TimeZone;
    match std::env::var_os("TZ") {
        Some(name) if name == "UTC" => TimeZone::UTC,
        Some(_) => TimeZone::system(),
        None => std::fs::read("/etc/localtime")
            .ok()
            .and_then(|bytes| TimeZone::tzif("Local", &bytes).ok())
            .unwrap_or_else(TimeZone::system),
    }
}

/// When this machine's boot clock began to count, in seconds since 1970.
#[cfg(target_os = "linux")]
#[must_use]
pub fn booted_unix() -> Option<i64> {
    let since_boot = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    now().as_second().checked_sub(since_boot.tv_sec)
}

/// Nothing counts from the boot here: start times are times of the day.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn booted_unix() -> Option<i64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_huge_limit_is_a_late_deadline_and_not_an_early_one() {
        assert!(remaining(deadline_in(Duration::MAX)) > Duration::from_secs(3600));
    }

    #[test]
    fn a_passed_deadline_leaves_nothing() {
        assert_eq!(remaining(instant()), Duration::ZERO);
    }
}
