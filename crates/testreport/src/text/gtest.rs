//! GoogleTest programs.
//!
//! A program that ends between the line that begins a test and the one that ends it has died in that test.

use super::Summary;
use super::sessions::{Sessions, whole_number};
use crate::Counts;
use crate::tally::{Outcome, append_line};

/// One line, as far as it is GoogleTest's.
enum Line<'t> {
    /// `[==========] Running 3 tests from 1 test suite.`
    Begin(u64),
    /// `[ RUN      ] Calc.Adds`
    Run(&'t str),
    /// `[       OK ] Calc.Adds (0 ms)`
    Ended(&'t str, Outcome),
    /// `[==========] 3 tests from 1 test suite ran. (0 ms total)`
    Ran(u64),
    /// `[  FAILED  ] 1 test, listed below:`
    Failing(u64),
    /// `[  FAILED  ] Calc.Adds`, in that list.
    Listed(&'t str),
    Other,
}

/// Reads what a GoogleTest program prints.
#[derive(Default)]
pub(super) struct GtestReader {
    counts: Counts,
    /// Tests that the program announced.
    planned: u64,
    /// Failing tests of the program that ended last, as far as its lines were seen.
    failed: Option<u64>,
    /// The test that runs, and what it said from its first failure on.
    running: Option<(String, String)>,
}

impl GtestReader {
    fn begin(&mut self, sessions: &mut Sessions, planned: u64) {
        self.died(sessions);
        self.planned = planned;
        sessions.begin();
        self.counts = Counts::default();
    }

    /// The test that was running when the program ended.
    fn died(&mut self, sessions: &mut Sessions) {
        if let Some((id, text)) = self.running.take() {
            sessions.seen(&id, Outcome::Errored);
            sessions.fail(&id, Some(&text));
        }
    }

    fn ended(&mut self, sessions: &mut Sessions, id: &str, outcome: Outcome) {
        let text = self.running.take().filter(|(running, _)| running == id).map(|(_, text)| text);
        sessions.seen(id, outcome);
        match outcome {
            Outcome::Passed => {}
            Outcome::Skipped => self.counts.skipped += 1,
            Outcome::Failed | Outcome::Errored => {
                self.counts.failed += 1;
                sessions.fail(id, text.as_deref());
            }
        }
    }

    fn ran(&mut self, sessions: &mut Sessions, total: u64) {
        let counts = std::mem::take(&mut self.counts);
        let others = counts.failed.saturating_add(counts.skipped);
        self.running = None;
        self.failed = Some(counts.failed);
        sessions.summary(Counts { passed: total.saturating_sub(others), ..counts });
        sessions.hold_against(std::mem::take(&mut self.planned), total);
    }

    /// More failing tests than lines of them: the beginning of the output is missing.
    fn failing(&mut self, sessions: &mut Sessions, count: u64) {
        let Some(seen) = self.failed else { return };
        let failed = count.saturating_sub(seen);
        sessions.closed.add_counts(Counts { failed, ..Counts::default() });
    }

    fn text(&mut self, line: &str) {
        if let Some((_, text)) = &mut self.running
            && (!text.is_empty() || line.ends_with(": Failure") || line.contains("): error: "))
        {
            append_line(text, line);
        }
    }
}

impl Summary for GtestReader {
    fn line(&mut self, sessions: &mut Sessions, line: &str) {
        match parse_line(line) {
            Line::Begin(planned) => self.begin(sessions, planned),
            Line::Run(id) => self.running = Some((id.to_owned(), String::new())),
            Line::Ended(id, outcome) => self.ended(sessions, id, outcome),
            Line::Ran(total) => self.ran(sessions, total),
            Line::Failing(count) => self.failing(sessions, count),
            Line::Listed(id) if self.failed.is_some() => sessions.closed.fail(id, None),
            Line::Listed(_) | Line::Other => self.text(line),
        }
    }

    fn end(&mut self, sessions: &mut Sessions) {
        self.died(sessions);
    }
}

fn parse_line(line: &str) -> Line<'_> {
    let Some((word, rest)) = line.strip_prefix('[').and_then(|rest| rest.split_once("] ")) else {
        return Line::Other;
    };
    let parsed = match word {
        "==========" if rest.starts_with("Running ") && rest.contains(" from ") => {
            Some(Line::Begin(rest.split(' ').nth(1).and_then(whole_number).unwrap_or(0)))
        }
        "==========" => ran(rest).map(Line::Ran),
        " RUN      " => Some(Line::Run(rest)),
        "       OK " => ended(rest, Outcome::Passed),
        "  FAILED  " => ended(rest, Outcome::Failed).or_else(|| Some(listed(rest))),
        "  SKIPPED " => ended(rest, Outcome::Skipped),
        _ => None,
    };
    parsed.unwrap_or(Line::Other)
}

/// `3 tests from 1 test suite ran. (0 ms total)`; older versions say `test case`.
fn ran(rest: &str) -> Option<u64> {
    let (number, rest) = rest.split_once(' ')?;
    let tests = rest.starts_with("test from ") || rest.starts_with("tests from ");
    if tests && rest.contains(" ran.") { whole_number(number) } else { None }
}

/// In the list at the end: its heading, or a test.
fn listed(rest: &str) -> Line<'_> {
    let count = rest.strip_suffix(", listed below:").and_then(|rest| whole_number(rest.split(' ').next()?));
    let id = rest.split_once(", where ").map_or(rest, |(id, _)| id);
    count.map_or(Line::Listed(id), Line::Failing)
}

/// `P/Calc.Adds/0, where GetParam() = 3 (0 ms)`: the index is the parameter's name.
fn ended(rest: &str, outcome: Outcome) -> Option<Line<'_>> {
    let (id, time) = rest.rsplit_once(" (")?;
    whole_number(time.strip_suffix(" ms)")?)?;
    let id = id.split_once(", where ").map_or(id, |(id, _)| id);
    Some(Line::Ended(id, outcome))
}

#[cfg(test)]
mod tests;
