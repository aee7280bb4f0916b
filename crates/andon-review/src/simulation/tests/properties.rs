//! Properties that hold for any entries, honest or not.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::story::{Story, ballot, deferred, policy, resolution, tell, vote, with};

/// Arbitrary acts of a few people on a few rounds.
fn act() -> impl Strategy<Value = Value> {
    let who = prop::sample::select(vec!["root", "ann", "bo", "cy", "di", "ed", "eve"]);
    let round = prop::sample::select(vec!["first", "e0", "e1", "e2", "e3", "none"]);
    let decision = prop::sample::select(vec![
        "accept_proposer",
        "accept_opposer",
        "accept_synthesis",
        "amend",
        "reject_round",
    ]);
    (0u8..14, who, round, decision, 0i64..400_000).prop_map(|(kind, who, round, decision, step)| {
        let by = json!({"by": format!("human:{who}"), "step": step});
        let said = with(vote(decision), json!({"amended_recommendation": (decision == "amend").then_some("x")}));
        let reason = json!({"round": round, "reason": "x"});
        let act = match kind {
            0 | 1 => with(deferred(), json!({"type": "round", "bounty": step % 7, "tags": [decision]})),
            2 => with(deferred(), json!({"type": "round", "min_witnesses": step % 7, "paid_to": "agent:s", "bounty": 9})),
            3..=5 => json!({"type": "accept", "round": round}),
            6 => with(resolution(round, decision), with(said, json!({"type": "resolution"}))),
            7 => with(resolution(round, decision), json!({"type": "resolution", "attributed_to": "agent:p"})),
            8 => with(reason, json!({"type": "flag"})),
            9 => with(reason, json!({"type": "panel"})),
            10 => with(policy(&["ann", "bo", "cy"]), json!({"type": "policy", "version": step % 3 + 1})),
            11 => json!({"type": "key-revoke", "key": format!("human:{decision}"), "last_good": ["first"]}),
            12 => json!({"type": "outcome", "resolution": round, "before": [decision], "after": vec![""; 8], "left": true}),
            _ => json!({"type": "loop.halted"}),
        };
        with(act, by)
    })
}

/// A story in which they act, on several branches.
fn acted(acts: &[(Value, Option<usize>)]) -> Vec<Value> {
    let mut story = Story::seasoned(policy(&["ann", "bo", "cy", "di", "ed"]), &["ann", "bo", "cy"]);
    story.add("seat", "round", with(deferred(), json!({"min_witnesses": 2})));
    for who in ["ann", "bo", "cy"] {
        story.accept("seat", who).commit("seat", who, &ballot(who, "accept_proposer"));
    }
    let mut lines = story.lines();
    let mut at = story.at;
    for (index, (act, parent)) in acts.iter().enumerate() {
        at += act["step"].as_i64().unwrap();
        let mut line = with(act.clone(), json!({"id": format!("e{index}"), "at": at}));
        if let Some(parent) = parent {
            let parent = &lines[lines.len() - 1 - parent % lines.len().min(4)]["id"];
            line = with(line, json!({"parents": [parent]}));
        }
        lines.push(line);
    }
    lines
}

fn parents_spelt_out(lines: &[Value]) -> Vec<Value> {
    let mut before: Vec<Value> = Vec::new();
    let mut all = Vec::new();
    for line in lines {
        all.push(with(json!({"parents": before}), line.clone()));
        before = vec![line["id"].clone()];
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn whatever_people_do_the_books_add_up(
        acts in prop::collection::vec((act(), prop::option::of(0usize..4)), 0..40),
        wait in 0i64..9_000_000,
    ) {
        let lines = acted(&acts);
        let now = lines.iter().filter_map(|line| line["at"].as_i64()).max().unwrap() + wait;
        let told = tell(&lines, now, None).0;
        prop_assert_eq!(&told["accounts"]["cc_total"], &json!(0));
        let total: i64 = told["accounts"]["cc"].as_object().unwrap().values().map(|cc| cc.as_i64().unwrap()).sum();
        prop_assert_eq!(total, 0);
        for witness in told["witnesses"].as_object().unwrap().values() {
            prop_assert!(witness["o"].as_u64() <= witness["n"].as_u64());
            let total = witness["total"].as_f64().unwrap();
            prop_assert!((0.0..=1.0).contains(&total));
        }
        // A bounty is never paid twice: what is in escrow is what no round has paid.
        let escrow = told["accounts"]["cc"].get("escrow").and_then(Value::as_i64).unwrap_or(0);
        prop_assert!(escrow >= 0);
    }

    #[test]
    fn any_order_of_reading_gives_the_same_bytes(
        acts in prop::collection::vec((act(), prop::option::of(0usize..4)), 0..25),
        seed in any::<u64>(),
    ) {
        let lines = parents_spelt_out(&acted(&acts));
        let now = lines.iter().filter_map(|line| line["at"].as_i64()).max().unwrap();
        let want = tell(&lines, now, None).0.to_string();
        // Another order with parents first: always take one of those whose parents are there, by the seed.
        let (mut left, mut other, mut seed) = (lines, Vec::<Value>::new(), seed);
        while !left.is_empty() {
            let there = |line: &Value| {
                let parents = line["parents"].as_array().unwrap();
                parents.iter().all(|parent| other.iter().any(|line| line["id"] == *parent))
            };
            let ready: Vec<usize> = (0..left.len()).filter(|line| there(&left[*line])).collect();
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let next = ready[usize::try_from(seed >> 40).unwrap() % ready.len()];
            other.push(left.remove(next));
        }
        prop_assert_eq!(tell(&other, now, None).0.to_string(), want);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = crate::simulation::read(&bytes);
    }

    #[test]
    fn no_member_of_any_kind_makes_it_panic(
        kind in prop::sample::select(vec!["policy", "round", "resolution", "flag", "ballot-reveal", "key-revoke", "outcome"]),
        member in prop::sample::select(vec![
            "keys", "tags", "bounty", "rules", "verdict", "round", "ballot", "rationale", "operators", "last_good", "before",
            "min_witnesses", "accounts", "concerns", "claim", "expires_at", "arrived",
        ]),
        value in prop::sample::select(vec![
            json!(null), json!(-1), json!(9_007_199_254_740_991_i64), json!(i64::MIN), json!(1.5), json!(""), json!([]), json!([[]]),
            json!({}), json!({"epoch": 1, "cap": 0, "panel_deadline": 9_007_199_254_740_991_i64}), json!("\u{0}"), json!(["x", 1]), json!(true),
        ]),
    ) {
        let mut story = Story::seasoned(policy(&["ann", "bo", "cy"]), &["ann", "bo", "cy"]);
        story.add("r", "round", with(deferred(), json!({"bounty": 3}))).accept("r", "ann");
        let base = match kind {
            "policy" => with(policy(&["ann"]), json!({"version": 2, "by": "human:root"})),
            "round" => deferred(),
            _ => with(resolution("r", "accept_proposer"), json!({"by": "human:ann"})),
        };
        story.add("x", kind, with(base, json!({(member): value})));
        story.solve("r", "bo", "accept_opposer");
        let _ = story.told_at(story.at, Some("human:ann"));
    }
}
