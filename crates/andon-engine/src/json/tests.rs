//! Tests of the JSON that programs read.

use super::*;
use andon_core::domain::{Diagnostic, Level, Verdict};
use andon_testkit::samples::{self, value_of};

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn loop_halted_has_the_keys_programs_rely_on() {
    let value = value_of(&samples::halt());
    assert_eq!(
        keys(&value),
        [
            "at",
            "branch",
            "cycle_id",
            "evidence",
            "file",
            "halt_reason",
            "head",
            "iteration",
            "message",
            "rule",
            "suggested_actions",
            "type",
            "worktree"
        ]
    );
    assert_eq!(keys(&value["evidence"]), ["diffs", "outputs", "tests", "trend"]);
    assert_eq!(value["halt_reason"], "oscillating");
    assert_eq!(value["evidence"]["trend"], json!([7, 4, 2]));
    assert_eq!(value["suggested_actions"][1], json!({ "code": "narrow_task", "text": "narrow the task" }));
    assert_eq!(value_of(&samples::standing())["id"], "09".repeat(32));
}

#[test]
fn a_decision_carries_its_findings() {
    let mut value = samples::decision(Verdict::Block);
    value.findings = vec![samples::finding("untested-edit", Level::Block)];
    assert_eq!(
        value_of(&value),
        json!({
            "decision": "block", "reason": null, "standing": null, "halted": null,
            "findings": [{
                "rule": "untested-edit", "level": "block", "message": "it happened", "reason": "oscillating",
                "evidence": ["commit 1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a", "path src/a.rs"],
                "help": ["andon test"],
            }],
        })
    );
}

#[test]
fn a_record_has_the_keys_of_its_wire_form() {
    let value = Value::Object(record::record(&samples::record()));
    for key in
        "recorded_at tree parent prev kind gate node session iteration code diff tests outputs usage findings"
            .split(' ')
    {
        assert!(value.get(key).is_some(), "{key}");
    }
    assert_eq!(value["tests"]["failing"], json!(["suite::case_0", "suite::case_1"]));
}

#[test]
fn json_is_harmless_on_a_terminal_and_means_the_same() {
    let value = json!({ "subject": "\u{9b}31m \u{7f}\u{202e}\u{e0041}\n\u{1b}", "ok": "äö" });
    let text = line(&value);
    assert!(!text.trim_end().chars().any(escape::is_hidden), "{text}");
    assert!(text.contains("äö") && text.ends_with("}\n"));
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
}

#[test]
fn acknowledgements_and_diagnostics() {
    assert_eq!(answer(&samples::ack())["how"], "resume");
    let note = Diagnostic::note("x").at("y");
    assert_eq!(
        value_of(&[note]),
        json!([{ "severity": "note", "code": null, "message": "x", "location": "y", "help": [] }])
    );
}
