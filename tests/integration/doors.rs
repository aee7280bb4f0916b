//! One engine at every door: the same facts give the same decision, however they come in.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use insta::assert_snapshot;
use serde_json::Value;

use crate::events::observe;
use crate::support::{Out, Stage, andon_path};

fn json(stage: &Stage, args: &[&str], lines: &str) -> (i32, Value) {
    let args: Vec<&str> = args.iter().copied().chain(["--format", "json"]).collect();
    let out = stage.run_in(stage.dir(), andon_path(), &args, Some(lines.as_bytes()));
    let value = serde_json::from_str(&out.stdout).unwrap_or_else(|err| panic!("{err}: {out}"));
    (out.code, value)
}

/// What each line of a stream comes to in `replay`.
fn replayed(stage: &Stage, lines: &str) -> Vec<Value> {
    let args = ["replay", "--events", "-", "--format", "json"];
    let out: Out = stage.run_in(stage.dir(), andon_path(), &args, Some(lines.as_bytes()));
    out.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// `while :; do agent -p ...; done` begins a session for each turn: one run all the same.
#[test]
fn a_session_for_each_commit_is_one_run() {
    let stage = Stage::installed();
    stage.write(
        "andon.toml",
        "[test]\ncommand = \"sh check.sh\"\n[rules]\nuntested-edit = \"off\"\niteration-cap = { max = 3 }\n\
         oscillation = \"off\"\nrecurrence = \"off\"\nundo-churn = \"off\"\n",
    );
    stage.andon(&["stop"]);
    stage.andon(&["resume", "--reason", "from here on"]).ok();
    let mut refused = Vec::new();
    for (number, code) in ["a", "b", "a", "b", "a", "b"].into_iter().enumerate() {
        stage.set("ANDON_SESSION", &format!("s{number}"));
        stage.set("ANDON_NODE", ["coder", "writer"][number % 2]);
        stage.write("code.txt", format!("{code}\n"));
        refused.push(stage.git(&["commit", "-qam", &format!("Step {number}")]).code != 0);
    }
    assert_eq!(refused, [false, false, false, true, true, true]);
    assert!(stage.andon(&["status"]).stdout.starts_with("Loop 3/3"));
    assert_snapshot!(stage.andon(&["replay", "HEAD~3..HEAD"]).shown(), @r"
    exit 0
    --- stdout
    HALT  HASH Step 2
      error[iteration-cap] (budget exceeded): Reached iteration cap: 3/3
        evidence: commit HASH
        halted: writer and coder have used up a budget
        diffs: HASH HASH HASH
    replayed 3 steps of HEAD~3..HEAD: would have halted once
    ");
    assert!(stage.read(".andon/CHECKPOINT.md").contains("iteration-cap"));
}

#[test]
fn alternating_states_halt_over_sessions_too() {
    let stage = Stage::installed();
    for (number, code) in ["a", "b", "a", "b"].into_iter().enumerate() {
        stage.set("ANDON_SESSION", &format!("s{number}"));
        let out = stage.iterate(&format!("{code}\n"), &["ok a", "ok b"], &format!("Step {number}"));
        assert_eq!(out.all().contains("error[oscillation]"), number == 3, "{number}: {out}");
    }
    stage.set("ANDON_SESSION", "another");
    assert_snapshot!(stage.iterate("c\n", &["ok a", "ok b"], "Go on").shown(), @r#"
    exit 1
    --- stderr
    error[oscillation]: commit refused: halted AGE: the loop is going in circles in code.txt
      what   the last 4 commits switch between the same two versions
             A HASH "Step 2"
             B HASH "Step 3"
      since  TIME, 4 commits; tests: 2 passed
      look   git diff HASH HASH, or .andon/CHECKPOINT.md
      answer a person decides, then runs: andon resume --reason '<decision>'
    "#);
}

#[test]
fn the_same_failing_test_halts_over_sessions_and_turns_too() {
    let stage = Stage::installed();
    for number in 1..=3 {
        stage.set("ANDON_SESSION", &format!("s{number}"));
        let out = stage.iterate(&format!("{number}\n"), &["ok a", "not ok b"], &format!("Try {number}"));
        assert_eq!(out.all().contains("error["), number == 3, "{number}: {out}");
    }
    stage.andon(&["tick"]).exits(1);
    stage.andon(&["resume", "--reason", "looked"]).ok();
    // The same in turns that end without a commit.
    for number in 4..=6 {
        stage.set("ANDON_SESSION", &format!("s{number}"));
        stage.write("code.txt", format!("{number}\n"));
        stage.andon(&["test"]);
        stage.andon(&["tick"]).exits(i32::from(number == 6));
    }
}

/// A pause ends a run for commits and turns alike, and what is observed meanwhile is no pause.
#[test]
fn only_a_pause_ends_a_run() {
    let stage = Stage::installed();
    let badge = |stage: &Stage| stage.andon(&["status"]).stdout.lines().next().unwrap_or_default().to_owned();
    let commit = |stage: &Stage, code: &str| stage.iterate(code, &["ok a", "ok b"], code).ok();
    let hours = |count: i64| count * 3600;
    commit(&stage, "1");
    stage.pass(hours(5));
    observe(&stage, "verdict", "{\"approve\":1}\n").ok();
    stage.pass(hours(5));
    commit(&stage, "2");
    assert!(badge(&stage).starts_with("Loop 3/100"), "{}", badge(&stage));
    assert_eq!(stage.record("HEAD")["iteration"], 3);
    stage.andon(&["tick"]).ok();
    stage.pass(hours(7));
    stage.andon(&["tick"]).ok();
    commit(&stage, "3");
    assert!(badge(&stage).starts_with("Loop 2/100"), "{}", badge(&stage));
    stage.pass(hours(7));
    commit(&stage, "4");
    assert_eq!(stage.record("HEAD")["iteration"], 1);
}

const CALL: &str =
    "{\"type\":\"tool_call\",\"tool\":\"Bash\",\"args\":{\"command\":\"make\"},\"result\":\"no\"}\n";
const EDIT: &str = "{\"type\":\"tool_call\",\"tool\":\"Edit\",\"args\":{\"file_path\":\"a\"}}\n";

/// Five identical calls halt, and an edit after them in the same batch takes nothing back.
#[test]
fn a_batch_comes_to_what_its_lines_come_to() {
    let stage = Stage::installed();
    let (code, answer) = json(&stage, &["observe", "event"], &[&CALL.repeat(5), EDIT].concat());
    assert_eq!((code, &answer["decision"], &answer["kept"]), (1, &"halt".into(), &6.into()), "{answer}");
    assert_eq!(answer["halted"]["rule"], "tool-loop");
    assert!(stage.exists(".andon/CHECKPOINT.md"));
    assert_snapshot!(observe(&stage, "event", EDIT).shown(), @"
    exit 1
    --- stderr
    error[tool-loop]: halted AGE: the loop kept making the same tool call
      what   the last 5 tool calls were the same: Bash: make
      since  TIME; tests: 2 passed
      look   .andon/CHECKPOINT.md
      answer a person decides, then runs: andon resume --reason '<decision>'
      No commit is accepted until then.
    ");
    stage.andon(&["resume", "--reason", "looked"]).ok();
    observe(&stage, "event", EDIT).ok().lacks("tool-loop");
    // One by one.
    for number in 1..=5 {
        observe(&stage, "event", CALL).exits(i32::from(number == 5));
    }
    stage.andon(&["resume", "--reason", "looked"]).ok();
    // What grew graver behind the halt shows, though an edit came last.
    observe(&stage, "event", &[&CALL.repeat(10), EDIT].concat()).exits(1);
    assert!(stage.read(".andon/BLOCKER_REPORT.md").contains("tool-loop"));
}

#[test]
fn a_warning_in_a_batch_is_told_though_calmer_facts_follow() {
    let stage = Stage::installed();
    assert_snapshot!(observe(&stage, "event", &[&CALL.repeat(3), EDIT].concat()).shown(), @"
    exit 0
    --- stderr
    warning[tool-loop]: the last 3 tool calls were the same: Bash: make
      help: do something else than this call: its answer is known by now
    ");
    let full = "{\"type\":\"usage\",\"context_tokens\":190000}\n{\"type\":\"compaction\"}\n";
    assert_snapshot!(observe(&stage, "event", full).brief(),
        @"exit 4, stderr: error[context-window]: no tool call until the context window is cleared: 190000 of 200000 tokens (95 %)");
}

#[test]
fn an_invalid_line_loses_no_fact_and_hides_no_halt() {
    let stage = Stage::installed();
    let broken = [&CALL.repeat(2), "noise\n", CALL].concat();
    let (code, answer) = json(&stage, &["observe", "event"], &broken);
    assert_eq!((code, &answer["kept"], &answer["refused"]), (2, &3.into(), &1.into()), "{answer}");
    assert_eq!(answer["remarks"][0]["location"], "line 3");
    let out = observe(&stage, "event", &[&CALL.repeat(2), "noise\n"].concat()).exits(1);
    assert_snapshot!(out.shown());
}

/// The whole of `loop.halted` comes with the call that halts, at every door.
#[test]
fn the_call_that_halts_tells_all_of_it() {
    let stage = Stage::installed();
    let ends = "{\"type\":\"turn_end\",\"code\":\"A\"}\n".repeat(4);
    let (_, observed) = json(&stage, &["observe", "event"], &ends);
    let told = replayed(&stage, &ends);
    let replay = told.iter().find(|line| line.get("halted").is_some()).unwrap();
    assert_eq!(replay["decision"], "halt");
    stage.steps("andon resume --reason looked; andon tick");
    for _ in 0..2 {
        stage.andon(&["tick"]);
    }
    let (code, ticked) = json(&stage, &["tick"], "");
    assert_eq!(code, 1, "{ticked}");
    let keys = "cycle_id halt_reason rule evidence suggested_actions iteration at";
    for halted in [&observed["halted"], &replay["halted"], &ticked["halted"]] {
        assert!(keys.split(' ').all(|key| halted.get(key).is_some()), "{halted}");
        for hashes in ["diffs", "tests", "outputs", "trend"] {
            assert!(halted["evidence"][hashes].is_array(), "{halted}");
        }
        assert_eq!((&halted["rule"], &halted["halt_reason"]), (&"idle-turns".into(), &"stalled".into()));
        assert_eq!(halted["cycle_id"], "agent");
        assert_eq!(halted["suggested_actions"][0]["code"], "clarify_task");
        assert!(halted["suggested_actions"][0]["text"].as_str().unwrap().contains("which file"));
    }
    // While it is unanswered it is reported as `standing`.
    let (_, after) = json(&stage, &["tick"], "");
    assert_eq!((&after["halted"], &after["standing"]["rule"]), (&Value::Null, &"idle-turns".into()));
    assert_eq!(after["standing"]["suggested_actions"][0]["code"], "clarify_task");
}

#[test]
fn hooks_and_a_replay_of_commits_tell_the_halt_too() {
    let stage = Stage::installed();
    let mut out = None;
    for number in 1..=3 {
        out = Some(stage.iterate(&format!("{number}\n"), &["ok a", "not ok b"], &format!("Try {number}")));
    }
    let out = out.unwrap();
    assert_snapshot!(out.shown());
    let text = stage.andon(&["replay", "HEAD~3..HEAD", "--format", "json"]).ok().stdout;
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(last["halted"]["rule"], "repeated-failures");
    assert_eq!(last["halted"]["suggested_actions"][0]["code"], "read_first_error");
}

/// Six failing runs that were handed in, a turn each: stuck, wherever the tests ran.
#[test]
fn failing_runs_that_are_handed_in_count_as_failures() {
    let stage = Stage::installed();
    // The first turn after a commit is the one in which it was made.
    stage.andon(&["tick"]).ok();
    let mut halted = None;
    for number in 1..=6 {
        stage.write("code.txt", format!("{number}\n"));
        let status = stage.andon(&["status", "--format", "json"]).ok();
        let status = status.json();
        let code = status["code"]["work_tree"].as_str().unwrap();
        let run = format!(
            "{{\"code\":\"{code}\",\"status\":\"failed\",\"total\":9,\"failing\":[\"a::b\"],\"errors\":[\"no\"]}}\n"
        );
        observe(&stage, "test_run", &run);
        let out = stage.andon(&["tick"]);
        if out.code == 1 && halted.is_none() {
            halted = Some((number, out.all()));
        }
    }
    let (number, said) = halted.unwrap();
    assert_eq!(number, 3, "{said}");
    assert!(said.contains("repeated-failures") && said.contains("a::b"), "{said}");
    assert!(said.contains("answer a person decides"), "{said}");
    assert!(stage.read(".andon/CHECKPOINT.md").contains("a::b"));
}

#[test]
fn a_passing_run_that_is_handed_in_needs_trust_and_a_failing_one_opens_no_gate() {
    let stage = Stage::installed();
    stage.write("code.txt", "new\n");
    let report = "1..1\nok 1 - a\n";
    stage.write("../report.tap", report);
    let handed = ["observe", "test_run", "--report", "../report.tap", "--exit-code", "0"];
    assert_snapshot!(stage.andon(&handed).brief(),
        @r#"exit 0, stdout: kept a handed-in test run on code HASH: 1 passed; it proves nothing (test.handed_in = "record")"#);
    assert_snapshot!(stage.git(&["commit", "-qam", "Untested"]).shown(), @r#"
    exit 1
    --- stderr
    error[untested-edit]: commit refused: the run on this code was handed in, and it is not known which command it was
      help: andon test
      help: or hand it in again and let such runs count, in andon.toml:  [test]  handed_in = "count"
    "#);
    stage.write("../report.tap", "1..1\nnot ok 1 - a\n");
    let handed = ["observe", "test_run", "--report", "../report.tap", "--exit-code", "1"];
    assert_snapshot!(stage.andon(&handed).brief(),
        @r#"exit 0, stdout: kept a handed-in test run on code HASH: 1 of 1 failing; it counts as a failure, and proves nothing else (test.handed_in = "record")"#);
    assert_snapshot!(stage.git(&["commit", "-qam", "Untested"]).brief(),
        @"exit 1, stderr: error[untested-edit]: commit refused: the run on this code was handed in, and it is not known which command it was");
    let passed = "{\"code\":\"A\",\"status\":\"passed\",\"total\":2}\n";
    let out = stage.run_in(stage.dir(), andon_path(), &["observe", "test_run"], Some(passed.as_bytes()));
    assert_snapshot!(out.shown(), @r#"
    exit 0
    --- stderr
    note[handed-in]: this run was handed in and proves nothing; only `andon test` saw what ran
      --> line 1
      help: to let such runs count, in andon.toml:  [test]  handed_in = "count"
    "#);
    assert_snapshot!(stage.andon(&["observe", "test_run", "--report", "../report.tap"]).shown(), @"
    exit 2
    --- stderr
    error: the following required arguments were not provided:
      --exit-code <N>

    Usage: andon observe test_run --exit-code <N> --report <FILE>...

    For more information, try '--help'.
    ");
}

#[test]
fn a_slip_in_a_line_is_no_fact() {
    let stage = Stage::installed();
    let before = stage.read(".git/andon/journal.jsonl");
    let out = observe(&stage, "usage", "{\"context_token\":190000}\n").exits(2).says("line 1");
    out.says("did you mean \"context_tokens\"?");
    assert_snapshot!(observe(&stage, "verdict", "{\"approved\":true}\n").brief(),
        @r#"exit 2, stderr: error[event]: no fact: unknown member "approved" of verdict: did you mean "approve"?; known are reviewer, approve, reject, type, at, node, session, id, model, prompt_hash --> line 1"#);
    assert_snapshot!(observe(&stage, "verdict", "{\"approve\":true}\n").brief(),
        @r#"exit 2, stderr: error[event]: no fact: the member "approve": invalid type: boolean `true`, expected a whole number of at least 0 and below 2^64 --> line 1"#);
    assert_snapshot!(
        observe(&stage, "event", "{\"type\":\"ack\",\"by\":\"me\",\"reason\":\"x\"}\n").shown(),
        @r"
        exit 2
        --- stderr
        error[event]: no fact: an ack is not observed: only a person answers a halt, with andon resume --reason '<decision>'
          --> line 1
        "
    );
    assert_eq!(stage.read(".git/andon/journal.jsonl"), before);
    observe(&stage, "tool_call", &"{\"tool\":\"Bash\"}\n".repeat(12)).ok().lacks("LOOP");
    let named = "{\"tool\":\"Bash\",\"tool_input\":{\"command\":\"x\"}}\n{\"tool\":\"Bash\",\"arguments\":{\"command\":\"x\"}}\n";
    assert_snapshot!(observe(&stage, "tool_call", &named.repeat(3)).shown());
    // A journal is a stream that can be replayed, notes for people included.
    stage.andon(&["replay", "--events", ".git/andon/journal.jsonl"]).ok().says("would have halted once");
}

/// Votes, outputs and calls of before an answer count at no door any more, however many commits come after it.
#[test]
fn an_answer_resets_every_counter_at_every_door() {
    let stage = Stage::installed();
    let said = "{\"type\":\"output\",\"kind\":\"message.final\",\"text\":\"I have fixed all of it.\"}\n";
    observe(
        &stage,
        "event",
        &[&"{\"type\":\"verdict\",\"approve\":1,\"reject\":2}\n".repeat(3), said, said].concat(),
    );
    observe(&stage, "event", &CALL.repeat(4)).ok();
    assert_snapshot!(stage.andon(&["tick"]).shown(), @"
    exit 0
    --- stdout
    warn
    --- stderr
    warning[verdict-split]: the reviewers disagreed in 3 rounds in a row; in the last one 1 approved and 2 rejected, where it takes 2 approvals
      help: write down what the reviewers disagree about, and decide it
    ");
    stage.steps("andon stop; andon resume --reason decided");
    for number in 1..=3 {
        let out = stage.iterate(&format!("{number}\n"), &["ok a", "ok b"], &format!("Step {number}"));
        out.ok().lacks("verdict-split");
        stage.andon(&["tick"]).ok().lacks("verdict-split");
    }
    observe(&stage, "event", said).ok().lacks("repeated-output");
    observe(&stage, "event", CALL).ok().lacks("tool-loop");
    observe(&stage, "verdict", "{\"approve\":1,\"reject\":2}\n").ok().lacks("verdict-split");
}
