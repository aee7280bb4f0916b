use super::super::tests::{check, errors, read};
use crate::TestStatus;

const FAILING: &str = "\
Run options: --seed 43211

# Running:

F.SE

Finished in 0.001123s, 3561.8878 runs/s, 2671.4159 assertions/s.

  1) Failure:
CalcTest#test_subtracts [test/calc_test.rb:9]:
Expected: 2
  Actual: 1

  2) Error:
CalcTest#test_divides:
ZeroDivisionError: divided by 0
    test/calc_test.rb:13:in 'Integer#/'
    test/calc_test.rb:13:in 'CalcTest#test_divides'

4 runs, 3 assertions, 1 failures, 1 errors, 1 skips

You have skipped tests. Run with --verbose for details.
";

const RAILS: &str = "\
Run options: --seed 1

# Running:

F

Failure:
UserTest#test_name [test/models/user_test.rb:5]:
Expected false to be truthy.


bin/rails test test/models/user_test.rb:4



Finished in 0.1s, 10.0 runs/s, 10.0 assertions/s.
1 runs, 1 assertions, 1 failures, 0 errors, 0 skips
";

#[test]
fn summaries() {
    use TestStatus::{Failed, Incomplete, NoTests, Passed, RunnerError};
    let passed = "Run options: --seed 1\n2 runs, 2 assertions, 0 failures, 0 errors, 0 skips\n";
    let unit = "2 tests, 2 assertions, 0 failures, 0 errors, 0 pendings, 0 omissions, 0 notifications\n";
    check(
        "minitest",
        &[
            (FAILING, 1, [1, 1, 1, 1], &["CalcTest#test_divides", "CalcTest#test_subtracts"], Failed),
            (FAILING, 0, [1, 1, 1, 1], &["CalcTest#test_divides", "CalcTest#test_subtracts"], Failed),
            (RAILS, 1, [0, 1, 0, 0], &["UserTest#test_name"], Failed),
            (passed, 0, [2, 0, 0, 0], &[], Passed),
            (passed, 1, [2, 0, 0, 0], &[], RunnerError),
            (unit, 0, [2, 0, 0, 0], &[], Passed),
            ("Run options: --seed 1\n# Running:\n", 0, [0; 4], &[], Incomplete),
            ("0 runs, 0 assertions, 0 failures, 0 errors, 0 skips\n", 0, [0; 4], &[], NoTests),
        ],
    );
}

#[test]
fn the_tenth_failure_is_read_as_well() {
    let text: String =
        (1..=12).map(|n| format!("{n:3}) Error:\nT#test_{n}:\nRuntimeError: no\n\n")).collect();
    let run = read(&format!("{text}12 runs, 0 assertions, 0 failures, 12 errors, 0 skips\n"), "", 1).unwrap();
    assert_eq!(run.failing.len(), 12);
}

#[test]
fn errors_are_without_frames() {
    let run = read(FAILING, "", 1).unwrap();
    assert_eq!(
        errors(&run),
        [
            ("CalcTest#test_divides", "ZeroDivisionError: divided by 0"),
            ("CalcTest#test_subtracts", "Expected: 2\n  Actual: 1"),
        ]
    );
}
