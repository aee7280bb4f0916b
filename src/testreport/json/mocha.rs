//! The JSON of mocha (`--reporter json`).
//!
//! A hook that fails is listed among the failures and nowhere else; it is an error, not a failed test.

use serde::Deserialize;

use super::super::cases::{Case, Cases, before_frames};
use super::super::problem::ReportProblem;
use super::super::tally::{Outcome, Tally};

/// Name of the format in evidence.
const RUNNER: &str = "mocha-json";

#[derive(Deserialize)]
struct Document {
    stats: Stats,
    #[serde(default)]
    passes: Vec<Test>,
    #[serde(default)]
    pending: Vec<Test>,
    #[serde(default)]
    failures: Vec<Test>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Stats {
    passes: u64,
    pending: u64,
    failures: u64,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Test {
    title: Option<String>,
    full_title: Option<String>,
    file: Option<String>,
    err: Failure,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Failure {
    message: Option<String>,
    stack: Option<String>,
}

/// True when the text has the keys of the format.
pub(super) fn is_ours(text: &str) -> bool {
    ["\"stats\"", "\"passes\"", "\"failures\"", "\"tests\""].iter().all(|key| text.contains(key))
}

/// Reads a document into `tally`.
pub(super) fn read(text: &str, report: &str, tally: &mut Tally) -> Result<(), ReportProblem> {
    let mut cases = Cases::new(tally, report, RUNNER);
    let document: Document = super::document(text)?;
    for (tests, outcome) in [(&document.passes, Outcome::Passed), (&document.pending, Outcome::Skipped)] {
        for test in tests {
            cases.end(&test.case(outcome))?;
        }
    }
    for test in &document.failures {
        cases.end(&test.failure())?;
    }
    let stats = &document.stats;
    let claimed = stats.passes.saturating_add(stats.pending).saturating_add(stats.failures);
    cases.hold_against(claimed, stats.failures);
    Ok(())
}

impl Test {
    fn case(&self, outcome: Outcome) -> Case {
        let title = self.full_title.as_deref().or(self.title.as_deref()).unwrap_or_default();
        let file = self.file.as_deref().unwrap_or_default();
        let id = if file.is_empty() { title.to_owned() } else { format!("{file}::{title}") };
        Case::new(id, outcome)
    }

    /// The message, under the name of its type where the stack says it.
    fn failure(&self) -> Case {
        let hook =
            self.title.as_deref().is_some_and(|title| title.starts_with('"') && title.contains("\" hook"));
        let outcome = if hook { Outcome::Errored } else { Outcome::Failed };
        let (message, stack) = (self.err.message.as_deref(), self.err.stack.as_deref());
        let told = stack.filter(|stack| message.is_none_or(|message| stack.contains(message)));
        self.case(outcome).with_error(before_frames(told.or(message).unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::JsonReader;
    use super::*;
    use crate::domain::tests::{Counts, TestStatus};
    use crate::testreport::normalize::Root;
    use crate::testreport::run::{ExitKind, ParsedRun};

    const FAILING: &str = r#"{
  "stats": { "suites": 1, "tests": 3, "passes": 1, "pending": 1, "failures": 2, "duration": 5 },
  "tests": [
    { "title": "adds", "fullTitle": "math adds", "file": "/p/test/a.js", "err": {} }
  ],
  "pending": [ { "title": "later", "fullTitle": "math later", "file": "/p/test/a.js", "err": {} } ],
  "failures": [
    {
      "title": "subtracts", "fullTitle": "math subtracts", "file": "/p/test/a.js", "currentRetry": 0,
      "err": {
        "message": "expected 1 to equal 2", "actual": "1", "expected": "2",
        "stack": "AssertionError: expected 1 to equal 2\n    at Context.<anonymous> (test/a.js:5:10)\n    at run"
      }
    },
    { "title": "\"before all\" hook for \"x\"", "fullTitle": "db \"before all\" hook for \"x\"", "file": null,
      "err": { "message": "no database" } }
  ],
  "passes": [ { "title": "adds", "fullTitle": "math adds", "file": "/p/test/a.js", "duration": 1, "err": {} } ]
}
"#;

    const PASSING: &str = r#"{
  "stats": { "suites": 1, "tests": 1, "passes": 1, "pending": 0, "failures": 0 },
  "tests": [ { "title": "a", "fullTitle": "s a" } ],
  "pending": [],
  "failures": [],
  "passes": [ { "title": "a", "fullTitle": "s a", "err": {} } ]
}
"#;

    fn tally(text: &str) -> Option<Tally> {
        let mut reader = JsonReader::new(&Root::new("/p"), "out");
        reader.push(text.as_bytes());
        reader.finish()
    }

    fn run(text: &str) -> ParsedRun {
        ParsedRun::conclude(tally(text).expect("mocha"), ExitKind::Code(0))
    }

    #[test]
    fn samples() {
        let one = run(FAILING);
        let counts = Counts { total: 4, passed: 1, failed: 1, errored: 1, skipped: 1 };
        assert_eq!((one.status, one.counts, one.runner.as_str()), (TestStatus::Failed, counts, RUNNER));
        assert_eq!(one.failing, ["db \"before all\" hook for \"x\"", "test/a.js::math subtracts"]);
        let texts: Vec<_> = one.errors.iter().map(|error| error.text.as_str()).collect();
        assert_eq!(texts, ["no database", "AssertionError: expected 1 to equal 2"]);
        assert_eq!(run(PASSING).status, TestStatus::Passed);
        assert_eq!(run(&PASSING.replace("passes\": 1", "passes\": 2")).status, TestStatus::Incomplete);
        assert_eq!(run(&PASSING.replace("failures\": 0", "failures\": 2")).status, TestStatus::Incomplete);
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
