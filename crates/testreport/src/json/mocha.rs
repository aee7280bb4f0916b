//! The JSON of mocha (`--reporter json`); `mocha_stream` has its events.
//!
//! A hook that fails is listed among the failures and nowhere else; it is an error, not a failed test.

use super::super::cases::{Case, Cases, before_frames, bounded};
use super::super::normalize::Root;
use super::super::problem::ReportProblem;
use super::super::tally::{Outcome, Tally, append};
use super::walk::{Document, FormatMatch, Node};

/// Name of the format in evidence.
pub(super) const RUNNER: &str = "mocha-json";

/// What the document says of the run.
#[derive(Default)]
struct Stats {
    passes: u64,
    pending: u64,
    failures: u64,
}

/// Which parts of a document have come.
#[derive(Default)]
struct Parts {
    stats: bool,
    tests: bool,
    passes: bool,
    failures: bool,
}

/// A test that is open.
#[derive(Default)]
pub(super) struct Test {
    pub(super) title: String,
    pub(super) full_title: String,
    pub(super) file: String,
    pub(super) message: String,
    pub(super) stack: String,
}

/// Reads a document as it comes.
pub(super) struct MochaDocument {
    cases: Cases,
    stats: Stats,
    parts: Parts,
    test: Test,
}

impl MochaDocument {
    pub(super) fn new(root: &Root, report: &str) -> Self {
        let cases = Cases::new(root, report, RUNNER);
        Self { cases, stats: Stats::default(), parts: Parts::default(), test: Test::default() }
    }

    fn word(&mut self, path: &str, word: &str) {
        let number = || word.parse().unwrap_or(0);
        match path {
            ".stats.passes" => self.stats.passes = number(),
            ".stats.pending" => self.stats.pending = number(),
            ".stats.failures" => self.stats.failures = number(),
            _ => {}
        }
    }

    fn text(&mut self, path: &str, text: &str) {
        let Some((list, key)) = path.split_once("[].") else { return };
        if !matches!(list, ".passes" | ".pending" | ".failures") {
            return;
        }
        let into = match key {
            "title" => &mut self.test.title,
            "fullTitle" => &mut self.test.full_title,
            "file" => &mut self.test.file,
            "err.message" => &mut self.test.message,
            "err.stack" => &mut self.test.stack,
            _ => return,
        };
        append(into, text);
    }
}

impl Document for MochaDocument {
    fn node(&mut self, path: &str, node: Node<'_>) -> Result<(), ReportProblem> {
        match (path, node) {
            (".stats", Node::Open) => self.parts.stats = true,
            (".tests", Node::Open) => self.parts.tests = true,
            (".passes", Node::Open) => self.parts.passes = true,
            (".failures", Node::Open) => self.parts.failures = true,
            (".passes[]", Node::Close) => {
                return self.cases.end(&std::mem::take(&mut self.test).case(Outcome::Passed));
            }
            (".pending[]", Node::Close) => {
                return self.cases.end(&std::mem::take(&mut self.test).case(Outcome::Skipped));
            }
            (".failures[]", Node::Close) => return self.cases.end(&std::mem::take(&mut self.test).failure()),
            (_, Node::Text(text)) => self.text(path, text),
            (_, Node::Word(word)) => self.word(path, word),
            (_, Node::Open | Node::Close) => {}
        }
        Ok(())
    }

    fn sure(&self) -> FormatMatch {
        let Parts { stats, tests, passes, failures } = self.parts;
        if stats && tests && passes && failures { FormatMatch::Ours } else { FormatMatch::NotYet }
    }

    fn conclude(&mut self) -> Result<(), ReportProblem> {
        let Stats { passes, pending, failures } = self.stats;
        self.cases.hold_against(passes.saturating_add(pending).saturating_add(failures), failures);
        Ok(())
    }

    fn into_tally(self: Box<Self>) -> Tally {
        self.cases.into_tally()
    }
}

impl Test {
    pub(super) fn case(&self, outcome: Outcome) -> Case {
        let title = bounded(if self.full_title.is_empty() { &self.title } else { &self.full_title });
        let id = if self.file.is_empty() { title.to_owned() } else { [&self.file, "::", title].concat() };
        Case::new(id, outcome)
    }

    /// The message, under the name of its type where the stack says it.
    pub(super) fn failure(&self) -> Case {
        let hook = self.title.starts_with('"') && self.title.contains("\" hook");
        let outcome = if hook { Outcome::Errored } else { Outcome::Failed };
        let stack_repeats = !self.stack.is_empty() && self.stack.contains(&self.message);
        self.case(outcome).with_error(before_frames(if stack_repeats { &self.stack } else { &self.message }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testkit::{run, tally};
    use super::*;
    use crate::run::{ExitKind, ParsedRun};
    use crate::{Counts, TestStatus};

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
