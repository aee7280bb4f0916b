//! `[notify]`: which notices a halt gives, and how often.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::escalate::{json, reword, reword_until_halted, started, user_config};
use crate::support::{Stage, andon_path};

#[test]
fn a_halt_without_an_answer_is_told_once_more_and_not_again() {
    let stage = started();
    let told = stage.root().join("told.jsonl");
    user_config(&stage, &format!("[notify]\ncommand = [\"sh\", \"-c\", \"cat >> '{}'\"]\n", told.display()));
    reword_until_halted(&stage);
    let kinds = || -> Vec<String> {
        let lines = std::fs::read_to_string(&told).unwrap();
        lines.lines().map(|line| json(line)["type"].as_str().unwrap().to_owned()).collect()
    };
    reword(&stage, 20).refused();
    stage.andon(&["status", "--exit-code"]).exits(1);
    assert_eq!(kinds(), ["escalated"]);
    stage.pass(1_800);
    stage.andon(&["status"]).ok();
    assert_eq!(kinds(), ["escalated"], "a look notifies no one");
    stage.andon(&["status", "--exit-code"]).exits(1);
    assert_eq!(kinds(), ["escalated", "unanswered"]);
    stage.pass(7_200);
    reword(&stage, 21).refused();
    stage.andon(&["status", "--exit-code"]).exits(1);
    assert_eq!(kinds(), ["escalated", "unanswered"]);
}

/// The escalation is off by one variable, and nothing else is.
#[test]
fn one_variable_switches_the_escalation_off() {
    let stage = started();
    stage.set("ANDON_ESCALATE", "0");
    for number in 1..8 {
        reword(&stage, number).lacks("co-occurrence");
    }
    assert!(!stage.exists(".andon/handoffs"));
    stage.andon(&["status"]).ok();
}

/// Where git starts no hook of ours, everything that an agent runs says so.
#[test]
fn the_verbs_of_the_loop_say_where_the_hooks_do_not_reach() {
    let stage = Stage::installed();
    let verbs = [&["test"][..], &["tick"], &["complete"], &["test", "--format", "json"]];
    for verb in verbs {
        stage.andon(verb).lacks("the hooks are gone");
    }
    // The shell of Gemini CLI has git look for hooks nowhere.
    let off = [
        ("GEMINI_CLI", "1"),
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "core.hooksPath"),
        ("GIT_CONFIG_VALUE_0", ""),
    ];
    for (name, value) in off {
        stage.set(name, value);
    }
    for verb in [&["test"][..], &["tick"], &["status"], &["watch", "--once"]] {
        stage.andon(verb).lacks("hooks are gone");
    }
    for (name, _) in off {
        stage.unset(name);
    }
    std::fs::remove_file(stage.path(".git/hooks/post-commit")).unwrap();
    for verb in verbs {
        stage.andon(verb).says("the hooks are gone").says("post-commit is missing").says("andon install");
    }
}

/// A worktree whose repository is elsewhere is no place for `git init`.
#[test]
fn a_worktree_without_its_repository_is_called_that() {
    let stage = Stage::installed();
    stage.git(&["worktree", "add", "-q", "../wt"]).ok();
    let wt = stage.root().join("wt");
    std::fs::rename(stage.path(".git/worktrees"), stage.path(".git/away")).unwrap();
    for verb in ["status", "test", "doctor"] {
        let out = stage.andon_in(&wt, &[verb]).refused();
        out.says("is not here: its .git names").says("git worktree repair").lacks("git init");
    }
}

/// A record of a newer version is whole: no hint has it edited.
#[test]
fn a_newer_record_is_not_edited() {
    let stage = Stage::installed();
    let note = stage.git(&["notes", "--ref=andon", "show", "HEAD"]).ok().stdout;
    let newer = note.replace("andon/commit@1", "andon/commit@9");
    stage.git(&["notes", "--ref=andon", "add", "-f", "-m", &newer, "HEAD"]).ok();
    for verb in [&["status"][..], &["check", "HEAD"]] {
        stage.andon(verb).says("install the version of andon that wrote it").lacks("notes --ref=andon edit");
    }
}

/// A program that only the environment of a framework holds is named by its path, and the gate can run the tests.
#[test]
fn a_program_that_no_shell_finds_is_named_by_its_path() {
    let stage = Stage::installed();
    stage.set("PRE_COMMIT", "1");
    stage.write("code.txt", "2\n");
    let path = format!("help: {} test", andon_path().display());
    stage.git(&["commit", "-qam", "Work"]).refused().lacks(&path);
    stage.set("PRE_COMMIT_HOME", andon_path().parent().unwrap().to_str().unwrap());
    let refused = stage.git(&["commit", "-qam", "Work"]).refused().says(&path);
    let first = refused.stderr.lines().find(|line| line.contains("help:")).unwrap();
    assert!(first.contains("at_commit = \"run\""), "{refused}");
}

/// The program that calls people can be tried before the first halt.
#[test]
fn the_doctor_tries_the_program_that_calls_people() {
    let stage = Stage::installed();
    let nobody = "nobody is called when the loop halts: [notify] is not set";
    stage.andon(&["doctor"]).lacks("notify");
    stage.andon(&["doctor", "--live"]).says(nobody);
    user_config(&stage, "[notify]\ncommand = [\"sh\", \"-c\", \"cat > ../called.json\"]\n");
    stage.andon(&["doctor", "--live"]).says("took a test notice").lacks(nobody);
    let told = std::fs::read_to_string(stage.root().join("called.json")).unwrap();
    assert!(told.contains("\"type\":\"test\"") && told.contains("nothing has happened"), "{told}");
    user_config(&stage, "[notify]\ncommand = [\"sh\", \"-c\", \"exit 3\"]\n");
    stage.andon(&["doctor", "--live"]).exits(1).says("the program of [notify] ended with 3");
}
