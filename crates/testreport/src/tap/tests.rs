use super::*;
use crate::run::{ExitKind, ParsedRun};
use crate::{Counts, TestStatus};

fn tally(text: &str) -> Option<Tally> {
    let mut reader = TapReader::new(&Root::none(), "out");
    text.lines().for_each(|line| reader.line(line));
    reader.finish()
}

fn run(text: &str) -> ParsedRun {
    ParsedRun::conclude(tally(text).expect("TAP"), ExitKind::Code(0))
}

fn counts(passed: u64, failed: u64, skipped: u64) -> Counts {
    Counts { total: passed + failed + skipped, passed, failed, errored: 0, skipped }
}

const PLAN_FIRST: &str = "TAP version 13\n1..4\nok 1 - adds\nnot ok 2 - subtracts\n  ---\n  message: 'expected 1'\n  \
                          severity: fail\n  at: 'math.c:12'\n  ...\nok 3 # SKIP no network\nnot ok 4 - later # TODO x\n";

const NODE: &str = "TAP version 13
# Subtest: math
    # Subtest: adds
    ok 1 - adds
      ---
      duration_ms: 0.4
      type: 'test'
      ...
    # Subtest: subtracts
    not ok 2 - subtracts
      ---
      duration_ms: 1.25
      location: '/p/test.mjs:5:3'
      failureType: 'testCodeFailure'
      error: |-
        Expected values to be strictly equal:

        1 !== 2

      code: 'ERR_ASSERTION'
      stack: |-
        TestContext.<anonymous> (file:///p/test.mjs:6:12)
        not ok 9 - in the stack
      ...
    1..2
not ok 1 - math
  ---
  duration_ms: 3.5
  type: 'suite'
  failureType: 'subtestsFailed'
  error: '1 subtest failed'
  ...
1..1
# tests 2
# pass 1
# fail 1
";

/// Its first lines are two levels deep.
const DEEP: &str =
    "        ok 1 - x\n        not ok 2 - y\n        1..2\n    not ok 1 - b\n    1..1\nnot ok 1 - a\n1..1\n";

#[test]
fn counts_and_ids() {
    let cases: &[(&str, Counts, &[&str], TestStatus)] = &[
        ("1..2\nok 1\nok 2\n", counts(2, 0, 0), &[], TestStatus::Passed),
        ("ok 1 - a\nok 2 - b\n1..2\n", counts(2, 0, 0), &[], TestStatus::Passed),
        (PLAN_FIRST, counts(1, 1, 2), &["subtracts"], TestStatus::Failed),
        (NODE, counts(1, 1, 0), &["math > subtracts"], TestStatus::Failed),
        ("1..2\nok 1\n", counts(1, 0, 0), &[], TestStatus::Incomplete),
        ("1..1\nok 1\nok 2\n", counts(2, 0, 0), &[], TestStatus::Incomplete),
        ("ok 1\nok 2\n", counts(2, 0, 0), &[], TestStatus::Incomplete),
        ("TAP version 14\n", counts(0, 0, 0), &[], TestStatus::Incomplete),
        ("1..0 # SKIP no network\n", counts(0, 0, 0), &[], TestStatus::NoTests),
        ("1..1\nok 1 # SKIP\n", counts(0, 0, 1), &[], TestStatus::NoTests),
        ("1..3\nok 1\nBail out! no disk\n", counts(1, 0, 0), &[], TestStatus::RunnerError),
        ("1..3\nnot ok 1\nBail out! no disk\n", counts(0, 1, 0), &["test 1"], TestStatus::Failed),
        ("1..1\nok 1\n1..2\nok 1\nok 2\n", counts(3, 0, 0), &[], TestStatus::Passed),
        ("ok 1\n1..1\nok 1\nnot ok 2 - z\n1..2\n", counts(2, 1, 0), &["z"], TestStatus::Failed),
        ("1..1\nok 1\nok 1\nok 2\n1..2\n", counts(3, 0, 0), &[], TestStatus::Passed),
        ("1..2\nok 1\n1..1\nok 1\n", counts(2, 0, 0), &[], TestStatus::Incomplete),
        ("1..1\n    ok 1 - inner\n", counts(1, 0, 0), &[], TestStatus::Incomplete),
        ("    1..2\n    ok 1\nok 1 - outer\n1..1\n", counts(1, 0, 0), &[], TestStatus::Incomplete),
        ("    ok 1 - in\n    1..1\nnot ok 1 - out\n1..1\n", counts(1, 1, 0), &["out"], TestStatus::Failed),
        ("    not ok 1 - in\nok 1 - out # TODO\n1..1\n", counts(0, 1, 0), &["out > in"], TestStatus::Failed),
        ("    not ok 1 - in\nnot ok 1 - out # TODO\n1..1\n", counts(0, 0, 1), &[], TestStatus::NoTests),
        ("        ok 1 - noise\n1..1\nok 1\n", counts(1, 0, 0), &[], TestStatus::Passed),
        ("        1..3\n        ok 1 - noise\nok 1\n1..1\n", counts(1, 0, 0), &[], TestStatus::Passed),
        (DEEP, counts(1, 1, 0), &["a > b > y"], TestStatus::Failed),
        ("1..1\nok 1 - a\n  ---\n    not ok 1 - printed\n  ...\n", counts(1, 0, 0), &[], TestStatus::Passed),
        ("1..1\nhello\n\nok 1\n# bye\n", counts(1, 0, 0), &[], TestStatus::Passed),
    ];
    for (text, counts, failing, status) in cases {
        let run = run(text);
        assert_eq!((run.counts, run.status), (*counts, *status), "{text}");
        assert_eq!(run.failing, *failing, "{text}");
    }
}

#[test]
fn a_plan_is_kept_number_by_number() {
    let cases: [(&str, TestStatus); 25] = [
        ("1..3\nok 3\nok 1\nok 2\n", TestStatus::Passed),
        ("ok 2\nok 1\n1..2\n", TestStatus::Passed),
        ("1..3\nok 1\nok\nok 3\n", TestStatus::Passed),
        ("ok 1 - one\nok 2 - two\nok 2 - /p/empty.test.mjs\n1..3\n", TestStatus::Passed),
        ("1..2\nok 1\nok 1\n", TestStatus::Incomplete),
        ("ok 1\nok 1\n1..2\n", TestStatus::Incomplete),
        ("1..3\nok 1\nok 3\nok 3\n", TestStatus::Incomplete),
        ("1..2\nok 1\nok 3\n", TestStatus::Incomplete),
        ("1..2\nok 0\nok 1\n", TestStatus::Incomplete),
        ("1..1\n    1..2\n    ok 1\n    ok 1\nok 1 - sub\n", TestStatus::Incomplete),
        ("1..2\n1..2\nok 1\nok 2\n", TestStatus::Incomplete),
        ("1..2\nok 1\nok 2\n1..2\n", TestStatus::Incomplete),
        ("1..2\n100..1\nok 1\nok 2\n", TestStatus::Incomplete),
        ("100..1\n1..2\nok 1\nok 2\n", TestStatus::Incomplete),
        ("ok 1\nok 2\n1..2\n2..1\n", TestStatus::Incomplete),
        ("1..1\n    100..1\n    1..1\n    ok 1\nok 1 - sub\n", TestStatus::Incomplete),
        ("1..1\nfrom 100..1 to\nok 1\n", TestStatus::Passed),
        ("TAP version 14\npragma +strict\n1..1\nok 1\n  ---\n  a: b\n  ...\n\n# bye\n", TestStatus::Passed),
        ("TAP version 14\npragma +strict\n1..1\nhello\nok 1\n", TestStatus::Incomplete),
        ("TAP version 14\npragma +strict\n1..1\nok 1\n  indented\n", TestStatus::Incomplete),
        (
            "TAP version 14\npragma +strict\n1..1\n    hello\n    ok 1\n    1..1\nok 1\n",
            TestStatus::Incomplete,
        ),
        ("hello\nTAP version 14\npragma +strict\npragma -strict\n1..1\nhello\nok 1\n", TestStatus::Passed),
        ("1..2\n    pragma +strict\n    ok 1\n    1..1\nok 1 - sub\nhello\nok 2\n", TestStatus::Passed),
        ("1..1\n    ok 1\n    Bail out! no disk\n    1..1\nok 1 - sub\n", TestStatus::RunnerError),
        ("1..1\npragma +strict\nok 1\nhello\n", TestStatus::Incomplete),
    ];
    for (text, status) in cases {
        let run = run(text);
        assert_eq!(run.status, status, "{text} {:?}", run.warnings);
        assert_eq!(run.warnings.is_empty(), status != TestStatus::Incomplete, "{text} {:?}", run.warnings);
    }
}

#[test]
fn words_like_ok_do_not_make_tap() {
    for text in ["", "ok\n", "ok  \tgithub.com/a/b\t0.01s\n", "okay\nnot ok\n", "    1..2\n", "Bail out!\n"] {
        assert!(tally(text).is_none(), "{text}");
    }
}

#[test]
fn errors_come_from_yaml_or_comments_without_times_and_places() {
    let texts = |text: &str| run(text).errors.into_iter().map(|error| error.text).collect::<Vec<_>>();
    assert_eq!(texts(PLAN_FIRST), ["message: 'expected 1'\nseverity: fail"]);
    let node = texts(NODE);
    assert_eq!(node.len(), 1);
    assert!(node[0].contains("1 !== 2") && !node[0].contains("stack"), "{}", node[0]);
    assert!(!node[0].contains("location") && !node[0].contains("duration"), "{}", node[0]);
    let bats =
        "1..2\nnot ok 1 adds\n# (in test file a.bats, line 4)\n#   `[ 1 = 2 ]' failed\nok 2 x\n# other\n";
    assert_eq!(texts(bats), ["(in test file a.bats, line <pos>)\n  `[ 1 = 2 ]' failed"]);
    let unclosed = "1..2\nnot ok 1 a\n  ---\n  m: x\nnot ok 2 b\n";
    assert_eq!(run(unclosed).failing, ["a", "b"]);
}

#[test]
fn a_cut_report_never_passes_as_the_whole() {
    let plan_last = "TAP version 14\nok 1 - a\n# note\nok 2 - b\nok 3 - c\n1..3\n";
    let plan_first = "1..3\nok 1 - a\n    ok 1 - x\n    ok 2 - y\n    1..2\nok 2 - b\nok 3 - c\n";
    for (text, whole) in [(plan_last, 3), (plan_first, 4)] {
        for end in 0..text.len() {
            let Some(tally) = tally(&text[..end]) else { continue };
            let cut = ParsedRun::conclude(tally, ExitKind::Code(0));
            assert!(cut.status != TestStatus::Passed || cut.counts.total == whole, "{:?}", &text[..end]);
        }
    }
    for text in [PLAN_FIRST, NODE] {
        for end in 0..text.len() {
            let cut = tally(&text[..end]).map(|tally| ParsedRun::conclude(tally, ExitKind::Code(0)).status);
            assert_ne!(cut, Some(TestStatus::Passed), "{:?}", &text[..end]);
        }
    }
}

#[test]
fn as_deep_as_the_bound_counts_for_itself() {
    let bound = super::document::MAX_DEPTH;
    for (depth, failed) in [(bound, 1), (bound + 1, 0)] {
        let indent = |level: usize| "    ".repeat(level);
        let begun: String = (0..depth).map(|level| format!("{}ok 1 - a{level}\n", indent(level))).collect();
        let deepest = format!("{0}not ok 1 - b\n{0}1..1\n", indent(depth));
        let close = |level: usize| format!("{0}ok 2 - t{level}\n{0}1..2\n", indent(level));
        let ended: String = (0..depth).rev().map(close).collect();
        assert_eq!(run(&[begun, deepest, ended].concat()).counts.failed, failed, "{depth}");
    }
}

#[test]
fn endless_reports_stay_bounded() {
    let mut reader = TapReader::new(&Root::none(), "out");
    for number in 0..20_000 {
        reader.line(&format!("not ok {number} - t{number}"));
        reader.line("  ---");
        reader.line(&"x".repeat(1000));
    }
    let run = ParsedRun::conclude(reader.finish().expect("TAP"), ExitKind::Code(1));
    assert!(run.truncated);
    assert_eq!(run.counts.failed, 20_000);
}

#[test]
fn subtests_in_braces_come_behind_their_point() {
    let text = "TAP version 13\n1..2\nnot ok 1 - file # time=6.39ms {\n    1..2\n    ok 1 - a\n    not ok 2 - math {\n        1..1\n        not ok 1 - adds\n            ---\n            error:\n                message: \"no\"\n            at: \"/p/a:1\"\n            ...\n    }\n}\nok 2 - parses {\n";
    let whole = run(text);
    assert_eq!((whole.status, whole.counts.total), (TestStatus::Failed, 3), "{:?}", whole.warnings);
    assert_eq!(whole.failing, ["file > math > adds"]);
    assert_eq!(whole.errors[0].text, "error:\n    message: \"no\"");
    for end in (0..text.len()).filter(|end| text[..*end].ends_with('\n')) {
        assert_ne!(run(&text[..end]).status, TestStatus::Passed, "{end}");
    }
    assert_eq!(run("1..2\nnot ok 1 - parses {\nok 2 - b\n").failing, ["parses {"]);
}

#[test]
fn mocha_indents_its_errors() {
    let text = "1..2\nnot ok 1 a\n  expected 1\n  \n  Error: expected 1\n      at f (a.js:1:2)\nok 2 b\n";
    let read = run(text);
    assert_eq!(read.errors[0].text, "expected 1\nError: expected 1");
    assert_eq!(read.counts, counts(1, 1, 0));
    let subtest = run("1..1\nnot ok 1 a\n    ok 1 - b\n    1..1\n");
    assert!(subtest.errors.is_empty());
}

#[test]
fn tests_of_tape_are_named_by_their_comments() {
    let point = "not ok 1 should be equal\n  ---\n    operator: equal\n    expected: 1\n  ...\n";
    let text = format!(
        "TAP version 13\n# one\n{point}# two\nok 2 Error: x\n# three\nnot ok 3 Error: /tmp/x1\n\n1..3\n# tests 3\n"
    );
    let read = run(&text);
    assert_eq!(read.failing, ["one > should be equal", "three > Error"]);
    assert_eq!(read.errors[0].text, "should be equal\n  operator: equal\n  expected: 1");
    assert_eq!(read.errors[1].text, "Error: <tmp>/x1");
}

#[test]
fn what_a_harness_says_of_a_file_is_no_point() {
    let prove = "t/a.t ..\n1..2\nok 1 - a\nok 2 - b\nok\nt/b.t ..\nok 1 - c\n1..1\nok\nt/c.t ..\nok 1 - d\n1..1\nok\n\
                 All tests successful.\nFiles=3, Tests=4\nResult: PASS\n";
    let read = run(prove);
    assert_eq!((read.status, read.counts), (TestStatus::Passed, counts(4, 0, 0)), "{:?}", read.warnings);
    // A point too many stays one.
    for more in [
        "1..1\nok 1 - a\nok - b\n",
        "1..1\nok 1 - a\nok 2\n",
        "1..1\nok\nok\n",
        "1..2\nok 1 - a\nok 2 - b\nok\nok 3\n",
    ] {
        assert_eq!(run(more).status, TestStatus::Incomplete, "{more}");
    }
}
