//! jest, which reports on standard error.
//!
//! A failure is under `● suite › name` below the line of its file, and once more at the end when many files failed. A
//! suite that cannot be loaded has no failing test: it is an error of the run.

use super::Summary;
use super::sessions::{Sessions, counts_of, listed, number_first, sum, whole_number};
use crate::tally::{Trouble, append_line};
use crate::{Counts, words};

/// Ends of files that hold tests.
const SOURCES: [&str; 10] = [".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte"];

/// Headings that are no tests.
const NO_TESTS: [&str; 2] = ["Console", "Cannot log after tests are done."];

/// The text under a heading.
#[derive(Default)]
enum Block {
    /// A failing test, or a suite that failed as a whole.
    Error { id: Option<String>, text: String },
    /// Code and stack after the error, or other output.
    #[default]
    Rest,
}

/// Reads jest's default reporter.
#[derive(Default)]
pub(super) struct JestReader {
    file: Option<String>,
    block: Block,
    /// The line of the suites has come: that of the tests must follow.
    suites: bool,
    /// The summary since the last file.
    drawn: Option<Counts>,
}

impl JestReader {
    fn end_block(&mut self, sessions: &mut Sessions) {
        let block = std::mem::take(&mut self.block);
        let (Block::Error { id, text }, Some(file)) = (block, &self.file) else { return };
        if let Some(name) = id {
            sessions.fail(&format!("{file}::{name}"), Some(&text));
        } else {
            sessions.pending.trouble(Trouble::GaveUp);
            sessions.pending.run_error(&format!("{file}: {}", text.trim_start()));
        }
    }

    /// `  ● math › adds`
    fn heading(&mut self, sessions: &mut Sessions, title: &str) {
        self.end_block(sessions);
        if self.file.is_none() || NO_TESTS.contains(&title) {
            return;
        }
        let id = (title != "Test suite failed to run").then(|| title.replace(" › ", " > "));
        self.block = Block::Error { id, text: String::new() };
    }

    fn text(&mut self, sessions: &mut Sessions, line: &str) {
        if let Block::Error { text, .. } = &mut self.block {
            let inner = line.trim_start();
            if inner.starts_with("at ") || is_code(inner) {
                self.end_block(sessions);
            } else if !inner.is_empty() {
                append_line(text, line.strip_prefix("    ").unwrap_or(inner));
            }
        }
    }

    fn tests(&mut self, sessions: &mut Sessions, total: u64, counts: Counts) {
        self.end_block(sessions);
        self.file = None;
        // On a terminal the summary is drawn while the tests run, and once more when they have ended.
        if self.drawn != Some(counts) {
            sessions.summary(counts);
            sessions.hold_against(total, listed(counts));
        }
        self.drawn = Some(counts);
    }
}

impl Summary for JestReader {
    fn line(&mut self, sessions: &mut Sessions, line: &str) {
        if let Some(file) = file_line(line) {
            self.end_block(sessions);
            sessions.prove();
            self.drawn = None;
            self.file = Some(file.to_owned());
        } else if is_running(line) || line.starts_with(EXITED) {
            self.end_block(sessions);
            sessions.prove();
        } else if let Some(title) = line.strip_prefix("  ● ") {
            self.heading(sessions, title.trim());
        } else if let Some(list) = line.strip_prefix("Test Suites: ") {
            self.end_block(sessions);
            self.suites = are_whole(list);
        } else if let (true, Some(list)) = (self.suites, line.strip_prefix("Tests: ")) {
            self.suites = false;
            if let Some((total, counts)) = totals(list) {
                self.tests(sessions, total, counts);
            }
        } else if line.starts_with("No tests found, exiting with code ") {
            sessions.pending.trouble(Trouble::NoTests);
            sessions.summary(Counts::default());
        } else {
            self.text(sessions, line);
        }
    }

    fn end(&mut self, sessions: &mut Sessions) {
        self.end_block(sessions);
    }
}

/// Jest's line when the code under test ends the process: nothing comes after it.
const EXITED: &str = "  ●  process.exit called with ";

/// `RUNS  src/b.test.js`, which is drawn while a file is at work.
fn is_running(line: &str) -> bool {
    let line = line.strip_prefix(' ').unwrap_or(line);
    line.strip_prefix("RUNS ").is_some_and(|rest| is_test_file(last_word(rest.trim())))
}

fn last_word(text: &str) -> &str {
    text.rsplit(' ').next().unwrap_or(text)
}

/// `FAIL src/b.test.js (5.1 s)`, with the name of a project between the two.
fn file_line(line: &str) -> Option<&str> {
    // In colours the word is in a field of its own, with a space on either side.
    let line = line.strip_prefix(' ').unwrap_or(line);
    let rest = line.strip_prefix("FAIL ").or_else(|| line.strip_prefix("PASS "))?;
    let path =
        rest.rsplit_once(" (").map_or(rest, |(path, time)| if time.ends_with(" s)") { path } else { rest });
    let path = last_word(path);
    let path = path.strip_prefix("./").unwrap_or(path);
    is_test_file(path).then_some(path)
}

fn is_test_file(path: &str) -> bool {
    let test = [".test.", ".spec.", "_test.", "-test.", "_spec.", "test/", "tests/", "__tests__/"];
    test.iter().any(|part| path.contains(part)) && SOURCES.iter().any(|end| path.ends_with(end))
}

/// True for a line of the suites that counts all of them: `1 skipped, 1 passed, 1 of 2 total` does, because the one that did
/// not run was skipped. `1 passed, 1 of 2 total` is drawn while the second is at work.
fn are_whole(list: &str) -> bool {
    let Some((before, total)) = list.trim().rsplit_once(" of ") else { return totals(list).is_some() };
    let (skipped, ran) = before.rsplit_once(", ").unwrap_or(("0 skipped", before));
    let numbers = || {
        let listed = number_first(skipped, ", ", words!["failed", "skipped", "passed"])?;
        let all = whole_number(total.strip_suffix(" total")?)?;
        Some((sum(&listed, &["skipped"]), whole_number(ran)?, all))
    };
    numbers().is_some_and(|(skipped, ran, all)| skipped > 0 && ran.saturating_add(skipped) >= all)
}

/// `1 failed, 2 skipped, 3 todo, 4 passed, 10 total`
fn totals(list: &str) -> Option<(u64, Counts)> {
    let names = words!["failed", "skipped", "todo", "passed", "total"];
    let list = number_first(list.trim(), ", ", names)?;
    let (_, total) = list.iter().find(|(name, _)| *name == "total")?;
    let counts = counts_of(&list, [&["passed"], &["failed"], &[], &["skipped", "todo"]]);
    Some((*total, counts))
}

/// A line of the code that is shown: `> 4 |   expect(1)`, `3 |`.
fn is_code(text: &str) -> bool {
    let text = text.strip_prefix('>').unwrap_or(text).trim_start();
    text.split_once('|').is_some_and(|(number, _)| {
        let number = number.trim_end();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests;
