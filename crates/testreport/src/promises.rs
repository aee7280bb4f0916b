//! Holds the runners that were started to their promises: a run that ends with 0 without the summary of a runner
//! that was at work was ended from within a test.

use std::collections::BTreeSet;

use crate::{
    KnownRunner, ParsedRun, Promise, RUNNER_EXIT, ReportProblem, RunnerCall, TestStatus,
    printed_lines::PrintedOutput,
};

/// Runners whose results are known from what they print for people. Any other recognised name is a report, which may be of
/// whatever runner.
const TEXTS: [&str; 15] = [
    "cargo", "nextest", "go", "pytest", "unittest", "jest", "vitest", "mocha", "node", "rspec", "minitest",
    "phpunit", "ctest", "gtest", "bats",
];

impl ParsedRun {
    /// Holds a run that passes against what its runners promise.
    pub(super) fn hold_to(&mut self, calls: &BTreeSet<RunnerCall>, printed: &PrintedOutput) {
        if self.status != TestStatus::Passed || calls.is_empty() {
            return;
        }
        if calls.iter().all(|call| call.promise == Promise::NoTest) {
            if self.is_of(calls) {
                self.status = TestStatus::NoTests;
                self.warnings.push(
                    "the test command asks its runner for a list or a rehearsal: no test ran".to_owned(),
                );
            }
            return;
        }
        if let Some(broken) = calls.iter().find(|call| self.breaks(**call, printed)) {
            self.status = TestStatus::Incomplete;
            self.tests = None;
            let problem = ReportProblem::SummaryMissing { runner: broken.runner.name() };
            self.warnings.push(format!(
                "{problem}: it was ended before, from within a test perhaps, or its end is cut off from what is shown"
            ));
        }
    }

    /// True when nothing was recognised but what these calls print.
    fn is_of(&self, calls: &BTreeSet<RunnerCall>) -> bool {
        let is_called = |name: &str| calls.iter().any(|call| call.runner.name() == name);
        self.runner.split('+').all(|name| name == RUNNER_EXIT || is_called(name))
    }

    fn breaks(&self, call: RunnerCall, printed: &PrintedOutput) -> bool {
        let told = self
            .runner
            .split('+')
            .any(|name| name == call.runner.name() || name != RUNNER_EXIT && !TEXTS.contains(&name));
        match call.promise {
            Promise::Nothing | Promise::NoTest => false,
            Promise::Progress => !told && printed.last().is_some_and(is_progress),
            Promise::Summary => !told && !printed.any(|line| may_be_end(call.runner, line)),
        }
    }
}

/// `..s.`, without how far it has come.
fn is_progress(line: &str) -> bool {
    line.chars().all(|mark| ".FEsxXR".contains(mark))
}

/// True for a line that may be the end of the runner in the words of an unknown reporter, or that says that there was
/// nothing to do.
fn may_be_end(runner: KnownRunner, line: &str) -> bool {
    const DONE: [&str; 6] = ["passed", "passing", "succeeded", "successful", "successfully", "ok"];
    let text = line.trim();
    // pytest reached its end; its environment tells it to print no summary.
    let is_whole = runner == KnownRunner::Pytest && text.ends_with("[100%]");
    let is_ok = runner == KnownRunner::Unittest && (text == "OK" || text.starts_with("OK ("));
    let is_contents = runner == KnownRunner::Mocha && text == "# TOC";
    if is_whole
        || is_ok
        || is_contents
        || text.starts_with("Results (")
        || runner == KnownRunner::Jest && text.starts_with("No tests found")
    {
        return true;
    }
    let words = || text.split(|one: char| !one.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words().any(|word| word.bytes().all(|byte| byte.is_ascii_digit()))
        && words().any(|word| DONE.iter().any(|done| word.eq_ignore_ascii_case(done)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ExitKind, Root, RunReader, Stream};

    fn run(words: &str, stdout: &str, stderr: &str) -> TestStatus {
        let mut reader = RunReader::new(Root::none());
        let words: Vec<&str> = words.split_whitespace().collect();
        if let Some(call) = RunnerCall::of_words(&words) {
            reader.expect(call);
        }
        reader.push(Stream::Stdout, stdout.as_bytes());
        reader.push(Stream::Stderr, stderr.as_bytes());
        reader.finish(ExitKind::Code(0)).status
    }

    #[test]
    fn a_runner_that_was_ended_is_no_pass() {
        for (words, stdout, stderr) in [
            ("pytest -q", ".", ""),
            ("pytest -qq", ".", ""),
            ("nice pytest", ".", ""),
            ("sudo pytest", ".", ""),
            ("ionice -c 3 pytest", ".", ""),
            ("setsid -w pytest", ".", ""),
            ("chronic pytest", ".", ""),
            ("python -m pytest -s", "", ""),
            ("python -m unittest", "", "."),
            ("python -m unittest -v", "", "test_1 (t.T.test_1) ... ok\ntest_2 (t.T.test_2) ... "),
            ("npx jest", "", ""),
            ("mocha", "\n\n  x\n    ✔ a\n", ""),
            ("mocha -R dot", "\n\n  .!", ""),
            ("mocha -R markdown", "", ""),
            ("jest", "Snapshots:   0 total\nTime:        0.5 s\nRan all test suites.\n", ""),
            ("rspec", "..", ""),
            ("vitest run", "", ""),
            ("vitest run", " RUN  v4.0.0 /p\n\n ✓ a.test.js (2 tests) 3ms\n", ""),
        ] {
            assert_eq!(run(words, stdout, stderr), TestStatus::Incomplete, "{words} {stdout}");
        }
    }

    #[test]
    fn a_runner_that_runs_nothing_is_no_pass() {
        for (words, stdout) in [
            ("mocha --dry-run", "\n\n  x\n    ✔ a\n\n\n  2 passing (1ms)\n"),
            ("pytest --co -qq", "test_a.py: 3\n\n"),
            ("jest --listTests", "/p/a.test.js\n"),
            ("go test -list .", "TestA\nok  \tp\t0.003s\n"),
            ("cargo test -- --list", "a: test\n\n1 test, 0 benchmarks\n"),
        ] {
            assert_eq!(run(words, stdout, ""), TestStatus::NoTests, "{words}");
        }
    }

    #[test]
    fn an_honest_end_is_a_pass_in_whatever_words() {
        for (words, stdout, stderr) in [
            ("pytest -q", "..  [100%]\n2 passed in 0.1s\n", ""),
            ("pytest -qq", "..                      [100%]\n", ""),
            ("pytest", "..                      [100%]\n", ""),
            ("pytest -p no:terminal", "", ""),
            ("pytest", "\nResults (0.05s):\n       3 passed\n", ""),
            ("python -m unittest -q", "", &format!("{}\nRan 3 tests in 0.001s\n\nOK\n", "-".repeat(70))),
            ("jest --reporters=x", "done\n", ""),
            ("jest", "", "No tests found related to files changed since last commit.\n"),
            ("jest", "", "PASS a.test.js\nTest Suites: 1 passed, 1 total\nTests:       2 passed, 2 total\n"),
            ("jest", "<testsuite><testcase name='a'/></testsuite>\n", ""),
            ("mocha -R min", "\n  2 passing (3ms)\n", ""),
            ("mocha -R markdown", "# TOC\n - [x](#x)\n", ""),
            ("python -m unittest", "OK\n", ""),
            ("echo pytest", "pytest\n", ""),
        ] {
            assert_eq!(run(words, stdout, stderr), TestStatus::Passed, "{words} {stdout}");
        }
    }
}
