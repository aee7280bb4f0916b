//! `andon agent install`, `uninstall` and `list`, as a person meets them.

use serde_json::Value;

use crate::support::Stage;

const MINE: &str = "{\n  // mine\n  \"model\": \"opus\"\n}\n";

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// What `agent list` says of a client.
fn listed(stage: &Stage, client: &str) -> Value {
    let all = json(&stage.andon(&["agent", "list", "--format", "json"]).ok().stdout);
    assert_eq!(all["schema"], "andon/agents@1");
    all["clients"].as_array().unwrap().iter().find(|one| one["client"] == client).unwrap().clone()
}

#[test]
fn hooks_come_into_the_settings_and_go_again() {
    let stage = Stage::installed();
    stage.write(".claude/settings.json", MINE);
    stage
        .andon(&["agent", "install", "claude"])
        .ok()
        .says("Claude Code starts Andon (project)")
        .says("hooks added");
    let settings = stage.read(".claude/settings.json");
    assert!(settings.contains("// mine") && settings.contains("\"PreToolUse\""), "{settings}");
    stage.andon(&["agent", "install", "claude"]).ok().says("nothing changed");
    assert_eq!(stage.read(".claude/settings.json"), settings);
    let claude = listed(&stage, "claude");
    assert_eq!((&claude["installed"], &claude["live"]), (&Value::from(true), &Value::from(true)));
    assert_eq!(listed(&stage, "goose")["installed"], Value::from(false));
    stage.andon(&["agent", "uninstall", "claude"]).ok().says("as before");
    assert_eq!(stage.read(".claude/settings.json"), MINE);
    stage.andon(&["agent", "uninstall", "claude"]).ok().says("no hooks of Andon");
}

#[test]
fn a_users_settings_are_another_place() {
    let stage = Stage::installed();
    let home = stage.path("home");
    stage.set("HOME", home.to_str().unwrap());
    let report = stage.andon(&["agent", "install", "gemini", "--user", "--format", "json"]).ok().stdout;
    assert_eq!(json(&report)["scope"], "user");
    assert!(stage.read("home/.gemini/settings.json").contains("agent hook gemini BeforeTool"));
    assert!(!stage.exists(".gemini"));
    stage.andon(&["agent", "list"]).ok().says("gemini     -          installed");
    stage.andon(&["agent", "uninstall", "gemini", "--user"]).ok().says("removed");
    assert!(!stage.exists("home/.gemini"));
}

#[test]
fn broken_settings_are_refused_with_their_line() {
    let stage = Stage::installed();
    stage.write(".qwen/settings.json", "{\n  \"a\": 1\n  \"b\": 2\n}\n");
    stage
        .andon(&["agent", "install", "qwen"])
        .exits(2)
        .says(".qwen/settings.json:2: ")
        .says("nothing was changed");
    let qwen = listed(&stage, "qwen");
    assert_eq!(qwen["settings"][0]["state"], "broken");
    stage.andon(&["agent", "list"]).ok().says("error: ").says(".qwen/settings.json:2");
    stage.andon(&["agent", "install", "pi"]).exits(2).says("openhands");
}

#[test]
fn only_a_person_takes_them_out() {
    let stage = Stage::installed();
    stage
        .andon(&["agent", "install", "codex"])
        .ok()
        .says("next: Codex runs the hooks of a project only once you trust");
    stage.set("CODEX_THREAD_ID", "t1");
    stage.andon(&["agent", "uninstall", "codex"]).exits(1).says("only a person removes its hooks");
    assert!(stage.exists(".codex/hooks.json"));
}

#[test]
fn settings_of_clients_are_configuration() {
    let stage = Stage::installed();
    stage.iterate("1\n", &["ok a"], "Work").ok();
    for client in ["claude", "cline", "goose", "opencode"] {
        stage.andon(&["agent", "install", client]).ok();
    }
    stage.git(&["add", "--all"]).ok();
    stage.git(&["commit", "-qm", "Start Andon from the clients"]).ok();
    let record = stage.record("HEAD");
    assert_eq!(record["code"], stage.record("HEAD^")["code"]);
    assert_eq!(record["gate"], "passed");
}
