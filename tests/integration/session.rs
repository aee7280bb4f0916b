//! The safety log, in the form the requirements document, and frozen replays of a session.

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::{Stage, image::built};

fn events(stage: &Stage, more: &[&str]) -> Vec<Value> {
    let args: Vec<&str> =
        ["log", "--events", "--format", "json"].into_iter().chain(more.iter().copied()).collect();
    let out = stage.andon(&args).ok().stdout;
    assert_eq!(out.lines().count(), 1, "{out}");
    let parsed: Value = serde_json::from_str(&out).unwrap();
    parsed["events"].as_array().unwrap().clone()
}

/// Type and action of each, with a blank between.
fn kinds(events: &[Value]) -> Vec<String> {
    let text = |event: &Value, key: &str| event[key].as_str().unwrap().to_owned();
    events.iter().map(|event| [text(event, "type"), text(event, "action_taken")].join(" ")).collect()
}

fn observe(stage: &Stage, kind: &str, line: &str) {
    let andon = crate::support::andon_path();
    stage.run_in(stage.dir(), andon, &["observe", kind], Some(line.as_bytes()));
}

#[test]
fn a_clone_without_events_says_so() {
    let stage = Stage::new();
    assert_snapshot!(stage.andon(&["log", "--events"]).brief(), @"exit 0, stdout: no safety events");
    assert!(events(&stage, &[]).is_empty());
}

#[test]
fn refusals_skips_and_bypasses_are_events() {
    let stage = Stage::installed();
    stage.write("code.txt", "1\n");
    stage.git(&["commit", "-qam", "No"]).refused();
    stage.set("ANDON_SKIP", "untested-edit");
    stage.set("ANDON_SKIP_REASON", "pager");
    stage.git(&["commit", "-qam", "Skipped"]).ok();
    stage.unset("ANDON_SKIP");
    stage.steps("echo 2 > code.txt; git commit -qam Around --no-verify");
    let found = events(&stage, &[]);
    // Newest first, and the skip once, though journal and record tell of it.
    assert_eq!(
        kinds(&found),
        ["GATE_BYPASS recorded", "DIRTY_BIT_SKIPPED commit_allowed", "DIRTY_BIT_VIOLATION commit_refused",]
    );
    assert_eq!(found[1]["details"]["reason"], "pager");
    assert_eq!(found[2]["details"]["code_modified"], true);
    assert_eq!(found[2]["details"]["tests_run"], false);
    assert!(found[2]["timestamp"].as_str().unwrap().starts_with("2026-11-20T"), "{}", found[2]);
    assert_eq!(events(&stage, &["--limit", "1"]).len(), 1);
    assert_snapshot!(stage.andon(&["log", "--events"]).brief(), @"
    exit 0, stdout: TIME  bypassed  hook-bypass: HASH: --no-verify, or hooks that were off
    TIME  skipped   untested-edit: HASH: pager
    TIME  refused   untested-edit: the code changed after the tests ran: code.txt
    ");
}

#[test]
fn halts_answers_and_stop_switches_are_events() {
    let stage = Stage::installed();
    for number in 1..=3 {
        stage.iterate(&format!("{number}\n"), &["not ok b"], "Try").ok();
    }
    stage.andon(&["stop", "--reason", "enough"]).ok();
    stage.git(&["commit", "-q", "--allow-empty", "-m", "No"]).refused();
    stage.steps("andon resume --reason mended; andon resume --counter consecutive-failures --reason flaky");
    stage.steps("andon pause --reason lunch");
    let found = events(&stage, &[]);
    let kinds = kinds(&found);
    for wanted in [
        "USER_STOP loop_halted_checkpoint_created",
        "COUNTER_RESET counter_reset",
        "ACKNOWLEDGED window_reset",
        "NO_PROGRESS commit_refused",
        "USER_STOP loop_stays_halted",
        "NO_PROGRESS loop_halted_checkpoint_created",
    ] {
        assert!(kinds.iter().any(|kind| kind == wanted), "{wanted} in {kinds:?}");
    }
    // One halt is one event, though its commit's record tells of it too.
    let halts = kinds.iter().filter(|kind| kind.starts_with("NO_PROGRESS loop_halted"));
    assert_eq!(halts.count(), 1, "{kinds:?}");
    let acknowledged = found.iter().find(|event| event["type"] == "ACKNOWLEDGED").unwrap();
    assert_eq!(acknowledged["details"]["reason"], "mended");
    assert_eq!(acknowledged["details"]["rule"], "repeated-failures");
}

#[test]
fn a_tool_may_be_named_like_a_sentence() {
    let stage = Stage::installed();
    for _ in 0..5 {
        observe(&stage, "tool_call", r#"{"tool":"mcp: INFINITE_search","args":{"q":"a"},"result":"same"}"#);
    }
    let found = events(&stage, &[]);
    let hard = found.iter().find(|event| event["type"] == "HARD_LOOP").unwrap();
    assert_eq!(hard["details"]["signature"], "mcp: INFINITE_search({\"q\":\"a\"})");
    assert_eq!(hard["details"]["count"], 5);
    let advice = stage.andon(&["advise", "--format", "json"]).ok().json();
    assert_eq!(advice["deadlock"], "HARD", "{advice}");
}

#[test]
fn a_damaged_journal_costs_its_line_and_no_more() {
    let stage = Stage::installed();
    stage.write("code.txt", "1\n");
    stage.git(&["commit", "-qam", "No"]).refused();
    let journal = stage.read(".git/andon/journal.jsonl");
    stage.write(
        ".git/andon/journal.jsonl",
        format!("{journal}{{\"type\":\"refused\",\"rule\":1}}\n\u{1b}garbage\n"),
    );
    let out = stage.andon(&["log", "--events"]);
    assert_snapshot!(out.shown(), @r#"
    exit 0
    --- stdout
    TIME  refused   untested-edit: the code changed after the tests ran: code.txt
    --- stderr
    warning: the member "rule": invalid type: integer `1`, expected a string at line 1 column 26
      --> ROOT/repo/.git/andon/journal.jsonl at byte 1378
      help: it is skipped; to set the file aside with all that it holds: mv 'ROOT/repo/.git/andon/journal.jsonl' 'ROOT/repo/.git/andon/journal.jsonl.bad'
    warning: not readable as JSON: expected value at line 1 column 1
      --> ROOT/repo/.git/andon/journal.jsonl at byte 1406
      help: it is skipped; to set the file aside with all that it holds: mv 'ROOT/repo/.git/andon/journal.jsonl' 'ROOT/repo/.git/andon/journal.jsonl.bad'
    "#);
    assert!(!out.all().contains('\u{1b}'), "{out}");
}

/// A session of two turns with a commit, beside the work of others.
fn recorded_session() -> Stage {
    built!({
        let stage = Stage::installed();
        stage.set("ANDON_SESSION", "auto-1");
        observe(
            &stage,
            "turn_start",
            r#"{"node":"coder","model":"model-4.6","prompt_hash":"sha256:def456"}"#,
        );
        observe(&stage, "tool_call", r#"{"tool":"Edit","args":{"file_path":"code.txt"},"result":"ok"}"#);
        stage.iterate("1\n", &["ok a", "ok b"], "Work of the session").ok();
        stage.andon(&["tick", "--node", "coder"]).ok();
        stage.unset("ANDON_SESSION");
        stage.iterate("2\n", &["ok a", "ok b"], "Work of a person").ok();
        observe(&stage, "turn_start", r#"{"session":"auto-2","node":"coder"}"#);
        observe(&stage, "turn_end", r#"{"session":"auto-2","node":"coder"}"#);
        stage
    })
}

fn walked(stage: &Stage, session: &str) -> Vec<Value> {
    let out = stage.andon(&["replay", "--session", session, "--format", "json"]).ok().stdout;
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_session_is_walked_step_by_step() {
    let stage = recorded_session();
    let lines = walked(&stage, "auto-1");
    assert_eq!(lines[0]["session_id"], "auto-1");
    assert_eq!(lines[0]["model_version"], "model-4.6");
    assert_eq!(lines[0]["prompt_hash"], "sha256:def456");
    assert_eq!(lines[0]["steps"], lines.len() - 1);
    let steps: Vec<String> = lines[1..]
        .iter()
        .map(|step| {
            format!("{} | {} | {}", step["state"], step["action"], step["next_state"]).replace('"', "")
        })
        .collect();
    assert_eq!(
        steps,
        [
            "idle | turn_start | planning",
            "planning | tool_call Edit: code.txt | executing",
            "executing | test_run passed: 0 of 2 failing | tests_passed",
            "tests_passed | commit Work of the session | committed",
            "committed | turn_end | idle",
        ]
    );
    assert!(lines[1..].iter().all(|step| step["decision"] == "allow"), "{lines:?}");
    assert_eq!(lines[4]["commit"], stage.git(&["rev-parse", "HEAD~1"]).ok().stdout.trim());
    assert_eq!(lines[4]["node"], "agent");
    assert_snapshot!(stage.andon(&["replay", "--session", "auto-1"]).shown(), @"
    exit 0
    --- stdout
      session    auto-1
      model      model-4.6
      prompt     sha256:def456

    TIME  idle         -> planning      turn_start
    TIME  planning     -> executing     tool_call Edit: code.txt
    TIME  executing    -> tests_passed  test_run passed: 0 of 2 failing
    TIME  tests_passed -> committed     commit Work of the session
    TIME  committed    -> idle          turn_end
    5 steps, 0 halts
    ");
    assert_eq!(walked(&stage, "auto-2").len(), 3);
}

#[test]
fn the_decision_of_each_step_is_that_of_the_engine() {
    let stage = Stage::installed();
    stage.set("ANDON_SESSION", "loop");
    for number in 1..=3 {
        stage.iterate(&format!("{number}\n"), &["not ok b"], "Try").ok();
    }
    stage.git(&["commit", "-q", "--allow-empty", "-m", "No"]).refused();
    stage.andon(&["resume", "--reason", "mended"]).ok();
    let lines = walked(&stage, "loop");
    let halted = lines.iter().find(|step| step["halt"] == "repeated-failures").unwrap();
    assert_eq!((halted["decision"].as_str(), halted["next_state"].as_str()), (Some("halt"), Some("halted")));
    assert_eq!(halted["reason"], "stalled");
    assert_eq!(halted["findings"][0]["rule"], "repeated-failures");
    let refused = lines.iter().find(|step| step["next_state"] == "refused").unwrap();
    assert!(refused["action"].as_str().unwrap().starts_with("refused repeated-failures"), "{refused}");
    let resumed = lines.last().unwrap();
    assert_eq!(
        (resumed["next_state"].as_str(), resumed["decision"].as_str()),
        (Some("resumed"), Some("allow"))
    );
}

#[test]
fn an_unknown_session_names_those_that_are_known() {
    let stage = recorded_session();
    let out = stage.andon(&["replay", "--session", "auto-9\u{1b}"]).exits(2);
    assert_snapshot!(out.lacks("\u{1b}").shown(), @r#"
    exit 2
    --- stderr
    error: no such session: "auto-9\u{1b}"
      help: known here: auto-1, auto-2
    "#);
    assert_snapshot!(Stage::installed().andon(&["replay", "--session", "x"]).shown(), @r#"
    exit 2
    --- stderr
    error: no such session: "x"
      help: no session is known here: set ANDON_SESSION, or name `session` in events of `andon observe`
    "#);
    stage.andon(&["replay", "--session", "auto-1", "--events", "-"]).exits(2);
}

#[test]
fn another_clone_walks_the_commits_of_a_session() {
    let stage = recorded_session();
    let root = stage.root().canonicalize().unwrap();
    stage.git_in(&root, &["clone", "-q", "repo", "clone"]).ok();
    let clone = root.join("clone");
    let refs =
        ["fetch", "-q", "origin", "+refs/notes/andon*:refs/notes/andon*", "+refs/andon/*:refs/andon/*"];
    stage.git_in(&clone, &refs).ok();
    let out = stage.andon_in(&clone, &["replay", "--session", "auto-1", "--format", "json"]).ok().stdout;
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 2, "{out}");
    assert!(lines[1].contains("commit Work of the session"), "{out}");
    assert_snapshot!(stage.andon_in(&clone, &["replay", "--session", "auto-2"]).shown(), @r#"
    exit 2
    --- stderr
    error: no such session: "auto-2"
      help: known here: auto-1
    "#);
}

fn details<'a>(events: &'a [Value], kind: &str, action: &str) -> &'a Value {
    let found = events.iter().find(|event| event["type"] == kind && event["action_taken"] == action);
    &found.unwrap_or_else(|| panic!("{kind} {action} in {events:?}"))["details"]
}

/// The members that docs/formats.md shows for safety events.
#[test]
fn the_details_are_those_of_the_document() {
    let stage = Stage::installed();
    for _ in 0..5 {
        observe(&stage, "tool_call", r#"{"tool":"Read","args":{"file_path":"a"},"result":"same"}"#);
    }
    observe(&stage, "usage", r#"{"context_tokens":152000}"#);
    observe(&stage, "usage", r#"{"context_tokens":174000}"#);
    let found = events(&stage, &[]);
    assert_eq!(found.iter().filter(|event| event["type"] == "SOFT_LOOP").count(), 1, "{found:?}");
    let soft = details(&found, "SOFT_LOOP", "continued_monitoring");
    assert_eq!((&soft["signature"], &soft["count"]), (&"Read(a)".into(), &3.into()));
    let hard = details(&found, "HARD_LOOP", "loop_halted_checkpoint_created");
    assert_eq!((&hard["signature"], &hard["count"]), (&"Read(a)".into(), &5.into()));
    let warned = details(&found, "COMPACTION_GATE", "continued_monitoring");
    assert_eq!((&warned["context_pct"], &warned["threshold"]), (&76.into(), &75.into()));
    assert!(found.iter().any(|event| event["details"]["threshold"] == 85), "{found:?}");
}

#[test]
fn a_refused_push_and_a_task_that_is_not_done_are_events() {
    let stage = Stage::installed();
    stage.write("code.txt", "1\n");
    stage.andon(&["complete"]).exits(1);
    stage.andon(&["complete"]).exits(1);
    stage.iterate("2\n", &["not ok b"], "Broken").ok();
    let root = stage.root().canonicalize().unwrap();
    stage.git_in(&root, &["init", "-q", "--bare", "remote.git"]).ok();
    stage.git(&["remote", "add", "origin", root.join("remote.git").to_str().unwrap()]).ok();
    stage.git(&["push", "-q", "origin", "HEAD:refs/heads/main"]).refused();
    let found = events(&stage, &[]);
    let kinds = kinds(&found);
    let told = |wanted: &str| kinds.iter().filter(|kind| *kind == wanted).count();
    assert_eq!(told("DIRTY_BIT_VIOLATION push_refused"), 1, "{kinds:?}");
    assert_eq!(told("DIRTY_BIT_VIOLATION injected_test_prompt"), 1, "once, though asked twice: {kinds:?}");
    let prompted = details(&found, "DIRTY_BIT_VIOLATION", "injected_test_prompt");
    assert_eq!((&prompted["code_modified"], &prompted["tests_run"]), (&true.into(), &false.into()));
    let pushed = details(&found, "DIRTY_BIT_VIOLATION", "push_refused");
    assert_eq!(pushed["tests_passing"], false);
}

#[test]
fn stop_switches_that_are_moved_while_halted_show_in_check_and_log() {
    let stage = Stage::installed();
    for number in 1..=3 {
        stage.iterate(&format!("{number}\n"), &["not ok b"], "Try").ok();
    }
    stage.andon(&["stop", "--reason", "enough"]).ok();
    stage.git(&["commit", "-q", "--allow-empty", "-m", "No"]).refused();
    std::fs::remove_file(stage.dir().join(".andon/STOP")).unwrap();
    stage.git(&["commit", "-q", "--allow-empty", "-m", "No"]).refused();
    stage.git(&["commit", "-q", "--allow-empty", "-m", "No"]).refused();
    // The way of the document.
    stage.write(".andon/PAUSE", "");
    stage.git(&["commit", "-q", "--allow-empty", "-m", "No"]).refused();
    let found = events(&stage, &[]);
    let moved: Vec<&str> = found
        .iter()
        .filter(|event| event["action_taken"] == "loop_stays_halted")
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    assert_eq!(moved, ["USER_STOP", "CORD_LIFTED", "USER_STOP"]);
    let out = stage.andon(&["check", "HEAD~3..HEAD"]);
    assert_snapshot!(out.shown());
    stage.andon(&["resume", "--reason", "mended"]).ok();
    stage.git(&["commit", "-q", "--allow-empty", "-m", "Go on"]);
    let after = events(&stage, &[]);
    let moved = after.iter().filter(|event| event["action_taken"] == "loop_stays_halted");
    assert_eq!(moved.count(), 3);
}

/// "loop rules" (docs/spec-map.md): ten identical calls are INFINITE and leave a blocker report, although the loop was
/// halted at the fifth and the halt was ignored.
#[test]
fn an_agent_that_goes_on_behind_a_halt_gets_a_blocker_report() {
    let stage = Stage::installed();
    for _ in 0..9 {
        observe(&stage, "tool_call", r#"{"tool":"Read","args":{"file_path":"a"},"result":"same"}"#);
    }
    assert!(stage.read(".andon/CHECKPOINT.md").contains("the last 5 tool calls were the same"));
    assert!(!stage.dir().join(".andon/BLOCKER_REPORT.md").exists());
    for _ in 0..2 {
        observe(&stage, "tool_call", r#"{"tool":"Read","args":{"file_path":"a"},"result":"same"}"#);
    }
    assert!(stage.read(".andon/BLOCKER_REPORT.md").contains("the last 10 tool calls were the same"));
    let found = events(&stage, &[]);
    let told = found.iter().filter(|event| event["type"] == "INFINITE_LOOP");
    assert_eq!(told.count(), 1, "{found:?}");
    assert_eq!(details(&found, "INFINITE_LOOP", "blocker_report_created")["count"], 10);
    stage.andon(&["resume", "--reason", "it listens now"]).ok();
    assert!(!stage.dir().join(".andon/BLOCKER_REPORT.md").exists());
    assert!(!stage.dir().join(".andon/CHECKPOINT.md").exists());
}

#[test]
fn a_task_is_not_known_to_be_done_where_nothing_is_known() {
    let stage = Stage::new();
    stage.andon(&["complete"]).exits(3).says("not known");
    stage.andon(&["install"]).ok();
    stage.write("a.rs", "fn main() {}\n");
    stage.commit_of(".", "First");
    stage.andon(&["complete"]).exits(3).says("not known");
    // No tests are asked for: nothing is missing.
    stage.write("andon.toml", "[rules]\nuntested-edit = \"off\"\n");
    stage.andon(&["complete"]).ok();
}

#[test]
fn a_build_that_failed_is_not_called_untested() {
    let stage = Stage::installed();
    stage.write("check.sh", "echo 'error[E0425]: cannot find value `x` in this scope' >&2\necho 'error: could not compile `a` (lib) due to 1 previous error' >&2\nexit 101\n");
    stage.iterate("2\n", &[], "Break the build").ok();
    stage.andon(&["stop", "--reason", "look"]).ok();
    let shown = stage.read(".andon/CHECKPOINT.md");
    assert!(!shown.contains("not tested: `Break the build`"), "{shown}");
    assert!(shown.contains("the build failed: `Break the build`"), "{shown}");
}
