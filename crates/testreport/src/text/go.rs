//! The text of `go test`, verbose or not.
//!
//! The line of the package comes last and closes a session; it also gives its tests their full ids,
//! `package::TestName/subtest`. Parents of subtests count only when they fail although no subtest did, as
//! in TAP. A package that passed without naming its tests counts as one: more is not known. Where tests are named (`-v`), one
//! that names none and does not even say `PASS` ran none: its `TestMain` ended the program.
//!
//! A package may fail without a failing test: it did not build, its `TestMain` ended the program, it
//! panicked outside of a test. That is an error of the run.

use std::collections::BTreeMap;

use super::gotestsum::{Ending, Lists};
use super::sessions::{Sessions, is_seconds};
use crate::tally::{Outcome, Tally, Trouble, append_line};
use crate::{Counts, MAX_FAILING, ReportedPlace, Root, test_names::MAX_IDS};

/// Name of the runner in evidence.
const RUNNER: &str = "go";

/// The warning of a test binary that has no tests, or none that `-run` names: on standard error, which `go test` puts
/// before the line of the package.
const NO_TESTS: &str = "testing: warning: no tests to run";

/// The verdict in the line of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Passed,
    Failed,
    NotBuilt,
    /// No test files, or none that was to be run.
    Empty,
}

/// Reads what `go test` prints.
#[derive(Default)]
pub(super) struct GoReader {
    sessions: Sessions,
    cases: Cases,
    /// The words of the compiler or vet: known to matter once a package did not build.
    build: Vec<String>,
    /// True while the lines are those of the compiler.
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
    /// The lists at the end of gotestsum; lines of packages may come before them.
    lists: Lists,
    shows_packages: bool,
    /// The results before its newest call began and when its newest run ended, with the silent packages.
    closed: [(Tally, u64); 2],
}

impl GoReader {
    const MAX_BUILD_ERRORS: usize = 64;

    pub(super) fn new(root: &Root) -> Self {
        let closed = [(Tally::new(root), 0), (Tally::new(root), 0)];
        Self { sessions: Sessions::new(RUNNER, root), closed, ..Self::default() }
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
            self.lists.forget();
            self.shows_packages = true;
            return self.package(package, verdict);
        }
        if let Some(ending) = self.lists.done(line) {
            return self.done(ending);
        }
        if self.lists.line(line) {
            return;
        }
        if matches!(line, "PASS" | "FAIL") {
            self.bare = true;
            return;
        }
        if self.cases.line(line) {
            self.sessions.prove();
            self.bare = false;
        }
        self.side_line(line);
    }

    fn package(&mut self, package: &str, verdict: Verdict) {
        if verdict == Verdict::Passed && !self.cases.running.is_empty() {
            self.sessions.unfinished = true;
        }
        let (counts, panic) = self.close_cases(Some(package));
        // Before 1.10 the line of the package did not tell it.
        let none = std::mem::take(&mut self.none) && verdict == Verdict::Passed;
        let verdict = if none { Verdict::Empty } else { verdict };
        match verdict {
            Verdict::NotBuilt => {
                self.not_built = true;
                self.sessions.pending.trouble(Trouble::BuildFailed);
            }
            Verdict::Failed if counts.failed == 0 => {
                self.sessions.pending.trouble(Trouble::GaveUp);
                let why = panic.as_deref().unwrap_or("failed without a failing test");
                self.sessions.pending.run_error(&format!("{package}: {why}"));
            }
            Verdict::Failed | Verdict::Passed | Verdict::Empty => {}
        }
        if verdict == Verdict::Passed {
            self.sessions.closed.placed(ReportedPlace::GoPackage(package.to_owned()));
        }
        let alone = u64::from(verdict == Verdict::Passed && counts == Counts::default());
        if !std::mem::take(&mut self.bare) {
            self.silent = self.silent.saturating_add(alone);
            return self.sessions.summary(counts);
        }
        self.sessions.summary(Counts { passed: counts.passed.saturating_add(alone), ..counts });
    }

    /// A run of gotestsum has ended. Its numbers count where no line of a package did, and in place of what came before where
    /// tests were run again.
    fn done(&mut self, ending: Ending) {
        if ending.is_again {
            (self.sessions.closed, self.silent) = self.closed[0].clone();
        } else {
            self.closed.swap(0, 1);
        }
        if ending.is_again || !self.shows_packages {
            self.cases = Cases::default();
            self.sessions.pending = Tally::new(&self.sessions.root);
            self.sessions.pending.names_are_partial();
            for (id, text) in self.lists.take_failing() {
                self.sessions.fail(&id, Some(text.as_str()).filter(|text| !text.is_empty()));
            }
            if !ending.is_built {
                self.sessions.pending.trouble(Trouble::BuildFailed);
                self.lists.errors.iter().for_each(|line| self.sessions.pending.run_error(line));
            }
            self.sessions.summary(ending.counts);
        }
        self.sessions.closed.sessions.end("gotestsum");
        self.shows_packages = false;
        self.lists.forget();
        self.closed[1] = (self.sessions.closed.clone(), self.silent);
    }

    /// Hands the tests of a package over.
    fn close_cases(&mut self, package: Option<&str>) -> (Counts, Option<String>) {
        let cases = std::mem::take(&mut self.cases).finish();
        self.verbose |= cases.verbose;
        let full =
            |name: &str| package.map_or_else(|| name.to_owned(), |package| format!("{package}::{name}"));
        if cases.verbose {
            for (name, outcome) in &cases.named {
                self.sessions.pending.named(&full(name), *outcome);
            }
        } else if cases.counts != Counts::default() {
            // Without `-v` only those that failed have a line.
            self.sessions.pending.names_are_partial();
        }
        for (name, text) in &cases.failures {
            let text = Some(text.as_str()).filter(|text| !text.is_empty());
            self.sessions.fail(&full(name), text);
        }
        (cases.counts, cases.panic)
    }

    /// The result; `None` when nothing of it was `go test`'s.
    pub(super) fn finish(mut self, report: &str) -> Option<Tally> {
        let (counts, _) = self.close_cases(None);
        if self.bare && (counts != Counts::default() || self.none) {
            self.sessions.summary(counts);
        } else {
            self.sessions.seen.add_counts(counts);
        }
        if self.silent > 0 && !self.verbose {
            self.sessions.closed.add_counts(Counts { passed: self.silent, ..Counts::default() });
        }
        if self.not_built {
            for error in &self.build {
                self.sessions.closed.run_error(error);
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
    let timed = cached || is_seconds(end);
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

/// `./a.go:3:5: undefined: x`, `a_test.go:3: x`; from vet with `vet: ` in front.
fn is_position(line: &str) -> bool {
    let line = line.strip_prefix("vet: ").unwrap_or(line);
    line.split_once(".go:").is_some_and(|(path, rest)| {
        !path.starts_with(char::is_whitespace) && rest.starts_with(|each: char| each.is_ascii_digit())
    })
}

/// Deepest subtest that is followed.
const MAX_DEPTH: usize = 32;

/// Tests under way whose words are kept.
const MAX_RUNNING: usize = 256;

/// A test whose line has come, and maybe those of its subtests.
#[derive(Debug)]
struct Open {
    name: String,
    outcome: Outcome,
    text: String,
    /// Subtests, and those of them that failed.
    children: u64,
    failed: u64,
}

/// Collects tests: parents come before their subtests, which are indented.
#[derive(Debug, Default)]
struct Cases {
    open: Vec<Open>,
    counts: Counts,
    named: Vec<(String, Outcome)>,
    /// A line said that a test begins.
    verbose: bool,
    failures: Vec<(String, String)>,
    /// With `-v`, what tests say comes before they end.
    running: BTreeMap<String, String>,
    current: Option<String>,
    panic: Option<String>,
    /// Below a panic: `running tests:` names those that hang.
    after_panic: bool,
}

impl Cases {
    /// Takes a line; true when no other program would print it.
    fn line(&mut self, line: &str) -> bool {
        let text = line.trim_start_matches(' ');
        let depth = (line.len() - text.len()) / 4;
        if let Some((name, outcome)) = result(text).filter(|_| depth < MAX_DEPTH) {
            self.result(depth, name, outcome);
            return true;
        }
        if let Some(name) = line.strip_prefix("=== ").and_then(running) {
            self.start(name);
            return true;
        }
        if let Some(words) = line.strip_prefix("panic: ") {
            self.panic.get_or_insert_with(|| format!("panic: {}", words.trim_end_matches(" [recovered]")));
            self.after_panic = true;
        } else if self.after_panic {
            self.hanging(line);
        } else {
            self.words(depth, text);
        }
        false
    }

    fn start(&mut self, name: &str) {
        self.verbose = true;
        self.current = Some(name.to_owned());
        if self.running.len() < MAX_RUNNING {
            self.running.entry(name.to_owned()).or_default();
        }
    }

    fn result(&mut self, depth: usize, name: &str, outcome: Outcome) {
        while self.open.len() > depth {
            self.close();
        }
        let text = self.running.remove(name).unwrap_or_default();
        self.current = None;
        self.after_panic = false;
        self.open.push(Open { name: name.to_owned(), outcome, text, children: 0, failed: 0 });
    }

    /// Words of a test: indented below its result, or with `-v` before it.
    fn words(&mut self, depth: usize, text: &str) {
        let example = self.open.last().is_some_and(|open| open.name.starts_with("Example"));
        let below = depth >= self.open.len() || example;
        let into = match (&self.current, self.open.last_mut()) {
            (Some(name), _) if depth > 0 => self.running.get_mut(name),
            (None, Some(open)) if below => Some(&mut open.text),
            (Some(_) | None, Some(_) | None) => None,
        };
        if let Some(into) = into.filter(|_| !text.is_empty()) {
            append_line(into, text);
        }
    }

    /// `\t\tTestSlow (1.00s)` in the list below a timeout.
    fn hanging(&mut self, line: &str) {
        let named = line.strip_prefix("\t\tTest").and_then(|rest| rest.split_once(" ("));
        if let Some((name, _)) = named {
            self.result(0, &format!("Test{name}"), Outcome::Failed);
            self.after_panic = true;
        }
    }

    /// The last open test has no further subtests.
    fn close(&mut self) {
        let Some(open) = self.open.pop() else { return };
        let failed = open.outcome == Outcome::Failed;
        if let Some(parent) = self.open.last_mut() {
            parent.children += 1;
            parent.failed += u64::from(failed);
        }
        let itself = open.children == 0 || (failed && open.failed == 0);
        if !itself {
            return;
        }
        if self.named.len() < MAX_IDS {
            self.named.push((open.name.clone(), open.outcome));
        }
        match open.outcome {
            Outcome::Passed => self.counts.passed += 1,
            Outcome::Skipped => self.counts.skipped += 1,
            Outcome::Failed | Outcome::Errored => {
                self.counts.failed += 1;
                if self.failures.len() <= MAX_FAILING {
                    self.failures.push((open.name, open.text));
                }
            }
        }
    }

    /// The package has ended. A panic explains the failing test that says nothing itself; a test that was
    /// running when the program died without its result line failed by it.
    fn finish(mut self) -> Self {
        if let (Some(name), Some(_)) = (self.current.take(), &self.panic) {
            self.result(0, &name, Outcome::Failed);
        }
        while !self.open.is_empty() {
            self.close();
        }
        if let (Some(panic), Some((_, text))) = (&self.panic, self.failures.last_mut()) {
            append_line(text, panic);
        }
        self
    }
}

/// `--- FAIL: TestA/b (0.00s)`
fn result(text: &str) -> Option<(&str, Outcome)> {
    let (verdict, rest) = text.strip_prefix("--- ")?.split_once(": ")?;
    let (name, time) = rest.rsplit_once(" (")?;
    Some((name, Outcome::told("go", verdict)?)).filter(|_| time.strip_suffix(')').is_some_and(is_seconds))
}

/// The test in `RUN   TestA`, `CONT  TestA` and `NAME  TestA`, after `=== `.
fn running(rest: &str) -> Option<&str> {
    ["RUN   ", "CONT  ", "NAME  "].iter().find_map(|word| rest.strip_prefix(word))
}

#[cfg(test)]
mod tests;
