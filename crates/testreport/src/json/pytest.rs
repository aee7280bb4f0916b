//! pytest-reportlog: a line a phase (setup, call, teardown) of each test, between the lines of a session.
//!
//! A failure while a module is collected is an errored entry. A session without its last line is cut short.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{EventReader, LineUse};
use crate::cases::Cases;
use crate::tally::{Outcome, Trouble, append_line};

/// Tests that may be between setup and teardown at one time.
const MAX_OPEN: usize = 100_000;

#[derive(Deserialize, Default)]
#[serde(default)]
struct Entry {
    #[serde(rename = "$report_type")]
    kind: String,
    nodeid: String,
    outcome: String,
    when: Option<String>,
    longrepr: Value,
    exitstatus: Option<i64>,
}

/// Reads the log line by line.
#[derive(Default)]
pub(super) struct PytestReader {
    /// Sessions that have begun and not ended.
    sessions: u64,
    /// Tests before their teardown, with how they ended so far.
    open: BTreeMap<String, Outcome>,
    overflow: bool,
}

impl PytestReader {
    /// 0: all passed; 1: some failed; 5: none were collected; the others are pytest's own failures.
    fn end_session(&mut self, said: &mut Cases, status: i64) {
        self.sessions = self.sessions.saturating_sub(1);
        if status == 5 {
            said.tally.trouble(Trouble::NoTests);
        } else if !matches!(status, 0 | 1) || (status == 1 && !said.tally.has_failures()) {
            said.tally.trouble(Trouble::GaveUp);
        }
    }

    /// The first phase that fails decides; a test that passed its call and fails its teardown is an error.
    fn phase(&mut self, said: &mut Cases, entry: &Entry) {
        let when = entry.when.as_deref().unwrap_or("call");
        let known = self.open.get(&entry.nodeid).copied();
        let now = match (entry.outcome.as_str(), when) {
            ("failed", "call") => Some(Outcome::Failed),
            ("failed", _) => Some(Outcome::Errored),
            ("skipped", _) => Some(Outcome::Skipped),
            ("passed", "call") => Some(Outcome::Passed),
            _ => None,
        };
        let failed = |outcome| matches!(outcome, Some(Outcome::Failed | Outcome::Errored));
        if failed(now) && !failed(known) {
            fail(said, entry, now.unwrap_or(Outcome::Errored));
        }
        let outcome = if failed(known) { known } else { now.or(known) };
        if when == "teardown" {
            self.open.remove(&entry.nodeid);
            if let Some(ended @ (Outcome::Passed | Outcome::Skipped)) = outcome {
                said.tally.case(&entry.nodeid, ended);
            }
        } else if self.open.len() >= MAX_OPEN && known.is_none() {
            self.overflow = true;
        } else if let Some(outcome) = outcome {
            self.open.insert(entry.nodeid.clone(), outcome);
        }
    }
}

impl EventReader for PytestReader {
    fn line(&mut self, said: &mut Cases, text: &str) -> LineUse {
        if !text.contains("\"$report_type\":") {
            return LineUse::NotMine;
        }
        let Ok(entry) = serde_json::from_str::<Entry>(text) else {
            return LineUse::Broken;
        };
        said.recognised = true;
        match entry.kind.as_str() {
            "SessionStart" => self.sessions = self.sessions.saturating_add(1),
            "SessionFinish" => self.end_session(said, entry.exitstatus.unwrap_or(0)),
            "CollectReport" => collected(said, &entry),
            "TestReport" => self.phase(said, &entry),
            _ => {}
        }
        LineUse::Mine
    }

    fn conclude(&mut self, said: &mut Cases) {
        if self.sessions > 0 {
            said.cut("the session has no end");
        } else if let Some((id, _)) = self.open.first_key_value() {
            said.cut(format!("tests without an end: {}, the first is {id:?}", self.open.len()));
        }
        if self.overflow {
            said.too_many(MAX_OPEN);
        }
    }
}

fn collected(said: &mut Cases, entry: &Entry) {
    match entry.outcome.as_str() {
        "failed" => fail(said, entry, Outcome::Errored),
        "skipped" => said.tally.case(&entry.nodeid, Outcome::Skipped),
        _ => {}
    }
}

fn fail(said: &mut Cases, entry: &Entry, outcome: Outcome) {
    said.tally.ended(&entry.nodeid, outcome, &first_error(&entry.longrepr));
}

/// The message of the crash, or of a text the lines that pytest marks with `E`.
fn first_error(longrepr: &Value) -> String {
    if let Some(message) = longrepr.pointer("/reprcrash/message").and_then(Value::as_str) {
        return message.to_owned();
    }
    let text = longrepr.as_str().unwrap_or_default();
    let mut error = String::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("E ")) {
        append_line(&mut error, line.trim_start());
    }
    if error.is_empty() { text.to_owned() } else { error }
}

#[cfg(test)]
mod tests {
    use super::super::testkit::{no_cut_passes, run, tally};
    use crate::run::{ExitKind, ParsedRun};
    use crate::{Counts, TestStatus};

    const FAILING: &str = r#"{"pytest_version": "8.3.0", "$report_type": "SessionStart"}
{"nodeid": "", "outcome": "passed", "longrepr": null, "result": null, "sections": [], "$report_type": "CollectReport"}
{"nodeid": "test_b.py", "outcome": "failed", "longrepr": "ImportError while importing test module '/p/test_b.py'.\nTraceback:\ntest_b.py:1: in <module>\n    import gone\nE   ModuleNotFoundError: No module named 'gone'", "result": null, "sections": [], "$report_type": "CollectReport"}
{"nodeid": "test_a.py::test_ok", "location": ["test_a.py", 0, "test_ok"], "keywords": {}, "outcome": "passed", "longrepr": null, "when": "setup", "$report_type": "TestReport"}
{"nodeid": "test_a.py::test_ok", "outcome": "passed", "longrepr": null, "when": "call", "$report_type": "TestReport"}
{"nodeid": "test_a.py::test_ok", "outcome": "passed", "longrepr": null, "when": "teardown", "$report_type": "TestReport"}
{"nodeid": "test_a.py::test_bad[1-2]", "outcome": "passed", "longrepr": null, "when": "setup", "$report_type": "TestReport"}
{"nodeid": "test_a.py::test_bad[1-2]", "outcome": "failed", "longrepr": {"reprcrash": {"path": "/p/test_a.py", "lineno": 7, "message": "assert 1 == 2"}, "reprtraceback": {}}, "when": "call", "$report_type": "TestReport"}
{"nodeid": "test_a.py::test_bad[1-2]", "outcome": "passed", "longrepr": null, "when": "teardown", "$report_type": "TestReport"}
{"nodeid": "test_a.py::test_down", "outcome": "passed", "longrepr": null, "when": "setup", "$report_type": "TestReport"}
{"nodeid": "test_a.py::test_down", "outcome": "passed", "longrepr": null, "when": "call", "$report_type": "TestReport"}
{"nodeid": "test_a.py::test_down", "outcome": "failed", "longrepr": {"reprcrash": {"message": "ValueError: no"}}, "when": "teardown", "$report_type": "TestReport"}
{"nodeid": "test_a.py::test_later", "outcome": "skipped", "longrepr": ["/p/test_a.py", 9, "Skipped: x"], "when": "setup", "$report_type": "TestReport"}
{"nodeid": "test_a.py::test_later", "outcome": "passed", "longrepr": null, "when": "teardown", "$report_type": "TestReport"}
{"exitstatus": 1, "$report_type": "SessionFinish"}
"#;

    const PASSING: &str = r#"{"pytest_version": "8.3.0", "$report_type": "SessionStart"}
{"nodeid": "a.py::t", "outcome": "passed", "longrepr": null, "when": "setup", "$report_type": "TestReport"}
{"nodeid": "a.py::t", "outcome": "passed", "longrepr": null, "when": "call", "$report_type": "TestReport"}
{"nodeid": "a.py::t", "outcome": "passed", "longrepr": null, "when": "teardown", "$report_type": "TestReport"}
{"exitstatus": 0, "$report_type": "SessionFinish"}
"#;

    #[test]
    fn samples() {
        let one = run(FAILING);
        let counts = Counts { total: 5, passed: 1, failed: 1, errored: 2, skipped: 1 };
        assert_eq!(
            (one.status, one.counts, one.runner.as_str()),
            (TestStatus::Failed, counts, "pytest-reportlog")
        );
        assert_eq!(one.failing, ["test_a.py::test_bad[1-2]", "test_a.py::test_down", "test_b.py"]);
        let texts: Vec<_> = one.errors.iter().map(|error| error.text.as_str()).collect();
        assert_eq!(texts, ["assert 1 == 2", "ValueError: no", "ModuleNotFoundError: No module named 'gone'"]);
        let two = run(PASSING);
        assert_eq!((two.status, two.counts.total), (TestStatus::Passed, 1));
    }

    #[test]
    fn what_pytest_says_at_the_end_counts() {
        let cases = [(0, TestStatus::Passed), (1, TestStatus::RunnerError), (2, TestStatus::RunnerError)];
        for (status, class) in cases {
            let text = PASSING.replace("\"exitstatus\": 0", &format!("\"exitstatus\": {status}"));
            assert_eq!(run(&text).status, class, "{text}");
        }
        let torn = PASSING.replace("\"when\": \"teardown\"", "\"when\": \"tea");
        assert_eq!(run(&torn).status, TestStatus::Incomplete);
        let lost: String =
            PASSING.lines().filter(|line| !line.contains("down")).map(|line| format!("{line}\n")).collect();
        assert_eq!(run(&lost).status, TestStatus::Incomplete);
    }

    #[test]
    fn a_session_without_tests() {
        let start = PASSING.lines().next().unwrap();
        let text = format!("{start}\n{{\"exitstatus\": 5, \"$report_type\": \"SessionFinish\"}}\n");
        let ended = |code| ParsedRun::conclude(tally(&text).expect("reportlog"), ExitKind::Code(code)).status;
        assert_eq!((ended(5), ended(0)), (TestStatus::NoTests, TestStatus::NoTests));
        let strange = PASSING.replace("\"longrepr\": null", "\"longrepr\": NaN");
        assert_eq!(run(&strange).status, TestStatus::Incomplete);
        let half = PASSING.replace("a.py::t", "a.py::\\ud800");
        assert_eq!(run(&half).status, TestStatus::Incomplete);
    }

    #[test]
    fn a_cut_report_never_passes() {
        no_cut_passes(&[FAILING, PASSING]);
    }
}
