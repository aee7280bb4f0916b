//! How people begin who have decided nothing yet: what the first round says, and who begins anew after training.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::rounds::{cast, deferred, open};
use crate::support::Stage;
use crate::support::people::{by, public, sit_down};

fn newcomers(stage: &Stage, more: &[&str]) {
    sit_down(stage, "ann");
    stage.andon(&["witness", "init", "--name", "human:ann", "--no-solo"]).ok();
    for who in more {
        by(stage, "ann", &["witness", "add", &format!("human:{who}"), "--key", &public(stage, who)]).ok();
    }
}

#[test]
fn the_first_round_of_newcomers_says_that_a_panel_answers() {
    let stage = Stage::installed();
    newcomers(&stage, &["bo"]);
    let round = deferred(&stage, "How do we add the column?");
    let list = by(&stage, "ann", &["review"]).ok().stdout;
    assert!(
        list.contains("a panel of three needs 1 more witness: andon witness add human:ID --key FILE"),
        "{list}"
    );
    by(&stage, "ann", &["witness", "add", "human:cy", "--key", &public(&stage, "cy")]).ok();
    let list = by(&stage, "ann", &["review"]).ok().stdout;
    let told = format!("andon review panel {} --reason 'no witness may answer alone yet'", &round[..8]);
    assert!(list.contains(&told), "{list}");
    let refused = by(&stage, "ann", &["review", "accept", &round]).exits(1).stderr;
    let named = format!("help: ask for a panel: andon review panel {} --reason TEXT", &round[..8]);
    assert!(refused.contains(&named), "{refused}");
    // Followed word for word.
    by(&stage, "ann", &["review", "panel", &round[..8], "--reason", "no witness may answer alone yet"]).ok();
    for who in ["ann", "bo", "cy"] {
        by(&stage, who, &["review", "accept", &round]).ok();
    }
    for who in ["ann", "bo", "cy"] {
        cast(&stage, who, &round, "accept_opposer");
    }
    for who in ["ann", "bo", "cy"] {
        open(&stage, who, &round).ok();
    }
    let shown = by(&stage, "ann", &["review", "show", &round]).ok().stdout;
    assert!(shown.contains(": resolved"), "{shown}");
    // From now on each may answer alone.
    let next = deferred(&stage, "And the next one?");
    by(&stage, "ann", &["review", "accept", &next]).ok();
}

#[test]
fn an_admin_lets_a_witness_begin_anew_after_training() {
    let stage = Stage::installed();
    newcomers(&stage, &["bo"]);
    let wrong = stage.andon(&["witness", "reinstate", "human:nobody"]).exits(2).stderr;
    assert!(wrong.contains("human:nobody is no witness here"), "{wrong}");
    let done = by(&stage, "ann", &["witness", "reinstate", "human:bo"]).ok().stdout;
    assert!(done.starts_with("reinstated: entry ") && done.contains("is in force"), "{done}");
    let policy = by(&stage, "ann", &["witness", "policy"]).ok().stdout;
    assert!(policy.contains("\"version\": 3") && policy.contains("human:bo"), "{policy}");
    by(&stage, "bo", &["witness", "reinstate", "human:bo"]).exits(1);
}

#[test]
fn who_is_not_drawn_is_told_what_would_help() {
    let stage = Stage::installed();
    sit_down(&stage, "ann");
    stage.andon(&["witness", "init", "--name", "human:ann"]).ok();
    let next = by(&stage, "ann", &["witness", "policy"]).ok().stdout;
    let mut policy: serde_json::Value = serde_json::from_str(&next).unwrap();
    policy["rules"]["referee_gate"] = serde_json::json!(true);
    policy["solo"] = serde_json::json!(false);
    stage.write("policy.json", policy.to_string());
    let locked = by(&stage, "ann", &["witness", "policy", "--from", "policy.json"]).exits(2).stderr;
    assert!(locked.contains("would lock everybody out"), "{locked}");
    policy["solo"] = serde_json::json!(true);
    stage.write("policy.json", policy.to_string());
    by(&stage, "ann", &["witness", "policy", "--from", "policy.json"]).ok();
    let round = deferred(&stage, "How do we add the column?");
    let list = by(&stage, "ann", &["review"]).ok().stdout;
    assert!(list.contains("no witness has the weight that rules.referee_gate asks for"), "{list}");
    let refused = by(&stage, "ann", &["review", "accept", &round]).exits(1).stderr;
    assert!(refused.contains("is earned by answers to halts"), "{refused}");
}
