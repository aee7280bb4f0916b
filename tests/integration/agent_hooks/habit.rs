//! The configured test command in an agent's shell: it becomes `andon test` where the client lets a hook change a call,
//! and is kept as handed in where it does not.

use std::path::Path;

use serde_json::{Value, json};

use super::{bash, hook, lines};
use crate::support::{Stage, andon_path};

/// What a handed-in run has in the journal.
const HANDED_IN: &str = r#""handed_in":true"#;

/// A payload of the real client, with another command line in the place of its own, and at work in the stage.
fn payload(stage: &Stage, file: &str, at: &str, command: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents").join(file);
    let mut payload: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    *payload.pointer_mut(at).unwrap() = Value::from(command);
    for key in ["cwd", "working_dir"] {
        if payload.get(key).is_some() {
            payload[key] = Value::from(stage.dir().to_str().unwrap());
        }
    }
    if payload.get("workspaceRoots").is_some() {
        payload["workspaceRoots"] = json!([stage.dir()]);
    }
    payload
}

/// Where each client that runs a call with other arguments has them, and what its model gets to know.
const REWRITING: [(&str, &str, &str, &str, &str, &str); 8] = [
    (
        "claude",
        "PreToolUse",
        "PreToolUse_bash",
        "/tool_input/command",
        "/hookSpecificOutput/updatedInput/command",
        "/hookSpecificOutput/additionalContext",
    ),
    (
        "codex",
        "PreToolUse",
        "PreToolUse_bash",
        "/tool_input/command",
        "/hookSpecificOutput/updatedInput/command",
        "/hookSpecificOutput/additionalContext",
    ),
    (
        "gemini",
        "BeforeTool",
        "BeforeTool_run_shell_command",
        "/tool_input/command",
        "/hookSpecificOutput/tool_input/command",
        "/hookSpecificOutput/additionalContext",
    ),
    (
        "copilot",
        "preToolUse",
        "preToolUse_bash",
        "/toolArgs/command",
        "/modifiedArgs/command",
        "/additionalContext",
    ),
    (
        "cursor",
        "preToolUse",
        "preToolUse_shell",
        "/tool_input/command",
        "/updated_input/command",
        "/agent_message",
    ),
    (
        "goose",
        "PreToolUse",
        "PreToolUse_shell",
        "/tool_input/command",
        "/hookSpecificOutput/updatedInput/command",
        "/hookSpecificOutput/additionalContext",
    ),
    (
        "opencode",
        "tool.execute.before",
        "tool_execute_before_bash",
        "/output/args/command",
        "/args/command",
        "/context",
    ),
    (
        "cline",
        "PreToolUse",
        "PreToolUse_run_commands",
        "/tool_call/input/commands/0",
        "/overrideInput/commands/0",
        "/contextModification",
    ),
];

#[test]
fn the_test_command_becomes_andon_test_in_each_client_that_lets_it() {
    let stage = Stage::installed();
    let andon = andon_path().to_str().unwrap().to_owned();
    for (client, event, file, at, to, note) in REWRITING {
        for (script, expected) in [
            ("sh check.sh", Some("ANDON test")),
            ("CI=1 sh check.sh && make", Some("CI=1 ANDON test && make")),
            ("sh check.sh -k name", Some("ANDON test -- sh check.sh -k name")),
            ("sh check.sh | tail", Some("ANDON test | tail")),
            ("make | sh check.sh", None),
            ("echo sh check.sh", None),
        ] {
            let given = payload(&stage, &format!("{client}/{file}.json"), at, script);
            let out = hook(&stage, client, event, &given.to_string()).ok();
            let answer: Value = serde_json::from_str(&out.stdout).unwrap_or_default();
            let run = answer.pointer(to).and_then(Value::as_str);
            // The shell says it where the model hears nothing from this hook.
            let spoken = run.and_then(|run| run.strip_prefix("printf '%s\\n' ")?.split_once(" >&2; "));
            let run = spoken.map(|(_, run)| run).or(run);
            let run = run.map(|run| run.replace(&andon, "ANDON").replace("andon test", "ANDON test"));
            assert_eq!(run.as_deref(), expected, "{client}: {script}: {out}");
            let told = answer.pointer(note).and_then(Value::as_str);
            let told = told.or(spoken.map(|(told, _)| told)).unwrap_or_default();
            assert_eq!(
                (told.contains("andon: this runs as"), told.lines().count() <= 1),
                (expected.is_some(), true),
                "{client}: {told}"
            );
            let grants = out.stdout.contains(r#""permissionDecision":"allow""#);
            assert_eq!(grants, client == "codex" && expected.is_some(), "{client}: {out}");
        }
    }
}

#[test]
fn what_runs_instead_proves_what_the_plain_command_would_not() {
    let stage = Stage::installed();
    stage.write("code.txt", "two\n");
    let given = payload(
        &stage,
        "claude/PreToolUse_bash.json",
        "/tool_input/command",
        "sh check.sh && git commit -qam Two",
    );
    let out = hook(&stage, "claude", "PreToolUse", &given.to_string()).ok();
    let answer: Value = serde_json::from_str(&out.stdout).unwrap();
    let script = answer["hookSpecificOutput"]["updatedInput"]["command"].as_str().unwrap().to_owned();
    stage.run_in(stage.dir(), "sh", &["-c", &script], None).ok();
    assert_eq!(stage.record("HEAD")["gate"], "passed");
}

#[test]
fn elsewhere_and_without_a_command_nothing_is_changed() {
    let stage = Stage::installed();
    stage.write("sub/a", "");
    let mut given = payload(&stage, "claude/PreToolUse_bash.json", "/tool_input/command", "sh check.sh");
    given["cwd"] = json!(stage.path("sub"));
    assert_eq!(hook(&stage, "claude", "PreToolUse", &given.to_string()).ok().all(), "");
    stage.write("andon.toml", "");
    assert_eq!(hook(&stage, "claude", "PreToolUse", &bash("sh check.sh")).ok().all(), "");
}

/// A call of a client that lets no hook change it, as it ended.
fn ran(stage: &Stage, command: &str, text: &str, exit: i64) -> Value {
    let mut given = payload(stage, "openhands/post_tool_use_terminal.json", "/tool_input/command", command);
    given["tool_response"]["content"][0]["text"] = Value::from(text);
    given["tool_response"]["exit_code"] = Value::from(exit);
    given
}

#[test]
fn a_plain_failing_run_is_evidence_of_a_loop_at_once() {
    let stage = Stage::installed();
    for code in ["1\n", "2\n", "3\n"] {
        stage.write("code.txt", code);
        let given = ran(&stage, "cd . && sh check.sh", "1..2\nok 1 - a\nnot ok 2 - b\n", 1);
        hook(&stage, "openhands", "post_tool_use", &given.to_string()).ok();
        stage.git(&["commit", "-qam", "Try", "--no-verify"]);
    }
    let runs = lines(&stage, "journal");
    assert!(runs.iter().filter(|run| run.to_string().contains(HANDED_IN)).count() >= 3, "{runs:?}");
    stage.andon(&["status", "--exit-code"]).exits(1).says("HALTED");
}

#[test]
fn a_plain_passing_run_proves_nothing_and_the_refusal_says_what_does() {
    let stage = Stage::installed();
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\nhanded_in = \"count\"\n");
    stage.write("code.txt", "two\n");
    for (command, exit) in
        [("sh check.sh", 0), ("sh check.sh | tail", 1), ("sh check.sh -k a", 1), ("sh check.sh; x", 1)]
    {
        let given = ran(&stage, command, "1..1\nok 1 - a\n", exit);
        hook(&stage, "openhands", "post_tool_use", &given.to_string()).ok();
    }
    let runs = lines(&stage, "journal").into_iter().filter(|line| line.to_string().contains(HANDED_IN));
    assert_eq!(runs.count(), 1);
    stage.git(&["commit", "-qam", "Two"]).exits(1).says("andon test");
    // Where a hook has changed the call, its end is that of `andon test`.
    hook(&stage, "claude", "PostToolUseFailure", &bash("sh check.sh")).ok();
    let runs = lines(&stage, "journal").into_iter().filter(|line| line.to_string().contains(HANDED_IN));
    assert_eq!(runs.count(), 1);
}

#[test]
fn the_memory_file_gets_a_line_when_asked_and_loses_it_byte_for_byte() {
    for (client, file) in [
        ("claude", "CLAUDE.md"),
        ("codex", "AGENTS.md"),
        ("gemini", "GEMINI.md"),
        ("qwen", "QWEN.md"),
        ("copilot", ".github/copilot-instructions.md"),
    ] {
        for before in [None, Some("# Ours"), Some("# Ours\r\n")] {
            let stage = Stage::installed();
            if let Some(before) = before {
                stage.write(file, before);
            }
            stage
                .andon(&["agent", "install", client, "--memory", "--dry-run"])
                .ok()
                .says("lines would be added")
                .says("andon test");
            assert_eq!(stage.exists(file), before.is_some());
            stage.andon(&["agent", "install", client]).ok();
            assert_eq!(stage.exists(file), before.is_some());
            stage.andon(&["agent", "install", client, "--memory"]).ok().says("lines added");
            assert!(stage.read(file).contains("Run the tests with `andon test`"));
            let written = stage.read(file);
            stage.andon(&["agent", "install", client, "--memory"]).ok();
            assert_eq!(stage.read(file), written);
            stage.andon(&["agent", "uninstall", client]).ok().says(file);
            let left = stage.exists(file).then(|| stage.read(file));
            assert_eq!(left.as_deref(), before, "{client}");
            assert!(client != "copilot" || before.is_some() || !stage.exists(".github"));
        }
    }
    let stage = Stage::installed();
    stage.andon(&["agent", "install", "claude", "--memory", "--user"]).exits(2);
}

#[test]
fn a_shell_turns_what_is_typed_into_andon_test_once_it_is_asked_to() {
    let stage = Stage::installed();
    stage.tests(&["not ok a"]);
    let dir = andon_path().parent().unwrap().to_str().unwrap().to_owned();
    for shell in ["bash", "zsh", "fish"] {
        if stage.command(stage.dir(), shell).arg("-c").arg("exit 0").output().is_err() {
            continue;
        }
        let add =
            if shell == "fish" { format!("set -gx PATH {dir} $PATH") } else { format!("PATH={dir}:$PATH") };
        let source = if shell == "fish" {
            "andon completions fish --wrap | source"
        } else {
            &format!("eval \"$(andon completions {shell} --wrap)\"")
        };
        let run = |line: &str| {
            let script = format!("{add}; {source}; _andon_prompt; {line}");
            stage.run_in(stage.dir(), shell, &["-c", &script], None)
        };
        let before = lines(&stage, "journal").len();
        run("sh check.sh").exits(1).says("not ok 1 - a");
        assert!(lines(&stage, "journal").len() > before, "{shell}");
        run("sh check.sh x").says("proves nothing");
        let quiet = lines(&stage, "journal").len();
        run("sh -c 'exit 7'").exits(7);
        let off = if shell == "fish" { "ANDON=0 sh check.sh" } else { "ANDON=0; sh check.sh" };
        run(off);
        run("cd /; sh -c 'exit 3'").exits(3);
        assert_eq!(lines(&stage, "journal").len(), quiet, "{shell}");
        let plain = stage.run_in(stage.dir(), shell, &["-c", "sh check.sh"], None);
        assert_eq!(lines(&stage, "journal").len(), quiet, "{plain}");
        let config = stage.read("andon.toml");
        let scopes = "[test.scopes.one]\npaths = [\"one/**\"]\ncommand = \"sh check.sh 'a b'\"\n\
                      [test.scopes.two]\npaths = [\"two/**\"]\ncommand = \"env sh check.sh\"\n";
        std::fs::write(stage.path("andon.toml"), format!("{config}{scopes}")).unwrap();
        run("sh check.sh 'a b'").exits(1).says("[1/1] scope one");
        run("sh check.sh a b").says("proves nothing").lacks("scope one");
        run("sh check.sh 'a b' c; sh check.sh 'a b'")
            .says("scope one: this was a part of the tests")
            .says("[1/1] scope one");
        run("env sh check.sh").exits(1).says("[1/1] scope two");
        run("env sh -c 'exit 4'").exits(4);
        std::fs::write(stage.path("andon.toml"), config).unwrap();
    }
    stage.andon(&["completions", "elvish", "--wrap"]).exits(2);
    stage.andon(&["t"]).exits(1).says("not ok 1 - a");
    stage.andon(&["--help"]).ok().says("andon t)");
}
