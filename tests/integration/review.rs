//! `andon review simulate`: a story from its first policy to an overturned decision, and files that are no story.

use serde_json::{Value, json};

use crate::support::Stage;

/// Two agents disagree about a migration; a witness resolves; a week later a panel overturns.
const MIGRATION: &str = include_str!("review/migration.jsonl");

fn simulated(stage: &Stage, more: &[&str]) -> Value {
    let asked =
        [&["review", "simulate", "story.jsonl", "--now", "2026-12-01T00:00:00Z", "--format", "json"], more]
            .concat();
    serde_json::from_str(&stage.andon(&asked).exits(0).stdout).unwrap()
}

#[test]
fn a_decision_is_overturned_and_everything_follows() {
    let stage = Stage::bare_ground();
    stage.write("story.jsonl", MIGRATION);
    let found = simulated(&stage, &[]);
    // An agent's key is no witness's, and a witness who never voted sits on panels only.
    assert_eq!(
        found["invalid"],
        json!([{"id": "m1-forged", "code": "wrong_role"}, {"id": "m2-accept-ed", "code": "panel_only"}])
    );
    // Two of three decided otherwise than ann: one of her two votes was overturned.
    let ann = &found["witnesses"]["human:ann"];
    assert_eq!((&ann["reputation"], &ann["o"], &ann["tier"]), (&json!("1/2"), &json!(1), &json!("full")));
    let round = &found["rounds"]["m1"];
    assert_eq!((&round["decision"], &round["depth"]), (&json!("accept_proposer"), &json!(1)));
    assert_eq!((&round["by"], &round["dissent"]), (&json!(["human:bo", "human:cy"]), &json!(["human:di"])));
    // The witness pays the reviewer and blames the coder: half of 40. The panel reverses both, and blames the reviewer by 2 of 2.
    let ops: Vec<String> = found["accounts"]["ops"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|op| op["id"].as_str().unwrap().starts_with("m1"))
        .map(|op| format!("{} {} {} {}", op["from"], op["to"], op["amount"], op["why"]).replace('"', ""))
        .collect();
    assert_eq!(
        ops,
        [
            "agent:planner escrow 40 bounty",
            "escrow agent:reviewer 40 payout",
            "agent:coder treasury 20 penalty",
            "treasury agent:coder 20 penalty_back",
            "agent:reviewer escrow 40 reverse",
            "escrow agent:coder 40 payout",
            "agent:reviewer treasury 20 penalty",
        ]
    );
    assert_eq!(found["accounts"]["cc_total"], json!(500));
    // The same claim twice is an agreement, whatever the judge says.
    assert_eq!(found["rounds"]["m2"]["triggers"], json!(["deferral", "agreement", "short_critique"]).clone());
    insta::assert_snapshot!("migration", serde_json::to_string_pretty(&found).unwrap());
}

#[test]
fn people_read_a_summary() {
    let stage = Stage::bare_ground();
    stage.write("story.jsonl", MIGRATION);
    let out = stage.andon(&["review", "simulate", "story.jsonl", "--now", "2026-12-01T00:00:00Z"]).exits(0);
    insta::assert_snapshot!("migration_summary", out.to_string());
}

#[test]
fn a_reader_of_another_time_sees_another_world() {
    let stage = Stage::bare_ground();
    stage.write("story.jsonl", MIGRATION);
    let early = ["review", "simulate", "story.jsonl", "--now", "1795174200", "--format", "json"];
    let found = stage.andon(&early).exits(0).json();
    assert_eq!(found["rounds"]["m1"]["decision"], json!("accept_opposer"));
    assert_eq!(found["witnesses"]["human:ann"]["reputation"], json!("1"));
    let private = simulated(&stage, &["--as", "human:ann"]);
    assert_eq!(private["private"], json!({"witness": "human:ann", "n": 2, "variance": null, "low": false}));
}

#[test]
fn a_line_that_is_no_entry_is_named() {
    let good = "{\"id\":\"p\",\"type\":\"policy\",\"at\":1}\n";
    let table = [
        ("{", "story.jsonl, line 2: no JSON"),
        ("[]", "line 2: not an object"),
        ("{\"type\":\"round\",\"at\":1}", "line 2: id: is missing"),
        ("{\"id\":\"p\",\"type\":\"round\",\"at\":1}", "line 2: the id \"p\" is there already"),
        ("{\"id\":\"q\",\"type\":\"round\"}", "line 2: at: is missing"),
        ("{\"id\":\"q\",\"type\":\"round\",\"at\":\"noon\"}", "line 2: at: must be a time"),
        (
            "{\"id\":\"q\",\"type\":\"round\",\"at\":1,\"parents\":[\"z\"]}",
            "line 2: parents: no entry \"z\" above",
        ),
        ("{\"id\":\"q\",\"at\":1}", "line 2: type: is missing"),
        ("{\"probe\":\"mood\"}", "line 2: probe: must be"),
        ("\n{\"probe\":\"draw\"}", "line 3: round: is missing"),
    ];
    for (line, says) in table {
        let stage = Stage::bare_ground();
        stage.write("story.jsonl", format!("{good}{line}\n"));
        stage.andon(&["review", "simulate", "story.jsonl", "--now", "5"]).exits(2).says(says);
    }
    let stage = Stage::bare_ground();
    let out = stage.andon(&["review", "simulate", "none.jsonl", "--now", "5"]).exits(2);
    out.says("none.jsonl cannot be read");
    stage.write("story.jsonl", good);
    stage.andon(&["review", "simulate", "story.jsonl", "--now", "soon"]).exits(2);
    // The policy lacks everything, which is part of the answer.
    stage.andon(&["review", "simulate", "story.jsonl", "--now", "5"]).exits(0).says("p  bad_payload");
}

#[test]
fn strangers_texts_are_escaped() {
    let stage = Stage::bare_ground();
    stage.write("story.jsonl", "{\"id\":\"\\u001b[31mx\",\"type\":\"round\",\"at\":1,\"question\":\"?\"}\n");
    let out = stage.andon(&["review", "simulate", "story.jsonl", "--now", "5"]).exits(0);
    assert!(!out.stdout.contains('\u{1b}'), "{out}");
}
