//! The style of text for people: colour, columns, and times in their own terms. Decided once, in `cli`, and passed in.

use andon_core::domain::Timestamp;

/// The clock of a reader, to show times by.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// The time of this process.
    pub now: Timestamp,
    /// A time where the reader lives, with its zone: `2026-11-20 16:30 CET`.
    pub local: fn(Timestamp) -> String,
}

impl PartialEq for Clock {
    fn eq(&self, other: &Self) -> bool {
        self.now == other.now
    }
}

impl Eq for Clock {}

/// The style of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    colour: bool,
    columns: Option<usize>,
    clock: Option<Clock>,
}

#[allow(non_upper_case_globals, reason = "they read as the two kinds that there are")]
impl Style {
    /// No escape codes, no bound, times in RFC 3339.
    pub const Plain: Self = Self { colour: false, columns: None, clock: None };
    /// The same with colours.
    pub const Colour: Self = Self { colour: true, columns: None, clock: None };
}

impl Style {
    /// The same for a terminal of so many columns.
    #[must_use]
    pub fn within(self, columns: Option<usize>) -> Self {
        Self { columns, ..self }
    }

    /// The same for a reader who has a clock.
    #[must_use]
    pub fn at(self, clock: Clock) -> Self {
        Self { clock: Some(clock), ..self }
    }

    /// For a text that is written down: times are local and have no age, which would grow old.
    pub fn of_a_file(local: fn(Timestamp) -> String) -> Self {
        Self::Plain.at(Clock { now: Timestamp(i64::MIN), local })
    }

    /// The same with the clock of `other`.
    #[must_use]
    pub fn timed_like(self, other: Self) -> Self {
        Self { clock: other.clock, ..self }
    }

    /// True if there are escape codes.
    pub fn is_colour(self) -> bool {
        self.colour
    }

    /// Columns of the terminal; `None` where there is none.
    pub fn columns(self) -> Option<usize> {
        self.columns
    }

    /// A time for people: how long ago, and local with its zone; the date where it is not of the last day.
    pub fn when(self, at: Timestamp) -> String {
        let Some(clock) = self.clock else { return at.to_string() };
        let local = (clock.local)(at);
        if at > clock.now {
            return local;
        }
        let age = clock.now.since(at).0;
        let shown = local.split_once(' ').filter(|_| age < DAY).map_or(local.as_str(), |(_, time)| time);
        format!("{} ({shown})", ago(age))
    }

    /// The age alone: `2 hours ago`. A time to come, and one without a clock, is shown as it is.
    pub fn age(self, at: Timestamp) -> String {
        match self.clock {
            Some(clock) if at <= clock.now => ago(clock.now.since(at).0),
            Some(_) | None => self.date(at),
        }
    }

    /// A time for people in a column: local.
    pub fn date(self, at: Timestamp) -> String {
        self.clock.map_or_else(|| at.to_string(), |clock| (clock.local)(at))
    }

    fn paint(self, code: &str, text: &str) -> String {
        if text.is_empty() || !self.colour {
            return text.to_owned();
        }
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    /// Headings, labels that matter.
    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// Refused, halted, failing.
    pub fn red(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    /// Worth a look.
    pub fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }

    /// In order.
    pub fn green(self, text: &str) -> String {
        self.paint("32", text)
    }

    /// Secondary.
    pub fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }
}

/// Seconds of a day.
const DAY: u64 = 86_400;

/// `just now`, `5 minutes ago`: the largest unit that fits.
fn ago(seconds: u64) -> String {
    let units = [(DAY, "day"), (3_600, "hour"), (60, "minute")];
    let Some((count, unit)) =
        units.iter().map(|(size, unit)| (seconds / size, unit)).find(|(count, _)| *count > 0)
    else {
        return "just now".to_owned();
    };
    format!("{} ago", andon_core::domain::plural::count(count, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_has_no_codes() {
        assert_eq!(Style::Plain.red("x"), "x");
        assert_eq!(Style::Colour.green("x"), "\u{1b}[32mx\u{1b}[0m");
    }

    #[test]
    fn people_read_their_own_times() {
        let at = Timestamp(1_795_188_600);
        assert_eq!(Style::Plain.when(at), "2026-11-20T15:30:00Z");
        let shown = |later: i64| {
            let now = Timestamp(at.0 + later);
            Style::Plain.at(Clock { now, local: |_| "2026-11-20 16:30 CET".to_owned() }).when(at)
        };
        assert_eq!(shown(5), "just now (16:30 CET)");
        assert_eq!(shown(60), "1 minute ago (16:30 CET)");
        assert_eq!(shown(7_300), "2 hours ago (16:30 CET)");
        assert_eq!(shown(86_400 * 3), "3 days ago (2026-11-20 16:30 CET)");
        assert_eq!(shown(-5), "2026-11-20 16:30 CET", "a clock set back tells no span");
    }
}
