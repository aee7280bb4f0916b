//! Time as a value. The clock is read in `andon_engine::context` only and passed in.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::codec;
use crate::escape::first;

/// A point in time: whole seconds since the Unix epoch, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(pub i64);

/// A point in time as the system counts it since it was started, sleep included: setting the clock does not move it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uptime {
    /// Identifies the machine and its start, as a hash.
    pub boot: u64,
    /// Whole seconds since then.
    pub seconds: u64,
}

/// When something happened, by the clock and, where that is known, since the system was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment {
    /// By the clock.
    pub at: Timestamp,
    /// Since the start.
    pub uptime: Option<Uptime>,
}

impl Moment {
    /// The pause from `earlier` to this moment: by the clock, and within one start of a system no longer than what has
    /// passed since then. Otherwise setting the clock would end a run.
    pub(crate) fn pause_since(self, earlier: Self) -> Span {
        let by_clock = self.at.since(earlier.at);
        match (earlier.uptime, self.uptime) {
            (Some(one), Some(other)) if one.boot == other.boot => {
                by_clock.min(Span(other.seconds.saturating_sub(one.seconds)))
            }
            (Some(_) | None, _) => by_clock,
        }
    }
}

impl fmt::Display for Uptime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}+{}", self.boot, self.seconds)
    }
}

impl FromStr for Uptime {
    type Err = BadTime;

    fn from_str(text: &str) -> Result<Self, BadTime> {
        let bad = || BadTime::Uptime(first(text, 80));
        let (boot, seconds) = text.split_once('+').ok_or_else(bad)?;
        let digits = |text: &str, all: fn(&u8) -> bool| !text.is_empty() && text.as_bytes().iter().all(all);
        if boot.len() != 16 || !digits(boot, u8::is_ascii_hexdigit) || !digits(seconds, u8::is_ascii_digit) {
            return Err(bad());
        }
        let boot = u64::from_str_radix(boot, 16).map_err(|_| bad())?;
        Ok(Self { boot, seconds: seconds.parse().map_err(|_| bad())? })
    }
}

/// The maximum difference between the clocks of two machines that work together, in seconds.
pub const CLOCK_SKEW: i64 = 300;

/// A span of time in whole seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Span(pub u64);

/// A text that is no time or no duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadTime {
    /// Not an RFC 3339 time.
    #[error("not an RFC 3339 time such as 2026-11-20T15:30:00Z: {0:?}")]
    Timestamp(String),
    /// Not a start of a system and seconds since then.
    #[error("not a time since the system was started such as 0123456789abcdef+3600: {0:?}")]
    Uptime(String),
    /// Not a duration of at least zero.
    #[error("not a duration such as \"30m\" or \"6h\": {0:?}")]
    Span(String),
}

impl Timestamp {
    /// Writes it; `null` for 0, the time of what tells none.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
    pub(super) fn serialize_known<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Some(self).filter(|at| at.0 != 0).serialize(serializer)
    }

    /// The span from `earlier` to this time; zero when the clock went back.
    pub fn since(self, earlier: Self) -> Span {
        Span(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            self.0.serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            codec::by_text(deserializer, "an RFC 3339 time such as 2026-11-20T15:30:00Z")
        } else {
            i64::deserialize(deserializer).map(Self)
        }
    }
}

impl Serialize for Uptime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Uptime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        codec::by_text(deserializer, "a time since the system was started such as 0123456789abcdef+3600")
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Outside jiff's range (years -9999 to 9999) the nearest end is shown.
        let low = jiff::Timestamp::MIN.as_second();
        let high = jiff::Timestamp::MAX.as_second();
        let clamped = jiff::Timestamp::from_second(self.0.clamp(low, high)).unwrap_or_default();
        write!(f, "{clamped}")
    }
}

impl FromStr for Timestamp {
    type Err = BadTime;

    fn from_str(text: &str) -> Result<Self, BadTime> {
        text.parse::<jiff::Timestamp>()
            .map(|time| Self(time.as_second()))
            .map_err(|_| BadTime::Timestamp(first(text, 80)))
    }
}

impl FromStr for Span {
    type Err = BadTime;

    fn from_str(text: &str) -> Result<Self, BadTime> {
        let parsed: jiff::SignedDuration = text.parse().map_err(|_| BadTime::Span(first(text, 80)))?;
        u64::try_from(parsed.as_secs()).map(Self).map_err(|_| BadTime::Span(first(text, 80)))
    }
}

impl fmt::Display for Span {
    /// `90s`, `30m`, `6h`, `1h 30m`: what `FromStr` reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [(self.0 / 3600, "h"), (self.0 / 60 % 60, "m"), (self.0 % 60, "s")];
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        let shown: Vec<String> = parts.map(|(count, unit)| format!("{count}{unit}")).collect();
        f.write_str(if shown.is_empty() { "0s" } else { "" })?;
        f.write_str(&shown.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_set_makes_no_pause() {
        let moment = |at, uptime: &str| Moment { at: Timestamp(at), uptime: uptime.parse().ok() };
        let (one, other) = ("00000000000000aa+100", "00000000000000bb+100");
        let table = [
            ("hours by both", (0, one), (25_000, "00000000000000aa+25100"), 25_000),
            ("the clock was set ahead", (0, one), (25_000, "00000000000000aa+160"), 60),
            ("and back", (25_000, one), (0, "00000000000000aa+160"), 0),
            ("the system was started anew", (0, one), (25_000, other), 25_000),
            ("not known then", (0, ""), (25_000, one), 25_000),
            ("not known now", (0, one), (25_000, ""), 25_000),
            ("less time than before", (0, one), (25_000, "00000000000000aa+3"), 0),
        ];
        for (what, from, to, want) in table {
            assert_eq!(moment(to.0, to.1).pause_since(moment(from.0, from.1)), Span(want), "{what}");
        }
        assert_eq!(one.parse::<Uptime>().unwrap().to_string(), one);
        for bad in [
            "",
            "+",
            "aa+1",
            "00000000000000aa",
            "00000000000000aa+",
            "00000000000000aa+-1",
            "+0000000000000aa+1",
        ] {
            assert!(bad.parse::<Uptime>().is_err(), "{bad}");
        }
    }

    #[test]
    fn times_survive_a_round_trip() {
        for text in ["2026-11-20T15:30:00Z", "1969-12-31T23:59:59Z"] {
            assert_eq!(text.parse::<Timestamp>().unwrap().to_string(), text);
        }
        assert_eq!("2026-11-20T16:30:00+01:00".parse::<Timestamp>(), "2026-11-20T15:30:00Z".parse());
        assert!(Timestamp(i64::MAX).to_string().starts_with("9999-"));
    }

    #[test]
    fn spans_survive_a_round_trip() {
        for (text, seconds) in [("6h", 21_600), ("30m", 1_800), ("1h 30m", 5_400), ("0s", 0)] {
            assert_eq!(text.parse::<Span>().unwrap(), Span(seconds));
            assert_eq!(Span(seconds).to_string(), text);
        }
        assert!("-5m".parse::<Span>().is_err());
        assert!("soon".parse::<Span>().is_err());
    }

    #[test]
    fn a_clock_set_back_gives_no_negative_span() {
        assert_eq!(Timestamp(5).since(Timestamp(9)), Span(0));
    }
}
