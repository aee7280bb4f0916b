use super::super::tests::{check, errors, read};
use crate::TestStatus;

const FAILING: &str = "\
Running main() from gtest_main.cc
[==========] Running 4 tests from 2 test suites.
[----------] Global test environment set-up.
[----------] 3 tests from Calc
[ RUN      ] Calc.Adds
[       OK ] Calc.Adds (0 ms)
[ RUN      ] Calc.Subtracts
about to subtract
/work/demo/calc_test.cc:12: Failure
Expected equality of these values:
  subtract(3, 1)
    Which is: 1
  2

[  FAILED  ] Calc.Subtracts (0 ms)
[ RUN      ] Calc.Later
[  SKIPPED ] Calc.Later (0 ms)
[----------] 3 tests from Calc (0 ms total)

[ RUN      ] P/Calc.Div/0
/work/demo/calc_test.cc:20: Failure
Failed
[  FAILED  ] P/Calc.Div/0, where GetParam() = (1, 0) (1 ms)
[----------] Global test environment tear-down
[==========] 4 tests from 2 test suites ran. (1 ms total)
[  PASSED  ] 1 test.
[  SKIPPED ] 1 test, listed below:
[  SKIPPED ] Calc.Later
[  FAILED  ] 2 tests, listed below:
[  FAILED  ] Calc.Subtracts
[  FAILED  ] P/Calc.Div/0, where GetParam() = (1, 0)

 2 FAILED TESTS
";

const CRASH: &str = "\
[==========] Running 2 tests from 1 test suite.
[ RUN      ] Calc.Adds
[       OK ] Calc.Adds (0 ms)
[ RUN      ] Calc.Crashes
";

#[test]
fn summaries() {
    use TestStatus::{Failed, Incomplete, NoTests, Passed};
    let two = &["Calc.Subtracts", "P/Calc.Div/0"];
    let none = "[==========] Running 0 tests from 0 test suites.\n[==========] 0 tests from 0 test suites ran. (0 ms total)\n";
    let brief = "Running main() from gtest_main.cc\n[==========] 9 tests from 1 test case ran. (3 ms total)\n[  PASSED  ] 9 tests.\n";
    check(
        "gtest",
        &[
            (FAILING, 1, [1, 2, 0, 1], two, Failed),
            (FAILING, 0, [1, 2, 0, 1], two, Failed),
            (CRASH, 139, [1, 0, 1, 0], &["Calc.Crashes"], Incomplete),
            (none, 0, [0; 4], &[], NoTests),
            (brief, 0, [9, 0, 0, 0], &[], Passed),
        ],
    );
}

#[test]
fn errors_begin_at_the_failure() {
    let run = read(FAILING, "", 1).unwrap();
    let first = "calc_test.cc:<pos>: Failure\nExpected equality of these values:\n  subtract(3, 1)\n    Which is: 1\n  2";
    assert_eq!(
        errors(&run),
        [("Calc.Subtracts", first), ("P/Calc.Div/0", "calc_test.cc:<pos>: Failure\nFailed")]
    );
}
