//! When, and how long: both differ in every run.

use std::borrow::Cow;

use super::rule::{has_behind_digit, has_digits, pattern, replace};

pattern!(
    TIMESTAMP,
    r"(?x)
    (?-u:\b)[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}(?:[T\ ]|,\ )[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?:\ ?(?:Z|UTC|GMT)(?-u:\b)|\ ?[+-][0-9]{2}:?[0-9]{2}(?-u:\b))?
    |(?-u:\b)(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),?\ +)?(?:[0-9]{1,2}\ +)?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\ +(?:[0-9]{1,2},?\ +)?(?:[0-9]{4}\ +)?[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?(?:\ GMT[+-][0-9]{4}|\ [A-Z]{3,4})?(?:\ [+-][0-9]{4})?(?:\ [0-9]{4})?(?-u:\b)
    |(?-u:\b)[0-9]{8}T[0-9]{6}(?:\.[0-9]+)?Z?(?-u:\b)
    |(?-u:\b)[0-9]{2}:[0-9]{2}:[0-9]{2}[.,][0-9]+"
);

/// Dates with a time of day, and times of day with fractions. A date alone, or a plain time of day, may be
/// what a test is about.
pub(super) fn mask_timestamps(text: &str) -> Cow<'_, str> {
    let is_clock = |rest: &[u8]| matches!(rest, [b':', digit, ..] if digit.is_ascii_digit());
    if has_behind_digit(text, is_clock) || has_digits(text, 8) {
        replace(&TIMESTAMP, text, "<time>")
    } else {
        Cow::Borrowed(text)
    }
}

pattern!(
    DURATION,
    r"(^-?|[^0-9A-Za-z_.-]-?)[0-9]+(?:\.[0-9]+)?(?:e-[0-9]+)?(?: ?(?:ns|us|µs|μs|ms)|s|m[0-9]+(?:\.[0-9]+)?s| (?:s|secs?|seconds?|millis(?:econds)?|milliseconds?|microseconds?|nanoseconds?|mins?|minutes?))(?-u:\b)"
);

/// Durations with their unit; not the end of a UUID before a word that reads like one.
pub(super) fn mask_durations(text: &str) -> Cow<'_, str> {
    let is_unit = |byte: &u8| matches!(byte, b'n' | b'u' | b'm' | b's') || !byte.is_ascii();
    let has_unit = |rest: &[u8]| rest.strip_prefix(b" ").unwrap_or(rest).first().is_some_and(is_unit);
    if has_behind_digit(text, has_unit) {
        replace(&DURATION, text, "${1}<duration>")
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::super::rule::check;
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        assert!([&TIMESTAMP, &DURATION].into_iter().all(|pattern| pattern.is_some()));
    }

    #[test]
    fn timestamps() {
        check(
            mask_timestamps,
            &[
                ("at 2026-11-20T15:30:00.123Z!", "at <time>!"),
                ("2026-11-20 15:30:00,5 +0100 x", "<time> x"),
                ("[12:00:01.250] x", "[<time>] x"),
                ("Fri Nov 20 21:59:45 2026, Fri, 20 Nov 2026 21:59:45 GMT", "<time>, <time>"),
                ("Fri Nov 20 2026 21:59:45 GMT+0000 (UTC)", "<time> (UTC)"),
                ("20261120T215945Z Nov 20 21:59:45 host", "<time> <time> host"),
                ("born 2000-02-29 at 12:30:15", "born 2000-02-29 at 12:30:15"),
            ],
        );
    }

    #[test]
    fn durations() {
        check(
            mask_durations,
            &[
                ("in 0.03s", "in <duration>"),
                ("12 ms, 1.5µs, 3 seconds, 1m12.5s", "<duration>, <duration>, <duration>, <duration>"),
                ("-5ms 12s 3s", "-<duration> <duration> <duration>"),
                ("a456-426614174000 s", "a456-426614174000 s"),
                ("3 sheep, 5 s5, 5sec", "3 sheep, 5 s5, 5sec"),
            ],
        );
    }
}
