//! Panels, flags, ties and collusion (R16, R17, R22).

use serde_json::{Value, json};

use super::story::{DAY, Story, StoryResult, ballot, deferred, policy, vote, with};

const NINE: [&str; 9] = ["ann", "bo", "cy", "di", "ed", "flo", "gus", "hal", "ida"];
const P: &str = "accept_proposer";
const O: &str = "accept_opposer";
const S: &str = "accept_synthesis";
const X: &str = "reject_round";

fn nine() -> Story {
    Story::seasoned(policy(&NINE), &NINE)
}

/// A round for `size` witnesses at least, whose judge defers and recommends something all the same.
fn asked(size: u8) -> Value {
    let verdict = json!({"deferred": true, "parse_failures": 0, "recommendation": "copy"});
    with(deferred(), json!({"min_witnesses": size, "verdict": verdict}))
}

fn round(told: &StoryResult, id: &str) -> Value {
    told.0["rounds"][id].clone()
}

#[test]
fn two_of_three_decide_and_dissent_is_kept() {
    let mut story = nine();
    story.add("r", "round", asked(2)).panel("r", &[("ann", P), ("bo", O), ("cy", P)]);
    let told = story.told();
    told.invalid(&[]);
    let found = round(&told, "r");
    assert_eq!(found["status"], "resolved");
    assert_eq!(found["decision"], P);
    assert_eq!((&found["depth"], &found["by"]), (&json!(1), &json!(["human:ann", "human:cy"])));
    assert_eq!(found["dissent"], json!(["human:bo"]));
    assert_eq!(found["panel"]["members"], json!(["human:ann", "human:bo", "human:cy"]));
    assert_eq!(found["decided_at"], told.0["entries"]["r-r-cy"]["eff"]);
}

#[test]
fn four_or_five_witnesses_are_a_panel_of_five() {
    let mut story = nine();
    story.add("r", "round", asked(4));
    story.panel("r", &[("ann", P), ("bo", O), ("cy", P), ("di", X), ("ed", P)]);
    let told = story.told();
    assert_eq!(round(&told, "r")["depth"], json!(2));
    assert_eq!(round(&told, "r")["decision"], json!(P));
}

#[test]
fn of_three_votes_the_highest_reputation_decides() {
    let mut story = nine();
    // cy dissents from a decision, which costs nothing; ann's and bo's are overturned once.
    story.add("r0", "round", asked(2)).panel("r0", &[("ann", P), ("bo", P), ("cy", O)]);
    story.add("f0", "ann flag", json!({"round": "r0", "reason": "x"}));
    story.panel("r0", &[("di", O), ("ed", O), ("flo", O), ("gus", O), ("hal", O)]);
    story.add("r", "round", asked(2)).panel("r", &[("ann", P), ("bo", S), ("cy", O)]);
    let told = story.told();
    told.invalid(&[]);
    told.is("/witnesses/human:ann/reputation", json!("2/3")).is("/witnesses/human:cy/reputation", json!("1"));
    let found = round(&told, "r");
    assert_eq!((&found["decision"], &found["decided_by"]), (&json!(O), &json!("reputation")));
    assert_eq!((&found["by"], &found["dissent"]), (&json!(["human:cy"]), &json!(["human:ann", "human:bo"])));
}

#[test]
fn a_tie_at_the_top_goes_to_five_and_then_to_nobody() {
    let mut story = nine();
    story
        .add("r", "round", with(asked(2), json!({"bounty": 8})))
        .panel("r", &[("ann", P), ("bo", S), ("cy", O)]);
    let told = story.told();
    assert_eq!(round(&told, "r")["status"], "panel5");
    assert_eq!(round(&told, "r")["panel"]["opened_by"], "tie");
    assert_eq!(round(&told, "r")["panel"]["members"].as_array().map(Vec::len), Some(3));
    // The three ballots are valid; a second one of theirs is one too many.
    story.add("once more", "ann ballot-commit", json!({"round": "r", "commitment": "00".repeat(32)}));
    let told = |last: &str| {
        let mut story = story.clone();
        story.panel("r", &[("di", P), ("ed", last)]).told()
    };
    let found = told(P);
    found.invalid(&[("once more", "duplicate_ballot")]);
    assert_eq!(round(&found, "r")["decision"], json!(P));
    assert_eq!(round(&found, "r")["depth"], json!(2));
    assert_eq!(round(&found, "r")["by"], json!(["human:ann", "human:di", "human:ed"]));
    let found = told(X);
    assert_eq!(round(&found, "r")["status"], "unresolvable");
    assert_eq!(round(&found, "r")["decision"], Value::Null);
    assert_eq!(found.ops().last().unwrap(), "r-r-ed escrow agent:boss 8 refund");
}

#[test]
fn amendments_are_one_when_their_words_are() {
    let mut story = nine();
    story.add("r", "round", asked(2));
    let amend = |who: &str, text: &str| with(ballot(who, "amend"), json!({"amended_recommendation": text}));
    let ballots = [
        ("ann", amend("ann", "copy  in\nbatches ")),
        ("bo", amend("bo", "copy in batches")),
        ("cy", ballot("cy", P)),
    ];
    for (who, _) in &ballots {
        story.accept("r", who);
    }
    for (who, ballot) in &ballots {
        story.commit("r", who, ballot);
    }
    for (who, ballot) in &ballots {
        story.reveal("r", who, ballot);
    }
    // printf 'copy in batches' | sha256sum
    let told = story.told();
    assert_eq!(round(&told, "r")["decision"], json!("amend:7744ca90b8ab"));
}

#[test]
fn a_majority_decides_at_the_deadline() {
    let mut story = nine();
    story.add("r", "round", asked(2));
    let opened = story.at;
    for who in ["ann", "bo", "cy"] {
        story.accept("r", who).commit("r", who, &ballot(who, P));
    }
    story.reveal("r", "ann", &ballot("ann", P)).reveal("r", "bo", &ballot("bo", P));
    let deadline = opened + 3 * DAY;
    assert_eq!(round(&story.told_at(deadline - 1, None), "r")["status"], "panel3");
    let told = story.told_at(deadline, None);
    assert_eq!(round(&told, "r")["decided_at"], json!(deadline));
    assert_eq!(round(&told, "r")["dissent"], json!([]));
    // A later reveal comes too late.
    story.wait(deadline - story.at).reveal("r", "cy", &ballot("cy", O));
    story.told().invalid(&[("r-r-cy", "already_resolved")]);
}

#[test]
fn a_seat_without_a_ballot_is_free_at_the_deadline() {
    let mut story = nine();
    story.add("r", "round", asked(2));
    let opened = story.at;
    story.accept("r", "ann").accept("r", "bo").accept("r", "cy");
    story.commit("r", "ann", &ballot("ann", P)).commit("r", "cy", &ballot("cy", P));
    story.accept("r", "di");
    story.at = opened + 3 * DAY - 10;
    story.accept("r", "ed").accept("r", "flo");
    // At the deadline no one waits for the others' seals.
    story.reveal("r", "ann", &ballot("ann", P)).reveal("r", "cy", &ballot("cy", P));
    let told = story.told();
    told.invalid(&[("r-a-di", "panel_full"), ("r-a-flo", "panel_full")]);
    assert_eq!(round(&told, "r")["panel"]["members"], json!(["human:ann", "human:cy", "human:ed"]));
    assert_eq!(round(&told, "r")["decision"], json!(P));
    assert_eq!(round(&told, "r")["decided_at"], told.0["entries"]["r-r-cy"]["eff"]);
}

#[test]
fn flags_lead_from_one_to_three_to_five_to_nobody() {
    let mut story = nine();
    let flag = json!({"round": "r", "reason": "x"});
    story.add("r", "round", with(deferred(), json!({"bounty": 10}))).add("early", "cy flag", flag.clone());
    story.solve("r", "ann", O).wait(7 * DAY - 10).add("f1", "bo flag", flag.clone()).add(
        "f2",
        "bo flag",
        flag.clone(),
    );
    assert_eq!(round(&story.told(), "r")["status"], "panel3");
    assert_eq!(round(&story.told(), "r")["decision"], json!(O), "it holds until then");
    story
        .add("again-ann", "ann accept", json!({"round": "r"}))
        .panel("r", &[("bo", P), ("cy", P), ("di", O)]);
    story.add("f3", "ann flag", flag.clone()).add("again-bo", "bo accept", json!({"round": "r"}));
    story.panel("r", &[("ed", O), ("flo", O), ("gus", O), ("hal", P), ("ida", P)]);
    story.add("f4", "bo flag", flag.clone());
    let told = story.told();
    told.invalid(&[("again-ann", "conflict"), ("again-bo", "conflict")]).is("/rounds/r/depth", json!(2));
    let route = |id: &str, route: &str| json!({"id": id, "route": route});
    told.is(
        "/rounds/r/flags",
        json!([
            route("early", "pending"),
            route("f1", "panel3"),
            route("f2", "pending"),
            route("f3", "panel5"),
            route("f4", "constitutional_only"),
        ]),
    );
    told.is("/rounds/r/triggers", json!(["deferral", "flag"])).is("/detectors/cascade", json!({"r": 2}));
    // The last panel restores the first decision: ann is not overturned any more, bo and cy are.
    told.is("/witnesses/human:ann/o", json!(0)).is("/witnesses/human:bo/o", json!(1));
    told.is("/witnesses/human:di/o", json!(0)).is("/witnesses/human:hal/o", json!(0));
}

#[test]
fn a_flag_is_late_after_seven_days_and_opens_what_agents_closed() {
    let mut story = nine();
    let flag = |round: &str| json!({"round": round, "reason": "x"});
    story.add("r", "round", deferred()).solve("r", "ann", O).wait(7 * DAY - 9).add("f", "bo flag", flag("r"));
    let agreed = json!({"verdict": {"deferred": false, "parse_failures": 0, "recommendation": "copy"}});
    story.add("c", "round", with(deferred(), agreed)).wait(99 * DAY).add("g", "bo flag", flag("c"));
    let told = story.told();
    told.is("/rounds/r/flags/0/route", json!("late")).is("/rounds/r/status", json!("resolved"));
    told.is("/rounds/c/flags/0/route", json!("open")).is("/rounds/c/status", json!("open"));
    told.is("/rounds/c/triggers", json!(["flag"])).is("/detectors/cascade", json!({"c": 0}));
}

#[test]
fn a_flag_is_for_the_decision_that_it_has_seen() {
    let mut story = nine();
    story.add("r", "round", deferred());
    let at = story.at;
    story.solve("r", "ann", O);
    story.raw(json!({"id": "blind", "type": "flag", "by": "human:bo", "at": at, "parents": ["r"], "round": "r", "reason": "x"}));
    story.told().is("/rounds/r/flags/0/route", json!("pending")).is("/rounds/r/status", json!("resolved"));
}

#[test]
fn a_panel_that_is_asked_for_takes_those_who_accepted() {
    let mut story = nine();
    story.add("r", "round", deferred()).accept("r", "ann").accept("r", "bo");
    story.add("p", "ann panel", json!({"round": "r", "reason": "it is hard"}));
    story
        .add("again", "bo panel", json!({"round": "r", "reason": "it is"}))
        .accept("r", "cy")
        .accept("r", "di");
    story.vote("r", &[("ann", O), ("bo", O), ("cy", O)]);
    let told = story.told();
    told.invalid(&[("r-a-di", "panel_full")]).is("/rounds/r/panel/opened_by", json!("request"));
    told.is("/rounds/r/accepted_by", json!(["human:ann", "human:bo", "human:cy"]));
    told.is("/rounds/r/depth", json!(1));
}

#[test]
fn who_writes_the_same_is_not_believed() {
    let same = "the replicas lagged for hours the last time and no one noticed";
    let said = |decision: &str| with(vote(decision), json!({"rationale": same}));
    let mut story = nine();
    story.add("r", "round", asked(2));
    for who in ["ann", "bo", "cy"] {
        story.accept("r", who).commit("r", who, &if who == "bo" { ballot("bo", P) } else { said(P) });
    }
    story.reveal("r", "ann", &said(P)).reveal("r", "bo", &ballot("bo", P)).reveal("r", "cy", &said(P));
    let told = story.told();
    told.is("/rounds/r/panel/opened_by", json!("collusion")).is("/rounds/r/status", json!("panel5"));
    told.is("/rounds/r/panel/members", json!([])).is("/rounds/r/decision", Value::Null);
    told.is("/detectors/collusion", json!([{"round": "r", "witnesses": ["human:ann", "human:cy"]}]));
    story.add("back", "bo accept", json!({"round": "r"}));
    for who in ["di", "ed", "flo", "gus", "hal"] {
        story.accept("r", who).commit("r", who, &said(O));
    }
    for who in ["di", "ed", "flo", "gus", "hal"] {
        story.reveal("r", who, &said(O));
    }
    let told = story.told();
    told.invalid(&[("back", "conflict")]);
    // Each of the five is like each other one.
    assert_eq!(told.0["detectors"]["collusion"].as_array().map(Vec::len), Some(1 + 10));
    told.is("/rounds/r/status", json!("unresolvable"));
}
