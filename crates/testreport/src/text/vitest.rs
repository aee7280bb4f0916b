//! vitest's default reporter: the summary is on standard output, the failures before it on standard error.
//!
//! Both streams go to one reader, because neither tells the whole. Suites that cannot be loaded and errors
//! outside of tests have no failing test: they are errors of the run.

use super::sessions::{counts_of, listed, number_first, whole_number};
use crate::tally::{Tally, Trouble, append_line};
use crate::{Counts, ReportProblem, Root, Stream, words};

/// Name of the runner in evidence.
const RUNNER: &str = "vitest";

/// The subject of a failing block.
enum Block {
    /// Tests with one error between them.
    Tests(Vec<String>),
    /// A file that could not be loaded, or an error outside of tests.
    Run(String),
}

/// The owner of the errors that come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Section {
    #[default]
    Tests,
    Suites,
    Unhandled,
}

/// Reads vitest's two streams.
#[derive(Default)]
pub(super) struct VitestReader {
    /// Failures as far as they were named.
    tally: Tally,
    /// The first summary that counts fewer tests than there are: both numbers.
    short: Option<(u64, u64)>,
    begun: u32,
    ended: u32,
    section: Section,
    block: Option<(Stream, Block, String)>,
}

impl VitestReader {
    const MAX_SHARED: usize = 64;

    pub(super) fn new(root: &Root) -> Self {
        Self { tally: Tally::new(root), ..Self::default() }
    }

    /// A line of either stream.
    pub(super) fn line(&mut self, stream: Stream, line: &str) {
        if let Some(version) = line.strip_prefix(" RUN  v") {
            if version.starts_with(|each: char| each.is_ascii_digit()) {
                self.begun = self.begun.saturating_add(1);
            }
        } else if let Some(list) = line.strip_prefix("      Tests  ") {
            self.tests(list);
        } else if let Some(list) = line.strip_prefix("     Errors  ") {
            if self.ended > 0 && list.split_once(" error").is_some() {
                self.tally.trouble(Trouble::GaveUp);
            }
        } else if line.starts_with("No test files found, exiting with code ") {
            self.ended = self.ended.saturating_add(1);
            self.tally.trouble(Trouble::NoTests);
        } else if line.starts_with('⎯') {
            self.rule(stream, line);
        } else if let Some(name) = line.strip_prefix(" FAIL  ") {
            self.failing(stream, name);
        } else {
            self.text(stream, line);
        }
    }

    /// `1 failed | 2 passed | 1 skipped | 1 todo (5)`, or `no tests` when no suite could be loaded.
    fn tests(&mut self, list: &str) {
        if let Some((total, more)) = totals(list) {
            let counted = listed(more);
            if total > counted {
                self.short.get_or_insert((total, counted));
            }
            self.ended = self.ended.saturating_add(1);
            self.tally.add_counts(more);
        }
    }

    /// `⎯⎯⎯ Failed Tests 1 ⎯⎯⎯`, or the rule below a block.
    fn rule(&mut self, stream: Stream, line: &str) {
        self.end_block();
        let title = line.trim_matches('⎯').trim();
        if title.starts_with("Failed Tests ") {
            self.section = Section::Tests;
        } else if title.starts_with("Failed Suites ") {
            self.section = Section::Suites;
        } else if title == "Unhandled Errors" {
            self.section = Section::Unhandled;
        } else if title.starts_with("Unhandled ") || title.starts_with("Uncaught ") {
            self.block = Some((stream, Block::Run(title.to_owned()), String::new()));
        }
    }

    /// ` FAIL  src/b.test.ts > math > adds`; several in a row share the error below.
    fn failing(&mut self, stream: Stream, name: &str) {
        let name = name.trim();
        let whole =
            name.strip_prefix('|').and_then(|rest| rest.split_once("| ")).map_or(name, |(_, rest)| rest);
        if let Some((_, Block::Tests(names), text)) = &mut self.block
            && text.is_empty()
            && self.section == Section::Tests
        {
            if names.len() < Self::MAX_SHARED {
                names.push(whole.to_owned());
            }
            return;
        }
        self.end_block();
        self.block = match self.section {
            Section::Tests if whole.contains(" > ") => {
                Some((stream, Block::Tests(vec![whole.to_owned()]), String::new()))
            }
            Section::Suites => {
                let file = whole.split_once(" [ ").map_or(whole, |(file, _)| file);
                Some((stream, Block::Run(file.to_owned()), String::new()))
            }
            Section::Tests | Section::Unhandled => None,
        };
    }

    /// The error, up to the place in the code.
    fn text(&mut self, stream: Stream, line: &str) {
        match &mut self.block {
            Some((from, _, text)) if *from == stream => {
                if line.starts_with(" ❯ ") {
                    self.end_block();
                } else if !line.trim().is_empty() {
                    append_line(text, line);
                }
            }
            Some(_) | None => {}
        }
    }

    fn end_block(&mut self) {
        match self.block.take() {
            Some((_, Block::Tests(names), text)) => {
                for name in names {
                    self.tally.fail(&name.replacen(" > ", "::", 1), Some(&text));
                }
            }
            Some((_, Block::Run(file), text)) => {
                self.tally.trouble(Trouble::GaveUp);
                self.tally.run_error(&format!("{file}: {text}"));
            }
            None => {}
        }
    }

    /// The result; `None` when nothing of it was vitest's.
    pub(super) fn finish(mut self, report: &str) -> Option<Tally> {
        self.end_block();
        if self.begun == 0 && self.ended == 0 {
            return None;
        }
        if self.begun > self.ended {
            self.tally.problem(report, &ReportProblem::SummaryMissing { runner: RUNNER });
        }
        if let Some((planned, counted)) = self.short.filter(|_| !self.tally.has_failures()) {
            let problem = ReportProblem::SummaryShort { runner: RUNNER, planned, counted };
            self.tally.problem(report, &problem);
        }
        (0..self.ended).for_each(|_| self.tally.sessions.end(RUNNER));
        self.tally.recognised_as(RUNNER);
        Some(self.tally)
    }
}

fn totals(list: &str) -> Option<(u64, Counts)> {
    if list.trim() == "no tests" {
        return Some((0, Counts::default()));
    }
    let (list, total) = list.trim().rsplit_once(" (")?;
    let total = whole_number(total.strip_suffix(')')?)?;
    let list = number_first(list, " | ", words!["failed", "passed", "skipped", "todo", "expected fail"])?;
    Some((total, counts_of(&list, [&["passed", "expected fail"], &["failed"], &[], &["skipped", "todo"]])))
}

#[cfg(test)]
mod tests;
