//! minitest, with Ruby's plain runner or that of Rails, and test-unit, whose summary has more counts.

use super::Summary;
use super::sessions::{Sessions, counts_of, number_first, others_passed, sum, whole_number};
use crate::{Counts, WordList, words::RUNNERS};

/// Whatever a summary counts.
const NAMES: WordList = WordList::section(RUNNERS, "minitest summary");

/// The place of the next line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Part {
    #[default]
    Other,
    /// After `  1) Failure:`
    Name,
    /// The error of a test.
    Error,
}

/// Reads minitest's text.
#[derive(Default)]
pub(super) struct MinitestReader {
    part: Part,
}

impl Summary for MinitestReader {
    fn line(&mut self, sessions: &mut Sessions, line: &str) {
        if let Some(counts) = summary(line) {
            self.part = Part::Other;
            sessions.summary(counts);
        } else if line.strip_prefix("Run options: ").is_some_and(|rest| rest.contains("--seed ")) {
            sessions.begin();
        } else if is_failure(line) {
            sessions.end_failure();
            self.part = Part::Name;
        } else if self.part == Part::Name {
            self.part = Part::Other;
            if let Some(id) = test_id(line) {
                sessions.begin_failure(&id, "");
                self.part = Part::Error;
            }
        } else if self.part == Part::Error && (line.is_empty() || line.starts_with("bin/rails test ")) {
            self.part = Part::Other;
            sessions.end_failure();
        } else if self.part == Part::Error && !is_frame(line) {
            sessions.explain(line);
        }
    }
}

/// `3 runs, 4 assertions, 1 failures, 0 errors, 1 skips`
fn summary(line: &str) -> Option<Counts> {
    if !line.contains(" assertions, ") {
        return None;
    }
    let list = number_first(line, ", ", NAMES)?;
    let counts = counts_of(&list, [&[], &["failures"], &["errors"], &["skips", "pendings", "omissions"]]);
    (list.len() >= 5).then(|| others_passed(sum(&list, &["runs", "tests"]), counts))
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
