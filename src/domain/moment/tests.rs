use proptest::prelude::*;

use super::*;

fn instant(text: &str) -> Timestamp {
    text.parse().expect(text)
}

fn zone() -> TimeZone {
    TimeZone::fixed(jiff::tz::offset(2))
}

#[test]
fn a_recorded_time_is_read_in_every_form_that_occurs() {
    for (text, is) in [
        ("2026-11-30T23:28:05Z", "2026-11-30T23:28:05Z"),
        ("2026-11-30T23:28:05+01:00", "2026-11-30T22:28:05Z"),
        ("2026-11-30T23:28:05.75Z", "2026-11-30T23:28:05.75Z"),
        ("2026-02-24 14:30", "2026-02-24T12:30:00Z"),
        ("2026-02-24T14:30", "2026-02-24T12:30:00Z"),
        ("2026-02-24 14:30:05", "2026-02-24T12:30:05Z"),
        ("2026-02-24T14:30:05", "2026-02-24T12:30:05Z"),
        (" 2026-02-24 14:30 ", "2026-02-24T12:30:00Z"),
        ("1970-01-01 02:00", "1970-01-01T00:00:00Z"),
        ("2099-01-01 00:00", "2098-12-31T22:00:00Z"),
    ] {
        assert_eq!(read(text, &zone()), Moment::Instant(instant(is)), "{text:?}");
    }
}

#[test]
fn what_is_no_time_is_kept_as_it_stands() {
    let long = format!("2026-02-24 14:30{}", " ".repeat(100));
    for text in
        ["", "yesterday", "2026-02-24", "14:30", "1772000000", "2026-13-01 00:00", "9999-12-31 23:59", &long]
    {
        let zone = TimeZone::fixed(jiff::tz::offset(-23));
        assert_eq!(read(text, &zone), Moment::Unreadable(text.to_owned()), "{text:?}");
    }
}

#[test]
fn an_hour_that_a_local_clock_skips_or_repeats_is_still_a_time() {
    let rule = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").expect("a POSIX rule");
    for text in ["2026-03-29 02:30", "2026-10-25 02:30"] {
        assert!(matches!(read(text, &rule), Moment::Instant(_)), "{text}");
    }
}

#[test]
fn an_age_is_short_and_never_negative() {
    let now = instant("2026-11-30T23:28:00Z");
    for (then, text, sentence) in [
        ("2026-11-30T23:28:59Z", "just now", "2026-11-30 23:28 UTC (just now)"),
        ("2026-11-30T23:29:00Z", "in the future", "2026-11-30 23:29 UTC (in the future)"),
        ("2026-11-30T23:27:01Z", "just now", "2026-11-30 23:27 UTC (just now)"),
        ("2026-11-30T23:27:00Z", "1 min", "2026-11-30 23:27 UTC (1 min ago)"),
        ("2026-11-30T22:28:01Z", "59 min", "2026-11-30 22:28 UTC (59 min ago)"),
        ("2026-11-30T22:28:00Z", "1 h", "2026-11-30 22:28 UTC (1 h ago)"),
        ("2026-11-28T23:28:01Z", "47 h", "2026-11-28 23:28 UTC (47 h ago)"),
        ("2026-11-28T23:28:00Z", "2 days", "2026-11-28 23:28 UTC (2 days ago)"),
        ("1970-01-01T00:00:00Z", "20787 days", "1970-01-01 00:00 UTC (20787 days ago)"),
        ("2099-01-01T00:00:00Z", "in the future", "2099-01-01 00:00 UTC (in the future)"),
    ] {
        let then = Moment::Instant(instant(then));
        assert_eq!(age_text(age(now, &then)), text, "age of {then}");
        assert_eq!(with_age(now, &then), sentence, "sentence of {then}");
    }
    let unreadable = Moment::Unreadable("yesterday".to_owned());
    assert_eq!(age_text(age(now, &unreadable)), "unknown");
    assert_eq!(with_age(now, &unreadable), "yesterday");
}

#[test]
fn a_stamp_has_whole_seconds_and_reads_back() {
    let text = stamp(instant("2026-11-30T23:28:05.999Z"));
    assert_eq!(text, "2026-11-30T23:28:05Z");
    assert_eq!(read(&text, &zone()), Moment::Instant(instant("2026-11-30T23:28:05Z")));
}

#[test]
fn only_a_sure_and_recent_time_spares_a_refresh() {
    let now = instant("2026-11-30T23:28:05Z");
    for (text, younger) in [
        ("2026-11-30T23:28:05Z", true),
        ("2026-11-30T23:18:06Z", true),
        ("2026-11-30T23:18:05Z", false),
        ("2026-11-30T23:28:06Z", false),
        ("2099-01-01T00:00:00Z", false),
        ("1970-01-01T00:00:00Z", false),
        ("2026-11-30 23:28", false),
        ("yesterday", false),
        ("", false),
    ] {
        assert_eq!(younger_than(text, now, Duration::from_secs(600)), younger, "{text:?}");
    }
    assert!(!younger_than("2026-11-30T23:28:05Z", now, Duration::ZERO), "no interval, no sparing");
    assert!(younger_than("1970-01-01T00:00:00Z", now, Duration::MAX), "the longest interval");
}

proptest! {
    #[test]
    fn nothing_overflows(
        text in prop_oneof![any::<String>(), "[0-9]{1,6}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2})?(Z|[+-][0-9]{2}:[0-9]{2})?"],
        now in any::<i64>(),
        interval in any::<Duration>(),
    ) {
        let now = [Timestamp::MIN, Timestamp::MAX, Timestamp::from_second(now % 300_000_000_000).unwrap_or_default()];
        for now in now {
            let moment = read(&text, &zone());
            let shown = with_age(now, &moment);
            prop_assert!(shown.contains(moment.to_string().as_str()));
            let _ = younger_than(&text, now, interval);
            prop_assert!(!stamp(now).is_empty());
        }
    }
}
