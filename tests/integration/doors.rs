//! One engine at every door: the same facts give the same decision, however they come in.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::support::Stage;

/// `while :; do agent -p ...; done` begins a session for each turn: one run all the same.
#[test]
fn a_session_for_each_commit_is_one_run() {
    let stage = Stage::installed();
    stage.write(
        "andon.toml",
        "[test]\ncommand = \"sh check.sh\"\n[rules]\nuntested-edit = \"off\"\niteration-cap = { max = 3 }\n\
         oscillation = \"off\"\nrecurrence = \"off\"\nundo-churn = \"off\"\n",
    );
    stage.andon(&["stop"]);
    stage.andon(&["resume", "--reason", "from here on"]).ok();
    let mut refused = Vec::new();
    for (number, code) in ["a", "b", "a", "b", "a", "b"].into_iter().enumerate() {
        stage.set("ANDON_SESSION", &format!("s{number}"));
        stage.set("ANDON_NODE", ["coder", "writer"][number % 2]);
        stage.write("code.txt", format!("{code}\n"));
        refused.push(stage.git(&["commit", "-qam", &format!("Step {number}")]).code != 0);
    }
    assert_eq!(refused, [false, false, false, true, true, true]);
    assert!(stage.andon(&["status"]).stdout.starts_with("Loop 3/3"));
    stage.andon(&["replay", "HEAD~3..HEAD"]).ok().says("Reached iteration cap: 3/3");
    assert!(stage.read(".andon/CHECKPOINT.md").contains("iteration-cap"));
}

#[test]
fn alternating_states_halt_over_sessions_too() {
    let stage = Stage::installed();
    for (number, code) in ["a", "b", "a", "b"].into_iter().enumerate() {
        stage.set("ANDON_SESSION", &format!("s{number}"));
        let out = stage.iterate(&format!("{code}\n"), &["ok a", "ok b"], &format!("Step {number}"));
        assert_eq!(out.all().contains("error[oscillation]"), number == 3, "{number}: {out}");
    }
    stage.set("ANDON_SESSION", "another");
    stage.iterate("c\n", &["ok a", "ok b"], "Go on").refused().says("oscillation");
}

#[test]
fn the_same_failing_test_halts_over_sessions_and_turns_too() {
    let stage = Stage::installed();
    for number in 1..=3 {
        stage.set("ANDON_SESSION", &format!("s{number}"));
        let out = stage.iterate(&format!("{number}\n"), &["ok a", "not ok b"], &format!("Try {number}"));
        assert_eq!(out.all().contains("error["), number == 3, "{number}: {out}");
    }
    stage.andon(&["tick"]).exits(1);
    stage.andon(&["resume", "--reason", "looked"]).ok();
    // The same in turns that end without a commit.
    for number in 4..=6 {
        stage.set("ANDON_SESSION", &format!("s{number}"));
        stage.write("code.txt", format!("{number}\n"));
        stage.andon(&["test"]);
        stage.andon(&["tick"]).exits(i32::from(number == 6));
    }
}

/// A pause ends a run for commits and turns alike, and what is observed meanwhile is no pause.
#[test]
fn only_a_pause_ends_a_run() {
    let stage = Stage::installed();
    let badge = |stage: &Stage| stage.andon(&["status"]).stdout.lines().next().unwrap_or_default().to_owned();
    let commit = |stage: &Stage, code: &str| stage.iterate(code, &["ok a", "ok b"], code).ok();
    let hours = |count: i64| count * 3600;
    commit(&stage, "1");
    stage.pass(hours(5));
    crate::events::observe(&stage, "verdict", "{\"approve\":1}\n").ok();
    stage.pass(hours(5));
    commit(&stage, "2");
    assert!(badge(&stage).starts_with("Loop 3/100"), "{}", badge(&stage));
    assert_eq!(stage.record("HEAD")["iteration"], 3);
    stage.andon(&["tick"]).ok();
    stage.pass(hours(7));
    stage.andon(&["tick"]).ok();
    commit(&stage, "3");
    assert!(badge(&stage).starts_with("Loop 2/100"), "{}", badge(&stage));
    stage.pass(hours(7));
    commit(&stage, "4");
    assert_eq!(stage.record("HEAD")["iteration"], 1);
}
