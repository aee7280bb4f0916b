//! Each member of each kind of payload: missing, `null`, and of a wrong type.

use proptest::prelude::*;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::policy::{KeyGrant, ReviewPolicy};
use super::{
    AnswerOutcome, BallotCommit, KeyRevoke, Payload, PolicySign, RevealPayload, RoundAccept, RoundObjection,
    member::read, questions::RoundPayload, vote::VotePayload,
};
use andon_core::format::members_of;

/// A payload of a kind with every member that it may have, those that must be there, and those that nothing is decided by.
struct Example {
    kind: &'static str,
    whole: Value,
    needed: &'static [&'static str],
    free: &'static [&'static str],
}

const FREE_OF_VOTES: &[&str] =
    &["given", "given.terminal", "given.unmarked_above", "halt", "code", "tree", "unknown"];

fn vote() -> Value {
    json!({
        "decision": "amend", "rationale": "x", "amended_recommendation": "do it",
        "factual_checks": [{"claim": "a", "verdict": "true", "evidence": "b"}],
        "sycophancy_assessment": {"detected": false, "rationale": "r"},
        "policy_concern": {"subject": "s", "direction": "tension", "rationale": "r"},
        "strongest": {"claim": "a", "critique": "b"}, "time_spent_seconds": 5, "attributed_to": "agent:a", "tags": ["a"],
        "given": {"terminal": true, "unmarked_above": 3}, "unknown": 1,
    })
}

fn round() -> Value {
    json!({
        "question": "q?", "issuer": "i", "bounty": 3, "proposer": "p", "opposer": "o", "synthesizer": "s",
        "arrived": {"claim": 1, "critique": 2, "verdict": 3}, "operators": {"proposer": ["a"]},
        "authors": ["a"], "opened_at": 1, "expires_at": 2, "claim": "c", "critique": "d", "tags": ["t"],
        "verdict": {"deferred": true, "parse_failures": 1, "recommendation": "r"}, "paid_to": "p",
        "min_witnesses": 3, "revises": "r", "evidence": {"question": [{"run": "r"}]},
    })
}

fn with(mut base: Value, more: Value) -> Value {
    if let (Some(base), Value::Object(more)) = (base.as_object_mut(), more) {
        base.extend(more);
    }
    base
}

fn examples() -> Vec<Example> {
    let digits = "0aF4".repeat(16);
    let one = |kind, needed, free, whole| Example { kind, whole, needed, free };
    let of_key = json!({"who": "human:a", "key": "k", "roles": ["admin"], "founding_id": -3});
    let subject =
        json!({"round": "r", "trigger": "halt", "witness": "human:a", "halt": "h", "code": "c", "tree": "t"});
    vec![
        one(
            "policy",
            &["version", "threshold", "keys", "keys.who", "keys.roles"],
            &[],
            json!({
                "version": 1, "threshold": 1, "solo": true, "keys": [of_key], "operators": {"agent:a": ["human:a"]},
                "accounts": {"a": -5}, "reinstated": ["human:a"], "concerns": {"accepted": ["x"], "declined": ["y"]},
                "rules": {"epoch": 5, "cap": 1, "rotation": 2, "panel_deadline": 3, "round_timeout": 4, "ack": "signed",
                    "referee_gate": true, "require_touch": true},
            }),
        ),
        one("policy-sign", &["entry"], &[], json!({"entry": "e"})),
        one("key-add", &["who", "roles"], &[], of_key),
        one("key-revoke", &["key", "last_good"], &[], json!({"key": "k", "last_good": ["a"]})),
        one(
            "round",
            &["question", "issuer"],
            &["evidence", "evidence.question", "evidence.question.run"],
            round(),
        ),
        one("accept", &["round"], &[], json!({"round": "r"})),
        one("panel", &["round", "reason"], &[], json!({"round": "r", "reason": "x"})),
        one("flag", &["round", "reason"], &[], json!({"round": "r", "reason": "x"})),
        one("ballot-commit", &["round", "commitment"], &[], json!({"round": "r", "commitment": digits})),
        one(
            "resolution",
            &[
                "round",
                "trigger",
                "decision",
                "rationale",
                "amended_recommendation",
                "time_spent_seconds",
                "factual_checks.claim",
                "factual_checks.verdict",
                "sycophancy_assessment.detected",
                "sycophancy_assessment.rationale",
                "policy_concern.subject",
                "policy_concern.direction",
                "policy_concern.rationale",
            ],
            FREE_OF_VOTES,
            with(vote(), subject),
        ),
        one(
            "outcome",
            &["resolution", "before", "after", "left"],
            &[],
            json!({"resolution": "r", "before": ["a"], "after": ["", "", "", "", "", "", "", "b"], "left": true}),
        ),
    ]
}

/// The places of all members in a value, with their paths as errors have them.
fn places(value: &Value, at: &(String, String), found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let path = format!("{}.{name}", at.1).trim_start_matches('.').to_owned();
                let here = (format!("{}/{name}", at.0), path);
                found.push(here.clone());
                places(member, &here, found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                places(item, &(format!("{}/{index}", at.0), at.1.clone()), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn without(whole: &Value, place: &str) -> Value {
    let mut less = whole.clone();
    let (parent, name) = place.rsplit_once('/').unwrap();
    less.pointer_mut(parent).and_then(Value::as_object_mut).unwrap().remove(name);
    less
}

fn instead(whole: &Value, place: &str, value: Value) -> Value {
    let mut other = whole.clone();
    *other.pointer_mut(place).unwrap() = value;
    other
}

fn fault(kind: &str, body: &Value) -> Option<String> {
    Payload::read(kind, body.as_object().unwrap()).err().map(|wrong| wrong.member)
}

#[test]
fn an_error_names_the_member_that_is_missing_null_or_of_a_wrong_type() {
    for Example { kind, whole, needed, free } in examples() {
        assert_eq!(fault(kind, &whole), None, "{kind}");
        let mut all = Vec::new();
        places(&whole, &(String::new(), String::new()), &mut all);
        // The names of agents, people and roles are no members of the form.
        all.retain(|(_, path)| !path.starts_with("operators.") && !path.starts_with("accounts."));
        assert!(needed.iter().chain(free).all(|path| all.iter().any(|(_, known)| known == path)), "{kind}");
        for (place, path) in all {
            let lacks = needed.contains(&path.as_str()).then(|| path.clone());
            assert_eq!(fault(kind, &without(&whole, &place)), lacks, "{kind} without {path}");
            assert_eq!(
                fault(kind, &instead(&whole, &place, Value::Null)),
                lacks,
                "{kind} with null as {path}"
            );
            for wrong in [json!([[1]]), json!(-1.5), json!({"a": 1})] {
                let found = fault(kind, &instead(&whole, &place, wrong.clone()));
                let is_fine = free.contains(&path.as_str()) || found.as_ref() == Some(&path);
                // An object lacks its own members.
                let is_below = wrong.is_object() && found.is_none_or(|found| found.starts_with(&path));
                assert!(is_fine || is_below, "{kind} with {wrong} as {path}");
            }
        }
    }
}

#[test]
fn the_members_of_a_ballot_are_named_below_it() {
    let whole = json!({"round": "r", "nonce": "0aF4".repeat(16), "ballot": vote()});
    assert_eq!(fault("ballot-reveal", &whole), None);
    for place in
        ["/round", "/nonce", "/ballot", "/ballot/decision", "/ballot/rationale", "/ballot/time_spent_seconds"]
    {
        let path = place[1..].replace('/', ".");
        assert_eq!(fault("ballot-reveal", &without(&whole, place)), Some(path.clone()));
        assert_eq!(fault("ballot-reveal", &instead(&whole, place, json!([1]))), Some(path));
    }
}

#[test]
fn an_error_says_what_the_member_must_be() {
    let long = "x".repeat(4097);
    let table = [
        ("/decision", json!(5), "decision: must be a text"),
        (
            "/decision",
            json!("maybe"),
            "decision: must be accept_synthesis, accept_proposer, accept_opposer, amend or reject_round",
        ),
        ("/decision", json!("reject_round"), "amended_recommendation: is for `amend` alone"),
        ("/rationale", json!(long), "rationale: must be at most 4 KiB: signed texts are never cut"),
        ("/rationale", json!(" "), "rationale: must not be empty"),
        ("/factual_checks", json!({}), "factual_checks: must be a list"),
        ("/factual_checks", json!([1]), "factual_checks: each must be an object"),
        (
            "/factual_checks/0/verdict",
            json!("maybe"),
            "factual_checks.verdict: must be true, false or unverifiable",
        ),
        ("/sycophancy_assessment", json!(true), "sycophancy_assessment: must be an object"),
        (
            "/sycophancy_assessment/detected",
            json!("no"),
            "sycophancy_assessment.detected: must be true or false",
        ),
        ("/sycophancy_assessment/detected", json!(null), "sycophancy_assessment.detected: is missing"),
        ("/tags", json!([1]), "tags: each must be a text"),
        ("/time_spent_seconds", json!(null), "time_spent_seconds: is missing"),
        ("/time_spent_seconds", json!(-1), "time_spent_seconds: must be a whole number of at least 0"),
        ("/time_spent_seconds", json!(1.0), "time_spent_seconds: must be a whole number of at least 0"),
        (
            "/time_spent_seconds",
            json!(1_i64 << 53),
            "time_spent_seconds: must be a whole number of at least 0",
        ),
        ("/time_spent_seconds", json!(u64::MAX), "time_spent_seconds: must be a whole number of at least 0"),
    ];
    for (place, value, says) in table {
        let body = with(instead(&vote(), place, value), json!({"round": "r", "trigger": "halt"}));
        let found = Payload::read("resolution", body.as_object().unwrap()).unwrap_err();
        assert_eq!(found.to_string(), says);
    }
    let opened = |at: Value| {
        let body = json!({"question": "q", "opened_at": at});
        Payload::read("round", body.as_object().unwrap()).err().map(|wrong| wrong.to_string())
    };
    let no_time = Some("opened_at: must be a time: seconds since 1970, or RFC 3339".to_owned());
    assert_eq!(opened(json!("2026-01-01T00:00:00Z")), None);
    assert_eq!(
        [json!("noon"), json!(1_u64 << 53), json!(0.5), json!({})].map(opened),
        [(); 4].map(|()| no_time.clone())
    );
}

#[test]
fn what_is_written_is_what_is_read() {
    type Again = fn(&Value) -> Value;
    fn again<T: DeserializeOwned + Serialize>(said: &Value) -> Value {
        Value::Object(members_of(&read::<T>(said.as_object().unwrap()).unwrap()))
    }
    let whole = |kind: &str| examples().into_iter().find(|example| example.kind == kind).unwrap().whole;
    let table: [(&str, Again); 9] = [
        ("policy", again::<ReviewPolicy>),
        ("policy-sign", again::<PolicySign>),
        ("key-add", again::<KeyGrant>),
        ("key-revoke", again::<KeyRevoke>),
        ("round", again::<RoundPayload>),
        ("accept", again::<RoundAccept>),
        ("panel", again::<RoundObjection>),
        ("outcome", again::<AnswerOutcome>),
        ("flag", again::<RoundObjection>),
    ];
    for (kind, again) in table {
        assert_eq!(again(&whole(kind)), whole(kind), "{kind}");
    }
    let vote = without(&vote(), "/unknown");
    assert_eq!(again::<VotePayload>(&vote), vote);
    let digits = json!({"round": "r", "commitment": "0af4".repeat(16)});
    assert_eq!(again::<BallotCommit>(&digits), digits);
    let opened = json!({"round": "r", "nonce": "0af4".repeat(16), "ballot": vote});
    assert_eq!(again::<RevealPayload<Value>>(&opened), opened);
}

proptest! {
    #[test]
    fn no_payload_panics(kind in 0..11_usize, name in "[a-z_]{1,12}", text in ".{0,80}", number in any::<i64>()) {
        let Example { kind, whole, .. } = examples().swap_remove(kind);
        for value in [json!(text), json!(number), json!([text]), json!({name.clone(): number})] {
            let body = with(whole.clone(), json!({name.clone(): value}));
            let _ = Payload::read(kind, body.as_object().unwrap());
        }
    }
}
