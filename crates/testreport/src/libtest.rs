//! The text of `cargo test`: libtest binaries one after another, doctests, and what cargo says around them.
//!
//! Counts come from the `test result:` lines, which are right in every verbosity; ids from the lines of the
//! tests and from the lists of failures. Ids are not qualified by their binary: cargo names that on the
//! other stream, whose order against this one is not kept.

mod cargo;
mod line;

use crate::Counts;

use self::cargo::CargoReader;
use self::line::{Line, parse_line};
use super::normalize::Root;
use super::problem::ReportProblem;
use super::tally::{Outcome, Tally, Trouble, append_line};

/// Name of the runner in evidence.
const RUNNER: &str = "cargo";

/// What the lines that come now belong to.
enum Mode {
    /// Lines of tests.
    Tests,
    /// What a failing test printed: id and text.
    Captured(String, String),
    /// Names after `failures:`, until the result line shows that they were a list.
    Names(Vec<String>),
}

/// A binary that has begun and not yet printed its result.
struct Section {
    planned: u64,
    /// Counted from the lines of tests: only needed when no result comes.
    seen: Counts,
}

/// Reads libtest's standard output line by line, and cargo's words from either stream.
pub(super) struct LibtestReader {
    tally: Tally,
    cargo: CargoReader,
    recognised: bool,
    section: Option<Section>,
    /// Binaries that did not run what they were about to run, at most [`LibtestReader::MAX_UNFINISHED`].
    short: Vec<ReportProblem>,
    mode: Mode,
}

impl LibtestReader {
    /// Binaries without a whole result that are remembered for the message.
    const MAX_UNFINISHED: usize = 8;
    /// Names of one list that are looked at.
    const MAX_NAMES: usize = 100_000;

    pub(super) fn new(root: &Root) -> Self {
        Self {
            tally: Tally::new(root),
            cargo: CargoReader::default(),
            recognised: false,
            section: None,
            short: Vec::new(),
            mode: Mode::Tests,
        }
    }

    /// A line of standard error: only cargo's words are looked for.
    pub(super) fn side_line(&mut self, line: &str) {
        self.cargo.line(line);
    }

    /// A line of standard output.
    pub(super) fn line(&mut self, line: &str) {
        self.cargo.line(line);
        self.of_binary(line);
    }

    /// A line that a test binary may have printed.
    pub(super) fn of_binary(&mut self, line: &str) {
        let parsed = parse_line(line);
        if let Line::Result { .. } | Line::Failures | Line::Captured(_) = parsed {
            self.leave_captured();
        }
        match parsed {
            Line::Running(planned) if !self.is_captured() => self.begin(planned),
            Line::Test(id, outcome) if !self.is_captured() => self.test(id, outcome),
            Line::Captured(id) => self.mode = Mode::Captured(id.to_owned(), String::new()),
            Line::Failures => self.mode = Mode::Names(Vec::new()),
            Line::Result { verdict, counts } => self.result(verdict, counts),
            Line::Running(_) | Line::Test(..) | Line::Name(_) | Line::Other => self.other(line, &parsed),
        }
    }

    /// True between the first and the last line of a test binary: what comes in between is reported by libtest or
    /// printed by its tests.
    pub(super) fn is_inside(&self) -> bool {
        self.section.is_some()
    }

    fn is_captured(&self) -> bool {
        matches!(self.mode, Mode::Captured(..))
    }

    fn leave_captured(&mut self) {
        if let Mode::Captured(id, text) = &self.mode {
            self.tally.fail(id, Some(first_error(text).as_str()));
            self.mode = Mode::Tests;
        }
    }

    fn begin(&mut self, planned: u64) {
        self.give_up();
        self.recognised = true;
        self.mode = Mode::Tests;
        self.section = Some(Section { planned, seen: Counts::default() });
    }

    fn test(&mut self, id: &str, outcome: Outcome) {
        let Some(section) = &mut self.section else { return };
        self.tally.named(id, outcome);
        match outcome {
            Outcome::Passed => section.seen.passed += 1,
            Outcome::Skipped => section.seen.skipped += 1,
            Outcome::Failed | Outcome::Errored => {
                section.seen.failed += 1;
                self.tally.fail(id, None);
            }
        }
    }

    fn other(&mut self, line: &str, parsed: &Line<'_>) {
        match (&mut self.mode, parsed) {
            (Mode::Captured(_, text), _) => append_line(text, line),
            (Mode::Names(names), Line::Name(name)) => {
                if names.len() < Self::MAX_NAMES {
                    names.push((*name).to_owned());
                }
            }
            (Mode::Names(_), _) if !line.is_empty() => self.mode = Mode::Tests,
            (Mode::Names(_) | Mode::Tests, _) => {}
        }
    }

    fn result(&mut self, verdict: Outcome, counts: Counts) {
        self.recognised = true;
        if let Some(Section { planned, .. }) = self.section.take() {
            let counted = counts.passed.saturating_add(counts.failed).saturating_add(counts.skipped);
            if planned > counted {
                self.remember(ReportProblem::ResultShort { planned, counted });
            }
        }
        self.tally.add_counts(counts);
        let mode = std::mem::replace(&mut self.mode, Mode::Tests);
        if let (Mode::Names(names), Outcome::Failed) = (mode, verdict) {
            for name in &names {
                self.tally.fail(name, None);
            }
        }
        if verdict == Outcome::Failed && counts.failed == 0 {
            self.tally.trouble(Trouble::GaveUp);
        }
    }

    /// The binary ended without a result line: what its lines said is all there is.
    fn give_up(&mut self) {
        self.leave_captured();
        if let Some(section) = self.section.take() {
            self.tally.add_counts(section.seen);
            self.remember(ReportProblem::ResultMissing { planned: section.planned });
        }
    }

    fn remember(&mut self, problem: ReportProblem) {
        if self.short.len() < Self::MAX_UNFINISHED {
            self.short.push(problem);
        }
    }

    /// What was read; `None` when nothing of it was cargo's or libtest's.
    pub(super) fn finish(mut self, report: &str) -> Option<Tally> {
        self.give_up();
        for problem in std::mem::take(&mut self.short) {
            self.tally.problem(report, &problem);
        }
        let from_cargo = self.cargo.finish(&mut self.tally);
        if !self.recognised && from_cargo.is_none() {
            return None;
        }
        self.tally.recognised_as(RUNNER);
        Some(self.tally)
    }
}

/// The panic in what a test printed, without what it printed before and without advice and backtrace; the
/// whole text when the test did not panic.
fn first_error(text: &str) -> String {
    let start = text.lines().position(|line| line.contains("panicked at")).unwrap_or(0);
    let mut error = String::new();
    for line in text.lines().skip(start) {
        if line.starts_with("note: run with ") || line.starts_with("stack backtrace:") {
            break;
        }
        append_line(&mut error, line);
    }
    error
}

#[cfg(test)]
mod tests;
