//! Before and after a tool: what is refused, how it is said, and the messages that the model gets once.

use super::{bash, halted, hook, lines};
use crate::support::Stage;

#[test]
fn a_halt_is_said_in_full_once_and_then_in_a_line() {
    let stage = halted();
    let first = hook(&stage, "claude", "PreToolUse", &bash("make")).exits(2);
    assert!(first.stderr.starts_with("refused: this loop is halted") && first.stdout.is_empty(), "{first}");
    assert!(first.stderr.chars().count() < 800 && first.stderr.contains("repeated-failures"), "{first}");
    // Who goes on is not asked again.
    let second = hook(&stage, "claude", "PreToolUse", &bash("ls; rm x")).ok();
    assert_eq!(second.all().lines().count(), 1, "{second}");
    second.says("\"continue\":false").says("\"deny\"");
    for reading in
        ["andon status", "andon log", "andon show", "andon review show 1", "git log --oneline | head -3"]
    {
        let out = hook(&stage, "claude", "PreToolUse", &bash(reading)).ok();
        assert_eq!(out.all(), "", "{reading}");
    }
    let edit = r#"{"session_id":"t","tool_name":"Edit","tool_input":{"file_path":"code.txt"}}"#;
    hook(&stage, "claude", "PreToolUse", edit).exits(2).says("this loop is halted");
    hook(&stage, "claude", "PreToolUse", &bash("andon resume -r x")).exits(2).says("only a person answers");
    stage.andon(&["resume", "-r", "looked at it"]).ok();
    assert_eq!(hook(&stage, "claude", "PreToolUse", &bash("make")).ok().all(), "");
}

#[test]
fn what_disarms_is_refused_while_the_loop_runs() {
    let stage = Stage::installed();
    for command in [
        "ANDON=0 git commit -m x",
        "git config core.hooksPath x",
        "andon uninstall",
        "env -u CLAUDECODE andon stop",
    ] {
        hook(&stage, "codex", "PreToolUse", &bash(command)).exits(2).says("refused");
    }
    let facts = lines(&stage, "agents");
    assert_eq!(facts.iter().filter(|fact| fact["did"] == "refused").count(), 4);
    // What else a command does is judged by what it did (guard_state.rs); what it says in passing is not.
    for command in ["sed -i 's/x = .*/y/' a", "shellcheck .git/hooks/pre-commit", "cat .claude/settings.json"]
    {
        assert_eq!(hook(&stage, "codex", "PreToolUse", &bash(command)).ok().all(), "", "{command}");
    }
    hook(&stage, "codex", "PreToolUse", &bash("git commit --no-verify -m x")).ok().says("bypassed");
}

#[test]
fn each_client_is_refused_in_its_own_way() {
    let stage = halted();
    let (shell, edit) = (bash("make"), r#"{"tool_name":"Write","tool_input":{"file_path":"a"}}"#);
    for client in ["claude", "codex", "qwen", "openhands", "goose"] {
        let out = hook(&stage, client, "PreToolUse", &shell).exits(2);
        assert!(out.stdout.is_empty() && out.stderr.contains("halted"), "{client}: {out}");
    }
    let out = hook(&stage, "gemini", "BeforeTool", &shell).exits(2);
    assert!(out.stdout.is_empty() && out.stderr.contains("halted"), "{out}");
    let out =
        hook(&stage, "copilot", "preToolUse", r#"{"toolName":"bash","toolArgs":"{\"command\":\"make\"}"}"#)
            .exits(2);
    assert!(
        out.stdout.starts_with(r#"{"permissionDecision":"deny","permissionDecisionReason":"refused: this"#),
        "{out}"
    );
    let out = hook(&stage, "cursor", "preToolUse", edit).exits(2);
    assert!(out.stdout.contains(r#""permission":"deny""#), "{out}");
    let call = r#"{"tool_call":{"id":"1","name":"run_commands","input":{"commands":["make"]}}}"#;
    let out = hook(&stage, "cline", "PreToolUse", call).exits(0);
    assert!(out.stdout.starts_with(r#"{"overrideInput":{"commands":["printf "#), "{out}");
    let call = r#"{"tool_call":{"id":"1","name":"editor","input":{"path":"a"}}}"#;
    assert!(hook(&stage, "cline", "PreToolUse", call).ok().stdout.starts_with(r#"{"cancel":true"#));
    let call = r#"{"input":{"tool":"bash","sessionID":"x"},"output":{"args":{"command":"make"}}}"#;
    hook(&stage, "opencode", "tool.execute.before", call).exits(2).says("halted");
}

/// A model that was refused and goes on asks for ever: the second refusal ends its session where the client has a way.
#[test]
fn the_second_refusal_ends_the_session() {
    let stage = halted();
    let shared = bash("make");
    let of_cline =
        r#"{"taskId":"t","tool_call":{"id":"1","name":"run_commands","input":{"commands":["make"]}}}"#;
    let of_plugin = r#"{"input":{"tool":"bash","sessionID":"x"},"output":{"args":{"command":"make"}}}"#;
    for (client, event, call, ends, exit) in [
        ("claude", "PreToolUse", shared.as_str(), "\"continue\":false", 0),
        ("droid", "PreToolUse", &shared, "\"continue\":false", 0),
        ("gemini", "BeforeTool", &shared, "\"decision\":\"block\"", 0),
        ("pi", "tool_call", &shared, "\"continue\":false", 2),
        ("opencode", "tool.execute.before", of_plugin, "\"continue\":false", 2),
        ("kilo", "tool.execute.before", of_plugin, "\"continue\":false", 2),
        ("cline", "PreToolUse", of_cline, "\"cancel\":true", 0),
    ] {
        let first = hook(&stage, client, event, call);
        assert!(!first.stdout.contains(ends), "{client}: {first}");
        let second = hook(&stage, client, event, call).exits(exit);
        assert!(second.stdout.contains(ends) && second.all().contains("still halted"), "{client}: {second}");
        assert_eq!(second.stderr.is_empty(), exit == 0, "{client}: {second}");
    }
    for client in ["codex", "qwen", "kimi", "goose"] {
        for _ in 0..3 {
            let out = hook(&stage, client, "PreToolUse", &shared).exits(2);
            assert_eq!(out.stdout, "", "{client}");
        }
    }
}

#[test]
fn a_compaction_does_not_hide_that_the_loop_is_halted() {
    let stage = Stage::installed();
    let call = r#"{"input":{"sessionID":"x"},"output":{}}"#;
    hook(&stage, "opencode", "experimental.session.compacting", call).ok().lacks("HALTED");
    stage.write(".andon/STOP", "");
    for event in ["experimental.session.compacting", "session.created"] {
        hook(&stage, "opencode", event, call).ok().says("HALTED by a person");
    }
    stage.andon(&["tick"]).exits(1);
    for event in ["experimental.session.compacting", "session.created"] {
        hook(&stage, "opencode", event, call).ok().says("HALTED by user-stop");
    }
}

#[test]
fn geminis_git_gets_its_hooks_back() {
    let stage = Stage::installed();
    let call =
        r#"{"session_id":"g","tool_name":"run_shell_command","tool_input":{"command":"git commit -qam x"}}"#;
    let out = hook(&stage, "gemini", "BeforeTool", call).ok();
    let answer: serde_json::Value = serde_json::from_str(&out.stdout).unwrap();
    let command = answer["hookSpecificOutput"]["tool_input"]["command"].as_str().unwrap().to_owned();
    assert!(command.starts_with("export GIT_CONFIG_PARAMETERS=\"'core.hooksPath=/"), "{command}");
    // As Gemini's shell has it: without the rewrite the commit goes round the gate, with it the gate refuses.
    for (name, value) in
        [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "core.hooksPath"), ("GIT_CONFIG_VALUE_0", "")]
    {
        stage.set(name, value);
    }
    stage.write("code.txt", "untested\n");
    stage.run_in(stage.dir(), "bash", &["-c", &command], None).refused().says("untested-edit");
    stage.run_in(stage.dir(), "bash", &["-c", "git commit -qam x"], None).ok();
    for name in ["GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0"] {
        stage.unset(name);
    }
    let after = r#"{"session_id":"g","tool_name":"run_shell_command","tool_input":{"command":"git commit -qam x"},"tool_response":{"llmContent":"Output: x"}}"#;
    hook(&stage, "gemini", "AfterTool", after).ok();
    assert_eq!(stage.record("HEAD")["gate"], "bypassed");
}

#[test]
fn a_loop_of_calls_is_told_once_and_then_halts() {
    let stage = Stage::installed();
    let call = |id: u8| {
        format!(
            r#"{{"session_id":"s","tool_name":"Bash","tool_use_id":"{id}","tool_input":{{"command":"make"}},"tool_response":{{"stdout":"same","stderr":""}}}}"#
        )
    };
    let told: Vec<bool> = (0..5)
        .map(|id| hook(&stage, "claude", "PostToolUse", &call(id)).ok().stdout)
        .map(|said| said.contains("the last 3 tool calls were the same") || said.contains("halted now"))
        .collect();
    assert_eq!(told, [false, false, true, false, true]);
    // What the model has read in full is a line from then on, and the person reads it in full once.
    let refused =
        hook(&stage, "claude", "PreToolUse", &bash("make")).exits(2).says("still halted (tool-loop)");
    assert_eq!(refused.all().lines().count(), 1, "{refused}");
    hook(&stage, "claude", "PreToolUse", &bash("make")).ok().says("\"continue\":false");
    let session = r#"{"session_id":"s"}"#;
    hook(&stage, "claude", "Stop", session).ok().says("ends halted: tool-loop: the last 5 tool calls");
    hook(&stage, "claude", "Stop", session).ok().says("ends halted: tool-loop. A person answers");
    // The same call told twice is one.
    let before = lines(&stage, "journal").len();
    hook(&stage, "claude", "PostToolUse", &call(4)).ok();
    assert_eq!(lines(&stage, "journal").len(), before);
}

#[test]
fn the_second_of_three_failures_is_reported() {
    let stage = Stage::installed();
    stage.iterate("1\n", &["ok a", "not ok b"], "Try 1").ok();
    let done = |id: u8| {
        format!(
            r#"{{"session_id":"s","tool_name":"Bash","tool_use_id":"{id}","tool_input":{{"command":"git commit {id}"}},"tool_response":{{"stdout":"{id}"}}}}"#
        )
    };
    hook(&stage, "claude", "PostToolUse", &done(1)).ok().lacks("additionalContext");
    stage.iterate("2\n", &["ok a", "not ok b"], "Try 2").ok();
    hook(&stage, "claude", "PostToolUse", &done(2))
        .ok()
        .says("additionalContext")
        .says("failed 2 times in a row");
    hook(&stage, "claude", "PostToolUse", &done(3)).ok().lacks("additionalContext");
}

#[test]
fn two_doors_of_one_call_are_one_call() {
    let stage = Stage::installed();
    let flat = r#"{"sessionId":"c","toolName":"bash","toolArgs":{"command":"make"},"toolResult":{"resultType":"success","textResultForLlm":"x"}}"#;
    let shaped = r#"{"session_id":"c","tool_name":"Bash","tool_input":{"command":"make"},"tool_result":{"result_type":"success","text_result_for_llm":"x"}}"#;
    for _ in 0..2 {
        hook(&stage, "copilot", "postToolUse", flat).ok();
        hook(&stage, "claude", "PostToolUse", shaped).ok();
    }
    let calls = lines(&stage, "journal");
    let ids: std::collections::BTreeSet<String> =
        calls.iter().filter(|line| line["type"] == "tool_call").map(|line| line["id"].to_string()).collect();
    assert_eq!(ids.len(), 2, "{calls:?}");
}

fn tool(name: &str, file: &str) -> String {
    serde_json::json!({ "session_id": "s", "tool_name": name, "tool_input": { "file_path": file } })
        .to_string()
}

#[test]
fn a_window_that_is_nearly_full_asks_for_the_briefing_and_lets_it_be_written() {
    let stage = Stage::installed();
    let transcript = stage.root().join("t.jsonl");
    let line = r#"{"type":"assistant","message":{"id":"m1","usage":{"input_tokens":100,"cache_read_input_tokens":162000,"output_tokens":5}}}"#;
    std::fs::write(&transcript, format!("{line}\n")).unwrap();
    let call = |id: &str| {
        serde_json::json!({ "session_id": "s", "tool_name": "Bash", "tool_use_id": id, "transcript_path": transcript,
            "tool_input": { "command": format!("make {id}") }, "tool_response": { "stdout": "" } })
        .to_string()
    };
    hook(&stage, "claude", "PostToolUse", &call("1")).ok().says(".andon/MISSION_BRIEFING.md").says("81 %");
    hook(&stage, "claude", "PostToolUse", &call("2")).ok().lacks("MISSION_BRIEFING");
    hook(&stage, "claude", "PreToolUse", &tool("Write", ".andon/MISSION_BRIEFING.md")).ok();
    hook(&stage, "claude", "PreToolUse", &call("3")).ok();
}

#[test]
fn a_window_of_three_quarters_is_told_to_the_model_once() {
    let stage = Stage::installed();
    let transcript = stage.root().join("t.jsonl");
    let call = |id: &str, tokens: u64| {
        let usage =
            serde_json::json!({ "input_tokens": 100, "cache_read_input_tokens": tokens, "output_tokens": 5 });
        let line = serde_json::json!({ "type": "assistant", "message": { "id": id, "usage": usage } });
        std::fs::write(&transcript, format!("{line}\n")).unwrap();
        serde_json::json!({ "session_id": "s", "tool_name": "Bash", "tool_use_id": id, "transcript_path": transcript,
            "tool_input": { "command": format!("make {id}") }, "tool_response": { "stdout": "" } })
        .to_string()
    };
    hook(&stage, "claude", "PostToolUse", &call("1", 140_000)).ok().lacks("context window");
    hook(&stage, "claude", "PostToolUse", &call("2", 152_000)).ok().says("76 %").says("/compact");
    hook(&stage, "claude", "PostToolUse", &call("3", 153_000)).ok().lacks("context window");
    hook(&stage, "claude", "PostToolUse", &call("4", 162_000)).ok().says(".andon/MISSION_BRIEFING.md");
    hook(&stage, "claude", "SessionStart", r#"{"session_id":"s","source":"compact"}"#).ok();
    stage.andon(&["status"]).ok().says("compacted");
}

/// A turn begins with the prompt, so that its length can be limited; without a limit nothing is recorded.
#[test]
fn a_prompt_begins_a_turn_whose_length_is_limited() {
    let stage = Stage::installed();
    let starts =
        |stage: &Stage| lines(stage, "journal").iter().filter(|line| line["type"] == "turn_start").count();
    hook(&stage, "claude", "UserPromptSubmit", r#"{"session_id":"s","prompt":"go"}"#).ok();
    assert_eq!(starts(&stage), 0);
    let config = stage.read("andon.toml");
    stage.write("andon.toml", format!("{config}[rules]\nturn-timeout = {{ max = \"10m\" }}\n"));
    hook(&stage, "claude", "UserPromptSubmit", r#"{"session_id":"s","prompt":"go on"}"#).ok();
    assert_eq!(starts(&stage), 1);
    stage.pass(601);
    let call = |id: &str| {
        serde_json::json!({ "session_id": "s", "tool_name": "Bash", "tool_use_id": id,
        "tool_input": { "command": "make" }, "tool_response": { "stdout": "" } })
        .to_string()
    };
    hook(&stage, "claude", "PostToolUse", &call("1")).says("halted");
    stage.andon(&["status"]).ok().says("turn-timeout");
}

#[test]
fn a_full_window_refuses_by_the_transcript() {
    let stage = Stage::installed();
    let transcript = stage.root().join("t.jsonl");
    let line = r#"{"type":"assistant","message":{"id":"m1","usage":{"input_tokens":100,"cache_read_input_tokens":180000,"output_tokens":5}}}"#;
    std::fs::write(&transcript, format!("{line}\n")).unwrap();
    let call = |event: &str| {
        serde_json::json!({ "session_id": "s", "tool_name": "Bash", "tool_use_id": event, "transcript_path": transcript,
            "tool_input": { "command": "make" }, "tool_response": { "stdout": "" } })
        .to_string()
    };
    hook(&stage, "claude", "PreToolUse", &call("1")).ok();
    hook(&stage, "claude", "PostToolUse", &call("1")).ok();
    hook(&stage, "claude", "PreToolUse", &call("2")).exits(2).says("the context window is full");
    hook(&stage, "claude", "PreToolUse", &bash("andon context --brief")).ok();
    assert_eq!(lines(&stage, "journal").iter().filter(|line| line["type"] == "usage").count(), 1);
    // All but what leads out is refused, reading too.
    hook(&stage, "claude", "PreToolUse", &tool("Read", "src/a.rs")).exits(2);
    hook(&stage, "claude", "PreToolUse", &tool("Write", ".andon/MISSION_BRIEFING.md")).ok();
    hook(&stage, "claude", "PreToolUse", &bash("cat > .andon/MISSION_BRIEFING.md <<'E'\nnotes\nE")).ok();
    hook(&stage, "claude", "PreToolUse", &bash("git add -A && git commit -m 'Work so far'")).ok();
    hook(&stage, "claude", "SessionStart", r#"{"session_id":"s2","source":"startup"}"#)
        .ok()
        .says("additionalContext");
    hook(&stage, "claude", "PreToolUse", &call("3")).ok();
}
