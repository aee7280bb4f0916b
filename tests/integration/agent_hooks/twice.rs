//! What is reported twice, and at the same time.

use std::{collections::BTreeSet, process::Stdio};

use super::{hook, lines};
use crate::support::{Out, Stage, andon_path};

/// The ids of the lines of one type in the journal, and how many lines there are.
fn ids(stage: &Stage, kind: &str) -> (usize, usize) {
    let lines = lines(stage, "journal");
    let of_kind: Vec<String> =
        lines.iter().filter(|line| line["type"] == kind).map(|line| line["id"].to_string()).collect();
    (of_kind.iter().collect::<BTreeSet<_>>().len(), of_kind.len())
}

/// One event of Copilot's, in whose settings we are and which reads Claude Code's beside: what both hooks answer.
fn both(stage: &Stage, events: [&str; 2], flat: &serde_json::Value, shaped: &serde_json::Value) -> [Out; 2] {
    [("copilot", events[0], flat), ("claude", events[1], shaped)]
        .map(|(client, event, payload)| hook(stage, client, event, &payload.to_string()))
}

fn call(stage: &Stage, command: &str, answer: &str) -> [Out; 2] {
    let args = serde_json::json!({ "command": command, "description": "run a command" });
    let text = format!("{answer}\n<shellId: 0 completed with exit code 0>");
    let flat = serde_json::json!({ "sessionId": "c", "timestamp": 1_795_384_178_815_u64, "toolName": "bash", "toolArgs": args,
        "toolResult": { "resultType": "success", "textResultForLlm": text } });
    let shaped = serde_json::json!({ "hook_event_name": "PostToolUse", "session_id": "c", "tool_name": "Bash",
        "tool_input": args, "tool_result": { "result_type": "success", "text_result_for_llm": text } });
    both(stage, ["postToolUse", "PostToolUse"], &flat, &shaped)
}

#[test]
fn copilot_beside_claudes_settings_is_one_session() {
    let stage = Stage::installed();
    let (flat, shaped) =
        (serde_json::json!({ "sessionId": "c", "source": "new" }), serde_json::json!({ "session_id": "c" }));
    both(&stage, ["sessionStart", "SessionStart"], &flat, &shaped);
    let mut nudges = 0;
    for _ in 0..4 {
        let said = call(&stage, "make", "nothing to be done");
        nudges += said.iter().filter(|out| out.all().contains("additionalContext")).count();
    }
    assert_eq!(ids(&stage, "tool_call"), (4, 8));
    assert_eq!(nudges, 1, "the model gets it once");
    // Four alike are no five: the loop goes on.
    stage.andon(&["status", "--exit-code"]).ok();
    stage.write("code.txt", "two\n");
    stage.andon(&["test"]).ok();
    both(&stage, ["agentStop", "Stop"], &flat, &shaped);
    assert_eq!(ids(&stage, "turn_end"), (1, 2));
    // The first belongs to the commit that came before it.
    stage.andon(&["status"]).ok().says("Loop 1/100");
    both(&stage, ["agentStop", "Stop"], &flat, &shaped);
    stage.andon(&["status"]).ok().says("Loop 2/100");
    // The code is another one by now, and the row began anew.
    for _ in 0..4 {
        call(&stage, "make", "nothing to be done");
    }
    // The fifth alike: said by the hook that comes first, and once.
    let said = call(&stage, "make", "nothing to be done").map(|out| out.all().contains("halted"));
    assert_eq!(said, [true, false]);
    assert_eq!(stage.andon(&["status", "--exit-code"]).code, 1);
}

/// A plugin, a copy in another file: whatever starts the hooks again reports the same prompt and the same end of its turn.
#[test]
fn what_names_its_prompt_counts_once_whatever_starts_the_hooks_again() {
    let stage = Stage::installed();
    // The first is a question of a person, and no iteration; the others are the same again.
    for turn in 0..3 {
        for (event, more) in
            [("UserPromptSubmit", r#""prompt":"go on""#), ("Stop", r#""stop_hook_active":false"#)]
        {
            let payload = format!(r#"{{"session_id":"s","prompt_id":"p{turn}",{more}}}"#);
            for _ in 0..3 {
                hook(&stage, "claude", event, &payload).ok();
            }
        }
    }
    assert_eq!(ids(&stage, "turn_end"), (2, 2));
}

#[test]
fn parallel_calls_are_as_many_as_there_are() {
    for (id, calls) in [("", 8), (r#""tool_use_id":"one","#, 1)] {
        let stage = Stage::installed();
        let call = format!(
            r#"{{{id}"session_id":"g","tool_name":"run_shell_command","tool_input":{{"command":"sleep 1"}},"tool_response":{{"llmContent":"x"}}}}"#
        );
        let start = |_: usize| {
            let mut command = stage.command(stage.dir(), andon_path());
            command
                .args(["agent", "hook", "qwen", "PostToolUse"])
                .stdin(Stdio::piped())
                .stdout(Stdio::null());
            let mut child = command.stderr(Stdio::null()).spawn().unwrap();
            std::io::Write::write_all(&mut child.stdin.take().unwrap(), call.as_bytes()).unwrap();
            child
        };
        for mut child in (0..8).map(start).collect::<Vec<_>>() {
            assert!(child.wait().unwrap().success());
        }
        assert_eq!(ids(&stage, "tool_call"), (calls, calls), "{id}");
    }
}

/// Only the end of what hooks did is read: a number must not be made from how much of it that is.
#[test]
fn in_a_long_session_no_call_is_taken_for_an_earlier_one() {
    let stage = Stage::installed();
    let call = r#"{"session_id":"g","tool_name":"run_shell_command","tool_input":{"command":"make"},"tool_response":{"llmContent":"x"}}"#;
    let other = r#"{"about":"","client":"gemini","did":"called","session":"g","type":"agent","mark":"0000000000000000"}"#;
    for _ in 0..3 {
        hook(&stage, "gemini", "AfterTool", call).ok();
        let path = stage.path(".git/andon/agents.jsonl");
        let mut text = std::fs::read_to_string(&path).unwrap();
        text.push_str(&format!("{other}\n").repeat(1500));
        std::fs::write(path, text).unwrap();
    }
    assert_eq!(ids(&stage, "tool_call"), (3, 3));
}
