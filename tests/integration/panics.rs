//! A panic is an internal error: hooks answer it as `guard.on_internal_error` says, every other command with 70.

use insta::assert_snapshot;

use crate::support::{Out, Stage};

fn panicking(stage: &Stage, point: &str, run: impl Fn(&Stage) -> Out) -> Out {
    stage.set("ANDON_TEST_STOP", &format!("{point}=panic"));
    let out = run(stage);
    stage.unset("ANDON_TEST_STOP");
    out.says("panicked at").says("error[internal]: internal error")
}

fn commit(stage: &Stage, message: &str) -> Out {
    stage.write("code.txt", message);
    stage.andon(&["test"]).ok();
    panicking(stage, "hook:begin", |stage| stage.git(&["commit", "-qam", message]))
}

#[test]
fn a_commit_passes_with_a_warning() {
    let stage = Stage::installed();
    let out = commit(&stage, "One").ok();
    out.says("prepare-commit-msg: Andon could not judge this; git goes on without it")
        .says("post-commit: Andon could not judge this; git goes on without it");
    stage.write("code.txt", "Two");
    stage.andon(&["test"]).ok();
    assert_snapshot!(stage.git(&["commit", "-qam", "Two"]).brief(), @"exit 0, stderr: note: recorded 1 commit made while the hooks were off");
}

#[test]
fn a_commit_is_refused_where_the_project_wants_it() {
    let stage = Stage::installed();
    stage.write("andon.toml", stage.read("andon.toml") + "[guard]\non_internal_error = \"block\"\n");
    let head = stage.head();
    commit(&stage, "One").exits(1).says(
        "error: commit refused: prepare-commit-msg met an internal error, and guard.on_internal_error is \"block\"",
    );
    assert_eq!(stage.head(), head);
}

#[test]
fn the_older_hook_runs_all_the_same() {
    let stage = Stage::new();
    stage.write(".git/hooks/post-commit", "#!/bin/sh\ntouch chained\n");
    stage.run_in(stage.dir(), "chmod", &["+x", ".git/hooks/post-commit"], None).ok();
    stage.andon(&["install"]).ok();
    stage.write("code.txt", "One");
    stage.git(&["add", "."]).ok();
    panicking(&stage, "hook:begin", |stage| stage.git(&["commit", "-qm", "One"])).ok();
    assert!(stage.exists("chained"));
}

#[test]
fn any_other_command_ends_with_70() {
    let stage = Stage::installed();
    let out = panicking(&stage, "test:begin", |stage| stage.andon(&["test"]));
    out.exits(70).says("help: please report it");
}
