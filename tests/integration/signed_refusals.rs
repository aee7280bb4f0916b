//! Answers that a rule forbids: they are refused when given, and when they are appended with plain git, `check` and
//! `ledger verify` name them, in the words of docs/review.md.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use serde_json::{Value, json};

use crate::signed_faults::{accepted, forge, fresh, own_ref, resolution, told};
use crate::support::Stage;
use crate::support::people::{by, halted_and_signed, public, signed, steady};

/// Ann appends the next version of the policy, changed so.
fn policy(stage: &Stage, change: impl Fn(&mut Value)) {
    let policy = by(stage, "ann", &["witness", "policy"]).ok().stdout;
    let mut policy: Value = serde_json::from_str(&policy).unwrap();
    change(&mut policy);
    stage.write("../policy.json", policy.to_string());
    let file = format!("{}/policy.json", stage.root().canonicalize().unwrap().display());
    by(stage, "ann", &["witness", "policy", "--from", &file]).ok();
}

/// What `ledger verify` says in a fresh clone; `check` of the newest commit says the same.
fn named(stage: &Stage) -> String {
    let fresh = fresh(stage);
    let verify = told(stage, &stage.andon_in(&fresh, &["ledger", "verify"]));
    assert_eq!(told(stage, &stage.andon_in(&fresh, &["check", "HEAD~1..HEAD"])), verify);
    verify
}

fn refusal(stage: &Stage, who: &str, args: &[&str]) -> String {
    steady(stage, &by(stage, who, args).exits(1))
}

const REJECT: [&str; 4] = ["--decision", "reject_round", "--rationale", "ask again"];

fn resolve(round: &str) -> Vec<&str> {
    [&["review", "resolve", round], REJECT.as_slice()].concat()
}

#[test]
fn a_policy_may_ask_for_a_touch() {
    let stage = Stage::installed();
    signed(&stage);
    stage.iterate("1\n", &["ok a", "ok b"], "Go on").ok();
    let round = accepted(&stage);
    policy(&stage, |policy| policy["rules"]["require_touch"] = json!(true));
    insta::assert_snapshot!("without_touch", refusal(&stage, "ann", &resolve(&round)));
    forge(&stage, &resolution(&round, "ann"), Some("ann"));
    insta::assert_snapshot!("without_touch_forged", named(&stage));
}

#[test]
fn a_day_has_so_many_answers() {
    let stage = Stage::installed();
    signed(&stage);
    stage.iterate("1\n", &["ok a", "ok b"], "Go on").ok();
    policy(&stage, |policy| policy["rules"]["cap"] = json!(1));
    let (one, two) = (accepted(&stage), accepted(&stage));
    by(&stage, "ann", &resolve(&one)).ok();
    insta::assert_snapshot!("cap", refusal(&stage, "ann", &resolve(&two)));
    forge(&stage, &resolution(&two, "ann"), Some("ann"));
    insta::assert_snapshot!("cap_forged", named(&stage));
    // Nor is another round taken, and the list says until when.
    let three = crate::rounds::deferred(&stage, "And this one?");
    let refused = by(&stage, "ann", &["review", "accept", &three]).exits(1).stderr;
    assert!(refused.contains(": free at 2026-11-"), "{refused}");
    let list = by(&stage, "ann", &["review"]).ok().stdout;
    assert!(list.contains("at their cap for today: human:ann, free "), "{list}");
    // A day later the same answer counts.
    stage.pass(86_400);
    by(&stage, "ann", &resolve(&two)).ok();
}

#[test]
fn whoever_answers_for_the_proposer_decides_nothing() {
    let stage = Stage::installed();
    signed(&stage);
    stage.iterate("1\n", &["ok a", "ok b"], "Go on").ok();
    policy(&stage, |policy| {
        policy["solo"] = json!(false);
        policy["operators"] = json!({"agent:planner": ["human:ann"], "agent:coder": ["human:bo"]});
    });
    for who in ["bo", "cy", "di"] {
        by(&stage, "ann", &["witness", "add", &format!("human:{who}"), "--key", &public(&stage, who)]).ok();
    }
    let asks = json!({
        "question": "Which way?", "issuer": "human:cy", "operators": {"opposer": ["human:ann"]},
    });
    let round = |action: &str, said: &Value| -> Value {
        let andon = crate::support::andon_path();
        let text = said.to_string();
        let out = stage.run_in(stage.dir(), andon, &["round", action], Some(text.as_bytes()));
        serde_json::from_str(&out.stdout).unwrap()
    };
    let open = round("open", &asks)["round"].clone();
    for (role, agent) in [("proposer", "agent:coder"), ("opposer", "agent:reviewer")] {
        let text =
            format!("{role} says what it says at some length, so that nobody may call it a short one at all");
        round("say", &json!({"round": open, "role": role, "agent": agent, "text": text}));
    }
    let verdict = json!({"round": open, "agent": "agent:judge", "text": "{\"deferred\": true}"});
    let id = round("verdict", &verdict)["round"].as_str().unwrap().to_owned();
    let said: String =
        ["ann", "bo", "cy"].iter().map(|who| refusal(&stage, who, &["review", "accept", &id])).collect();
    insta::assert_snapshot!("stakes", said);
    forge(&stage, &json!({"type": "accept", "round": id}), Some("bo"));
    insta::assert_snapshot!("stakes_forged", named(&stage));
}

/// While there are no more than two witnesses, and the policy is solo, ann answers alone; three others overturn her.
#[test]
fn whoever_is_overturned_is_suspended() {
    let stage = Stage::installed();
    signed(&stage);
    stage.iterate("1\n", &["ok a", "ok b"], "Go on").ok();
    let first = accepted(&stage);
    by(&stage, "ann", &resolve(&first)).ok();
    for who in ["bo", "cy", "di"] {
        by(&stage, "ann", &["witness", "add", &format!("human:{who}"), "--key", &public(&stage, who)]).ok();
    }
    by(&stage, "bo", &["review", "flag", &first, "--reason", "it is answered by the plan"]).ok();
    let members = [
        ("bo", "the plan says which way, in its second part"),
        ("cy", "no one needs a question whose answer is written down"),
        ("di", "both ways were tried last year; one of them worked"),
    ];
    for (who, _) in members {
        by(&stage, who, &["review", "accept", &first]).ok();
    }
    for (who, why) in members {
        let amend =
            ["--decision", "amend", "--amended-recommendation", "go on as the plan says", "--rationale", why];
        by(&stage, who, &[&["review", "ballot", &first], amend.as_slice()].concat()).ok();
    }
    // An unsealed vote, by who may sit.
    let other = json!({
        "decision": "reject_round", "rationale": "I changed my mind", "factual_checks": [], "time_spent_seconds": 1,
    });
    forge(
        &stage,
        &json!({"type": "ballot-reveal", "round": first, "nonce": "0".repeat(64), "ballot": other}),
        Some("bo"),
    );
    for (who, _) in members {
        by(&stage, who, &["review", "reveal", &first]).ok();
    }
    let next = {
        let open = json!({"question": "And now?", "issuer": "agent:planner"});
        let andon = crate::support::andon_path();
        let out =
            stage.run_in(stage.dir(), andon, &["round", "open"], Some(open.to_string().as_bytes())).ok();
        let open = out.json();
        let close = json!({"round": open["round"]}).to_string();
        let out = stage.feed(&["round", "close"], close.as_bytes());
        let closed = out.json();
        closed["round"].as_str().unwrap().to_owned()
    };
    insta::assert_snapshot!("suspended", refusal(&stage, "ann", &["review", "accept", &next]));
    forge(&stage, &json!({"type": "accept", "round": next}), Some("ann"));
    insta::assert_snapshot!("suspended_forged", named(&stage));
}

/// The members of an answer to the unanswered halt.
fn answer(stage: &Stage) -> Value {
    let shown = stage.andon(&["review", "show", "halt", "--format", "json"]).ok().json();
    let mut said = resolution(shown["id"].as_str().unwrap(), "ann");
    said["trigger"] = json!("halt");
    said["halt"] = shown["id"].clone();
    said["code"] = json!("0".repeat(64));
    said["tree"] = json!(stage.git(&["rev-parse", "HEAD^{tree}"]).ok().stdout.trim());
    said
}

fn smuggle(stage: &Stage) {
    stage.set("ANDON", "0");
    stage.steps("echo smuggled > code.txt; git commit -qam Smuggle");
    stage.unset("ANDON");
}

#[test]
fn an_answer_is_for_one_halt_and_one_code() {
    let stage = halted_and_signed();
    let ledger = own_ref(&stage);
    let before = stage.git(&["rev-parse", &ledger]).ok().stdout;
    let mut said = answer(&stage);
    forge(&stage, &said, Some("ann"));
    let out = stage.iterate("more\n", &["ok a", "ok b"], "Go on").refused();
    let line = |out: &crate::support::Out| {
        let text = steady(&stage, out);
        text.lines().find(|line| line.contains("is for code")).unwrap_or_default().to_owned()
    };
    insta::assert_snapshot!("for_other_code_here", line(&out));
    smuggle(&stage);
    let fresh = fresh(&stage);
    let check = |range: &str| told(&stage, &stage.andon_in(&fresh, &["check", range]));
    insta::assert_snapshot!("for_other_code", check("HEAD~2..HEAD"));
    // One that names another halt answers none.
    stage.git(&["update-ref", &ledger, before.trim()]).ok();
    said["halt"] = json!("1".repeat(64));
    forge(&stage, &said, Some("ann"));
    let again = crate::signed_faults::fresh(&stage);
    insta::assert_snapshot!(
        "for_another_halt",
        told(&stage, &stage.andon_in(&again, &["check", "HEAD~2..HEAD"]))
    );
}

#[test]
fn an_old_date_does_not_bring_a_key_back() {
    let stage = Stage::installed();
    signed(&stage);
    stage.iterate("1\n", &["ok a", "ok b"], "Go on").ok();
    by(&stage, "ann", &["witness", "add", "human:bo", "--key", &public(&stage, "bo")]).ok();
    let round = accepted(&stage);
    stage.pass(200);
    by(&stage, "ann", &["witness", "revoke", "human:bo"]).ok();
    let mut old = json!({"type": "accept", "round": round});
    let refs = stage.git(&["log", "-1", "--format=%ct", &own_ref(&stage)]).ok().stdout;
    let then: i64 = refs.trim().parse().unwrap();
    let at = stage.run_in(stage.dir(), "date", &["-u", "-d", &format!("@{}", then - 100), "+%FT%TZ"], None);
    old["at"] = json!(at.ok().stdout.trim());
    forge(&stage, &old, Some("bo"));
    insta::assert_snapshot!("backdated", named(&stage));
}

#[test]
fn a_change_that_too_few_signed_grants_nothing() {
    let stage = Stage::installed();
    signed(&stage);
    stage.iterate("1\n", &["ok a", "ok b"], "Go on").ok();
    let bo = public(&stage, "bo");
    by(&stage, "ann", &["witness", "add", "human:bo", "--key", &bo, "--role", "admin,witness"]).ok();
    policy(&stage, |policy| policy["threshold"] = json!(2));
    let round = accepted(&stage);
    by(&stage, "ann", &["witness", "add", "human:cy", "--key", &public(&stage, "cy")]).ok();
    insta::assert_snapshot!("too_few_signed", refusal(&stage, "cy", &["review", "accept", &round]));
    let cy = stage.read("../cy.key.pub");
    let cy: Vec<&str> = cy.split(' ').take(2).collect();
    let now = by(&stage, "ann", &["witness", "policy"]).ok().stdout;
    let mut next: Value = serde_json::from_str(&now).unwrap();
    let grant = json!({"key": cy.join(" "), "who": "human:cy", "roles": ["witness"]});
    next["keys"].as_array_mut().unwrap().push(grant);
    next["type"] = json!("policy");
    forge(&stage, &next, Some("ann"));
    forge(&stage, &json!({"type": "accept", "round": round}), Some("cy"));
    insta::assert_snapshot!("too_few_signed_forged", named(&stage));
}

#[test]
fn a_ledger_that_is_cut_off_by_a_shallow_clone_judges_nothing() {
    let stage = Stage::installed();
    signed(&stage);
    stage.iterate("1\n", &["ok a", "ok b"], "Go on").ok();
    accepted(&stage);
    let root = stage.root().canonicalize().unwrap();
    let url = format!("file://{}/repo", root.display());
    stage.git_in(&root, &["clone", "-q", &url, "shallow"]).ok();
    let shallow = root.join("shallow");
    stage.git_in(&shallow, &["fetch", "-q", "origin", "+refs/notes/andon:refs/notes/andon"]).ok();
    stage.git_in(&shallow, &["fetch", "-q", "--depth", "1", "origin", "+refs/andon/*:refs/andon/*"]).ok();
    let out = stage.andon_in(&shallow, &["check", "HEAD~1..HEAD"]).exits(3);
    insta::assert_snapshot!("shallow", told(&stage, &out));
}
