//! Points at which the crash tests kill or stop the program. Without the feature `failpoints` there
//! is nothing of it in the program.

/// Does what `AITASK_LOCK_FAILPOINT=<name>[:kill|:stop]` asks for at the point of this name; by
/// default it kills, as a power cut would.
#[cfg(feature = "failpoints")]
pub fn hit(name: &str) {
    use rustix::process::{Signal, getpid, kill_process};
    let asked = std::env::var("AITASK_LOCK_FAILPOINT").unwrap_or_default();
    let (wanted, how) = asked.split_once(':').unwrap_or((&asked, "kill"));
    if wanted == name {
        let signal = if how == "stop" { Signal::STOP } else { Signal::KILL };
        // Sending a signal to oneself cannot fail.
        _ = kill_process(getpid(), signal);
    }
}

/// Nothing.
#[cfg(not(feature = "failpoints"))]
#[inline]
pub fn hit(_name: &str) {}

/// Whether a fault of this name is planted, for the tests to find: `AITASK_LOCK_FAILPOINT=<name>`.
#[cfg(feature = "failpoints")]
#[must_use]
pub fn is_planted(name: &str) -> bool {
    std::env::var_os("AITASK_LOCK_FAILPOINT").is_some_and(|asked| asked == name)
}

/// Never.
#[cfg(not(feature = "failpoints"))]
#[inline]
#[must_use]
pub fn is_planted(_name: &str) -> bool {
    false
}
