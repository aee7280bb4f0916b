//! The events of mocha (`--reporter json-stream`): `["pass",{...}]`, an event a line.
//!
//! Pending tests have no event of their own; the last line counts them. A run without a last line is cut short.

use serde_json::Value;

use super::super::cases::Cases;
use super::super::normalize::Root;
use super::super::problem::ReportProblem;
use super::super::tally::{Outcome, Tally, append};
use super::LineUse;
use super::mocha::{RUNNER, Test};
use crate::Counts;

/// Reads the events line by line.
pub(super) struct MochaStreamReader {
    cases: Cases,
    report: String,
    recognised: bool,
    /// Tests and failures since the run began; `None` when its end has come.
    open: Option<[u64; 2]>,
    problem: Option<ReportProblem>,
}

impl MochaStreamReader {
    pub(super) fn new(root: &Root, report: &str) -> Self {
        let cases = Cases::new(root, report, RUNNER);
        Self { cases, report: report.to_owned(), recognised: false, open: None, problem: None }
    }

    pub(super) fn line(&mut self, line: &str) -> LineUse {
        let event = ["start", "pass", "fail", "end"].into_iter().find(|event| {
            line.get(1..)
                .and_then(|rest| rest.strip_prefix('"')?.strip_prefix(event)?.strip_prefix("\",{"))
                .is_some()
        });
        let Some(event) = event else { return LineUse::NotMine };
        let Ok((_, data)) = serde_json::from_str::<(Value, Value)>(line) else {
            return if self.recognised { LineUse::Broken } else { LineUse::NotMine };
        };
        // Other programs that print such lines use other keys.
        let key = match event {
            "start" => "total",
            "end" => "passes",
            _ => "fullTitle",
        };
        if data.get(key).is_none() {
            return LineUse::NotMine;
        }
        self.recognised = true;
        let read = match event {
            "start" => self.begin(),
            "end" => self.end(&data),
            _ => self.test(event == "fail", &data),
        };
        if let Err(problem) = read {
            self.problem.get_or_insert(problem);
        }
        LineUse::Mine
    }

    fn begin(&mut self) -> Result<(), ReportProblem> {
        self.open.replace([0; 2]).map_or(Ok(()), |_| Err(no_end()))
    }

    fn test(&mut self, failed: bool, data: &Value) -> Result<(), ReportProblem> {
        let [tests, failures] = self.open.get_or_insert_default();
        *tests += 1;
        *failures += u64::from(failed);
        let test = test(data);
        self.cases.end(&if failed { test.failure() } else { test.case(Outcome::Passed) })
    }

    fn end(&mut self, data: &Value) -> Result<(), ReportProblem> {
        let number = |key: &str| data.get(key).and_then(Value::as_u64).unwrap_or(0);
        let [tests, failures] = self.open.take().unwrap_or_default();
        self.cases.tally().add_counts(Counts { skipped: number("pending"), ..Counts::default() });
        let planned = number("passes").saturating_add(number("failures"));
        if planned > tests || number("failures") > failures {
            return Err(ReportProblem::PlanMismatch { planned, came: tests });
        }
        Ok(())
    }

    /// What was read; `None` when nothing of it was mocha's.
    pub(super) fn finish(mut self) -> Option<Tally> {
        if !self.recognised {
            return None;
        }
        let cut = self.open.map(|_| no_end());
        for problem in self.problem.take().into_iter().chain(cut) {
            self.cases.tally().problem(&self.report, &problem);
        }
        Some(self.cases.into_tally())
    }
}

fn no_end() -> ReportProblem {
    ReportProblem::Truncated("no end of the run".to_owned())
}

fn test(data: &Value) -> Test {
    let text = |key: &str| {
        let mut text = String::new();
        append(&mut text, data.get(key).and_then(Value::as_str).unwrap_or_default());
        text
    };
    let [title, full_title, file] = ["title", "fullTitle", "file"].map(text);
    Test { title, full_title, file, message: text("err"), stack: text("stack") }
}

#[cfg(test)]
mod tests {
    use super::super::testkit::{run, tally};
    use super::*;
    use crate::TestStatus;
    use crate::run::{ExitKind, ParsedRun};

    const FAILING: &str = r#"["start",{"total":4}]
a line of the program
["pass",{"title":"adds","fullTitle":"math adds","file":"/p/test/a.js","duration":1,"currentRetry":0,"speed":"fast"}]
["fail",{"title":"subtracts","fullTitle":"math subtracts","file":"/p/test/a.js","duration":2,"currentRetry":0,"err":"expected 1 to equal 2","stack":"AssertionError: expected 1 to equal 2\n    at Context.<anonymous> (test/a.js:5:10)"}]
["fail",{"title":"\"before all\" hook for \"x\"","fullTitle":"db \"before all\" hook for \"x\"","file":null,"currentRetry":0,"err":"no database","stack":null}]
["end",{"suites":2,"tests":3,"passes":1,"pending":1,"failures":2,"start":"2026-11-20T10:00:00.000Z","end":"2026-11-20T10:00:00.005Z","duration":5}]
"#;

    const PASSING: &str = r#"["start",{"total":1}]
["pass",{"title":"a","fullTitle":"s a"}]
["end",{"suites":1,"tests":1,"passes":1,"pending":0,"failures":0}]
"#;

    #[test]
    fn samples() {
        let one = run(FAILING);
        let counts = Counts { total: 4, passed: 1, failed: 1, errored: 1, skipped: 1 };
        assert_eq!((one.status, one.counts, one.runner.as_str()), (TestStatus::Failed, counts, RUNNER));
        assert_eq!(one.failing, ["db \"before all\" hook for \"x\"", "test/a.js::math subtracts"]);
        let texts: Vec<_> = one.errors.iter().map(|error| error.text.as_str()).collect();
        assert_eq!(texts, ["no database", "AssertionError: expected 1 to equal 2"]);
        assert_eq!(run(&[PASSING, PASSING].concat()).counts.passed, 2);
        for (text, status) in [
            (PASSING.to_owned(), TestStatus::Passed),
            (PASSING.replace("passes\":1", "passes\":2"), TestStatus::Incomplete),
            (PASSING.replace("failures\":0", "failures\":1"), TestStatus::Incomplete),
            ([PASSING.lines().next().unwrap_or_default(), "\n", PASSING].concat(), TestStatus::Incomplete),
            (PASSING.replace("s a\"}]", "s a\""), TestStatus::Incomplete),
        ] {
            assert_eq!(run(&text).status, status, "{text}");
        }
    }

    #[test]
    fn what_is_not_mocha_is_left_alone() {
        for text in [
            "[\"pass\",{}]\n",
            "[\"pass\",{\"a\":1}]\n",
            "[1,2]\n",
            "[\"start\",{\"fullTitle\":1}]\n",
            "[info] x\n",
        ] {
            assert!(tally(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_cut_report_never_passes() {
        for text in [FAILING, PASSING] {
            for end in 0..text.len() {
                let status =
                    tally(&text[..end]).map(|tally| ParsedRun::conclude(tally, ExitKind::Code(0)).status);
                assert!(status != Some(TestStatus::Passed) || end + 1 == text.len(), "{:?}", &text[..end]);
            }
        }
    }
}
