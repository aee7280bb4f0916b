//! The part that gotestsum adds to `go test`, whatever form it shows that in: lists of the tests that failed or were skipped and of the
//! errors of builds, then `DONE 2 runs, 5 tests, 1 skipped, 2 failures, 1 error in 0.412s`.
//!
//! If tests that failed are run again, each run has its `DONE`, whose numbers hold those of the runs before: the last run decides.

use super::sessions::{is_seconds, number_first, sum};
use crate::{Counts, MAX_FAILING, WordList, tally::append_line, words};

const NAMES: WordList = words!["runs", "tests", "skipped", "failure", "failures", "error", "errors"];

/// The end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ending {
    /// The tests that failed before were run again.
    pub(super) is_again: bool,
    /// The tests of all runs; those that failed are those of the last.
    pub(super) counts: Counts,
    pub(super) is_built: bool,
}

/// The lists before a `DONE`.
#[derive(Debug, Default)]
pub(super) struct Lists {
    section: &'static str,
    /// The tests that failed, each with the number of its run and what it said.
    failing: Vec<(u64, String, String)>,
    pub(super) errors: Vec<String>,
    /// The number of the run that ended last, and of all that failed until then.
    last: (u64, u64),
}

impl Lists {
    /// Takes a line of the lists; false for any other.
    pub(super) fn line(&mut self, line: &str) -> bool {
        let headings = ["=== Failed", "=== Skipped", "=== Errors"];
        if let Some(section) = headings.into_iter().find(|heading| *heading == line) {
            self.section = section;
        } else if let Some(test) = line.strip_prefix("=== FAIL: ").and_then(failing) {
            self.failing.truncate(MAX_FAILING - 1);
            self.failing.push(test);
        } else if line.trim().is_empty() {
            return !self.section.is_empty();
        } else if let Some((.., text)) = self.failing.last_mut().filter(|_| self.section == headings[0]) {
            append_line(text, line.trim());
        } else if self.section == headings[2] && self.errors.len() < MAX_FAILING {
            self.errors.push(line.to_owned());
        }
        !self.section.is_empty()
    }

    /// Drops the lists: the lines of a package follow, or they were taken.
    pub(super) fn forget(&mut self) {
        *self = Self { last: self.last, ..Self::default() };
    }

    /// The ending that a line tells, where it is a `DONE`.
    pub(super) fn done(&mut self, line: &str) -> Option<Ending> {
        let (list, time) = line.strip_prefix("DONE ")?.rsplit_once(" in ")?;
        let list = number_first(list, ", ", NAMES).filter(|_| is_seconds(time))?;
        let number = |names: &[&str]| sum(&list, names);
        let (run, failed, skipped) =
            (number(&["runs"]).max(1), number(&["failure", "failures"]), number(&["skipped"]));
        let is_again = self.last.0 + 1 == run && run > 1;
        let before = if is_again { self.last.1 } else { 0 };
        (self.last, self.section) = ((run, failed), "");
        self.failing.retain(|(at, ..)| at + 1 == run);
        let passed = number(&["tests"]).saturating_sub(failed.saturating_add(skipped));
        let counts = Counts { passed, failed: failed.saturating_sub(before), skipped, ..Counts::default() };
        Some(Ending { is_again, counts, is_built: number(&["error", "errors"]) == 0 })
    }

    /// The tests that failed in the last run, each with what it said.
    pub(super) fn take_failing(&mut self) -> impl Iterator<Item = (String, String)> {
        std::mem::take(&mut self.failing).into_iter().map(|(_, id, text)| (id, text))
    }
}

/// `calc TestSub/neg (re-run 1) (0.00s)`: the number of the run, and the test.
fn failing(text: &str) -> Option<(u64, String, String)> {
    let (name, _) = text.rsplit_once(" (")?;
    let again = name.rsplit_once(" (re-run ");
    let again = again.and_then(|(name, run)| Some((name, run.strip_suffix(')')?.parse().ok()?)));
    let (name, run) = again.unwrap_or((name, 0));
    Some((run, name.replacen(' ', "::", 1), String::new()))
}
