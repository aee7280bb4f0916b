//! Payload in, facts and answer out, byte for byte: while the loop runs, and before a tool while it is halted.

use std::{fmt::Write as _, path::Path};

use super::{halted, hook};
use crate::support::Stage;

/// The payloads of one client with the event of each.
fn payloads(client: &str) -> Vec<(String, String, String)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents").join(client);
    let mut names: Vec<String> = std::fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let of = |name: String| {
        let text = std::fs::read_to_string(dir.join(&name)).unwrap();
        (event(client, &name), text, name)
    };
    names.into_iter().map(of).collect()
}

fn event(client: &str, name: &str) -> String {
    let stem = name.trim_end_matches(".json");
    // pi's own names hold what parts the others' from what follows.
    if client == "pi" {
        return stem.split('-').next().unwrap_or(stem).to_owned();
    }
    let known = [
        ("tool_execute_before", "tool.execute.before"),
        ("tool_execute_after", "tool.execute.after"),
        ("chat_message", "chat.message"),
        ("shell_env", "shell.env"),
        ("system_transform", "experimental.chat.system.transform"),
        ("event_", "event"),
        ("message_updated", "event"),
        ("tool_part", "event"),
        ("plugin_init", "event"),
        ("pre_tool_use", "pre_tool_use"),
        ("post_tool_use", "post_tool_use"),
        ("user_prompt_submit", "user_prompt_submit"),
        ("session_start", "session_start"),
        ("session_end", "session_end"),
    ];
    let named = known.iter().find(|(start, _)| stem.starts_with(start));
    let plain = || stem.split('_').next().unwrap_or(stem);
    match named {
        Some((_, event)) if matches!(client, "opencode" | "openhands" | "kilo") => (*event).to_owned(),
        Some(_) | None => plain().to_owned(),
    }
}

fn journals(stage: &Stage) -> String {
    let mut text = String::new();
    for name in ["journal", "agents"] {
        let path = stage.path(&format!(".git/andon/{name}.jsonl"));
        for line in std::fs::read_to_string(&path).unwrap_or_default().lines() {
            writeln!(text, "{name}: {line}").unwrap();
        }
        let _ = std::fs::remove_file(path);
    }
    text
}

fn told(client: &str) {
    let (running, stopped) = (Stage::installed(), halted());
    journals(&running);
    let mut shown = String::new();
    for (event, text, name) in payloads(client) {
        running.set_clock(1000);
        let out = hook(&running, client, &event, &text);
        let said = |name: &str, stream: &str| {
            if stream.is_empty() { String::new() } else { format!("{name}: {stream}") }
        };
        write!(
            shown,
            "== {name} ({event}): exit {}\n{}{}{}",
            out.code,
            said("stdout", &out.stdout),
            said("stderr", &out.stderr),
            journals(&running)
        )
        .unwrap();
        let before = [
            "PreToolUse",
            "preToolUse",
            "BeforeTool",
            "tool.execute.before",
            "pre_tool_use",
            "tool_call",
            "tool.call",
        ];
        if before.contains(&event.as_str()) {
            let _ = std::fs::remove_file(stopped.path(".git/andon/agents.jsonl"));
            stopped.set_clock(1000);
            let out = hook(&stopped, client, &event, &text);
            write!(
                shown,
                "halted: exit {}\n{}{}",
                out.code,
                said("stdout", &out.stdout),
                said("stderr", &out.stderr)
            )
            .unwrap();
        }
    }
    let dir = running.dir().to_string_lossy().into_owned();
    insta::assert_snapshot!(format!("payloads_of_{client}"), shown.replace(&dir, "<repo>"));
}

#[test]
fn of_claude() {
    told("claude");
}

#[test]
fn of_codex() {
    told("codex");
}

#[test]
fn of_gemini() {
    told("gemini");
}

#[test]
fn of_qwen() {
    told("qwen");
}

#[test]
fn of_copilot() {
    told("copilot");
}

#[test]
fn of_opencode() {
    told("opencode");
}

#[test]
fn of_kilo() {
    told("kilo");
}

#[test]
fn of_pi() {
    told("pi");
}

#[test]
fn of_cline() {
    told("cline");
}

#[test]
fn of_openhands() {
    told("openhands");
}

/// These did not run here: tests/agents/README.md says where each payload comes from.
#[test]
fn of_cursor() {
    told("cursor");
}

#[test]
fn of_goose() {
    told("goose");
}

#[test]
fn of_crush() {
    told("crush");
}

#[test]
fn of_droid() {
    told("droid");
}

#[test]
fn of_auggie() {
    told("auggie");
}

#[test]
fn of_kiro() {
    told("kiro");
}

#[test]
fn of_kimi() {
    told("kimi");
}

#[test]
fn of_amp() {
    told("amp");
}

/// The payload of our own, which the schema describes.
#[test]
fn of_generic() {
    told("generic");
    let schema = include_str!("../../../hooks/agents/generic/payload.schema.json");
    let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
    for (_, text, name) in payloads("generic") {
        let payload: serde_json::Value = serde_json::from_str(&text).unwrap();
        let described = |member: &String| schema["properties"].get(member).is_some();
        assert!(payload.as_object().unwrap().keys().all(described), "{name}");
    }
}
