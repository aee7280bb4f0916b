use super::super::tests::{check, counts, errors, read};
use super::*;
use crate::TestStatus;

const FAILING: &str = "\
============================= test session starts ==============================
platform linux -- Python 3.12.3, pytest-8.3.2, pluggy-1.5.0
rootdir: /work/demo
collected 5 items

tests/test_calc.py .FsxF                                                 [100%]

=================================== FAILURES ===================================
________________________________ test_subtract _________________________________

    def test_subtract():
>       assert subtract(3, 1) == 1
E       assert 2 == 1
E        +  where 2 = subtract(3, 1)

tests/test_calc.py:9: AssertionError
----------------------------- Captured stdout call -----------------------------
E       not an error
____________________________ TestCalc.test_div[1-0] ____________________________

self = <tests.test_calc.TestCalc object at 0x7f2b8c0d5a90>, a = 1, b = 0

    def test_div(self, a, b):
>       a / b
E       ZeroDivisionError: division by zero

tests/test_calc.py:17: ZeroDivisionError
=========================== short test summary info ============================
FAILED tests/test_calc.py::test_subtract - assert 2 == 1
FAILED tests/test_calc.py::TestCalc::test_div[1-0] - ZeroDivisionError: divis...
============== 2 failed, 1 passed, 1 skipped, 1 xfailed in 0.05s ===============
";

const COLLECTION: &str = "\
============================= test session starts ==============================
collected 2 items / 1 error

==================================== ERRORS ====================================
_____________________ ERROR collecting tests/test_broken.py ____________________
ImportError while importing test module '/work/demo/tests/test_broken.py'.
Hint: make sure your test modules/packages have valid Python names.
Traceback:
tests/test_broken.py:1: in <module>
    import nope
E   ModuleNotFoundError: No module named 'nope'
=========================== short test summary info ============================
ERROR tests/test_broken.py
!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!
=============================== 1 error in 0.08s ===============================
";

const XDIST: &str = "\
============================= test session starts ==============================
platform linux -- Python 3.12.3, pytest-8.3.2, pluggy-1.5.0
created: 2/2 workers
2 workers [3 items]

[gw0] [ 33%] PASSED tests/test_a.py::test_one
[gw1] [ 66%] FAILED tests/test_a.py::test_two[x y]
[gw0] [100%] PASSED tests/test_a.py::test_three

=================================== FAILURES ===================================
________________________________ test_two[x y] _________________________________
[gw1] linux -- Python 3.12.3 /usr/bin/python3
tests/test_a.py:6: in test_two
    assert False
E   assert False
=========================== short test summary info ============================
FAILED tests/test_a.py::test_two[x y] - assert False
========================= 1 failed, 2 passed in 0.41s ==========================
";

const INTERNAL: &str = "\
============================= test session starts ==============================
collected 1 item
INTERNALERROR> Traceback (most recent call last):
INTERNALERROR>   File \"/usr/lib/python3/_pytest/main.py\", line 283, in wrap_session
INTERNALERROR> ValueError: plugin went wrong

============================ no tests ran in 0.01s =============================
";

#[test]
fn summaries() {
    use TestStatus::{Failed, Incomplete, NoTests, Passed, RunnerError};
    let two = &["tests/test_calc.py::TestCalc::test_div[1-0]", "tests/test_calc.py::test_subtract"];
    check(
        "pytest",
        &[
            (FAILING, 1, [1, 2, 0, 2], two, Failed),
            (FAILING, 0, [1, 2, 0, 2], two, Failed),
            (COLLECTION, 2, [0, 0, 1, 0], &["tests/test_broken.py"], Failed),
            (XDIST, 1, [2, 1, 0, 0], &["tests/test_a.py::test_two[x y]"], Failed),
            (INTERNAL, 3, [0; 4], &[], RunnerError),
            ("..  [100%]\n2 passed in 0.01s\n", 0, [2, 0, 0, 0], &[], Passed),
            ("2 passed, 1 warning in 62.01s (0:01:02)\n", 0, [2, 0, 0, 0], &[], Passed),
            ("2 passed in 0.01s\n", 1, [2, 0, 0, 0], &[], RunnerError),
            ("== 1 skipped, 2 rerun in 0.01s ==\n", 0, [0, 0, 0, 1], &[], NoTests),
            ("\nno tests ran in 0.01s\n", 5, [0; 4], &[], NoTests),
            ("== 3 deselected in 0.01s ==\n", 5, [0; 4], &[], NoTests),
            ("!!! KeyboardInterrupt !!!\n== 2 passed in 3.00s ==\n", 0, [2, 0, 0, 0], &[], RunnerError),
            (
                "== 2 passed in 0.1s ==\n!!! _pytest.outcomes.Exit: done !!!\n",
                0,
                [2, 0, 0, 0],
                &[],
                RunnerError,
            ),
            ("..\n!!! _pytest.outcomes.Exit: done !!!\n", 0, [0; 4], &[], RunnerError),
            ("t.py::a\nt.py::b\n\n2 tests collected in 0.00s\n", 0, [0; 4], &[], NoTests),
            ("t.py::a\n\n1/2 tests collected (1 deselected) in 0.00s\n", 0, [0; 4], &[], NoTests),
            ("1 test collected in 0.00s\n1 passed in 0.01s\n", 0, [1, 0, 0, 0], &[], Passed),
            ("=== test session starts ===\na.py ..", 0, [0; 4], &[], Incomplete),
            ("a.py::a PASSED [ 10%]\na.py::b FAILED [ 20%]\n", 1, [1, 1, 0, 0], &["a.py::b"], Incomplete),
            (
                "=== FAILURES ===\n___ test_a ___\nE   x\n== 1 failed in 0.1s ==\n",
                1,
                [0, 1, 0, 0],
                &["test_a"],
                Failed,
            ),
        ],
    );
}

#[test]
fn errors_are_the_marked_lines() {
    let run = read(FAILING, "", 1).unwrap();
    assert_eq!(
        errors(&run),
        [
            ("tests/test_calc.py::TestCalc::test_div[1-0]", "ZeroDivisionError: division by zero"),
            ("tests/test_calc.py::test_subtract", "assert 2 == 1\n +  where 2 = subtract(3, 1)"),
        ]
    );
    let run = read(COLLECTION, "", 2).unwrap();
    assert!(errors(&run).contains(&("tests/test_broken.py", "ModuleNotFoundError: No module named 'nope'")));
    let run = read(INTERNAL, "", 3).unwrap();
    assert_eq!(errors(&run), [("", "ValueError: plugin went wrong")]);
}

#[test]
fn usage_errors_are_on_the_other_stream() {
    let run = read("== no tests ran in 0.01s ==", "ERROR: file or directory not found: x.py\n", 4).unwrap();
    assert_eq!((run.status, run.counts), (TestStatus::RunnerError, counts([0; 4])));
}

#[test]
fn the_usage_is_an_error_of_the_runner() {
    let usage = "ERROR: usage: python -m pytest [options] [file_or_dir] [file_or_dir] [...]\n";
    assert_eq!(read("", usage, 0).unwrap().status, TestStatus::RunnerError);
}

#[test]
fn nothing_follows_the_names_when_it_is_very_quiet() {
    let quiet = "=== short test summary info ===\nFAILED a.py::a - x\nERROR b.py\n";
    let run = read(quiet, "", 0).unwrap();
    assert_eq!((run.status, run.counts), (TestStatus::Failed, counts([0, 1, 1, 0])));
    assert_eq!(run.failing, ["a.py::a", "b.py"]);
    let cut = read(&format!("=== test session starts ===\n{quiet}"), "", 1).unwrap();
    assert_eq!(cut.status, TestStatus::Incomplete);
}

#[test]
fn ids_and_messages_are_told_apart() {
    let cases = [
        ("t.py::a - assert 1", ("t.py::a", Some("assert 1"))),
        ("t.py::a[x - y] - E: b - c", ("t.py::a[x - y]", Some("E: b - c"))),
        ("t.py::a[x - y]", ("t.py::a[x - y]", None)),
        ("t.py::a[x] - got [1] - no", ("t.py::a[x]", Some("got [1] - no"))),
        ("t.py", ("t.py", None)),
    ];
    for (named, expected) in cases {
        assert_eq!(split_message(named), expected);
    }
}

#[test]
fn the_reason_of_a_skip_is_no_verdict() {
    let table = [
        ("t.py::test_a SKIPPED (unconditional skip) [ 60%]", "t.py::test_a", Outcome::Skipped),
        ("t.py::test_a SKIPPED (needs [a] b: see #1...) [100%]", "t.py::test_a", Outcome::Skipped),
        ("t.py::test_a XFAIL (later)                 [ 60%]", "t.py::test_a", Outcome::Skipped),
        ("t.py::test_a XPASS (later) [ 60%]", "t.py::test_a", Outcome::Passed),
        ("t.py::test_a[b c] PASSED [ 60%]", "t.py::test_a[b c]", Outcome::Passed),
        ("t.py::test_a SKIPPED [ 60%]", "t.py::test_a", Outcome::Skipped),
    ];
    for (line, id, outcome) in table {
        assert_eq!(verbose_line(line), Some((id, outcome)), "{line}");
    }
}
