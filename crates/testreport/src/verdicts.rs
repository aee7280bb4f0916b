//! Lines of output that no reader knows and that still say how a test ended.

use std::sync::LazyLock;

use regex::Regex;

use crate::{WordList, counted::counts_failing, pattern, words};

/// Words with which a line names a failure, at its beginning.
const FAILED: [&str; 12] =
    ["FAIL", "FAILED", "FAILURE", "FAILURES", "FAIL:", "FAILED:", "not ok", "✗", "✘", "✖", "✕", "×"];

/// Words that say so anywhere.
const BROKE: [&str; 4] =
    ["AssertionError", "Traceback (most recent call last)", "panicked at ", "Assertion failed"];

/// Words after a number of failures.
const COUNTED: [&str; 4] = ["failed", "failing", "failures", "failure"];

/// True for a line that says that a test failed.
pub(super) fn names_failures(line: &str) -> bool {
    let text = line.trim_start();
    begins(text, &FAILED) || BROKE.iter().any(|word| text.contains(word)) || counts_failures(text)
}

/// Words with which a line names a test that passed, at its beginning.
const PASSED: [&str; 6] = ["ok", "PASS", "PASSED", "✓", "✔", "√"];

/// True for a line that says that a test passed.
pub(super) fn names_passes(line: &str) -> bool {
    let text = line.trim_start();
    let words: Vec<&str> = text.split_whitespace().map(|word| word.trim_matches([',', '.', ';'])).collect();
    let counted = words.windows(2).any(|two| match two {
        [number, "passed" | "passing"] => number.parse::<u64>().is_ok_and(|number| number > 0),
        _ => false,
    });
    counted || begins(text, &PASSED)
}

fn begins(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| {
        text.strip_prefix(*word)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', ':', '!']))
    })
}

/// `2 failed`, `1 test failed`, `Failures: 3`, `failed=2`.
fn counts_failures(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|one: char| !one.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let number =
        |word: Option<&&str>| word.is_some_and(|word| word.parse::<u64>().is_ok_and(|number| number > 0));
    words.iter().enumerate().any(|(at, word)| {
        if !COUNTED.contains(word) {
            return false;
        }
        let before = |back: usize| at.checked_sub(back).and_then(|at| words.get(at));
        let of_tests =
            matches!(before(1), Some(&("test" | "tests" | "spec" | "specs" | "example" | "examples")));
        // `Failures: 3` and `failed=2`, but not `0 failed, 3 passed`.
        let counted_after = before(1).is_none_or(|word| word.parse::<u64>().is_err())
            && number(words.get(at + 1))
            && lower.contains([':', '=']);
        number(before(1)) || of_tests && number(before(2)) || counted_after
    })
}

/// Lines with which compilers, linkers and interpreters say that there is nothing to run: a place, then an error.
const BUILD_ERRORS: [&str; 4] = [
    // gcc, clang, javac, swiftc, ghc: `a.c:3:5: error: x`; csc, msvc: `a.cs(3,5): error CS1002`; tsc in both forms.
    r"^\s*(?:\[(?:ERROR|error)\] |e: )?(?:file://)?[^\s:()]+\.[A-Za-z+]+(?:[: ][0-9]+(?::[0-9]+)?:?|\([0-9]+(?:,[0-9]+)?\)\s*:|:[0-9]+:[0-9]+ -)\s*(?:fatal |internal )?error(?-u:\b)",
    // maven: `[ERROR] /p/A.java:[3,5] cannot find symbol`.
    r"^\[ERROR\] [^\s]+\.[a-z]+:\[[0-9]+,[0-9]+\] ",
    // Python, node and ruby, which read the file before they run it.
    r"^(?:E\s+)?(?:SyntaxError|IndentationError|TabError|ImportError|ModuleNotFoundError): ",
    r": undefined reference to |^ld: symbol\(s\) not found|^\*\* \(CompileError\) ",
];

/// The first of them.
pub(super) fn build_error<'a>(mut lines: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    static COMPILED: LazyLock<Vec<Regex>> =
        LazyLock::new(|| BUILD_ERRORS.iter().filter_map(|row| pattern(row)).collect());
    lines.find(|line| COMPILED.iter().any(|pattern| pattern.is_match(line)))
}

/// Lines that are not blank, from the last one back.
const WINDOW: usize = 12;

/// Phrases of lines that end such a run.
const PHRASES: WordList = WordList::section(words::PHRASES, "endings");

/// The whole last line.
const LAST: [&str; 3] = ["FAIL", "FAILURES!", "TEST FAILED"];

/// The line that says so.
pub(super) fn failure<'a>(lines: &(impl DoubleEndedIterator<Item = &'a str> + Clone)) -> Option<&'a str> {
    let last = lines.clone().next_back()?;
    if LAST.contains(&last.trim()) {
        return Some(last);
    }
    let is_failure =
        |line: &&str| counts_failing(line) || PHRASES.iter().any(|phrase| words::matches(line, phrase));
    lines.clone().rev().take(WINDOW).find(is_failure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_named_in_many_words() {
        let table = [
            ("FAILED tests/test_a.py::test_b", true),
            ("FAIL: adds", true),
            ("  ✗ adds", true),
            ("not ok - adds", true),
            ("2 failed, 3 passed", true),
            ("1 test failed", true),
            ("Failures: 3", true),
            ("failed=2 ok=3", true),
            ("E   AssertionError: 1 != 2", true),
            ("0 failed, 3 passed", false),
            ("Failures: 0", false),
            ("ok, nothing failed", false),
            ("all 12 tests passed", false),
            ("FAILOVER works", false),
            ("failed over to 10.0.0.1", false),
            ("handles 3 errors", false),
        ];
        for (line, names) in table {
            assert_eq!(names_failures(line), names, "{line}");
        }
    }

    #[test]
    fn builds_that_fail_are_known_whatever_the_tool() {
        for line in [
            "a.c:3:5: error: 'x' undeclared (first use in this function)",
            "src/a.cpp:3:1: fatal error: b.h: No such file or directory",
            "src/A.java:3: error: cannot find symbol",
            "src/a.ts(3,5): error TS2304: Cannot find name 'x'.",
            "src/a.ts:3:5 - error TS2304: Cannot find name 'x'.",
            "A.cs(3,5): error CS1002: ; expected [/p/a.csproj]",
            "Sources/a.swift:3:5: error: cannot find 'x' in scope",
            "[ERROR] /p/src/A.java:[3,5] cannot find symbol",
            "[error] /p/src/A.scala:3:5: error: not found: value x",
            "ModuleNotFoundError: No module named 'a'",
            "SyntaxError: Unexpected token '}'",
            "/usr/bin/ld: a.o: in function `main': a.c:(.text+0x5): undefined reference to `x'",
        ] {
            assert_eq!(build_error([line].into_iter()), Some(line));
        }
        for line in [
            "error: it went wrong",
            "a.c:3: warning: x",
            "12:30:01 error",
            "no error in a.c",
            "AssertionError: 1",
        ] {
            assert_eq!(build_error([line].into_iter()), None, "{line}");
        }
    }

    #[test]
    fn passes_are_named_too() {
        let table = [
            ("ok 1 - adds", true),
            ("PASS: adds", true),
            ("  ✓ adds", true),
            ("3 passed, 2 failed", true),
            ("  12 passing (4ms)", true),
            ("0 passed", false),
            ("okay", false),
            ("the password is wrong", false),
        ];
        for (line, names) in table {
            assert_eq!(names_passes(line), names, "{line}");
        }
    }
}

#[cfg(test)]
mod endings_tests {
    use super::*;

    fn found(text: &str) -> Option<&str> {
        failure(&text.lines().filter(|line| !line.is_empty()))
    }

    #[test]
    fn the_ends_of_runs_that_failed() {
        for text in [
            "FAILED test_fail.py::test_2 - assert 1 == 2\n",
            "ERROR tests/test_b.py - ModuleNotFoundError\n",
            "ERROR tests/test_b.py\n",
            "FAILED (failures=1)\n",
            "FAILED (errors=1, skipped=2)\n",
            "FAIL\n",
            "Tests:       1 failed, 1 passed, 2 total\nSnapshots:   0 total\nTime:        0.2 s\nRan all test suites.\n",
            " Test Files  1 failed | 1 passed (2)\n      Start at  10:00:00\n",
            "  1 failing\n\n  1) x\n       c:\n     Error: x\n      at Context.<anonymous> (t/fail.js:1:53)\n",
            "error: test failed, to rerun pass `--lib`\n",
            "rspec ./spec/a_spec.rb:3 # adds\n",
            "Tests: 2, Assertions: 2, Failures: 1.\n",
            "2 tests, 1 failure\n",
            "BUILD FAILED in 3s\n1 actionable task: 1 executed\n",
            "[INFO] BUILD FAILURE\n[INFO] ------\n",
            "Failed!  - Failed:     1, Passed:     1, Skipped:     0, Total:     2, Duration: 3 ms - a.dll (net8.0)\n",
            "Errors while running CTest\n",
            " 1 FAILED TEST\n",
            "Executed 2 tests, with 1 failure (0 unexpected) in 0.001 (0.002) seconds\n",
            "Chrome: Executed 2 of 2 (1 FAILED) (0.01 secs / 0.001 secs)\n",
            "test cases: 2 | 1 passed | 1 failed\nassertions: 2 | 1 passed | 1 failed\n",
            "00:01 +1 -1: Some tests failed.\n",
            "  1 failed\n    a.spec.ts:3:1 › x\n  1 passed (2.0s)\n",
            "nox > Session tests failed.\n",
            "//a:b FAILED in 0.3s\n\nExecuted 1 out of 1 test: 1 fails locally.\n",
            "npm error Test failed.  See above for more details.\n",
            "  py311: FAIL code 1\n  evaluation failed :( (0.6 seconds)\n",
            "make: *** [Makefile:2: test] Error 1\n",
            "make: *** [test] Error 2\nshown by tail\n",
            "make[1]: *** [Makefile:9: unit] Error 1\ngmake: *** [Makefile:2: test] Error 2\n",
            "error: Recipe `test` failed on line 2 with exit code 1\n",
            "error Command failed with exit code 1.\n",
            " ELIFECYCLE  Test failed. See above for more details.\n",
            "error: script \"test\" exited with code 1\n",
            "task: Failed to run task \"test\": exit status 1\n",
            "ninja: build stopped: subcommand failed.\n",
        ] {
            assert!(found(text).is_some(), "{text}");
        }
    }

    #[test]
    fn other_ends_are_none() {
        for text in [
            "",
            "all good\n",
            "FAIL\nretried: all good\n",
            "FAILED to connect, retrying\n",
            "FAILED\n",
            "Tests:       2 passed, 2 total\n",
            "Tests: 0 failed, 2 passed, 2 total\n",
            "  0 failing\n",
            "1 failing host was replaced\n",
            "2 tests, 0 failures\n",
            "12 examples, 0 failures, 1 pending\n",
            "OK (tests=3)\n",
            "Tests: 2, Assertions: 2, Skipped: 1.\n",
            "ERROR in the log is expected\n",
            "BUILD SUCCESSFUL in 3s\n",
            "make: [test] Error 1 (ignored)\n",
            "make[1]: *** [Makefile:9: fails] Error 1\nmake: [Makefile:2: test] Error 2 (ignored)\n",
            "make: *** [Makefile:9: fails] Error 1 (ignored)\n",
            "rspec ran\n",
            "Executed 2 tests, with 0 failures (0 unexpected) in 0.001 (0.002) seconds\n",
            "Chrome: Executed 2 of 2 SUCCESS (0.01 secs / 0.001 secs)\n",
            "test cases: 2 | 2 passed\n",
            "  0 failed\n",
            "3 hosts failed over, session tests failed over\n",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
        let far = format!("  1 failing\n{}", "step\n".repeat(WINDOW));
        assert_eq!(found(&far), None);
    }
}
