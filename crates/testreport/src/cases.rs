//! Shared by the readers of structured reports: a case is counted, named and bounded in one place, and the
//! numbers that a report claims are held against the cases that it lists.

use crate::tally::{Outcome, Tally, append, append_line};
use crate::words::{PHRASES, cut};
use crate::{ReportProblem, Root, WordList};

/// Most cases in one report: only their number is kept, so this bounds no memory, but what is believed.
const MAX_CASES: u64 = 100_000_000;

/// Most problems of one report that are reported.
const MAX_PROBLEMS: usize = 8;

/// Longest part of an id that is kept, in bytes; normalization cuts the whole.
const MAX_NAME: usize = 4 * 1024;

/// One case, as far as the report has described it.
#[derive(Debug, Default)]
pub(super) struct Case {
    pub(super) id: String,
    pub(super) outcome: Outcome,
    pub(super) error: String,
}

impl Case {
    pub(super) fn new(id: String, outcome: Outcome) -> Self {
        Self { id, outcome, error: String::new() }
    }

    /// The same case with this error text, bounded.
    pub(super) fn with_error(mut self, text: &str) -> Self {
        append(&mut self.error, text);
        self
    }
}

/// Counts the cases of one report.
#[derive(Default)]
pub(super) struct Cases {
    pub(super) tally: Tally,
    report: String,
    seen: u64,
    pub(super) failing: u64,
    /// Something of the format has come.
    pub(super) recognised: bool,
    problems: usize,
}

impl Cases {
    /// For the report of that name, read as `runner` writes it, of a run in the project at `root`.
    pub(super) fn new(root: &Root, report: &str, runner: &'static str) -> Self {
        let mut tally = Tally::new(root);
        tally.recognised_as(runner);
        Self { tally, report: report.to_owned(), ..Self::default() }
    }

    /// Takes a case that has ended.
    pub(super) fn end(&mut self, case: &Case) {
        self.end_as(case, &case.id);
    }

    /// Takes a case that has ended, whose id says more than that of a case that passed: `base_id` is what both have.
    pub(super) fn end_as(&mut self, case: &Case, base_id: &str) {
        self.count(case.outcome);
        self.identify(base_id, case.outcome);
        if case.outcome.is_failing() {
            self.name(&case.id, &case.error);
        }
    }

    /// Counts a case that ended so, without its name.
    pub(super) fn count(&mut self, outcome: Outcome) {
        if self.seen >= MAX_CASES {
            return self.problem(&ReportProblem::TooManyCases(MAX_CASES));
        }
        self.seen += 1;
        self.failing += u64::from(outcome.is_failing());
        self.tally.count(outcome);
    }

    /// Notes what makes the report less than the whole.
    pub(super) fn problem(&mut self, problem: &ReportProblem) {
        if self.problems < MAX_PROBLEMS {
            self.problems += 1;
            self.tally.problem(&self.report, problem);
        }
    }

    /// True when a problem was noted.
    pub(super) fn has_problems(&self) -> bool {
        self.problems > 0
    }

    /// Notes that more is open at one time than is held.
    pub(super) fn too_many(&mut self, bound: usize) {
        self.problem(&ReportProblem::TooManyCases(u64::try_from(bound).unwrap_or(u64::MAX)));
    }

    /// Notes that the report breaks off.
    pub(super) fn cut(&mut self, what: impl Into<String>) {
        self.problem(&ReportProblem::Truncated(what.into()));
    }

    /// Names a case that was counted.
    pub(super) fn identify(&mut self, id: &str, outcome: Outcome) {
        self.tally.named(bounded(id), outcome);
    }

    /// Reports a failing case that was counted.
    pub(super) fn name(&mut self, id: &str, error: &str) {
        let id = if id.trim().is_empty() { "unnamed test" } else { id };
        self.tally.fail(bounded(id), Some(printed_escapes(error).as_str()));
    }

    /// Takes something that failed and is no case, such as a suite that cannot be loaded.
    pub(super) fn errored(&mut self, id: &str, error: &str) {
        self.failing += 1;
        self.tally.count(Outcome::Errored);
        let mut text = String::new();
        append(&mut text, error);
        self.name(id, &text);
    }

    /// Holds what the report claims against what it lists: more tests than that and it is not the whole,
    /// failures that no case shows are a failure all the same.
    pub(super) fn hold_against(&mut self, tests: u64, failing: u64) {
        if tests > self.seen {
            self.problem(&ReportProblem::PlanMismatch { planned: tests, came: self.seen });
        }
        if failing > 0 && self.failing == 0 {
            self.errored("test run", "the report counts failures that no case shows");
        }
    }
}

/// An id's beginning: as much as normalization needs to keep ids apart.
pub(super) fn bounded(id: &str) -> &str {
    cut(id, MAX_NAME)
}

/// Terminal escapes that a writer of XML has printed because XML cannot hold them, as they were.
pub(super) fn printed_escapes(text: &str) -> String {
    let mut text = text.to_owned();
    for printed in ["[NON-XML-CHAR-0x1B]", "#x1B", "#x1b", "\\u001b", "\u{241b}"] {
        if text.contains(printed) {
            text = text.replace(printed, "\u{1b}");
        }
    }
    text
}

/// Beginnings of lines at which what a Rust test says of its panic has ended.
pub(super) const AFTER_PANIC: WordList = WordList::section(PHRASES, "lines after panics");

/// Returns the output of a test, from its panic or else from line `otherwise` on, up to a line that is an end.
pub(super) fn from_panic(text: &str, otherwise: usize, is_end: impl Fn(&str) -> bool) -> String {
    let start = text.lines().position(|line| line.contains("panicked at")).unwrap_or(otherwise);
    let mut error = String::new();
    let is_message = |line: &&str| !AFTER_PANIC.begins(line) && !is_end(line);
    text.lines().skip(start).take_while(is_message).for_each(|line| append_line(&mut error, line));
    error
}

/// An error text up to its first stack frame (`    at f (file:1:2)`).
pub(super) fn before_frames(text: &str) -> &str {
    let frame = |line: &str| line.starts_with([' ', '\t']) && line.trim_start().starts_with("at ");
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        if frame(line) {
            break;
        }
        end += line.len();
    }
    text.get(..end).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TestStatus;
    use crate::run::{ExitKind, ParsedRun};

    #[test]
    fn what_a_report_claims_is_held_against_what_it_lists() {
        let cases = [
            (1, 0, TestStatus::Passed),
            (0, 0, TestStatus::Passed),
            (2, 0, TestStatus::Incomplete),
            (1, 1, TestStatus::Failed),
        ];
        for (tests, failing, status) in cases {
            let mut read = Cases::new(&Root::none(), "r", "x");
            read.end(&Case::new("a".into(), Outcome::Passed));
            read.hold_against(tests, failing);
            let run = ParsedRun::conclude(read.tally, ExitKind::Code(0));
            assert_eq!(run.status, status, "{tests} {failing}");
        }
    }

    #[test]
    fn as_many_cases_as_the_bound_are_counted_and_one_more_is_not() {
        let mut read = Cases::new(&Root::none(), "r", "x");
        read.seen = MAX_CASES - 1;
        read.count(Outcome::Passed);
        assert!(!read.has_problems() && read.tally.counts.passed == 1);
        read.count(Outcome::Passed);
        assert!(read.has_problems() && read.tally.counts.passed == 1);
        assert_eq!(read.tally.problem, Some("too-many-cases"));
    }

    #[test]
    fn printed_escapes_and_frames_go() {
        let mut read = Cases::new(&Root::none(), "r", "x");
        for printed in ["#x1B[31mno#x1B[0m", "[NON-XML-CHAR-0x1B][31mno", "\u{241b}[1mno"] {
            read.errored("", printed);
        }
        let (ids, errors, _) = read.tally.into_parts();
        assert_eq!((ids, errors[0].text.as_str()), (vec!["unnamed test".to_owned()], "no"));
        assert_eq!(before_frames("Error: at home\n\n    at f (a.js:1:2)\n    at g\n"), "Error: at home\n\n");
        assert_eq!(before_frames("at first"), "at first");
        assert_eq!(bounded(&"é".repeat(3000)).len(), MAX_NAME);
    }
}
