//! Rounds that come to people, the reputation that votes give them, and precedents.

use serde_json::{Value, json};

use super::story::{DAY, Story, ballot, deferred, policy, resolution, with};

const FIVE: [&str; 5] = ["ann", "bo", "cy", "di", "ed"];

fn five() -> Story {
    Story::seasoned(policy(&FIVE), &FIVE)
}

#[test]
fn triggers_are_derived_from_texts_and_times() {
    let agreed = json!({"deferred": false, "parse_failures": 0, "recommendation": "copy"});
    let same = deferred()["critique"].clone();
    let table = [
        (json!({"verdict": agreed}), json!([]), "closed"),
        (json!({"verdict": {"deferred": false, "parse_failures": 2}}), json!(["parse_failure"]), "open"),
        (
            json!({"verdict": {"deferred": false, "parse_failures": 1, "recommendation": "x"}}),
            json!([]),
            "closed",
        ),
        (json!({"verdict": agreed, "claim": same}), json!(["agreement"]), "open"),
        (json!({"verdict": agreed, "critique": "no"}), json!(["short_critique"]), "open"),
        (
            json!({"verdict": agreed, "critique": "no", "claim": null}),
            json!(["short_critique", "timeout"]),
            "open",
        ),
        (json!({"verdict": agreed, "critique": null}), json!(["timeout"]), "open"),
        (json!({"verdict": null}), json!(["timeout"]), "open"),
        (
            json!({"verdict": agreed, "expires_at": 500, "arrived": {"claim": 1, "critique": 2, "verdict": 500}}),
            json!([]),
            "closed",
        ),
        (
            json!({"verdict": agreed, "expires_at": 500, "arrived": {"verdict": 501}}),
            json!(["timeout"]),
            "open",
        ),
        (json!({"verdict": agreed, "opened_at": 100, "arrived": {"verdict": 1_900}}), json!([]), "closed"),
        (
            json!({"verdict": agreed, "opened_at": 100, "arrived": {"verdict": 1_901}}),
            json!(["timeout"]),
            "open",
        ),
        (json!({"verdict": agreed, "triggers": ["flag"], "status": "resolved"}), json!([]), "closed"),
    ];
    for (more, triggers, status) in table {
        let mut story = five();
        story.add("r", "round", with(deferred(), more.clone()));
        let told = story.told();
        assert_eq!(
            (&told.0["rounds"]["r"]["triggers"], &told.0["rounds"]["r"]["status"]),
            (&triggers, &json!(status)),
            "{more}"
        );
    }
}

#[test]
fn who_is_alone_may_review_themselves_and_earns_nothing() {
    let mut story = Story::new(with(policy(&["ann"]), json!({"solo": true})));
    let own = json!({"operators": {"proposer": ["human:ann"]}});
    story.add("r", "round", with(deferred(), own.clone())).solve("r", "ann", "accept_opposer");
    let told = story.told();
    told.invalid(&[])
        .is("/rounds/r/self_reviewed", json!(true))
        .is("/witnesses/human:ann/self_reviewed", json!(1));
    told.is("/witnesses/human:ann/n", json!(0)).is("/witnesses/human:ann/cap_left", json!(9));
    told.is("/accounts/au", json!([])).is("/settlements", json!([])).is("/detectors/capture", json!({}));
    // With three witnesses no one is alone.
    let mut story = Story::new(with(policy(&["ann", "bo", "cy"]), json!({"solo": true})));
    story.add("r", "round", with(deferred(), own)).accept("r", "ann").accept("r", "bo");
    story.told().invalid(&[("r-a-ann", "conflict"), ("r-a-bo", "panel_only")]);
}

#[test]
fn haste_is_seen() {
    let mut story = Story::seasoned(with(policy(&FIVE), json!({"rules": {"rotation": 0}})), &FIVE);
    for (round, seconds) in [("r1", 500), ("r2", 700), ("r3", 600), ("r4", 600), ("r5", 299), ("r6", 300)] {
        story.add(round, "round", with(deferred(), json!({"tags": []}))).accept(round, "ann");
        let said = with(resolution(round, "accept_opposer"), json!({"time_spent_seconds": seconds}));
        story.add(&format!("{round}-ann"), "ann resolution", said);
    }
    // The panel's ballot took 600 seconds too: the median is 600.
    story.told().is("/detectors/fatigue", json!(["r5-ann"]));
}

#[test]
fn a_topic_in_one_hand_goes_to_panels() {
    let mut story = Story::seasoned(with(policy(&FIVE), json!({"rules": {"rotation": 0, "cap": 99}})), &FIVE);
    for number in 0..10 {
        let (round, who) = (format!("r{number}"), if number % 2 == 0 { "ann" } else { FIVE[number % 3] });
        let who = if number % 2 == 1 && who == "ann" { "bo" } else { who };
        story.add(&round, "round", deferred()).solve(&round, who, "accept_opposer");
    }
    story.add("next", "round", deferred()).add("other", "round", with(deferred(), json!({"tags": ["ui"]})));
    let told = story.told();
    told.invalid(&[])
        .is("/rounds/next/panel/opened_by", json!("capture"))
        .is("/rounds/next/status", json!("panel3"));
    told.is("/rounds/other/panel", Value::Null);
    let changes = &told.0["detectors"]["capture"]["db"]["changes"];
    assert_eq!(changes[0], json!({"id": "r9-bo", "witness": "human:ann", "on": true}), "{changes}");
}

#[test]
fn concerns_that_are_mostly_declined_have_to_wait() {
    let rules = json!({"rules": {"rotation": 0}});
    let mut story = Story::seasoned(with(policy(&FIVE), rules.clone()), &FIVE);
    let concern = json!({"policy_concern": {"subject": "cap", "direction": "increase", "rationale": "x"}});
    let raise = |story: &mut Story, round: &str| {
        story.add(round, "round", deferred()).accept(round, "ann");
        let said = with(resolution(round, "accept_opposer"), concern.clone());
        story.add(&format!("{round}-ann"), "ann resolution", said);
    };
    for round in ["r1", "r2", "r3", "r4", "r5"] {
        raise(&mut story, round);
    }
    let answers = json!({"version": 2, "concerns": {"accepted": ["r1-ann", "r2-ann"], "declined": ["r3-ann", "r4-ann", "r5-ann"]}});
    story.add("p2", "root policy", with(with(policy(&FIVE), answers), rules));
    let answered = story.at;
    raise(&mut story, "r6");
    story.add("plain", "ann resolution", resolution("r6", "accept_opposer"));
    let told = story.told();
    told.invalid(&[("r6-ann", "concern_cooldown")])
        .is("/detectors/concerns", json!({"human:ann": {"answered": 5, "declined": 3}}));
    told.is("/witnesses/human:ann/blocked_until", json!(answered + 30 * DAY));
    story.at = answered + 30 * DAY - 30;
    raise(&mut story, "r7");
    let told = story.told();
    told.invalid(&[("r6-ann", "concern_cooldown")]).is("/witnesses/human:ann/blocked_until", Value::Null);
}

#[test]
fn precedents_are_found_by_tag_and_words() {
    let mut story = five();
    story.add("r1", "round", deferred());
    story.accept("r1", "ann");
    story.add(
        "r1-ann",
        "ann resolution",
        with(resolution("r1", "accept_opposer"), json!({"tags": ["locks"], "rationale": "Replicas lagged."})),
    );
    story.add("f", "bo flag", json!({"round": "r1", "reason": "x"}));
    story.panel("r1", &[("bo", "accept_proposer"), ("cy", "accept_proposer"), ("di", "reject_round")]);
    story.add("r2", "round", with(deferred(), json!({"question": "Which index?"}))).solve(
        "r2",
        "bo",
        "accept_opposer",
    );
    story.add("open", "round", deferred());
    for probe in [
        json!({"probe": "precedents", "tag": "db"}),
        json!({"probe": "precedents", "tag": "locks"}),
        json!({"probe": "precedents", "text": "the index"}),
        json!({"probe": "precedents", "text": "replicas migration"}),
        json!({"probe": "precedents", "text": "nothing like it"}),
    ] {
        story.raw(probe);
    }
    let told = story.told();
    told.invalid(&[]);
    let found = |round: &str, decision: &str, standing: &str, by: &[&str], tags: &[&str]| json!({"round": round, "decision": decision, "standing": standing, "by": by, "tags": tags});
    let overturned = found("r1", "accept_opposer", "overturned", &["human:ann"], &["db", "locks"]);
    told.is(
        "/probes/0",
        json!([
            found("r2", "accept_opposer", "current", &["human:bo"], &["db"]),
            found("r1", "accept_proposer", "current", &["human:bo", "human:cy"], &["db"]),
            overturned,
            found("r1", "reject_round", "dissent", &["human:di"], &["db"]),
        ]),
    );
    told.is("/probes/1", json!([overturned])).is("/probes/3", json!([overturned])).is("/probes/4", json!([]));
    told.is("/probes/2/0/round", json!("r2"));
}

#[test]
fn a_panels_members_say_what_they_spent() {
    let mut story = five();
    story.add("r", "round", with(deferred(), json!({"min_witnesses": 2, "bounty": 1})));
    story.accept("r", "ann").accept("r", "bo").accept("r", "cy").wait(DAY);
    let said = |who: &str| with(ballot(who, "reject_round"), json!({"time_spent_seconds": 120}));
    for who in ["ann", "bo", "cy"] {
        story.commit("r", who, &said(who));
    }
    for who in ["ann", "bo", "cy"] {
        story.reveal("r", who, &said(who));
    }
    let told = story.told();
    told.is("/accounts/au/3", json!({"id": "r-r-ann", "witness": "human:ann", "milli": 2_100}));
    told.is("/accounts/au_milli/human:cy", json!(2_100 + 1_000));
}
