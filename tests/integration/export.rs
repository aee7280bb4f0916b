//! `andon export`: records of a real loop in the forms of other tools.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use serde_json::Value;

use crate::{check::halted, support::Stage};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|err| panic!("{err}: {text}"))
}

#[test]
fn a_halted_loop_in_every_form() {
    let stage = halted();
    let csv = stage.andon(&["export", "--csv"]).ok().stdout;
    let lines: Vec<&str> = csv.split_terminator("\r\n").collect();
    assert_eq!(lines.len(), 5, "{csv}");
    assert!(lines[4].ends_with(",repeated-failures,,,,,Try 3"), "{csv}");
    let trace = json(&stage.andon(&["export", "--chrome-trace"]).ok().stdout);
    let events = trace["traceEvents"].as_array().unwrap();
    assert!(events.iter().any(|event| event["name"] == "halted: repeated-failures"), "{trace}");
    stage.andon(&["export", "HEAD~2..HEAD", "--otlp-json", "-o", "otlp.jsonl"]).ok();
    let otlp = stage.read("otlp.jsonl");
    let [spans, logs] = otlp.lines().collect::<Vec<_>>()[..] else { panic!("{otlp}") };
    assert_eq!(json(spans)["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().len(), 2);
    let logs = json(logs)["resourceLogs"][0]["scopeLogs"][0]["logRecords"].clone();
    assert!(logs.as_array().unwrap().iter().any(|log| log["eventName"] == "andon.loop.halted"), "{logs}");
}

#[test]
fn one_form_has_to_be_named() {
    let stage = Stage::installed();
    stage.andon(&["export"]).exits(2);
    stage.andon(&["export", "--csv", "--otlp-json"]).exits(2);
    stage.andon(&["export", "--csv", "nowhere"]).exits(2).says("unknown revision");
}
