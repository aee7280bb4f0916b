//! OTLP as JSON, as the file format of OpenTelemetry has it: one line of spans, one line of logs. Ids are hashes, so that the
//! same commit is the same span whenever it is exported.
//!
//! The trace event format of Chrome, which Perfetto opens: a track for each node in each worktree, a slice for each commit, the failing tests
//! as a counter, halts and answers as instants.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{Iteration, iterations, plain};
use andon_core::domain::{Ack, AckHow, Level, TestStatus, Timestamp};
use andon_engine::view::{HistoryView, LastHalt};
use andon_engine::{json, text::phrase};

/// `INTERNAL`
const KIND: u64 = 1;
/// `STATUS_CODE_OK` and `STATUS_CODE_ERROR`
const STATUS: [u64; 2] = [1, 2];
/// The numbers of severities.
const INFO: u64 = 9;
const WARN: u64 = 13;
const ERROR: u64 = 17;

/// Two lines: `{"resourceSpans":...}` and `{"resourceLogs":...}`.
pub fn lines(view: &HistoryView) -> String {
    let iterations = iterations(view);
    let spans: Vec<Value> = iterations.iter().map(span).collect();
    let mut logs: Vec<Value> = iterations.iter().flat_map(findings).collect();
    logs.extend(view.halts.iter().flat_map(|last| halt(last, &iterations)));
    let resource = json!({ "attributes": [
        text(SERVICE_NAME, "andon"),
        text(SERVICE_VERSION, env!("CARGO_PKG_VERSION")),
    ] });
    let scope = json!({ "name": "andon", "version": env!("CARGO_PKG_VERSION") });
    let of_spans = json!({ "resourceSpans": [{
        "resource": &resource,
        "schemaUrl": SCHEMA_URL,
        "scopeSpans": [{ "schemaUrl": SCHEMA_URL, "scope": &scope, "spans": spans }],
    }] });
    let of_logs = json!({ "resourceLogs": [{
        "resource": &resource,
        "schemaUrl": SCHEMA_URL,
        "scopeLogs": [{ "logRecords": logs, "schemaUrl": SCHEMA_URL, "scope": &scope }],
    }] });
    format!("{}{}", json::line(&of_spans), json::line(&of_logs))
}

fn span(one: &Iteration<'_>) -> Value {
    let Iteration { commit, record, from, halted } = one;
    let mut attributes = vec![
        text(VCS_REVISION, &commit.commit.to_string()),
        text("andon.node", &record.node),
        number("andon.diff.files", record.diff.files),
        number("andon.diff.added", record.diff.added),
        number("andon.diff.removed", record.diff.removed),
        text("andon.gate", record.gate.as_str()),
    ];
    if let Some(of) = record.number() {
        attributes.insert(2, number("andon.iteration", of));
    }
    attributes.extend(record.session.as_deref().map(|session| text(SESSION_ID, session)));
    // A halted iteration is no success, whatever its tests say.
    let mut fails = halted.is_some();
    attributes.extend(record.worktree.as_deref().map(|worktree| text("andon.worktree", worktree)));
    attributes.extend(halted.map(|rule| text("andon.halted.rule", rule)));
    if let Some(tests) = &record.tests {
        fails |= !tests.is_green();
        attributes.push(text(TEST_RUN_STATUS, run_status(tests.status)));
        attributes.push(text(CICD_RESULT, if fails { "failure" } else { "success" }));
        attributes.push(number("andon.tests.total", tests.total));
        attributes.push(number("andon.tests.failing", tests.counts().failing()));
    } else if fails {
        attributes.push(text(CICD_RESULT, "failure"));
    }
    let red = record.tests.as_ref().filter(|tests| !tests.is_green()).map(|tests| tests.status.as_str());
    attributes.extend(halted.or(red).map(|kind| text(ERROR_TYPE, kind)));
    if let Some(usage) = &record.usage {
        attributes.extend(usage.input_tokens.map(|tokens| number("andon.usage.input_tokens", tokens)));
        attributes.extend(usage.output_tokens.map(|tokens| number("andon.usage.output_tokens", tokens)));
        attributes.extend(usage.cost_usd.as_deref().map(|cost| text("andon.usage.cost_usd", cost)));
    }
    json!({
        "attributes": attributes,
        "endTimeUnixNano": nanos(commit.at),
        "kind": KIND,
        "name": "andon.iteration",
        "spanId": span_id(one),
        "startTimeUnixNano": nanos(*from),
        "status": { "code": STATUS[usize::from(fails)] },
        "traceId": trace_id(one),
    })
}

fn run_status(status: TestStatus) -> &'static str {
    match status {
        TestStatus::Passed => "success",
        TestStatus::Failed | TestStatus::BuildFailed | TestStatus::RunnerError | TestStatus::NoTests => {
            "failure"
        }
        TestStatus::TimedOut => "timed_out",
        TestStatus::Crashed | TestStatus::Incomplete => "aborted",
    }
}

/// The findings that rules warned of, at the span of their commit.
fn findings(one: &Iteration<'_>) -> Vec<Value> {
    let grave = one.record.findings.iter().filter(|finding| finding.level >= Level::Warn);
    let log = grave.map(|finding| {
        let severity = if finding.level >= Level::Block { ERROR } else { WARN };
        let mut log = log("andon.finding", severity, one.commit.at, &finding.message);
        log["attributes"] =
            json!([text("andon.rule", &finding.rule), text(VCS_REVISION, &one.commit.commit.to_string()),]);
        log["spanId"] = json!(span_id(one));
        log["traceId"] = json!(trace_id(one));
        log
    });
    log.collect()
}

fn halt(last: &LastHalt, iterations: &[Iteration<'_>]) -> Vec<Value> {
    let halt = &last.halt;
    let mut attributes = vec![
        text("andon.rule", &halt.rule),
        text("andon.halt.reason", halt.reason.as_str()),
        text("andon.worktree", &halt.worktree),
        number("andon.iteration", halt.iteration),
        text(ERROR_TYPE, &halt.rule),
    ];
    attributes.extend(halt.head.map(|head| text(VCS_REVISION, &head.to_string())));
    attributes.extend(halt.branch.as_deref().map(|branch| text(VCS_REF_NAME, branch)));
    let mut halted = log("andon.loop.halted", ERROR, halt.at, &halt.message);
    halted["attributes"] = json!(attributes);
    if let Some(one) = iterations.iter().find(|one| Some(one.commit.commit) == halt.head) {
        halted["spanId"] = json!(span_id(one));
        halted["traceId"] = json!(trace_id(one));
    }
    let answered = last.ack.as_ref().map(|ack| {
        let mut answered = log("andon.loop.acknowledged", INFO, ack.at, &ack.reason);
        let how = text("andon.answer.how", ack.how.as_str());
        answered["attributes"] =
            json!([how, text("andon.rule", &halt.rule), text("andon.worktree", &halt.worktree)]);
        answered
    });
    std::iter::once(halted).chain(answered).collect()
}

fn log(event: &str, severity: u64, at: Timestamp, message: &str) -> Value {
    json!({
        "body": { "stringValue": plain(message) },
        "eventName": event,
        "observedTimeUnixNano": nanos(at),
        "severityNumber": severity,
        "severityText": match severity { ERROR => "ERROR", WARN => "WARN", _ => "INFO" },
        "timeUnixNano": nanos(at),
    })
}

/// 64-bit numbers are texts in OTLP's JSON.
fn number(key: &str, value: u64) -> Value {
    json!({ "key": key, "value": { "intValue": value.to_string() } })
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": plain(value) } })
}

/// Unsigned there: before 1970 is 1970.
fn nanos(at: Timestamp) -> String {
    u64::try_from(at.0).unwrap_or(0).saturating_mul(1_000_000_000).to_string()
}

/// One trace for each session; commits of no known session share that of their node and worktree.
fn trace_id(one: &Iteration<'_>) -> String {
    let session = one.record.session.as_deref().unwrap_or_default();
    let track = if session.is_empty() { one.track() } else { one.record.node.clone() };
    id(&format!("trace\0{track}\0{session}"), 16)
}

fn span_id(one: &Iteration<'_>) -> String {
    id(&format!("span\0{}", one.commit.commit), 8)
}

/// The first bytes of a hash in hexadecimal.
fn id(of: &str, bytes: usize) -> String {
    Sha256::digest(of).iter().take(bytes).map(|byte| format!("{byte:02x}")).collect()
}

/// The version of the conventions. `session.*` and `vcs.*` may still change there; a change of this number says so.
const SCHEMA_URL: &str = "https://opentelemetry.io/schemas/1.44.0";

/// Stable.
const SERVICE_NAME: &str = "service.name";
/// Stable.
const SERVICE_VERSION: &str = "service.version";
/// Stable: what kind of error ended an operation.
const ERROR_TYPE: &str = "error.type";
/// In development: the session of a client.
const SESSION_ID: &str = "session.id";
/// Release candidate: the commit.
const VCS_REVISION: &str = "vcs.ref.head.revision";
/// Release candidate: the branch.
const VCS_REF_NAME: &str = "vcs.ref.head.name";
/// Release candidate: `success` or `failure`.
const CICD_RESULT: &str = "cicd.pipeline.result";
/// In development: `success`, `failure`, `timed_out` or `aborted`.
const TEST_RUN_STATUS: &str = "test.suite.run.status";

/// The one process of the trace.
const PROCESS: u64 = 1;
/// The track of what concerns the loop as a whole; nodes follow.
const LOOP: u64 = 1;

/// One JSON object.
pub fn chrome_trace(view: &HistoryView) -> String {
    let iterations = iterations(view);
    let mut tracks: BTreeMap<String, u64> = BTreeMap::new();
    let mut events = vec![name("process_name", LOOP, "andon"), name("thread_name", LOOP, "loop")];
    for one in &iterations {
        let next = LOOP + 1 + tracks.len() as u64;
        let track = *tracks.entry(one.track()).or_insert_with_key(|track| {
            events.push(name("thread_name", next, track));
            next
        });
        events.push(slice(one, track));
        events.extend(counter(one));
    }
    events.extend(view.halts.iter().flat_map(instants));
    json::line(&json!({ "displayTimeUnit": "ms", "traceEvents": events }))
}

fn name(kind: &str, track: u64, name: &str) -> Value {
    json!({ "args": { "name": plain(name) }, "name": kind, "ph": "M", "pid": PROCESS, "tid": track })
}

fn micros(at: Timestamp) -> i64 {
    at.0.saturating_mul(1_000_000)
}

fn slice(one: &Iteration<'_>, track: u64) -> Value {
    let Iteration { commit, record, from, halted } = one;
    json!({
        "args": {
            "commit": commit.commit.to_string(),
            "diff": phrase::diff(&record.diff),
            "halted": halted.map(plain),
            "findings": record.findings.iter().map(|finding| plain(&finding.rule)).collect::<Vec<_>>(),
            "iteration": record.number(),
            "session": record.session.as_deref().map(plain),
            "tests": record.tests.as_ref().map(phrase::tests),
        },
        "cat": "commit",
        "dur": micros(commit.at) - micros(*from),
        "name": plain(&commit.subject),
        "ph": "X",
        "pid": PROCESS,
        "tid": track,
        "ts": micros(*from),
    })
}

fn counter(one: &Iteration<'_>) -> Option<Value> {
    let failing = one.record.tests.as_ref()?.counts().failing();
    let (args, ts) = (json!({ "failing": failing }), micros(one.commit.at));
    Some(json!({ "args": args, "name": "failing tests", "ph": "C", "pid": PROCESS, "tid": LOOP, "ts": ts }))
}

fn instants(last: &LastHalt) -> Vec<Value> {
    let instant = |name: String, at, text: &str| {
        let args = json!({ "message": plain(text) });
        json!({ "args": args, "cat": "halt", "name": name, "ph": "i", "pid": PROCESS, "s": "g", "tid": LOOP, "ts": micros(at) })
    };
    let halt = &last.halt;
    let mut found = vec![instant(format!("halted: {}", plain(&halt.rule)), halt.at, &halt.message)];
    let name = |ack: &Ack| {
        if ack.how == AckHow::Unsigned { "an unsigned answer, which ends nothing" } else { "answered" }
    };
    found.extend(last.ack.as_ref().map(|ack| instant(name(ack).to_owned(), ack.at, &ack.reason)));
    found
}

#[cfg(test)]
mod tests {
    use super::super::samples::view;
    use super::*;
    use andon_testkit::samples::HOSTILE;

    fn read(subject: &str) -> (Value, Value) {
        let shown = lines(&view(subject));
        let found: Vec<Value> = shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let [spans, logs] = &found[..] else { panic!("{shown}") };
        (
            spans["resourceSpans"][0]["scopeSpans"][0]["spans"].clone(),
            logs["resourceLogs"][0]["scopeLogs"][0]["logRecords"].clone(),
        )
    }

    #[test]
    fn a_commit_is_a_span_of_its_session() {
        let (spans, _) = read("Fix it");
        let spans = spans.as_array().unwrap();
        assert_eq!(spans.len(), 2);
        assert_eq!(spans[0]["traceId"], spans[1]["traceId"]);
        assert_ne!(spans[0]["spanId"], spans[1]["spanId"]);
        assert_eq!(spans[0]["traceId"].as_str().unwrap().len(), 32);
        assert_eq!(spans[0]["spanId"].as_str().unwrap().len(), 16);
        assert_eq!(spans[1]["startTimeUnixNano"], "1795188660000000000");
        assert_eq!(spans[1]["endTimeUnixNano"], "1795188780000000000");
        assert_eq!((&spans[0]["status"]["code"], &spans[1]["status"]["code"]), (&json!(1), &json!(2)));
        let attributes = spans[1]["attributes"].as_array().unwrap();
        for expected in [
            text("error.type", "oscillation"),
            text("andon.halted.rule", "oscillation"),
            text("session.id", "s-1"),
            text("test.suite.run.status", "failure"),
            number("andon.tests.failing", 2),
        ] {
            assert!(attributes.contains(&expected), "{expected}: {attributes:?}");
        }
    }

    #[test]
    fn findings_halts_and_answers_are_logs() {
        let (spans, logs) = read(HOSTILE);
        let logs = logs.as_array().unwrap();
        let events: Vec<&str> = logs.iter().map(|log| log["eventName"].as_str().unwrap()).collect();
        assert_eq!(
            events,
            ["andon.finding", "andon.finding", "andon.loop.halted", "andon.loop.acknowledged"]
        );
        assert_eq!(logs[0]["spanId"], spans[0]["spanId"]);
        assert_eq!(logs[2]["severityText"], "ERROR");
        assert_eq!(logs[3]["body"]["stringValue"], "fixture repaired");
    }
}

#[cfg(test)]
mod trace_tests {
    use super::super::samples::view;
    use super::*;

    #[test]
    fn nodes_are_tracks_and_commits_slices() {
        let value: Value = serde_json::from_str(&chrome_trace(&view("Fix it"))).unwrap();
        let events = value["traceEvents"].as_array().unwrap();
        let kinds: String = events.iter().map(|event| event["ph"].as_str().unwrap()).collect();
        assert_eq!(kinds, "MMMXCXCii");
        let slice = &events[5];
        assert_eq!((slice["name"].as_str(), slice["dur"].as_i64()), (Some("Fix it"), Some(120_000_000)));
        assert_eq!(events[2]["args"]["name"], "agent");
        assert_eq!(events[2]["tid"], slice["tid"]);
        assert_eq!(events[6]["args"]["failing"], 2);
        assert_eq!(events[7]["name"], "halted: oscillation");
        assert!(events.iter().all(|event| event["ph"] == "M" || event["ts"].as_i64().is_some()));
    }
}
