//! The text of `cargo test`: libtest binaries one after another, doctests, and what cargo says around them.
//!
//! Counts come from the `test result:` lines, which are right in every verbosity; ids from the lines of the
//! tests and from the lists of failures. Ids are not qualified by their binary: cargo names that on the
//! other stream, whose order against this one is not kept.

use crate::cases::{Cases, from_panic};
use crate::tally::{Outcome, Tally, Trouble, append_line};
use crate::{Counts, ReportProblem, Root, WordList, words::PHRASES};

/// Name of the runner in evidence.
const RUNNER: &str = "cargo";

/// The owner of the lines that come now.
#[derive(Default)]
enum Mode {
    /// Lines of tests.
    #[default]
    Tests,
    /// Output of a failing test: id and text.
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
#[derive(Default)]
pub(super) struct LibtestReader {
    cases: Cases,
    cargo: CargoReader,
    section: Option<Section>,
    mode: Mode,
}

impl LibtestReader {
    /// Names of one list that are looked at.
    const MAX_NAMES: usize = 100_000;

    pub(super) fn new(root: &Root, report: &str) -> Self {
        Self { cases: Cases::new(root, report, RUNNER), ..Self::default() }
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
            self.cases.tally.fail(id, Some(&from_panic(text, 0, |_| false)));
            self.mode = Mode::Tests;
        }
    }

    fn begin(&mut self, planned: u64) {
        self.give_up();
        self.cases.recognised = true;
        self.mode = Mode::Tests;
        self.section = Some(Section { planned, seen: Counts::default() });
    }

    fn test(&mut self, id: &str, outcome: Outcome) {
        let Some(section) = &mut self.section else { return };
        self.cases.tally.named(id, outcome);
        match outcome {
            Outcome::Passed => section.seen.passed += 1,
            Outcome::Skipped => section.seen.skipped += 1,
            Outcome::Failed | Outcome::Errored => {
                section.seen.failed += 1;
                self.cases.tally.fail(id, None);
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
        self.cases.recognised = true;
        if let Some(Section { planned, .. }) = self.section.take() {
            let counted = counts.passed.saturating_add(counts.failed).saturating_add(counts.skipped);
            if planned > counted {
                self.cases.problem(&ReportProblem::ResultShort { planned, counted });
            }
        }
        self.cases.tally.add_counts(counts);
        let mode = std::mem::replace(&mut self.mode, Mode::Tests);
        if let (Mode::Names(names), Outcome::Failed) = (mode, verdict) {
            for name in &names {
                self.cases.tally.fail(name, None);
            }
        }
        if verdict == Outcome::Failed && counts.failed == 0 {
            self.cases.tally.trouble(Trouble::GaveUp);
        }
    }

    /// The binary ended without a result line: what its lines said is all there is.
    fn give_up(&mut self) {
        self.leave_captured();
        if let Some(section) = self.section.take() {
            self.cases.tally.add_counts(section.seen);
            self.cases.problem(&ReportProblem::ResultMissing { planned: section.planned });
        }
    }

    /// The result; `None` when nothing of it was cargo's or libtest's.
    pub(super) fn finish(mut self) -> Option<Tally> {
        self.give_up();
        let from_cargo = self.cargo.finish(&mut self.cases.tally);
        (self.cases.recognised || from_cargo).then_some(self.cases.tally)
    }
}

/// Collects the compiler's errors until it is known whether the build failed.
#[derive(Debug, Default)]
pub(super) struct CargoReader {
    worst: Option<Trouble>,
    errors: Vec<String>,
    kills: Vec<String>,
    /// Every target ran (`--no-fail-fast`).
    ran_on: bool,
}

impl CargoReader {
    const MAX_ERRORS: usize = 64;

    pub(super) fn line(&mut self, line: &str) {
        if is_build_failure(line) {
            self.worst = Some(Trouble::BuildFailed);
        } else if let Some(failure) = failure(line) {
            self.worst = self.worst.max(Some(Trouble::GaveUp));
            if failure == Failure::OfAll {
                self.ran_on = true;
            }
        } else if line.starts_with("error: ") || line.starts_with("error[") {
            keep(&mut self.errors, line);
        } else if line.trim_start().starts_with("--> ") {
            if let Some(error) = self.errors.last_mut().filter(|error| !error.contains('\n')) {
                append_line(error, line.trim_start());
            }
        } else if let Some(kill) = killed(line) {
            self.worst = self.worst.max(Some(Trouble::Crashed));
            keep(&mut self.kills, kill);
        }
    }

    /// Adds what was found to the tally; false when there was nothing.
    pub(super) fn finish(self, tally: &mut Tally) -> bool {
        let Some(worst) = self.worst else { return false };
        match (worst, self.ran_on) {
            // It ended as one does whose tests failed, behind the last of them.
            (Trouble::GaveUp, true) => tally.trouble = tally.trouble.max(Some(Trouble::GaveUp)),
            (worst, _) => tally.trouble(worst),
        }
        let errors = match worst {
            Trouble::BuildFailed => self.errors,
            Trouble::Crashed => self.kills,
            Trouble::NoTests | Trouble::GaveUp | Trouble::Incomplete => Vec::new(),
        };
        for error in &errors {
            tally.run_error(error);
        }
        true
    }
}

fn keep(texts: &mut Vec<String>, line: &str) {
    if texts.len() < CargoReader::MAX_ERRORS {
        let mut text = String::new();
        append_line(&mut text, line);
        texts.push(text);
    }
}

/// Ends of a build that failed, behind `error: `. Old versions of cargo begin it with a capital, leave out the
/// quotes around the name, or end it with a full stop.
const BUILD_FAILURES: WordList = WordList::section(PHRASES, "builds of cargo that failed");

/// `error: could not compile `x` (lib test) due to 1 previous error`, and a build script that failed.
fn is_build_failure(line: &str) -> bool {
    let Some(said) = error(line) else { return false };
    BUILD_FAILURES.iter().any(|start| begins(said, start)) || said.trim_end_matches('.') == "build failed"
}

/// `error: test failed, to rerun pass ...`, `error: 2 targets failed:`: how cargo ends, whatever a pipe makes of its exit
/// code.
fn failure(line: &str) -> Option<Failure> {
    let said = error(line)?;
    let counted = said.split_once(' ').is_some_and(|(number, rest)| {
        number.bytes().all(|byte| byte.is_ascii_digit())
            && matches!(rest, "target failed:" | "targets failed:")
    });
    let rerun =
        ["test failed, to rerun pass ", "doctest failed, to rerun pass ", "bench failed, to rerun pass "];
    match rerun.iter().any(|start| said.starts_with(start)) {
        _ if counted => Some(Failure::OfAll),
        true => Some(Failure::OfTarget),
        false => None,
    }
}

/// The extent of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Failure {
    /// One target: cargo stops after it, unless an option forbids it.
    OfTarget,
    /// Some of all targets.
    OfAll,
}

/// The text after `error: `.
fn error(line: &str) -> Option<&str> {
    let rest = line.get(..6).filter(|word| word.eq_ignore_ascii_case("error:")).and(line.get(6..))?;
    rest.starts_with(' ').then(|| rest.trim_start())
}

/// True for a text that begins so, its first letter in either case.
fn begins(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

/// The signal of `process didn't exit successfully: `/p/target/x-1f` (signal: 6, SIGABRT: ...)`.
fn killed(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("process didn't exit successfully: `")?;
    let (_, end) = rest.rsplit_once("` (")?;
    end.starts_with("signal: ").then(|| end.trim_end_matches(')'))
}

/// One line, as far as its own text tells.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'t> {
    /// `running 3 tests`
    Running(u64),
    /// `test tests::a ... ok`
    Test(&'t str, Outcome),
    /// `---- tests::a stdout ----`
    Captured(&'t str),
    /// `failures:`
    Failures,
    /// A name in a list: four spaces in front.
    Name(&'t str),
    /// `test result: FAILED. 1 passed; 2 failed; ...`: `ok` or `FAILED`, and the tests that passed, failed and were ignored.
    Result {
        verdict: Outcome,
        counts: Counts,
    },
    Other,
}

pub(super) fn parse_line(line: &str) -> Line<'_> {
    if line == "failures:" {
        return Line::Failures;
    }
    if let Some(rest) = line.strip_prefix("test result: ") {
        return parse_result(rest);
    }
    let parsed = if let Some(rest) = line.strip_prefix("test ") {
        parse_test(rest)
    } else if let Some(rest) = line.strip_prefix("running ") {
        parse_running(rest)
    } else if let Some(rest) = line.strip_prefix("---- ") {
        rest.strip_suffix(" stdout ----").or_else(|| rest.strip_suffix(" stderr ----")).map(Line::Captured)
    } else {
        line.strip_prefix("    ").filter(|name| !name.is_empty() && !name.starts_with(' ')).map(Line::Name)
    };
    parsed.unwrap_or(Line::Other)
}

fn parse_running(rest: &str) -> Option<Line<'_>> {
    let (number, word) = rest.split_once(' ')?;
    matches!(word, "test" | "tests").then(|| number.parse().ok().map(Line::Running)).flatten()
}

fn parse_test(rest: &str) -> Option<Line<'_>> {
    let (id, end) = rest.rsplit_once(" ... ")?;
    Some(Line::Test(id, Outcome::told("cargo", end.split([' ', ',', ':']).next()?)?))
}

/// `ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s`. Filtered tests are
/// not part of the run. A line that is cut before its `failed` number is no result.
fn parse_result(rest: &str) -> Line<'_> {
    let Some((verdict, numbers)) = rest.split_once(". ") else { return Line::Other };
    let verdict = match verdict {
        "ok" => Outcome::Passed,
        "FAILED" => Outcome::Failed,
        _ => return Line::Other,
    };
    let number = |name: &str| {
        numbers.split("; ").find_map(|part| {
            part.strip_suffix(';').unwrap_or(part).strip_suffix(name)?.trim().parse::<u64>().ok()
        })
    };
    let (Some(passed), Some(failed)) = (number("passed"), number("failed")) else { return Line::Other };
    let counts = Counts {
        total: 0,
        passed,
        failed,
        errored: 0,
        skipped: number("ignored").unwrap_or(0).saturating_add(number("measured").unwrap_or(0)),
    };
    Line::Result { verdict, counts }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod cargo_tests {
    use super::*;

    #[test]
    fn signals_are_told_from_exit_codes() {
        let line = "  process didn't exit successfully: `/p/target/debug/deps/a-1f` (signal: 6, SIGABRT: process abort signal)";
        assert_eq!(killed(line), Some("signal: 6, SIGABRT: process abort signal"));
        assert_eq!(killed("process didn't exit successfully: `/p/a` (exit status: 1)"), None);
        assert_eq!(killed("process didn't exit successfully"), None);
    }

    #[test]
    fn build_failures_in_every_spelling() {
        for yes in [
            "error: could not compile `demo` (lib test) due to 2 previous errors; 1 warning emitted",
            "error: could not compile `demo` (lib test)",
            "error: could not compile demo",
            "error: Could not compile `demo`.",
            "error: Could not compile demo due to previous error",
            "error:  could not compile `demo`",
            "error: failed to run custom build command for `demo v0.1.0 (/p)`",
            "error: Could not document `demo`.",
            "error: build failed",
        ] {
            assert!(is_build_failure(yes), "{yes}");
        }
        for no in [
            "error: test failed, to rerun pass `--lib`",
            "warning: could not compile `demo`",
            "could not compile `demo`",
            "the error: could not compile",
            "error: compile",
            "errör: could not compile x",
        ] {
            assert!(!is_build_failure(no), "{no}");
        }
    }

    #[test]
    fn how_cargo_ends_a_run_that_failed() {
        for yes in [
            "error: test failed, to rerun pass `--lib`",
            "error: doctest failed, to rerun pass `--doc`",
            "error: 2 targets failed:",
        ] {
            assert!(failure(yes).is_some(), "{yes}");
        }
        for no in ["error: no such command: `tets`", "error: test failed", "error: some targets failed:"] {
            assert_eq!(failure(no), None, "{no}");
        }
    }
}

#[cfg(test)]
mod line_tests {
    use super::*;

    #[test]
    fn lines_are_told_apart() {
        use Outcome::{Failed, Passed, Skipped};
        let cases = [
            ("running 3 tests", Line::Running(3)),
            ("running 1 test", Line::Running(1)),
            ("running 1 test from ./a.ts", Line::Other),
            ("running late", Line::Other),
            ("test tests::a ... ok", Line::Test("tests::a", Passed)),
            ("test tests::a ... ok <0.001s>", Line::Test("tests::a", Passed)),
            ("test a - should panic ... FAILED", Line::Test("a - should panic", Failed)),
            ("test a ... ignored, slow", Line::Test("a", Skipped)),
            ("test a ... bench:   1,234 ns/iter (+/- 56)", Line::Test("a", Skipped)),
            ("test src/lib.rs - f (line 5) ... ok", Line::Test("src/lib.rs - f (line 5)", Passed)),
            ("test a ... ", Line::Other),
            ("test a has been running for over 60 seconds", Line::Other),
            ("---- tests::a stdout ----", Line::Captured("tests::a")),
            ("failures:", Line::Failures),
            ("    tests::a", Line::Name("tests::a")),
            ("     deeper", Line::Other),
            ("test result: cut", Line::Other),
            ("test result: ok. 3 passed; 0 fai", Line::Other),
        ];
        for (line, expected) in cases {
            assert_eq!(parse_line(line), expected, "{line}");
        }
    }

    #[test]
    fn results_count_measured_as_skipped_and_leave_filtered_out() {
        let line = "test result: FAILED. 4 passed; 2 failed; 1 ignored; 3 measured; 9 filtered out; finished in 0.1s";
        let counts = Counts { total: 0, passed: 4, failed: 2, errored: 0, skipped: 4 };
        assert_eq!(parse_line(line), Line::Result { verdict: Outcome::Failed, counts });
    }
}
