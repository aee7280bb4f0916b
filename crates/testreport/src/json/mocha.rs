//! The JSON of mocha (`--reporter json`); `mocha_stream` has its events.
//!
//! A hook that fails is listed among the failures and nowhere else; it is an error, not a failed test.

use std::collections::BTreeSet;

use serde_json::Value;

use super::walk::{Document, Node};
use super::{EventReader, LineUse};
use crate::cases::{Case, Cases, before_frames, bounded};
use crate::tally::{Outcome, append};
use crate::{Counts, ReportProblem};

/// Name of the format in evidence.
pub(super) const RUNNER: &str = "mocha-json";

/// The document's claims about the run.
#[derive(Default)]
struct Stats {
    passes: u64,
    pending: u64,
    failures: u64,
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
#[derive(Default)]
pub(super) struct MochaDocument {
    stats: Stats,
    /// The parts of the document that have come, of the four that tell it.
    parts: BTreeSet<String>,
    test: Test,
}

impl MochaDocument {
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
    fn node(&mut self, cases: &mut Cases, path: &str, node: Node<'_>) {
        match (path, node) {
            (".stats" | ".tests" | ".passes" | ".failures", Node::Open) => {
                self.parts.insert(path.to_owned());
            }
            (".passes[]", Node::Close) => cases.end(&std::mem::take(&mut self.test).case(Outcome::Passed)),
            (".pending[]", Node::Close) => cases.end(&std::mem::take(&mut self.test).case(Outcome::Skipped)),
            (".failures[]", Node::Close) => cases.end(&std::mem::take(&mut self.test).failure()),
            (_, Node::Text(text)) => self.text(path, text),
            (_, Node::Word(word)) => self.word(path, word),
            (_, Node::Open | Node::Close) => {}
        }
    }

    fn is_sure(&self) -> bool {
        self.parts.len() == 4
    }

    fn conclude(&mut self, cases: &mut Cases) {
        let Stats { passes, pending, failures } = self.stats;
        cases.hold_against(passes.saturating_add(pending).saturating_add(failures), failures);
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

/// Reads the events line by line.
#[derive(Default)]
pub(super) struct MochaStreamReader {
    /// Tests and failures since the run began; `None` when its end has come.
    open: Option<[u64; 2]>,
}

impl EventReader for MochaStreamReader {
    fn line(&mut self, said: &mut Cases, line: &str) -> LineUse {
        let event = ["start", "pass", "fail", "end"].into_iter().find(|event| {
            line.get(1..)
                .and_then(|rest| rest.strip_prefix('"')?.strip_prefix(event)?.strip_prefix("\",{"))
                .is_some()
        });
        let Some(event) = event else { return LineUse::NotMine };
        let Ok((_, data)) = serde_json::from_str::<(Value, Value)>(line) else {
            return if said.recognised { LineUse::Broken } else { LineUse::NotMine };
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
        said.recognised = true;
        match event {
            "start" if self.open.replace([0; 2]).is_some() => first_problem(said, &no_end()),
            "start" => {}
            "end" => self.end(said, &data),
            "fail" => self.test(said, Outcome::Failed, &data),
            _ => self.test(said, Outcome::Passed, &data),
        }
        LineUse::Mine
    }

    fn conclude(&mut self, said: &mut Cases) {
        if self.open.is_some() {
            said.problem(&no_end());
        }
    }
}

impl MochaStreamReader {
    fn test(&mut self, said: &mut Cases, outcome: Outcome, data: &Value) {
        let [tests, failures] = self.open.get_or_insert_default();
        *tests += 1;
        *failures += u64::from(outcome.is_failing());
        let test = test(data);
        said.end(&if outcome.is_failing() { test.failure() } else { test.case(outcome) });
    }

    fn end(&mut self, said: &mut Cases, data: &Value) {
        let number = |key: &str| data.get(key).and_then(Value::as_u64).unwrap_or(0);
        let [tests, failures] = self.open.take().unwrap_or_default();
        said.tally.add_counts(Counts { skipped: number("pending"), ..Counts::default() });
        let planned = number("passes").saturating_add(number("failures"));
        if planned > tests || number("failures") > failures {
            first_problem(said, &ReportProblem::PlanMismatch { planned, came: tests });
        }
    }
}

/// Notes a problem of the run, of several the first.
fn first_problem(said: &mut Cases, problem: &ReportProblem) {
    if !said.has_problems() {
        said.problem(problem);
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
    use super::super::testkit::{no_cut_passes, run};
    use super::*;
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
        no_cut_passes(&[FAILING, PASSING]);
    }
}

#[cfg(test)]
mod stream_tests {
    use super::super::testkit::{no_cut_passes, run, tally};
    use super::*;
    use crate::TestStatus;

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
        no_cut_passes(&[FAILING, PASSING]);
    }
}
