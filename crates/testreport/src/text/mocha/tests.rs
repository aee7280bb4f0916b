use super::super::tests::{check, errors, read};
use crate::TestStatus;

const FAILING: &str = "

  calc
    ✔ adds
    1) subtracts
    - divides
    nested
      2) deep


  1 passing (5ms)
  1 pending
  2 failing

  1) calc
       subtracts:

      AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:

1 !== 2

      + expected - actual

      -1
      +2

      at Context.<anonymous> (test/calc.test.js:8:14)
      at process.processImmediate (node:internal/timers:478:21)

  2) calc
       nested
         deep:
     TypeError: x is not a function
      at Context.<anonymous> (test/calc.test.js:12:9)



";

#[test]
fn summaries() {
    use TestStatus::{Failed, NoTests, Passed, RunnerError};
    let two = &["calc > nested > deep", "calc > subtracts"];
    check(
        "mocha",
        &[
            (FAILING, 2, [1, 2, 0, 1], two, Failed),
            (FAILING, 0, [1, 2, 0, 1], two, Failed),
            ("\n  3 passing (1s)\n\n", 0, [3, 0, 0, 0], &[], Passed),
            ("\n  3 passing (1m)\n\n", 1, [3, 0, 0, 0], &[], RunnerError),
            ("\n  0 passing (1ms)\n\n", 0, [0; 4], &[], NoTests),
            ("  1 passing (1ms)\n  1) no failure\n  2 passing (4ms)\n", 0, [3, 0, 0, 0], &[], Passed),
        ],
    );
}

#[test]
fn errors_end_where_the_stack_begins() {
    let run = read(FAILING, "", 2).unwrap();
    let first = "AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n1 !== 2\n+ expected - actual\n-1\n+2";
    assert_eq!(
        errors(&run),
        [("calc > nested > deep", "TypeError: x is not a function"), ("calc > subtracts", first)]
    );
}
