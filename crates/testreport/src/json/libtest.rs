//! libtest's JSON (`--format json`) and nextest's imitation of it: a suite a binary, a line a test.
//!
//! `exec_time` is absent unless asked for and is not looked at. The line that closes a suite says how many
//! tests there were: it is held against the lines of the tests, and a suite without it is cut short.

use serde::Deserialize;

use super::{EventReader, LineUse};
use crate::cases::{Cases, from_panic};
use crate::{ReportProblem, tally::Outcome};

#[derive(Deserialize, Default)]
#[serde(default)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    #[serde(rename = "event")]
    what: String,
    name: String,
    stdout: Option<String>,
    message: Option<String>,
    test_count: u64,
    passed: u64,
    failed: u64,
    ignored: u64,
    measured: u64,
}

/// Tests of the suites since the last one closed.
#[derive(Default)]
struct SuiteCounts {
    ran: u64,
    failed: u64,
    /// A name as nextest writes it, `package::binary$test`: its suites close and open again.
    of_nextest: bool,
}

/// Reads the events line by line.
#[derive(Default)]
pub(super) struct LibtestJsonReader {
    /// Tests that suites which are open were about to run.
    open: Vec<u64>,
    seen: SuiteCounts,
}

impl LibtestJsonReader {
    const MAX_OPEN: usize = 10_000;

    fn begin(&mut self, said: &mut Cases, event: &Event) {
        if self.open.len() < Self::MAX_OPEN {
            self.open.push(event.test_count);
        } else {
            said.too_many(Self::MAX_OPEN);
        }
    }

    fn test(&mut self, said: &mut Cases, event: &Event, outcome: Outcome) {
        self.seen.ran += u64::from(outcome != Outcome::Skipped);
        if event.name.contains('$') {
            self.seen.of_nextest = true;
        }
        said.tally.case(without_attempt(&event.name), outcome);
        if outcome == Outcome::Failed {
            self.seen.failed += 1;
            let text = event.stdout.as_deref().or(event.message.as_deref()).unwrap_or_default();
            said.tally.fail(without_attempt(&event.name), Some(&first_error(text)));
        }
    }

    /// Ignored tests are left out: nextest closes and reopens a suite whose tests end late, and counts those
    /// that are ignored each time.
    fn close(&mut self, said: &mut Cases, event: &Event) {
        let planned = self.open.pop().unwrap_or(0);
        let claimed = event.passed.saturating_add(event.failed).saturating_add(event.measured);
        let counted = claimed.saturating_add(event.ignored);
        if planned > counted && !self.seen.of_nextest {
            said.problem(&ReportProblem::ResultShort { planned, counted });
        }
        if !self.open.is_empty() {
            return;
        }
        let seen = std::mem::take(&mut self.seen);
        if claimed > seen.ran {
            said.problem(&ReportProblem::PlanMismatch { planned: claimed, came: seen.ran });
        }
        if seen.failed == 0 && (event.what == "failed" || event.failed > 0) {
            said.tally.count(Outcome::Errored);
            said.tally.fail("test run", Some("the suite failed and no test of it did"));
        }
    }
}

impl EventReader for LibtestJsonReader {
    fn line(&mut self, said: &mut Cases, text: &str) -> LineUse {
        let ours = ["\"suite\"", "\"test\"", "\"bench\""].iter().any(|kind| text.contains(kind));
        if !ours || !text.contains("\"type\":") {
            return LineUse::NotMine;
        }
        let Ok(event) = serde_json::from_str::<Event>(text) else {
            return if text.contains("\"event\":") { LineUse::Broken } else { LineUse::NotMine };
        };
        match (event.kind.as_str(), event.what.as_str()) {
            ("suite", "started") => self.begin(said, &event),
            ("suite", "ok" | "failed") => self.close(said, &event),
            ("test", "started" | "timeout") => {}
            ("test", "ok") => self.test(said, &event, Outcome::Passed),
            ("test", "failed") => self.test(said, &event, Outcome::Failed),
            ("test", "ignored") => self.test(said, &event, Outcome::Skipped),
            ("bench", "") if !event.name.is_empty() => self.test(said, &event, Outcome::Passed),
            _ => return LineUse::NotMine,
        }
        said.recognised = true;
        LineUse::Mine
    }

    fn conclude(&mut self, said: &mut Cases) {
        if let Some(planned) = self.open.first() {
            said.problem(&ReportProblem::ResultMissing { planned: *planned });
        } else if self.seen.ran > 0 {
            said.cut("tests without a suite that ends");
        }
    }
}

/// nextest appends `#2` to a test that took two attempts.
fn without_attempt(name: &str) -> &str {
    match name.rsplit_once('#') {
        Some((test, attempt))
            if test.contains('$')
                && !attempt.is_empty()
                && attempt.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            test
        }
        Some(_) | None => name,
    }
}

/// The panic in what a test printed, without advice and backtrace. Without a panic the whole, or, where
/// nextest hands on what libtest printed, the part that libtest had kept.
fn first_error(text: &str) -> String {
    let kept = text.lines().position(|line| line.starts_with("---- ")).map_or(0, |at| at + 1);
    from_panic(text, kept, |_| false)
}

#[cfg(test)]
mod tests {
    use super::super::testkit::{no_cut_passes, run, tally};
    use crate::{Counts, TestStatus};

    const FAILING: &str = r#"   Compiling demo v0.1.0
{ "type": "suite", "event": "started", "test_count": 3 }
{ "type": "test", "event": "started", "name": "tests::a" }
{ "type": "test", "name": "tests::a", "event": "ok" }
{ "type": "test", "event": "started", "name": "tests::b" }
{ "type": "test", "name": "tests::b", "event": "failed", "stdout": "before\n\nthread 'tests::b' (7) panicked at src/lib.rs:3:5:\nno\nnote: run with `RUST_BACKTRACE=1`\n" }
{ "type": "test", "name": "tests::c", "event": "ignored", "message": "slow" }
{ "type": "suite", "event": "failed", "passed": 1, "failed": 1, "ignored": 1, "measured": 0, "filtered_out": 0, "exec_time": 0.001 }
"#;

    const NEXTEST: &str = r#"{"type":"suite","event":"started","test_count":2,"nextest":{"crate":"demo","test_binary":"demo","kind":"lib"}}
{"type":"test","event":"started","name":"demo::demo$tests::a"}
{"type":"test","event":"ok","name":"demo::demo$tests::a","exec_time":0.004}
{"type":"test","event":"started","name":"demo::demo$tests::b"}
{"type":"test","event":"ok","name":"demo::demo$tests::b#2","exec_time":0.004}
{"type":"suite","event":"ok","passed":2,"failed":0,"ignored":0,"measured":0,"filtered_out":0,"exec_time":0.008,"nextest":{"crate":"demo"}}
"#;

    #[test]
    fn samples() {
        let one = run(FAILING);
        let counts = Counts { total: 3, passed: 1, failed: 1, errored: 0, skipped: 1 };
        assert_eq!(
            (one.status, one.counts, one.runner.as_str()),
            (TestStatus::Failed, counts, "libtest-json")
        );
        assert_eq!(one.failing, ["tests::b"]);
        assert_eq!(one.errors[0].text, "thread 'tests::b' panicked at src/lib.rs:<pos>:\nno");
        assert_eq!((run(NEXTEST).status, run(NEXTEST).counts.passed), (TestStatus::Passed, 2));
        let again = NEXTEST.replace("\"ok\",\"name\":\"demo::demo$tests::b#2", "\"failed\",\"name\":\"d$b#2");
        assert_eq!(run(&again).failing, ["d$b"]);
    }

    #[test]
    fn a_suite_that_nextest_closes_and_reopens() {
        let text = r#"{"type":"suite","event":"started","test_count":3}
{"type":"test","event":"ignored","name":"d::d$c"}
{"type":"test","event":"ok","name":"d::d$a"}
{"type":"suite","event":"ok","passed":1,"failed":0,"ignored":1,"measured":0,"filtered_out":0}
{"type":"suite","event":"started","test_count":3}
{"type":"test","event":"failed","name":"d::d$b#2","stdout":"test b - should panic ... FAILED\n\nfailures:\n\n---- b stdout ----\nnote: test did not panic as expected at src/lib.rs:8:28\n\nfailures:\n    b\n\ntest result: FAILED. 0 passed\n"}
{"type":"suite","event":"failed","passed":0,"failed":1,"ignored":1,"measured":0,"filtered_out":2}
"#;
        let run = run(text);
        let counts = Counts { total: 3, passed: 1, failed: 1, errored: 0, skipped: 1 };
        assert_eq!((run.status, run.counts), (TestStatus::Failed, counts), "{:?}", run.warnings);
        assert_eq!(run.errors[0].text, "note: test did not panic as expected at src/lib.rs:<pos>");
    }

    #[test]
    fn lies_and_gaps() {
        let cases = [
            (FAILING.replace("\"failed\", \"stdout\"", "\"ok\", \"stdout\""), TestStatus::Failed),
            (NEXTEST.replace("\"passed\":2", "\"passed\":3"), TestStatus::Incomplete),
            (FAILING.replace("\"test_count\": 3", "\"test_count\": 4"), TestStatus::Incomplete),
            (NEXTEST.replace(",\"exec_time\":0.004}\n", ",\"exec\n"), TestStatus::Incomplete),
            (NEXTEST.lines().take(3).map(|line| format!("{line}\n")).collect(), TestStatus::Incomplete),
        ];
        for (text, status) in cases {
            assert_eq!(run(&text).status, status, "{text}");
        }
        for text in ["{}", "{\"type\":\"test\"}\n", "{\"type\":\"suite\",\"event\":\"gone\"}"] {
            assert!(tally(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_cut_report_never_passes() {
        no_cut_passes(&[FAILING, NEXTEST]);
    }
}
