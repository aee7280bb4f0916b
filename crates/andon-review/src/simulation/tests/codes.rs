//! Every code, by the shortest story that produces it; the entries before it in the table are valid.

use serde_json::{Value, json};

use super::story::{DAY, HOUR, Story, commitment, deferred, policy, resolution, vote, with};

const FOUR: [&str; 4] = ["ann", "bo", "cy", "di"];

/// Four witnesses; three of them may act alone.
fn four() -> Story {
    Story::seasoned(policy(&FOUR), &FOUR)
}

fn one_round() -> Story {
    let mut story = four();
    story.add("r", "round", deferred());
    story
}

#[test]
fn an_honest_story_has_no_invalid_entry() {
    let mut story = one_round();
    story.solve("r", "ann", "accept_opposer");
    let told = story.told();
    told.invalid(&[]);
    told.is("/rounds/r/status", json!("resolved"))
        .is("/rounds/r/triggers", json!(["deferral"]))
        .is("/rounds/r/decision", json!("accept_opposer"))
        .is("/rounds/r/decided_by", json!("single"))
        .is("/rounds/r/by", json!(["human:ann"]))
        .is("/rounds/r/depth", json!(0))
        .is("/rounds/r/accepted_by", json!(["human:ann"]))
        .is("/rounds/first/panel/opened_by", json!("min_witnesses"))
        .is("/rounds/first/decided_by", json!("majority"))
        .is("/witnesses/human:ann/n", json!(2))
        .is("/witnesses/human:di/tier", json!("probation"))
        .is("/policy", json!({"id": "policy", "version": 1}));
}

#[test]
fn clocks_are_asked_first() {
    let mut story = one_round();
    let at = story.at;
    let line =
        |id: &str, at: i64| json!({"id": id, "type": "accept", "by": "human:nobody", "at": at, "round": "x"});
    story.raw(line("back", at - 301)).raw(line("ahead", at + 311)).raw(line("last", at - 300));
    let told = story.told();
    told.invalid(&[("back", "clock_set_back"), ("ahead", "from_the_future"), ("last", "unknown_round")]);
    told.is("/entries/back/eff", json!(at)).is("/entries/last/eff", json!(at));
}

#[test]
fn payloads_are_judged_member_by_member() {
    let table: &[(&str, Value)] = &[
        ("decision", json!("maybe")),
        ("decision", Value::Null),
        ("rationale", json!(" \n")),
        ("rationale", json!("x".repeat(4_097))),
        ("time_spent_seconds", json!(-1)),
        ("time_spent_seconds", json!(1.5)),
        ("time_spent_seconds", json!("60")),
        ("amended_recommendation", json!("do both")),
        ("sycophancy_assessment", Value::Null),
        ("sycophancy_assessment", json!({"detected": "no", "rationale": "x"})),
        ("factual_checks", json!([{"claim": "x", "verdict": "perhaps", "evidence": ""}])),
        ("factual_checks", json!("none")),
        ("policy_concern", json!({"subject": "cap", "direction": "sideways", "rationale": "x"})),
        ("attributed_to", json!("agent:stranger")),
        ("trigger", json!("timeout")),
        ("trigger", json!("boredom")),
        ("witness", json!("human:bo")),
        ("tags", json!("db")),
        ("round", json!(7)),
    ];
    for (member, value) in table {
        let mut story = one_round();
        story.accept("r", "ann");
        let said = with(resolution("r", "accept_opposer"), json!({(*member): value}));
        story.add("bad", "ann resolution", said);
        assert_eq!(story.told().codes(), [("bad".into(), "bad_payload".into())], "{member} {value}");
    }
    let good: &[Value] = &[
        json!({"decision": "amend", "amended_recommendation": "do both"}),
        json!({"decision": "reject_round", "sycophancy_assessment": null}),
        json!({"witness": "human:ann", "attributed_to": "agent:p", "halt": 7, "novelty": {}}),
        json!({"factual_checks": [{"claim": "x", "verdict": "unverifiable", "evidence": "https://example.org"}]}),
        json!({"policy_concern": {"subject": "cap", "direction": "tension", "rationale": "too low"}}),
        json!({"rationale": "x".repeat(4_096)}),
    ];
    for more in good {
        let mut story = one_round();
        story.accept("r", "ann");
        story.add("good", "ann resolution", with(resolution("r", "accept_opposer"), more.clone()));
        assert_eq!(story.told().codes(), [], "{more}");
    }
}

#[test]
fn rounds_and_the_rest_are_judged_too() {
    let table: &[(&str, Value)] = &[
        ("round", with(deferred(), json!({"min_witnesses": 6}))),
        ("round", with(deferred(), json!({"question": null}))),
        ("round", with(deferred(), json!({"bounty": 5, "issuer": null}))),
        ("round", with(deferred(), json!({"bounty": -5}))),
        ("round", with(deferred(), json!({"arrived": {"claim": "noon"}}))),
        ("ann panel", json!({"round": "r"})),
        ("ann flag", json!({"round": "r", "reason": 7})),
        ("ann accept", json!({})),
        ("ann ballot-commit", json!({"round": "r", "commitment": "00"})),
        ("ann ballot-reveal", json!({"round": "r", "nonce": "g".repeat(64), "ballot": vote("amend")})),
        ("outcome", json!({"resolution": "r", "before": [], "after": vec![""; 8], "left": true})),
        ("outcome", json!({"resolution": "r", "before": [""], "after": vec![""; 7], "left": true})),
        (
            "root policy",
            json!({"version": 2, "threshold": 2, "keys": [{"who": "human:root", "roles": ["admin"]}]}),
        ),
        (
            "root policy",
            json!({"version": 2, "threshold": 0, "keys": [{"who": "human:root", "roles": ["admin"]}]}),
        ),
        ("root policy", with(policy(&["ann", "ann"]), json!({"version": 2}))),
        ("root policy", with(policy(&["ann"]), json!({"version": 2, "rules": {"cap": "ten"}}))),
        ("root key-add", json!({"who": "human:eve", "roles": ["king"]})),
        ("root key-revoke", json!({"key": "human:ann"})),
        ("root policy-sign", json!({})),
    ];
    for (kind, payload) in table {
        let mut story = one_round();
        story.add("bad", kind, payload.clone());
        assert_eq!(story.told().codes(), [("bad".into(), "bad_payload".into())], "{kind} {payload}");
    }
}

#[test]
fn what_is_named_must_be_an_ancestor_of_the_kind() {
    let mut story = one_round();
    let at = story.at;
    story.raw(json!({"id": "aside", "type": "round", "at": at, "parents": ["policy"], "question": "?"}));
    let line = |id: &str, round: &str| json!({"id": id, "type": "accept", "by": "human:ann", "at": at, "parents": ["r"], "round": round});
    story.raw(line("nothing", "none")).raw(line("other", "aside")).raw(line("kind", "policy"));
    story.raw(json!({"id": "out", "type": "outcome", "at": at, "parents": ["r"], "resolution": "r",
        "before": ["a"], "after": vec![""; 8], "left": true}));
    story.raw(
        json!({"id": "rev", "type": "round", "at": at, "parents": ["r"], "question": "?", "revises": "none"}),
    );
    let mut codes = story.told().codes();
    codes.sort();
    let want =
        ["kind", "nothing", "other", "out", "rev"].map(|id| (id.to_owned(), "unknown_round".to_owned()));
    assert_eq!(codes, want);
}

#[test]
fn signatures_are_asked_for_by_role() {
    let mut story = four();
    let keys = json!([
        {"who": "human:root", "roles": ["admin"]}, {"who": "human:ann", "roles": ["witness"]},
        {"who": "agent:f", "roles": ["flag"]}, {"who": "agent:ci", "roles": ["witness", "ci"]},
    ]);
    story.add("p2", "root policy", json!({"version": 2, "threshold": 1, "solo": false, "keys": keys}));
    story.add("r", "round", deferred());
    story.add("a1", "accept", json!({"round": "r"}));
    story.add("a2", "stranger accept", json!({"round": "r"}));
    story.add("a3", "root accept", json!({"round": "r"}));
    story.add("a4", "agent:ci accept", json!({"round": "r"}));
    story.add("a5", "agent:f accept", json!({"round": "r"}));
    story.add("f1", "agent:f flag", json!({"round": "r", "reason": "x"}));
    story.add("f2", "root flag", json!({"round": "r", "reason": "x"}));
    story.add("k", "ann key-add", json!({"who": "human:eve", "roles": ["witness"]}));
    story.told().invalid(&[
        ("a1", "unsigned"),
        ("a2", "unknown_key"),
        ("a3", "wrong_role"),
        ("a4", "wrong_role"),
        ("a5", "wrong_role"),
        ("f2", "wrong_role"),
        ("k", "wrong_role"),
    ]);
}

#[test]
fn nobody_accepts_a_verdict_that_recommends_nothing() {
    let mut story = one_round();
    story.solve("r", "ann", "accept_synthesis");
    let told = story.told();
    told.invalid(&[("r-ann", "bad_payload")]);
    let mut story = four();
    let verdict = json!({"verdict": {"deferred": true, "parse_failures": 0, "recommendation": "copy"}});
    story.add("r", "round", with(deferred(), verdict)).solve("r", "ann", "accept_synthesis");
    story.told().invalid(&[]);
}

#[test]
fn rounds_end_and_are_withdrawn() {
    let mut story = one_round();
    story.solve("r", "ann", "accept_opposer").accept("r", "bo");
    story.add("twice", "bo resolution", resolution("r", "accept_proposer"));
    let agreed = json!({"verdict": {"deferred": false, "parse_failures": 0, "recommendation": "copy"}});
    story.add("done", "round", with(deferred(), agreed));
    story.accept("done", "bo");
    story.add("done-r", "bo resolution", resolution("done", "accept_opposer"));
    story.add("old", "round", deferred());
    story.accept("old", "bo");
    story.add("theirs", "round", with(deferred(), json!({"issuer": "agent:other", "revises": "old"})));
    story.add("new", "round", with(deferred(), json!({"revises": "old"})));
    story.add("old-r", "bo resolution", resolution("old", "accept_opposer"));
    story.add("old-f", "bo flag", json!({"round": "old", "reason": "x"}));
    let told = story.told();
    told.invalid(&[
        ("r-a-bo", "already_resolved"),
        ("twice", "already_resolved"),
        ("done-a-bo", "already_resolved"),
        ("done-r", "already_resolved"),
        ("old-r", "withdrawn"),
        ("old-f", "withdrawn"),
    ]);
    let statuses = told.statuses();
    let status = ["done", "old", "theirs", "new", "r"].map(|id| statuses[id].as_str());
    assert_eq!(status, ["closed", "voided", "open", "open", "resolved"]);
}

#[test]
fn who_may_take_a_round() {
    let mut story = four();
    story.add(
        "r",
        "round",
        with(deferred(), json!({"authors": ["human:bo"], "operators": {"opposer": ["human:cy"]}})),
    );
    story.accept("r", "bo").accept("r", "cy").accept("r", "di");
    story.add("r-ann", "ann resolution", resolution("r", "accept_opposer"));
    story.accept("r", "ann");
    story.told().invalid(&[
        ("r-a-bo", "conflict"),
        ("r-a-cy", "conflict"),
        ("r-a-di", "panel_only"),
        ("r-ann", "not_accepted"),
    ]);
    // Operating only the judge is no conflict, and the policy's operators count like the round's.
    let operators = json!({"operators": {"agent:judge": ["human:ann"], "agent:coder": ["human:bo"]}});
    let mut story = Story::seasoned(with(policy(&FOUR), operators), &FOUR);
    let cast = json!({"proposer": "agent:coder", "synthesizer": "agent:judge"});
    story.add("r", "round", with(deferred(), cast)).accept("r", "ann").accept("r", "bo");
    story.told().invalid(&[("r-a-bo", "conflict")]);
}

#[test]
fn witnesses_take_turns_and_have_a_cap() {
    let mut story = four();
    for round in ["r1", "r2", "r3"] {
        story.add(round, "round", deferred()).solve(round, "ann", "accept_opposer");
    }
    story.add("r4", "round", deferred()).accept("r4", "ann").solve("r4", "bo", "accept_opposer");
    story.add("r5", "round", deferred()).accept("r5", "ann");
    story.told().invalid(&[("r4-a-ann", "rotation")]);

    let mut story = Story::seasoned(with(policy(&FOUR), json!({"rules": {"cap": 2, "rotation": 0}})), &FOUR);
    for round in ["r1", "r2"] {
        story.add(round, "round", deferred()).solve(round, "ann", "accept_opposer");
    }
    let told = story.told();
    told.invalid(&[("r2-ann", "cap")]).is("/witnesses/human:ann/cap_left", json!(0));
    // The ballot was sealed 24 hours ago to the second: it counts no more.
    let sealed = told.0["entries"]["first-c-ann"]["eff"].as_i64().unwrap();
    story.wait(sealed + DAY - story.at - 10).add(
        "again",
        "ann resolution",
        resolution("r2", "accept_opposer"),
    );
    story.told().invalid(&[("r2-ann", "cap")]);
}

#[test]
fn panels_have_rules_of_their_own() {
    let mut story = four();
    story.add("r", "round", with(deferred(), json!({"min_witnesses": 2})));
    story.accept("r", "ann").accept("r", "bo").accept("r", "cy").accept("r", "di").accept("r", "ann-twice");
    story.add("alone", "ann resolution", resolution("r", "accept_opposer"));
    let said = vote("accept_opposer");
    story.commit("r", "ann", &said).commit("r", "di", &said).commit("r", "bo", &said);
    story.add("second", "bo ballot-commit", json!({"round": "r", "commitment": commitment("bo", &said)}));
    story.reveal("r", "ann", &said).reveal("r", "cy", &said);
    story.commit("r", "cy", &with(said.clone(), json!({"rationale": "quite another"})));
    story.add("other", "ann ballot-reveal", json!({"round": "r", "nonce": "00".repeat(32), "ballot": said}));
    story.add("ok", "bo ballot-reveal", json!({"round": "r", "nonce": nonce_of("bo"), "ballot": said}));
    story.add("more", "bo ballot-reveal", json!({"round": "r", "nonce": nonce_of("bo"), "ballot": said}));
    story.add("plain", "round", deferred());
    story.add("none", "ann ballot-commit", json!({"round": "plain", "commitment": commitment("ann", &said)}));
    story.told().invalid(&[
        ("r-a-di", "panel_full"),
        ("r-a-ann-twice", "unknown_key"),
        ("alone", "panel_needed"),
        ("r-c-di", "not_on_panel"),
        ("second", "duplicate_ballot"),
        ("r-r-ann", "early_reveal"),
        ("r-r-cy", "no_commitment"),
        ("other", "commitment_mismatch"),
        ("more", "duplicate_ballot"),
        ("none", "not_on_panel"),
    ]);
}

fn nonce_of(who: &str) -> String {
    use sha2::Digest as _;
    sha2::Sha256::digest(who.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn suspension_and_the_gate() {
    let mut story = four();
    // The first panel's decision is overturned: everybody who made it has a reputation of 0.
    story.add("f", "di flag", json!({"round": "first", "reason": "x"}));
    let keys = ["e1", "e2", "e3", "e4", "e5"];
    let all: Vec<&str> = FOUR.iter().chain(&keys).copied().collect();
    story.add("p2", "root policy", with(policy(&all), json!({"version": 2})));
    story.panel("first", &keys.map(|who| (who, "accept_opposer")));
    story.add("r", "round", deferred()).accept("r", "ann").accept("r", "e1");
    story.add("p", "bo panel", json!({"round": "r", "reason": "x"}));
    story.add("p3", "root policy", with(policy(&all), json!({"version": 3, "reinstated": ["human:ann"]})));
    story.add("again", "ann accept", json!({"round": "r"}));
    let told = story.told();
    told.is("/witnesses/human:bo/tier", json!("suspended")).is("/witnesses/human:ann/n", json!(0));
    // A reinstated witness begins anew, on panels.
    told.invalid(&[("r-a-ann", "suspended"), ("p", "suspended"), ("again", "panel_only")]);

    let gate = with(policy(&FOUR), json!({"rules": {"referee_gate": true}}));
    let mut story = Story::new(gate);
    story.add("r", "round", with(deferred(), json!({"min_witnesses": 3}))).accept("r", "ann");
    story.told().invalid(&[("r-a-ann", "referee_gate")]);
}

#[test]
fn agents_that_play_the_gate_wait_a_day() {
    let mut story = four();
    let calm = json!({"verdict": {"deferred": false, "parse_failures": 0, "recommendation": "copy"}});
    for agent in ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "t", "u", "v", "w"] {
        let round = json!({"question": "?", "proposer": format!("agent:{agent}"), "claim": deferred()["claim"],
            "critique": deferred()["critique"]});
        story.add(&format!("calm-{agent}"), "round", with(round, calm.clone()));
    }
    let part = with(deferred(), json!({"proposer": "agent:x", "opposer": null, "synthesizer": null}));
    story.add("p1", "round", part.clone()).add("p2", "round", part);
    let own = json!({"issuer": "agent:x", "proposer": "agent:x", "opposer": null, "synthesizer": null});
    let own = with(deferred(), own);
    story.add("x1", "round", own.clone()).wait(HOUR).add("x2", "round", own.clone());
    // 24 hours after the first to the second.
    story.wait(DAY - HOUR - 20).add("x3", "round", own);
    let told = story.told();
    told.invalid(&[("x2", "rate_limited")]);
    told.is("/detectors/gaming/agent:x", json!({"rate": "1", "flagged": true}));
}
