//! The context gate: the window fills up, is compacted and cleared, at every door the same.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod effects;

use insta::assert_snapshot;

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

fn context(stage: &Stage) -> serde_json::Value {
    stage.andon(&["context", "--format", "json"]).json()
}

#[test]
fn it_warns_then_demands_a_compaction_then_refuses_tool_calls_until_it_is_cleared() {
    let stage = Stage::installed();
    usage(&stage, 149_999).ok().lacks("context");
    assert_snapshot!(usage(&stage, 150_000).shown(), @"
    exit 0
    --- stderr
    warning[context-window]: the context window is 75 % full: 150000 of 200000 tokens
      help: compact soon: /compact, then: andon observe compaction
    ");
    assert_snapshot!(call(&stage, 1).brief(), @"exit 0, stderr: warning[context-window]: the context window is 75 % full: 150000 of 200000 tokens");
    stage.andon(&["context", "--gate"]).ok().lacks("context");
    assert!(!stage.exists(".andon/MISSION_BRIEFING.md"));

    assert_snapshot!(usage(&stage, 162_000).shown());
    assert!(stage.exists(".andon/MISSION_BRIEFING.md"));
    assert_snapshot!(call(&stage, 2).shown());
    stage.andon(&["context", "--gate"]).ok();
    observe(&stage, "output", "{\"kind\":\"message.final\",\"text\":\"a summary\"}\n").ok();
    observe(&stage, "turn_start", "{}\n").exits(4);
    stage.write("code.txt", "a\n");
    assert_snapshot!(stage.andon(&["tick"]).shown());

    assert_snapshot!(usage(&stage, 172_000).brief(),
        @"exit 4, stderr: error[context-window]: no tool call until the context window is cleared: 172000 of 200000 tokens (86 %)");
    assert_snapshot!(call(&stage, 3).brief(),
        @"exit 4, stderr: error[context-window]: no tool call until the context window is cleared: 172000 of 200000 tokens (86 %)");
    assert_snapshot!(stage.andon(&["context", "--gate"]).brief(),
        @"exit 1, stderr: error[context-window]: no tool call until the context window is cleared: 172000 of 200000 tokens (86 %)");
    assert_snapshot!(stage.andon(&["context"]).shown());
    assert!(!stage.exists(".andon/CHECKPOINT.md"), "it refuses, and halts nothing");

    observe(&stage, "compaction", "").ok();
    call(&stage, 4).ok().lacks("context");
    stage.steps("andon context --gate; echo b > code.txt; andon tick");
    assert_snapshot!(stage.andon(&["context"]).shown());
    usage(&stage, 30_000).ok().lacks("context");
}

#[test]
fn a_commit_is_never_refused_for_it() {
    let stage = Stage::installed();
    usage(&stage, 190_000).exits(4);
    assert_snapshot!(stage.iterate("1\n", &["ok a", "ok b"], "Save the work").ok().shown(), @"
    exit 0
    --- stderr
    warning[context-window]: no tool call until the context window is cleared: 190000 of 200000 tokens (95 %)
      help: /compact, or begin a new session with: Read .andon/MISSION_BRIEFING.md and continue
      help: then say that the window is cleared: andon observe compaction
    ");
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
        .map(|out| out.json()["decision"].as_str().unwrap().to_owned())
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
    assert_snapshot!(observe(&stage, "usage", told).shown(), @"
    exit 4
    --- stderr
    error[context-window]: compaction is mandatory before the next turn: 161000 of 200000 tokens (80 %), from its input and cached tokens
      help: /compact, or begin a new session with: Read .andon/MISSION_BRIEFING.md and continue
      help: then say that the window is cleared: andon observe compaction
    ");
    let view = context(&stage);
    assert_eq!(
        (&view["used"], &view["source"], &view["estimate"]),
        (&161_000.into(), &"computed".into(), &false.into())
    );
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\n[usage]\ncached = \"included\"\n");
    let view = context(&stage);
    assert_eq!((&view["used"], &view["threshold"]), (&120_000.into(), &"none".into()));
    assert_snapshot!(stage.andon(&["context"]).shown(), @r#"
    exit 0
    --- stdout
    120000 of 200000 tokens (60 %)
      node       agent
      source     computed: input_tokens (usage.cached = "included")
      thresholds warning 75 %, compaction 80 %, hard block 85 %
      briefing   .andon/MISSION_BRIEFING.md
    "#);
}

#[test]
fn an_estimate_is_marked_and_refuses_nothing_unless_it_may() {
    let stage = Stage::installed();
    let said = |lines: usize| {
        let text = "word\\n".repeat(lines);
        observe(&stage, "output", &format!("{{\"kind\":\"message.final\",\"text\":\"{text}{lines}\"}}\n"))
    };
    said(299).ok().lacks("context");
    assert_snapshot!(said(298).shown(), @"
    exit 0
    --- stderr
    warning[context-window]: the context window is 83 % full: about 167720 of 200000 tokens, an estimate from 599 lines
      help: compact soon: /compact, then: andon observe compaction
    ");
    let view = context(&stage);
    assert_eq!(
        (&view["percent"], &view["estimate"], &view["threshold"]),
        (&83.into(), &true.into(), &"warning".into())
    );
    assert_snapshot!(stage.andon(&["context"]).shown(), @"
    exit 0
    --- stdout
    about 167720 of 200000 tokens (83 %), an estimate  warning
      node       agent
      source     a rough estimate from 599 lines of output
      thresholds warning 75 %, compaction 80 %, hard block 85 %
      do         compact soon: /compact, then: andon observe compaction
    ");
    assert!(!stage.exists(".andon/MISSION_BRIEFING.md"));
    stage.write("andon.toml", "[rules]\ncontext-window = { estimate = \"block\" }\n");
    assert_snapshot!(stage.andon(&["context"]).shown(), @"
    exit 1
    --- stdout
    about 167720 of 200000 tokens (83 %), an estimate  compaction is mandatory
      node       agent
      source     a rough estimate from 599 lines of output
      thresholds warning 75 %, compaction 80 %, hard block 85 %
      do         /compact, or begin a new session with: Read .andon/MISSION_BRIEFING.md and continue
      do         then say that the window is cleared: andon observe compaction
    ");
    stage.write("andon.toml", "[rules]\ncontext-window = { estimate_lines = 5000 }\n");
    assert_snapshot!(stage.andon(&["context"]).shown(), @"
    exit 0
    --- stdout
    about 16772 of 200000 tokens (8 %), an estimate
      node       agent
      source     a rough estimate from 599 lines of output
      thresholds warning 75 %, compaction 80 %, hard block 85 %
    ");
    stage.write("andon.toml", "[rules]\ncontext-window = { estimate = \"off\" }\n");
    assert_snapshot!(stage.andon(&["context"]).shown(), @r#"
    exit 0
    --- stdout
    no context usage reported yet
      node       agent
      thresholds warning 75 %, compaction 80 %, hard block 85 %
      do         echo '{"context_tokens":N}' | andon observe usage
    "#);
}

#[test]
fn what_cannot_be_a_count_is_refused_and_what_is_odd_harms_nothing() {
    let stage = Stage::installed();
    usage(&stage, 165_000).exits(4);
    for (line, expected) in [
        ("{\"context_tokens\":-1}", "the member \"context_tokens\": invalid type: integer `-1`"),
        ("{\"context_tokens\":\"lots\"}", "expected a whole number of at least 0"),
        ("{\"output_lines\":-0.5}", "the member \"output_lines\": invalid value: floating point `-0.5`"),
        (
            "{\"cached_tokens\":5,\"cache_read_input_tokens\":6}",
            "\"cached_tokens\": 5 is not the sum of cache_read_input_tokens and cache_creation_input_tokens",
        ),
    ] {
        observe(&stage, "usage", &format!("{line}\n")).exits(4).says(expected).says("line 1");
    }
    assert_eq!(context(&stage)["used"], 165_000, "a negative count clears nothing");
    observe(&stage, "usage", "{}\n").exits(4);
    assert_eq!(context(&stage)["used"], 165_000, "and neither does a report that says nothing");
    assert_snapshot!(observe(&stage, "usage", "{\"context_tokens\":18446744073709551616}\n").brief(), @r#"
    exit 4, stderr: error[event]: no fact: the member "context_tokens": invalid value: floating point `1.8446744073709552e+19`, expected a whole number of at least 0 and below 2^64 --> line 1
    error[context-window]: compaction is mandatory before the next turn: 165000 of 200000 tokens (82 %)
    "#);
    assert_snapshot!(observe(&stage, "usage", "{\"context_tokens\":18446744073709551615}\n").shown(), @"
    exit 4
    --- stderr
    error[context-window]: no tool call until the context window is cleared: 18446744073709551615 of 200000 tokens (9223372036854775 %)
      help: /compact, or begin a new session with: Read .andon/MISSION_BRIEFING.md and continue
      help: then say that the window is cleared: andon observe compaction
      help: if the window is larger than 200000 tokens, in andon.toml under [rules]:  context-window = { window = N }
    ");
    assert_eq!(context(&stage)["used"], u64::MAX);
}

/// A loop's script compacts at 4, and waits for a person at 1.
#[test]
fn the_end_of_a_turn_tells_a_compaction_from_a_halt() {
    let stage = Stage::installed();
    usage(&stage, 161_000).exits(4);
    stage.andon(&["tick"]).exits(4).says("compaction is mandatory");
    stage.write(".andon/STOP", "");
    stage.andon(&["tick"]).exits(1).says("user-stop");
    usage(&stage, 162_000).exits(1);
    std::fs::remove_file(stage.path(".andon/STOP")).unwrap();
    stage.andon(&["resume", "--reason", "go on", "--yes", "a test"]);
    observe(&stage, "compaction", "{}\n").ok();
    stage.andon(&["tick"]).ok();
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
    assert_snapshot!(usage(&stage, 500_000).brief(),
        @"exit 4, stderr: error[context-window]: compaction is mandatory before the next turn: 500000 of 1000000 tokens (50 %)");
}
