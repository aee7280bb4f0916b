//! The JSON of jest (`--json`) and of vitest's reporter `json`, which has the same shape.
//!
//! A file that could not be loaded has failed without a failing assertion: an error of the run, as in the text.
//! A run that says that it did not succeed while nothing failed (vitest's unhandled errors, a coverage
//! threshold) gave up. The name of a file may follow its assertions, so failing ones wait for it.

use std::collections::BTreeMap;

use super::walk::{Document, Node};
use crate::cases::{Cases, before_frames, bounded};
use crate::tally::{Outcome, Trouble, append};
use crate::{MAX_FAILING, test_names::MAX_IDS};

/// Longest path of titles, in bytes, before normalization cuts it.
const MAX_TITLES: usize = 4 * 1024;

/// The document's claims about the run.
#[derive(Default)]
struct Claims {
    total: Option<u64>,
    failed: u64,
    broken_suites: u64,
    success: Option<bool>,
    interrupted: Option<bool>,
}

/// A file that is open.
#[derive(Default)]
struct Suite {
    name: String,
    status: String,
    message: String,
    /// Errors of failing assertions by title: as many as are kept in the end, and one that shows the cut.
    failing: BTreeMap<String, String>,
    /// Titles of all assertions, which the name of the file follows; at most [`MAX_IDS`].
    named: Vec<(String, Outcome)>,
    failed: u64,
}

/// An assertion that is open.
#[derive(Default)]
struct Assertion {
    titles: String,
    full_name: String,
    title: String,
    status: String,
    message: Option<String>,
}

/// Reads a document as it comes.
#[derive(Default)]
pub(super) struct JestDocument {
    claims: Claims,
    results: bool,
    suite: Suite,
    assertion: Assertion,
}

impl JestDocument {
    fn text(&mut self, path: &str, text: &str) {
        let (suite, assertion) = (&mut self.suite, &mut self.assertion);
        let into = match path {
            ".testResults[].name" => &mut suite.name,
            ".testResults[].status" => &mut suite.status,
            ".testResults[].message" => &mut suite.message,
            ".testResults[].assertionResults[].title" => &mut assertion.title,
            ".testResults[].assertionResults[].fullName" => &mut assertion.full_name,
            ".testResults[].assertionResults[].status" => &mut assertion.status,
            ".testResults[].assertionResults[].ancestorTitles[]" => {
                return add_title(&mut assertion.titles, text);
            }
            ".testResults[].assertionResults[].failureMessages[]" if assertion.message.is_none() => {
                assertion.message.insert(String::new())
            }
            _ => return,
        };
        append(into, text);
    }

    fn word(&mut self, path: &str, word: &str) {
        let claims = &mut self.claims;
        // A value that is no whole number of tests claims nothing; the key alone recognises the format.
        let number = || word.parse().unwrap_or(0);
        match path {
            ".numTotalTests" => claims.total = Some(number()),
            ".numFailedTests" => claims.failed = number(),
            ".numRuntimeErrorTestSuites" => claims.broken_suites = number(),
            ".success" => claims.success = Some(word == "true"),
            ".wasInterrupted" => claims.interrupted = Some(word == "true"),
            _ => {}
        }
    }

    fn end_assertion(&mut self, cases: &mut Cases) {
        let Assertion { mut titles, full_name, title, status, message } = std::mem::take(&mut self.assertion);
        add_title(&mut titles, if title.is_empty() { &full_name } else { &title });
        let outcome = Outcome::told("jest-json", &status).unwrap_or_default();
        cases.count(outcome);
        if self.suite.named.len() < MAX_IDS {
            self.suite.named.push((titles.clone(), outcome));
        }
        if outcome.is_failing() {
            self.suite.failed += 1;
            let error = before_frames(message.as_deref().unwrap_or_default()).to_owned();
            let known = self.suite.failing.entry(titles).or_insert_with(|| error.clone());
            if error < *known {
                *known = error;
            }
            if self.suite.failing.len() > MAX_FAILING + 1 {
                self.suite.failing.pop_last();
            }
        }
    }

    fn end_suite(&mut self, cases: &mut Cases) {
        let suite = std::mem::take(&mut self.suite);
        let file = bounded(&suite.name);
        cases.tally.in_file(file);
        for (titles, outcome) in &suite.named {
            cases.identify(&[file, "::", titles].concat(), *outcome);
        }
        for (titles, error) in &suite.failing {
            cases.name(&[file, "::", titles].concat(), error);
        }
        if suite.status == "failed" && suite.failed == 0 {
            let tally = &mut cases.tally;
            tally.trouble(Trouble::GaveUp);
            tally.run_error(&format!("{file}: {}", without_excerpt(&suite.message).trim_start()));
        }
    }
}

impl Document for JestDocument {
    fn node(&mut self, cases: &mut Cases, path: &str, node: Node<'_>) {
        match (path, node) {
            (".testResults", Node::Open) => self.results = true,
            (".testResults[].assertionResults[]", Node::Close) => self.end_assertion(cases),
            (".testResults[]", Node::Close) => self.end_suite(cases),
            (_, Node::Text(text)) => self.text(path, text),
            (_, Node::Word(word)) => self.word(path, word),
            (_, Node::Open | Node::Close) => {}
        }
    }

    fn end(&mut self, cases: &mut Cases) {
        self.end_suite(cases);
    }

    fn is_sure(&self) -> bool {
        self.results && self.claims.total.is_some()
    }

    fn conclude(&mut self, cases: &mut Cases) {
        let claims = std::mem::take(&mut self.claims);
        cases.hold_against(claims.total.unwrap_or(0), claims.failed);
        if claims.broken_suites > 0 {
            cases.tally.trouble(Trouble::GaveUp);
        }
        if claims.interrupted == Some(true) {
            cases.cut("the run was interrupted");
        } else if claims.success != Some(true) && cases.failing == 0 {
            cases.tally.trouble(Trouble::GaveUp);
        }
    }
}

/// The titles on the way to a test, joined by ` > `.
fn add_title(titles: &mut String, title: &str) {
    if !title.is_empty() && titles.len() < MAX_TITLES {
        if !titles.is_empty() {
            titles.push_str(" > ");
        }
        titles.push_str(bounded(title));
    }
}

/// The message up to its stack, without the lines of code that jest quotes (`> 1 | code`, `    | ^`): an edit of the
/// lines around the fault moves them.
fn without_excerpt(message: &str) -> String {
    let quoted = |line: &&str| {
        let number = |each: char| each.is_ascii_digit() || matches!(each, ' ' | '>');
        line.trim_start_matches(number).starts_with('|')
    };
    let lines: Vec<&str> = before_frames(message).lines().filter(|line| !quoted(line)).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::super::testkit::{no_cut_passes, run};
    use crate::{Counts, TestStatus};

    const FAILING: &str = r#"{"numFailedTestSuites":2,"numFailedTests":1,"numPassedTests":1,"numPendingTests":1,"numRuntimeErrorTestSuites":1,"numTotalTests":3,"openHandles":[],"success":false,"startTime":1700000000000,"testResults":[{"assertionResults":[{"ancestorTitles":["math","adds"],"duration":3,"failureDetails":[{}],"failureMessages":["Error: \u001b[2mexpect(\u001b[22mreceived).toBe(expected)\n\nExpected: 3\nReceived: 2\n    at Object.<anonymous> (/p/src/math.test.js:5:13)\n    at new Promise (<anonymous>)"],"fullName":"math adds small","location":null,"status":"failed","title":"small"},{"ancestorTitles":[],"failureMessages":[],"fullName":"ok","status":"passed","title":"ok"},{"ancestorTitles":[],"failureMessages":[],"fullName":"later","status":"pending","title":"later"}],"endTime":1,"message":"long text","name":"/p/src/math.test.js","startTime":1,"status":"failed","summary":""},{"assertionResults":[],"coverage":{},"message":"  ● Test suite failed to run\n\n    Cannot find module './gone' from 'src/b.test.js'\n\n    > 1 | require('./gone')\n        | ^\n      2 |\n\n      at Resolver.x (node_modules/y.js:1:1)","name":"/p/src/b.test.js","status":"failed","summary":""}],"wasInterrupted":false}"#;

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

    #[test]
    fn samples() {
        let one = run(&format!("\n> test\n> jest --json\n\n{FAILING}\n"));
        let counts = Counts { total: 3, passed: 1, failed: 1, errored: 0, skipped: 1 };
        assert_eq!((one.status, one.counts, one.runner.as_str()), (TestStatus::Failed, counts, "jest-json"));
        assert_eq!(one.failing, ["src/math.test.js::math > adds > small"]);
        assert!(one.errors[0].text.contains("Cannot find module './gone'"), "{:?}", one.errors);
        assert!(
            !one.errors[0].text.contains("Resolver") && !one.errors[0].text.contains('|'),
            "{:?}",
            one.errors
        );
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
            (PASSING.replace("[],", "NaN,"), TestStatus::Incomplete),
            (PASSING.replace("\"title\": \"a\"", "\"title\": \"\\ud800\""), TestStatus::Incomplete),
        ];
        for (text, status) in cases {
            assert_eq!(run(&text).status, status, "{text}");
        }
    }

    #[test]
    fn a_cut_report_never_passes() {
        no_cut_passes(&[FAILING, PASSING]);
    }
}
