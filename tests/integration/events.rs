//! The event stream from end to end: observed, ticked and replayed.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::support::{Out, Stage, andon_path};

pub fn observe(stage: &Stage, kind: &str, lines: &str) -> Out {
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
    let out = stage.run_in(stage.dir(), andon_path(), &args, Some(text.as_bytes())).exits(2);
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
        .says("3 turns in a row ended without any change");
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
    out.says("line 2")
        .says("the member \"approve\": invalid type")
        .says("line 3")
        .says("\"verdict\" was expected");
    observe(&stage, "event", "{\"type\":\"commit\",\"code\":\"A\"}\n")
        .exits(2)
        .says("a commit is not observed");
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

#[test]
fn a_tool_call_that_goes_round_warns_then_halts() {
    let stage = Stage::installed();
    let call = "{\"tool\":\"Bash\",\"args\":{\"command\":\"cargo test\"},\"result\":\"1 failed in 0.31s\",\"error\":true}\n";
    for _ in 0..2 {
        observe(&stage, "tool_call", call).ok().lacks("LOOP");
    }
    observe(&stage, "tool_call", call).ok().says("warning[tool-loop]").says("SOFT_LOOP");
    observe(&stage, "tool_call", call).ok();
    observe(&stage, "tool_call", call).exits(1).says("error[tool-loop]").says("HARD_LOOP");
    stage.git(&["commit", "--allow-empty", "-qm", "More"]).refused();
    let status = stage.andon(&["status", "--format", "json"]).ok();
    let status: serde_json::Value = serde_json::from_str(&status.stdout).unwrap();
    assert_eq!(status["state"], "halted");
    assert_eq!(status["last_halt"]["halt_reason"], "stalled");
}

#[test]
fn one_counter_is_reset_alone() {
    let stage = Stage::installed();
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\n[rules]\nrepeated-failures = \"off\"\n");
    for n in 1..3 {
        stage.iterate(&format!("{n}\n"), &["ok a", "not ok b"], &format!("Try {n}")).ok();
    }
    stage.andon(&["resume", "--counter", "dance", "--reason", "x"]).exits(2).says("consecutive-failures");
    stage
        .andon(&["resume", "--counter", "consecutive-failures", "--reason", "known"])
        .ok()
        .says("counts anew");
    for n in 3..5 {
        stage.iterate(&format!("{n}\n"), &["ok a", "not ok b"], &format!("Try {n}")).ok();
    }
    let badge = stage.andon(&["status"]).ok();
    assert!(badge.stdout.starts_with("Loop 5/100"), "{badge}");
    stage.iterate("5\n", &["ok a", "not ok b"], "Try 5").ok().says("consecutive-failures");
    assert!(stage.exists(".andon/BLOCKER_REPORT.md"));
    stage
        .andon(&["resume", "--counter", "consecutive-failures", "--reason", "again"])
        .ok()
        .says("its halt is answered");
    assert!(!stage.exists(".andon/BLOCKER_REPORT.md"));
    stage.iterate("6\n", &["ok a", "not ok b"], "Try 6").ok().lacks("consecutive-failures");
}

const FLOW: &str = "[test]\ncommand = \"sh check.sh\"\n[workflow]\nnodes.coder = { trailer = \"Agent: coder\" }\n\
                    nodes.verifier = { edits = false }\nedges = [\n  { from = \"coder\", to = \"verifier\" },\n\
                    { from = \"verifier\", to = \"coder\", anchor = true, max_iterations = 2 },\n]\n";

#[test]
fn cycles_are_counted_shown_and_halted() {
    let stage = Stage::installed();
    stage.write("andon.toml", FLOW);
    for round in 1..3 {
        stage
            .iterate(&format!("{round}\n"), &["ok a", "ok b"], &format!("Round {round}\n\nAgent: coder"))
            .ok();
        assert_eq!(stage.record("HEAD")["node"], "coder");
        stage.andon(&["tick", "--node", "coder"]).ok();
        stage.andon(&["tick", "--node", "verifier"]).ok();
    }
    stage.andon(&["status"]).ok().says("cycle      Loop 1/2  coder, verifier");
    observe(&stage, "turn_start", "{\"node\":\"coder\"}\n")
        .exits(1)
        .says("error[cycle-iterations]")
        .says("Loop 2/2");
    let status = stage.andon(&["status", "--format", "json"]).ok();
    let status: serde_json::Value = serde_json::from_str(&status.stdout).unwrap();
    assert_eq!(status["cycles"][0]["badge"], "Loop 2/2");
    assert_eq!(status["last_halt"]["cycle_id"], "coder+verifier:coder->verifier,verifier->coder");
    assert_eq!(status["last_halt"]["halt_reason"], "budget_exceeded");
    stage.andon(&["resume", "--reason", "go on"]).ok();
    stage.andon(&["status"]).ok().says("Loop 0/2  coder, verifier");
}

#[test]
fn a_reviewer_that_changes_nothing_is_not_idle() {
    let stage = Stage::installed();
    stage.write("andon.toml", FLOW);
    for _ in 0..5 {
        stage.andon(&["tick", "--node", "verifier"]).ok();
    }
    stage.write("andon.toml", "[workflow]\nnodes.a = {}\nedges = [{ from = \"a\", to = \"b\" }]\n");
    stage.andon(&["tick"]).exits(2).says("andon.toml:3:10").says("node `b` is not declared");
}

#[test]
fn a_million_events_take_the_memory_of_a_window() {
    let stage = Stage::bare_ground();
    let lines: String = (0..20_000)
        .map(|n| match n % 4 {
            0 => format!("{{\"type\":\"tool_call\",\"tool\":\"Edit\",\"args\":{{\"n\":{n}}}}}\n"),
            1 => format!(
                "{{\"type\":\"tool_call\",\"tool\":\"Bash\",\"args\":{{\"n\":{n}}},\"result\":\"{n}\"}}\n"
            ),
            2 => format!("{{\"type\":\"commit\",\"code\":\"{n}\"}}\n"),
            _ => "{\"type\":\"turn_end\"}\n".to_owned(),
        })
        .collect();
    stage.write("../events.jsonl", &lines);
    let out = stage.andon(&["replay", "--events", "../events.jsonl"]).ok();
    out.says("replayed 20000 steps").says("iteration cap");
}

/// Budgets count from the beginning of a run, however long the journal is by then: at 256 KiB a reader of its end
/// alone would have forgotten the first of the money.
#[test]
fn a_budget_halts_exactly_where_it_is_spent_in_a_long_journal() {
    let stage = Stage::installed();
    let config = "[test]\ncommand = \"sh tests.sh\"\n[workflow]\nnodes.coder = {}\n\
                  edges = [ { from = \"coder\", to = \"coder\", anchor = true, max_cost = \"4.002\" } ]\n";
    stage.write("andon.toml", config);
    let session = "s".repeat(200);
    let spend = |count: usize| {
        let line = format!("{{\"cost_usd\":\"0.001\",\"node\":\"coder\",\"session\":\"{session}\"}}\n");
        observe(&stage, "usage", &line.repeat(count))
    };
    // Some of it in one go, some bit by bit: batches do not matter.
    spend(1_500).ok();
    for _ in 0..5 {
        spend(500).ok();
    }
    let size = std::fs::metadata(stage.dir().join(".git/andon/journal.jsonl")).unwrap().len();
    assert!(size > 3 * (256 << 10), "{size}");
    spend(1).ok();
    std::fs::remove_file(stage.dir().join(".git/andon/cache/totals")).unwrap();
    spend(1).exits(1).says("the cycle of coder has cost 4.00 USD of 4.00 USD");
    assert!(stage.read(".andon/CHECKPOINT.md").contains("cycle-cost"));
    stage.andon(&["resume", "--reason", "more money"]).ok();
    spend(1).ok();
}

#[test]
fn turns_are_counted_beyond_the_window_of_commits() {
    let stage = Stage::installed();
    let config = "[test]\ncommand = \"sh tests.sh\"\n[workflow]\nnodes.coder = { max_turns = 40 }\n\
                  [rules]\nuntested-edit = \"off\"\nnode-turns = \"halt\"\n";
    stage.write("andon.toml", config);
    stage.set("ANDON_NODE", "coder");
    for round in 0..39 {
        stage.write("code.txt", format!("{round}\n"));
        stage.git(&["commit", "-qam", &format!("Step {round}")]).ok();
    }
    stage.write("code.txt", "the last\n");
    stage.git(&["commit", "-qam", "Step 39"]);
    assert!(stage.read(".andon/CHECKPOINT.md").contains("coder has had 40 of 40 turns"));
}

#[test]
fn a_node_that_the_workflow_does_not_know_is_named() {
    let stage = Stage::installed();
    stage.write("andon.toml", "[test]\ncommand = \"sh tests.sh\"\n[workflow]\nnodes.coder = {}\n");
    observe(&stage, "turn_start", "{\"node\":\"coder\"}\n").ok().lacks("not declared");
    observe(&stage, "turn_start", "{\"node\":\"ghost\"}\n")
        .ok()
        .says("node \"ghost\" is not declared in [workflow]");
}

#[test]
fn an_answer_frees_a_turn_that_goes_on() {
    let stage = Stage::installed();
    let config = "[test]\ncommand = \"sh tests.sh\"\n[rules]\nturn-tokens = { max = 100 }\n";
    stage.write("andon.toml", config);
    observe(&stage, "turn_start", "{}\n").ok();
    observe(&stage, "usage", "{\"input_tokens\":100}\n").exits(1).says("100 of 100 tokens");
    stage.andon(&["resume", "--reason", "go on"]).ok();
    observe(&stage, "usage", "{\"input_tokens\":99}\n").ok();
    observe(&stage, "usage", "{\"input_tokens\":1}\n").exits(1).says("100 of 100 tokens");
    observe(&stage, "verdict", "{\"approve\":-1}\n").says("expected a whole number of at least 0");
}
