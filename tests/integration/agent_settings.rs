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
    let out = stage.andon(&["agent", "install", "claude"]).ok().says("Claude Code starts Andon (project)");
    out.says("hooks added");
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
    let out = stage.andon(&["agent", "install", "qwen"]).exits(2).says(".qwen/settings.json:2: ");
    out.says("nothing was changed");
    let qwen = listed(&stage, "qwen");
    assert_eq!(qwen["settings"][0]["state"], "broken");
    stage.andon(&["agent", "list"]).ok().says("error: ").says(".qwen/settings.json:2");
    stage.andon(&["agent", "install", "nobody"]).exits(2).says("openhands");
}

#[test]
fn any_client_gets_its_commands_and_what_has_no_place_is_named() {
    let stage = Stage::installed();
    stage.andon(&["agent", "install", "--command"]).ok().says("agent hook generic PreToolUse");
    let crush = stage.andon(&["agent", "install", "crush", "--command"]).ok();
    assert_eq!(crush.stdout.matches("agent hook").count(), 1, "{crush}");
    stage.andon(&["agent", "install", "generic"]).exits(2).says("andon agent install --command");
    stage.andon(&["agent", "install"]).exits(2);
    stage.andon(&["agent", "install", "kimi"]).exits(2).says("andon agent install kimi --user");
    stage.andon(&["agent", "install", "kiro", "--user"]).exits(2).says("andon agent install kiro --project");
    let schema = stage.andon(&["agent", "schema"]).ok().json();
    assert_eq!(schema["properties"]["tool_input"]["type"], "object");
}

#[test]
fn a_status_line_says_what_counts() {
    let stage = Stage::installed();
    stage.andon(&["status", "--line"]).ok().says("andon ok 1/100");
    stage.andon(&["stop", "--reason", "lunch"]).ok();
    let line = stage.andon(&["status", "--line"]).ok().says("andon HALTED");
    assert_eq!(line.stdout.lines().count(), 1, "{line}");
    let nowhere = Stage::bare_ground();
    assert_eq!(nowhere.andon(&["status", "--line"]).ok().all(), "");
}

#[test]
fn only_a_person_takes_them_out() {
    let stage = Stage::installed();
    let out = stage.andon(&["agent", "install", "codex"]).ok();
    out.says("next: Codex runs the hooks of a project only once you trust");
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
    stage.commit_of("--all", "Start Andon from the clients");
    let record = stage.record("HEAD");
    assert_eq!(record["code"], stage.record("HEAD^")["code"]);
    assert_eq!(record["gate"], "passed");
}

/// What `doctor --live` says of the hooks of clients: without times, which differ.
fn live(stage: &Stage) -> String {
    let out = stage.andon(&["doctor", "--live"]);
    let mut shown = String::new();
    for line in out.stdout.lines().skip_while(|line| !line.contains("  live")) {
        // Whether a client is on this machine is none of the test's business.
        let line = line.trim_end_matches(" (the client itself is not on the PATH)");
        let masked = match line.split_once(" in ") {
            Some((before, after)) => {
                format!("{before} in N{}", after.trim_start_matches(|c: char| c.is_ascii_digit()))
            }
            None => line.to_owned(),
        };
        shown.push_str(&masked);
        shown.push('\n');
    }
    shown
}

const ALL: [&str; 17] = [
    "claude",
    "codex",
    "gemini",
    "qwen",
    "copilot",
    "cursor",
    "opencode",
    "cline",
    "openhands",
    "goose",
    "kilo",
    "pi",
    "crush",
    "droid",
    "auggie",
    "amp",
    "kiro",
];

#[test]
fn a_canary_goes_through_every_hook_and_is_no_agents_work() {
    let stage = Stage::installed();
    insta::assert_snapshot!("no_client_to_send_to", live(&stage));
    for client in ALL {
        stage.andon(&["agent", "install", client]).ok();
    }
    insta::assert_snapshot!("a_canary_through_all_clients", live(&stage));
    assert_eq!(listed(&stage, "claude")["heard_at"], Value::Null);
    // While the loop is halted, too.
    stage.andon(&["stop", "--reason", "enough"]).ok();
    assert_eq!(live(&stage).matches("refused the canary").count(), ALL.len());
    stage.andon(&["resume", "--reason", "seen"]).ok();
    // What it left is no sign of an agent.
    stage.steps("echo two > code.txt; git add --all; andon test; git commit -qm 'By hand'");
    assert_eq!(stage.record("HEAD").get("guards"), None);
}

#[test]
fn a_dead_hook_is_told_from_a_live_one_and_nothing_of_others_is_started() {
    let stage = Stage::installed();
    for client in ["claude", "cline", "gemini"] {
        stage.andon(&["agent", "install", client]).ok();
    }
    // The client would not find it executable.
    std::fs::set_permissions(
        stage.path(".clinerules/hooks/PreToolUse"),
        std::os::unix::fs::PermissionsExt::from_mode(0o644),
    )
    .unwrap();
    // Another command in our place.
    let settings = stage.read(".gemini/settings.json");
    let touched = stage.path("touched");
    let evil = settings.replace("exit 0;", &format!("exit 0; touch {};", touched.display()));
    assert_ne!(evil, settings);
    stage.write(".gemini/settings.json", evil);
    stage.andon(&["doctor", "--live"]).exits(1);
    insta::assert_snapshot!("a_canary_that_is_not_answered", live(&stage));
    assert!(!touched.exists());
    // Switched off: it answers nothing.
    stage.set("ANDON", "0");
    let out = stage.andon(&["doctor", "--live"]);
    stage.unset("ANDON");
    assert!(!out.all().contains("refused the canary"), "{out}");
}

#[test]
fn the_list_says_when_a_hook_was_heard() {
    let stage = Stage::installed();
    stage.andon(&["agent", "install", "claude"]).ok();
    stage.andon(&["agent", "list"]).ok().says("claude     installed  -          not needed  yes      never");
    let begun = r#"{"session_id":"s","source":"startup"}"#;
    let args = ["agent", "hook", "claude", "SessionStart"];
    stage.set_clock(1000);
    stage.run_in(stage.dir(), crate::support::andon_path(), &args, Some(begun.as_bytes())).ok();
    stage.andon(&["agent", "list"]).ok().says("yes      2026-11-20T15:46:40Z");
    assert_eq!(listed(&stage, "claude")["heard_at"], "2026-11-20T15:46:40Z");
}
