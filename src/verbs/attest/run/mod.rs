//! `andon attest`: what was recorded, checked and decided, as in-toto statements that other tools read.
//!
//! A statement is signed by the SSH key that git's own set-up names, in a DSSE envelope (docs/formats.md).

mod statement;

use serde_json::{Value, json};

use self::statement::{Subject, envelope, statement};
use crate::view::check::{CheckOutcome, CheckReport};
use andon_config::MAX_BYTES;
use andon_core::detect;
use andon_core::domain::findings::Level;
use andon_core::domain::ids::CommitId;
use andon_core::domain::paths::CONFIG_FILE;
use andon_engine::asking;
use andon_engine::context::Context;
use andon_engine::error::OpsError;
use andon_engine::workspace::Workspace;
use andon_git::Blob;
use andon_store::notes::NotesStore;
use testreport::TestStatus;

/// `https://github.com/in-toto/attestation/blob/main/spec/predicates/test-result.md`
const TEST_RESULT: &str = "https://in-toto.io/attestation/test-result/v0.1";
/// `https://github.com/in-toto/attestation/blob/main/spec/predicates/svr.md`
const VERIFICATION: &str = "https://in-toto.io/attestation/svr/v0.2";
/// A type of our own: docs/formats.md.
const RESOLUTION: &str = "https://github.com/andon/andon/attestation/resolution/v1";

fn nothing(what: String, help: &str) -> OpsError {
    OpsError::Refused { what, help: help.to_owned() }
}

/// What the record of a commit says about its tests.
///
/// # Errors
/// There is no record, or it has no tests.
pub fn record(ctx: &Context, ws: &Workspace, revision: &str) -> Result<String, OpsError> {
    let commit = ws.repo.resolve(revision)?;
    let stored = NotesStore::open(&ws.repo)?.get(commit)?;
    let record = stored.map(|stored| stored.record);
    let record = record.ok_or_else(|| nothing(format!("{} has no record", commit.short()), "andon log"))?;
    let tests = record.tests.as_ref().ok_or_else(|| {
        nothing(format!("no tests ran on exactly the code of {}", commit.short()), "andon test, then commit")
    })?;
    let result = if tests.status == TestStatus::Passed { "PASSED" } else { "FAILED" };
    let predicate = json!({
        "result": result,
        "configuration": configuration(ws, commit)?.into_iter().collect::<Vec<Value>>(),
        "failedTests": tests.failing,
    });
    let body = statement(&subjects(ws, commit)?, TEST_RESULT, &predicate);
    envelope(&asking::signer(ctx, ws)?, &body)
}

fn subjects(ws: &Workspace, commit: CommitId) -> Result<Vec<Subject>, OpsError> {
    let tree = ws.repo.tree_of(commit)?;
    Ok(vec![
        Subject { name: "commit", kind: "gitCommit", digest: commit.to_string() },
        Subject { name: "tree", kind: "gitTree", digest: tree.to_string() },
    ])
}

/// The configuration that the commit has.
fn configuration(ws: &Workspace, commit: CommitId) -> Result<Option<Value>, OpsError> {
    let tree = ws.repo.tree_of(commit)?;
    let Some(blob) = ws.repo.blob_at(tree, CONFIG_FILE.as_bytes())? else { return Ok(None) };
    let is_there = matches!(ws.repo.read_blob(blob, MAX_BYTES)?, Blob::Content(_));
    Ok(is_there.then(|| json!({"name": CONFIG_FILE, "digest": {"gitBlob": blob.to_string()}})))
}

/// A check that passed. One that failed is no statement.
///
/// # Errors
/// It did not pass.
pub fn check(ctx: &Context, ws: &Workspace, report: &CheckReport, tip: CommitId) -> Result<String, OpsError> {
    if report.outcome() != CheckOutcome::Fine {
        return Err(nothing(
            format!("the check of {} did not pass: nothing is attested", report.range),
            "see why: andon check",
        ));
    }
    let predicate = json!({
        "verifier": {"id": format!("https://github.com/andon/andon@{}", env!("CARGO_PKG_VERSION"))},
        "timeVerified": ctx.now.to_string(),
        "properties": properties(ws, report),
    });
    let body = statement(&subjects(ws, tip)?, VERIFICATION, &predicate);
    envelope(&asking::signer(ctx, ws)?, &body)
}

/// What a passed check vouches for: only what was asked for, and where nothing at all was said against it.
fn properties(ws: &Workspace, report: &CheckReport) -> Vec<&'static str> {
    let is_on = |rule: &detect::Rule| rule.level_in(&ws.config.rules) > Level::Off;
    let silent = |codes: &[&str]| {
        !report.violations.iter().any(|found| found.code.as_deref().is_some_and(|code| codes.contains(&code)))
    };
    let (untested, bypass, weakened) =
        (&detect::UNTESTED_EDIT, &detect::HOOK_BYPASS, &detect::TEST_WEAKENING);
    let all = [
        ("ANDON_TESTED_ON_TREE", is_on(untested) && silent(&[untested.id, "tip-untested"])),
        ("ANDON_NO_BYPASS", is_on(bypass) && silent(&[bypass.id, "missing-record"])),
        ("ANDON_NO_OPEN_HALT", silent(&["halted-commit", "witness", "unrecorded-halt"])),
        ("ANDON_TESTS_NOT_WEAKENED", is_on(weakened) && silent(&[weakened.id])),
    ];
    all.into_iter().filter(|(_, holds)| *holds).map(|(name, _)| name).collect()
}

/// A valid decision.
///
/// # Errors
/// The round is not decided.
pub fn resolution(ctx: &Context, ws: &Workspace, named: &str) -> Result<String, OpsError> {
    let ledger = asking::load(ws)?.with_policy()?;
    let at = ledger.find(named)?;
    let state = &ledger.folded.state;
    let decided = state.round_at.get(&at).and_then(|round| state.rounds[*round].decision());
    let decided = decided.ok_or_else(|| {
        nothing(format!("{} is no round that is decided", ledger.short(at)), "andon review")
    })?;
    let votes: Vec<Value> = decided
        .votes
        .iter()
        .map(|vote| {
            let vote = &state.votes.all[*vote];
            let body = &ledger.entries[vote.entry].body;
            let body = body.get("ballot").and_then(Value::as_object).unwrap_or(body);
            json!({
                "entry": ledger.entries[vote.entry].id.to_string(),
                "witness": vote.witness,
                "rationale": body.get("rationale"),
                "amended_recommendation": body.get("amended_recommendation"),
                "code": body.get("code"),
                "tree": body.get("tree"),
            })
        })
        .collect();
    let entry = &ledger.entries[decided.entry];
    let predicate = json!({
        "ledger": ledger.id.map(|id| id.to_string()),
        "round": ledger.entries[at].id.to_string(),
        "decision": decided.key,
        "decidedBy": decided.by.name(),
        "decidedAt": andon_core::domain::time::Timestamp(decided.at).to_string(),
        "votes": votes,
    });
    let subjects = [
        Subject { name: "entry", kind: "gitCommit", digest: entry.commit.to_string() },
        Subject { name: "round", kind: "gitCommit", digest: ledger.entries[at].commit.to_string() },
    ];
    envelope(&asking::signer(ctx, ws)?, &statement(&subjects, RESOLUTION, &predicate))
}
