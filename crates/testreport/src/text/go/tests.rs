use super::super::tests::{check, errors, read};
use super::*;
use crate::TestStatus;

const PLAIN: &str = "\
--- FAIL: TestTable (0.00s)
    --- FAIL: TestTable/negative_#01 (0.00s)
        calc_test.go:31: got -1
            want 1
--- FAIL: TestSub (0.00s)
    calc_test.go:12: Sub(3, 1) = 1; want 2
FAIL
FAIL\texample.com/demo/calc\t0.003s
ok  \texample.com/demo/text\t0.002s
ok  \texample.com/demo/cached\t(cached)
?   \texample.com/demo/cmd\t[no test files]
\texample.com/demo/gen\t\tcoverage: 0.0% of statements
FAIL
";

const VERBOSE: &str = "\
=== RUN   TestAdd
--- PASS: TestAdd (0.00s)
=== RUN   TestTable
=== RUN   TestTable/zero
=== RUN   TestTable/one
    calc_test.go:31: got 2, want 1
--- FAIL: TestTable (0.00s)
    --- PASS: TestTable/zero (0.00s)
    --- FAIL: TestTable/one (0.00s)
=== RUN   TestSlow
    calc_test.go:40: skipped in short mode
--- SKIP: TestSlow (0.00s)
FAIL
FAIL\texample.com/demo/calc\t0.004s
FAIL
";

const PANIC: &str = "\
--- FAIL: TestIndex (0.00s)
panic: runtime error: index out of range [5] with length 3 [recovered]
\tpanic: runtime error: index out of range [5] with length 3

goroutine 7 [running]:
testing.tRunner.func1.2({0x5145c0, 0xc0000160c0})
\t/usr/local/go/src/testing/testing.go:1632 +0x230
FAIL\texample.com/demo/calc\t0.006s
FAIL
";

const TIMEOUT: &str = "\
panic: test timed out after 1s
\trunning tests:
\t\tTestHang (1.00s)

goroutine 17 [running]:
FAIL\texample.com/demo/calc\t1.006s
FAIL
";

const NOT_BUILT: &str = "\
FAIL\texample.com/demo/bad [build failed]
ok  \texample.com/demo/text\t0.002s
FAIL
";

#[test]
fn summaries() {
    use TestStatus::{BuildFailed, Failed, Incomplete, NoTests, Passed, RunnerError};
    let two = &["example.com/demo/calc::TestSub", "example.com/demo/calc::TestTable/negative_#01"];
    check(
        RUNNER,
        &[
            (PLAIN, 1, [2, 2, 0, 0], two, Failed),
            (PLAIN, 0, [2, 2, 0, 0], two, Failed),
            (VERBOSE, 1, [2, 1, 0, 1], &["example.com/demo/calc::TestTable/one"], Failed),
            (PANIC, 1, [0, 1, 0, 0], &["example.com/demo/calc::TestIndex"], Failed),
            (TIMEOUT, 1, [0, 1, 0, 0], &["example.com/demo/calc::TestHang"], Failed),
            (NOT_BUILT, 1, [1, 0, 0, 0], &[], BuildFailed),
            (NOT_BUILT, 0, [1, 0, 0, 0], &[], BuildFailed),
            ("exit status 3\nFAIL\ta/b\t0.004s\nFAIL\n", 1, [0; 4], &[], RunnerError),
            ("FAIL\ta/b\t0.004s\nFAIL\n", 0, [0; 4], &[], RunnerError),
            ("?   \ta/b\t[no test files]\n", 0, [0; 4], &[], NoTests),
            ("ok  \ta/b\t0.1s [no tests to run]\n", 0, [0; 4], &[], NoTests),
            ("ok  \ta/b\t0.1s\tcoverage: 80.0% of statements\n", 0, [1, 0, 0, 0], &[], Passed),
            ("=== RUN   TestA\n--- PASS: TestA (0.00s)\n", 0, [1, 0, 0, 0], &[], Incomplete),
            ("=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\n", 0, [1, 0, 0, 0], &[], Passed),
            ("--- FAIL: TestA (0.00s)\nFAIL\n", 1, [0, 1, 0, 0], &["TestA"], Failed),
        ],
    );
}

#[test]
fn errors_are_what_the_tests_say() {
    let run = read(PLAIN, "", 1).unwrap();
    assert_eq!(
        errors(&run),
        [
            ("example.com/demo/calc::TestSub", "calc_test.go:<pos>: Sub(3, 1) = 1; want 2"),
            ("example.com/demo/calc::TestTable/negative_#01", "calc_test.go:<pos>: got -1\nwant 1"),
        ]
    );
    let run = read(VERBOSE, "", 1).unwrap();
    assert_eq!(errors(&run), [("example.com/demo/calc::TestTable/one", "calc_test.go:<pos>: got 2, want 1")]);
    let run = read(PANIC, "", 1).unwrap();
    let panic = "panic: runtime error: index out of range [5] with length 3";
    assert_eq!(errors(&run), [("example.com/demo/calc::TestIndex", panic)]);
}

#[test]
fn the_compiler_speaks_on_the_other_stream() {
    let stderr = "# example.com/demo/bad\n./bad.go:3:5: undefined: x\nnot about it\n./bad.go:9:1: no more\n";
    let run = read(NOT_BUILT, stderr, 1).unwrap();
    assert_eq!(errors(&run), [("", "./bad.go:<pos>: undefined: x")]);
    assert_eq!(read("", stderr, 1), None);
}

#[test]
fn a_package_whose_binary_had_no_tests_to_run_is_none_that_passed() {
    let warning = "testing: warning: no tests to run";
    let old = format!("{warning}\nPASS\nok  \tp\t0.005s\n");
    let cases = [
        (old.clone(), "", [0; 4], TestStatus::NoTests),
        (format!("{old}ok  \tq\t0.005s\n"), "", [1, 0, 0, 0], TestStatus::Passed),
        (format!("ok  \tq\t0.005s\n{old}"), "", [1, 0, 0, 0], TestStatus::Passed),
        ("ok  \tp\t(cached) [no tests to run]\n".to_owned(), "", [0; 4], TestStatus::NoTests),
        (
            "ok  \tp\t0.01s\tcoverage: 0.0% of statements [no tests to run]\n".to_owned(),
            "",
            [0; 4],
            TestStatus::NoTests,
        ),
        ("PASS\n".to_owned(), warning, [0; 4], TestStatus::NoTests),
        (format!("{warning}\nPASS\n"), "", [0; 4], TestStatus::NoTests),
        ("?   \tp\t[no test files]\n".to_owned(), "", [0; 4], TestStatus::NoTests),
    ];
    for (stdout, stderr, numbers, status) in cases {
        let run = read(&stdout, stderr, 0).unwrap_or_else(|| panic!("not recognised: {stdout}"));
        assert_eq!((run.counts, run.status), (super::super::tests::counts(numbers), status), "{stdout}");
    }
}

#[test]
fn a_package_that_names_no_test_where_others_do_ran_none() {
    let (named, ended) =
        ("=== RUN   TestB\n--- PASS: TestB (0.00s)\nPASS\nok  \tb\t0.01s\n", "ok  \ta\t0.01s\n");
    let skipped = "=== RUN   TestB\n--- SKIP: TestB (0.00s)\nPASS\nok  \tb\t0.01s\n";
    let benchmark = "BenchmarkC-8   \t1\t2 ns/op\nPASS\nok  \tc\t0.01s\n";
    let cases = [
        (format!("{ended}{named}"), [1, 0, 0, 0], TestStatus::Passed),
        (format!("{named}{ended}"), [1, 0, 0, 0], TestStatus::Passed),
        (format!("{ended}{skipped}"), [0, 0, 0, 1], TestStatus::NoTests),
        (format!("{named}{benchmark}"), [2, 0, 0, 0], TestStatus::Passed),
        // Without `-v` no test is named.
        (format!("{ended}ok  \tb\t(cached)\n"), [2, 0, 0, 0], TestStatus::Passed),
        (format!("PASS\n{ended}"), [1, 0, 0, 0], TestStatus::Passed),
        // `TestMain` took no notice of what its tests came to.
        (
            format!("{named}=== RUN   TestA\n--- FAIL: TestA (0.00s)\nFAIL\n{ended}"),
            [1, 1, 0, 0],
            TestStatus::Failed,
        ),
    ];
    for (stdout, numbers, status) in cases {
        let run = read(&stdout, "", 0).unwrap();
        assert_eq!((run.counts, run.status), (super::super::tests::counts(numbers), status), "{stdout}");
    }
}

#[test]
fn what_was_sent_to_standard_error_is_read_there() {
    let run = read("ok  \tp\t0.01s\n", "--- FAIL: TestA (0.00s)\nFAIL\nFAIL\tq\t0.01s\n", 0).unwrap();
    assert_eq!((run.status, run.failing), (TestStatus::Failed, vec!["q::TestA".to_owned()]));
}

/// The lines that gotestsum adds, by its forms: status, counts that passed and failed, failing tests.
#[test]
fn endings_of_gotestsum() {
    use TestStatus::{BuildFailed, Failed, Incomplete, NoTests, Passed};
    let failed = "\n=== Failed\n=== FAIL: calc TestSub (0.00s)\n    calc_test.go:12: got 2\n\n";
    let again = "=== FAIL: calc TestSub (re-run 1) (0.00s)\n    calc_test.go:12: got 2\n\n";
    let first = "✖  calc (4ms)\n\nDONE 4 tests, 1 failure in 0.33s\n\n";
    let verbose = "=== RUN   TestSub\n    calc_test.go:12: got 2\n--- FAIL: TestSub (0.00s)\n";
    let one = &["calc::TestSub"][..];
    for (text, status, counts, failing) in [
        ("✓  calc (4ms)\n\nDONE 2 tests in 0.412s\n".to_owned(), Passed, (2, 0), &[][..]),
        (format!("✖  calc (4ms)\n{failed}DONE 2 tests, 1 failure in 0.4s\n"), Failed, (1, 1), one),
        (format!("[calc]·✖\n{failed}\nDONE 3 tests, 1 skipped, 1 failure in 0.4s\n"), Failed, (1, 1), one),
        (
            format!("{verbose}FAIL calc.TestSub (0.00s)\n{failed}DONE 2 tests, 1 failure in 0.4s\n"),
            Failed,
            (1, 1),
            one,
        ),
        (
            format!(
                "{verbose}FAIL\nFAIL\texample.com/calc\t0.003s\n{failed}DONE 1 tests, 1 failure in 0.4s\n"
            ),
            Failed,
            (0, 1),
            &["example.com/calc::TestSub"],
        ),
        (
            format!("{first}✓  calc (4ms)\n{failed}DONE 2 runs, 5 tests, 1 failure in 0.9s\n"),
            Passed,
            (4, 0),
            &[],
        ),
        (format!("{first}{failed}{again}DONE 2 runs, 5 tests, 2 failures in 0.9s\n"), Failed, (3, 1), one),
        (format!("{first}DONE 2 tests in 0.1s\n"), Failed, (5, 1), &[]),
        (
            format!(
                "{verbose}FAIL\tx/calc\t0.1s\nDONE 1 tests, 1 failure in 0.1s\nok  \tx/calc\t0.1s\nDONE 2 runs, 2 tests, 1 failure in 0.2s\n"
            ),
            Passed,
            (1, 0),
            &[],
        ),
        (
            "\n=== Errors\ncalc_test.go:9:2: undefined: Sub\n\nDONE 0 tests, 1 error in 0.4s\n".to_owned(),
            BuildFailed,
            (0, 0),
            &[],
        ),
        ("∅  calc\n\nDONE 0 tests in 0.4s\n".to_owned(), NoTests, (0, 0), &[]),
        (format!("ok  \tx/calc\t0.1s\n{verbose}"), Incomplete, (0, 1), &["TestSub"]),
    ] {
        let run = read(&text, "", 0).unwrap();
        let found = (run.status, (run.counts.passed, run.counts.failed));
        assert_eq!(
            (found, run.failing),
            ((status, counts), failing.iter().map(|id| (*id).to_owned()).collect()),
            "{text}"
        );
    }
}
