//! The event stream from end to end: observed, ticked and replayed.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::support::{Out, Stage, andon_path};

fn observe(stage: &Stage, kind: &str, lines: &str) -> Out {
    stage.run_in(stage.dir(), andon_path(), &["observe", kind], Some(lines.as_bytes()))
}

fn replay(stage: &Stage, lines: &[String]) -> Vec<serde_json::Value> {
    let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let args = ["replay", "--events", "-", "--format", "json"];
    let out = stage.run_in(stage.dir(), andon_path(), &args, Some(text.as_bytes())).ok();
    out.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn commits(codes: &[&str]) -> Vec<String> {
    codes
        .iter()
        .enumerate()
        .map(|(number, code)| {
            format!(r#"{{"type":"commit","code":"{code}","diff":"{code}-{number}","subject":"Work"}}"#)
        })
        .collect()
}

#[test]
fn a_stream_is_replayed_one_decision_a_line() {
    // A stream needs no repository.
    let stage = Stage::bare_ground();
    let found = replay(&stage, &commits(&["A", "B", "A", "B", "C"]));
    let decisions: Vec<&str> = found.iter().map(|line| line["decision"].as_str().unwrap()).collect();
    assert_eq!(decisions, ["allow", "allow", "warn", "halt", "halt"]);
    assert_eq!(found[3]["event"], 4);
    assert_eq!(found[3]["reason"], "oscillating");
    assert_eq!(found[3]["findings"][0]["rule"], "oscillation");
    assert_eq!(found[3]["findings"][0]["level"], "halt");
    let mut answered = commits(&["A", "B", "A", "B"]);
    answered.push(r#"{"type":"ack","by":"a person","reason":"looked"}"#.to_owned());
    answered.extend(commits(&["C"]));
    let found = replay(&stage, &answered);
    assert_eq!((&found[4]["decision"], &found[5]["decision"]), (&"allow".into(), &"allow".into()));
}

#[test]
fn what_is_no_fact_is_named_and_passed_over() {
    let stage = Stage::bare_ground();
    let text = "{\"type\":\"dance\"}\nnoise\n\n{\"type\":\"turn_start\",\"at\":\"2031-01-01T00:00:00Z\"}\n";
    let args = ["replay", "--events", "-"];
    let out = stage.run_in(stage.dir(), andon_path(), &args, Some(text.as_bytes())).ok();
    let out = out.says("line 1").says("unknown type \"dance\"").says("line 2").says("not readable as JSON");
    out.says("line 4").says("yet to come").says("replayed 1 step of -: would not have halted");
    stage.andon(&["replay", "--events", "nowhere"]).exits(2).says("cannot be read");
}

#[test]
fn three_idle_turns_halt_the_loop() {
    let stage = Stage::installed();
    stage.andon(&["tick"]).ok().says("allow");
    for _ in 0..2 {
        stage.andon(&["tick"]).ok().says("allow");
    }
    stage
        .andon(&["tick"])
        .exits(1)
        .says("error[idle-turns]")
        .says("3 turns running ended without any change");
    assert!(stage.read(".andon/CHECKPOINT.md").contains("idle-turns"));
    stage.write("code.txt", "edited\n");
    stage.git(&["add", "."]).ok();
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qm", "Edit"]).refused().says("idle-turns");
    stage.andon(&["resume", "--reason", "it waited for me"]).ok();
    stage.andon(&["tick"]).ok().says("allow");
    stage.git(&["commit", "-qm", "Edit"]).ok();
}

#[test]
fn a_turn_that_edits_or_moves_a_plan_is_not_idle() {
    let stage = Stage::installed();
    for round in 0..5 {
        stage.write("PLAN.md", format!("- [x] step {round}\n"));
        stage.andon(&["tick"]).ok().says("allow");
    }
    for round in 0..5 {
        stage.write("code.txt", format!("{round}\n"));
        stage.andon(&["tick"]).ok().says("allow");
    }
}

#[test]
fn outputs_and_usage_of_a_turn_go_into_the_record_of_its_commit() {
    let stage = Stage::installed();
    stage.set("ANDON_NODE", "coder");
    observe(&stage, "turn_start", "{}\n").ok();
    observe(&stage, "output", "{\"kind\":\"message.final\",\"text\":\"Done.\"}\n").ok();
    observe(&stage, "usage", "{\"input_tokens\":7,\"cost_usd\":\"0.05\"}\n{\"input_tokens\":5}\n").ok();
    stage.iterate("1\n", &["ok a", "ok b"], "One").ok();
    let record = stage.record("HEAD");
    assert_eq!(record["node"], "coder");
    assert_eq!(record["outputs"].as_array().unwrap().len(), 1);
    assert_eq!(record["usage"]["input_tokens"], 12);
    assert_eq!(record["usage"]["cost_usd"], "0.05");
}

#[test]
fn the_same_answer_three_times_halts_at_once() {
    let stage = Stage::installed();
    let said = "{\"kind\":\"message.final\",\"text\":\"I have fixed it.\"}\n";
    observe(&stage, "output", said).ok();
    observe(&stage, "output", said).ok();
    observe(&stage, "output", said).exits(1).says("error[repeated-output]");
    stage.git(&["commit", "--allow-empty", "-qm", "More"]).refused();
}

#[test]
fn lines_that_are_no_facts_are_refused_and_the_others_kept() {
    let stage = Stage::installed();
    let out =
        observe(&stage, "verdict", "{\"approve\":1}\n{\"approve\":\"no\"}\n{\"type\":\"usage\"}\n").exits(2);
    out.says("line 2").says("\"approve\" is not a number").says("line 3").says("\"verdict\" was expected");
    observe(&stage, "event", "{\"type\":\"commit\",\"code\":\"A\"}\n").exits(2).says("is not handed in");
    assert_eq!(stage.read(".git/andon/journal.jsonl").matches("\"type\":\"verdict\"").count(), 1);
    stage.andon(&["observe", "dance"]).exits(2);
}

#[test]
fn a_handed_in_test_run_opens_no_gate() {
    let stage = Stage::installed();
    stage.write("code.txt", "untested\n");
    let code = stage.andon(&["status", "--format", "json"]).ok();
    let run =
        "{\"type\":\"test_run\",\"code\":\"x\",\"status\":\"passed\",\"total\":2,\"validity\":\"valid\"}\n";
    observe(&stage, "test_run", run);
    drop(code);
    stage.git(&["commit", "-qam", "Untested"]).refused().says("untested-edit");
}
