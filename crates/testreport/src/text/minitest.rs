//! minitest, with Ruby's plain runner or that of Rails, and test-unit, whose summary has more counts.

use crate::Counts;

use super::super::normalize::Root;
use super::super::tally::{Tally, append_line};
use super::Summary;
use super::count_list::{number_first, only, sum, whole_number};
use super::sessions::Sessions;

/// Name of the runner in evidence.
const RUNNER: &str = "minitest";

/// What the next line is.
enum Part {
    Other,
    /// After `  1) Failure:`
    Name,
    /// The error of a test.
    Error(String, String),
}

/// Reads minitest's text.
pub(super) struct MinitestReader {
    sessions: Sessions,
    part: Part,
}

impl MinitestReader {
    pub(super) fn new(root: &Root) -> Self {
        Self { sessions: Sessions::new(RUNNER, root), part: Part::Other }
    }

    fn end_error(&mut self) {
        if let Part::Error(id, text) = std::mem::replace(&mut self.part, Part::Other) {
            self.sessions.fail(&id, Some(&text));
        }
    }
}

impl Summary for MinitestReader {
    fn line(&mut self, line: &str) {
        if let Some(counts) = summary(line) {
            self.end_error();
            return self.sessions.summary(counts);
        }
        if line.strip_prefix("Run options: ").is_some_and(|rest| rest.contains("--seed ")) {
            return self.sessions.begin();
        }
        if is_failure(line) {
            self.end_error();
            self.part = Part::Name;
            return;
        }
        match &mut self.part {
            Part::Other => {}
            Part::Name => self.part = test_id(line).map_or(Part::Other, |id| Part::Error(id, String::new())),
            Part::Error(..) if line.is_empty() || line.starts_with("bin/rails test ") => self.end_error(),
            Part::Error(_, text) => {
                if !is_frame(line) {
                    append_line(text, line);
                }
            }
        }
    }

    fn is_open(&self) -> bool {
        self.sessions.is_open()
    }

    fn finish(mut self: Box<Self>, report: &str) -> Option<Tally> {
        self.end_error();
        self.sessions.finish(report)
    }
}

/// `3 runs, 4 assertions, 1 failures, 0 errors, 1 skips`
fn summary(line: &str) -> Option<Counts> {
    if !line.contains(" assertions, ") {
        return None;
    }
    let list = number_first(line, ", ")?;
    let names = [
        "runs",
        "tests",
        "assertions",
        "failures",
        "errors",
        "skips",
        "pendings",
        "omissions",
        "notifications",
    ];
    only(&list, &names)?;
    let total = sum(&list, &["runs", "tests"]);
    let (failed, errored) = (sum(&list, &["failures"]), sum(&list, &["errors"]));
    let skipped = sum(&list, &["skips", "pendings", "omissions"]);
    let others = failed.saturating_add(errored).saturating_add(skipped);
    (list.len() >= 5).then(|| Counts {
        total: 0,
        passed: total.saturating_sub(others),
        failed,
        errored,
        skipped,
    })
}

/// `  1) Failure:`; Rails leaves the number out.
fn is_failure(line: &str) -> bool {
    // From the tenth on the number has but one space before it, from the hundredth on none.
    let word = match line.trim_start_matches(' ').split_once(") ") {
        Some((number, word)) if whole_number(number).is_some() => word,
        Some(_) | None => line,
    };
    matches!(word, "Failure:" | "Error:")
}

/// `CalcTest#test_sub [test/calc_test.rb:9]:` or `CalcTest#test_err:`
fn test_id(line: &str) -> Option<String> {
    let id = line.strip_suffix(':')?;
    let id = id.rsplit_once(" [").map_or(id, |(id, place)| if place.ends_with(']') { id } else { line });
    id.contains('#').then(|| id.to_owned())
}

/// `    test/calc_test.rb:12:in 'test_err'`
fn is_frame(line: &str) -> bool {
    line.starts_with("    ") && line.contains(":in ")
}

#[cfg(test)]
mod tests;
