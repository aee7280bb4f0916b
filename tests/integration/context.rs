//! The context gate: the window fills up, is compacted and cleared, at every door the same.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::support::{Out, Stage, andon_path};

fn observe(stage: &Stage, kind: &str, lines: &str) -> Out {
    stage.run_in(stage.dir(), andon_path(), &["observe", kind], Some(lines.as_bytes()))
}

fn usage(stage: &Stage, tokens: u64) -> Out {
    observe(stage, "usage", &format!("{{\"context_tokens\":{tokens}}}\n"))
}

/// A call that no loop is made of.
fn call(stage: &Stage, number: u64) -> Out {
    observe(stage, "tool_call", &format!("{{\"tool\":\"Read\",\"args\":{{\"n\":{number}}}}}\n"))
}

fn json(out: &Out) -> serde_json::Value {
    serde_json::from_str(&out.stdout).unwrap_or_else(|err| panic!("{err}: {out}"))
}

fn context(stage: &Stage) -> serde_json::Value {
    json(&stage.andon(&["context", "--format", "json"]))
}

#[test]
fn it_warns_then_demands_a_compaction_then_refuses_tool_calls_until_it_is_cleared() {
    let stage = Stage::installed();
    usage(&stage, 149_999).ok().lacks("context");
    usage(&stage, 150_000).ok().says("warning[context-window]").says("150000 of 200000 tokens (75 %)");
    call(&stage, 1).ok().says("warning[context-window]");
    stage.andon(&["context", "--gate"]).ok().lacks("context");
    assert!(!stage.exists(".andon/MISSION_BRIEFING.md"));

    usage(&stage, 162_000).exits(1).says("error[context-window]").says("compaction is mandatory");
    assert!(stage.exists(".andon/MISSION_BRIEFING.md"));
    call(&stage, 2).ok().says("warning[context-window]").says("compaction is mandatory");
    stage.andon(&["context", "--gate"]).ok();
    observe(&stage, "output", "{\"kind\":\"message.final\",\"text\":\"a summary\"}\n").ok();
    observe(&stage, "turn_start", "{}\n").exits(1);
    stage.write("code.txt", "a\n");
    stage.andon(&["tick"]).exits(1).says("block").says("compaction is mandatory");

    usage(&stage, 172_000).exits(1).says("no tool call until the context window is cleared");
    call(&stage, 3).exits(1).says("error[context-window]").says("andon observe compaction");
    stage.andon(&["context", "--gate"]).exits(1).says("172000 of 200000 tokens (86 %)");
    stage
        .andon(&["context"])
        .exits(1)
        .says("hard block")
        .says("Read .andon/MISSION_BRIEFING.md and continue");
    assert!(!stage.exists(".andon/CHECKPOINT.md"), "it refuses, and halts nothing");

    observe(&stage, "compaction", "").ok();
    call(&stage, 4).ok().lacks("context");
    stage.andon(&["context", "--gate"]).ok();
    stage.write("code.txt", "b\n");
    stage.andon(&["tick"]).ok();
    stage.andon(&["context"]).ok().says("nothing is known of the context window");
    usage(&stage, 30_000).ok().lacks("context");
}

#[test]
fn a_commit_is_never_refused_for_it() {
    let stage = Stage::installed();
    usage(&stage, 190_000).exits(1);
    let out = stage.iterate("1\n", &["ok a", "ok b"], "Save the work").ok();
    out.says("warning[context-window]");
    assert!(stage.read(".andon/MISSION_BRIEFING.md").contains("`Save the work`"));
    let findings = stage.record("HEAD")["findings"].clone();
    assert_eq!((&findings[0]["rule"], &findings[0]["level"]), (&"context-window".into(), &"warn".into()));
    stage.andon(&["check", "HEAD~1..HEAD"]).ok();
}

/// Events as they may come: one clears, one is another session's, one estimates.
const STREAM: [&str; 14] = [
    r#"{"type":"turn_start"}"#,
    r#"{"type":"usage","input_tokens":1000,"cached_tokens":150000}"#,
    r#"{"type":"tool_call","tool":"Read","args":{"n":1}}"#,
    r#"{"type":"usage","context_tokens":161000}"#,
    r#"{"type":"tool_call","tool":"Read","args":{"n":2}}"#,
    r#"{"type":"turn_end"}"#,
    r#"{"type":"usage","context_tokens":171000}"#,
    r#"{"type":"tool_call","tool":"Read","args":{"n":3}}"#,
    r#"{"type":"compaction"}"#,
    r#"{"type":"usage","output_lines":700}"#,
    r#"{"type":"session_start"}"#,
    r#"{"type":"usage","context_tokens":18446744073709551615,"session":"s"}"#,
    r#"{"type":"usage","cost_usd":"0.01","session":"t"}"#,
    r#"{"type":"turn_end"}"#,
];

#[test]
fn a_replay_comes_to_the_same_decisions_as_the_events_did() {
    let stage = Stage::installed();
    let args = ["observe", "event", "--format", "json"];
    let observed: Vec<String> = STREAM
        .iter()
        .map(|line| stage.run_in(stage.dir(), andon_path(), &args, Some(line.as_bytes())))
        .map(|out| json(&out)["decision"].as_str().unwrap().to_owned())
        .collect();
    let text = STREAM.join("\n");
    let args = ["replay", "--events", "-", "--format", "json"];
    let out = stage.run_in(stage.dir(), andon_path(), &args, Some(text.as_bytes())).ok();
    let replayed: Vec<String> = out
        .stdout
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["decision"].as_str().unwrap().to_owned()
        })
        .collect();
    let expected = [
        "allow", "warn", "warn", "block", "warn", "block", "block", "block", "allow", "warn", "allow",
        "block", "allow", "allow",
    ];
    assert_eq!(observed, expected);
    assert_eq!(replayed, expected);
}

#[test]
fn cached_tokens_are_added_unless_the_client_has_them_in_its_input() {
    let stage = Stage::installed();
    let told =
        "{\"input_tokens\":120000,\"cache_read_input_tokens\":40000,\"cache_creation_input_tokens\":1000}\n";
    observe(&stage, "usage", told).exits(1).says("161000 of 200000").says("from its input and cached tokens");
    let view = context(&stage);
    assert_eq!(
        (&view["used"], &view["source"], &view["estimate"]),
        (&161_000.into(), &"computed".into(), &false.into())
    );
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\n[usage]\ncached = \"included\"\n");
    let view = context(&stage);
    assert_eq!((&view["used"], &view["threshold"]), (&120_000.into(), &"none".into()));
    stage.andon(&["context"]).ok().says("usage.cached = \"included\"");
}

#[test]
fn an_estimate_is_marked_and_refuses_nothing_unless_it_may() {
    let stage = Stage::installed();
    let said = |lines: usize| {
        let text = "word\\n".repeat(lines);
        observe(&stage, "output", &format!("{{\"kind\":\"message.final\",\"text\":\"{text}{lines}\"}}\n"))
    };
    said(299).ok().lacks("context");
    said(298).ok().says("warning[context-window]").says("an estimate from 599 lines");
    let view = context(&stage);
    assert_eq!(
        (&view["percent"], &view["estimate"], &view["threshold"]),
        (&83.into(), &true.into(), &"warning".into())
    );
    stage
        .andon(&["context"])
        .ok()
        .says("about 167720 of 200000 tokens (83 %), an estimate")
        .says("rough estimate");
    assert!(!stage.exists(".andon/MISSION_BRIEFING.md"));
    stage.write("andon.toml", "[rules]\ncontext-window = { estimate = \"block\" }\n");
    stage.andon(&["context"]).exits(1).says("compaction is mandatory");
    stage.write("andon.toml", "[rules]\ncontext-window = { estimate_lines = 5000 }\n");
    stage.andon(&["context"]).ok().says("(8 %)");
    stage.write("andon.toml", "[rules]\ncontext-window = { estimate = \"off\" }\n");
    stage.andon(&["context"]).ok().says("nothing is known");
}

#[test]
fn what_cannot_be_a_count_is_refused_and_what_is_odd_harms_nothing() {
    let stage = Stage::installed();
    usage(&stage, 165_000).exits(1);
    for (line, expected) in [
        ("{\"context_tokens\":-1}", "the member \"context_tokens\": invalid type: integer `-1`"),
        ("{\"context_tokens\":\"lots\"}", "expected a whole number of at least 0"),
        ("{\"output_lines\":-0.5}", "the member \"output_lines\": invalid value: floating point `-0.5`"),
        (
            "{\"cached_tokens\":5,\"cache_read_input_tokens\":6}",
            "\"cached_tokens\": 5 is not the sum of cache_read_input_tokens and cache_creation_input_tokens",
        ),
    ] {
        observe(&stage, "usage", &format!("{line}\n")).exits(1).says(expected).says("line 1");
    }
    assert_eq!(context(&stage)["used"], 165_000, "a negative count clears nothing");
    observe(&stage, "usage", "{}\n").exits(1);
    assert_eq!(context(&stage)["used"], 165_000, "and neither does a report that says nothing");
    observe(&stage, "usage", "{\"context_tokens\":18446744073709551616}\n").exits(1).says("below 2^64");
    observe(&stage, "usage", "{\"context_tokens\":18446744073709551615}\n").exits(1).says("window = N");
    assert_eq!(context(&stage)["used"], u64::MAX);
}

#[test]
fn a_window_of_nothing_and_thresholds_out_of_order_are_errors_with_their_line() {
    let stage = Stage::installed();
    for (rule, place, expected) in [
        ("{ window = 0 }", "andon.toml:3:29", "must be a whole number from 1"),
        (
            "{ warn = 90 }",
            "andon.toml:3",
            "warn = 90, compact = 80, block = 85 must be percentages in rising order",
        ),
        ("{ block = 120 }", "andon.toml:3", "at most 100"),
        ("{ estimate = \"maybe\" }", "andon.toml:3:31", "\"off\" or \"warn\" or \"block\""),
    ] {
        stage.write("andon.toml", format!("\n[rules]\ncontext-window = {rule}\n"));
        stage.andon(&["config", "check"]).exits(2).says(place).says(expected);
        stage.andon(&["context"]).exits(2).says(place);
        stage.andon(&["context", "--gate"]).ok().says(place);
    }
    stage.write("andon.toml", "[rules]\ncontext-window = { window = 1000000, warn = 50, compact = 50 }\n");
    usage(&stage, 499_999).ok().lacks("context");
    usage(&stage, 500_000).exits(1).says("500000 of 1000000 tokens (50 %)");
}

#[test]
fn the_briefing_tells_goal_state_attempts_and_the_next_step() {
    let stage = Stage::installed();
    stage.write("PLAN.md", "# Ship the \u{1b}[31mparser\n- [x] lexer\n- [ ] tokens\n");
    stage.iterate("1\n", &["ok a", "not ok b"], "Try one").ok();
    stage.iterate("2\n", &["not ok a", "not ok b"], "Try two").ok();
    let out = stage.andon(&["context", "--brief"]).ok();
    assert_eq!(out.stdout, "Read .andon/MISSION_BRIEFING.md and continue\n");
    let text = stage.read(".andon/MISSION_BRIEFING.md");
    for part in [
        "# Mission Briefing - 2026-11-20T",
        "- Plan: `PLAN.md`: `Ship the \\u{1b}[31mparser`\n- Done: 1 of 2 items\n  - open: `tokens`\n- Branch: `main`\n",
        "- Last commit: `Try two`",
        "- Loop 3/100: not halted",
        "1 failing: `Try one`",
        "## Failing tests\n- `a`\n- `b`\n",
        "## Best state so far",
        "1. make a pass: andon test\n2. or go back to ",
        "go on in PLAN.md with: tokens",
    ] {
        assert!(text.contains(part), "{part:?} in\n{text}");
    }
    stage.write(".andon/MISSION_BRIEFING.md", format!("{text}\nThe lock is the culprit.\n"));
    usage(&stage, 161_000).exits(1);
    let again = stage.read(".andon/MISSION_BRIEFING.md");
    assert!(again.contains("161000 of 200000 tokens (80 %)"), "{again}");
    assert!(again.ends_with("\nThe lock is the culprit.\n"), "{again}");
    stage.andon(&["stop", "--reason", "enough"]).ok();
    stage.git(&["commit", "--allow-empty", "-qm", "x"]).refused();
    stage.andon(&["context", "--brief"]).ok();
    let halted = stage.read(".andon/MISSION_BRIEFING.md");
    assert!(halted.contains("halted by `user-stop`") && halted.contains("wait for a person"), "{halted}");
}

#[test]
fn the_gate_refuses_at_the_hard_block_only_and_lets_pass_what_it_cannot_judge() {
    let stage = Stage::installed();
    usage(&stage, 175_000).exits(1);
    stage.write("andon.toml", "[rules]\ncontext-window = { window = 0 }\n");
    stage.andon(&["context", "--gate"]).exits(1).says("andon.toml:2").says("no tool call");
    stage.set("ANDON", "0");
    stage.andon(&["context", "--gate"]).ok().lacks("context");
    stage.unset("ANDON");
    let nowhere = stage.root().join("nowhere");
    std::fs::create_dir(&nowhere).unwrap();
    stage.andon_in(&nowhere, &["context", "--gate"]).ok().says("error");
    stage.andon_in(&nowhere, &["context"]).exits(2);
}

#[test]
fn a_plan_that_is_a_link_is_not_read() {
    let stage = Stage::installed();
    std::fs::write(stage.root().join("secret"), "# Secret\n").unwrap();
    std::os::unix::fs::symlink(stage.root().join("secret"), stage.path("PLAN.md")).unwrap();
    std::fs::create_dir(stage.root().join("elsewhere")).unwrap();
    std::fs::write(stage.root().join("elsewhere/PLAN.md"), "# Secret\n").unwrap();
    std::os::unix::fs::symlink(stage.root().join("elsewhere"), stage.path("docs")).unwrap();
    stage.andon(&["context", "--brief"]).ok();
    let text = stage.read(".andon/MISSION_BRIEFING.md");
    assert!(!text.contains("Secret") && text.contains("No planning document"), "{text}");
}

#[test]
fn a_briefing_that_cannot_be_written_changes_no_verdict() {
    let stage = Stage::installed();
    std::fs::remove_dir_all(stage.path(".andon")).ok();
    stage.write(".andon", "in the way\n");
    usage(&stage, 161_000).exits(1).says("compaction is mandatory").says("warning[response]");
    usage(&stage, 100).ok();
    stage.andon(&["context", "--brief"]).exits(70).says("must be a directory");
    let bare = Stage::bare_ground();
    bare.git(&["init", "-q", "--bare", "."]).ok();
    bare.andon(&["context"]).ok();
    bare.andon(&["context", "--brief"]).exits(2);
}

#[test]
fn each_episode_is_told_once_and_a_new_session_has_an_empty_window() {
    let stage = Stage::installed();
    let told = || {
        let text = stage.read(".andon/notifications.jsonl");
        text.matches("\"type\":\"compaction_due\"").count()
    };
    stage.set("ANDON_SESSION", "one");
    usage(&stage, 161_000).exits(1);
    usage(&stage, 162_000).exits(1);
    assert_eq!(told(), 1);
    usage(&stage, 180_000).exits(1);
    assert_eq!(told(), 2, "the hard block is told too");
    call(&stage, 1).exits(1);
    stage.set("ANDON_SESSION", "two");
    call(&stage, 2).ok();
    usage(&stage, 161_000).exits(1);
    assert_eq!(told(), 3);
    observe(&stage, "session_start", "{\"session\":\"two\"}\n").ok();
    call(&stage, 3).ok();
    usage(&stage, 161_000).exits(1);
    assert_eq!(told(), 4);
}

#[test]
fn each_node_is_judged_by_its_own_window() {
    let stage = Stage::installed();
    observe(&stage, "usage", "{\"node\":\"coder\",\"context_tokens\":175000}\n").exits(1);
    observe(&stage, "tool_call", "{\"node\":\"reviewer\",\"tool\":\"Read\"}\n").ok();
    stage.andon(&["context", "--gate", "--node", "coder"]).exits(1);
    stage.andon(&["context", "--gate", "--node", "reviewer"]).ok();
    stage.set("ANDON_NODE", "coder");
    stage.andon(&["context", "--gate"]).exits(1);
}

#[test]
fn an_exhausted_window_leads_to_the_next_provider() {
    let stage = Stage::installed();
    let chain = "[test]\ncommand = \"sh check.sh\"\n[fallback]\nproviders = [\"first\", \"second on failed_gate\", \
                 \"third on context_exhausted\"]\n";
    stage.write("andon.toml", chain);
    let advice = || json(&stage.andon(&["advise", "--format", "json"]).ok());
    usage(&stage, 165_000).exits(1);
    assert_eq!(advice()["next"], serde_json::Value::Null, "it can still be compacted");
    usage(&stage, 175_000).exits(1);
    let found = advice();
    assert_eq!((&found["next"], &found["conditions"][0]), (&"third".into(), &"context_exhausted".into()));
    observe(&stage, "compaction", "").ok();
    assert_eq!(advice()["next"], serde_json::Value::Null);
}

#[test]
fn the_level_decides_what_it_may_do() {
    let stage = Stage::installed();
    let level = |level: &str| {
        let rules = format!("[test]\ncommand = \"sh check.sh\"\n[rules]\ncontext-window = \"{level}\"\n");
        stage.write("andon.toml", rules);
    };
    level("off");
    usage(&stage, 190_000).ok().lacks("context");
    stage.andon(&["context"]).ok().says("190000 of 200000");
    level("warn");
    call(&stage, 1).ok().says("warning[context-window]");
    stage.andon(&["context", "--gate"]).ok();
    level("halt");
    call(&stage, 2).exits(1).says("error[context-window]");
    assert!(stage.read(".andon/CHECKPOINT.md").contains("begin a new session with"));
    stage.git(&["commit", "--allow-empty", "-qm", "x"]).refused().says("context-window");
}
