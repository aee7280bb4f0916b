use super::super::tests::{check, errors, read};
use super::*;
use crate::{ExitKind, ParsedRun, Root, RunReader, Stream, TestStatus};

const FAILING: &str = "\
test_add (tests.test_calc.TestCalc.test_add) ... ok
test_sub (tests.test_calc.TestCalc.test_sub)
Subtracts. ... FAIL

======================================================================
ERROR: test_div (tests.test_calc.TestCalc.test_div) (b=0)
----------------------------------------------------------------------
Traceback (most recent call last):
  File \"/work/demo/tests/test_calc.py\", line 14, in test_div
    1 / b
    ~~^~~
ZeroDivisionError: division by zero

======================================================================
FAIL: test_sub (tests.test_calc.TestCalc.test_sub)
Subtracts.
----------------------------------------------------------------------
Traceback (most recent call last):
  File \"/work/demo/tests/test_calc.py\", line 9, in test_sub
    self.assertEqual(subtract(3, 1), [2])
AssertionError: Lists differ: [1] != [2]

First differing element 0:
1
2

- [1]
+ [2]

----------------------------------------------------------------------
Ran 5 tests in 0.002s

FAILED (failures=1, errors=1, skipped=1, expected failures=1)
";

const NOT_IMPORTED: &str = "\
E
======================================================================
ERROR: tests.test_broken (unittest.loader._FailedTest.tests.test_broken)
----------------------------------------------------------------------
ImportError: Failed to import test module: tests.test_broken
Traceback (most recent call last):
  File \"/usr/lib/python3.12/unittest/loader.py\", line 394, in _find_test_path
    module = self._get_module_from_name(name)
ModuleNotFoundError: No module named 'nope'


----------------------------------------------------------------------
Ran 1 test in 0.000s

FAILED (errors=1)
";

const FIXTURE: &str = "\
======================================================================
ERROR: setUpClass (m.A)
----------------------------------------------------------------------
Traceback (most recent call last):
  File \"/work/demo/m.py\", line 4, in setUpClass
OSError: no

----------------------------------------------------------------------
Ran 1 test in 0.000s

FAILED (errors=1)
";

#[test]
fn summaries() {
    use TestStatus::{Failed, Incomplete, NoTests, Passed, RunnerError};
    let two = &["tests.test_calc.TestCalc.test_div (b=0)", "tests.test_calc.TestCalc.test_sub"];
    check(
        "unittest",
        &[
            (FAILING, 1, [1, 1, 1, 2], two, Failed),
            (FAILING, 0, [1, 1, 1, 2], two, Failed),
            (NOT_IMPORTED, 1, [0, 0, 1, 0], &["tests.test_broken"], Failed),
            (FIXTURE, 1, [1, 0, 1, 0], &["m.A.setUpClass"], Failed),
            ("Ran 2 tests in 0.000s\n\nOK\n", 0, [2, 0, 0, 0], &[], Passed),
            ("Ran 2 tests in 0.000s\n\nOK\n", 1, [2, 0, 0, 0], &[], RunnerError),
            ("Ran 2 tests in 0.000s\n\nOK (skipped=2)\n", 0, [0, 0, 0, 2], &[], NoTests),
            ("Ran 0 tests in 0.000s\n\nNO TESTS RAN\n", 5, [0; 4], &[], NoTests),
            ("Ran 0 tests in 0.000s\n\nOK\n", 0, [0; 4], &[], NoTests),
            ("Ran 2 tests in 0.000s\n", 0, [0; 4], &[], Incomplete),
            ("test_a (a.A.test_a) ... ok\n", 0, [1, 0, 0, 0], &[], Incomplete),
        ],
    );
}

#[test]
fn errors_are_without_frames() {
    let run = read("", FAILING, 1).unwrap();
    let lists = "AssertionError: Lists differ: [1] != [2]\nFirst differing element 0:\n1\n2\n- [1]\n+ [2]";
    assert_eq!(
        errors(&run),
        [
            ("tests.test_calc.TestCalc.test_div (b=0)", "ZeroDivisionError: division by zero"),
            ("tests.test_calc.TestCalc.test_sub", lists),
        ]
    );
    let run = read("", NOT_IMPORTED, 1).unwrap();
    assert!(run.errors[0].text.ends_with("ModuleNotFoundError: No module named 'nope'"));
}

#[test]
fn ids_of_all_versions() {
    let cases = [
        ("test_a (m.A.test_a)", "m.A.test_a"),
        ("test_a (m.A)", "m.A.test_a"),
        ("test_a (m.A.test_a) [msg] (i=1)", "m.A.test_a [msg] (i=1)"),
        ("setUpClass (m.A)", "m.A.setUpClass"),
        ("alone", "alone"),
    ];
    for (named, id) in cases {
        assert_eq!(test_id(named), id);
    }
}

fn outcome(stderr: &str) -> ParsedRun {
    let mut reader = RunReader::new(Root::none());
    reader.push(Stream::Stderr, stderr.as_bytes());
    reader.finish(ExitKind::Code(1))
}

/// The case that the loader makes of a name that it cannot load.
fn not_loaded(id: &str, frames: &str, error: &str) -> String {
    format!(
        "======================================================================\n\
         ERROR: {id} (unittest.loader._FailedTest.{id})\n\
         ----------------------------------------------------------------------\n\
         ImportError: Failed to import test module: {id}\n\
         Traceback (most recent call last):\n  \
         File \"/usr/lib/python3.11/unittest/loader.py\", line 162, in loadTestsFromName\n    \
         module = __import__(module_name)\n{frames}{error}\n\n\n"
    )
}

fn ended(cases: &[String], ran: usize, verdict: &str) -> String {
    let line = "-".repeat(70);
    format!("E\n{}{line}\nRan {ran} tests in 0.001s\n\nFAILED ({verdict})\n", cases.concat())
}

#[test]
fn names_that_are_not_there_are_no_failures() {
    let missing =
        |id: &str, name: &str| not_loaded(id, "", &format!("ModuleNotFoundError: No module named '{name}'"));
    let gone = "AttributeError: module 'test_ok' has no attribute 'TestNo'";
    let table = [
        (ended(&[missing("nosuch", "nosuch")], 1, "errors=1"), "No module named 'nosuch'"),
        (ended(&[missing("nosuch", "pkg.nosuch")], 1, "errors=1"), "No module named 'pkg.nosuch'"),
        (ended(&[missing("a", "a"), missing("b", "b")], 2, "errors=2"), "No module named 'a'"),
        (ended(&[not_loaded("TestNo", "", gone)], 1, "errors=1"), "has no attribute 'TestNo'"),
    ];
    for (text, said) in table {
        let run = outcome(&text);
        assert!(run.not_started.as_ref().is_some_and(|reason| reason.contains(said)), "{run:?}");
        assert_eq!((run.status, run.counts.total, run.failing.len()), (TestStatus::NoTests, 0, 0));
    }
    let own = "  File \"/w/test_dep.py\", line 1, in <module>\n    import nosuch\n";
    let other = not_loaded("test_dep", own, "ModuleNotFoundError: No module named 'nosuch'");
    let itself = not_loaded("test_dep", own, "ModuleNotFoundError: No module named 'test_dep'");
    let failing = [
        ended(std::slice::from_ref(&other), 1, "errors=1"),
        ended(&[itself], 1, "errors=1"),
        ended(&[missing("a", "a"), other], 2, "errors=2"),
        ended(&[missing("a", "a")], 2, "errors=1"),
        ended(&[missing("nosuch", "app")], 1, "errors=1"),
    ];
    for text in failing {
        let run = outcome(&text);
        assert_eq!((run.status, &run.not_started), (TestStatus::Failed, &None), "{text}");
        assert!(!run.failing.is_empty(), "{text}");
    }
}
