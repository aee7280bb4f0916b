//! Sessions in which nothing goes round: they are not halted, and not held.

use serde_json::{Value, json};

use super::{hook, lines};
use crate::support::{Out, Stage};

/// The events of a client: a session, a prompt, the end of a turn.
const TURNS: [(&str, [&str; 3]); 6] = [
    ("claude", ["SessionStart", "UserPromptSubmit", "Stop"]),
    ("codex", ["SessionStart", "UserPromptSubmit", "Stop"]),
    ("copilot", ["SessionStart", "UserPromptSubmit", "Stop"]),
    ("gemini", ["SessionStart", "BeforeAgent", "AfterAgent"]),
    ("qwen", ["SessionStart", "UserPromptSubmit", "Stop"]),
    ("kimi", ["SessionStart", "UserPromptSubmit", "Stop"]),
];

fn send(stage: &Stage, client: &str, event: &str, payload: &Value) -> Out {
    hook(stage, client, event, &payload.to_string())
}

fn is_halted(stage: &Stage) -> bool {
    stage.andon(&["status", "--exit-code"]).code == 1
}

/// A prompt, and the end of its turn.
fn ask(stage: &Stage, (client, events): (&str, [&str; 3]), session: &str, prompt: &str) -> Out {
    // Kimi Code tells the parts of a prompt.
    let text = if client == "kimi" { json!([{ "type": "text", "text": prompt }]) } else { json!(prompt) };
    let told = json!({ "session_id": session, "prompt": text, "prompt_id": prompt });
    send(stage, client, events[1], &told).ok();
    send(
        stage,
        client,
        events[2],
        &json!({ "session_id": session, "last_assistant_message": "It is like this." }),
    )
}

#[test]
fn questions_of_a_person_are_no_idle_turns_and_a_loop_is() {
    for (client, events) in TURNS {
        let stage = Stage::installed();
        send(&stage, client, events[0], &json!({ "session_id": "s", "source": "startup" })).ok();
        // One more than the turns that halt below.
        for question in ["what is this?", "why?", "since when?", "who wrote it?", "is it good?"] {
            ask(&stage, (client, events), "s", question).ok();
        }
        assert!(!is_halted(&stage), "{client}");
        let turns = lines(&stage, "journal").iter().filter(|line| line["type"] == "turn_end").count();
        assert_eq!(turns, 1, "{client}: the first may be that of a headless run");
    }
    for (client, events) in TURNS {
        let stage = Stage::installed();
        for turn in 0..4 {
            let session = format!("s{turn}");
            send(&stage, client, events[0], &json!({ "session_id": session, "source": "startup" })).ok();
            ask(&stage, (client, events), &session, "go on");
        }
        assert!(is_halted(&stage), "{client}: the same prompt again and again");
    }
    let stage = Stage::installed();
    send(&stage, "claude", "SessionStart", &json!({ "session_id": "s", "source": "startup" })).ok();
    ask(&stage, TURNS[0], "s", "what is this?").ok();
    ask(&stage, TURNS[0], "s", "go on").ok();
    for _ in 0..3 {
        send(&stage, "claude", "Stop", &json!({ "session_id": "s", "stop_hook_active": true }));
    }
    assert!(is_halted(&stage), "a hook keeps it going");
}

#[test]
fn questions_that_have_the_same_files_read_are_no_loop_and_one_question_is() {
    let halts = |prompts: &[&str]| {
        let stage = Stage::installed();
        send(&stage, "claude", "SessionStart", &json!({ "session_id": "s", "source": "startup" })).ok();
        for (turn, prompt) in prompts.iter().enumerate() {
            send(&stage, "claude", "UserPromptSubmit", &json!({ "session_id": "s", "prompt": prompt })).ok();
            for (call, command) in ["cat README.md", "git log --oneline"].iter().enumerate() {
                let payload = json!({ "session_id": "s", "tool_name": "Bash",
                    "tool_use_id": format!("{turn}-{call}"), "tool_input": { "command": command },
                    "tool_response": { "stdout": format!("the answer to {command}") } });
                send(&stage, "claude", "PostToolUse", &payload);
            }
            send(&stage, "claude", "Stop", &json!({ "session_id": "s" }));
        }
        is_halted(&stage)
    };
    assert!(!halts(&["what is this?", "why?", "since when?", "who wrote it?", "is it good?", "really?"]));
    assert!(halts(&["go on"; 6]), "the same again and again");
}

#[test]
fn where_a_person_sits_the_first_question_is_one_too() {
    let stage = Stage::installed();
    for turn in 0..5 {
        for (event, prompt) in [("SessionStart", ""), ("UserPromptSubmit", "why?"), ("Stop", "")] {
            let payload = json!({ "session_id": format!("s{turn}"), "prompt": format!("{prompt}{turn}") });
            let mut command = stage.command(stage.dir(), crate::support::andon_path());
            command.args(["agent", "hook", "claude", event]).env("CLAUDE_CODE_ENTRYPOINT", "cli");
            command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null());
            let mut child = command.spawn().unwrap();
            std::io::Write::write_all(&mut child.stdin.take().unwrap(), payload.to_string().as_bytes())
                .unwrap();
            assert!(child.wait().unwrap().success());
        }
    }
    assert!(!is_halted(&stage));
}

#[test]
fn a_question_in_a_dirty_tree_is_not_held_and_a_change_is() {
    let stage = Stage::installed();
    stage.write("code.txt", "of the person\n");
    send(&stage, "claude", "SessionStart", &json!({ "session_id": "s", "source": "startup" })).ok();
    send(&stage, "claude", "UserPromptSubmit", &json!({ "session_id": "s", "prompt": "what is this?" })).ok();
    let call = |id: &str, tool: &str, input: Value| {
        json!({ "session_id": "s", "tool_name": tool, "tool_use_id": id, "tool_input": input,
            "tool_response": { "stdout": "x" } })
    };
    for (id, tool, input) in [
        ("1", "Read", json!({ "file_path": "code.txt" })),
        ("2", "Bash", json!({ "command": "git diff" })),
        ("3", "Bash", json!({ "command": "grep -n person code.txt" })),
    ] {
        send(&stage, "claude", "PostToolUse", &call(id, tool, input)).ok();
    }
    let stop = |stage: &Stage| send(stage, "claude", "Stop", &json!({ "session_id": "s" }));
    assert_eq!(stop(&stage).ok().all(), "");
    send(&stage, "claude", "UserPromptSubmit", &json!({ "session_id": "s", "prompt": "change it" })).ok();
    send(&stage, "claude", "PostToolUse", &call("4", "Edit", json!({ "file_path": "code.txt" }))).ok();
    stop(&stage).exits(2).says("not done yet");
}

/// Droid tells nothing of a call that failed, and Kimi Code ends a turn without waiting for what it tells.
#[test]
fn a_change_by_a_call_whose_end_was_not_told_is_held() {
    for client in ["kimi", "droid"] {
        let stage = Stage::installed();
        let tell = |event: &str, more: Value| {
            let mut told = json!({ "session_id": "s", "hook_event_name": event });
            told.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            send(&stage, client, event, &told)
        };
        tell("SessionStart", json!({ "source": "startup" })).ok();
        tell("UserPromptSubmit", json!({ "prompt": "change it" })).ok();
        let shell = if client == "kimi" { "Bash" } else { "Execute" };
        let input = json!({ "command": "sed -i s/a/b/ code.txt; false" });
        tell("PreToolUse", json!({ "tool_name": shell, "tool_input": input })).ok();
        stage.write("code.txt", "of the agent\n");
        tell("Stop", json!({ "stop_hook_active": false })).exits(2).says("not done yet");
    }
}

#[test]
fn the_window_is_that_of_the_model() {
    let usage = |stage: &Stage| {
        let found = lines(stage, "journal").into_iter().rfind(|line| line["type"] == "usage").unwrap();
        found["window_tokens"].clone()
    };
    let stage = Stage::installed();
    let stop = json!({ "session_id": "q", "context_limit": 131_072, "input_tokens": 110_000 });
    send(&stage, "qwen", "Stop", &stop).ok();
    assert_eq!(usage(&stage), 131_072);
    let answer = json!({ "session_id": "g", "llm_response": {
        "candidates": [{ "finishReason": "STOP" }], "usageMetadata": { "promptTokenCount": 300_000 } } });
    send(&stage, "gemini", "AfterModel", &answer).ok();
    assert_eq!(usage(&stage), 1_000_000);
    let line = |used: u64| {
        json!({ "payload": { "type": "token_count", "info": { "model_context_window": 258_400,
            "total_token_usage": { "n": used }, "last_token_usage": { "input_tokens": used } } } })
    };
    stage.write(".git/t.jsonl", format!("{}\n{}\n", line(180_000), line(0)));
    let call = json!({ "session_id": "c", "transcript_path": stage.path(".git/t.jsonl"), "tool_name": "Bash",
        "tool_use_id": "1", "tool_input": { "command": "make" }, "tool_response": "x" });
    send(&stage, "codex", "PostToolUse", &call).ok();
    assert_eq!(usage(&stage), 258_400);
    let call = json!({ "session_id": "c", "tool_name": "Bash", "tool_use_id": "2", "tool_input": { "command": "make" } });
    send(&stage, "codex", "PreToolUse", &call).ok();
    let shown = stage.andon(&["context", "--format", "json"]).ok().stdout;
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((&shown["used"], &shown["window"]), (&180_000.into(), &258_400.into()), "{shown}");
}

#[test]
fn subagents_that_read_the_same_are_no_loop_and_one_that_does_is() {
    let read = |stage: &Stage, who: &str, id: &str| {
        let payload = json!({ "session_id": "s", "agent_id": who, "tool_name": "Read", "tool_use_id": id,
            "tool_input": { "file_path": "README.md" }, "tool_response": { "content": "hello" } });
        send(stage, "claude", "PostToolUse", &payload)
    };
    let stage = Stage::installed();
    for who in ["a", "b", "c", "d", "e", "f"] {
        assert_eq!(read(&stage, who, who).ok().all(), "");
    }
    assert!(!is_halted(&stage));
    for id in ["1", "2", "3", "4"] {
        read(&stage, "a", id).ok();
    }
    assert!(is_halted(&stage));
}

#[test]
fn one_compaction_is_one_whichever_hooks_report_it() {
    let stage = Stage::installed();
    let count =
        |stage: &Stage| lines(stage, "journal").iter().filter(|line| line["type"] == "compaction").count();
    for round in 0..3 {
        for (event, source) in [("PreCompact", ""), ("SessionStart", "compact"), ("PostCompact", "")] {
            send(&stage, "claude", event, &json!({ "session_id": "s", "source": source })).ok();
        }
        send(&stage, "copilot", "PreCompact", &json!({ "session_id": "s" })).ok();
        assert_eq!(count(&stage), round + 1);
        let call = json!({ "session_id": "s", "tool_name": "Read", "tool_use_id": round.to_string(), "tool_input": {} });
        send(&stage, "claude", "PostToolUse", &call).ok();
    }
    assert!(!is_halted(&stage));
}

#[test]
fn hooks_of_the_project_and_of_the_user_count_once() {
    // Kimi Code has hooks of a user alone.
    for (client, events) in TURNS.into_iter().filter(|(client, _)| *client != "kimi") {
        let stage = Stage::installed();
        stage.andon(&["agent", "install", client, "--project"]).ok();
        stage.andon(&["agent", "install", client, "--user"]).ok();
        let twice = |event: &str, payload: &Value| {
            send(&stage, client, event, payload);
            send(&stage, client, event, payload)
        };
        for turn in 0..2 {
            let session = format!("s{turn}");
            twice(events[0], &json!({ "session_id": session, "source": "startup" })).ok();
            twice(events[1], &json!({ "session_id": session, "prompt": "go on" })).ok();
            twice(events[2], &json!({ "session_id": session }));
        }
        let turns = lines(&stage, "journal").iter().filter(|line| line["type"] == "turn_end").count();
        assert_eq!(turns, 2, "{client}");
        assert!(!is_halted(&stage), "{client}");
    }
    let stage = Stage::installed();
    stage.andon(&["agent", "install", "gemini", "--project"]).ok();
    stage.andon(&["agent", "install", "gemini", "--user"]).ok();
    let call = json!({ "session_id": "g", "tool_name": "run_shell_command", "tool_input": { "command": "make" },
        "tool_response": { "llmContent": "x" } });
    for _ in 0..8 {
        send(&stage, "gemini", "AfterTool", &call).ok();
    }
    assert!(!is_halted(&stage), "four calls, each reported twice");
}

#[test]
fn a_loop_in_the_shell_around_hooks_counts_each_turn_once() {
    let stage = Stage::installed();
    for turn in 0..3 {
        stage.andon(&["observe", "turn_start"]).ok();
        let session = format!("s{turn}");
        send(&stage, "claude", "SessionStart", &json!({ "session_id": session, "source": "startup" })).ok();
        let edit = json!({ "session_id": session, "tool_name": "Edit", "tool_use_id": session,
            "tool_input": { "file_path": "code.txt", "new_string": session }, "tool_response": {} });
        stage.write("code.txt", format!("{turn}\n"));
        send(&stage, "claude", "PostToolUse", &edit).ok();
        stage.andon(&["test"]).ok();
        send(&stage, "claude", "Stop", &json!({ "session_id": session })).ok();
        stage.andon(&["tick"]).ok();
    }
    stage.andon(&["status"]).ok().says("Loop 3/100");
}

/// What an agent does within one turn: it edits, and runs the tests.
fn tries(stage: &Stage, code: &str, report: &[&str]) -> Out {
    let edit = json!({ "session_id": "s", "tool_name": "Write", "tool_input": { "file_path": "code.txt", "content": code } });
    stage.write("code.txt", code);
    hook(stage, "claude", "PostToolUse", &edit.to_string()).ok();
    stage.tests(report);
    stage.andon(&["test"])
}

#[test]
fn red_runs_within_a_turn_halt_and_progress_does_not() {
    let stage = Stage::installed();
    for code in 1..=5 {
        tries(&stage, &format!("{code}\n"), &["ok a", "not ok b"]);
        stage.andon(&["status", "--exit-code"]).ok();
    }
    let sixth = tries(&stage, "6\n", &["ok a", "not ok b"]);
    assert!(sixth.stderr.contains("red-runs"), "{sixth:?}");
    let status = stage.andon(&["status", "--exit-code"]);
    assert_eq!(status.code, 1, "{status:?}");
    let stop = hook(&stage, "claude", "Stop", r#"{"session_id":"s"}"#);
    assert!(stop.stdout.contains(r#""continue":false"#), "{stop:?}");

    let stage = Stage::installed();
    for failing in (1..10).rev() {
        let report: Vec<String> = (0..10)
            .map(|test| if test < failing { format!("not ok t{test}") } else { format!("ok t{test}") })
            .collect();
        let report: Vec<&str> = report.iter().map(String::as_str).collect();
        tries(&stage, &format!("{failing}\n"), &report);
    }
    stage.andon(&["status", "--exit-code"]).ok();
}
