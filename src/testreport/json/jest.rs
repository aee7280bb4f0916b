//! The JSON of jest (`--json`) and of vitest's reporter `json`, which has the same shape.
//!
//! A file that could not be loaded has failed without a failing assertion: an errored entry under its name.
//! A run that says that it did not succeed while nothing failed (vitest's unhandled errors, a coverage
//! threshold) gave up.

use serde::Deserialize;

use super::super::cases::{Case, Cases, before_frames};
use super::super::problem::ReportProblem;
use super::super::tally::{Outcome, Tally, Trouble};

/// Name of the format in evidence.
const RUNNER: &str = "jest-json";

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Document {
    num_total_tests: u64,
    num_failed_tests: u64,
    num_runtime_error_test_suites: u64,
    success: Option<bool>,
    was_interrupted: Option<bool>,
    test_results: Vec<Suite>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Suite {
    name: Option<String>,
    status: Option<String>,
    message: Option<String>,
    assertion_results: Vec<Assertion>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Assertion {
    ancestor_titles: Option<Vec<String>>,
    full_name: Option<String>,
    title: Option<String>,
    status: Option<String>,
    failure_messages: Option<Vec<Option<String>>>,
}

/// True when the text has the keys of the format.
pub(super) fn is_ours(text: &str) -> bool {
    text.contains("\"numTotalTests\"") && text.contains("\"testResults\"")
}

/// Reads a document into `tally`.
pub(super) fn read(text: &str, report: &str, tally: &mut Tally) -> Result<(), ReportProblem> {
    let mut cases = Cases::new(tally, report, RUNNER);
    let document: Document = super::document(text)?;
    for suite in &document.test_results {
        read_suite(suite, &mut cases)?;
    }
    let claimed = document.num_failed_tests.saturating_add(document.num_runtime_error_test_suites);
    cases.hold_against(document.num_total_tests, claimed);
    if document.was_interrupted == Some(true) {
        return Err(ReportProblem::Truncated("the run was interrupted".to_owned()));
    }
    if document.success != Some(true) && cases.failing() == 0 {
        cases.tally().trouble(Trouble::GaveUp);
    }
    Ok(())
}

fn read_suite(suite: &Suite, cases: &mut Cases<'_>) -> Result<(), ReportProblem> {
    let file = suite.name.as_deref().unwrap_or_default();
    let before = cases.failing();
    for assertion in &suite.assertion_results {
        cases.end(&assertion.case(file))?;
    }
    if suite.status.as_deref() == Some("failed") && cases.failing() == before {
        cases.errored(file, before_frames(suite.message.as_deref().unwrap_or_default()));
    }
    Ok(())
}

impl Assertion {
    /// The id is the file and the titles on the way to the test.
    fn case(&self, file: &str) -> Case {
        let title = self.title.as_deref().or(self.full_name.as_deref()).unwrap_or_default();
        let mut path: Vec<&str> = self.ancestor_titles.iter().flatten().map(String::as_str).collect();
        path.push(title);
        path.retain(|part| !part.is_empty());
        let outcome = match self.status.as_deref() {
            Some("passed" | "focused") => Outcome::Passed,
            Some("failed") => Outcome::Failed,
            Some("pending" | "skipped" | "todo" | "disabled") => Outcome::Skipped,
            Some(_) | None => Outcome::Errored,
        };
        let first = self.failure_messages.iter().flatten().flatten().next();
        let error = before_frames(first.map_or("", String::as_str));
        Case::new(format!("{file}::{}", path.join(" > ")), outcome).with_error(error)
    }
}

#[cfg(test)]
mod tests {
    use super::super::JsonReader;
    use super::*;
    use crate::domain::tests::{Counts, TestStatus};
    use crate::testreport::normalize::Root;
    use crate::testreport::run::{ExitKind, ParsedRun};

    const FAILING: &str = r#"{"numFailedTestSuites":2,"numFailedTests":1,"numPassedTests":1,"numPendingTests":1,"numRuntimeErrorTestSuites":1,"numTotalTests":3,"openHandles":[],"success":false,"startTime":1700000000000,"testResults":[{"assertionResults":[{"ancestorTitles":["math","adds"],"duration":3,"failureDetails":[{}],"failureMessages":["Error: \u001b[2mexpect(\u001b[22mreceived).toBe(expected)\n\nExpected: 3\nReceived: 2\n    at Object.<anonymous> (/p/src/math.test.js:5:13)\n    at new Promise (<anonymous>)"],"fullName":"math adds small","location":null,"status":"failed","title":"small"},{"ancestorTitles":[],"failureMessages":[],"fullName":"ok","status":"passed","title":"ok"},{"ancestorTitles":[],"failureMessages":[],"fullName":"later","status":"pending","title":"later"}],"endTime":1,"message":"long text","name":"/p/src/math.test.js","startTime":1,"status":"failed","summary":""},{"assertionResults":[],"coverage":{},"message":"  ● Test suite failed to run\n\n    Cannot find module './gone' from 'src/b.test.js'\n\n      at Resolver.x (node_modules/y.js:1:1)","name":"/p/src/b.test.js","status":"failed","summary":""}],"wasInterrupted":false}"#;

    const PASSING: &str = r#"{
  "numTotalTests": 1,
  "numFailedTests": 0,
  "success": true,
  "testResults": [
    { "name": "/p/a.test.ts", "status": "passed", "message": "", "assertionResults": [
      { "ancestorTitles": [], "fullName": "a", "status": "passed", "title": "a", "failureMessages": [] }
    ] }
  ]
}
"#;

    fn tally(text: &str) -> Option<Tally> {
        let mut reader = JsonReader::new(&Root::new("/p"), "out");
        reader.push(text.as_bytes());
        reader.finish()
    }

    fn run(text: &str) -> ParsedRun {
        ParsedRun::conclude(tally(text).expect("jest"), ExitKind::Code(0))
    }

    #[test]
    fn samples() {
        let one = run(&format!("\n> test\n> jest --json\n\n{FAILING}\n"));
        let counts = Counts { total: 4, passed: 1, failed: 1, errored: 1, skipped: 1 };
        assert_eq!((one.status, one.counts, one.runner.as_str()), (TestStatus::Failed, counts, RUNNER));
        assert_eq!(one.failing, ["src/b.test.js", "src/math.test.js::math > adds > small"]);
        assert!(one.errors[0].text.contains("Cannot find module './gone'"), "{:?}", one.errors);
        assert!(!one.errors[0].text.contains("Resolver"), "{:?}", one.errors);
        assert_eq!(one.errors[1].text, "Error: expect(received).toBe(expected)\nExpected: 3\nReceived: 2");
        let two = run(PASSING);
        assert_eq!((two.status, two.counts.passed), (TestStatus::Passed, 1));
        assert_eq!(run(&format!("{PASSING}noise\n{PASSING}")).counts.passed, 2);
    }

    #[test]
    fn a_run_that_says_it_did_not_succeed_is_no_pass() {
        let cases = [
            (PASSING.replace("true", "false"), TestStatus::RunnerError),
            (PASSING.replace("\"success\": true,", ""), TestStatus::RunnerError),
            (PASSING.replace("Tests\": 0", "Tests\": 1"), TestStatus::Failed),
            (PASSING.replace("Tests\": 1", "Tests\": 2"), TestStatus::Incomplete),
            (PASSING.replace("\"success\"", "\"wasInterrupted\": true, \"success\""), TestStatus::Incomplete),
            (
                PASSING.replace("\"status\": \"passed\", \"title\"", "\"status\": \"x\", \"title\""),
                TestStatus::Failed,
            ),
            (PASSING.replace("[],", "7,"), TestStatus::Incomplete),
        ];
        for (text, status) in cases {
            assert_eq!(run(&text).status, status, "{text}");
        }
    }

    #[test]
    fn a_cut_report_never_passes() {
        for text in [FAILING, PASSING] {
            for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
                let status =
                    tally(&text[..end]).map(|tally| ParsedRun::conclude(tally, ExitKind::Code(0)).status);
                assert!(status != Some(TestStatus::Passed) || end + 1 == text.len(), "{:?}", &text[..end]);
            }
        }
    }
}
