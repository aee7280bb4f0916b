//! What a tool call took from the guard is found by comparing states, whatever the command line said: it is put back, told and kept,
//! and the second time halts. What people and Andon itself change does not count.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use serde_json::{Value, json};

use crate::support::{Out, Stage, andon_path, image::built, people::fail};

fn hook(stage: &Stage, event: &str, id: &str) -> Out {
    let payload = json!({
        "hook_event_name": event, "session_id": "s1", "cwd": stage.dir(), "tool_name": "Bash", "tool_use_id": id,
        "tool_input": {"command": format!("make {id}")}, "tool_response": {"stdout": id, "stderr": "", "interrupted": false},
    });
    stage.feed(&["agent", "hook", "claude", event], payload.to_string().as_bytes())
}

fn told(out: &Out) -> String {
    let said: Value = serde_json::from_str(&out.stdout).unwrap_or(Value::Null);
    said["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

/// A shell call that does that, whatever its text was; returns the reply to the model.
fn call(stage: &Stage, id: &str, does: impl FnOnce(&Stage)) -> String {
    hook(stage, "PreToolUse", id).ok();
    does(stage);
    told(&hook(stage, "PostToolUse", id))
}

fn guarded() -> Stage {
    built!({
        let stage = Stage::installed();
        stage.steps("andon agent install claude --project; git add -A; git commit -qm 'Guard the agent'");
        stage
    })
}

#[test]
fn hooks_that_a_call_removed_are_put_back_and_the_second_time_halts() {
    let stage = guarded();
    let before = stage.read(".git/hooks/post-commit");
    let gone = call(&stage, "1", |stage| std::fs::remove_dir_all(stage.path(".git/hooks")).unwrap());
    assert!(
        gone.contains("took away what guards this loop: git's hooks") && gone.contains("(put back)"),
        "{gone}"
    );
    assert_eq!(stage.read(".git/hooks/post-commit"), before);
    stage.iterate("1\n", &["ok a"], "Go on").ok();
    assert!(stage.git(&["notes", "--ref=andon", "show", "HEAD"]).ok().stdout.contains("andon/commit@1"));
    let again = call(&stage, "2", |stage| {
        stage.git(&["config", "core.hooksPath", "/dev/null"]).ok();
    });
    assert!(again.contains("core.hooksPath") && again.contains("halted"), "{again}");
    assert_ne!(stage.git(&["config", "core.hooksPath"]).stdout.trim(), "/dev/null");
    let status = stage.andon(&["status"]).stdout;
    assert!(status.contains("HALTED") && status.contains("guard-disarmed"), "{status}");
}

#[test]
fn settings_refs_and_stops_are_put_back() {
    let stage = guarded();
    stage.iterate("1\n", &["ok a"], "Go on").ok();
    let settings = stage.read(".claude/settings.json");
    let gone = call(&stage, "1", |stage| stage.write(".claude/settings.json", "{}\n"));
    assert!(gone.contains("settings that start Andon"), "{gone}");
    assert_eq!(stage.read(".claude/settings.json"), settings);
    let stage = guarded();
    stage.iterate("1\n", &["ok a"], "Go on").ok();
    let gone = call(&stage, "1", |stage| {
        stage.git(&["update-ref", "-d", "refs/notes/andon"]).ok();
    });
    assert!(gone.contains("refs of records (refs/notes/andon) (put back)"), "{gone}");
    assert!(stage.git(&["notes", "--ref=andon", "show", "HEAD"]).ok().stdout.contains("andon/commit@1"));
}

#[test]
fn the_file_of_a_halt_that_a_call_deletes_is_no_answer() {
    let stage = guarded();
    hook(&stage, "PreToolUse", "1").ok();
    fail(&stage);
    hook(&stage, "PreToolUse", "2");
    std::fs::remove_file(stage.path(".andon/CHECKPOINT.md")).unwrap();
    let gone = told(&hook(&stage, "PostToolUse", "1"));
    assert!(gone.contains("the file of a halt (.andon/CHECKPOINT.md) (put back)"), "{gone}");
    assert!(stage.exists(".andon/CHECKPOINT.md"));
    stage.iterate("9\n", &["ok a", "ok b"], "Go on").refused();
}

#[test]
fn what_people_and_andon_do_meanwhile_is_nobodys() {
    let stage = guarded();
    // Commits, tests and records during a call.
    let quiet = call(&stage, "1", |stage| {
        stage.iterate("1\n", &["ok a"], "Go on").ok();
    });
    assert_eq!(quiet, "");
    // A person answers, installs anew, changes settings that still start Andon, and takes all of it out between two calls.
    let quiet = call(&stage, "2", |stage| {
        stage.andon(&["install"]).ok();
        let settings = stage.read(".claude/settings.json");
        stage.write(".claude/settings.json", settings + "\n");
        stage.write(".git/hooks/post-checkout", "#!/bin/sh\n");
    });
    assert_eq!(quiet, "");
    fail(&stage);
    hook(&stage, "PreToolUse", "3");
    stage.andon(&["resume", "--reason", "start anew from B"]).ok();
    let heard = told(&hook(&stage, "PostToolUse", "3"));
    assert!(!heard.contains("took away") && heard.contains("start anew from B"), "{heard}");
    stage.steps("andon agent uninstall claude; andon uninstall");
    assert_eq!(call(&stage, "4", |_| {}), "");
}

#[test]
fn nobody_answers_without_a_terminal_unless_they_say_why() {
    let stage = Stage::installed();
    fail(&stage);
    let script = format!("'{}' resume --reason 'go on'", andon_path().display());
    let plain = stage.run_in(stage.dir(), "sh", &["-c", &script], None).exits(1);
    assert!(
        plain.stderr.contains("there is no terminal") && plain.stderr.contains("--yes '<why>'"),
        "{plain}"
    );
    let done =
        stage.andon(&["resume", "--reason", "start from A", "--yes", "the night job restarts it"]).ok();
    assert!(done.stdout.starts_with("resumed: "), "{done}");
    let log = stage.andon(&["log"]).ok().stdout;
    assert!(log.contains("with andon resume --yes") && log.contains("unattended: the night job"), "{log}");
    stage.iterate("9\n", &["ok a", "ok b"], "Go on").ok();
    let check = stage.andon(&["check", "HEAD~4..HEAD"]).stdout;
    assert!(check.contains("andon resume --yes, without a terminal"), "{check}");
}
