use super::*;
use crate::run::{ExitKind, ParsedRun};
use crate::{TestStatus, signature::ErrorText};

fn reader(stdout: &str, stderr: &str) -> LibtestReader {
    let mut reader = LibtestReader::new(&Root::new("/work/demo"), "out");
    stdout.lines().for_each(|line| reader.line(line));
    stderr.lines().for_each(|line| reader.side_line(line));
    reader
}

fn run(stdout: &str, stderr: &str, exit: i32) -> ParsedRun {
    let tally = reader(stdout, stderr).finish().expect("cargo's output");
    ParsedRun::conclude(tally, ExitKind::Code(exit))
}

fn counts(passed: u64, failed: u64, skipped: u64) -> Counts {
    Counts { total: passed + failed + skipped, passed, failed, errored: 0, skipped }
}

const FAILING: &str = "
running 4 tests
test tests::adds ... ok
test tests::slow ... ignored, takes long
test tests::subtracts ... FAILED
test tests::panics - should panic ... FAILED

failures:

---- tests::subtracts stdout ----
before the panic

thread 'tests::subtracts' (4242) panicked at src/lib.rs:17:9:
assertion `left == right` failed
  left: 1
 right: 2
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace

---- tests::panics stdout ----
note: test did not panic as expected at src/lib.rs:21:8

failures:
    tests::panics
    tests::subtracts

test result: FAILED. 1 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

";

const SEVERAL: &str = "
running 2 tests
test a ... ok
test b ... ok

test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s


running 1 test
test works ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.01s


running 2 tests
test src/lib.rs - add (line 5) ... FAILED
test src/lib.rs - sub (line 15) - compile ... ok

failures:

---- src/lib.rs - add (line 5) stdout ----
Test executable failed (exit status: 101).

stderr:

thread 'main' (7) panicked at /tmp/rustdoctestabc/src/lib.rs:4:1:
assertion failed: 1 == 2

failures:
    src/lib.rs - add (line 5)

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.30s
";

const ABORTED: &str = "
running 3 tests
test a ... ok
test b ... ok
";

const ABORTED_ERR: &str = "     Running unittests src/lib.rs (target/debug/deps/demo-0123456789abcdef)
thread 'c' (99) has overflowed its stack
fatal runtime error: stack overflow, aborting
error: test failed, to rerun pass `--lib`

Caused by:
  process didn't exit successfully: `/work/demo/target/debug/deps/demo-0123456789abcdef` (signal: 6, SIGABRT: process abort signal)
";

const BUILD_ERR: &str = "   Compiling demo v0.1.0 (/work/demo)
error[E0425]: cannot find value `x` in this scope
 --> src/lib.rs:3:5
  |
3 |     x
  |     ^ not found in this scope

For more information about this error, try `rustc --explain E0425`.
error: could not compile `demo` (lib test) due to 1 previous error
";

#[test]
fn a_failing_binary() {
    let run = run(FAILING, "", 101);
    assert_eq!((run.status, run.counts), (TestStatus::Failed, counts(1, 2, 1)));
    assert_eq!(run.failing, ["tests::panics", "tests::subtracts"]);
    let text = "thread 'tests::subtracts' panicked at src/lib.rs:<pos>:\nassertion `left == right` failed\n  left: 1\n right: 2";
    let none = "note: test did not panic as expected at src/lib.rs:<pos>";
    assert_eq!(run.errors.iter().map(|error| error.text.as_str()).collect::<Vec<_>>(), [none, text]);
}

#[test]
fn several_binaries_and_doctests_add_up() {
    let run = run(SEVERAL, "", 101);
    assert_eq!((run.status, run.counts), (TestStatus::Failed, counts(4, 1, 0)));
    assert_eq!(run.failing, ["src/lib.rs - add"]);
    assert_eq!(run.runner, "cargo");
}

#[test]
fn an_aborted_binary_is_a_crash() {
    let run = run(ABORTED, ABORTED_ERR, 101);
    assert_eq!((run.status, run.counts), (TestStatus::Crashed, counts(2, 0, 0)));
    assert_eq!(
        run.errors,
        [ErrorText { test: None, text: "signal: 6, SIGABRT: process abort signal".into(), shown: None }]
    );
    assert_eq!(run.warnings.len(), 1);
}

#[test]
fn a_binary_without_result_is_incomplete_even_at_exit_0() {
    assert_eq!(run(ABORTED, "", 0).status, TestStatus::Incomplete);
    let then_another = format!("{ABORTED}\n{SEVERAL}");
    let run = run(&then_another, "", 101);
    assert_eq!((run.status, run.counts), (TestStatus::Incomplete, counts(6, 1, 0)));
}

#[test]
fn a_build_failure_is_told_from_a_failing_test() {
    let first = run("", BUILD_ERR, 101);
    assert_eq!((first.status, first.counts), (TestStatus::BuildFailed, Counts::default()));
    let text = "error[E0425]: cannot find value `x` in this scope\n--> src/lib.rs:<pos>";
    let shown = Some(text.replace("<pos>", "3:5"));
    assert_eq!(first.errors, [ErrorText { test: None, text: text.into(), shown }]);
    assert_eq!(run(BUILD_ERR, "", 0).status, TestStatus::BuildFailed, "behind a pipe");
}

#[test]
fn no_tests() {
    let none = "\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 7 filtered out; finished in 0.00s\n";
    assert_eq!(run(none, "", 0).status, TestStatus::NoTests);
    assert_eq!(run(&none.repeat(3), "", 0).status, TestStatus::NoTests);
    assert_eq!(run(&format!("{none}{SEVERAL}"), "", 101).counts, counts(4, 1, 0));
    assert!(reader("error: no such command\nok then", "").finish().is_none());
}

#[test]
fn quiet_output_and_output_behind_tail() {
    let quiet = "\nrunning 3 tests\n.F.\nfailures:\n\n---- t::b stdout ----\nError: \"no\"\n\nfailures:\n    t::b\n\n\
                 test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0s\n";
    let one = run(quiet, "", 101);
    assert_eq!((one.counts, one.failing.as_slice()), (counts(2, 1, 0), &["t::b".to_owned()][..]));
    assert_eq!(one.errors[0].text, "Error: \"no\"");
    let tail = "failures:\n    t::b\n\ntest result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n";
    let two = run(tail, "", 0);
    assert_eq!((two.status, two.failing), (TestStatus::Failed, one.failing));
    let odd = "test result: FAILED. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
    assert_eq!(run(odd, "", 0).status, TestStatus::RunnerError);
}

#[test]
fn what_a_failing_test_printed_is_not_read_as_a_report() {
    let text = "running 1 test\ntest outer ... FAILED\n\nfailures:\n\n---- outer stdout ----\nrunning 9 tests\ntest inner ... FAILED\n\
                    indented\n\nfailures:\n    outer\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n";
    let run = run(text, "", 101);
    assert_eq!((run.status, run.counts), (TestStatus::Failed, counts(0, 1, 0)));
    assert_eq!(run.failing, ["outer"]);
}

#[test]
fn a_cut_output_never_passes_as_the_whole() {
    for text in [FAILING, SEVERAL] {
        let ends = (0..text.len()).filter(|end| text.is_char_boundary(*end));
        for end in ends {
            let Some(tally) = reader(&text[..end], "").finish() else { continue };
            let counts = tally.counts;
            let status = ParsedRun::conclude(tally, ExitKind::Code(0)).status;
            // A cut between two binaries cannot be seen: every binary that began has ended.
            let began =
                text[..end].lines().filter(|line| matches!(parse_line(line), Line::Running(_))).count();
            let closed = began == text[..end].matches("test result: ok").count();
            assert!(status != TestStatus::Passed || (closed && counts.failed == 0), "{:?}", &text[..end]);
        }
    }
}

#[test]
fn a_binary_that_ran_fewer_tests_than_it_announced_is_incomplete() {
    let one = |planned: u64, result: &str| {
        format!("\nrunning {planned} tests\n..\ntest result: {result}; finished in 0s\n")
    };
    let ok = "ok. 1 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out";
    let cases = [
        (one(2, ok), TestStatus::Passed),
        (one(3, ok), TestStatus::Incomplete),
        (one(2, "ok. 1 passed; 0 failed; 0 ignored; 1 measured; 0 filtered out"), TestStatus::Passed),
        (one(2, "ok. 1 passed; 0 failed; 0 ignored; 0 measured; 1 filtered out"), TestStatus::Incomplete),
        (format!("{}{}", one(2, ok), one(5, ok)), TestStatus::Incomplete),
        (format!("{}{}", one(2, ok), "\nrunning 5 tests\n"), TestStatus::Incomplete),
        (
            "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n".to_owned(),
            TestStatus::Passed,
        ),
    ];
    for (text, status) in cases {
        assert_eq!(run(&text, "", 0).status, status, "{text}");
    }
}

#[test]
fn what_cargo_says_at_the_end_is_heard_after_a_binary_that_passed() {
    let ok = "\nrunning 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
    let cases = [
        ("error: could not compile `b` (test \"it\") due to 1 previous error\n", TestStatus::BuildFailed),
        ("error: Could not compile `b`.\n", TestStatus::BuildFailed),
        ("error: could not compile b\n", TestStatus::BuildFailed),
        ("error: test failed, to rerun pass `--test it`\n", TestStatus::RunnerError),
        ("warning: unused variable\n", TestStatus::Passed),
    ];
    for (said, status) in cases {
        assert_eq!(run(ok, said, 0).status, status, "{said}");
        assert_eq!(run(&format!("{ok}{said}"), "", 0).status, status, "{said}");
    }
}
