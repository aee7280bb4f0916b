//! The end of a turn: held for what is missing, and never for long.

use super::{halted, hook, lines};
use crate::support::Stage;

fn stop(stage: &Stage, client: &str) -> crate::support::Out {
    match client {
        "copilot" => hook(stage, client, "agentStop", r#"{"sessionId":"s"}"#),
        "gemini" => hook(stage, client, "AfterAgent", r#"{"session_id":"s"}"#),
        "cursor" => hook(stage, client, "stop", r#"{"conversation_id":"s"}"#),
        _ => hook(stage, client, "Stop", r#"{"session_id":"s"}"#),
    }
}

fn is_held(out: &crate::support::Out) -> bool {
    out.all().contains("andon: not done yet:")
}

/// The agent edits a file.
fn edited(stage: &Stage) {
    let call = r#"{"session_id":"s","tool_name":"Edit","tool_use_id":"e","tool_input":{"file_path":"code.txt"},"tool_response":{}}"#;
    hook(stage, "claude", "PostToolUse", call).ok();
}

#[test]
fn a_model_that_moves_and_never_obeys_is_held_once() {
    for client in ["claude", "codex", "gemini", "qwen", "copilot", "cursor", "openhands", "goose"] {
        let stage = Stage::installed();
        let held: Vec<bool> = (0..6)
            .map(|step| {
                stage.write("code.txt", format!("untested {step}\n"));
                is_held(&stop(&stage, client))
            })
            .collect();
        assert_eq!(held, [true, false, false, false, false, false], "{client}");
        let released = lines(&stage, "agents").iter().filter(|fact| fact["did"] == "released").count();
        assert_eq!(released, 5, "{client}");
    }
}

#[test]
fn one_that_does_nothing_is_held_once() {
    let stage = Stage::installed();
    stage.write("code.txt", "untested\n");
    let held = stop(&stage, "claude").exits(2).says("run: andon test");
    assert!(held.stderr.chars().count() < 800, "{held}");
    stop(&stage, "claude").ok().says("unfinished").says("systemMessage");
    // A person asks again: counted anew.
    hook(&stage, "claude", "UserPromptSubmit", r#"{"session_id":"s","prompt":"please finish"}"#).ok();
    edited(&stage);
    assert!(is_held(&stop(&stage, "claude")));
    // What we say ourselves, and tasks that end, are no person.
    for prompt in ["andon: not done yet: x", "<task-notification>x"] {
        let prompt = serde_json::json!({ "session_id": "s", "prompt": prompt }).to_string();
        hook(&stage, "claude", "UserPromptSubmit", &prompt).ok();
        assert!(!is_held(&stop(&stage, "claude")), "{prompt}");
    }
}

#[test]
fn finished_work_ends_in_silence() {
    let stage = Stage::installed();
    assert_eq!(stop(&stage, "claude").ok().all(), "");
    stage.write("code.txt", "tested\n");
    stage.andon(&["test"]).ok();
    assert_eq!(stop(&stage, "claude").ok().all(), "");
    let turns = lines(&stage, "journal").iter().filter(|line| line["type"] == "turn_end").count();
    assert_eq!(turns, 2);
}

#[test]
fn a_turn_that_touched_nothing_is_not_asked_for_tests() {
    let stage = Stage::new();
    stage.write("andon.toml", "[test]\ncommand = \"true\"\n");
    stage.write("code.txt", "x\n");
    stage.commit_of(".", "Old");
    hook(&stage, "claude", "UserPromptSubmit", r#"{"session_id":"s","prompt":"what is this?"}"#).ok();
    assert_eq!(stop(&stage, "claude").ok().all(), "");
    stage.write("code.txt", "y\n");
    edited(&stage);
    assert!(is_held(&stop(&stage, "claude")));
}

/// The end of a turn of a person who sits there.
fn stop_beside_a_person(stage: &Stage) -> crate::support::Out {
    stage.set("CLAUDE_CODE_ENTRYPOINT", "cli");
    let out = stop(stage, "claude");
    stage.unset("CLAUDE_CODE_ENTRYPOINT");
    out
}

#[test]
fn code_that_any_run_saw_is_not_asked_for_again() {
    let prompt = |stage: &Stage| {
        hook(stage, "claude", "UserPromptSubmit", r#"{"session_id":"s","prompt":"write a test"}"#).ok();
    };
    let ran = |stage: &Stage, said: &str| {
        let call = serde_json::json!({ "session_id": "s", "tool_name": "Bash", "tool_use_id": said,
            "tool_input": { "command": "pytest | tail" }, "tool_response": { "stdout": said } });
        hook(stage, "claude", "PostToolUse", &call.to_string()).ok();
    };
    let stage = Stage::installed();
    prompt(&stage);
    stage.write("code.txt", "red on request\n");
    ran(&stage, "1 failed, 1 passed in 0.01s");
    // No call is known that changed the code: the code itself tells. Whether red is meant is the person's to say.
    stop_beside_a_person(&stage)
        .ok()
        .says("1 of 2 tests of this code fails")
        .lacks("fix them")
        .lacks("not run");
    prompt(&stage);
    stage.write("code.txt", "red again\n");
    ran(&stage, "1 failed, 2 passed in 0.01s");
    let held = stop(&stage, "claude").says("1 of 3 tests of this code fails; fix them");
    assert!(is_held(&held), "nobody is there who could have asked for it");
    prompt(&stage);
    stage.write("code.txt", "green\n");
    ran(&stage, "3 passed in 0.01s");
    assert!(!is_held(&stop(&stage, "claude").ok()));
    prompt(&stage);
    stage.write("code.txt", "unseen\n");
    assert!(is_held(&stop(&stage, "claude")));
}

/// Fifteen prompts of a day with a person who reads what the hook says: nothing of it costs a turn.
#[test]
fn beside_a_person_no_turn_is_held() {
    let stage = Stage::installed();
    let told = |number: usize, work: &dyn Fn(&str)| {
        let prompt = format!(r#"{{"session_id":"s","prompt":"please do {number}","prompt_id":"p{number}"}}"#);
        hook(&stage, "claude", "UserPromptSubmit", &prompt).ok();
        work(&format!("t{number}"));
        let out = stop_beside_a_person(&stage).ok();
        assert!(!is_held(&out), "{number}: {out}");
        out.all()
    };
    let ran = |id: &str, said: &str| {
        let call = serde_json::json!({ "session_id": "s", "tool_name": "Bash", "tool_use_id": id,
            "tool_input": { "command": "pytest | tail" }, "tool_response": { "stdout": said } });
        hook(&stage, "claude", "PostToolUse", &call.to_string()).ok();
    };
    for day in 0..3 {
        let at = |number: usize| day * 5 + number;
        assert_eq!(told(at(0), &|_| {}), "", "a question");
        assert_eq!(told(at(1), &|_| stage.write("PLAN.md", format!("plan {day}\n"))), "", "a plan");
        let red = told(at(2), &|id| {
            stage.write("code.txt", format!("red on request {day}\n"));
            ran(id, "1 failed, 1 passed in 0.01s");
        });
        assert!(red.contains("1 of 2 tests of this code fails") && !red.contains("fix them"), "{red}");
        let untested = told(at(3), &|_| stage.write("code.txt", format!("no tests, please {day}\n")));
        assert!(untested.contains("the tests have not run on it"), "{untested}");
        assert_eq!(told(at(4), &|_| {}), "", "an answer without edits, in a tree that is not tested");
    }
    stage.andon(&["status"]).ok().lacks("HALTED");
}

#[test]
fn a_halt_ends_the_session_in_the_way_of_the_client() {
    let stage = halted();
    let prompt = |client: &str, event: &str| {
        hook(&stage, client, event, r#"{"session_id":"s","prompt":"go on","prompt_id":"p"}"#).ok()
    };
    for (client, event) in [
        ("claude", "UserPromptSubmit"),
        ("codex", "UserPromptSubmit"),
        ("gemini", "BeforeAgent"),
        ("qwen", "UserPromptSubmit"),
    ] {
        prompt(client, event).says("\"decision\":\"block\"").says("repeated-failures");
    }
    prompt("droid", "UserPromptSubmit").lacks("block");
    let call = |client: &str, shell: &str| {
        let payload =
            serde_json::json!({ "session_id": "s", "tool_name": shell, "tool_input": { "command": "make" } });
        hook(&stage, client, "PreToolUse", &payload.to_string())
    };
    for (client, shell) in [("claude", "Bash"), ("droid", "Execute")] {
        call(client, shell).exits(2).says("refused: this loop is halted");
        call(client, shell).ok().says("\"continue\":false").says("\"permissionDecision\":\"deny\"");
    }
    call("codex", "Bash").exits(2);
    call("codex", "Bash").exits(2);
    // It asks before every request: its model hears of the halt, and is refused twice before that ends the session.
    for _ in 0..2 {
        prompt("qwen", "UserPromptSubmit").lacks("block");
        call("qwen", "run_shell_command").exits(2);
    }
    prompt("qwen", "UserPromptSubmit").says("\"decision\":\"block\"");
    stop(&stage, "claude").ok().says("\"continue\":false").lacks("systemMessage");
    stop(&stage, "qwen").ok().says("systemMessage").lacks("continue");
}

#[test]
fn a_halted_turn_ends_at_once_and_says_so() {
    let stage = halted();
    stage.write("code.txt", "untested\n");
    for client in ["claude", "codex", "gemini", "qwen", "copilot", "cursor", "openhands"] {
        let out = stop(&stage, client).ok();
        assert!(out.all().contains("ends halted: repeated-failures"), "{client}: {out}");
        assert!(!is_held(&out), "{client}: {out}");
    }
}

#[test]
fn what_cannot_be_remembered_does_not_hold() {
    let stage = Stage::installed();
    stage.write("code.txt", "untested\n");
    std::fs::create_dir_all(stage.path(".git/andon/agents.jsonl")).unwrap();
    for _ in 0..3 {
        assert!(!is_held(&stop(&stage, "codex").ok()));
    }
}

#[test]
fn a_session_is_told_what_stands() {
    let stage = halted();
    let out = hook(&stage, "claude", "SessionStart", r#"{"session_id":"s","source":"startup"}"#).ok();
    assert!(out.stdout.len() < 2500, "{out}");
    out.says("HALTED by repeated-failures").says("1 test failing").says("hookSpecificOutput");
    hook(&stage, "copilot", "sessionStart", r#"{"sessionId":"s"}"#)
        .ok()
        .says("{\"additionalContext\":\"Andon guards");
    let running = Stage::installed();
    hook(&running, "codex", "SessionStart", r#"{"session_id":"s"}"#).ok().says("andon test").lacks("HALTED");
    hook(&running, "claude", "PreCompact", r#"{"session_id":"s","trigger":"auto"}"#).ok();
    assert!(running.exists(".andon/MISSION_BRIEFING.md"));
    hook(&running, "claude", "SessionStart", r#"{"session_id":"s","source":"compact"}"#)
        .ok()
        .says("MISSION_BRIEFING");
}

#[test]
fn settings_that_lose_the_hooks_stay() {
    let stage = Stage::installed();
    let payload = serde_json::json!({ "session_id": "s", "file_path": stage.path(".claude/settings.json") })
        .to_string();
    stage.write(".claude/settings.json", "{}");
    hook(&stage, "claude", "ConfigChange", &payload).exits(2).says("would no longer start Andon");
    let ours = r#"{"hooks":{"PreToolUse":[{"hooks":[{"command":"andon","args":["agent","hook","claude","PreToolUse"]}]}]}}"#;
    stage.write(".claude/settings.json", ours);
    assert_eq!(hook(&stage, "claude", "ConfigChange", &payload).ok().all(), "");
    // Another file switches off what this one starts.
    stage.write(".claude/settings.local.json", "{\"disableAllHooks\": true}");
    hook(&stage, "claude", "ConfigChange", &payload).exits(2);
}
