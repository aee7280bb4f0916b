//! TRX, the report of VSTest (`dotnet test --logger trx`).
//!
//! A result names its test by a display name that may be no more than a method; the class is in the definitions that
//! follow, so failing results wait for them. Results inside a result (data rows) count in its place. A summary that
//! failed while no result did (a crashed test host) means that the run gave up.

use std::collections::BTreeMap;

use super::walk::{Element, Node};
use super::{Dialect, number, value};
use crate::cases::{Case, Cases};
use crate::tally::{Outcome, Trouble, append, append_line};

/// Failing results that wait for the class of their test; those beyond go without.
const MAX_WAITING: usize = 2_000;

/// A result that is open.
struct Open {
    test: String,
    case: Case,
    rows: u64,
    failing_rows: u64,
}

/// The claims of the summary.
#[derive(Default)]
struct Summary {
    outcome: String,
    tests: u64,
    failing: u64,
    text: String,
}

#[derive(Default)]
pub(super) struct TrxReader {
    open: Vec<Open>,
    waiting: Vec<(String, Case)>,
    classes: BTreeMap<String, String>,
    definition: String,
    summary: Option<Summary>,
    rows: u64,
}

impl TrxReader {
    /// A definition of a test, and the method in it, which tells the class.
    fn definition(&mut self, path: &str, element: &Element<'_>) {
        let Some(below) = path.strip_prefix("/TestRun/TestDefinitions/") else { return };
        match below.split_once('/') {
            None => self.definition = value(element, "id"),
            Some((_, "TestMethod")) => {
                if let Some(class) = self.classes.get_mut(&self.definition) {
                    let named = value(element, "className");
                    named.split(',').next().unwrap_or_default().clone_into(class);
                }
            }
            Some(_) => {}
        }
    }

    fn end_result(&mut self, cases: &mut Cases) {
        let Some(result) = self.open.pop() else { return };
        let failing = result.case.outcome.is_failing();
        if let Some(outer) = self.open.last_mut() {
            outer.rows += 1;
            outer.failing_rows += u64::from(failing);
            self.rows += 1;
        }
        let counts = result.rows == 0 || (failing && result.failing_rows == 0);
        if counts && failing && self.waiting.len() < MAX_WAITING {
            self.classes.insert(result.test.clone(), String::new());
            self.waiting.push((result.test, result.case));
        } else if counts {
            cases.end(&result.case);
        }
    }
}

impl Dialect for TrxReader {
    fn node(&mut self, cases: &mut Cases, path: &str, node: Node<'_>) {
        if let Some(below) = below_result(path) {
            match (below, node) {
                ("", Node::Open(element)) => {
                    // One without an outcome, or with one that is not known, could not be carried through.
                    let outcome = Outcome::told("trx", &value(&element, "outcome")).unwrap_or_default();
                    let case = Case::new(value(&element, "testName"), outcome);
                    let test = value(&element, "testId");
                    self.open.push(Open { test, case, rows: 0, failing_rows: 0 });
                }
                ("", Node::Close) => self.end_result(cases),
                ("Output/ErrorInfo/Message", Node::Text(text)) => {
                    if let Some(result) = self.open.last_mut() {
                        append(&mut result.case.error, text);
                    }
                }
                _ => {}
            }
            return;
        }
        match (path, node) {
            ("/TestRun/ResultSummary", Node::Open(element)) => {
                let outcome = value(&element, "outcome");
                self.summary = Some(Summary { outcome, ..Summary::default() });
            }
            ("/TestRun/ResultSummary/Counters", Node::Open(element)) => {
                if let Some(summary) = &mut self.summary {
                    summary.tests = number(&element, "total");
                    let failing = ["failed", "error", "timeout", "aborted"];
                    summary.failing =
                        failing.iter().fold(0, |sum: u64, kind| sum.saturating_add(number(&element, kind)));
                }
            }
            ("/TestRun/ResultSummary/RunInfos/RunInfo/Text", Node::Text(text)) => {
                if let Some(summary) = &mut self.summary {
                    append_line(&mut summary.text, text.trim());
                }
            }
            (path, Node::Open(element)) => self.definition(path, &element),
            _ => {}
        }
    }

    fn end(&mut self, cases: &mut Cases) {
        for (test, mut case) in std::mem::take(&mut self.waiting) {
            let class = self.classes.get(&test).map_or("", String::as_str);
            let base_id = case.id.clone();
            if !class.is_empty() && !case.id.starts_with(class) {
                case.id = format!("{class}.{}", case.id);
            }
            cases.end_as(&case, &base_id);
        }
    }

    fn conclude(&mut self, cases: &mut Cases) {
        let Some(summary) = self.summary.take() else { return cases.cut("no ResultSummary") };
        // Rows count in place of their result, and summaries differ in whether they count them.
        cases.hold_against(if self.rows == 0 { summary.tests } else { 0 }, summary.failing);
        if !matches!(summary.outcome.as_str(), "Completed" | "Passed" | "Warning") {
            cases.tally.trouble(Trouble::GaveUp);
            cases.tally.run_error(&summary.text);
        }
    }
}

/// The path below the innermost result; empty for the result itself.
fn below_result(path: &str) -> Option<&str> {
    let (list, result) = path.rsplit_once("Results/")?;
    let (name, below) = result.split_once('/').unwrap_or((result, ""));
    let is_list =
        list == "/TestRun/" || list.starts_with("/TestRun/Results/") && list.ends_with("Result/Inner");
    (is_list && name.ends_with("Result")).then_some(below)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{counts, no_cut_passes, run, texts};
    use crate::TestStatus;

    const FAILING: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<TestRun id="1f" name="ann@ci" xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010">
  <Results>
    <UnitTestResult executionId="e1" testId="t1" testName="Adds" outcome="Passed" duration="00:00:00.01" />
    <UnitTestResult executionId="e2" testId="t2" testName="Subtracts" outcome="Failed"><Output>
      <StdOut>&lt;Message&gt;</StdOut>
      <ErrorInfo><Message>Assert.AreEqual failed. Expected:&lt;2&gt;. Actual:&lt;1&gt;.</Message>
      <StackTrace>   at Demo.MathTests.Subtracts() in /p/MathTests.cs:line 12</StackTrace></ErrorInfo></Output></UnitTestResult>
    <UnitTestResult executionId="e3" testId="t3" testName="Later" outcome="NotExecuted" />
    <UnitTestResult executionId="e4" testId="t4" testName="Demo.Other.Hangs(1)" outcome="Timeout" />
  </Results>
  <TestDefinitions>
    <UnitTest name="Subtracts" storage="/p/demo.dll" id="t2"><Execution id="e2" />
      <TestMethod codeBase="/p/demo.dll" className="Demo.MathTests, demo, Version=1.0" name="Subtracts" /></UnitTest>
    <UnitTest name="Hangs" id="t4"><TestMethod className="Demo.Other" name="Hangs" /></UnitTest>
  </TestDefinitions>
  <ResultSummary outcome="Failed"><Counters total="4" executed="3" passed="1" failed="1" error="0" timeout="1" aborted="0" /></ResultSummary>
</TestRun>
"#;

    const PASSING: &str = "<TestRun><Results><UnitTestResult testId='1' testName='a' outcome='Passed'/></Results>\
        <ResultSummary outcome='Completed'><Counters total='1' passed='1' failed='0'/></ResultSummary></TestRun>\n";

    const ROWS: &str = "<TestRun><Results><UnitTestResult testId='1' testName='a' outcome='Failed'><InnerResults>\
        <UnitTestResult testId='1' testName='a (1)' outcome='Passed'/><UnitTestResult testId='1' testName='a (2)' outcome='Failed'/>\
        </InnerResults></UnitTestResult></Results><ResultSummary outcome='Failed'><Counters total='3' failed='2'/></ResultSummary></TestRun>";

    #[test]
    fn samples() {
        let one = run(FAILING);
        assert_eq!((one.status, one.counts), (TestStatus::Failed, counts(1, 1, 1, 1)), "{:?}", one.warnings);
        assert_eq!(one.failing, ["Demo.MathTests.Subtracts", "Demo.Other.Hangs(1)"]);
        assert_eq!(
            (texts(&one), one.runner.as_str()),
            (vec!["Assert.AreEqual failed. Expected:<2>. Actual:<1>."], "trx")
        );
        assert_eq!(run(PASSING).status, TestStatus::Passed);
        let rows = run(ROWS);
        assert_eq!(
            (rows.status, rows.counts, rows.failing),
            (TestStatus::Failed, counts(1, 1, 0, 0), vec!["a (2)".to_owned()])
        );
    }

    #[test]
    fn lies_and_gaps() {
        let cases = [
            (PASSING.replace("'Completed'", "'Failed'"), TestStatus::RunnerError),
            (PASSING.replace("total='1'", "total='2'"), TestStatus::Incomplete),
            (PASSING.replace("failed='0'", "failed='1'"), TestStatus::Failed),
            (PASSING.replace("outcome='Passed'", ""), TestStatus::Failed),
            ("<TestRun><Results/></TestRun>".to_owned(), TestStatus::Incomplete),
            ("<TestRun><ResultSummary outcome='Completed'/></TestRun>".to_owned(), TestStatus::NoTests),
        ];
        for (xml, status) in cases {
            assert_eq!(run(&xml).status, status, "{xml}");
        }
        let crashed = PASSING.replace(
            "'Completed'>",
            "'Failed'><RunInfos><RunInfo outcome='Error'><Text>host crashed</Text></RunInfo></RunInfos>",
        );
        assert_eq!(texts(&run(&crashed)), ["host crashed"]);
    }

    #[test]
    fn a_cut_report_never_passes() {
        no_cut_passes(&[FAILING, PASSING, ROWS]);
    }
}
