use super::super::tests::{check, errors, read};
use crate::TestStatus;

const FAILING: &str = r#"PHPUnit 10.5.9 by Sebastian Bergmann and contributors.

Runtime:       PHP 8.2.7

.FES                                                                4 / 4 (100%)

Time: 00:00.008, Memory: 8.00 MB

There was 1 error:

1) Tests\CalcTest::testDivide
DivisionByZeroError: Division by zero

/work/demo/src/Calc.php:9
/work/demo/tests/CalcTest.php:21

--

There was 1 failure:

1) Tests\CalcTest::testSubtract with data set "one" (3, 1)
Failed asserting that 1 matches expected 2.

/work/demo/tests/CalcTest.php:14

ERRORS!
Tests: 4, Assertions: 2, Errors: 1, Failures: 1, Skipped: 1.
"#;

const HEAD: &str = "PHPUnit 9.6.15 by Sebastian Bergmann and contributors.\n\n";

#[test]
fn summaries() {
    use TestStatus::{Failed, Incomplete, NoTests, Passed, RunnerError};
    let two = &["Tests\\CalcTest::testDivide", "Tests\\CalcTest::testSubtract with data set \"one\" (3, 1)"];
    check(
        "phpunit",
        &[
            (FAILING, 2, [1, 1, 1, 1], two, Failed),
            (FAILING, 0, [1, 1, 1, 1], two, Failed),
            (HEAD, 255, [0; 4], &[], Incomplete),
            (
                "PHPUnit 9.6.15 by Sebastian Bergmann.\nOK (3 tests, 5 assertions)\n",
                0,
                [3, 0, 0, 0],
                &[],
                Passed,
            ),
            (
                "PHPUnit 9.6.15 by Sebastian Bergmann.\nOK (1 test, 1 assertion)\n",
                1,
                [1, 0, 0, 0],
                &[],
                RunnerError,
            ),
            ("PHPUnit 9.6.15 by Sebastian Bergmann.\nNo tests executed!\n", 1, [0; 4], &[], NoTests),
        ],
    );
    assert_eq!(read("OK (3 tests, 5 assertions)\nTests: 3, Assertions: 2.\n", "", 0), None);
}

#[test]
fn errors_are_without_places() {
    let run = read(FAILING, "", 2).unwrap();
    let texts: Vec<&str> = errors(&run).into_iter().map(|(_, text)| text).collect();
    assert_eq!(
        texts,
        ["DivisionByZeroError: Division by zero", "Failed asserting that 1 matches expected 2."]
    );
}
