//! `andon attest`: what was recorded, checked and decided, as in-toto statements that other tools read: in-toto Statement v1
//! in a DSSE envelope (docs/formats.md), signed by the SSH key that git's own set-up names.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::cli::{Exit, JsonArg, Shell, progress};
use crate::verbs::check::{run as ranges, run::RangeRequest};
use andon_config::MAX_BYTES;
use andon_core::detect;
use andon_core::domain::{CONFIG_FILE, CommitId, Hint, Level};
use andon_engine::view::{CheckOutcome, CheckReport};
use andon_engine::{Context, OpsError, Result, Workspace, asking};
use andon_signing::{Signer, base64};
use andon_store::{LedgerError, NotesStore};
use testreport::TestStatus;

/// `andon attest`
#[derive(Debug, Args)]
pub struct AttestArgs {
    /// Statement to attest
    #[command(subcommand)]
    pub command: AttestCommand,
}

/// `andon attest ...`
#[derive(Debug, Subcommand)]
pub enum AttestCommand {
    /// Test results in the record of a commit (test-result/v0.1)
    Record {
        /// The commit
        #[arg(value_name = "REV", default_value = "HEAD")]
        revision: String,
        /// Output format; always DSSE, which is JSON
        #[command(flatten)]
        format: JsonArg,
    },
    /// That a range passes `andon check` (svr/v0.2); one that does not emits nothing
    Check {
        /// Commits to judge, such as origin/main..HEAD
        #[arg(value_name = "RANGE")]
        range: String,
        /// Output format; always DSSE, which is JSON
        #[command(flatten)]
        format: JsonArg,
    },
    /// Decision of people about a round
    Resolution {
        /// An entry id, or its first digits
        round: String,
        /// Output format; always DSSE, which is JSON
        #[command(flatten)]
        format: JsonArg,
    },
}

/// Prints a signed statement.
pub fn run(shell: &Shell, args: &AttestArgs) -> Result<Exit> {
    shell.take_in_fetched();
    let ws = Workspace::open_lenient(&shell.ctx)?;
    let ctx = &shell.ctx;
    let envelope = match &args.command {
        AttestCommand::Record { revision, .. } => record(ctx, &ws, revision)?,
        AttestCommand::Resolution { round, .. } => resolution(ctx, &ws, round)?,
        AttestCommand::Check { range, .. } => {
            let asked = RangeRequest { range: Some(range.clone()), ..RangeRequest::default() };
            let report = progress::walk(shell, "check", None, |pace, _| ranges::run(ctx, &asked, pace))?;
            let right =
                range.rsplit_once("..").map_or(range.as_str(), |(_, right)| right.trim_start_matches('.'));
            let tip = ws.repo.resolve(if right.is_empty() { "HEAD" } else { right })?;
            check(ctx, &ws, &report, tip)?
        }
    };
    shell.out.result(&envelope);
    Ok(Exit::Allowed)
}

/// `https://github.com/in-toto/attestation/blob/main/spec/predicates/test-result.md`
const TEST_RESULT: &str = "https://in-toto.io/attestation/test-result/v0.1";
/// `https://github.com/in-toto/attestation/blob/main/spec/predicates/svr.md`
const VERIFICATION: &str = "https://in-toto.io/attestation/svr/v0.2";
/// A type of our own: docs/formats.md.
const RESOLUTION: &str = "https://github.com/andon/andon/attestation/resolution/v1";

fn nothing(what: String, help: impl Into<String>) -> OpsError {
    OpsError::refused(what, help)
}

/// Attests the tests of a commit, by its record.
///
/// # Errors
/// There is no record, or it has no tests.
fn record(ctx: &Context, ws: &Workspace, revision: &str) -> Result<String> {
    let commit = ws.repo.resolve(revision)?;
    let stored = NotesStore::open(&ws.repo)?.get(commit)?;
    let record = stored.map(|stored| stored.record);
    let record = record.ok_or_else(|| nothing(format!("{} has no record", commit.short()), Hint::Log))?;
    let tests = record.tests.as_ref().ok_or_else(|| {
        nothing(
            format!("no tests ran on exactly the code of {}", commit.short()),
            Hint::Test.led("run them, then commit"),
        )
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

fn subjects(ws: &Workspace, commit: CommitId) -> Result<Vec<Subject>> {
    let tree = ws.repo.tree_of(commit)?;
    Ok(vec![
        Subject { name: "commit", kind: "gitCommit", digest: commit.to_string() },
        Subject { name: "tree", kind: "gitTree", digest: tree.to_string() },
    ])
}

/// The configuration that the commit has.
fn configuration(ws: &Workspace, commit: CommitId) -> Result<Option<Value>> {
    let tree = ws.repo.tree_of(commit)?;
    let Some(blob) = ws.repo.blob_at(tree, CONFIG_FILE.as_bytes())? else { return Ok(None) };
    let is_there = ws.repo.read_blob(blob, MAX_BYTES)?.is_some();
    Ok(is_there.then(|| json!({"name": CONFIG_FILE, "digest": {"gitBlob": blob.to_string()}})))
}

/// A check that passed. One that failed is no statement.
///
/// # Errors
/// It did not pass.
fn check(ctx: &Context, ws: &Workspace, report: &CheckReport, tip: CommitId) -> Result<String> {
    if report.outcome() != CheckOutcome::Fine {
        let what = format!("the check of {} did not pass: nothing is attested", report.range);
        return Err(nothing(what, Hint::Check.with([&report.range])));
    }
    let predicate = json!({
        "verifier": {"id": format!("https://github.com/andon/andon@{}", env!("CARGO_PKG_VERSION"))},
        "timeVerified": ctx.now.to_string(),
        "properties": properties(ws, report),
    });
    let body = statement(&subjects(ws, tip)?, VERIFICATION, &predicate);
    envelope(&asking::signer(ctx, ws)?, &body)
}

/// The properties that a passed check vouches for: only those that were asked for, and that nothing speaks against.
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
fn resolution(ctx: &Context, ws: &Workspace, named: &str) -> Result<String> {
    let ledger = asking::load(ws)?.with_policy()?;
    let at = ledger.find(named)?;
    let state = &ledger.folded.state;
    let decided = state.round_at.get(&at).and_then(|round| state.rounds[*round].decision());
    let decided = decided
        .ok_or_else(|| nothing(format!("{} is no round that is decided", ledger.short(at)), Hint::Review))?;
    let vote = |vote: &usize| {
        let vote = &state.votes.all[*vote];
        let body = &ledger.entries[vote.entry].body;
        let body = body.get("ballot").and_then(Value::as_object).unwrap_or(body);
        let mut shown = json!({ "entry": ledger.entries[vote.entry].id, "witness": vote.witness });
        for name in ["rationale", "amended_recommendation", "code", "tree"] {
            shown[name] = json!(body.get(name));
        }
        shown
    };
    let entry = &ledger.entries[decided.entry];
    let predicate = json!({
        "ledger": ledger.id.map(|id| id.to_string()),
        "round": ledger.entries[at].id.to_string(),
        "decision": decided.key,
        "decidedBy": decided.by,
        "decidedAt": andon_core::domain::Timestamp(decided.at).to_string(),
        "votes": decided.votes.iter().map(vote).collect::<Vec<Value>>(),
    });
    let subjects = [
        Subject { name: "entry", kind: "gitCommit", digest: entry.commit.to_string() },
        Subject { name: "round", kind: "gitCommit", digest: ledger.entries[at].commit.to_string() },
    ];
    envelope(&asking::signer(ctx, ws)?, &statement(&subjects, RESOLUTION, &predicate))
}

/// The type of every payload.
const PAYLOAD: &str = "application/vnd.in-toto+json";
/// The namespace of the signatures, so that no signature of a commit is one of a statement.
const NAMESPACE: &str = "dsse";

/// The subject of a statement.
struct Subject {
    name: &'static str,
    /// The name of the digest.
    kind: &'static str,
    digest: String,
}

/// A statement about `subjects`.
fn statement(subjects: &[Subject], kind: &str, predicate: &Value) -> String {
    let subject = |subject: &Subject| json!({"name": subject.name, "digest": {subject.kind: subject.digest}});
    json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": subjects.iter().map(subject).collect::<Vec<Value>>(),
        "predicateType": kind,
        "predicate": without_nulls(predicate),
    })
    .to_string()
}

/// Absent members stay absent: null is a value to schemas.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(name, value)| (name.clone(), without_nulls(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(without_nulls).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// The bytes that are signed: length-prefixed, so that no two payloads have the same (DSSE, PAE).
fn pre_authentication(payload: &str) -> Vec<u8> {
    format!("DSSEv1 {} {PAYLOAD} {} {payload}", PAYLOAD.len(), payload.len()).into_bytes()
}

/// The envelope, in one line.
fn envelope(signer: &Signer, payload: &str) -> Result<String> {
    let armour = signer.sign(NAMESPACE, &pre_authentication(payload)).map_err(LedgerError::from)?;
    let envelope = json!({
        "payloadType": PAYLOAD,
        "payload": base64(payload.as_bytes()),
        "signatures": [{"keyid": signer.public().fingerprint(), "sig": base64(armour.as_bytes())}],
    });
    Ok(format!("{envelope}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_signed_names_every_length() {
        let signed = String::from_utf8(pre_authentication("{\"ü\":1}")).unwrap();
        assert_eq!(signed, "DSSEv1 28 application/vnd.in-toto+json 8 {\"ü\":1}");
    }

    #[test]
    fn a_statement_has_no_nulls() {
        let subject = Subject { name: "commit", kind: "gitCommit", digest: "ab".into() };
        let text = statement(&[subject], "x", &json!({"a": null, "b": [{"c": null, "d": 1}]}));
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["predicate"], json!({"b": [{"d": 1}]}));
        assert_eq!(value["subject"], json!([{"name": "commit", "digest": {"gitCommit": "ab"}}]));
    }
}
