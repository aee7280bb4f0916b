//! The safety log: every safety event that is known, in the form the requirements document.

use crate::support::Stage;
use serde_json::Value;

fn events(stage: &Stage, more: &[&str]) -> Vec<Value> {
    let args: Vec<&str> =
        ["log", "--events", "--format", "json"].into_iter().chain(more.iter().copied()).collect();
    let out = stage.andon(&args).ok().stdout;
    assert_eq!(out.lines().count(), 1, "{out}");
    let parsed: Value = serde_json::from_str(&out).unwrap();
    parsed["events"].as_array().unwrap().clone()
}

/// Type and action of each, with a blank between.
fn kinds(events: &[Value]) -> Vec<String> {
    let text = |event: &Value, key: &str| event[key].as_str().unwrap().to_owned();
    events.iter().map(|event| [text(event, "type"), text(event, "action_taken")].join(" ")).collect()
}

fn observe(stage: &Stage, kind: &str, line: &str) {
    let andon = crate::support::andon_path();
    stage.run_in(stage.dir(), andon, &["observe", kind], Some(line.as_bytes()));
}

#[test]
fn a_clone_without_events_says_so() {
    let stage = Stage::new();
    stage.andon(&["log", "--events"]).ok().says("no safety events");
    assert!(events(&stage, &[]).is_empty());
}

#[test]
fn refusals_skips_and_bypasses_are_events() {
    let stage = Stage::installed();
    stage.write("code.txt", "1\n");
    stage.git(&["commit", "-qam", "No"]).refused();
    stage.set("ANDON_SKIP", "untested-edit");
    stage.set("ANDON_SKIP_REASON", "pager");
    stage.git(&["commit", "-qam", "Skipped"]).ok();
    stage.unset("ANDON_SKIP");
    stage.write("code.txt", "2\n");
    stage.git(&["commit", "-qam", "Around", "--no-verify"]).ok();
    let found = events(&stage, &[]);
    // Newest first, and the skip once, though journal and record tell of it.
    assert_eq!(
        kinds(&found),
        ["GATE_BYPASS recorded", "DIRTY_BIT_SKIPPED commit_allowed", "DIRTY_BIT_VIOLATION commit_refused",]
    );
    assert_eq!(found[1]["details"]["reason"], "pager");
    assert_eq!(found[2]["details"]["code_modified"], true);
    assert_eq!(found[2]["details"]["tests_run"], false);
    assert!(found[2]["timestamp"].as_str().unwrap().starts_with("2026-11-20T"), "{}", found[2]);
    assert_eq!(events(&stage, &["--limit", "1"]).len(), 1);
    stage.andon(&["log", "--events"]).ok().says("DIRTY_BIT_VIOLATION").says("pager");
}

#[test]
fn halts_answers_and_cords_are_events() {
    let stage = Stage::installed();
    for number in 1..=3 {
        stage.iterate(&format!("{number}\n"), &["not ok b"], "Try").ok();
    }
    stage.andon(&["stop", "--reason", "enough"]).ok();
    stage.git(&["commit", "-q", "--allow-empty", "-m", "No"]).refused();
    stage.andon(&["resume", "--reason", "mended"]).ok();
    stage.andon(&["resume", "--counter", "consecutive-failures", "--reason", "flaky"]).ok();
    stage.andon(&["pause", "--reason", "lunch"]).ok();
    let found = events(&stage, &[]);
    let kinds = kinds(&found);
    for wanted in [
        "USER_STOP loop_halted_checkpoint_created",
        "COUNTER_RESET counter_reset",
        "ACKNOWLEDGED window_reset",
        "NO_PROGRESS commit_refused",
        "USER_STOP loop_stays_halted",
        "NO_PROGRESS loop_halted_checkpoint_created",
    ] {
        assert!(kinds.iter().any(|kind| kind == wanted), "{wanted} in {kinds:?}");
    }
    // One halt is one event, though its commit's record tells of it too.
    let halts = kinds.iter().filter(|kind| kind.starts_with("NO_PROGRESS loop_halted"));
    assert_eq!(halts.count(), 1, "{kinds:?}");
    let acknowledged = found.iter().find(|event| event["type"] == "ACKNOWLEDGED").unwrap();
    assert_eq!(acknowledged["details"]["reason"], "mended");
    assert_eq!(acknowledged["details"]["rule"], "repeated-failures");
}

#[test]
fn the_grades_of_a_tool_loop_are_events() {
    let stage = Stage::installed();
    for _ in 0..5 {
        observe(&stage, "tool_call", r#"{"tool":"Read","args":{"file_path":"a"},"result":"same"}"#);
    }
    let found = events(&stage, &[]);
    let soft = found.iter().filter(|event| event["type"] == "SOFT_LOOP").collect::<Vec<_>>();
    assert_eq!(soft.len(), 1, "{found:?}");
    assert_eq!(soft[0]["action_taken"], "continued_monitoring");
    assert!(found.iter().any(|event| event["type"] == "HARD_LOOP"), "{found:?}");
}

#[test]
fn a_damaged_journal_costs_its_line_and_no_more() {
    let stage = Stage::installed();
    stage.write("code.txt", "1\n");
    stage.git(&["commit", "-qam", "No"]).refused();
    let journal = stage.read(".git/andon/journal.jsonl");
    stage.write(
        ".git/andon/journal.jsonl",
        format!("{journal}{{\"type\":\"refused\",\"rule\":1}}\n\u{1b}garbage\n"),
    );
    let out = stage.andon(&["log", "--events"]).ok().says("DIRTY_BIT_VIOLATION").says("warning");
    assert!(!out.all().contains('\u{1b}'), "{out}");
}
