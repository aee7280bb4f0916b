//! The trace event format of Chrome, which Perfetto opens: a track for each node in each worktree, a slice for each commit, the failing tests
//! as a counter, halts and answers as instants.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Iteration, iterations, plain};
use andon_core::domain::facts::{Ack, AckHow};
use andon_core::domain::time::Timestamp;
use andon_engine::view::{history::HistoryView, status::LastHalt};
use andon_engine::{json, text::phrase};

/// The one process of the trace.
const PROCESS: u64 = 1;
/// The track of what concerns the loop as a whole; nodes follow.
const LOOP: u64 = 1;

/// One JSON object.
pub fn document(view: &HistoryView) -> String {
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

    #[test]
    fn nodes_are_tracks_and_commits_slices() {
        let value: Value = serde_json::from_str(&document(&view("Fix it"))).unwrap();
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
