//! `andon watch`: all worktrees of a repository, from what is recorded.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use insta::assert_snapshot;

use crate::check::halted;
use crate::support::{Stage, andon_path, image::built};

fn worktrees() -> Stage {
    built!({
        let stage = halted();
        let side = stage.root().join("side");
        stage.git(&["worktree", "add", "-q", "-b", "side", side.to_str().unwrap(), "HEAD~3"]).ok();
        stage
    })
}

fn json(stage: &Stage) -> serde_json::Value {
    serde_json::from_str(&stage.andon(&["watch", "--format", "json"]).ok().stdout).unwrap()
}

#[test]
fn all_worktrees_at_once_and_who_needs_a_person_first() {
    let stage = worktrees();
    assert_snapshot!(stage.andon(&["watch", "--once"]).shown(), @r"
    exit 0
    --- stdout
    2 worktrees: 2 need a person, 0 running

    Needs a person
      main  halted  Loop 4/100  1/2 fail  ▁███  2m
        the loop is stuck on 1 failing test (repeated-failures): the same test failed 3 times in a row although the code changed each time: b
        since TIME, 3 commits; tests: 1 of 2 failing
        help: cd ROOT/repo && andon status
      side  halted  Loop 4/100  1/2 fail  ▁███  2m
        held by a halt of worktree main: the loop is stuck on 1 failing test (repeated-failures): the same test failed 3 times in a row although the code changed each time: b
        since TIME, 3 commits; tests: 1 of 2 failing
        help: cd ROOT/side && andon status
    ");
    let side = stage.root().join("side");
    stage.andon_in(&side, &["watch", "--once"]).ok().says("\n  main  halted").says("\n  side  halted");
}

#[test]
fn the_figures_are_those_of_status() {
    let stage = worktrees();
    let watched = json(&stage);
    let status = stage.andon(&["status", "--format", "json"]).ok().json();
    let main = watched["worktrees"].as_array().unwrap().iter().find(|one| one["worktree"] == "main").unwrap();
    assert_eq!(main["state"], status["state"]);
    for name in ["badge", "iteration", "cap", "head", "branch", "node", "trend"] {
        assert_eq!(main["loop"][name], status[name], "{name}");
    }
    assert_eq!(main["loop"]["halt"]["rule"], status["last_halt"]["rule"]);
    assert_eq!(main["loop"]["last_run"]["run"], status["tests"]["head"]["run"]);
    assert_eq!(watched["schema"], "andon/watch@1");
}

#[test]
fn an_answer_and_a_removed_worktree_are_seen() {
    let stage = worktrees();
    stage.andon(&["resume", "--reason", "the fixture was broken"]).ok();
    let states = |stage: &Stage| -> Vec<String> {
        let watched = json(stage);
        let states = watched["worktrees"].as_array().unwrap().iter();
        states.map(|one| format!("{} {}", one["worktree"], one["state"])).collect()
    };
    assert_eq!(states(&stage), ["\"side\" \"running\"", "\"main\" \"idle\""].map(str::to_owned));
    stage.andon_in(&stage.root().join("side"), &["pause", "--reason", "look at this"]).ok();
    assert!(states(&stage).contains(&"\"side\" \"paused\"".to_owned()));
    std::fs::remove_dir_all(stage.root().join("side")).unwrap();
    assert!(states(&stage).contains(&"\"side\" \"away\"".to_owned()));
    std::fs::write(stage.path(".git/worktrees/side/gitdir"), [0xff; 10_000]).unwrap();
    assert_eq!(states(&stage).len(), 2);
}

#[test]
fn halts_of_other_clones_are_seen_once_they_were_synced() {
    let stage = halted();
    let (remote, clone) = (stage.root().join("remote.git"), stage.root().join("clone"));
    stage.git(&["clone", "-q", "--bare", ".", remote.to_str().unwrap()]).ok();
    stage.git(&["remote", "add", "origin", remote.to_str().unwrap()]).ok();
    stage.andon(&["sync"]).ok();
    stage.git(&["clone", "-q", remote.to_str().unwrap(), clone.to_str().unwrap()]).ok();
    stage.steps_in(&clone, "git checkout -q --orphan new; andon sync");
    let shown = stage.andon_in(&clone, &["watch", "--once"]).ok();
    let out = shown.says("elsewhere: main").says("is stuck on 1 failing test (repeated-failures)");
    out.says("1 needs a person");
}

#[test]
fn loops_of_other_clones_are_seen_once_branch_and_records_were_fetched() {
    let stage = Stage::installed();
    let (remote, clone) = (stage.root().join("remote.git"), stage.root().join("clone"));
    stage.git(&["clone", "-q", "--bare", ".", remote.to_str().unwrap()]).ok();
    stage.git(&["remote", "add", "origin", remote.to_str().unwrap()]).ok();
    stage.git(&["clone", "-q", remote.to_str().unwrap(), clone.to_str().unwrap()]).ok();
    stage.git(&["checkout", "-q", "-b", "far"]).ok();
    for text in ["one", "two"] {
        stage.write("code.txt", text);
        stage.andon(&["test"]).ok();
        stage.git(&["commit", "-qam", text]).ok();
    }
    stage.steps("git push -q origin far; andon sync");
    let watched = |argument: &str| stage.andon_in(&clone, &["watch", argument]).ok().stdout;
    assert!(!watched("--once").contains("elsewhere"));
    stage.git_in(&clone, &["fetch", "-q"]).ok();
    assert!(!watched("--once").contains("elsewhere"), "its records are not here yet");
    stage.andon_in(&clone, &["sync"]).ok();
    let shown = watched("--once");
    assert!(shown.contains("elsewhere: origin/far  running"), "{shown}");
    stage.git_in(&clone, &["merge", "-q", "--ff-only", "origin/far"]).ok();
    assert!(!watched("--once").contains("elsewhere"), "it is here");
}

#[test]
fn a_line_for_each_change() {
    let stage = worktrees();
    let mut watch = stage.command(stage.dir(), andon_path());
    watch.args(["watch", "--plain"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut watch = watch.spawn().unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.next().unwrap().contains(" main: halted, Loop 4/100"));
    assert!(lines.next().unwrap().contains(" side: "));
    stage.andon(&["resume", "--reason", "the fixture was broken"]).ok();
    assert!(lines.any(|line| line.contains(" main: idle")));
    stage.git(&["worktree", "remove", "--force", "../side"]).ok();
    assert!(lines.any(|line| line.ends_with("side: gone")));
    watch.kill().unwrap();
    watch.wait().unwrap();
}

#[test]
fn without_a_terminal_it_says_what_to_ask_for() {
    let stage = Stage::installed();
    assert_snapshot!(stage.andon(&["watch"]).shown(), @r"
    exit 2
    --- stderr
    error: andon watch needs a terminal
      help: all of it once: andon watch --once; a line for each change: andon watch --plain
    ");
    stage.andon(&["watch", "--plain", "--format", "json"]).exits(2);
    stage.andon(&["watch", "--plain", "--once"]).exits(2);
    stage.andon_in(stage.root(), &["watch", "--once"]).exits(2).says("not a git repository");
}

#[test]
fn damage_hides_no_other_worktree() {
    let stage = worktrees();
    std::fs::write(stage.path(".git/worktrees/side/HEAD"), "nonsense").unwrap();
    let shown = stage.andon(&["watch", "--once"]).ok();
    shown.says("halted").says("not readable");
    stage.write("andon.toml", "[test]\ncommand = 3\n");
    stage.andon(&["watch", "--once"]).ok().says("halted").says("1 warning");
}
