//! The text of `go test`, verbose or not.
//!
//! The line of the package comes last and closes a session; it also gives its tests their full ids,
//! `package::TestName/subtest`. Parents of subtests count only when they fail although no subtest did, as
//! in TAP. A package that passed without naming its tests counts as one: more is not known. Where tests are named (`-v`), one
//! that names none and does not even say `PASS` ran none: its `TestMain` ended the program.
//!
//! A package may fail without a failing test: it did not build, its `TestMain` ended the program, it
//! panicked outside of a test. That is an error of the run.

mod cases;

use crate::Counts;

use super::super::normalize::Root;
use super::super::tally::{Tally, Trouble, append_line};
use super::sessions::Sessions;

use self::cases::Cases;

/// Name of the runner in evidence.
const RUNNER: &str = "go";

/// What a test binary says that has no tests, or none that `-run` names: on standard error, which `go test` puts
/// before the line of the package.
const NO_TESTS: &str = "testing: warning: no tests to run";

/// How the line of a package says that it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Passed,
    Failed,
    NotBuilt,
    /// No test files, or none that was to be run.
    Empty,
}

/// Reads what `go test` prints.
pub(super) struct GoReader {
    sessions: Sessions,
    cases: Cases,
    /// What the compiler or vet said: known to matter once a package did not build.
    build: Vec<String>,
    /// Whether the lines are those of the compiler.
    compiling: bool,
    not_built: bool,
    /// A bare `PASS` or `FAIL`: all that a test binary prints that `go test` did not start.
    bare: bool,
    /// The binary of the package that comes said that it has no tests to run.
    none: bool,
    /// A package has named its tests: `-v`.
    verbose: bool,
    /// Packages that passed, of which nothing but that is known.
    silent: u64,
}

impl GoReader {
    const MAX_BUILD_ERRORS: usize = 64;

    pub(super) fn new(root: &Root) -> Self {
        Self {
            sessions: Sessions::new(RUNNER, root),
            cases: Cases::default(),
            build: Vec::new(),
            compiling: false,
            not_built: false,
            bare: false,
            none: false,
            verbose: false,
            silent: 0,
        }
    }

    /// A line of standard error: the compiler's words are looked for, and what a binary says there that `go test` did
    /// not start.
    pub(super) fn side_line(&mut self, line: &str) {
        if line == NO_TESTS {
            self.none = true;
        } else if line.starts_with("# ") {
            self.compiling = true;
        } else if self.compiling && is_position(line) && self.build.len() < Self::MAX_BUILD_ERRORS {
            let mut text = String::new();
            append_line(&mut text, line);
            self.build.push(text);
        } else if !line.starts_with(['\t', ' ']) {
            self.compiling = false;
        }
    }

    /// A line of standard output.
    pub(super) fn line(&mut self, line: &str) {
        if let Some((package, verdict)) = package_line(line) {
            return self.package(package, verdict);
        }
        if matches!(line, "PASS" | "FAIL") {
            self.bare = true;
            return;
        }
        if self.cases.line(line).is_some() {
            self.sessions.prove();
            self.bare = false;
        }
        self.side_line(line);
    }

    fn package(&mut self, package: &str, verdict: Verdict) {
        let (counts, panic) = self.close_cases(Some(package));
        // Before 1.10 the line of the package did not tell it.
        let none = std::mem::take(&mut self.none) && verdict == Verdict::Passed;
        let verdict = if none { Verdict::Empty } else { verdict };
        match verdict {
            Verdict::NotBuilt => {
                self.not_built = true;
                self.sessions.trouble(Trouble::BuildFailed);
            }
            Verdict::Failed if counts.failed == 0 => {
                self.sessions.trouble(Trouble::GaveUp);
                let why = panic.as_deref().unwrap_or("failed without a failing test");
                self.sessions.run_error(&format!("{package}: {why}"));
            }
            Verdict::Failed | Verdict::Passed | Verdict::Empty => {}
        }
        let alone = u64::from(verdict == Verdict::Passed && counts == Counts::default());
        if !std::mem::take(&mut self.bare) {
            self.silent = self.silent.saturating_add(alone);
            return self.sessions.summary(counts);
        }
        self.sessions.summary(Counts { passed: counts.passed.saturating_add(alone), ..counts });
    }

    /// Hands the tests of a package over.
    fn close_cases(&mut self, package: Option<&str>) -> (Counts, Option<String>) {
        let cases = std::mem::take(&mut self.cases).finish();
        self.verbose |= cases.named.is_some();
        let full =
            |name: &str| package.map_or_else(|| name.to_owned(), |package| format!("{package}::{name}"));
        match &cases.named {
            Some(named) => {
                for (name, outcome) in named {
                    self.sessions.named(&full(name), *outcome);
                }
            }
            None if cases.counts != Counts::default() => self.sessions.names_are_partial(),
            None => {}
        }
        for (name, text) in &cases.failures {
            let text = Some(text.as_str()).filter(|text| !text.is_empty());
            self.sessions.fail(&full(name), text);
        }
        (cases.counts, cases.panic)
    }

    /// What was read; `None` when nothing of it was `go test`'s.
    pub(super) fn finish(mut self, report: &str) -> Option<Tally> {
        let (counts, _) = self.close_cases(None);
        if self.bare && (counts != Counts::default() || self.none) {
            self.sessions.summary(counts);
        } else {
            self.sessions.seen_several(counts);
        }
        if self.silent > 0 && !self.verbose {
            self.sessions.closed().add_counts(Counts { passed: self.silent, ..Counts::default() });
        }
        if self.not_built {
            for error in &self.build {
                self.sessions.closed().run_error(error);
            }
        }
        self.sessions.finish(report)
    }
}

/// `ok  \tpkg\t0.003s`, `FAIL\tpkg [build failed]`, `?   \tpkg\t[no test files]`: the tabs tell them from
/// anybody else's words.
fn package_line(line: &str) -> Option<(&str, Verdict)> {
    let (word, rest) = line.split_once('\t')?;
    let (package, end) = rest.split_once(['\t', ' '])?;
    let end = end.trim();
    if package.is_empty() {
        return None;
    }
    let cached =
        end.strip_prefix("(cached)").is_some_and(|rest| rest.is_empty() || rest.starts_with(['\t', ' ']));
    let timed = cached || is_time(end);
    let verdict = match word {
        "ok  " if timed && end.contains("[no tests to run]") => Verdict::Empty,
        "ok  " if timed => Verdict::Passed,
        "FAIL" if matches!(end, "[build failed]" | "[setup failed]") => Verdict::NotBuilt,
        "FAIL" if timed => Verdict::Failed,
        "?   " if end == "[no test files]" => Verdict::Empty,
        "" if end.starts_with("coverage: ") => Verdict::Empty,
        _ => return None,
    };
    Some((package, verdict))
}

/// `0.003s`, perhaps with more words after it.
fn is_time(text: &str) -> bool {
    let word = text.split(char::is_whitespace).next().unwrap_or_default();
    word.strip_suffix('s').is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    })
}

/// `./a.go:3:5: undefined: x`, `a_test.go:3: x`; from vet with `vet: ` in front.
fn is_position(line: &str) -> bool {
    let line = line.strip_prefix("vet: ").unwrap_or(line);
    line.split_once(".go:").is_some_and(|(path, rest)| {
        !path.starts_with(char::is_whitespace) && rest.starts_with(|each: char| each.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests;
