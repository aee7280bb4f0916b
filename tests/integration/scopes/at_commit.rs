//! The gate that runs what is missing.

use super::{CONFIG, commit, packages, ran};
use crate::support::{Stage, image::built};

fn running() -> Stage {
    built!({
        let stage = packages();
        stage.write("andon.toml", CONFIG.replacen("[test]\n", "[test]\nat_commit = \"run\"\n", 1));
        stage.git(&["commit", "-qam", "Run at commits"]).ok();
        ran(&stage);
        stage
    })
}

#[test]
fn what_is_missing_runs_before_the_gate_judges() {
    let stage = running();
    stage.write("web/a.py", "2\n");
    let out = commit(&stage, "Web").ok();
    insta::assert_snapshot!(out.shown(), @r"
    exit 0
    --- stderr
    andon: running the tests that are missing (test.at_commit)
    andon: [1/1] scope web: sh run.sh web web
    ok 1 - web/a.py
    1..1
    ");
    assert_eq!(ran(&stage), ["web"]);
    assert_eq!(stage.record("HEAD")["tests"]["scopes"]["web"]["status"], "passed");
    assert_eq!(stage.record("HEAD")["gate"], "passed");
    stage.write("web/a.py", "bad\n");
    commit(&stage, "Red").ok();
    assert_eq!(stage.record("HEAD")["tests"]["status"], "failed");
    stage.write("web/a.py", "3\n");
    stage.git(&["commit", "-qnam", "Around"]).ok();
    assert_eq!(ran(&stage), ["web"], "with --no-verify nothing runs");
}

#[test]
fn exactly_what_is_committed_is_tested() {
    let stage = running();
    stage.add("web/a.py", "2\n");
    stage.write("web/a.py", "bad\n");
    stage.write("core/a.py", "bad\n");
    let before = stage.git(&["status", "--porcelain"]).ok().stdout;
    stage.git(&["commit", "-qm", "Staged"]).ok().says("in a checkout of its own");
    assert_eq!(ran(&stage), ["web"]);
    assert_eq!(stage.record("HEAD")["tests"]["status"], "passed");
    assert_eq!(stage.git(&["worktree", "list"]).ok().stdout.lines().count(), 1);
    let after = stage.git(&["status", "--porcelain"]).ok().stdout;
    assert_eq!(before, " M core/a.py\nMM web/a.py\n");
    assert_eq!(after, " M core/a.py\n M web/a.py\n");
}

#[test]
fn nothing_runs_while_the_loop_is_halted() {
    let stage = running();
    stage.andon(&["stop", "--reason", "Look at it"]).ok();
    stage.write("web/a.py", "2\n");
    commit(&stage, "Web").refused();
    assert!(ran(&stage).is_empty());
}

#[test]
fn it_works_without_scopes() {
    let stage = Stage::installed();
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\nat_commit = \"run\"\n");
    stage.write("code.txt", "2\n");
    commit(&stage, "Two").ok().says("running the tests that are missing");
    assert_eq!(stage.record("HEAD")["tests"]["status"], "passed");
    stage.tests(&["ok a", "not ok b"]);
    stage.write("code.txt", "3\n");
    commit(&stage, "Three").ok();
    assert_eq!(stage.record("HEAD")["tests"]["status"], "failed");
}

#[test]
fn an_interrupted_run_refuses_the_commit_and_leaves_nothing() {
    let stage = running();
    stage.write("web/a.py", "2\n");
    let config = stage.read("andon.toml");
    std::fs::write(stage.path("andon.toml"), config.replace("sh run.sh web web", "kill -INT $PPID; sleep 3"))
        .unwrap();
    let head = stage.head();
    commit(&stage, "Web").refused().says("interrupted");
    assert_eq!(stage.head(), head);
    assert!(!stage.exists(".git/index.lock"));
    assert_eq!(stage.git(&["status", "--porcelain"]).ok().stdout, " M andon.toml\n M web/a.py\n");
}
