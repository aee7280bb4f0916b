use super::super::tests::{check, errors, read};
use crate::TestStatus;

const FAILING: &str = "\
calc.bats
 ✓ adds
 ✗ subtracts [12]
   (in test file calc.bats, line 6)
     `[ \"$result\" -eq 2 ]' failed
 - divides (skipped: not yet)

3 tests, 1 failure, 1 skipped

";

#[test]
fn summaries() {
    use TestStatus::{Failed, Passed, RunnerError};
    check(
        "bats",
        &[
            (FAILING, 1, [1, 1, 0, 1], &["calc.bats::subtracts"], Failed),
            (FAILING, 0, [1, 1, 0, 1], &["calc.bats::subtracts"], Failed),
            ("a.bats\n ✓ a\n\n1 test, 0 failures in 1 seconds\n", 0, [1, 0, 0, 0], &[], Passed),
            ("a.bats\n ✓ a\n\n1 test, 0 failures\n", 1, [1, 0, 0, 0], &[], RunnerError),
        ],
    );
    assert_eq!(read("3 tests, 1 failure\n", "", 0), None);
}

const TERMINAL: &str = "\
calc.bats
   adds1/3 ✓ adds [2]
   subtracts2/3 in 0 sec ✗ subtracts [1]
   (in test file calc.bats, line 6)
     `[ 1 -eq 2 ]' failed
   divides3/3 - divides (skipped: not yet)

3 tests, 1 failure, 1 skipped in 0 seconds
";

#[test]
fn names_stand_twice_on_a_terminal() {
    check("bats", &[(TERMINAL, 1, [1, 1, 0, 1], &["calc.bats::subtracts"], TestStatus::Failed)]);
    let run = read(TERMINAL, "", 1).unwrap();
    assert!(run.errors[0].text.ends_with("\n  `[ 1 -eq 2 ]' failed"), "{:?}", run.errors);
}

#[test]
fn errors_are_what_is_indented() {
    let run = read(FAILING, "", 1).unwrap();
    let text = "(in test file calc.bats, line <pos>)\n  `[ \"$result\" -eq 2 ]' failed";
    assert_eq!(errors(&run), [("calc.bats::subtracts", text)]);
}
