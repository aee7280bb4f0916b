//! Within a turn each run of the tests on edited code is an attempt, whichever door reports it.

use serde_json::{Value, json};

use crate::support::{Out, Stage, andon_path};

/// Who runs the tests and tells of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Door {
    AndonTest,
    ClientHook,
    Reports,
    TestRunEvent,
    ToolCallEvent,
}

const DOORS: [Door; 5] =
    [Door::AndonTest, Door::ClientHook, Door::Reports, Door::TestRunEvent, Door::ToolCallEvent];

const RED: &str = "1..2\nok 1 - a\nnot ok 2 - b\n";
const GREEN: &str = "1..2\nok 1 - a\nok 2 - b\n";

fn status(stage: &Stage) -> Value {
    serde_json::from_str(&stage.andon(&["status", "--format", "json"]).ok().stdout).unwrap()
}

fn is_halted(stage: &Stage) -> bool {
    stage.andon(&["status", "--exit-code"]).code == 1
}

/// Hands in an event.
fn observe(stage: &Stage, kind: &str, line: &Value) -> Out {
    stage.run_in(stage.dir(), andon_path(), &["observe", kind], Some(line.to_string().as_bytes()))
}

/// Reports that a tool has run, as `OpenHands` does: no hook of it changes what a call runs.
fn hook(stage: &Stage, tool: &str, input: &Value, (text, exit): (&str, i32)) -> Out {
    let payload = json!({ "event_type": "PostToolUse", "session_id": "s", "tool_name": tool,
        "working_dir": stage.dir(), "tool_input": input,
        "tool_response": { "content": [{ "type": "text", "text": text }], "exit_code": exit } });
    let args = ["agent", "hook", "openhands", "post_tool_use"];
    stage.run_in(stage.dir(), andon_path(), &args, Some(payload.to_string().as_bytes()))
}

/// The tests run on the working tree as it is, and a door tells how.
fn run(stage: &Stage, door: Door, output: &str) -> Out {
    let red = output.contains("not ok");
    match door {
        Door::AndonTest => {
            let lines = if red { ["ok a", "not ok b"] } else { ["ok a", "ok b"] };
            stage.tests(&lines);
            stage.andon(&["test"])
        }
        Door::ClientHook => {
            hook(stage, "terminal", &json!({ "command": "sh check.sh" }), (output, i32::from(red)))
        }
        Door::Reports => {
            std::fs::write(stage.root().join("report.tap"), output).unwrap();
            let exit = if red { "1" } else { "0" };
            stage.andon(&["observe", "test_run", "--report", "../report.tap", "--exit-code", exit])
        }
        Door::TestRunEvent => {
            let code = status(stage)["code"]["work_tree"].clone();
            let (ended, failing) = if red { ("failed", vec!["b"]) } else { ("passed", vec![]) };
            let run = json!({ "code": code, "status": ended, "total": 2, "failing": failing });
            observe(stage, "test_run", &run)
        }
        Door::ToolCallEvent => {
            let args = json!({ "command": "sh check.sh" });
            let call = json!({ "tool": "Bash", "args": args, "result": output, "error": red });
            observe(stage, "tool_call", &call)
        }
    }
}

fn edit(stage: &Stage, door: Door, number: u32) {
    stage.write("code.txt", format!("{number}\n"));
    let args = json!({ "command": "create", "path": "code.txt", "file_text": number.to_string() });
    match door {
        Door::ClientHook => drop(hook(stage, "file_editor", &args, ("done", 0))),
        Door::ToolCallEvent => drop(observe(stage, "tool_call", &json!({ "tool": "Edit", "args": args }))),
        Door::AndonTest | Door::Reports | Door::TestRunEvent => {}
    }
}

#[test]
fn six_red_runs_within_a_turn_halt_at_every_door() {
    for door in DOORS {
        let stage = Stage::installed();
        for number in 1..=5 {
            edit(&stage, door, number);
            run(&stage, door, RED);
        }
        // The same code once more is no attempt.
        run(&stage, door, RED);
        assert!(!is_halted(&stage), "{door:?}: nothing was edited");
        assert_eq!(status(&stage)["trend_in_turn"], json!([1, 1, 1, 1, 1]), "{door:?}");
        stage.andon(&["status"]).ok().says("this turn  1 -> 1 -> 1 -> 1 -> 1 failing");
        edit(&stage, door, 6);
        run(&stage, door, RED);
        let halt = &status(&stage)["last_halt"];
        assert_eq!(halt["rule"], "red-runs", "{door:?}: {halt}");
        assert_eq!(
            halt["evidence"]["trend"].as_array().map(|trend| trend.ends_with(&[json!(1), json!(1)])),
            Some(true)
        );
        assert!(is_halted(&stage), "{door:?}");
    }
}

#[test]
fn red_and_green_by_turns_is_work_at_every_door() {
    for door in DOORS {
        let stage = Stage::installed();
        // More red runs than halt in a row.
        for number in 0..7 {
            edit(&stage, door, 2 * number);
            run(&stage, door, RED);
            edit(&stage, door, 2 * number + 1);
            run(&stage, door, GREEN);
        }
        assert!(!is_halted(&stage), "{door:?}");
        assert_eq!(status(&stage)["trend_in_turn"], json!([]), "{door:?}");
    }
}

#[test]
fn a_comparison_with_what_is_committed_is_work_at_every_door() {
    for door in DOORS {
        let stage = Stage::installed();
        // What is committed is red, and that is known.
        stage.tests(&["ok a", "not ok b"]);
        stage.andon(&["test"]);
        stage.git(&["commit", "-qam", "Show the fault"]).ok();
        for number in 0..7 {
            edit(&stage, door, number);
            run(&stage, door, RED);
            stage.git(&["stash", "-q"]).ok();
            run(&stage, door, RED);
            stage.git(&["stash", "drop", "-q"]).ok();
        }
        assert!(!is_halted(&stage), "{door:?}");
    }
}

#[test]
fn refused_commits_between_them_take_nothing_from_the_row() {
    let (stage, door) = (Stage::installed(), Door::AndonTest);
    for number in 1..=6 {
        edit(&stage, door, number);
        run(&stage, door, RED);
        // This was not tested.
        edit(&stage, door, 100 + number);
        stage.git(&["commit", "-qam", "Try"]).refused();
    }
    assert_eq!(status(&stage)["last_halt"]["rule"], "red-runs");
    // Each attempt counts: what was given up, and what is refused still.
    assert!(status(&stage)["iteration"].as_u64().unwrap() >= 6);
}

#[test]
fn refusals_count_whether_git_or_an_orchestrator_tells_of_them() {
    let stage = Stage::installed();
    for number in 1..=5_u32 {
        assert!(!is_halted(&stage), "{number}");
        let line =
            json!({ "type": "commit_refused", "code": format!("{number:064}"), "rule": "untested-edit" });
        observe(&stage, "event", &line);
    }
    assert_eq!(status(&stage)["last_halt"]["rule"], "refused-commits");
    assert!(is_halted(&stage));
}

#[test]
fn calls_of_earlier_and_runs_under_other_names_are_not_bound_to_the_code_of_now() {
    let stage = Stage::installed();
    let observe = |line: &Value| observe(&stage, "event", line);
    let call = |at: Option<&str>| json!({ "type": "tool_call", "tool": "Bash", "args": { "command": "sh check.sh" }, "error": true, "at": at });
    let runs = || stage.read(".git/andon/journal.jsonl").matches(r#""type":"test_run""#).count();
    let before = runs();
    observe(&call(Some("2026-11-20T12:00:00Z"))).ok();
    assert_eq!(runs(), before, "hours ago");
    observe(&json!({ "type": "test_run", "code": "v1", "status": "failed", "failing": ["b"] }));
    observe(&call(None)).ok();
    assert_eq!(runs(), before + 1, "told as v1 already");
}
