//! Lines of runners without a reader of their own, and what they tell.

use super::*;

const COUNTED: &[(&str, u64)] = &[
    ("ok | 3 passed | 0 failed (12ms)", 3),
    (" 3 pass\n 0 fail\nRan 3 tests across 1 file. [5.00ms]", 3),
    ("Tests run: 3, Failures: 0, Errors: 0, Skipped: 1", 2),
    ("[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.05 s", 3),
    ("Passed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3, Duration: 3 ms - a.dll", 3),
    ("Executed 3 tests, with 0 failures (0 unexpected) in 0.001 (0.002) seconds", 3),
    ("All tests passed (3 assertions in 2 test cases)", 2),
    ("test cases: 2 | 2 passed\nassertions: 2 | 2 passed", 4),
    ("3 tests, 0 failures", 3),
    ("12 specs, 0 failures, 2 pending", 10),
    ("5 scenarios (5 passed)", 5),
    ("  3 tests passed", 3),
    ("All 3 tests passed.", 3),
    ("Total: 3\nPassed: 3", 3),
    ("Chrome: Executed 2 of 2 SUCCESS (0.01 secs)", 2),
    ("Ok:                 3\nExpected Fail:      0\nFail:               0", 3),
    ("00:01 +3: All tests passed!", 3),
    ("Ran 3 tests containing 5 assertions.\n0 failures, 0 errors.", 3),
    ("All tests successful.\nFiles=1, Tests=3,  0 wallclock secs\nResult: PASS", 3),
    ("Running 3 test cases...\n\n*** No errors detected", 3),
    ("3 Tests 0 Failures 0 Ignored", 3),
    ("OK (3 tests, 3 ran, 5 checks, 0 ignored, 0 filtered out, 0 ms)", 3),
    ("3 successes / 0 failures / 0 errors / 0 pending : 0.001 seconds", 3),
    ("Tests finished: Pass 3. Fail 0. Fatal 0. Skip 0.", 3),
    ("Cases: 3  Tried: 3  Errors: 0  Failures: 0", 3),
    ("Cases: 3  Tried: 3  Errors: 0  Failures: 1", 0),
    ("Test run finished: 0 failed, 1 ignored, 4 total, 0.01s", 3),
    ("✓ src/calc/add_test.py:tests succeeded in 0.52s.", 1),
    ("failed=0 ok=3", 3),
    ("Test Successful in 0.001s. 3 tests run.", 3),
    ("Test Summary: | Pass  Total  Time\nadds          |    3      3  0.1s", 3),
    ("[info] Tests: succeeded 3, failed 0, canceled 0, ignored 0, pending 0", 3),
    ("Executed 1 out of 1 test: 1 test passes.", 1),
    ("AppTest > adds PASSED", 1),
    ("3 tests, no failures", 3),
    (
        "│ STATUS │ PASS │ FAIL │\n│────────┼──────┼──────│\n│  PASS  │  2   │  0   │\n│  PASS  │  1   │  0   │",
        3,
    ),
    (
        "│ STATUS │ PASS │ FAIL │\n│────────┼──────┼──────│\n│  PASS  │  2   │  0   │\n│  FAIL  │  1   │  1   │",
        0,
    ),
    ("100% tests passed, 0 test(s) failed out of 2, spent 0.01s", 2),
    ("50% tests passed, 1 test(s) failed out of 2, spent 0.01s", 0),
    (
        "Bestanden!   : Fehler:     0, erfolgreich:     3, übersprungen:     0, gesamt:     3, Dauer: 12 ms - a.dll (net9.0)",
        3,
    ),
    (
        "Échec!  - échec :     1, réussite :     2, ignorée(s) :     0, total :     3, durée : 12 ms - a.dll (net9.0)",
        0,
    ),
    ("✓  calc (3ms)\n\nDONE 4 tests, 1 skipped in 0.3s", 3),
    ("DONE 2 tests, 1 error in 0.9s", 0),
    ("( PASSED )  job  1    t/a.t\n( PASSED )  job  2    t/b.t", 2),
    ("( PASSED )  job  1    t/a.t\n( FAILED )  job  2    t/b.t", 0),
    (
        "/add   [ OK    ] [ 0.1 / 0.1 CPU ]\n/sub   [ ERROR ]\n1 of 2 (50%) tests successful, 0 (0%) skipped",
        0,
    ),
    ("PASSES 2 out of 3 tests", 0),
    ("PASSES 3 out of 3 tests", 3),
    ("Executed 1 of 3 SUCCESS\nExecuted 3 of 3 (skipped 1) SUCCESS", 3),
    ("0/2 tests passed; 2 skipped", 0),
    ("3/5 tests passed; 2 skipped", 3),
    ("Total number of cases: 3\nFails (0) and Notes (0)", 3),
    ("Total number of cases: 3\nFails (1) and Notes (0)", 0),
    ("a.tcl:\tTotal\t3\tPassed\t2\tSkipped\t0\tFailed\t1", 0),
    ("a.tcl:\tTotal\t3\tPassed\t2\tSkipped\t1\tFailed\t0", 2),
    ("Total Tests Run:   2\nSuccessful Tests:  1\nFailed Assertions: 1\nUnexpected Errors: 0", 0),
    (
        "Executed files: 1\nExecuted requests: 2 (1.3/s)\nSucceeded files: 1 (100.0%)\nFailed files: 0 (0.0%)",
        1,
    ),
    ("   A.Tests  Total: 3, Errors: 0, Failed: 0, Skipped: 0, Not Run: 0", 3),
    ("TESTED:  2\nPASSED:  2\nFAILED:  0\nIGNORED: 0", 2),
    ("[1/2] Testing A.A/testAdd\n[2/2] Testing A.A/testSub", 2),
    ("[1/2] Testing A.A/testAdd", 0),
    ("[ RUN      ] adds\n[       OK ] adds\n[ RUN      ] subs", 0),
    ("[ RUN      ] adds\n[       OK ] adds\n[  PASSED  ] 1 test.", 1),
    ("2 modules passed unittests", 2),
    (
        "    Type  Total    Ran Passed Failed\n  suites      1      1    n/a      0\n   tests      2      2      1      1",
        0,
    ),
    (
        "    Type  Total    Ran Passed Failed\n  suites      1      1    n/a      0\n   tests      2      2      2      0",
        2,
    ),
    ("Success/Total: 2/2\n2 case(s)", 2),
    ("webpack: 42 modules built, 0 errors", 0),
    ("Uploaded 2/2 ok", 0),
    ("Build Summary: 3/3 steps succeeded", 0),
    ("Ran 2 tests.\n\nOK", 2),
    (
        "[         3 tests found           ]\n[         0 tests successful      ]\n[         0 tests failed          ]",
        0,
    ),
    ("Files=1, Tests=0,  0 wallclock secs\nResult: NOTESTS", 0),
    ("2 tests, 1 failure", 0),
    ("# pass 4\n# fail 1", 0),
    ("FAIL: adds\nPASS: subtracts", 0),
    ("FAIL: what is known to fail\n# PASS:  2\n# FAIL:  0", 2),
    ("3 tests, 0 failures, 3 excluded", 0),
    ("All checks passed!", 0),
    ("All tests passed", 0),
    ("[ FAIL 0 | WARN 0 | SKIP 0 | PASS 3 ]", 3),
    ("PASS: adds\nPASS: subtracts", 2),
    ("adds ... ok (3ms)", 1),
    ("..s.                [ 66%]\n..                 [100%]", 5),
    ("..s.                [ 66%]", 0),
    ("3 passed\n1 failed", 0),
    ("0 passed", 0),
    ("0 tests, 0 failures", 0),
    ("3 tests, 0 failures, 3 skipped", 0),
    ("Tests run: 0, Failures: 0, Errors: 0, Skipped: 0", 0),
    ("collected 3 items", 0),
    ("found 3 tests", 0),
    ("Tasks:    2 successful, 2 total", 0),
    ("Successfully ran target test for 3 projects", 0),
    ("lerna success run Ran npm script 'test' in 3 packages in 0.4s:", 0),
    ("BUILD SUCCESSFUL in 3s\n3 actionable tasks: 3 executed", 0),
    ("all good", 0),
    ("ok", 0),
    ("make: 'test' is up to date.", 0),
    ("Checked 3 files in 5ms. No fixes applied.", 0),
    ("", 0),
];

fn passed(text: &str) -> u64 {
    let mut told = ToldTests::default();
    text.lines().for_each(|line| told.line(line));
    told.passed().map_or(0, |counts| counts.passed)
}

#[test]
fn red_runs_are_known_by_what_failed_beside_what_ran() {
    for (text, failed) in [
        ("Ran 3 tests containing 5 assertions.\n1 failures, 0 errors.", Some(1)),
        ("Ran 2 tests in 0.001s\n\nFAILED (failures=1)", Some(1)),
        ("FAIL: adds\nPASS: subs", Some(1)),
        ("2 passed, 1 failed", Some(1)),
        ("00:01 +2 ~1 -1: Some tests failed.", Some(1)),
        ("00:01 +0 -2: Some tests failed.\n\nFailing tests:\n test/a_test.dart: adds", Some(2)),
        ("00:01 +0 -1: adds [E]", None),
        ("✘ Test run with 2 tests failed after 0.002 seconds with 1 issue.", Some(1)),
        ("✘ Test run with 9 tests in 2 suites failed after 0.002 seconds with 3 issues.", Some(3)),
        ("1 out of 2 tests failed (0.00s)", Some(1)),
        ("1 test, 1 failure", Some(1)),
        ("FAILED | 0 passed | 1 failed (12ms)", Some(1)),
        (" 0 pass\n 1 fail\nRan 1 tests across 1 files. [12.00ms]", Some(1)),
        ("[ERROR] Tests run: 1, Failures: 1, Errors: 0, Skipped: 0", Some(1)),
        ("Ran 2 tests containing 2 assertions.\n2 failures, 0 errors.", Some(2)),
        ("0 scenarios passed, 1 failed, 0 skipped", Some(1)),
        ("  1 test failed", Some(1)),
        (" 1 FAILED TEST", Some(1)),
        ("2 errors", None),
        ("test_connection: attempt 2 failed, retrying in 5 s", None),
        ("worker 3: test 12 failed, 4 more to go", None),
        ("the CI said that 3 tests failed", None),
        ("Build FAILED. 2 errors, 3 warnings", None),
        ("error: 1 failure", None),
        ("FAIL: adds", None),
        ("3 tests passed", None),
        ("make: *** [all] Error 1", None),
    ] {
        assert_eq!(counted_red(text).map(|counts| counts.failed), failed, "{text}");
    }
}

#[test]
fn different_errors_of_a_build_are_counted() {
    for (text, number) in [
        (
            "error[E0425]: a\n --> src/lib.rs:3:5\nerror[E0425]: a\n --> src/lib.rs:9:5\nerror: aborting due to 2",
            2,
        ),
        ("error[E0425]: a\n --> src/lib.rs:3:5\nerror[E0425]: a\n --> src/lib.rs:3:5", 1),
        ("src/a.ts(3,5): error TS2304: a\nsrc/a.ts(4,5): error TS2304: a\nFound 2 errors.", 2),
        ("a.c:3:5: error: b\na.c:3:5: note: c\nb.c:1:1: error: d\nmake: *** [all] Error 1", 2),
        ("# example.com/a\n./a.go:3:5: undefined: x\n./a.go:4:5: undefined: y\nFAIL", 2),
        ("A.java:3: error: ';' expected\nA.java:9: error: ';' expected\n2 errors", 2),
        ("warning: unused\n --> src/lib.rs:3:5\nmake: *** [all] Error 1", 0),
    ] {
        assert_eq!(build_errors(text), number, "{text}");
    }
}

#[test]
fn tests_are_counted_in_the_words_of_any_runner() {
    let wrong: Vec<_> = COUNTED.iter().filter(|(text, number)| passed(text) != *number).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn failures_are_named_in_many_words() {
    let table = [
        ("FAILED tests/test_a.py::test_b", true),
        ("FAIL: adds", true),
        ("  ✗ adds", true),
        ("not ok - adds", true),
        ("2 failed, 3 passed", true),
        ("1 test failed", true),
        ("Failures: 3", true),
        ("failed=2 ok=3", true),
        ("E   AssertionError: 1 != 2", true),
        ("0 failed, 3 passed", false),
        ("Failures: 0", false),
        ("ok, nothing failed", false),
        ("all 12 tests passed", false),
        ("FAILOVER works", false),
        ("failed over to 10.0.0.1", false),
        ("handles 3 errors", false),
    ];
    for (line, names) in table {
        assert_eq!(names_failures(line), names, "{line}");
    }
}

#[test]
fn builds_that_fail_are_known_whatever_the_tool() {
    for line in [
        "a.c:3:5: error: 'x' undeclared (first use in this function)",
        "src/a.cpp:3:1: fatal error: b.h: No such file or directory",
        "src/A.java:3: error: cannot find symbol",
        "src/a.ts(3,5): error TS2304: Cannot find name 'x'.",
        "src/a.ts:3:5 - error TS2304: Cannot find name 'x'.",
        "A.cs(3,5): error CS1002: ; expected [/p/a.csproj]",
        "Sources/a.swift:3:5: error: cannot find 'x' in scope",
        "[ERROR] /p/src/A.java:[3,5] cannot find symbol",
        "[error] /p/src/A.scala:3:5: error: not found: value x",
        "ModuleNotFoundError: No module named 'a'",
        "SyntaxError: Unexpected token '}'",
        "/p with spaces/a.c:3:5: error: 'x' undeclared",
        "lib/a.dart:3:5: Error: Undefined name 'x'.",
        "a.nim(3, 5) Error: undeclared identifier: 'x'",
        "./a.go:3:5: undefined: x",
        "vet: ./a.go:3:5: undefined: x",
        "src/a.erl:3:5: variable 'X' is unbound",
        "[error] /p/A.scala:3:5: not found: value x",
        "[error] -- [E006] Not Found Error: A.scala:3:5 ---",
        "e: file:///p/a.kt:3:5 Unresolved reference: x",
        "NameError: name 'x' is not defined",
        "SyntaxError:",
        "a.rb:1: syntax error, unexpected end-of-input, expecting ')'",
        "a.rb:1: syntax errors found (SyntaxError)",
        "a.sh: line 1: syntax error near unexpected token `then'",
        "syntax error at t/a.t line 1, near \"= ;\"",
        "PHP Parse error:  syntax error, unexpected token \";\" in a.php on line 3",
        "== Compilation error in file lib/a.ex ==",
        "CMake Error at CMakeLists.txt:2 (add_executable):",
        "Makefile:3: *** missing separator.  Stop.",
        "a.obj : error LNK2019: unresolved external symbol x",
        "ERROR in ./src/index.js 1:0-18",
        "[UNRESOLVED_IMPORT] Could not resolve './b' in a.js",
        "✘ [ERROR] Could not resolve \"./b\"",
        "[vite]: Rollup failed to resolve import \"./b\" from \"/p/a.js\".",
        "Error: Cannot find module './b' imported from /p/a.test.js",
        "File \"bin/a.ml\", line 3, characters 4-5:",
        "-- NAMING ERROR ---------------- src/A.elm",
        "In a.cr:3:5",
        "/usr/bin/ld: a.o: in function `main': a.c:(.text+0x5): undefined reference to `x'",
    ] {
        assert_eq!(build_error([line].into_iter()), Some(line));
    }
    for line in [
        "error: it went wrong",
        "a.c:3: warning: x",
        "12:30:01 error",
        "no error in a.c",
        "[ERROR] Failed to execute goal",
        "ERROR: it went wrong",
        "make: *** [Makefile:3: test] Error 1",
        "TypeError: 1",
        "AssertionError: 1",
    ] {
        assert_eq!(build_error([line].into_iter()), None, "{line}");
    }
}

#[test]
fn passes_are_named_too() {
    let table = [
        ("ok 1 - adds", true),
        ("PASS: adds", true),
        ("  ✓ adds", true),
        ("3 passed, 2 failed", true),
        ("  12 passing (4ms)", true),
        ("0 passed", false),
        ("okay", false),
        ("the password is wrong", false),
    ];
    for (line, names) in table {
        assert_eq!(names_passes(line), names, "{line}");
    }
}

fn found(text: &str) -> Option<&str> {
    failure(&text.lines().filter(|line| !line.is_empty()))
}

#[test]
fn the_ends_of_runs_that_failed() {
    for text in [
        "FAILED test_fail.py::test_2 - assert 1 == 2\n",
        "ERROR tests/test_b.py - ModuleNotFoundError\n",
        "ERROR tests/test_b.py\n",
        "FAILED (failures=1)\n",
        "FAILED (errors=1, skipped=2)\n",
        "FAIL\n",
        "Tests:       1 failed, 1 passed, 2 total\nSnapshots:   0 total\nTime:        0.2 s\nRan all test suites.\n",
        " Test Files  1 failed | 1 passed (2)\n      Start at  10:00:00\n",
        "  1 failing\n\n  1) x\n       c:\n     Error: x\n      at Context.<anonymous> (t/fail.js:1:53)\n",
        "error: test failed, to rerun pass `--lib`\n",
        "rspec ./spec/a_spec.rb:3 # adds\n",
        "Tests: 2, Assertions: 2, Failures: 1.\n",
        "2 tests, 1 failure\n",
        "BUILD FAILED in 3s\n1 actionable task: 1 executed\n",
        "[INFO] BUILD FAILURE\n[INFO] ------\n",
        "Failed!  - Failed:     1, Passed:     1, Skipped:     0, Total:     2, Duration: 3 ms - a.dll (net8.0)\n",
        "Errors while running CTest\n",
        " 1 FAILED TEST\n",
        "Executed 2 tests, with 1 failure (0 unexpected) in 0.001 (0.002) seconds\n",
        "Chrome: Executed 2 of 2 (1 FAILED) (0.01 secs / 0.001 secs)\n",
        "test cases: 2 | 1 passed | 1 failed\nassertions: 2 | 1 passed | 1 failed\n",
        "00:01 +1 -1: Some tests failed.\n",
        "  1 failed\n    a.spec.ts:3:1 › x\n  1 passed (2.0s)\n",
        "nox > Session tests failed.\n",
        "//a:b FAILED in 0.3s\n\nExecuted 1 out of 1 test: 1 fails locally.\n",
        "npm error Test failed.  See above for more details.\n",
        "  py311: FAIL code 1\n  evaluation failed :( (0.6 seconds)\n",
        "make: *** [Makefile:2: test] Error 1\n",
        "make: *** [test] Error 2\nshown by tail\n",
        "make[1]: *** [Makefile:9: unit] Error 1\ngmake: *** [Makefile:2: test] Error 2\n",
        "error: Recipe `test` failed on line 2 with exit code 1\n",
        "error Command failed with exit code 1.\n",
        " ELIFECYCLE  Test failed. See above for more details.\n",
        "error: script \"test\" exited with code 1\n",
        "task: Failed to run task \"test\": exit status 1\n",
        "ninja: build stopped: subcommand failed.\n",
    ] {
        assert!(found(text).is_some(), "{text}");
    }
}

#[test]
fn other_ends_are_none() {
    for text in [
        "",
        "all good\n",
        "FAIL\nretried: all good\n",
        "FAILED to connect, retrying\n",
        "FAILED\n",
        "Tests:       2 passed, 2 total\n",
        "Tests: 0 failed, 2 passed, 2 total\n",
        "  0 failing\n",
        "1 failing host was replaced\n",
        "2 tests, 0 failures\n",
        "12 examples, 0 failures, 1 pending\n",
        "OK (tests=3)\n",
        "Tests: 2, Assertions: 2, Skipped: 1.\n",
        "ERROR in the log is expected\n",
        "BUILD SUCCESSFUL in 3s\n",
        "make: [test] Error 1 (ignored)\n",
        "make[1]: *** [Makefile:9: fails] Error 1\nmake: [Makefile:2: test] Error 2 (ignored)\n",
        "make: *** [Makefile:9: fails] Error 1 (ignored)\n",
        "rspec ran\n",
        "Executed 2 tests, with 0 failures (0 unexpected) in 0.001 (0.002) seconds\n",
        "Chrome: Executed 2 of 2 SUCCESS (0.01 secs / 0.001 secs)\n",
        "test cases: 2 | 2 passed\n",
        "  0 failed\n",
        "3 hosts failed over, session tests failed over\n",
    ] {
        assert_eq!(found(text), None, "{text}");
    }
    let far = format!("  1 failing\n{}", "step\n".repeat(WINDOW));
    assert_eq!(found(&far), None);
}
