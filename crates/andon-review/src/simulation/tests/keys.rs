//! Policies, thresholds and revocations, by ancestry (S6 to S10).

use serde_json::{Value, json};

use super::story::{Story, deferred, policy, resolution, tell, with};

/// Admins a, b, c, two of them must sign, and witness ann.
fn council() -> Value {
    let admin = |who: &str| json!({"who": format!("human:{who}"), "roles": ["admin"]});
    json!({"version": 1, "threshold": 2, "solo": true,
        "keys": [admin("a"), admin("b"), admin("c"), {"who": "human:ann", "roles": ["witness"]}]})
}

/// A council whose policy is in force.
fn seated() -> Story {
    let mut story = Story::new(json!({"by": "human:a"}));
    story.replace(
        0,
        with(council(), json!({"id": "policy", "type": "policy", "at": 1_000_010, "by": "human:a"})),
    );
    story.add("s1", "b policy-sign", json!({"entry": "policy"}));
    story
}

fn next(version: i64) -> Value {
    with(council(), json!({"version": version}))
}

#[test]
fn a_first_policy_is_in_force_when_its_own_threshold_has_signed() {
    let mut story = seated();
    story.add("r", "round", deferred()).accept("r", "ann");
    story.told().invalid(&[]).is("/policy/id", json!("policy"));
    let mut lines = story.lines();
    lines.remove(1);
    tell(&lines, story.at, None).invalid(&[("r-a-ann", "unknown_key")]).is("/policy", Value::Null);
    // Signed by no admin of its own, or twice by the same, it is not.
    for (by, code) in [(json!("human:eve"), true), (Value::Null, true)] {
        let mut lines = story.lines();
        lines[0]["by"] = by;
        assert_eq!(tell(&lines, story.at, None).codes()[0].1 == "policy_threshold", code);
    }
    let mut lines = story.lines();
    lines[1]["by"] = json!("human:a");
    tell(&lines, story.at, None).is("/policy", Value::Null);
}

#[test]
fn later_policies_need_the_threshold_of_the_one_before() {
    let mut story = seated();
    story.add("p2", "a policy", next(2)).add("p3", "a policy", next(3));
    story.told().invalid(&[("p3", "policy_rollback")]).is("/policy/version", json!(1));
    story.add("s2", "a policy-sign", json!({"entry": "p2"}));
    story.told().is("/policy/version", json!(1));
    story.add("s3", "c policy-sign", json!({"entry": "p2"})).add("back", "a policy", next(1)).add(
        "same",
        "a policy",
        next(2),
    );
    story.told().is("/policy", json!({"id": "p2", "version": 2}));
    story.told().invalid(&[
        ("p3", "policy_rollback"),
        ("back", "policy_rollback"),
        ("same", "policy_rollback"),
    ]);
    story.add("nothing", "a policy-sign", json!({"entry": "s3"})).add("mine", "ann policy", next(3));
    let told = story.told();
    assert_eq!(
        told.codes()[3..],
        [("nothing".into(), "unknown_round".into()), ("mine".into(), "wrong_role".into())]
    );
}

#[test]
fn of_two_with_one_version_the_first_complete_one_counts() {
    let mut story = seated();
    let at = story.at + 10;
    let policy = |id: &str, by: &str, parents: Value| {
        with(next(2), json!({"id": id, "type": "policy", "at": at, "by": by, "parents": parents}))
    };
    let sign = |id: &str, by: &str, entry: &str| json!({"id": id, "type": "policy-sign", "at": at, "by": by, "parents": [entry], "entry": entry});
    story.raw(policy("x", "human:a", json!(["s1"]))).raw(policy("y", "human:b", json!(["s1"])));
    story.raw(sign("sx", "human:c", "x")).raw(sign("sy", "human:c", "y"));
    story.raw(json!({"id": "join", "type": "note", "at": at, "parents": ["sx", "sy"]}));
    let told = story.told();
    let order: Vec<&str> =
        told.0["order"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    let first = order.iter().find(|id| ["sx", "sy"].contains(*id)).unwrap().trim_start_matches('s');
    told.invalid(&[]).is("/policy/id", json!(first));
    // One that is written where the other is in force elsewhere comes too late.
    let mut story = seated();
    story.raw(policy("x", "human:a", json!(["s1"]))).raw(sign("sx", "human:c", "x"));
    for filler in ["f1", "f2"] {
        let parent = if filler == "f1" { "s1" } else { "f1" };
        story.raw(json!({"id": filler, "type": "note", "at": at, "parents": [parent]}));
    }
    story.raw(policy("late", "human:b", json!(["f2"])));
    story.told().invalid(&[("late", "policy_conflict")]).is("/policy/id", json!("x"));
}

#[test]
fn no_entry_brings_its_own_key() {
    let mut story = seated();
    let eve = json!({"who": "human:eve", "roles": ["admin", "witness"]});
    let mut keys = council()["keys"].clone();
    keys.as_array_mut().unwrap().push(eve.clone());
    story.add("p2", "eve policy", with(next(2), json!({"keys": keys})));
    story.add("k", "eve key-add", eve.clone()).add("k2", "stranger key-add", eve.clone());
    story.add("k3", "a key-add", eve).add("s", "eve policy-sign", json!({"entry": "k3"}));
    story.add("r", "round", deferred()).accept("r", "eve");
    story.told().invalid(&[
        ("p2", "self_granted"),
        ("k", "self_granted"),
        ("k2", "unknown_key"),
        ("s", "self_granted"),
        ("r-a-eve", "unknown_key"),
    ]);
    story.add("s2", "b policy-sign", json!({"entry": "k3"})).add(
        "again",
        "eve accept",
        json!({"round": "r"}),
    );
    let told = story.told();
    assert!(!told.codes().iter().any(|(id, _)| id == "again"));
    told.is("/witnesses/human:eve/tier", json!("probation"));
}

#[test]
fn keys_have_names_and_people_have_keys() {
    let mut story = Story::new(with(
        policy(&["bo"]),
        json!({"solo": true, "keys": [
            {"key": "ssh-ed25519 A", "who": "human:ann", "roles": ["admin", "witness"]},
            {"key": "ssh-ed25519 B", "who": "human:ann", "roles": ["witness"]},
        ], "signer": "ssh-ed25519 A"}),
    ));
    story.add("r", "round", deferred());
    story.add("a", "accept", json!({"round": "r", "signer": "ssh-ed25519 B"}));
    story.add("d", "accept", json!({"round": "r", "by": "human:ann"}));
    let said =
        with(resolution("r", "accept_proposer"), json!({"signer": "ssh-ed25519 A", "witness": "human:ann"}));
    story.add("s", "resolution", said);
    story.told().invalid(&[("d", "unknown_key")]).is("/rounds/r/by", json!(["human:ann"]));
}

#[test]
fn a_revocation_reaches_back_to_what_is_named() {
    let mut story = seated();
    story.add("r1", "round", deferred()).solve("r1", "ann", "accept_proposer");
    story.add("r2", "round", deferred()).solve("r2", "ann", "accept_proposer");
    story.add("x", "a key-revoke", json!({"key": "human:ann", "last_good": ["r1-ann"]}));
    story.told().invalid(&[]);
    story.add("y", "b policy-sign", json!({"entry": "x"}));
    let told = story.told();
    told.invalid(&[("r2-a-ann", "revoked_key"), ("r2-ann", "revoked_key")]);
    told.is("/rounds/r1/status", json!("resolved")).is("/rounds/r2/status", json!("open"));
    // Several add up, and a key may revoke itself alone.
    story.add("z", "ann key-revoke", json!({"key": "human:ann", "last_good": ["r1"]}));
    story.told().invalid(&[
        ("r1-a-ann", "revoked_key"),
        ("r1-ann", "revoked_key"),
        ("r2-a-ann", "revoked_key"),
        ("r2-ann", "revoked_key"),
    ]);
    story.add("n", "a key-revoke", json!({"key": "human:ann", "last_good": ["nothing"]}));
    assert_eq!(story.told().codes().last().unwrap().1, "unknown_round");
}

#[test]
fn of_two_admins_who_revoke_each_other_the_first_in_order_counts() {
    let admin = |who: &str| json!({"who": format!("human:{who}"), "roles": ["admin"]});
    let mut story =
        Story::new(json!({"version": 1, "threshold": 1, "keys": [admin("root"), admin("a"), admin("b")]}));
    let at = story.at + 10;
    let revoke = |id: &str, by: &str, key: &str| json!({"id": id, "type": "key-revoke", "at": at, "by": by, "key": key, "last_good": ["policy"], "parents": ["policy"]});
    story.raw(revoke("x", "human:a", "human:b")).raw(revoke("y", "human:b", "human:a"));
    let told = story.told();
    let second = told.0["order"][2].as_str().unwrap();
    told.invalid(&[(second, "revoked_key")]);
}
