//! What breaks, what is odd, and who comes at the same time.

use super::{bash, halted, hook, lines};
use crate::support::{Stage, andon_path};

#[test]
fn a_breakdown_lets_pass_while_the_loop_runs_and_refuses_while_it_is_halted() {
    let (running, stopped) = (Stage::installed(), halted());
    let deep = "[".repeat(200_000);
    let big = format!("{{\"a\":\"{}\"}}", "x".repeat(65 << 20));
    let cases = [
        ("claude", "PreToolUse", ""),
        ("claude", "PreToolUse", "{\"session_id\":"),
        ("claude", "PreToolUse", deep.as_str()),
        ("claude", "PreToolUse", big.as_str()),
        ("gemini", "BeforeTool", "[]"),
        ("copilot", "preToolUse", "x"),
        ("claude", "NoSuchEvent", "{}"),
        ("nobody", "PreToolUse", "{}"),
    ];
    for (client, event, payload) in cases {
        let out = hook(&running, client, event, payload).ok();
        assert!(out.stdout.is_empty() && !out.stderr.is_empty(), "{client} {event}: {out}");
        let out = hook(&stopped, client, event, payload).exits(2);
        assert!(out.all().contains("refused: this loop is halted"), "{client} {event}: {out}");
    }
    let broken = lines(&running, "agents").iter().filter(|fact| fact["did"] == "broken").count();
    assert_eq!(broken, cases.len() - 1);
    // Other moments never refuse.
    hook(&stopped, "claude", "PostToolUse", "").ok();
    hook(&stopped, "claude", "Stop", "{").ok();
}

/// Members of another type than expected: the call passes, and is a fact with what is known of it.
#[test]
fn members_of_any_type_turn_no_call_into_another() {
    let odd = ["null", "true", "7", "[]", "{}", "[[1],{}]", "\"\\u0000\\ud83d x\"", "1e999", "-0.5"];
    let (running, stopped) = (Stage::installed(), halted());
    let members =
        ["session_id", "tool_use_id", "cwd", "transcript_path", "prompt_id", "agent_id", "duration_ms"];
    for (number, odd) in odd.iter().enumerate() {
        let mut rest: String = members.iter().map(|name| format!(r#","{name}":{odd}"#)).collect();
        rest += &format!(r#","tool_response":{odd},"error":{odd},"is_error":{odd}"#);
        let call = format!(r#"{{"tool_name":"Bash","tool_input":{{"command":"make {number}"}}{rest}}}"#);
        for event in ["PreToolUse", "PostToolUse", "PostToolUseFailure"] {
            hook(&running, "claude", event, &call).ok();
        }
        let refused = hook(&stopped, "claude", "PreToolUse", &call).all();
        assert!(refused.contains("halted") && !refused.contains("updatedInput"), "{refused}");
        let odd_call = format!(r#"{{"session_id":"s","tool_name":{odd},"tool_input":{odd}}}"#);
        hook(&running, "claude", "PreToolUse", &odd_call).ok();
        hook(&running, "claude", "PostToolUse", &odd_call).ok();
        let refused = hook(&stopped, "claude", "PreToolUse", &odd_call).all();
        assert!(refused.contains("halted"), "{refused}");
    }
    let binary: String = (0..=255_u8).map(char::from).cycle().take(10 << 20).collect();
    let call = serde_json::json!({ "session_id": "s", "tool_name": "Bash", "tool_use_id": "big",
        "tool_input": { "command": "cat x" }, "tool_response": { "stdout": binary, "stderr": 7 } });
    hook(&running, "claude", "PostToolUse", &call.to_string()).ok();
    let calls: Vec<_> =
        lines(&running, "journal").into_iter().filter(|line| line["type"] == "tool_call").collect();
    assert!(calls.len() >= odd.len(), "{calls:?}");
    assert!(!lines(&running, "journal").iter().any(|line| line["validity"] == "seen"));
    running.andon(&["status", "--exit-code"]).ok();
}

/// No model makes as many at once, and a hook that takes minutes would be left behind by its client.
#[test]
fn of_a_batch_without_end_the_first_calls_count() {
    let stage = Stage::installed();
    let call = |number: usize| {
        format!(
            r#"{{"tool_name":"Edit","tool_use_id":"{number}","tool_input":{{}},"tool_response":"<tool_use_error>no"}}"#
        )
    };
    let calls: Vec<String> = (0..20_000).map(call).collect();
    let batch = format!(r#"{{"session_id":"s","tool_calls":[{}]}}"#, calls.join(","));
    hook(&stage, "claude", "PostToolBatch", &batch).ok();
    assert_eq!(lines(&stage, "journal").iter().filter(|line| line["type"] == "tool_call").count(), 256);
}

#[test]
fn a_broken_configuration_is_said_and_blocks_nothing() {
    let (running, stopped) = (Stage::installed(), halted());
    for stage in [&running, &stopped] {
        stage.write("andon.toml", "[nonsense\n");
    }
    hook(&running, "claude", "PreToolUse", &bash("make")).ok().says("cannot be read");
    hook(&stopped, "claude", "PreToolUse", &bash("make")).exits(2).says("halted");
    assert_eq!(lines(&running, "agents")[0]["did"], "broken");
}

#[test]
fn outside_of_a_repository_and_switched_off_nothing_happens() {
    let stage = Stage::bare_ground();
    assert_eq!(hook(&stage, "claude", "PreToolUse", &bash("make")).ok().all(), "");
    assert_eq!(hook(&stage, "claude", "Stop", "{").ok().all(), "");
    let stage = halted();
    let before = std::fs::read(stage.path(".git/andon/journal.jsonl")).unwrap();
    stage.set("ANDON", "0");
    for event in ["PreToolUse", "PostToolUse", "Stop"] {
        assert_eq!(hook(&stage, "claude", event, &bash("make")).ok().all(), "");
    }
    assert_eq!(std::fs::read(stage.path(".git/andon/journal.jsonl")).unwrap(), before);
    assert!(!stage.exists(".git/andon/agents.jsonl"));
}

#[test]
fn a_ledger_that_cannot_be_read_opens_nothing() {
    let stage = halted();
    let refs = stage.git(&["for-each-ref", "--format=%(refname)", "refs/andon/ledger"]).ok().stdout;
    std::fs::write(stage.path(&format!(".git/{}", refs.trim())), format!("{}\n", "1".repeat(40))).unwrap();
    hook(&stage, "claude", "PreToolUse", &bash("make")).exits(2).says("refused");
}

#[test]
fn two_clients_and_parallel_calls_lose_nothing() {
    let stage = Stage::installed();
    let mut children = Vec::new();
    for client in ["claude", "codex"] {
        for id in 0..8 {
            let payload = format!(
                r#"{{"session_id":"{client}","tool_name":"Bash","tool_use_id":"{id}","tool_input":{{"command":"make {id}"}},"tool_response":"{id}"}}"#
            );
            let mut command = stage.command(stage.dir(), andon_path());
            command.args(["agent", "hook", client, "PostToolUse"]).stdin(std::process::Stdio::piped());
            let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
            std::io::Write::write_all(&mut child.stdin.take().unwrap(), payload.as_bytes()).unwrap();
            children.push(child);
        }
    }
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let calls = lines(&stage, "journal").iter().filter(|line| line["type"] == "tool_call").count();
    assert_eq!(calls, 16);
}

#[test]
fn odd_transcripts_are_no_matter() {
    let stage = Stage::installed();
    let huge = stage.root().join("huge.jsonl");
    std::fs::File::create(&huge).unwrap().set_len(1 << 30).unwrap();
    let gone = stage.root().join("gone");
    for path in [huge.to_str().unwrap(), gone.to_str().unwrap(), stage.dir().to_str().unwrap(), "/dev/zero"] {
        let call = serde_json::json!({ "session_id": "s", "tool_name": "Bash", "tool_use_id": path,
            "transcript_path": path, "tool_input": { "command": path }, "tool_response": {} })
        .to_string();
        assert_eq!(hook(&stage, "claude", "PostToolUse", &call).ok().all(), "", "{path}");
    }
}

#[test]
fn a_subagents_work_belongs_to_its_session() {
    let stage = Stage::installed();
    let call = r#"{"sessionId":"child","parentAgentId":"parent","agentId":"child","toolName":"bash","toolArgs":{"command":"x"},"toolResult":{"resultType":"success","textResultForLlm":"x"}}"#;
    hook(&stage, "copilot", "postToolUse", call).ok();
    assert_eq!(lines(&stage, "journal").last().unwrap()["session"], "parent");
    stage.write("code.txt", "untested\n");
    let end = r#"{"sessionId":"child","parentAgentId":"parent","agentId":"child"}"#;
    assert_eq!(hook(&stage, "copilot", "agentStop", end).ok().all(), "");
    assert_eq!(
        hook(&stage, "claude", "SubagentStop", r#"{"session_id":"s","agent_type":""}"#).ok().all(),
        ""
    );
}

/// In the settings of a client a line of another version, or one that was edited, must not cost every tool.
#[test]
fn a_line_that_is_not_understood_refuses_no_tool_while_the_loop_runs() {
    let stage = Stage::installed();
    let lines: &[&[&str]] = &[
        &["agent", "hook"],
        &["agent", "hook", "claude"],
        &["agent", "hook", "--newer", "claude", "PreToolUse"],
        &["--color", "purple", "agent", "hook", "claude", "PreToolUse"],
    ];
    for line in lines {
        stage.andon(line).ok().says("andon: this hook did nothing");
    }
    stage.andon(&["agent", "hook", "--help"]).ok().says("Usage");
    stage.write(".andon/STOP", "");
    for line in lines {
        stage.andon(line).exits(2).says("this loop is halted");
    }
}
