//! Which layers guarded a commit, and what `andon check` says of a client that was silent.

use super::{bash, hook};
use crate::support::Stage;

const CLAUDE: &str = "Try\n\nCo-Authored-By: Claude <noreply@anthropic.com>";
const CODEX: &str = "Try\n\nCo-authored-by: Codex <noreply@openai.com>";

fn guards(stage: &Stage) -> Option<String> {
    stage.record("HEAD").get("guards").map(ToString::to_string)
}

/// What `andon check` says of the newest commit beside its summary.
fn said(stage: &Stage) -> String {
    let out = stage.andon(&["check", "HEAD~1..HEAD"]);
    let kept = |line: &&str| line.contains("unguarded-agent") || line.contains("agent install");
    let lines: String = out.stdout.lines().filter(kept).map(|line| format!("\n  {}", line.trim())).collect();
    format!("exit {}{lines}", out.code)
}

#[test]
fn a_record_names_the_layers_and_check_a_client_that_was_silent() {
    let stage = Stage::installed();
    assert_eq!(guards(&stage), None, "no agent was at work");
    let mut shown = String::new();
    let mut step = |stage: &Stage, what: &str| {
        let layers = guards(stage).unwrap_or_else(|| "nothing".to_owned());
        shown.push_str(&format!("{what}: {layers}, check {}\n", said(stage)));
    };
    hook(&stage, "claude", "PreToolUse", &bash("git commit -qam x")).ok();
    stage.iterate("1\n", &["ok a"], CLAUDE).ok();
    stage.andon(&["show"]).ok().says("git, claude");
    step(&stage, "its hook was heard");
    stage.iterate("2\n", &["ok a"], CODEX).ok();
    step(&stage, "the hooks of another client");
    stage.set("CODEX_THREAD_ID", "t");
    stage.iterate("3\n", &["ok a"], "Try again").ok();
    stage.unset("CODEX_THREAD_ID");
    step(&stage, "the shell alone tells whose it is");
    stage.pass(3600);
    stage.iterate("4\n", &["ok a"], "By hand").ok();
    step(&stage, "no client is at work any more");
    stage.iterate("5\n", &["ok a"], CLAUDE).ok();
    step(&stage, "silent since");
    insta::assert_snapshot!("layers_of_commits", shown);
}

#[test]
fn a_silent_client_can_fail_the_check_or_be_left_alone() {
    for (level, code) in [("error", 1), ("note", 0), ("off", 0)] {
        let stage = Stage::installed();
        let config =
            format!("[test]\ncommand = \"sh check.sh\"\n[rules]\nhook-bypass = {{ agents = \"{level}\" }}\n");
        stage.write("andon.toml", config);
        stage.git(&["add", "--all"]).ok();
        stage.iterate("1\n", &["ok a"], "Say so").ok();
        stage.iterate("2\n", &["ok a"], CLAUDE).ok();
        let out = stage.andon(&["check", "HEAD~1..HEAD"]).exits(code);
        assert_eq!(out.all().contains("unguarded-agent"), level != "off", "{level}: {out}");
    }
}

/// Gemini's shell tells git to run no hooks: the record of the hook after the tool names no hook of git's.
#[test]
fn what_a_clients_hook_records_names_no_hook_of_git() {
    let stage = Stage::installed();
    let call = r#"{"session_id":"g","tool_name":"run_shell_command","tool_input":{"command":"git commit"}}"#;
    hook(&stage, "gemini", "BeforeTool", call).ok();
    stage.write("code.txt", "1\n");
    stage.andon(&["test"]).ok();
    stage.git(&["-c", "core.hooksPath=", "commit", "-qam", "Round the hooks"]).ok();
    let call = r#"{"session_id":"g","tool_name":"run_shell_command","tool_input":{"command":"x"},"tool_response":{"llmContent":"x"}}"#;
    hook(&stage, "gemini", "AfterTool", call);
    assert_eq!(guards(&stage).as_deref(), Some(r#"["gemini"]"#));
}

/// Each request of the model has its tokens, and the commit those of its turn.
#[test]
fn a_record_of_a_gemini_session_has_its_tokens() {
    let stage = Stage::installed();
    let golden = |name: &str| {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents/gemini").join(name);
        std::fs::read_to_string(path).unwrap()
    };
    for name in ["AfterModel.json", "AfterModel_usage.json"] {
        hook(&stage, "gemini", "AfterModel", &golden(name)).ok();
    }
    let thought = golden("AfterModel.json")
        .replace(r#""candidatesTokenCount":20"#, r#""candidatesTokenCount":20,"thoughtsTokenCount":3"#);
    hook(&stage, "gemini", "AfterModel", &thought).ok();
    stage.write("code.txt", "1\n");
    stage.andon(&["test"]).ok();
    stage.git(&["-c", "core.hooksPath=", "commit", "-qam", "Round the hooks"]).ok();
    let call = r#"{"session_id":"g","tool_name":"run_shell_command","tool_input":{"command":"x"},"tool_response":{"llmContent":"x"}}"#;
    hook(&stage, "gemini", "AfterTool", call);
    let usage = &stage.record("HEAD")["usage"];
    assert_eq!((&usage["input_tokens"], &usage["output_tokens"]), (&152_000.into(), &120.into()), "{usage}");
}

/// A commit that git makes again from an agent's commit belongs to the caller.
#[test]
fn a_commit_that_is_picked_names_nothing() {
    let stage = Stage::installed();
    hook(&stage, "claude", "PreToolUse", &bash("git commit -qam x")).ok();
    stage.git(&["checkout", "-qb", "other"]).ok();
    stage.iterate("1\n", &["ok a"], CLAUDE).ok();
    stage.git(&["checkout", "-q", "main"]).ok();
    stage.pass(3600);
    stage.git(&["cherry-pick", "other"]).ok();
    assert_eq!(guards(&stage), None);
}
