//! PHPUnit 8 to 12.

use super::Summary;
use super::sessions::{Sessions, counts_of, name_first, others_passed, sum, whole_number};
use crate::{Counts, WordList, tally::Trouble, words::RUNNERS};

/// Whatever a summary counts.
const WORDS: WordList = WordList::section(RUNNERS, "phpunit summary");

/// The subject of the coming numbered list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Part {
    #[default]
    Other,
    /// After `There was 1 failure:`
    Failures,
    Error,
}

/// Reads PHPUnit's default output.
#[derive(Default)]
pub(super) struct PhpunitReader {
    part: Part,
    begun: bool,
}

impl PhpunitReader {
    fn summary(&mut self, sessions: &mut Sessions, counts: Counts) {
        sessions.summary(counts);
        self.part = Part::Other;
        self.begun = false;
    }

    fn listed(&mut self, sessions: &mut Sessions, line: &str) {
        if self.part == Part::Other {
        } else if let Some(id) = numbered(line) {
            sessions.begin_failure(id, "");
            self.part = Part::Error;
        } else if self.part == Part::Error && !is_frame(line) {
            sessions.explain(line);
        }
    }
}

impl Summary for PhpunitReader {
    fn line(&mut self, sessions: &mut Sessions, line: &str) {
        if line.starts_with("PHPUnit ") && line.contains(" by Sebastian Bergmann") {
            sessions.begin();
            self.begun = true;
        } else if !self.begun {
        } else if let Some(counts) = summary(line) {
            self.summary(sessions, counts);
        } else if line == "No tests executed!" {
            sessions.pending.trouble(Trouble::NoTests);
            self.summary(sessions, Counts::default());
        } else if let Some(what) = heading(line) {
            sessions.end_failure();
            self.part = if what.starts_with("failure") || what.starts_with("error") {
                Part::Failures
            } else {
                Part::Other
            };
        } else if matches!(line, "--" | "FAILURES!" | "ERRORS!" | "WARNINGS!") {
            sessions.end_failure();
            if self.part == Part::Error {
                self.part = Part::Failures;
            }
        } else {
            self.listed(sessions, line);
        }
    }
}

/// `OK (3 tests, 5 assertions)` or `Tests: 3, Assertions: 2, Failures: 1.`
fn summary(line: &str) -> Option<Counts> {
    if let Some(list) = line.strip_prefix("OK (") {
        let (tests, rest) = list.split_once(" test")?;
        let passed = whole_number(tests).filter(|_| rest.contains(" assertion"))?;
        return Some(Counts { passed, ..Counts::default() });
    }
    let list = name_first(line.strip_prefix("Tests: ").and(line.strip_suffix('.'))?, ':', WORDS)?;
    let counts = counts_of(&list, [&[], &["Failures"], &["Errors"], &["Skipped", "Incomplete"]]);
    Some(others_passed(sum(&list, &["Tests"]), counts))
}

/// `There were 2 failures:`
fn heading(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("There was ").or_else(|| line.strip_prefix("There were "))?;
    let (number, what) = rest.strip_suffix(':')?.split_once(' ')?;
    whole_number(number).map(|_| what)
}

/// `1) Tests\CalcTest::testSub with data set "one" (3, 1)`
fn numbered(line: &str) -> Option<&str> {
    let (number, id) = line.split_once(") ")?;
    (!number.is_empty()).then(|| whole_number(number)).flatten().filter(|_| id.contains("::")).map(|_| id)
}

/// `/work/demo/tests/CalcTest.php:12`
fn is_frame(line: &str) -> bool {
    let place = line.rsplit_once(".php:").map(|(_, number)| number);
    place.is_some_and(|number| !number.is_empty() && whole_number(number).is_some())
}

#[cfg(test)]
mod tests;
