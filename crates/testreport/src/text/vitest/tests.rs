use super::super::tests::{check, errors, read};
use super::*;
use crate::TestStatus;

const STDOUT: &str = "
 RUN  v2.1.4 /work/demo

 ✓ src/text.test.ts (1 test) 2ms
 ❯ src/calc.test.ts (3 tests | 1 failed) 6ms
   × calc > subtracts 4ms
     → expected 1 to be 2 // Object.is equality

 Test Files  1 failed | 1 passed (2)
      Tests  1 failed | 2 passed | 1 skipped | 1 todo (5)
   Start at  12:00:00
   Duration  301ms (transform 40ms, setup 0ms)

";

const STDERR: &str = "
⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  src/calc.test.ts > calc > subtracts
AssertionError: expected 1 to be 2 // Object.is equality

- Expected
+ Received

- 2
+ 1

 ❯ src/calc.test.ts:6:28
      4|   it('subtracts', () => {
      5|     expect(subtract(3, 1)).toBe(2)
       |                            ^

⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[1/1]⎯
";

const NOT_LOADED: &str = "
 RUN  v2.1.4 /work/demo

⎯⎯⎯⎯⎯⎯ Failed Suites 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  src/broken.test.ts [ src/broken.test.ts ]
Error: Failed to load url ./nope (resolved id: ./nope). Does the file exist?
 ❯ loadAndTransform node_modules/vite/dist/node/chunks/dep.js:51968:17

⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[1/1]⎯

 Test Files  1 failed (1)
      Tests  no tests
";

const UNHANDLED: &str = "
 RUN  v2.1.4 /work/demo

⎯⎯⎯⎯⎯⎯ Unhandled Errors ⎯⎯⎯⎯⎯⎯

Vitest caught 1 unhandled error during the test run.

⎯⎯⎯⎯⎯ Unhandled Rejection ⎯⎯⎯⎯⎯
Error: late
 ❯ src/a.test.ts:3:10
⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯
 Test Files  1 passed (1)
      Tests  2 passed (2)
     Errors  1 error
";

#[test]
fn summaries() {
    use TestStatus::{Failed, Incomplete, NoTests, Passed, RunnerError};
    check(
        RUNNER,
        &[
            (STDOUT, 1, [2, 1, 0, 2], &[], Failed),
            (STDOUT, 0, [2, 1, 0, 2], &[], Failed),
            (NOT_LOADED, 1, [0; 4], &[], RunnerError),
            (UNHANDLED, 1, [2, 0, 0, 0], &[], RunnerError),
            (UNHANDLED, 0, [2, 0, 0, 0], &[], RunnerError),
            (
                " RUN  v1.6.0 /p\n Test Files  1 passed (1)\n      Tests  2 passed (2)\n",
                0,
                [2, 0, 0, 0],
                &[],
                Passed,
            ),
            (" RUN  v1.6.0 /p\n", 0, [0; 4], &[], Incomplete),
            (" RUN  v1.6.0 /p\nNo test files found, exiting with code 1\n", 1, [0; 4], &[], NoTests),
        ],
    );
}

#[test]
fn failures_are_on_the_other_stream() {
    let run = read(STDOUT, STDERR, 1).unwrap();
    let id = "src/calc.test.ts::calc > subtracts";
    assert_eq!(run.failing, [id]);
    let text = "AssertionError: expected 1 to be 2 // Object.is equality\n- Expected\n+ Received\n- 2\n+ 1";
    assert_eq!(errors(&run), [(id, text)]);
    assert_eq!(read("", STDERR, 1), None);
    let one = read(&format!("{STDERR}{STDOUT}"), "", 1).unwrap();
    assert_eq!(one.failing, [id]);
    let run = read(UNHANDLED, "", 1).unwrap();
    assert_eq!(errors(&run), [("", "Unhandled Rejection: Error: late")]);
    let run = read(NOT_LOADED, "", 1).unwrap();
    assert!(run.errors[0].text.starts_with("src/broken.test.ts: Error: Failed to load url ./nope"));
}
