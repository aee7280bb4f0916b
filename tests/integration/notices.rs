//! `[notify]`: which notices a halt gives, and how often.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::escalate::{json, reword, reword_until_halted, started, user_config};

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
