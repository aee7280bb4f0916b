//! Holds the runners that were started to their promises: a run that ends with 0 without the summary of a runner
//! that was at work was ended from within a test.

use std::collections::BTreeMap;

use crate::{
    ParsedRun, Promise, RUNNER_EXIT, ReportProblem, RunnerCall, TestStatus, WordList,
    beginnings::SessionCounts, printed_lines::PrintedOutput, told::counts_tests, words::RUNNERS,
};

/// The calls that were made, each with the number of times.
pub(super) type Calls = BTreeMap<RunnerCall, u64>;
/// Runners whose results are known from what they print for people. Any other recognised name is a report, which may be of
/// whatever runner.
const TEXTS: WordList = WordList::section(RUNNERS, "readers of text");

impl ParsedRun {
    /// Holds a run that passes against what its runners promise.
    pub(super) fn hold_to(&mut self, calls: &Calls, printed: &PrintedOutput, sessions: &SessionCounts) {
        self.refuse_rehearsal(calls);
        if self.status != TestStatus::Passed {
            return;
        }
        let broken = self.broken(calls, printed, sessions);
        let why = match (broken, printed.lines().next_back().filter(|line| is_progress(line))) {
            (Some(runner), _) => {
                let problem = ReportProblem::SummaryMissing { runner };
                format!(
                    "{problem}: it was ended before, from within a test perhaps, or its end is cut off from what is shown"
                )
            }
            (None, Some(marks)) => {
                format!("the output ends within the tests, after {marks:?}, without a summary")
            }
            (None, None) => return,
        };
        self.status = TestStatus::Incomplete;
        self.tests = None;
        self.warnings.push(why);
    }

    /// Drops a pass of calls that run no test, where there is no other.
    pub(super) fn refuse_rehearsal(&mut self, calls: &Calls) {
        let idle = !calls.is_empty() && calls.keys().all(|call| call.promise == Promise::NoTest);
        if idle && self.status == TestStatus::Passed {
            self.ran_no_test();
        }
    }

    /// Drops a pass in which no more sessions ended than were seen to run no test.
    pub(super) fn refuse_rehearsed(&mut self, seen: &BTreeMap<&'static str, u64>, sessions: &SessionCounts) {
        let is_rehearsed = |runner: &str| {
            let times = seen.get(runner).copied();
            sessions.ended(runner).is_some_and(|ended| times.is_some_and(|times| ended <= times))
        };
        if self.status == TestStatus::Passed && self.runner.split('+').all(is_rehearsed) {
            self.ran_no_test();
        }
    }

    fn ran_no_test(&mut self) {
        self.status = TestStatus::NoTests;
        let what = "the test command asks its runner for a list or a rehearsal: no test ran";
        self.warnings.push(what.to_owned());
    }

    /// A runner that began more often, by its calls or by what the output shows, than it ended.
    fn broken(
        &self,
        calls: &Calls,
        printed: &PrintedOutput,
        sessions: &SessionCounts,
    ) -> Option<&'static str> {
        let by_report = self.runner.split('+').any(|name| name != RUNNER_EXIT && !TEXTS.contains(name));
        let called = calls.iter().filter(|(call, _)| call.promise == Promise::Summary);
        let mut called = called.map(|(call, times)| (call.runner.0, *times));
        let is_broken = |(runner, times): &(&'static str, u64)| match sessions.ended(runner) {
            Some(ended) => ended < *times,
            // It may end in the words of an unknown reporter, where those are not of another runner.
            None => self.runner != RUNNER_EXIT || !printed.lines().any(counts_tests),
        };
        if by_report {
            return None;
        }
        called.find(is_broken).map(|(runner, _)| runner).or_else(|| sessions.unfinished())
    }
}

/// `..s.`, without how far it has come: the progress of a runner that never came to its end.
pub(super) fn is_progress(line: &str) -> bool {
    line.bytes().all(|mark| b".sxFEX".contains(&mark)) && line.contains('.')
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
            ("make test", "2 passed in 0.1s\n..", ""),
            ("make test", "\n\n  x\n    ✔ a\n\n\n  1 passing (2ms)\n\n\n  y\n    ✔ b\n", ""),
            ("vitest run", "", ""),
            ("pytest -p no:terminal", "", ""),
            ("jest --reporters=x", "done\n", ""),
            ("jest", "", "No tests found related to files changed since last commit.\n"),
            ("mocha -R markdown", "# TOC\n - [x](#x)\n", ""),
            ("python -m unittest", "OK\n", ""),
            ("echo pytest", "pytest\n", ""),
            ("vitest run", " RUN  v4.0.0 /p\n\n ✓ a.test.js (2 tests) 3ms\n", ""),
        ] {
            assert_eq!(run(words, stdout, stderr), TestStatus::Incomplete, "{words} {stdout}");
        }
    }

    #[test]
    fn every_call_comes_to_its_own_summary() {
        let jest = "PASS a.test.js\nTest Suites: 1 passed, 1 total\nTests:       2 passed, 2 total\n";
        for (times, stderr, status) in [
            (1, jest.to_owned(), TestStatus::Passed),
            (2, jest.to_owned(), TestStatus::Incomplete),
            (2, jest.repeat(2), TestStatus::Passed),
        ] {
            let mut reader = RunReader::new(Root::none());
            for _ in 0..times {
                reader.expect(RunnerCall::of_words(&["jest"]).unwrap());
            }
            reader.push(Stream::Stderr, stderr.as_bytes());
            assert_eq!(reader.finish(ExitKind::Code(0)).status, status, "{times} {stderr}");
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
            ("pytest", "\nResults (0.05s):\n       3 passed\n", ""),
            ("python -m unittest -q", "", &format!("{}\nRan 3 tests in 0.001s\n\nOK\n", "-".repeat(70))),
            ("jest", "", "PASS a.test.js\nTest Suites: 1 passed, 1 total\nTests:       2 passed, 2 total\n"),
            ("jest", "<testsuite><testcase name='a'/></testsuite>\n", ""),
            ("mocha -R min", "\n  2 passing (3ms)\n", ""),
        ] {
            assert_eq!(run(words, stdout, stderr), TestStatus::Passed, "{words} {stdout}");
        }
    }
}
