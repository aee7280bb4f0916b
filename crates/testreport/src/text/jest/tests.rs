use super::super::tests::{check, errors, read};
use super::*;
use crate::TestStatus;

const FAILING: &str = "\
PASS src/text.test.js
FAIL src/calc.test.js (5.12 s)
  calc
    ✓ adds (2 ms)
    ✕ subtracts (3 ms)
    ○ skipped later

  ● Console

    console.log
      not an error

  ● calc › subtracts

    expect(received).toBe(expected) // Object.is equality

    Expected: 2
    Received: 1

      4 | describe('calc', () => {
      5 |   it('subtracts', () => {
    > 6 |     expect(subtract(3, 1)).toBe(2);
        |                            ^
      7 |   });

      at Object.toBe (src/calc.test.js:6:28)

Test Suites: 1 failed, 1 passed, 2 total
Tests:       1 failed, 1 skipped, 1 todo, 3 passed, 6 total
Snapshots:   0 total
Time:        0.512 s, estimated 1 s
Ran all test suites.
";

const NOT_LOADED: &str = "\
FAIL src/broken.test.js
  ● Test suite failed to run

    Cannot find module './nope' from 'src/broken.test.js'

    > 1 | require('./nope');
        | ^

      at Resolver._throwModNotFoundError (node_modules/jest-resolve/build/resolver.js:427:11)

Test Suites: 1 failed, 1 total
Tests:       0 total
Snapshots:   0 total
";

#[test]
fn summaries() {
    use TestStatus::{Failed, Incomplete, NoTests, Passed, RunnerError};
    check(
        "jest",
        &[
            (FAILING, 1, [3, 1, 0, 2], &["src/calc.test.js::calc > subtracts"], Failed),
            (FAILING, 0, [3, 1, 0, 2], &["src/calc.test.js::calc > subtracts"], Failed),
            (NOT_LOADED, 1, [0; 4], &[], RunnerError),
            (NOT_LOADED, 0, [0; 4], &[], RunnerError),
            (
                "PASS unit src/a.test.ts\nTest Suites: 1 passed, 1 total\nTests:       2 passed, 2 total\n",
                0,
                [2, 0, 0, 0],
                &[],
                Passed,
            ),
            (
                "Test Suites: 1 passed, 1 total\nTests:       2 passed, 2 total\n",
                1,
                [2, 0, 0, 0],
                &[],
                RunnerError,
            ),
            (
                "PASS ./a.test.js\n\nTest Suites: 1 skipped, 1 passed, 1 of 2 total\nTests:       1 skipped, 2 passed, 3 total\n",
                0,
                [2, 0, 0, 1],
                &[],
                Passed,
            ),
            (
                "Test Suites: 2 skipped, 0 of 2 total\nTests:       3 skipped, 3 total\n",
                0,
                [0, 0, 0, 3],
                &[],
                NoTests,
            ),
            (
                "FAIL a.test.js\n\nTest Suites: 1 failed, 1 skipped, 1 passed, 2 of 3 total\nTests:       1 failed, 1 skipped, 3 passed, 5 total\n",
                0,
                [3, 1, 0, 1],
                &[],
                Failed,
            ),
            (
                "PASS a.test.js\nTest Suites: 1 passed, 1 of 2 total\nTests:       2 passed, 2 total\n",
                0,
                [0; 4],
                &[],
                Incomplete,
            ),
            ("\n RUNS  ./b.test.js\n\n RUNS  ./b.test.js\n", 0, [0; 4], &[], Incomplete),
            ("  ●  process.exit called with \"0\"\n\n    > 1 | test(1)\n", 0, [0; 4], &[], Incomplete),
            ("No tests found, exiting with code 1\n", 1, [0; 4], &[], NoTests),
            ("FAIL src/a.test.ts\n  ● adds\n\n    broken\n", 1, [0; 4], &["src/a.test.ts::adds"], Incomplete),
        ],
    );
}

#[test]
fn errors_end_where_the_code_begins() {
    let run = read("", FAILING, 1).unwrap();
    let text = "expect(received).toBe(expected) // Object.is equality\nExpected: 2\nReceived: 1";
    assert_eq!(errors(&run), [("src/calc.test.js::calc > subtracts", text)]);
    let run = read("", NOT_LOADED, 1).unwrap();
    assert_eq!(
        errors(&run),
        [("", "src/broken.test.js: Cannot find module './nope' from 'src/broken.test.js'")]
    );
}

#[test]
fn files_and_code() {
    assert_eq!(file_line("FAIL ./a.test.js"), Some("a.test.js"));
    assert_eq!(file_line("PASS src/a.test.js"), Some("src/a.test.js"));
    assert_eq!(file_line("FAIL web __tests__/a.jsx (12 s)"), Some("__tests__/a.jsx"));
    assert_eq!((file_line("PASS everything"), file_line("FAIL src/a.js")), (None, None));
    assert!(is_code("> 4 |   x") && is_code("4 | x") && !is_code("a | b") && !is_code("4"));
}

#[test]
fn a_summary_that_is_drawn_while_the_tests_run_counts_once() {
    let summary = "Test Suites: 1 failed, 1 passed, 2 total\nTests:       1 failed, 1 skipped, 1 todo, 3 passed, 6 total\n";
    let status = "RUNS  src/calc.test.js\nTest Suites: 0 of 2 total\nTests:       0 total\n";
    let words = FAILING.replace("PASS ", " PASS  ").replace("FAIL ", " FAIL  ");
    let drawn = format!("{status}{}", words.replace("Test Suites: 1", &format!("{summary}Test Suites: 1")));
    assert_eq!(read(&drawn, "", 1), read(FAILING, "", 1));
}
