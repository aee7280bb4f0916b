//! The machine JSON of `dart test` and `flutter test --machine`: events with the ids of suites and tests.
//!
//! A file that does not load is a test of its own that is not hidden and ends in an error. The event `done`
//! closes the run.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{EventReader, LineUse};
use crate::cases::{Cases, bounded};
use crate::tally::{Outcome, Trouble, append};

/// Suites, and tests that may be open at one time.
const MAX_OPEN: usize = 100_000;

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    suite: Option<Suite>,
    test: Option<Start>,
    #[serde(rename = "testID")]
    test_id: Option<u64>,
    result: Option<String>,
    skipped: Option<bool>,
    hidden: Option<bool>,
    error: Option<String>,
    success: Option<bool>,
}

#[derive(Deserialize)]
struct Suite {
    id: u64,
    path: Option<String>,
}

#[derive(Deserialize)]
struct Start {
    id: u64,
    name: String,
    #[serde(rename = "suiteID")]
    suite_id: Option<u64>,
}

struct Test {
    id: String,
    error: String,
}

/// Reads the events line by line.
#[derive(Default)]
pub(super) struct DartReader {
    suites: BTreeMap<u64, String>,
    open: BTreeMap<u64, Test>,
    /// Runs that have begun and not ended.
    runs: u64,
}

impl DartReader {
    fn suite(&mut self, suite: Option<Suite>) {
        if let Some(Suite { id, path: Some(path) }) = suite.filter(|_| self.suites.len() < MAX_OPEN) {
            self.suites.insert(id, bounded(&path).to_owned());
        }
    }

    fn begin(&mut self, said: &mut Cases, test: Option<Start>) {
        let Some(test) = test else { return };
        if self.open.len() >= MAX_OPEN {
            return said.too_many(MAX_OPEN);
        }
        let suite = test.suite_id.and_then(|id| self.suites.get(&id)).map_or("", String::as_str);
        let name = bounded(&test.name);
        let id = if suite.is_empty() { name.to_owned() } else { format!("{suite}::{name}") };
        self.open.insert(test.id, Test { id, error: String::new() });
    }

    /// The first error of a test is its error.
    fn error(&mut self, event: &Event) {
        let test = event.test_id.and_then(|id| self.open.get_mut(&id));
        if let (Some(test), Some(error)) = (test, &event.error)
            && test.error.is_empty()
        {
            append(&mut test.error, error);
        }
    }

    fn end(&mut self, said: &mut Cases, event: &Event) {
        let Some(test) = event.test_id.and_then(|id| self.open.remove(&id)) else {
            return said.cut("a test ends that never began");
        };
        let outcome = match event.result.as_deref() {
            Some("success") if event.hidden == Some(true) => return,
            Some("success") if event.skipped == Some(true) => Outcome::Skipped,
            Some("success") => Outcome::Passed,
            Some("failure") => Outcome::Failed,
            Some(_) | None => Outcome::Errored,
        };
        said.tally.ended(&test.id, outcome, &test.error);
    }

    fn done(&mut self, said: &mut Cases, event: &Event) {
        self.runs = self.runs.saturating_sub(1);
        match event.success {
            Some(true) => {}
            Some(false) if said.tally.has_failures() => {}
            Some(false) => said.tally.trouble(Trouble::GaveUp),
            None => said.cut("the run was interrupted"),
        }
    }
}

impl EventReader for DartReader {
    fn line(&mut self, said: &mut Cases, text: &str) -> LineUse {
        if !text.contains("\"type\":") || !text.contains("\"time\":") {
            return LineUse::NotMine;
        }
        let begins = text.contains("\"protocolVersion\":");
        if !said.recognised && !begins {
            return LineUse::NotMine;
        }
        let Ok(event) = serde_json::from_str::<Event>(text) else {
            return LineUse::Broken;
        };
        match event.kind.as_str() {
            "start" if begins => {
                said.recognised = true;
                self.runs = self.runs.saturating_add(1);
                self.suites.clear();
            }
            "suite" => self.suite(event.suite),
            "testStart" => self.begin(said, event.test),
            "error" => self.error(&event),
            "testDone" => self.end(said, &event),
            "done" => self.done(said, &event),
            _ => {}
        }
        LineUse::Mine
    }

    fn conclude(&mut self, said: &mut Cases) {
        if self.runs > 0 {
            said.cut("the run has no end");
        } else if let Some((_, test)) = self.open.first_key_value() {
            said.cut(format!("{:?} has no end", test.id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testkit::{no_cut_passes, run};
    use crate::{Counts, TestStatus};

    const FAILING: &str = r#"{"protocolVersion":"0.1.1","runnerVersion":"1.24.3","pid":123,"type":"start","time":0}
{"suite":{"id":0,"platform":"vm","path":"/p/test/a_test.dart"},"type":"suite","time":0}
{"test":{"id":1,"name":"loading /p/test/a_test.dart","suiteID":0,"groupIDs":[],"line":null},"type":"testStart","time":1}
{"testID":1,"result":"success","skipped":false,"hidden":true,"type":"testDone","time":900}
{"test":{"id":2,"name":"math adds","suiteID":0,"groupIDs":[3],"line":5},"type":"testStart","time":901}
{"testID":2,"error":"Expected: <2>\n  Actual: <1>\n","stackTrace":"test/a_test.dart 6:5 main","isFailure":true,"type":"error","time":905}
{"testID":2,"result":"failure","skipped":false,"hidden":false,"type":"testDone","time":906}
{"test":{"id":4,"name":"later","suiteID":0},"type":"testStart","time":907}
{"testID":4,"result":"success","skipped":true,"hidden":false,"type":"testDone","time":908}
{"suite":{"id":5,"platform":"vm","path":"/p/test/b_test.dart"},"type":"suite","time":0}
{"test":{"id":6,"name":"loading /p/test/b_test.dart","suiteID":5},"type":"testStart","time":910}
{"testID":6,"error":"Failed to load","isFailure":false,"type":"error","time":911}
{"testID":6,"result":"error","skipped":false,"hidden":false,"type":"testDone","time":912}
{"success":false,"type":"done","time":1000}
"#;

    const PASSING: &str = r#"{"protocolVersion":"0.1.1","type":"start","time":0}
[{"event":"test.startedProcess"}]
{"test":{"id":1,"name":"a"},"type":"testStart","time":1}
{"testID":1,"result":"success","skipped":false,"hidden":false,"type":"testDone","time":2}
{"success":true,"type":"done","time":3}
"#;

    #[test]
    fn samples() {
        let one = run(FAILING);
        let counts = Counts { total: 3, passed: 0, failed: 1, errored: 1, skipped: 1 };
        assert_eq!((one.status, one.counts, one.runner.as_str()), (TestStatus::Failed, counts, "dart-json"));
        assert_eq!(
            one.failing,
            ["test/a_test.dart::math adds", "test/b_test.dart::loading test/b_test.dart"]
        );
        assert_eq!(one.errors[0].text, "Expected: <2>\n  Actual: <1>");
        assert_eq!(run(PASSING).status, TestStatus::Passed);
        assert_eq!(
            run(&PASSING.replace("\"success\":true", "\"success\":false")).status,
            TestStatus::RunnerError
        );
        assert_eq!(
            run(&PASSING.replace("\"success\":true", "\"success\":null")).status,
            TestStatus::Incomplete
        );
        assert_eq!(run(&PASSING.replace("\"hidden\":false", "\"hidden")).status, TestStatus::Incomplete);
    }

    #[test]
    fn a_cut_report_never_passes() {
        no_cut_passes(&[FAILING, PASSING]);
    }
}
