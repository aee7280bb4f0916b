//! The event stream from end to end: observed, ticked and replayed.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod budgets;

use insta::assert_snapshot;

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
fn a_line_without_a_member_that_it_needs_says_which_and_shows_a_command() {
    let stage = Stage::installed();
    let run = |input: &str| {
        stage.run_in(stage.dir(), andon_path(), &["observe", "test_run"], Some(input.as_bytes()))
    };
    let out = run("{\"status\":\"failed\"}\n").exits(2).says("error[event]: no fact: missing field `code`");
    let out = out.says("help: test_run needs code and status, such as: echo '{\"code\":\"STATE\",");
    out.says("help: or hand in report files: andon observe test_run --report FILE --exit-code N");
    run("{\"code\":\"STATE\",\"status\":\"failed\",\"total\":10,\"failing\":[\"a::b\"]}\n").ok();
}

#[test]
fn what_is_no_fact_is_named_and_passed_over() {
    let stage = Stage::bare_ground();
    let text = "{\"type\":\"dance\"}\nnoise\n\n{\"type\":\"turn_start\",\"at\":\"2031-01-01T00:00:00Z\"}\n";
    let args = ["replay", "--events", "-"];
    let out = stage.run_in(stage.dir(), andon_path(), &args, Some(text.as_bytes())).exits(2);
    assert_snapshot!(out.brief(), @r#"
    exit 2, stdout: replayed 1 step of -: would not have halted
    stderr: error[event]: no fact: unknown type "dance"; known are turn_start, tool_call, output, test_run, usage, verdict, commit, turn_end, ack, compaction, session_start, prompt, commit_refused --> line 1
    error[event]: no fact: not readable as JSON: expected ident at line 1 column 2 --> line 2
    warning[event]: it is dated 2031-01-01T00:00:00Z, which is yet to come: the time does not count --> line 4
    "#);
    assert_snapshot!(stage.andon(&["replay", "--events", "nowhere"]).shown(), @"
    exit 2
    --- stderr
    error: the events cannot be read: No such file or directory (os error 2)
      help: give a file that can be read, or `-` for standard input
    ");
}

#[test]
fn three_idle_turns_halt_the_loop() {
    let stage = Stage::installed();
    let said = stage.andon(&["tick"]).shown();
    assert_snapshot!(said, @"
    exit 0
    --- stdout
    allow
    ");
    for _ in 0..2 {
        stage.andon(&["tick"]).ok().says("allow");
    }
    assert_snapshot!(stage.andon(&["tick"]).shown());
    assert!(stage.read(".andon/CHECKPOINT.md").contains("idle-turns"));
    stage.steps("echo edited > code.txt; git add .; andon test");
    assert_snapshot!(stage.git(&["commit", "-qm", "Edit"]).shown(), @"
    exit 1
    --- stderr
    error[idle-turns]: commit refused: halted AGE: the loop stopped changing anything
      what   3 turns in a row ended without any change
      since  TIME, 3 turns; tests: 2 passed
      look   .andon/CHECKPOINT.md
      answer a person decides, then runs: andon resume --reason '<decision>'
    ");
    stage.andon(&["resume", "--reason", "it waited for me"]).ok();
    assert_eq!(stage.andon(&["tick"]).shown(), said);
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
    observe(&stage, "output", "{\"kind\":\"message.final\",\"text\":\"The parser reads lists now.\"}\n").ok();
    observe(&stage, "output", "{\"kind\":\"message.final\",\"text\":\"Done.\"}\n").ok();
    observe(&stage, "usage", "{\"input_tokens\":7,\"cost_usd\":\"0.05\"}\n{\"input_tokens\":5}\n").ok();
    stage.iterate("1\n", &["ok a", "ok b"], "One").ok();
    let record = stage.record("HEAD");
    assert_eq!(record["node"], "coder");
    assert_eq!(record["outputs"].as_array().unwrap().len(), 1, "what says nothing has no hash");
    assert_eq!(record["usage"]["input_tokens"], 12);
    assert_eq!(record["usage"]["cost_usd"], "0.05");
}

#[test]
fn short_answers_say_nothing_and_new_code_begins_anew() {
    let stage = Stage::installed();
    for text in ["Done.", "ok", "", "Done.", "ok", "", "Done.", "Done.", "Done."] {
        let said = serde_json::json!({ "kind": "message.final", "text": text });
        observe(&stage, "output", &format!("{said}\n")).ok();
    }
    let said = "{\"kind\":\"message.final\",\"text\":\"I have finished the next step.\"}\n";
    for step in 0..5 {
        observe(&stage, "output", said).ok();
        stage.iterate(&format!("{step}\n"), &["ok a"], &format!("Step {step}")).ok();
    }
}

#[test]
fn the_same_answer_three_times_halts_at_once() {
    let stage = Stage::installed();
    let said = "{\"kind\":\"message.final\",\"text\":\"I have fixed the failing test.\"}\n";
    observe(&stage, "output", said).ok();
    observe(&stage, "output", said).ok();
    assert_snapshot!(observe(&stage, "output", said).shown(), @r"
    exit 1
    --- stderr
    error[repeated-output]: HALTED: the loop kept saying the same thing
      what   agent gave the same message.final 3 times in a row
      since  TIME; tests: 2 passed
      look   .andon/CHECKPOINT.md
      answer a person decides, then runs: andon resume --reason '<decision>'
      No commit is accepted until then.
      help: give the node what it does not know: tighten its context or its task
    ");
    stage.git(&["commit", "--allow-empty", "-qm", "More"]).refused();
}

#[test]
fn lines_that_are_no_facts_are_refused_and_the_others_kept() {
    let stage = Stage::installed();
    let out =
        observe(&stage, "verdict", "{\"approve\":1}\n{\"approve\":\"no\"}\n{\"type\":\"usage\"}\n").exits(2);
    assert_snapshot!(out.brief(), @r#"
    exit 2, stderr: error[event]: no fact: the member "approve": invalid type: string "no", expected a whole number of at least 0 and below 2^64 --> line 2
    error[event]: no fact: type "usage" where "verdict" was expected --> line 3
    "#);
    assert_snapshot!(observe(&stage, "event", "{\"type\":\"commit\",\"code\":\"A\"}\n").brief(),
        @"exit 2, stderr: error[event]: no fact: a commit is not observed: the hooks record it when it is made --> line 1");
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
    assert_snapshot!(stage.git(&["commit", "-qam", "Untested"]).shown(), @"
    exit 1
    --- stderr
    error[untested-edit]: commit refused: the tests ran without check.sh, code.txt, tests.txt, which are in the commit
      help: andon test
    ");
}

#[test]
fn a_tool_call_that_goes_round_warns_then_halts() {
    let stage = Stage::installed();
    let call = "{\"tool\":\"Bash\",\"args\":{\"command\":\"cargo test\"},\"result\":\"1 failed in 0.31s\",\"error\":true}\n";
    for _ in 0..2 {
        observe(&stage, "tool_call", call).ok().lacks("LOOP");
    }
    assert_snapshot!(observe(&stage, "tool_call", call).shown(), @"
    exit 0
    --- stderr
    warning[tool-loop]: the last 3 tool calls were the same: Bash: cargo test
      help: do something else than this call: its answer is known by now
    ");
    observe(&stage, "tool_call", call).ok();
    assert_snapshot!(observe(&stage, "tool_call", call).shown(), @"
    exit 1
    --- stderr
    error[tool-loop]: HALTED: the loop kept making the same tool call
      what   the last 5 tool calls were the same: Bash: cargo test
      since  TIME; tests: 2 passed
      look   .andon/CHECKPOINT.md
      answer a person decides, then runs: andon resume --reason '<decision>'
      No commit is accepted until then.
      help: do something else than this call: its answer is known by now
    ");
    stage.git(&["commit", "--allow-empty", "-qm", "More"]).refused();
    let status = stage.andon(&["status", "--format", "json"]).ok();
    let status = status.json();
    assert_eq!(status["state"], "halted");
    assert_eq!(status["last_halt"]["halt_reason"], "repeated_error");
}

#[test]
fn one_counter_is_reset_alone() {
    let stage = Stage::installed();
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\n[rules]\nrepeated-failures = \"off\"\n");
    for n in 1..3 {
        stage.iterate(&format!("{n}\n"), &["ok a", "not ok b"], &format!("Try {n}")).ok();
    }
    assert_snapshot!(stage.andon(&["resume", "--counter", "dance", "--reason", "x"]).shown(), @r#"
    exit 2
    --- stderr
    error: no counter of that name can be reset alone: "dance"
      help: one of: consecutive-failures
    "#);
    assert_snapshot!(
        stage.andon(&["resume", "--counter", "consecutive-failures", "--reason", "known"]).shown(),
        @"
    exit 0
    --- stdout
    reset by A. Author <author@example.org>: consecutive-failures starts over
    "
    );
    for n in 3..5 {
        stage.iterate(&format!("{n}\n"), &["ok a", "not ok b"], &format!("Try {n}")).ok();
    }
    let badge = stage.andon(&["status"]).ok();
    assert!(badge.stdout.starts_with("Loop 5/100"), "{badge}");
    assert_snapshot!(stage.iterate("5\n", &["ok a", "not ok b"], "Try 5").shown());
    assert!(stage.exists(".andon/BLOCKER_REPORT.md"));
    assert_snapshot!(
        stage.andon(&["resume", "--counter", "consecutive-failures", "--reason", "again"]).shown(),
        @"
    exit 0
    --- stdout
    reset by A. Author <author@example.org>: consecutive-failures starts over; its halt is answered
    "
    );
    assert!(!stage.exists(".andon/BLOCKER_REPORT.md"));
    stage.iterate("6\n", &["ok a", "not ok b"], "Try 6").ok().lacks("consecutive-failures");
}
