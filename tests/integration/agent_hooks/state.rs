//! The guard by state: what a call took away is put back, told and recorded, whatever its text was; honest work is not accused.

use super::{bash, halted, hook, lines};
use crate::support::{Stage, andon_path};

/// A call with what happens meanwhile; what its end says.
fn during(stage: &Stage, work: impl FnOnce()) -> crate::support::Out {
    hook(stage, "claude", "PreToolUse", &bash("make")).ok();
    work();
    let id = lines(stage, "agents").len();
    let done = format!(
        r#"{{"session_id":"s","tool_name":"Bash","tool_use_id":"c{id}","tool_input":{{"command":"make {id}"}},"tool_response":{{"stdout":"{id}"}}}}"#
    );
    hook(stage, "claude", "PostToolUse", &done).ok()
}

fn accused(stage: &Stage) -> usize {
    lines(stage, "journal").iter().filter(|line| line["type"] == "guard_disarmed").count()
}

fn edit(stage: &Stage, path: &str, text: &str) {
    std::fs::write(stage.path(path), text).unwrap();
}

#[test]
fn a_hook_that_is_gone_is_put_back_and_the_second_time_halts() {
    let stage = Stage::installed();
    let hook_file = stage.path(".git/hooks/pre-commit");
    let before = std::fs::read(&hook_file).unwrap();
    let out = during(&stage, || std::fs::remove_file(&hook_file).unwrap());
    out.says("git's hooks").says("(put back)");
    assert_eq!((std::fs::read(&hook_file).unwrap(), accused(&stage)), (before.clone(), 1));
    let out = during(&stage, || edit(&stage, ".git/hooks/prepare-commit-msg", "#!/bin/sh\nexit 0\n"));
    out.says("halted");
    hook(&stage, "claude", "PreToolUse", &bash("make")).exits(2).says("guard-disarmed");
    stage.andon(&["resume", "-r", "told the agent"]).ok();
    during(&stage, || ()).lacks("the last call took away");
}

#[test]
fn whatever_was_done_to_the_hooks_is_seen() {
    use std::os::unix::fs::PermissionsExt as _;
    for way in 0..4 {
        let stage = Stage::installed();
        let file = stage.path(".git/hooks/prepare-commit-msg");
        let before = std::fs::read_to_string(&file).unwrap();
        let out = during(&stage, || match way {
            0 => edit(&stage, ".git/hooks/prepare-commit-msg", &before.replacen('\n', "\nexit 0\n", 1)),
            1 => std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap(),
            2 => drop(stage.git(&["config", "core.hooksPath", "/dev/null"])),
            _ => std::fs::rename(stage.path(".git/hooks"), stage.path(".git/h")).unwrap(),
        });
        out.says("(put back)");
        assert_eq!((std::fs::read_to_string(&file).unwrap(), accused(&stage)), (before, 1), "{way}");
        stage.write("code.txt", "untested\n");
        stage.git(&["commit", "-qam", "x"]).refused().says("untested-edit");
    }
}

#[test]
fn settings_refs_and_configuration_are_put_back() {
    let stage = Stage::installed();
    stage.andon(&["agent", "install", "claude", "--project"]).ok();
    let before = std::fs::read_to_string(stage.path(".claude/settings.json")).unwrap();
    during(&stage, || edit(&stage, ".claude/settings.json", "{}\n")).says("settings that start Andon");
    assert_eq!(std::fs::read_to_string(stage.path(".claude/settings.json")).unwrap(), before);
    let other = before.replacen('{', "{\"model\": \"x\",", 1);
    during(&stage, || edit(&stage, ".claude/settings.json", &other)).lacks("the last call took away");
    assert_eq!(
        (std::fs::read_to_string(stage.path(".claude/settings.json")).unwrap(), accused(&stage)),
        (other, 1)
    );

    let stage = Stage::installed();
    stage.iterate("1\n", &["ok a"], "One").ok();
    let notes = || stage.git(&["rev-parse", "refs/notes/andon"]).stdout;
    let tip = notes();
    let out = during(&stage, || drop(stage.git(&["update-ref", "-d", "refs/notes/andon"])));
    out.says("refs/notes/andon");
    assert_eq!(notes(), tip);
}

#[test]
fn honest_work_during_a_call_is_not_accused() {
    let stage = Stage::installed();
    during(&stage, || drop(stage.iterate("1\n", &["ok a"], "One").ok())).lacks("the last call took away");
    during(&stage, || drop(stage.andon(&["install"]).ok())).lacks("the last call took away");
    during(&stage, || drop(stage.andon(&["agent", "install", "claude", "--project"]).ok()))
        .lacks("the last call took away");
    during(&stage, || drop(stage.andon(&["agent", "uninstall", "claude", "--project"]).ok()))
        .lacks("the last call took away");
    during(&stage, || drop(stage.git(&["config", "user.nickname", "x"]))).lacks("the last call took away");
    during(&stage, || drop(stage.andon(&["uninstall"]).ok())).lacks("the last call took away");
    assert_eq!(accused(&stage), 0);
    let stage = Stage::installed();
    let husky = || {
        std::fs::create_dir_all(stage.path(".husky/_")).unwrap();
        edit(&stage, ".husky/_/pre-commit", "#!/usr/bin/env sh\n. \"$(dirname \"$0\")/h\"\n");
        stage.git(&["config", "core.hooksPath", ".husky/_"]).ok();
    };
    during(&stage, husky).says("andon doctor");
    assert_eq!(accused(&stage), 0, "npm install");
    // Between two calls, a person does what a person does.
    let stage = Stage::installed();
    during(&stage, || ());
    std::fs::remove_file(stage.path(".git/hooks/pre-commit")).unwrap();
    during(&stage, || ()).lacks("the last call took away");
    assert_eq!(accused(&stage), 0);
}

#[test]
fn a_file_that_vanished_during_a_call_answers_nothing_and_a_resume_does() {
    let stage = halted();
    let checkpoint = stage.path(".andon/CHECKPOINT.md");
    let look = |work: &dyn Fn()| {
        hook(&stage, "claude", "PreToolUse", &bash("git log")).ok();
        work();
        let done = r#"{"session_id":"s","tool_name":"Bash","tool_use_id":"x","tool_input":{"command":"git log"},"tool_response":{"stdout":""}}"#;
        hook(&stage, "claude", "PostToolUse", done).ok()
    };
    look(&|| std::fs::remove_file(&checkpoint).unwrap()).says("file of a halt");
    assert!(checkpoint.exists());
    hook(&stage, "claude", "PreToolUse", &bash("make")).exits(2).says("halted");
    look(&|| drop(stage.andon(&["resume", "-r", "looked at it"]).ok())).lacks("file of a halt");
    assert!(!checkpoint.exists());
    hook(&stage, "claude", "PreToolUse", &bash("make")).ok();
    assert_eq!(accused(&stage), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_resume_below_a_client_that_nobody_listed_is_refused_whatever_its_environment() {
    let stage = halted();
    stage.set("ANDON_TEST_ABOVE", "");
    let script = format!(
        r#"import subprocess, sys
andon = {:?}
call = b'{{"session_id":"s","tool_name":"Bash","tool_input":{{"command":"git log"}}}}'
subprocess.run([andon, "agent", "hook", "claude", "PreToolUse"], input=call, check=True)
sys.exit(subprocess.run(["sh", "-c", "env -u CLAUDECODE setsid -w " + andon + " resume --yes x -r ok"]).returncode)
"#,
        andon_path()
    );
    let out = stage.run_in(stage.dir(), "python3", &["-c", &script], None);
    out.exits(1).says("only a person answers a halt");
    stage.set("ANDON_TEST_ABOVE", "none");
    stage.andon(&["status", "--exit-code"]).exits(1);
}

#[test]
fn what_a_program_that_a_call_left_behind_takes_away_is_put_back_before_the_next_one() {
    let stage = Stage::installed();
    let hook_file = stage.path(".git/hooks/pre-commit");
    let before = std::fs::read(&hook_file).unwrap();
    during(&stage, || ());
    std::fs::remove_file(&hook_file).unwrap();
    let refused = bash("ANDON=0 make");
    hook(&stage, "claude", "PreToolUse", &refused).exits(2);
    hook(&stage, "claude", "PreToolUse", &refused).lacks("between two calls");
    assert_eq!((std::fs::read(&hook_file).unwrap(), accused(&stage)), (before.clone(), 0));
    // The last call of a turn is followed by its end.
    stage.git(&["config", "core.hooksPath", "/dev/null"]).ok();
    hook(&stage, "claude", "Stop", r#"{"session_id":"s"}"#).says("between two calls");
    assert_eq!(stage.git(&["config", "core.hooksPath"]).code, 1);
    // A person's turn: what changes now is a person's.
    std::fs::remove_file(&hook_file).unwrap();
    hook(&stage, "claude", "UserPromptSubmit", r#"{"session_id":"s","prompt":"go on"}"#).ok();
    during(&stage, || ()).lacks("between two calls");
    assert!(!hook_file.exists());
    stage.andon(&["install"]).ok();
    during(&stage, || ());
    stage.andon(&["uninstall"]).ok();
    hook(&stage, "claude", "PreToolUse", &bash("make")).ok().lacks("between two calls");
}

#[test]
fn a_hook_that_no_commit_needs_is_put_back_as_well() {
    for name in ["pre-push", "post-rewrite"] {
        let stage = Stage::installed();
        let hook_file = stage.path(&format!(".git/hooks/{name}"));
        let before = std::fs::read(&hook_file).unwrap();
        during(&stage, || std::fs::remove_file(&hook_file).unwrap()).says(name).says("put back");
        assert_eq!((std::fs::read(&hook_file).unwrap(), accused(&stage)), (before, 1));
    }
    // A person takes all of it out meanwhile.
    let stage = Stage::installed();
    during(&stage, || drop(stage.andon(&["uninstall"]).ok()));
    assert!(!stage.path(".git/hooks/pre-push").exists() && accused(&stage) == 0);
}

#[test]
fn a_whole_folder_that_is_gone_is_told_and_recorded() {
    let stage = Stage::installed();
    let out = during(&stage, || std::fs::remove_dir_all(stage.path(".git/andon")).unwrap());
    out.says("what is kept of this loop").says("NOT put back");
    assert_eq!(accused(&stage), 1);
    during(&stage, || ()).lacks("what is kept of this loop");
}

#[test]
fn a_deletion_that_a_clients_hook_sees_first_or_that_comes_within_a_turn_answers_nothing() {
    let stage = halted();
    let checkpoint = stage.path(".andon/CHECKPOINT.md");
    std::fs::remove_file(&checkpoint).unwrap();
    hook(&stage, "claude", "PreToolUse", &bash("make")).exits(2).says("halted");
    hook(&stage, "claude", "Stop", r#"{"session_id":"s"}"#);
    stage.andon(&["status", "--exit-code"]).exits(0);
    // A reader runs, and something takes the file away before the turn is over.
    hook(&stage, "claude", "PreToolUse", &bash("git log")).ok();
    stage.andon(&["status", "--exit-code"]).exits(1);
    assert!(checkpoint.exists());
    std::fs::remove_file(&checkpoint).unwrap();
    stage
        .git(&["commit", "-q", "--allow-empty", "-m", "Go on"])
        .refused()
        .says("while a client's turn goes on");
    hook(&stage, "claude", "Stop", r#"{"session_id":"s"}"#);
    std::fs::remove_file(&checkpoint).unwrap();
    stage.git(&["commit", "-q", "--allow-empty", "-m", "Go on"]).ok().says("answered by deleting");
    // What a person stopped by a file goes on by it.
    stage.andon(&["stop", "--reason", "look"]).ok();
    hook(&stage, "claude", "PreToolUse", &bash("make")).exits(2);
    hook(&stage, "claude", "Stop", r#"{"session_id":"s"}"#);
    std::fs::remove_file(stage.path(".andon/STOP")).unwrap();
    hook(&stage, "claude", "UserPromptSubmit", r#"{"session_id":"s","prompt":"go on"}"#).ok();
    hook(&stage, "claude", "PreToolUse", &bash("make")).ok();
}

/// A file of settings that is not ours may switch off all hooks, from the next session on.
#[test]
fn other_settings_that_switch_the_hooks_off_are_put_back() {
    let stage = Stage::installed();
    stage.andon(&["agent", "install", "claude", "--project"]).ok();
    let local = ".claude/settings.local.json";
    during(&stage, || edit(&stage, local, "{\"permissions\": {}}\n")).lacks("the last call took away");
    during(&stage, || edit(&stage, local, "{\"disableAllHooks\": true}\n"))
        .says("switched off")
        .says("(put back)");
    assert_eq!(std::fs::read_to_string(stage.path(local)).unwrap(), "{\"permissions\": {}}\n");
    assert_eq!(accused(&stage), 1);
    let stage = Stage::installed();
    stage.andon(&["agent", "install", "claude", "--project"]).ok();
    during(&stage, || edit(&stage, local, "{\"disableAllHooks\": true}\n")).says("(put back)");
    assert!(!stage.exists(local));
}

#[test]
fn what_git_checks_out_stashes_or_cleans_away_is_nobodys_fault() {
    let took = "the last call took away";
    let settings = ".claude/settings.json";
    let with = |ignored: bool| {
        let stage = Stage::installed();
        stage.git(&["branch", "bare"]).ok();
        stage.andon(&["agent", "install", "claude", "--project"]).ok();
        if !ignored {
            stage.commit_of("-A", "Guard the agent");
        }
        stage
    };
    // Committed on one branch only.
    let stage = with(false);
    during(&stage, || drop(stage.git(&["checkout", "-q", "bare"]).ok())).lacks(took);
    assert!(!stage.exists(settings), "the branch is without it");
    during(&stage, || drop(stage.git(&["checkout", "-q", "main"]).ok())).lacks(took);
    during(&stage, || drop(stage.git(&["worktree", "add", "-q", "../beside", "bare"]).ok())).lacks(took);
    during(&stage, || drop(stage.git(&["reset", "-q", "--hard", "bare"]).ok())).lacks(took);
    assert_eq!(accused(&stage), 0);
    // Not committed.
    let stage = with(true);
    during(&stage, || drop(stage.git(&["stash", "-q", "-u"]).ok())).lacks(took);
    assert!(!stage.exists(settings));
    during(&stage, || drop(stage.git(&["stash", "pop", "-q"]).ok())).lacks(took);
    during(&stage, || drop(stage.git(&["clean", "-qfd"]).ok())).says("(put back)");
    assert!(stage.exists(settings));
    assert_eq!(accused(&stage), 0);
    // To commit that it is gone, and to write it anew, is another matter.
    let stage = with(false);
    let removed = || {
        stage.git(&["rm", "-q", settings]).ok();
        stage.git(&["commit", "-qm", "Clean up"]).ok();
    };
    during(&stage, removed).says("settings that start Andon").says("(put back)");
    assert!(stage.exists(settings));
    assert_eq!(accused(&stage), 1);
    let stage = with(false);
    during(&stage, || std::fs::remove_file(stage.path(settings)).unwrap()).says("settings that start Andon");
    assert_eq!(accused(&stage), 1);
}
