use super::*;
use crate::run::{ExitKind, ParsedRun};
use crate::{Root, TestStatus};

/// Output of node 20, shortened.
const FAILING: &str = "✔ passes (0.880285ms)
✖ fails (0.977898ms)
  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:
  
  1 !== 2
  
      at TestContext.<anonymous> (file:///p/a.test.mjs:4:30)

▶ parent
  ✔ child ok (0.118155ms)
  ✖ child bad (0.170994ms)
    Error: boom
    second line
        at TestContext.<anonymous> (file:///p/a.test.mjs:5:107)

✖ parent (9.905336ms)
▶ suite
  ▶ inner
    ✖ deep (0.121691ms)
      TypeError [Error]: deep bad
          at TestContext.<anonymous> (file:///p/a.test.mjs:6:172)

  ✖ inner (0.294847ms)
✖ suite (2.075646ms)
﹣ skipped (0.132236ms) # why
✖ todo fails (0.18907ms) # TODO
  Error: todo

▶ cancelled
  ✖ never awaited (0.548844ms)
    'test did not finish before its parent and was cancelled'

✖ cancelled (0.663764ms)
ℹ tests 10
ℹ suites 2
ℹ pass 2
ℹ fail 5
ℹ cancelled 1
ℹ skipped 1
ℹ todo 1
ℹ duration_ms 1459.346006

✖ failing tests:

test at a.test.mjs:4:1
✖ fails (0.977898ms)
  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:
  
  1 !== 2
  
      at TestContext.<anonymous> (file:///p/a.test.mjs:4:30)

test at a.test.mjs:5:75
✖ child bad (0.170994ms)
  Error: boom
  second line
      at TestContext.<anonymous> (file:///p/a.test.mjs:5:107)

test at a.test.mjs:6:147
✖ deep (0.121691ms)
  TypeError [Error]: deep bad
      at TestContext.<anonymous> (file:///p/a.test.mjs:6:172)

test at a.test.mjs:9:36
✖ never awaited (0.548844ms)
  'test did not finish before its parent and was cancelled'
";

/// Node 18 ends what other tests are in with the mark it began with.
const PASSING: &str = "▶ suite
  ✔ a (0.5ms)
▶ suite (1.5ms)

ℹ tests 1
ℹ suites 1
ℹ pass 1
ℹ fail 0
ℹ cancelled 0
ℹ skipped 0
ℹ todo 0
ℹ duration_ms 45.01
";

fn tally(text: &str) -> Option<crate::tally::Tally> {
    let (mut reader, mut sessions) = (NodeReader::default(), Sessions::new("node", &Root::new("/p")));
    text.lines().for_each(|line| reader.line(&mut sessions, line));
    reader.end(&mut sessions);
    sessions.finish("out")
}

fn run(text: &str) -> ParsedRun {
    ParsedRun::conclude(tally(text).expect("node"), ExitKind::Code(0))
}

#[test]
fn samples() {
    let one = run(FAILING);
    let counts = Counts { total: 10, passed: 2, failed: 5, errored: 1, skipped: 2 };
    assert_eq!((one.status, one.counts, one.runner.as_str()), (TestStatus::Failed, counts, "node"));
    assert_eq!(
        one.failing,
        ["cancelled > never awaited", "fails", "parent > child bad", "suite > inner > deep"]
    );
    let texts: Vec<_> = one.errors.iter().map(|error| error.text.as_str()).collect();
    assert_eq!(texts[2], "Error: boom\nsecond line");
    assert!(texts[1].ends_with("1 !== 2"), "{texts:?}");
    assert_eq!((run(PASSING).status, run(PASSING).counts.total), (TestStatus::Passed, 1));
    let two = run(&format!("{PASSING}{FAILING}"));
    assert_eq!((two.status, two.counts.total), (TestStatus::Failed, 11));
    for text in ["", "✔ a (5ms)\n", "    ✔ slow (120ms)\nℹ info\n", "✔ done\n", "▶ a\n"] {
        assert!(tally(text).is_none(), "{text}");
    }
}

#[test]
fn a_cut_report_never_passes() {
    for text in [FAILING, PASSING] {
        let whole = text.find("ℹ duration_ms").unwrap();
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            let status =
                tally(&text[..end]).map(|tally| ParsedRun::conclude(tally, ExitKind::Code(0)).status);
            assert!(status != Some(TestStatus::Passed) || end > whole, "{:?}", &text[..end]);
        }
    }
}
