//! `ctest`, with or without the output of the tests.
//!
//! The text between the line that starts the tests and the summary is the tests' own output: other runners' reports in
//! it are not read, because ctest counts each program as one test.

use super::sessions::{Sessions, whole_number};
use crate::tally::{Outcome, Tally, Trouble};
use crate::{Counts, Root};

/// Name of the runner in evidence.
const RUNNER: &str = "ctest";

/// Whose a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// ctest's, or printed by a test that it runs.
    Ctest,
    Other,
}

/// The progress of ctest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Part {
    #[default]
    Outside,
    /// `Test project` was printed.
    Project,
    Tests,
    /// After the summary: the names of the tests that failed.
    Names,
}

/// Reads ctest's standard output.
#[derive(Default)]
pub(super) struct CtestReader {
    sessions: Sessions,
    part: Part,
    skipped: u64,
    disabled: u64,
    not_run: u64,
    /// Failing tests whose names are all that is left of an output.
    named: Option<u64>,
}

impl CtestReader {
    pub(super) fn new(root: &Root) -> Self {
        Self { sessions: Sessions::new(RUNNER, root), ..Self::default() }
    }

    /// Takes a line and says whose it is.
    pub(super) fn line(&mut self, line: &str) -> Owner {
        if let Some((failed, total)) = summary(line).filter(|_| self.part != Part::Names) {
            self.summary(failed, total);
        } else if let Some((name, ended)) = result(line) {
            self.begin();
            self.result(name, ended);
        } else if is_start(line) && matches!(self.part, Part::Project | Part::Tests) {
            self.begin();
            self.sessions.end_failure();
        } else {
            self.side_line(line);
            return self.other(line);
        }
        Owner::Ctest
    }

    /// A line of either stream: that there are no tests is said on standard error.
    pub(super) fn side_line(&mut self, line: &str) {
        if line == "No tests were found!!!" {
            self.sessions.pending.trouble(Trouble::NoTests);
            self.sessions.take_in();
        }
    }

    fn begin(&mut self) {
        self.part = Part::Tests;
        self.sessions.prove();
    }

    fn other(&mut self, line: &str) -> Owner {
        match self.part {
            Part::Outside | Part::Project => {
                self.project(line);
                Owner::Other
            }
            Part::Tests => {
                if line.strip_prefix("test ").is_some_and(is_number) {
                    // With `-V`, the next test begins so.
                    self.sessions.end_failure();
                } else if !line.is_empty() {
                    self.sessions.explain(line);
                }
                Owner::Ctest
            }
            Part::Names => {
                self.name(line);
                self.project(line);
                Owner::Other
            }
        }
    }

    fn project(&mut self, line: &str) {
        // The beginning of an output may be cut off.
        if line == "The following tests FAILED:" && self.part == Part::Outside {
            self.sessions.prove();
            (self.part, self.named) = (Part::Names, Some(0));
        }
        if line.strip_prefix("Test project ").is_some_and(|path| path.contains('/')) {
            self.part = Part::Project;
        }
    }

    /// `\t  2 - calc_test (Failed)`
    fn name(&mut self, line: &str) {
        let Some((number, rest)) = line.strip_prefix('\t').and_then(|rest| rest.split_once(" - ")) else {
            return;
        };
        let Some((name, how)) = rest.rsplit_once(" (") else { return };
        let passed = ["Skipped)", "Disabled)"].iter().any(|word| how.starts_with(word));
        if whole_number(number.trim()).is_some() && !passed {
            self.sessions.closed.fail(name.trim_end(), None);
            self.named = self.named.map(|named| named + 1);
        }
    }

    fn result(&mut self, name: &str, ended: &str) {
        self.sessions.end_failure();
        let ended = ended.trim_end();
        let outcome = if ended.starts_with("Passed") {
            Outcome::Passed
        } else if ended.starts_with("***Skipped") {
            self.skipped += 1;
            Outcome::Skipped
        } else if ended.starts_with("***Not Run (Disabled)") {
            self.disabled += 1;
            Outcome::Skipped
        } else if ended.starts_with("***Not Run") {
            self.not_run += 1;
            Outcome::Errored
        } else {
            Outcome::Failed
        };
        self.sessions.seen(name, outcome);
        if outcome.is_failing() {
            let how = ended.trim_start_matches('*').trim_end_matches("sec").trim_end();
            let how = how.trim_end_matches(|each: char| each.is_ascii_digit() || each == '.').trim_end();
            self.sessions.begin_failure(name, how);
        }
    }

    fn summary(&mut self, failing: u64, total: u64) {
        let errored = std::mem::take(&mut self.not_run).min(failing);
        let skipped = std::mem::take(&mut self.skipped);
        self.sessions.summary(Counts {
            total: 0,
            passed: total.saturating_sub(failing.saturating_add(skipped)),
            failed: failing.saturating_sub(errored),
            errored,
            skipped: skipped.saturating_add(std::mem::take(&mut self.disabled)),
        });
        self.part = Part::Names;
    }

    /// The result; `None` when nothing of it was ctest's.
    pub(super) fn finish(mut self, report: &str) -> Option<Tally> {
        if let Some(failed) = self.named {
            self.sessions.summary(Counts { failed, ..Counts::default() });
        }
        self.sessions.finish(report)
    }
}

/// `    Start  1: calc_test`
fn is_start(line: &str) -> bool {
    let number = line.trim_start().strip_prefix("Start ").and_then(|rest| rest.split_once(": "));
    line.starts_with("    ") && number.is_some_and(|(number, _)| is_number(number))
}

/// `1/3 Test #1: calc_test ........   Passed    0.00 sec`: the name, and how it ended.
fn result(line: &str) -> Option<(&str, &str)> {
    let (progress, rest) = line.split_once(" Test ")?;
    let (done, all) = progress.split_once('/')?;
    let (number, rest) = rest.trim_start().strip_prefix('#')?.split_once(": ")?;
    if ![done, all, number].into_iter().all(is_number) || !line.trim_end().ends_with(" sec") {
        return None;
    }
    let (name, rest) = rest.split_once(" ..")?;
    Some((name.trim_end(), rest.trim_start_matches('.').trim_start()))
}

/// `67% tests passed, 1 tests failed out of 3`; of late `100% tests passed out of 3`.
fn summary(line: &str) -> Option<(u64, u64)> {
    if let Some(total) = line.strip_prefix("100% tests passed out of ") {
        return whole_number(total.trim_end()).map(|total| (0, total));
    }
    let (percent, rest) = line.split_once("% tests passed, ")?;
    let (failed, rest) = rest.split_once(' ')?;
    let total =
        rest.strip_prefix("tests failed out of ").or_else(|| rest.strip_prefix("test failed out of "))?;
    whole_number(percent)?;
    Some((whole_number(failed)?, whole_number(total.trim_end())?))
}

fn is_number(text: &str) -> bool {
    whole_number(text.trim()).is_some()
}

#[cfg(test)]
mod tests;
