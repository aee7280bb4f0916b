use proptest::prelude::*;

use super::*;
use crate::run::{ExitKind, ParsedRun};
use crate::{Counts, TestStatus};

/// The result of the text readers for a run; `None` when they recognise nothing.
pub(super) fn read(stdout: &str, stderr: &str, exit: i32) -> Option<ParsedRun> {
    let mut reader = TextReader::new(&Root::new("/work/demo"));
    stdout.lines().for_each(|line| reader.line(Stream::Stdout, line));
    stderr.lines().for_each(|line| reader.line(Stream::Stderr, line));
    Some(ParsedRun::conclude(reader.finish("output", None)?, ExitKind::Code(exit)))
}

/// Counts as `[passed, failed, errored, skipped]`.
pub(super) fn counts([passed, failed, errored, skipped]: [u64; 4]) -> Counts {
    Counts { total: passed + failed + errored + skipped, passed, failed, errored, skipped }
}

/// A sample of standard output, its exit, and what is expected of it.
pub(super) type Case = (&'static str, i32, [u64; 4], &'static [&'static str], TestStatus);

pub(super) fn check(runner: &str, cases: &[Case]) {
    for (stdout, exit, numbers, failing, status) in cases {
        let run = read(stdout, "", *exit).unwrap_or_else(|| panic!("not recognised: {stdout}"));
        assert_eq!(run.runner, runner, "{stdout}");
        assert_eq!(
            (run.counts, run.failing.as_slice(), run.status),
            (
                counts(*numbers),
                failing.iter().map(ToString::to_string).collect::<Vec<_>>().as_slice(),
                *status
            ),
            "{stdout}"
        );
    }
}

/// The error texts by test.
pub(super) fn errors(run: &ParsedRun) -> Vec<(&str, &str)> {
    run.errors.iter().map(|error| (error.test.as_deref().unwrap_or(""), error.text.as_str())).collect()
}

#[test]
fn ordinary_output_is_no_report() {
    let lines = [
        "3 passed",
        "2 warnings in 0.5s",
        "1 failed attempt in 3s",
        "FAILED to connect",
        "FAILED a::b - c",
        "ERROR: cannot open x",
        "OK",
        "FAIL",
        "PASS",
        "ok  github.com/a/b 0.003s",
        "Tests: 3",
        "Ran 3 commands in 0.1s",
        "3 examples",
        "==== done ====",
        "_____ title _____",
        "E   something",
        "--- FAIL: x",
        "panic: at the disco",
        "1) first thing",
        "[ OK ] started service",
        "[  FAILED  ] to start",
        "100% done",
        "3 tests",
        "✓ built in 300ms",
        "✗ failed",
        " FAIL  ",
        "FAIL src/a.js",
        "Errors: 3",
    ];
    assert_eq!(read(&lines.join("\n"), &lines.join("\n"), 1), None);
    for line in lines {
        assert_eq!(read(line, line, 0), None, "{line}");
    }
}

#[test]
fn runners_of_one_stream_are_merged() {
    let both = "=== 1 failed, 2 passed in 0.10s ===\nok  \texample.com/a\t0.003s\n";
    let run = read(both, "", 0).expect("two reports");
    assert_eq!((run.runner.as_str(), run.status), ("go+pytest", TestStatus::Failed));
    assert_eq!(run.counts, counts([3, 1, 0, 0]));
}

#[test]
fn a_report_cut_after_its_beginning_never_passes() {
    let whole = [
        "=== test session starts ===\na.py F\n=== short test summary info ===\nFAILED a.py::a - x\n=== 1 failed in 0.1s ===\n",
        "=== RUN   TestA\n--- FAIL: TestA (0.00s)\nFAIL\nFAIL\ta/b\t0.1s\n",
        "FAIL src/a.test.js\n  ● a\n\n    x\n\nTest Suites: 1 failed, 1 total\nTests:       1 failed, 1 total\n",
        " RUN  v2.0.0 /p\n\n Test Files  1 failed (1)\n      Tests  1 failed (1)\n",
        "[==========] Running 1 test from 1 test suite.\n[ RUN      ] A.b\n[  FAILED  ] A.b (0 ms)\n[==========] 1 test from 1 test suite ran. (0 ms total)\n",
        "1/1 Test #1: a ....***Failed    0.00 sec\n\n0% tests passed, 1 tests failed out of 1\n",
        "Run options: --seed 1\n\n# Running:\n\n1 runs, 1 assertions, 1 failures, 0 errors, 0 skips\n",
        "PHPUnit 9.6.15 by Sebastian Bergmann and contributors.\n\nFAILURES!\nTests: 1, Assertions: 1, Failures: 1.\n",
        "test_a (m.A.test_a) ... FAIL\n\nRan 1 test in 0.001s\n\nFAILED (failures=1)\n",
    ];
    for text in whole {
        let first = text.find('\n').unwrap_or_default() + 1;
        for end in (first..=text.len()).filter(|end| text.is_char_boundary(*end)) {
            let run = read(&text[..end], "", 0).unwrap_or_else(|| panic!("not recognised: {text}"));
            assert!(
                matches!(run.status, TestStatus::Failed | TestStatus::Incomplete),
                "{:?} {:?}",
                run,
                &text[..end]
            );
        }
    }
}

const LINES: &[&str] = &[
    "=== test session starts ===",
    "=== FAILURES ===",
    "=== short test summary info ===",
    "FAILED t.py::a[x - y] - E",
    "FAILED t.py::b",
    "ERROR t.py",
    "____ a ____",
    "E   x",
    "=== 1 failed in 0.1s ===",
    "3 passed in 0.1s",
    "no tests ran in 0.1s",
    "=== RUN   TestA",
    "--- FAIL: TestA (0.00s)",
    "    --- FAIL: TestA/b (0.00s)",
    "--- PASS: TestA (0.00s)",
    "        a_test.go:3: é",
    "panic: x",
    "FAIL",
    "FAIL\ta/b\t0.1s",
    "FAIL\ta/b [build failed]",
    "ok  \ta/b\t0.1s",
    "# a/b",
    "FAIL src/a.test.js",
    "  ● a › b",
    "Test Suites: 1 failed, 1 total",
    "Tests:       1 failed, 1 total",
    "======================================================================",
    "----------------------------------------------------------------------",
    "FAIL: test_a (m.A.test_a)",
    "Traceback (most recent call last):",
    "Ran 1 test in 0.001s",
    "FAILED (failures=1)",
    "OK",
    " RUN  v2.0.0 /p",
    " FAIL  src/a.test.ts > b",
    "⎯⎯⎯ Failed Suites 1 ⎯⎯⎯",
    " ❯ src/a.test.ts:1:1",
    "      Tests  1 failed | 2 passed (3)",
    "  1 passing (5ms)",
    "  2 failing",
    "  1) a",
    "       b:",
    "      at x",
    "[==========] Running 1 test from 1 test suite.",
    "[ RUN      ] A.b",
    "[  FAILED  ] A.b (0 ms)",
    "[==========] 1 test from 1 test suite ran. (0 ms total)",
    "Failures:",
    "     Failure/Error: x",
    "2 examples, 1 failure",
    "rspec './spec/a_spec.rb[1:2]' # a",
    "An error occurred while loading ./spec/a_spec.rb.",
    "Run options: --seed 1",
    "  1) Failure:",
    "ATest#b [a.rb:1]:",
    "1 runs, 1 assertions, 1 failures, 0 errors, 0 skips",
    "PHPUnit 10.0.0 by Sebastian Bergmann and contributors.",
    "There was 1 failure:",
    "1) A::b",
    "Tests: 1, Assertions: 1, Failures: 1.",
    "a.bats",
    " ✗ b",
    "   b1/2 ✗ b",
    "2 tests, 1 failure",
    "Test project /p",
    "    Start 1: a",
    "1/1 Test #1: a ....***Failed    0.00 sec",
    "0% tests passed, 1 tests failed out of 1",
    "\t  1 - a (Failed)",
    "",
];

fn lines() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(LINES), 0..40).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn any_text_is_taken(text: String, exit: i32) {
        read(&text, &text, exit);
    }

    #[test]
    fn any_lines_are_taken(text in lines(), exit in 0..3_i32) {
        if let Some(run) = read(&text, &text, exit) {
            prop_assert!(run.status != TestStatus::Passed || (exit == 0 && run.failing.is_empty()));
        }
    }
}
