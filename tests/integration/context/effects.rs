//! What follows from a full window: the briefing, the gate, notifications and the next provider.

use insta::assert_snapshot;

use super::{call, observe, usage};
use crate::support::Stage;

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
        "## Failing Tests\n- `a`\n- `b`\n",
        "## Best State So Far",
        "1. make a pass: andon test\n2. or go back to ",
        "go on in PLAN.md with: tokens",
    ] {
        assert!(text.contains(part), "{part:?} in\n{text}");
    }
    stage.write(".andon/MISSION_BRIEFING.md", format!("{text}\nThe lock is the culprit.\n"));
    usage(&stage, 161_000).exits(4);
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
    usage(&stage, 175_000).exits(4);
    stage.write("andon.toml", "[rules]\ncontext-window = { window = 0 }\n");
    assert_snapshot!(stage.andon(&["context", "--gate"]).shown(), @"
    exit 1
    --- stderr
    error[config]: `rules.context-window.window` must be a whole number from 1 to 1000000000, not 0
      --> andon.toml:2:29
         |
       2 | context-window = { window = 0 }
         |                             ^
      help: write window = 200000
    error[context-window]: no tool call until the context window is cleared: 175000 of 200000 tokens (87 %)
      help: /compact, or begin a new session with: Read .andon/MISSION_BRIEFING.md and continue
      help: then say that the window is cleared: andon observe compaction
    ");
    stage.set("ANDON", "0");
    stage.andon(&["context", "--gate"]).ok().lacks("context");
    stage.unset("ANDON");
    let nowhere = stage.root().join("nowhere");
    std::fs::create_dir(&nowhere).unwrap();
    assert_snapshot!(stage.andon_in(&nowhere, &["context", "--gate"]).shown(), @"
    exit 0
    --- stderr
    error: not a git repository (or any of its parents): ROOT/nowhere
      help: run `git init`, or change into a repository
    ");
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
    assert_snapshot!(usage(&stage, 161_000).brief(), @"
    exit 4, stderr: warning[response]: cannot write ROOT/repo/.andon/MISSION_BRIEFING.md: it is not a directory
    warning[response]: cannot write ROOT/repo/.andon/notifications.jsonl: it is not a directory
    error[context-window]: compaction is mandatory before the next turn: 161000 of 200000 tokens (80 %)
    ");
    usage(&stage, 100).ok();
    assert_snapshot!(stage.andon(&["context", "--brief"]).shown(), @"
    exit 70
    --- stderr
    error: cannot write ROOT/repo/.andon/MISSION_BRIEFING.md: it is not a directory
      help: ROOT/repo/.andon must be a directory: mv ROOT/repo/.andon ROOT/repo/.andon.old
    ");
    let bare = Stage::bare_ground();
    bare.steps("git init -q --bare .; andon context");
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
    usage(&stage, 161_000).exits(4);
    usage(&stage, 162_000).exits(4);
    assert_eq!(told(), 1);
    usage(&stage, 180_000).exits(4);
    assert_eq!(told(), 2, "the hard block notifies too");
    call(&stage, 1).exits(4);
    stage.set("ANDON_SESSION", "two");
    call(&stage, 2).ok();
    usage(&stage, 161_000).exits(4);
    assert_eq!(told(), 3);
    observe(&stage, "session_start", "{\"session\":\"two\"}\n").ok();
    call(&stage, 3).ok();
    usage(&stage, 161_000).exits(4);
    assert_eq!(told(), 4);
}

#[test]
fn each_node_is_judged_by_its_own_window() {
    let stage = Stage::installed();
    observe(&stage, "usage", "{\"node\":\"coder\",\"context_tokens\":175000}\n").exits(4);
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
    let advice = || stage.andon(&["advise", "--format", "json"]).ok().json();
    usage(&stage, 165_000).exits(4);
    assert_eq!(advice()["next"], serde_json::Value::Null, "it can still be compacted");
    usage(&stage, 175_000).exits(4);
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
    assert_snapshot!(stage.andon(&["context"]).shown(), @"
    exit 0
    --- stdout
    190000 of 200000 tokens (95 %)  hard block
      node       agent
      source     reported by the client (context_tokens)
      thresholds warning 75 %, compaction 80 %, hard block 85 %
    ");
    level("warn");
    assert_snapshot!(call(&stage, 1).brief(),
        @"exit 0, stderr: warning[context-window]: no tool call until the context window is cleared: 190000 of 200000 tokens (95 %)");
    stage.andon(&["context", "--gate"]).ok();
    level("halt");
    assert_snapshot!(call(&stage, 2).shown(), @r"
    exit 1
    --- stderr
    error[context-window]: HALTED: the loop has used up a budget
      what   no tool call until the context window is cleared: 190000 of 200000 tokens (95 %)
      since  TIME, 1 commit; tests: 2 passed
      look   .andon/CHECKPOINT.md
      answer a person decides, then runs: andon resume --reason '<decision>'
      No commit is accepted until then.
      help: /compact, or begin a new session with: Read .andon/MISSION_BRIEFING.md and continue
      help: then say that the window is cleared: andon observe compaction
    ");
    assert!(stage.read(".andon/CHECKPOINT.md").contains("begin a new session with"));
    assert_snapshot!(stage.git(&["commit", "--allow-empty", "-qm", "x"]).shown(), @r"
    exit 1
    --- stderr
    error[context-window]: commit refused: halted AGE: the loop has used up a budget
      what   no tool call until the context window is cleared: 190000 of 200000 tokens (95 %)
      since  TIME, 1 commit; tests: 2 passed
      look   .andon/CHECKPOINT.md
      answer a person decides, then runs: andon resume --reason '<decision>'
    ");
}
