use super::super::tests::{check, errors, read};
use super::*;
use crate::TestStatus;

const FAILING: &str = "\
Internal ctest changing into directory: /work/demo/build
Test project /work/demo/build
    Start 1: text_test
1/5 Test #1: text_test ........................   Passed    0.00 sec
    Start 2: calc_test
2/5 Test #2: calc_test ........................***Failed    0.01 sec
[==========] Running 1 test from 1 test suite.
[ RUN      ] Calc.Adds
[  FAILED  ] Calc.Adds (0 ms)
[==========] 1 test from 1 test suite ran. (0 ms total)

    Start 3: crash_test
3/5 Test #3: crash_test .......................***Exception: SegFault  0.12 sec
    Start 4: missing_test
Could not find executable missing_test
4/5 Test #4: missing_test .....................***Not Run   0.00 sec
    Start 5: net_test
5/5 Test #5: net_test .........................***Skipped   0.00 sec

40% tests passed, 3 tests failed out of 5

Total Test time (real) =   0.14 sec

The following tests did not run:
\t  5 - net_test (Skipped)

The following tests FAILED:
\t  2 - calc_test (Failed)
\t  3 - crash_test (SEGFAULT)
\t  4 - missing_test (Not Run)
Errors while running CTest
";

#[test]
fn summaries() {
    use TestStatus::{Failed, Incomplete, NoTests, Passed, RunnerError};
    let passed = "    Start 1: a\n1/1 Test #1: a ....   Passed    0.00 sec\n\n100% tests passed, 0 tests failed out of 1\n";
    let since_4 = "    Start 1: a\n1/1 Test #1: a ....   Passed    0.00 sec\n\n100% tests passed out of 1\n";
    // Behind `tail`: the names alone, and the summary.
    let names =
        "The following tests FAILED:\n\t  1 - a (Failed)\n\t  2 - b (Timeout)\nErrors while running CTest\n";
    let summary = "\n50% tests passed, 1 tests failed out of 2\n\nTotal Test time (real) =   0.01 sec\n";
    let cut = "    Start 1: a\n1/2 Test #1: a ....   Passed    0.00 sec\n";
    check(
        RUNNER,
        &[
            (FAILING, 8, [1, 2, 1, 1], &["calc_test", "crash_test", "missing_test"], Failed),
            (FAILING, 0, [1, 2, 1, 1], &["calc_test", "crash_test", "missing_test"], Failed),
            (passed, 0, [1, 0, 0, 0], &[], Passed),
            (since_4, 0, [1, 0, 0, 0], &[], Passed),
            (passed, 8, [1, 0, 0, 0], &[], RunnerError),
            (names, 0, [0, 2, 0, 0], &["a", "b"], Failed),
            (summary, 0, [1, 1, 0, 0], &[], Failed),
            (cut, 0, [1, 0, 0, 0], &[], Incomplete),
            ("Test project /p\nNo tests were found!!!\n", 0, [0; 4], &[], NoTests),
        ],
    );
}

#[test]
fn errors_are_how_it_ended_and_what_it_printed() {
    let run = read(FAILING, "", 8).unwrap();
    let errors = errors(&run);
    assert!(errors[0].1.starts_with("Failed\n[==========] Running 1 test from 1 test suite."), "{errors:?}");
    assert_eq!(errors[1..], [("crash_test", "Exception: SegFault"), ("missing_test", "Not Run")]);
}
