//! Commits and test runs of an event stream. They may come from a simulator as well as from git, so that a state is
//! any text; what is a sha256 already is taken as it is.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{EventError, MAX_NAME, hash, name};
use andon_core::domain::{
    CarriedAttempt, ChangeFacts, CodeId, CommitFact, CommitId, CommitKind, CommitRecord, Counts, DiffHash,
    DiffSummary, Fact, Hunk, HunkHash, Oid, RunOrigin, RunValidity, Signature, TestEvidence, TestRun,
    TestStatus, Timestamp, TreeId, Weakening,
    signatures::{error_signature, signature},
};
use andon_core::format::{Count, FormatError, List, bounded, members};
use andon_store::{JournalLine, wire::v1::decode_line};
use testreport::{ErrorText, Root, normalize_error, normalize_id};

/// Longest subject, in bytes.
const MAX_SUBJECT: usize = 1024;
/// Longest id of a test, in bytes.
const MAX_ID: usize = 512;
/// Error texts that are looked at.
const MAX_ERRORS: usize = 512;

#[derive(Deserialize)]
struct CommitWire {
    code: String,
    diff: Option<String>,
    subject: Option<String>,
    kind: Option<CommitKind>,
    node: Option<String>,
    session: Option<String>,
    parent: Option<CommitId>,
    commit: Option<String>,
    empty: Option<bool>,
    files: Option<Count>,
    added: Option<Count>,
    removed: Option<Count>,
    hunks: Option<List<[String; 2], { DiffSummary::MAX_HUNKS }>>,
    change: Option<ChangeFacts>,
    weakening: Option<Weakening>,
    carries: Option<String>,
}

/// `{"type":"commit","code":"<state>","diff":"<diff>","subject":"...","kind":"normal"}`; `code` is required. Without
/// `diff` the state alone identifies the change; `"empty":true` says that nothing is left of it. `change` and
/// `weakening` are as in a commit record; `parent` identifies a commit that was taken back and made again unchanged,
/// and `commit` names it in messages. `carries` names the commit of an earlier line that this one moves, or joins with
/// those before it: the same attempt.
pub(super) fn commit(object: &Map<String, Value>, at: Option<Timestamp>) -> Result<Fact, FormatError> {
    let wire: CommitWire = members(object)?;
    let hunks = wire.hunks.unwrap_or_default().items;
    let (kind, code) = (wire.kind.unwrap_or(CommitKind::Normal), CodeId(hash::state(&wire.code)));
    // Any other name of a commit would be none in a message.
    let id = |named: Option<String>| named.and_then(|commit| commit.parse::<CommitId>().ok());
    let carried = |commit| Box::new(CarriedAttempt { commit, parent: wire.parent, kind, code, tests: None });
    let diff = DiffSummary {
        hash: DiffHash(hash::state(wire.diff.as_deref().unwrap_or(&wire.code))),
        empty: wire.empty.unwrap_or(false),
        files: number(wire.files),
        added: number(wire.added),
        removed: number(wire.removed),
        hunks: hunks.iter().map(hunk).collect(),
        truncated: false,
    };
    let record = CommitRecord {
        parent: wire.parent,
        kind,
        node: wire.node.map(|node| name(&node)).unwrap_or_default(),
        session: wire.session.map(|session| session.chars().take(MAX_NAME).collect()),
        change: wire.change.map(ChangeFacts::bounded),
        weakening: wire.weakening,
        carries: id(wire.carries).map(carried),
        // The epoch means that no time was given.
        ..CommitRecord::new(at.unwrap_or(Timestamp(0)), TreeId(Oid::ZERO), code, diff)
    };
    let (subject, author) = (bounded(&wire.subject.unwrap_or_default(), MAX_SUBJECT), String::new());
    Ok(Fact::Commit(Box::new(CommitFact { id: None, subject, author, record, named: id(wire.commit) })))
}

fn number(count: Option<Count>) -> u64 {
    count.unwrap_or_default().0
}

fn hunk([removed, added]: &[String; 2]) -> Hunk {
    let side = |text: &String| text.parse().unwrap_or_else(|_| HunkHash(hash::short(&[text.as_bytes()]).0));
    Hunk { removed: side(removed), added: side(added) }
}

#[derive(Deserialize)]
struct RunWire {
    code: String,
    status: TestStatus,
    validity: Option<RunValidity>,
    total: Option<Count>,
    passed: Option<Count>,
    failed: Option<Count>,
    errored: Option<Count>,
    skipped: Option<Count>,
    failing: Option<List<String, { TestEvidence::MAX_FAILING }>>,
    errors: Option<Errors>,
    runner: Option<String>,
    command: Option<String>,
}

/// The first errors of the failing tests, or their fingerprint itself.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a list of texts or a sha256")]
enum Errors {
    State(String),
    Texts(List<String, MAX_ERRORS>),
}

/// `{"type":"test_run","code":"<fingerprint>","status":"failed","total":10,"failing":["a::b"],"errors":["..."]}`, or a
/// line of the journal.
pub(super) fn test_run(
    line: &[u8],
    object: &Map<String, Value>,
    at: Option<Timestamp>,
) -> Result<Fact, EventError> {
    let wire: RunWire = members(object)?;
    let validity = wire.validity.unwrap_or(RunValidity::Valid);
    let evidence = evidence(wire);
    if evidence.status == TestStatus::Passed && !evidence.failing.is_empty() {
        return Err(EventError::FailingAndPassed);
    }
    // A line of the journal is taken as it is; its mistakes have been named by now.
    if let Ok(JournalLine::TestRun(run)) = decode_line(line) {
        return Ok(Fact::TestRun(run));
    }
    let (base, overlay) = (None, Vec::new());
    let run = TestRun { at, evidence, validity, base, overlay, overlay_truncated: false, beside: Vec::new() };
    Ok(Fact::TestRun(Box::new(run)))
}

fn evidence(wire: RunWire) -> TestEvidence {
    let counts = |failing: &[String]| counts(&wire, failing.len());
    let named = wire.failing.as_ref();
    let ids = named.into_iter().flat_map(|list| &list.items);
    let mut failing: Vec<String> = ids.map(|id| bounded(&normalize_id(id, &Root::none()), MAX_ID)).collect();
    failing.sort_unstable();
    failing.dedup();
    let counts = counts(&failing);
    let truncated = named.is_some_and(|list| list.cut);
    let runner = wire.runner.map_or_else(|| "events".to_owned(), |runner| name(&runner));
    let command = bounded(&wire.command.unwrap_or_default(), MAX_SUBJECT);
    let signature = signature(&runner, &command, wire.status, &failing);
    let result = TestEvidence {
        errors: wire.errors.and_then(errors),
        failing,
        truncated,
        runner,
        command,
        // The command that ran is unknown.
        origin: RunOrigin::HandedIn,
        ..TestEvidence::new(CodeId(hash::state(&wire.code)), wire.status, signature)
    };
    result.with_counts(counts)
}

/// Missing counts are taken from the list: the failing tests failed, the others passed.
fn counts(wire: &RunWire, named: usize) -> Counts {
    let named = u64::try_from(named).unwrap_or(u64::MAX);
    let given = |count: Option<Count>| count.map(|count| count.0);
    let (errored, skipped) = (number(wire.errored), number(wire.skipped));
    let failed = given(wire.failed).unwrap_or(named.saturating_sub(errored));
    let bad = failed.saturating_add(errored).saturating_add(skipped);
    let total = given(wire.total);
    let passed = given(wire.passed).unwrap_or_else(|| total.unwrap_or(bad).saturating_sub(bad));
    Counts { total: total.unwrap_or(bad.saturating_add(passed)), passed, failed, errored, skipped }
}

fn errors(named: Errors) -> Option<Signature> {
    match named {
        Errors::State(text) => Some(Signature(hash::state(&text))),
        Errors::Texts(texts) => {
            let normal = |error: &String| normalize_error(&bounded(error, 1 << 16), &Root::none());
            let texts =
                texts.items.iter().map(|error| ErrorText { test: None, text: normal(error), shown: None });
            error_signature(&texts.collect::<Vec<_>>())
        }
    }
}
