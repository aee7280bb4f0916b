//! Bounties, penalties, attention; outcomes and what they settle (R6 to R15).

use serde_json::{Value, json};

use super::story::{DAY, Story, deferred, policy, resolution, vote, with};

const NINE: [&str; 9] = ["ann", "bo", "cy", "di", "ed", "flo", "gus", "hal", "ida"];
const P: &str = "accept_proposer";
const O: &str = "accept_opposer";

fn nine() -> Story {
    let accounts = json!({"accounts": {"agent:boss": 1_000, "human:ann": 5}});
    Story::seasoned(with(policy(&NINE), accounts), &NINE)
}

fn worth(bounty: i64) -> Value {
    with(deferred(), json!({"bounty": bounty}))
}

#[test]
fn a_bounty_is_paid_once_or_goes_back() {
    let mut story = nine();
    story.add("r1", "round", worth(10)).solve("r1", "ann", P);
    story.add("r2", "round", worth(10)).solve("r2", "bo", "reject_round");
    story.add("r3", "round", with(worth(10), json!({"paid_to": "agent:o"}))).solve("r3", "cy", O);
    story.add("r4", "round", with(worth(10), json!({"revises": "r3"})));
    story.add("r5", "round", with(worth(3), json!({"revises": "r4"})));
    let told = story.told();
    assert_eq!(
        told.ops(),
        [
            "r1 agent:boss escrow 10 bounty",
            "r1-ann escrow agent:p 10 payout",
            "r2 agent:boss escrow 10 bounty",
            "r2-bo escrow agent:boss 10 refund",
            "r3 agent:boss escrow 10 bounty",
            "r3 escrow agent:o 10 payout",
            "r4 agent:boss escrow 10 bounty",
            "r5 agent:boss escrow 3 bounty",
            "r5 escrow agent:boss 10 refund",
        ]
    );
    told.is("/accounts/cc_total", json!(1_005)).is("/accounts/cc/escrow", json!(3));
    told.is("/accounts/cc/agent:boss", json!(977)).is("/accounts/cc/human:ann", json!(5));
}

#[test]
fn a_payout_that_is_reversed_costs_whom_it_is_put_down_to() {
    let mut story = nine();
    story.add("r", "round", with(worth(11), json!({"paid_to": "agent:s"}))).accept("r", "ann");
    let blame = json!({"attributed_to": "agent:s"});
    story.add("r-ann", "ann resolution", with(resolution("r", P), blame.clone()));
    // The same agent again within the month: half and a twentieth.
    story.add("q", "round", with(worth(100), json!({"paid_to": "agent:s"}))).accept("q", "bo");
    story.add("q-bo", "bo resolution", with(resolution("q", "reject_round"), blame));
    // Three overturn the first decision and blame no one by more than half.
    story.add("f", "cy flag", json!({"round": "r", "reason": "x"}));
    story.panel("r", &[("cy", O), ("di", O), ("ed", O)]);
    let told = story.told();
    told.invalid(&[]);
    assert_eq!(
        told.ops()[2..],
        [
            "r-ann agent:s escrow 11 reverse",
            "r-ann escrow agent:p 11 payout",
            "r-ann agent:s treasury 5 penalty",
            "q agent:boss escrow 100 bounty",
            "q escrow agent:s 100 payout",
            "q-bo agent:s escrow 100 reverse",
            "q-bo escrow agent:boss 100 refund",
            "q-bo agent:s treasury 55 penalty",
            "r-r-ed treasury agent:s 5 penalty_back",
            "r-r-ed agent:p escrow 11 reverse",
            "r-r-ed escrow agent:o 11 payout",
        ]
    );
    told.is("/accounts/cc_total", json!(1_005));
    told.is("/witnesses/human:ann/reputation", json!("1/2")).is("/witnesses/human:ann/n", json!(2));
}

#[test]
fn an_agent_that_a_decision_blames_pays_though_nothing_was_paid_out() {
    let mut story = nine();
    let blame = json!({"attributed_to": "agent:o"});
    story.add("r", "round", worth(10)).accept("r", "ann");
    story.add("r-ann", "ann resolution", with(resolution("r", P), blame.clone()));
    story.add("q", "round", worth(20)).accept("q", "bo");
    story.add("q-bo", "bo resolution", with(resolution("q", "reject_round"), blame));
    let told = story.told();
    told.invalid(&[]);
    assert_eq!(
        told.ops(),
        [
            "r agent:boss escrow 10 bounty",
            "r-ann escrow agent:p 10 payout",
            "r-ann agent:o treasury 5 penalty",
            "q agent:boss escrow 20 bounty",
            "q-bo escrow agent:boss 20 refund",
            "q-bo agent:o treasury 11 penalty",
        ]
    );
}

#[test]
fn a_panel_blames_by_more_than_half() {
    let mut story = nine();
    story.add("r", "round", with(worth(10), json!({"paid_to": "agent:s", "min_witnesses": 3})));
    let said = [("ann", P, Some("agent:s")), ("bo", P, None), ("cy", P, Some("agent:s"))];
    let ballot = |who: &str, decision: &str, blamed: Option<&str>| {
        with(super::story::ballot(who, decision), json!({"attributed_to": blamed}))
    };
    for (who, _, _) in &said {
        story.accept("r", who);
    }
    for (who, decision, blamed) in &said {
        story.commit("r", who, &ballot(who, decision, *blamed));
    }
    for (who, decision, blamed) in &said {
        story.reveal("r", who, &ballot(who, decision, *blamed));
    }
    assert_eq!(story.told().ops().last().unwrap(), "r-r-cy agent:s treasury 5 penalty");
}

#[test]
fn attention_is_the_lesser_of_said_and_seen() {
    let mut story = nine();
    story.add("r1", "round", worth(7)).accept("r1", "ann").wait(590);
    story.add("r1-ann", "ann resolution", with(resolution("r1", P), json!({"time_spent_seconds": 9_999})));
    story.add("r2", "round", worth(0)).accept("r2", "bo").wait(5_000);
    story.add("r2-bo", "bo resolution", with(resolution("r2", P), json!({"time_spent_seconds": 61})));
    story.add("h", "loop.halted", json!({"rule": "tool-loop"}));
    story.add("h-cy", "cy resolution", with(resolution("h", P), json!({"trigger": "halt"})));
    let told = story.told();
    told.invalid(&[]);
    let au = told.0["accounts"]["au"].as_array().unwrap()[3..].to_vec();
    assert_eq!(
        au,
        [
            // 600 seconds and seven tenths; 61 seconds; a halt without an accept.
            json!({"id": "r1-ann", "witness": "human:ann", "milli": 10_700}),
            json!({"id": "r2-bo", "witness": "human:bo", "milli": 1_016}),
            json!({"id": "h-cy", "witness": "human:cy", "milli": 0}),
        ]
    );
    told.is("/rounds/h/status", json!("resolved")).is("/rounds/h/triggers", json!(["halt"]));
}

#[test]
fn outcomes_reward_once_and_weights_decay() {
    let mut story = nine();
    story.add("r", "round", deferred()).solve("r", "ann", P);
    let outcome = |of: &str, left: bool| json!({"resolution": of, "before": ["a", "b", "c", "d"], "after": vec![""; 8], "left": left});
    story.add("o1", "outcome", outcome("r-ann", true)).add("o2", "outcome", outcome("r-ann", true));
    story.add("o3", "outcome", outcome("first", false));
    let told = story.told();
    told.invalid(&[]);
    let settlements = told.0["settlements"].as_array().unwrap();
    let of = |id: &str| settlements.iter().filter(|found| found["id"] == id).collect::<Vec<_>>();
    assert_eq!((of("o1").len(), of("o2").len(), of("o3").len()), (1, 0, 3));
    // Two bits of three fell to none: 1.2 * 2/3.
    let gain = of("o1")[0]["gain"].as_f64().unwrap();
    assert!((gain - 0.8).abs() < 1e-9);
    assert_eq!((&of("o1")[0]["bias_score"], &of("o1")[0]["adjustment"]), (&Value::Null, &Value::Null));
    assert_eq!((&of("o3")[0]["gain"], &of("o3")[0]["converged"]), (&json!(0.0), &json!(false)));
    let later = story.told_at(story.at + 14 * DAY, None);
    let conv = later.0["witnesses"]["human:ann"]["conv"].as_f64().unwrap();
    assert!((conv - 0.8 * 0.95 * 0.95).abs() < 1e-9, "{conv}");
}

#[test]
fn probes_answer_by_the_same_rules() {
    let mut story = nine();
    story.raw(json!({"probe": "agreement", "claim": "copy the tables", "critique": "copy the tables"}));
    story.raw(
        json!({"probe": "draw", "round": "r1", "witness": "human:ann", "role": "Synthesizer", "total": 0.2}),
    );
    story.raw(json!({"probe": "entropy", "before": ["a", "b"], "after": ["a"], "left": true}));
    story.raw(json!({"probe": "vitality", "vectors": [[1, 0], [0, 1]]}));
    let mean = [0.04, -0.01, -0.01, -0.01, -0.01];
    story.raw(json!({"probe": "settle", "epochs": 1, "epoch": 45,
        "state": {"conv": 0.5, "freq": 1, "align": -0.2, "mean": mean, "prior": 5, "founding_id": 1},
        "outcome": {"converged": true, "h0": 0.5, "h1": 0.25, "adjustment": [0.8, -0.2, -0.2, -0.2, -0.2]}}));
    story.raw(json!({"probe": "settle", "state": {}, "epochs": 0, "epoch": 0, "outcome": {}}));
    let told = story.told();
    told.is(
        "/probes/0",
        json!({"dot": 2, "na": 2, "nb": 2, "cosine": 1.0, "agreement": true, "short": true}),
    );
    let number = |pointer: &str| told.0.pointer(pointer).unwrap().as_f64().unwrap();
    let near = |pointer: &str, want: f64| {
        assert!((number(pointer) - want).abs() < 1e-6, "{pointer} {}", number(pointer));
    };
    near("/probes/1/threshold", 0.15);
    near("/probes/2/h0", 1.0 / 3.0);
    told.is("/probes/2/h1", Value::Null).is("/probes/2/converged", json!(false));
    near("/probes/3/variance", 0.5);
    // 0.5 * 0.95 + 1.2 * 0.25; the score is 1, so that 0.6 goes from -0.19; times 1.25.
    near("/probes/4/conv", 0.775);
    near("/probes/4/freq", 0.95);
    near("/probes/4/align", -0.79);
    near("/probes/4/bias_score", 1.0);
    near("/probes/4/penalty", 0.6);
    near("/probes/4/multiplier", 1.25);
    near("/probes/4/total", 0.0);
    near("/probes/4/mean/0", 0.078);
    told.is("/probes/4/prior", json!(6))
        .is("/probes/5/gain", Value::Null)
        .is("/probes/5/penalty", Value::Null);
}

#[test]
fn what_worn_out_people_are_asked_is_theirs_alone() {
    let mut story = nine();
    for round in 0..8 {
        let id = format!("r{round}");
        story.add(&id, "round", with(deferred(), json!({"tags": []}))).solve(&id, "ann", P);
    }
    assert_eq!(story.told().0.get("private"), None);
    let told = story.told_at(story.at, Some("human:ann"));
    told.is("/private/n", json!(9))
        .is("/private/low", json!(true))
        .is("/private/witness", json!("human:ann"));
    story
        .told_at(story.at, Some("human:bo"))
        .is("/private/variance", Value::Null)
        .is("/private/low", json!(false));
    // Only others' votes are the base: the vectors stay the same, and the sixth is bias.
    let told = story.told();
    let last = told.0["settlements"].as_array().unwrap().last().unwrap().clone();
    assert!(last["penalty"].as_f64().unwrap() > 0.0);
    let _ = vote(P);
}
