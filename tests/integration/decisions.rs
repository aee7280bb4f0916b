//! What people decided reaches the worker: the words of an answer, in the briefing, at the start of a session, at the next prompt or
//! tool call, in the status.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use serde_json::{Value, json};

use crate::rounds::deferred;
use crate::support::people::{by, fail, halted_and_signed, with_ann};
use crate::support::{Out, Stage};

const WORDS: &str = "Keep the table.\nWrite the *new* rows beside it.";

/// A hook of Claude Code.
fn hook(stage: &Stage, event: &str, more: &Value) -> Out {
    let mut payload = json!({"hook_event_name": event, "session_id": "s1", "cwd": stage.dir()});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let args = ["agent", "hook", "claude", event];
    stage.run_in(stage.dir(), crate::support::andon_path(), &args, Some(payload.to_string().as_bytes())).ok()
}

/// What a hook adds to the context of the model.
fn told(out: &Out) -> String {
    let said: Value = serde_json::from_str(&out.stdout).unwrap_or(Value::Null);
    said["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

fn read_call(stage: &Stage, id: &str) -> String {
    let call = json!({"tool_name": "Read", "tool_use_id": id, "tool_input": {"file_path": "a"}, "tool_response": {"ok": id}});
    told(&hook(stage, "PostToolUse", &call))
}

fn prompt(stage: &Stage, text: &str) -> String {
    told(&hook(stage, "UserPromptSubmit", &json!({"prompt": text})))
}

fn json_of(stage: &Stage, args: &[&str]) -> Value {
    serde_json::from_str(&stage.andon(args).stdout).unwrap()
}

/// `amend` by ann, with the words.
fn amend(stage: &Stage, round: &str, more: &[&str]) -> Out {
    let args = [
        "review",
        "resolve",
        round,
        "--decision",
        "amend",
        "--amended-recommendation",
        WORDS,
        "--rationale",
        "both sides forgot the readers",
        "--sycophancy",
        "no",
        "it names its own failure",
        "--time-spent-seconds",
        "300",
        "--factual-check",
        "false",
        "locks pile up",
        "measured: 3 ms",
        "--strongest",
        "batches work",
        "replicas lag",
        "--tag",
        "tables",
        "--concern",
        "iteration-cap",
        "increase",
        "too tight for migrations",
    ];
    by(stage, "ann", &[&args, more].concat()).ok()
}

#[test]
fn the_reason_of_an_answer_is_the_first_thing_that_the_worker_hears() {
    let stage = Stage::installed();
    fail(&stage);
    hook(&stage, "SessionStart", &json!({"source": "startup"}));
    stage.andon(&["resume", "--reason", "The fixture is wrong: leave the parser alone."]).ok();
    // At the next tool call or prompt, once.
    let first = read_call(&stage, "1");
    assert!(first.contains("The fixture is wrong: leave the parser alone."), "{first}");
    assert_eq!(read_call(&stage, "2"), "");
    assert_eq!(prompt(&stage, "go on"), "");
    // First in the briefing, which does not say that nothing was committed.
    stage.andon(&["context", "--brief"]).ok();
    let briefing = stage.read(".andon/MISSION_BRIEFING.md");
    let at = |text: &str| briefing.find(text).unwrap_or_else(|| panic!("{text}: {briefing}"));
    assert!(at("> The fixture is wrong: leave the parser alone.") < at("## Goal"), "{briefing}");
    assert!(!briefing.contains("Nothing was committed"), "{briefing}");
    assert!(briefing.contains("Last commit: `Try 3`"), "{briefing}");
    // A session that begins knows nothing yet.
    let again = hook(&stage, "SessionStart", &json!({"source": "startup", "session_id": "s2"}));
    assert!(told(&again).starts_with("DECIDED by "), "{again}");
    for args in [["status", "--format", "json"], ["context", "--format", "json"]] {
        let shown = json_of(&stage, &args);
        assert_eq!(shown["decided"][0]["rationale"], json!("The fixture is wrong: leave the parser alone."));
        assert_eq!(shown["decided"][0]["decision"], json!("resume"));
    }
}

#[test]
fn an_answer_that_says_nothing_and_an_old_one_are_not_told() {
    let stage = Stage::installed();
    fail(&stage);
    std::fs::remove_file(stage.path(".andon/CHECKPOINT.md")).unwrap();
    stage.iterate("try 9\n", &["ok a", "ok b"], "Mend").ok();
    assert_eq!(read_call(&stage, "1"), "");
    let stage = Stage::installed();
    fail(&stage);
    stage.andon(&["resume", "--reason", "go back to A"]).ok();
    stage.pass(8 * 86_400);
    assert_eq!(read_call(&stage, "1"), "");
    assert_eq!(json_of(&stage, &["status", "--format", "json"])["decided"], json!([]));
}

#[test]
fn the_words_of_a_signed_resolution_arrive_and_can_be_read_back() {
    let stage = halted_and_signed();
    let shown = amend(&stage, "halt", &[]);
    assert!(shown.stdout.contains("  > Keep the table."), "{shown}");
    assert!(!shown.stdout.contains("amend:"), "{shown}");
    let first = read_call(&stage, "1");
    assert!(first.contains(WORDS) && first.contains("why: both sides forgot the readers"), "{first}");
    assert_eq!(read_call(&stage, "2"), "");
    let shown = json_of(&stage, &["status", "--format", "json"]);
    assert_eq!(shown["decided"][0]["words"], json!(WORDS));
}

#[test]
fn a_round_that_people_decided_reaches_the_clone_that_asked() {
    let stage = Stage::installed();
    with_ann(&stage);
    let entry = deferred(&stage, "How do we add the column?");
    hook(&stage, "SessionStart", &json!({"source": "startup"}));
    assert_eq!(read_call(&stage, "1"), "");
    by(&stage, "ann", &["review", "accept", &entry]).ok();
    stage.pass(300);
    amend(&stage, &entry, &["--attributed-to", "agent:coder"]);
    let first = prompt(&stage, "go on");
    assert!(first.contains(WORDS) && first.contains("about: How do we add the column?"), "{first}");
    assert_eq!(read_call(&stage, "2"), "");
    let shown = by(&stage, "ann", &["review", "show", &entry]).ok().stdout;
    for part in [
        "Keep the table.",
        "Write the *new* rows beside it.",
        "both sides forgot the readers",
        "checked, false: locks pile up (evidence: measured: 3 ms)",
        "sycophancy not detected: it names its own failure",
        "strongest claim: batches work",
        "strongest critique: replicas lag",
        "attributed to: agent:coder",
        "concern: iteration-cap increase: too tight for migrations",
        "tags: tables",
        "after 300 seconds",
        "I cannot tell.",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let value = json_of(&stage, &["review", "show", &entry, "--format", "json"]);
    assert_eq!((&value["decision"], &value["words"]), (&json!("amend"), &json!(WORDS)));
    assert_eq!(value["votes"][0]["said"]["factual_checks"][0]["evidence"], json!("measured: 3 ms"));
    assert_eq!(value["votes"][0]["standing"], json!("current"));
    assert!(value["evidence"]["verdict"].as_str().unwrap().starts_with("I cannot tell."), "{value}");
    let precedents = stage.andon(&["review", "precedents"]).ok().stdout;
    assert!(
        precedents.contains("decided: Keep the table.") && precedents.contains("why: both"),
        "{precedents}"
    );
    // Flagged, it can be read why.
    by(&stage, "ann", &["review", "flag", &entry, "--reason", "readers broke"]).ok();
    let shown = by(&stage, "ann", &["review", "show", &entry]).ok().stdout;
    assert!(shown.contains("Flagged") && shown.contains("readers broke"), "{shown}");
}

#[test]
fn the_issuer_of_a_rejected_round_is_told_to_revise() {
    let stage = Stage::installed();
    with_ann(&stage);
    let entry = deferred(&stage, "Which colour?");
    by(&stage, "ann", &["review", "accept", &entry]).ok();
    let args =
        ["review", "resolve", &entry, "--decision", "reject_round", "--rationale", "no question at all"];
    by(&stage, "ann", &args).ok();
    let heard = prompt(&stage, "go on");
    assert!(
        heard.contains("revise the question") && heard.contains(&format!("\"revises\": \"{entry}\"")),
        "{heard}"
    );
    assert!(heard.contains("why: no question at all"), "{heard}");
}

#[test]
fn a_waiting_round_calls_people_once_and_is_named_everywhere() {
    let stage = Stage::installed();
    with_ann(&stage);
    stage.andon(&["status", "--exit-code"]).ok();
    let entry = deferred(&stage, "How do we add the column?");
    let id = &entry[..8];
    let notices = || {
        let told = stage.read(".andon/notifications.jsonl");
        told.lines().filter(|line| line.contains("round_waits")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(notices().len(), 1);
    assert!(
        notices()[0].contains("How do we add the column?") && notices()[0].contains(id),
        "{:?}",
        notices()
    );
    let status = stage.andon(&["status", "--exit-code"]).exits(5);
    assert!(status.stdout.contains("a round waits for a person") && status.stdout.contains(id), "{status}");
    let start = told(&hook(&stage, "SessionStart", &json!({"source": "startup"})));
    assert!(start.contains("Waiting for a person: 1 round") && start.contains(id), "{start}");
    assert_eq!(json_of(&stage, &["status", "--format", "json"])["waiting"][0]["id"], json!(entry));
    let list = by(&stage, "ann", &["review"]).ok().stdout;
    assert!(list.contains("human:ann (10 left today)"), "{list}");
    // A party that speaks afterwards gets the result, each time.
    assert_eq!(notices().len(), 1);
    // One whose time is up is found by the status.
    let open = json!({"question": "Anybody?"}).to_string();
    let args = ["round", "open"];
    let out = stage.run_in(stage.dir(), crate::support::andon_path(), &args, Some(open.as_bytes())).ok();
    let name = crate::rounds::answer(&out)["round"].as_str().unwrap().to_owned();
    stage.pass(3_600);
    stage.andon(&["status", "--exit-code"]).exits(5);
    assert_eq!(notices().len(), 2);
    for (verb, said) in [
        ("say", json!({"round": name, "role": "proposer", "agent": "a", "text": "x"})),
        ("verdict", json!({"round": name, "agent": "a", "text": "{\"deferred\": true}"})),
        ("close", json!({"round": name})),
        ("say", json!({"round": name, "role": "opposer", "agent": "a", "text": "x"})),
    ] {
        let said = said.to_string();
        let out =
            stage.run_in(stage.dir(), crate::support::andon_path(), &["round", verb], Some(said.as_bytes()));
        let heard = crate::rounds::answer(&out.exits(1));
        assert_eq!(heard["triggers"], json!(["timeout"]), "{verb}");
        assert_eq!(heard["round"].as_str().unwrap().len(), 64, "{verb}");
    }
}
