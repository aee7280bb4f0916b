//! What is attested to other tools: records, checks and decisions, signed.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use serde_json::{Value, json};

use crate::rounds::{answer, deferred};
use crate::support::people::{by, with_ann};
use crate::support::{Out, Stage};

/// The statement of an envelope, once its signature was verified by ssh-keygen.
fn verified(stage: &Stage, envelope: &Out) -> Value {
    let envelope = answer(envelope);
    let bytes = |value: &Value| andon_signing::from_base64(value.as_str().unwrap()).unwrap();
    let payload = String::from_utf8(bytes(&envelope["payload"])).unwrap();
    stage.write("../statement.sig", bytes(&envelope["signatures"][0]["sig"]));
    let signed = format!("DSSEv1 28 application/vnd.in-toto+json {} {payload}", payload.len());
    let sig = stage.root().canonicalize().unwrap().join("statement.sig");
    let check = ["-Y", "check-novalidate", "-n", "dsse", "-s", sig.to_str().unwrap()];
    stage.run_in(stage.dir(), "ssh-keygen", &check, Some(signed.as_bytes())).ok();
    serde_json::from_str(&payload).unwrap()
}

#[test]
fn records_checks_and_decisions_are_attested_to_other_tools() {
    let stage = Stage::installed();
    with_ann(&stage);
    stage.iterate("1\n", &["ok a", "ok b"], "One").ok();
    let record = verified(&stage, &by(&stage, "ann", &["attest", "record"]).ok());
    assert_eq!(record["predicateType"], json!("https://in-toto.io/attestation/test-result/v0.1"));
    assert_eq!(record["subject"][0]["digest"]["gitCommit"], json!(stage.head()));
    assert_eq!(record["predicate"]["result"], json!("PASSED"));
    let blob = stage.git(&["rev-parse", "HEAD:andon.toml"]).ok().stdout;
    assert_eq!(record["predicate"]["configuration"][0]["digest"]["gitBlob"], json!(blob.trim()));
    let check = verified(&stage, &by(&stage, "ann", &["attest", "check", "HEAD~1..HEAD"]).ok());
    assert_eq!(
        check["predicate"]["properties"],
        json!(["ANDON_TESTED_ON_TREE", "ANDON_NO_BYPASS", "ANDON_NO_OPEN_HALT", "ANDON_TESTS_NOT_WEAKENED"])
    );
    let round = deferred(&stage, "Which way?");
    by(&stage, "ann", &["review", "accept", &round]).ok();
    let resolve = [
        "review",
        "resolve",
        &round,
        "--decision",
        "accept_opposer",
        "--rationale",
        "lag",
        "--sycophancy",
        "no",
        "own reasons",
    ];
    by(&stage, "ann", &resolve).ok();
    let decided = verified(&stage, &by(&stage, "ann", &["attest", "resolution", &round]).ok());
    assert_eq!(decided["predicate"]["decision"], json!("accept_opposer"));
    assert_eq!(decided["predicate"]["votes"][0]["witness"], json!("human:ann"));
    // What failed is no statement.
    stage.iterate("2\n", &["ok a", "not ok b"], "Two").ok();
    insta::assert_snapshot!(
        "attest_failed",
        by(&stage, "ann", &["attest", "check", "HEAD~1..HEAD"]).exits(1)
    );
    let failed = verified(&stage, &by(&stage, "ann", &["attest", "record"]).ok());
    assert_eq!(
        (&failed["predicate"]["result"], &failed["predicate"]["failedTests"]),
        (&json!("FAILED"), &json!(["b"]))
    );
}
