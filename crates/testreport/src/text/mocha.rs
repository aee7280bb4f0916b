//! mocha's reporters that end in the usual epilogue: spec, dot, list and others.
//!
//! The summary comes first and the failures after it, numbered. mocha prints nothing before the summary
//! that only mocha prints, so a run that was cut short before it is not recognised.

use super::Summary;
use super::sessions::{Sessions, whole_number};
use crate::{Counts, tally::append_line};

/// The owner of the lines that come now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Part {
    #[default]
    Other,
    /// After `N passing`: further counts and then failures.
    Failures,
    /// `  1) math` and the lines below it that are indented further; the last ends in a colon.
    Title,
    /// The error, up to the stack.
    Error,
}

/// Reads mocha's epilogue.
#[derive(Default)]
pub(super) struct MochaReader {
    part: Part,
    /// The titles of the failure that comes, and its error.
    titles: Vec<String>,
    text: String,
    /// Failures that the summary counts and that have not come yet.
    expected: u64,
    next: u64,
}

impl MochaReader {
    const MAX_TITLES: usize = 32;

    fn passing(&mut self, sessions: &mut Sessions, passed: u64) {
        self.end_failure(sessions);
        self.part = Part::Failures;
        (self.expected, self.next) = (0, 1);
        sessions.summary(Counts { passed, ..Counts::default() });
    }

    fn counts(&mut self, sessions: &mut Sessions, line: &str) {
        if let Some(skipped) = counted(line, "pending") {
            sessions.closed.add_counts(Counts { skipped, ..Counts::default() });
        } else if let Some(failed) = counted(line, "failing") {
            sessions.closed.add_counts(Counts { failed, ..Counts::default() });
            self.expected = failed;
        }
    }

    /// `  1) math`, when it is the one that comes next.
    fn begins_failure(&self, line: &str) -> Option<String> {
        if self.part == Part::Other || self.next > self.expected {
            return None;
        }
        let (number, title) = line.strip_prefix("  ")?.split_once(") ")?;
        (whole_number(number.trim_start())? == self.next).then(|| title.to_owned())
    }

    fn begin_failure(&mut self, sessions: &mut Sessions, title: &str) {
        self.end_failure(sessions);
        self.next += 1;
        self.title(title);
    }

    fn title(&mut self, title: &str) {
        self.part = if title.ends_with(':') { Part::Error } else { Part::Title };
        self.titles.push(title.strip_suffix(':').unwrap_or(title).to_owned());
    }

    fn end_failure(&mut self, sessions: &mut Sessions) {
        let (id, text) = (std::mem::take(&mut self.titles).join(" > "), std::mem::take(&mut self.text));
        if matches!(self.part, Part::Title | Part::Error) {
            sessions.closed.fail(&id, (self.part == Part::Error).then_some(&text));
            self.part = Part::Failures;
        }
    }

    fn below(&mut self, sessions: &mut Sessions, line: &str) {
        let is_title = self.part == Part::Title && self.titles.len() < Self::MAX_TITLES;
        if is_title && line.starts_with("      ") {
            self.title(line.trim());
        } else if self.part == Part::Error && line.trim_start().starts_with("at ") {
            self.end_failure(sessions);
        } else if self.part == Part::Error && !line.trim().is_empty() {
            let indented = line.strip_prefix("      ").or_else(|| line.strip_prefix("     "));
            append_line(&mut self.text, indented.unwrap_or(line));
        }
    }
}

impl Summary for MochaReader {
    fn line(&mut self, sessions: &mut Sessions, line: &str) {
        if let Some(passed) = passing(line) {
            self.passing(sessions, passed);
        } else if line.strip_prefix("    ").is_some_and(|test| test.trim_start().starts_with(['✔', '✓']))
        {
            sessions.at_work();
        } else if let Some(title) = self.begins_failure(line) {
            self.begin_failure(sessions, &title);
        } else if self.part == Part::Failures && self.next == 1 {
            self.counts(sessions, line);
        } else {
            self.below(sessions, line);
        }
    }

    fn end(&mut self, sessions: &mut Sessions) {
        self.end_failure(sessions);
    }
}

/// `  12 passing (5ms)`
fn passing(line: &str) -> Option<u64> {
    let (number, time) = line.strip_prefix("  ")?.split_once(" passing (")?;
    let time = time.strip_suffix(')')?;
    let timed = time.starts_with(|each: char| each.is_ascii_digit()) && time.ends_with(['s', 'm', 'h']);
    if timed { whole_number(number) } else { None }
}

/// `  1 failing`
fn counted(line: &str, word: &str) -> Option<u64> {
    let (number, name) = line.strip_prefix("  ")?.split_once(' ')?;
    if name == word { whole_number(number) } else { None }
}

#[cfg(test)]
mod tests;
