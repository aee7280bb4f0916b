//! Runs that mislead: what each runner prints when something other than a test went wrong, and what exits hide.

use super::{file, run, samples::SAMPLES};
use crate::TestStatus::{self, BuildFailed, Crashed, Failed, Incomplete, NoTests, Passed, RunnerError};

/// Name, standard output, standard error, exit code, status, failing ids.
type Run = (&'static str, &'static str, &'static str, i32, TestStatus, &'static [&'static str]);

const RUNS: [Run; 24] = [
    (
        "ctest: a missing executable",
        "Test project /p/b\n    Start 1: gone\nCould not find executable ./gone\nLooked in the following places:\n\
         1/1 Test #1: gone .............................***Not Run   0.00 sec\n\n0% tests passed, 1 tests failed out of 1\n\n\
         Total Test time (real) =   0.00 sec\n\nThe following tests FAILED:\n\t  1 - gone (Not Run)\nErrors while running CTest\n",
        "Unable to find executable: ./gone\n",
        8,
        Failed,
        &["gone"],
    ),
    (
        "jest: a suite that cannot load",
        "",
        "FAIL ./b.test.js\n  ● Test suite failed to run\n\n    Cannot find module './gone' from 'b.test.js'\n\n\
         Test Suites: 1 failed, 1 total\nTests:       0 total\nSnapshots:   0 total\nTime:        0.2 s\n",
        1,
        RunnerError,
        &[],
    ),
    (
        "jest: a suite that cannot load, as JSON, behind a pipe",
        "{\"numFailedTests\":0,\"numRuntimeErrorTestSuites\":1,\"numTotalTests\":0,\"success\":false,\"testResults\":\
         [{\"assertionResults\":[],\"message\":\"no\",\"name\":\"/p/b.test.js\",\"status\":\"failed\"}]}\n",
        "",
        0,
        RunnerError,
        &[],
    ),
    (
        "libtest: a binary that aborts",
        "running 2 tests\ntest a ... ok\n",
        "error: test failed, to rerun pass `--lib`\n\nCaused by:\n  process didn't exit successfully: `/p/target/debug/deps/d-1f` (signal: 6, SIGABRT: process abort signal)\n",
        101,
        Crashed,
        &[],
    ),
    (
        "libtest: a binary that exits",
        "running 2 tests\ntest a ... ok\n",
        "error: test failed\n",
        101,
        Incomplete,
        &[],
    ),
    (
        "cargo: a build that fails",
        "",
        "error[E0425]: cannot find value `x`\n --> src/lib.rs:1:1\n\nerror: could not compile `d` (lib test) due to 1 previous error\n",
        101,
        BuildFailed,
        &[],
    ),
    (
        "go: a build that fails",
        "FAIL\tp [build failed]\nok  \tq\t0.1s\nFAIL\n",
        "# p\n./a.go:1:1: undefined: x\n",
        1,
        BuildFailed,
        &[],
    ),
    (
        "go: TestMain exits",
        "database is gone\nexit status 3\nFAIL\tp\t0.01s\nFAIL\n",
        "",
        1,
        RunnerError,
        &[],
    ),
    (
        "go: TestMain exits, as JSON, behind a pipe",
        "{\"Action\":\"start\",\"Package\":\"p\"}\n{\"Action\":\"output\",\"Package\":\"p\",\"Output\":\"FAIL\\tp\\t0.01s\\n\"}\n{\"Action\":\"fail\",\"Package\":\"p\"}\n",
        "",
        0,
        RunnerError,
        &[],
    ),
    (
        "vitest: an unhandled rejection",
        " RUN  v3.0.0 /p\n\n ✓ a.test.ts (1 test) 2ms\n\n Test Files  1 passed (1)\n      Tests  1 passed (1)\n     Errors  1 error\n   Start at  10:00:00\n",
        "⎯⎯⎯⎯ Unhandled Errors ⎯⎯⎯⎯\n\nVitest caught 1 unhandled error during the test run.\n",
        0,
        RunnerError,
        &[],
    ),
    (
        "vitest: an unhandled rejection, as JSON",
        "{\"numTotalTests\":1,\"numFailedTests\":0,\"success\":false,\"testResults\":[{\"name\":\"a\",\"status\":\"passed\",\"assertionResults\":[{\"title\":\"a\",\"status\":\"passed\"}]}]}\n",
        "",
        0,
        RunnerError,
        &[],
    ),
    (
        "pytest: interrupted, exit 2",
        "==== test session starts ====\na.py .\n\n!!!! KeyboardInterrupt !!!!\n==== 1 passed in 0.10s ====\n",
        "",
        2,
        RunnerError,
        &[],
    ),
    (
        "pytest: internal error, exit 3",
        "==== test session starts ====\nINTERNALERROR> Traceback\nINTERNALERROR> KeyError: 1\n\n==== no tests ran in 0.01s ====\n",
        "",
        3,
        RunnerError,
        &[],
    ),
    ("pytest: usage, exit 4", "", "ERROR: file or directory not found: gone\n", 4, RunnerError, &[]),
    (
        "pytest: nothing collected, exit 5",
        "==== test session starts ====\ncollected 0 items\n\n==== no tests ran in 0.01s ====\n",
        "",
        5,
        NoTests,
        &[],
    ),
    ("pytest: nothing collected, behind a pipe", "==== no tests ran in 0.01s ====\n", "", 0, NoTests, &[]),
    ("pytest: plugins fail after a pass", "3 passed in 0.1s\n", "", 1, RunnerError, &[]),
    ("tap: bail out", "1..2\nok 1\nBail out! database is gone\n", "", 0, RunnerError, &[]),
    ("tap: no plan", "ok 1\nok 2\n", "", 0, Incomplete, &[]),
    ("tap: fewer points than planned", "1..3\nok 1\nok 2\n", "", 0, Incomplete, &[]),
    ("a failing case and a zero exit", "1..1\nnot ok 1 - a\n", "", 0, Failed, &["a"]),
    ("every case passes and a non-zero exit", "1..1\nok 1 - a\n", "", 1, RunnerError, &[]),
    ("killed behind a shell", "1..1\nok 1 - a\n", "", 139, Crashed, &[]),
    ("nothing that is known, and a non-zero exit", "make: *** [test] Error 1\n", "", 2, RunnerError, &[]),
];

#[test]
fn every_lie_is_seen_through() {
    for (name, stdout, stderr, exit, status, failing) in RUNS {
        let one = run(stdout.as_bytes(), stderr.as_bytes(), &[], exit);
        assert_eq!(one.status, status, "{name}: {one:?}");
        assert_eq!(one.failing, failing, "{name}: {one:?}");
    }
}

/// Runner and fault; as text on standard output, as text on standard error, as JSON or XML; status, and failing ids.
type Forms = (&'static str, [&'static str; 3], TestStatus, &'static [&'static str]);

const FORMS: [Forms; 9] = [
    (
        "go: TestMain exits",
        [
            "database is gone\nexit status 3\nFAIL\tp\t0.01s\nFAIL\n",
            "",
            "{\"Action\":\"start\",\"Package\":\"p\"}\n{\"Action\":\"output\",\"Package\":\"p\",\"Output\":\"database is gone\\nexit status 3\\nFAIL\\tp\\t0.01s\\n\"}\n{\"Action\":\"fail\",\"Package\":\"p\"}\n",
        ],
        RunnerError,
        &[],
    ),
    (
        "go: TestMain exits beside a test that fails",
        [
            "--- FAIL: TestA (0.00s)\n    a_test.go:3: no\nFAIL\nFAIL\tp\t0.01s\nexit status 3\nFAIL\tq\t0.01s\nFAIL\n",
            "",
            "{\"Action\":\"start\",\"Package\":\"p\"}\n{\"Action\":\"run\",\"Package\":\"p\",\"Test\":\"TestA\"}\n{\"Action\":\"fail\",\"Package\":\"p\",\"Test\":\"TestA\"}\n{\"Action\":\"fail\",\"Package\":\"p\"}\n{\"Action\":\"start\",\"Package\":\"q\"}\n{\"Action\":\"fail\",\"Package\":\"q\"}\n",
        ],
        Failed,
        &["p::TestA"],
    ),
    (
        "go: a build that fails",
        [
            "FAIL\tp [build failed]\nFAIL\n",
            "# p\n./a.go:1:1: undefined: x\n",
            "{\"ImportPath\":\"p\",\"Action\":\"build-output\",\"Output\":\"./a.go:1:1: undefined: x\\n\"}\n{\"ImportPath\":\"p\",\"Action\":\"build-fail\"}\n{\"Action\":\"start\",\"Package\":\"p\"}\n{\"Action\":\"fail\",\"Package\":\"p\",\"FailedBuild\":\"p\"}\n",
        ],
        BuildFailed,
        &[],
    ),
    (
        "jest: a suite that cannot load",
        [
            "",
            "FAIL ./b.test.js\n  ● Test suite failed to run\n\n    Cannot find module './gone' from 'b.test.js'\n\nTest Suites: 1 failed, 1 total\nTests:       0 total\nSnapshots:   0 total\nTime:        0.2 s\n",
            "{\"numFailedTests\":0,\"numRuntimeErrorTestSuites\":1,\"numTotalTests\":0,\"success\":false,\"testResults\":[{\"assertionResults\":[],\"message\":\"no\",\"name\":\"/p/b.test.js\",\"status\":\"failed\"}]}\n",
        ],
        RunnerError,
        &[],
    ),
    (
        "vitest: a suite that cannot load",
        [
            " RUN  v3.0.0 /p\n\n⎯⎯ Failed Suites 1 ⎯⎯\n\n FAIL  b.test.ts [ b.test.ts ]\nError: no\n\n Test Files  1 failed (1)\n      Tests  no tests\n",
            "",
            "{\"numFailedTests\":0,\"numTotalTests\":0,\"success\":false,\"testResults\":[{\"assertionResults\":[],\"message\":\"no\",\"name\":\"/p/b.test.ts\",\"status\":\"failed\"}]}\n",
        ],
        RunnerError,
        &[],
    ),
    (
        "vitest: an unhandled rejection",
        [
            " RUN  v3.0.0 /p\n\n Test Files  1 passed (1)\n      Tests  1 passed (1)\n     Errors  1 error\n",
            "",
            "{\"numTotalTests\":1,\"numFailedTests\":0,\"success\":false,\"testResults\":[{\"name\":\"a\",\"status\":\"passed\",\"assertionResults\":[{\"title\":\"a\",\"status\":\"passed\"}]}]}\n",
        ],
        RunnerError,
        &[],
    ),
    (
        "pytest: a module that cannot be collected",
        [
            "==== test session starts ====\n==== ERRORS ====\n____ ERROR collecting test_b.py ____\nE   ModuleNotFoundError: no\n==== short test summary info ====\nERROR test_b.py\n!!!! Interrupted: 1 error during collection !!!!\n==== 1 error in 0.10s ====\n",
            "",
            "<testsuites><testsuite name='pytest' errors='1' failures='0' skipped='0' tests='1'><testcase classname='' name='test_b'><error message='collection failure'>no</error></testcase></testsuite></testsuites>",
        ],
        Failed,
        &["test_b.py", "pytest::test_b"],
    ),
    (
        "ctest: a missing executable",
        [
            "Test project /p/b\n    Start 1: gone\n1/1 Test #1: gone .............................***Not Run   0.00 sec\n\n0% tests passed, 1 tests failed out of 1\n\nThe following tests FAILED:\n\t  1 - gone (Not Run)\nErrors while running CTest\n",
            "",
            "<testsuite name='b' tests='1' failures='0' disabled='0' skipped='1'><testcase name='gone' classname='gone' status='notrun'><skipped message='Unable to find executable: ./gone'/></testcase></testsuite>",
        ],
        Failed,
        &["gone", "gone::gone"],
    ),
    (
        "mocha: a hook that fails",
        [
            "\n  db\n    1) \"before all\" hook for \"x\"\n\n\n  0 passing (4ms)\n  1 failing\n\n  1) db\n       \"before all\" hook for \"x\":\n     Error: no database\n\n",
            "",
            "{\"stats\":{\"passes\":0,\"pending\":0,\"failures\":1},\"tests\":[],\"pending\":[],\"failures\":[{\"title\":\"\\\"before all\\\" hook for \\\"x\\\"\",\"fullTitle\":\"db \\\"before all\\\" hook for \\\"x\\\"\",\"err\":{\"message\":\"no database\"}}],\"passes\":[]}\n",
        ],
        Failed,
        &["db > \"before all\" hook for \"x\"", "db \"before all\" hook for \"x\""],
    ),
];

/// A fault is of one class, however the runner reports it. Ids are those of the form.
#[test]
fn both_forms_of_a_runner_give_one_class() {
    for (name, [stdout, stderr, form], status, failing) in FORMS {
        let text = run(stdout.as_bytes(), stderr.as_bytes(), &[], 1);
        let other = run(b"", b"", &[("form", form.as_bytes())], 1);
        let piped = file(form.as_bytes(), 0);
        assert_eq!([text.status, other.status, piped.status], [status; 3], "{name}: {text:?} {other:?}");
        let known = |one: &super::ParsedRun| one.failing.iter().all(|id| failing.contains(&id.as_str()));
        let named = |one: &super::ParsedRun| one.failing.is_empty() == failing.is_empty();
        assert!(known(&text) && named(&text), "{name}: {text:?}");
        assert!(status == BuildFailed || known(&other) && named(&other), "{name}: {other:?}");
    }
}

#[test]
fn an_exit_of_zero_makes_no_failing_report_a_pass_nor_any_other_a_passing_one_whole() {
    for ((name, bytes), _, status, _) in SAMPLES {
        assert_eq!(file(bytes, 0).status, status, "{name}");
        for exit in [1, 2, 101] {
            let worse = file(bytes, exit).status;
            assert_ne!(worse, Passed, "{name}");
            assert!(worse == status || status == Passed || status == NoTests, "{name} {worse:?}");
        }
    }
}

#[test]
fn the_end_of_an_output_is_no_pass_where_the_whole_was_none() {
    for ((name, bytes), _, status, _) in SAMPLES.iter().filter(|row| row.0.0.contains(".txt")) {
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        for first in 0..lines.len() {
            let tail = run(&lines[first..].concat(), b"", &[], 0);
            let told = tail.runner != "exit";
            assert!(
                *status == Passed || !told || tail.status != Passed,
                "{name} from line {first}: {tail:?}"
            );
        }
    }
}

#[test]
fn reports_of_one_run_are_merged() {
    let one = "<testsuite name='s'><testcase name='a'><failure message='x'/></testcase><testcase name='b'/></testsuite>";
    let two = "1..2\nnot ok 1 - c\nok 2\n";
    let whole = run(b"", b"", &[("one.xml", one.as_bytes()), ("two.tap", two.as_bytes())], 0);
    assert_eq!((whole.status, whole.counts.total, whole.runner.as_str()), (Failed, 4, "junit+tap"));
    assert_eq!(whole.failing, ["c", "s::a"]);
    let cut = run(b"", b"", &[("one.xml", &one.as_bytes()[..90]), ("two.tap", two.as_bytes())], 0);
    assert_eq!((cut.status, cut.warnings.len()), (Incomplete, 1));
}

/// Standard output, standard error, status.
const BESIDE: [(&str, &str, TestStatus); 12] = [
    ("1..1\nok 1\n", "1..1\nnot ok 1 - b\n", Failed),
    ("1..1\nnot ok 1 - b\n", "1..1\nok 1\n", Failed),
    ("1..1\nok 1\n", "1..1\nok 1\n", Passed),
    ("1..1\nok 1\n", "1..3\nok 1\n", Incomplete),
    ("1..1\nok 1\n", "ok 1 - a word\n", Passed),
    ("", "1..1\nok 1\n", Passed),
    ("3 passed in 0.1s\n", "1..1\nnot ok 1 - b\n", Failed),
    ("1..1\nok 1\n", "1 failed in 0.1s\n", Failed),
    (
        OK,
        "\nrunning 1 test\ntest b ... FAILED\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n",
        Failed,
    ),
    (OK, "running 3 tests of the network\nrunning 3 tests\n", Passed),
    (OK, "<testsuite>\n<testcase name='a'><failure/></testcase>\n</testsuite>\n", Failed),
    (
        OK,
        "{\"Action\":\"run\",\"Package\":\"p\",\"Test\":\"T\"}\n{\"Action\":\"fail\",\"Package\":\"p\",\"Test\":\"T\"}\n{\"Action\":\"fail\",\"Package\":\"p\"}\n",
        Failed,
    ),
];

const OK: &str = "\nrunning 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";

#[test]
fn a_stream_that_fails_is_heard_beside_one_that_passes() {
    for (stdout, stderr, status) in BESIDE {
        let one = run(stdout.as_bytes(), stderr.as_bytes(), &[], 0);
        assert_eq!(one.status, status, "{stdout} {stderr} {one:?}");
    }
    for ((name, bytes), runner, status, counts) in SAMPLES {
        // Some are only read on standard output, and standard error would make others nextest's.
        if name.contains("utf16") || ["ctest", "nextest"].contains(&runner) {
            continue;
        }
        let beside = run(OK.as_bytes(), bytes, &[], 0);
        let green = matches!(status, Passed | NoTests);
        assert_eq!(beside.status == Passed, green, "{name} {beside:?}");
        let alone = run(b"", bytes, &[], 0);
        assert_eq!((alone.status, alone.counts.passed), (status, counts[0]), "{name} {alone:?}");
    }
}

const RED: &str = "== test session starts ==\nt.py .F\n== short test summary info ==\nFAILED t.py::b - x\n== 1 failed, 1 passed in 0.1s ==\n";
const RED_JSON: &str = "{\"stats\":{\"passes\":0,\"pending\":0,\"failures\":1},\"tests\":[],\"pending\":[],\"failures\":[{\"title\":\"a\",\"fullTitle\":\"a\",\"err\":{}}],\"passes\":[]}\n";

fn wide(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(unit).collect()
}

/// Redirected by some shells, and printed by tools of Windows.
#[test]
fn output_in_utf_16_is_read() {
    for (text, failing) in [(RED, "t.py::b"), (RED_JSON, "a")] {
        let little = wide(text, u16::to_le_bytes);
        let forms = [
            little.clone(),
            [b"\xff\xfe".to_vec(), little.clone()].concat(),
            [b"\xfe\xff".to_vec(), wide(text, u16::to_be_bytes)].concat(),
            wide(text, u16::to_be_bytes),
        ];
        for form in forms {
            assert_eq!(run(&form, b"", &[], 0).failing, [failing], "{text}");
            assert_eq!(run(b"", &form, &[], 0).status, Failed, "{text}");
        }
    }
    let late = [b"starting the tests\n".to_vec(), wide(RED, u16::to_le_bytes)].concat();
    assert_eq!(run(&late, b"", &[], 0).failing, ["t.py::b"]);
    let late = [b"starting\n\xfe\xff".to_vec(), wide(RED, u16::to_be_bytes)].concat();
    assert_eq!(run(&late, b"", &[], 0).status, Failed);
}

/// Behind a pipe the exit code is that of its last program.
#[test]
fn the_end_of_a_red_text_is_red_whatever_the_exit_code() {
    for end in [
        "FAILED test_fail.py::test_2 - assert 1 == 2\n",
        "Tests:       1 failed, 1 passed, 2 total\nSnapshots:   0 total\nTime:        0.2 s\nRan all test suites.\n",
        "FAIL\n",
        "FAILED (failures=1)\n",
    ] {
        let one = run(end.as_bytes(), b"", &[], 0);
        assert_eq!((one.status, one.warnings.len(), one.doubt), (RunnerError, 1, None), "{end}");
    }
    for (end, status) in [
        ("FAIL\nretried, all is well\n", Incomplete),
        ("FAIL\nretried: 2 tests passed\n", Passed),
        ("Tests:       2 passed, 2 total\n", Passed),
        ("1 failing host was replaced\n", Incomplete),
    ] {
        assert_eq!(run(end.as_bytes(), b"", &[], 0).status, status, "{end}");
    }
}
