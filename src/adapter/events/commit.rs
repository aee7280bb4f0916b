//! Commits and test runs of an event stream. They may come from a simulator as well as from git, so that a state is
//! any text; what is a sha256 already is taken as it is.

use super::hash;
use super::{EventError, MAX_NAME, name};
use crate::domain::facts::{
    CommitFact, CommitKind, CommitRecord, DiffSummary, Fact, Gate, Hunk, Prev, Recording,
};
use crate::domain::ids::{CodeId, DiffHash, HunkHash, Oid, Signature, TreeId};
use crate::domain::signatures::{error_signature, signature};
use crate::domain::tests::{Caveats, Counts, RunValidity, TestEvidence, TestRun, TestStatus};
use crate::domain::time::Timestamp;
use crate::record::format::v1::{decode_change, decode_line, decode_weakening};
use crate::record::format::{Cut, FormatError, Json, Members, bounded};
use crate::record::journal::JournalLine;
use testreport::{ErrorText, Root, normalize_error, normalize_id};

/// Longest subject, in bytes.
const MAX_SUBJECT: usize = 1024;
/// Longest id of a test, in bytes.
const MAX_ID: usize = 512;
/// Error texts that are looked at.
const MAX_ERRORS: usize = 512;

/// `{"type":"commit","code":"<state>","diff":"<diff>","subject":"...","kind":"normal"}`; `code` is required. Without
/// `diff` the change is told by the state alone; `"empty":true` says that nothing is left of it. `change` and `weakening`
/// are as in a commit record; by `parent` a commit is known that was taken back and made anew as it was.
pub(super) fn commit(members: &mut Members<'_>, at: Option<Timestamp>) -> Result<Fact, FormatError> {
    let code = members.text("code")?;
    let code = members.required("code", code)?;
    let diff = members.text("diff")?;
    let kind = members.named("kind", "a kind of commit", CommitKind::from_name)?;
    let node = members.text("node")?.map(|node| name(&node));
    let session = members.text("session")?.map(|session| session.chars().take(MAX_NAME).collect());
    let (hunks, _) = members.list("hunks", DiffSummary::MAX_HUNKS, hunk)?;
    let record = CommitRecord {
        // The epoch stands for a time that nobody gave.
        recorded_at: at.unwrap_or(Timestamp(0)),
        uptime: None,
        tree: TreeId(Oid::ZERO),
        parent: members.parsed("parent", "an object id")?,
        prev: Prev::Unsaid,
        kind: kind.unwrap_or(CommitKind::Normal),
        gate: Gate::NotRun,
        recording: Recording::AtCommit,
        node: node.unwrap_or_default(),
        session,
        iteration: 0,
        code: CodeId(hash::state(&code)),
        diff: DiffSummary {
            hash: DiffHash(hash::state(diff.as_deref().unwrap_or(&code))),
            empty: members.flag("empty")?,
            files: members.count("files")?.unwrap_or(0),
            added: members.count("added")?.unwrap_or(0),
            removed: members.count("removed")?.unwrap_or(0),
            hunks,
            truncated: false,
        },
        change: decode_change(members)?,
        tests: None,
        weakening: decode_weakening(members)?,
        skipped: Vec::new(),
        outputs: Vec::new(),
        usage: None,
        ledger: std::collections::BTreeMap::new(),
        findings: Vec::new(),
    };
    let subject = bounded(&members.text("subject")?.unwrap_or_default(), MAX_SUBJECT);
    Ok(Fact::Commit(Box::new(CommitFact { id: None, subject, record })))
}

fn hunk(item: &Json<'_>) -> Option<Hunk> {
    let side = |at: usize| {
        let text = item.as_array()?.get(at)?.as_str()?;
        Some(text.parse().unwrap_or_else(|_| HunkHash(hash::short(&[text.as_bytes()]).0)))
    };
    Some(Hunk { removed: side(0)?, added: side(1)? })
}

/// `{"type":"test_run","code":"<fingerprint>","status":"failed","total":10,"failing":["a::b"],"errors":["..."]}`, or a
/// line of the journal.
pub(super) fn test_run(
    line: &[u8],
    members: &mut Members<'_>,
    at: Option<Timestamp>,
) -> Result<Fact, EventError> {
    let code = members.text("code")?;
    let code = CodeId(hash::state(&members.required("code", code)?));
    let status = members.named("status", "a test status", TestStatus::from_name)?;
    let status = members.required("status", status)?;
    let validity = members.named("validity", "a validity", RunValidity::from_name)?;
    let evidence = evidence(members, code, status)?;
    if status == TestStatus::Passed && !evidence.failing.is_empty() {
        return Err(EventError::FailingAndPassed);
    }
    // What the journal holds is taken as it is; what is wrong with a line has been named by now.
    if let Ok(JournalLine::TestRun(run)) = decode_line(line) {
        return Ok(Fact::TestRun(run));
    }
    Ok(Fact::TestRun(Box::new(TestRun {
        at,
        evidence,
        validity: validity.unwrap_or(RunValidity::Valid),
        base: None,
        overlay: Vec::new(),
        overlay_truncated: false,
    })))
}

fn evidence(
    members: &mut Members<'_>,
    code: CodeId,
    status: TestStatus,
) -> Result<TestEvidence, FormatError> {
    let (mut failing, cut) = members.list("failing", TestEvidence::MAX_FAILING, |item| {
        Some(bounded(&normalize_id(item.as_str()?, &Root::none()), MAX_ID))
    })?;
    failing.sort_unstable();
    failing.dedup();
    let runner = members.text("runner")?.map_or_else(|| "events".to_owned(), |runner| name(&runner));
    let command = bounded(&members.text("command")?.unwrap_or_default(), MAX_SUBJECT);
    Ok(TestEvidence {
        code,
        status,
        counts: counts(members, failing.len())?,
        signature: signature(&runner, &command, status, &failing),
        errors: errors(members)?,
        failing,
        truncated: cut == Cut::Truncated,
        runner,
        command,
        caveats: Caveats::default(),
    })
}

/// What is not said is taken from the list: the failing ones failed, the others passed.
fn counts(members: &mut Members<'_>, named: usize) -> Result<Counts, FormatError> {
    let named = u64::try_from(named).unwrap_or(u64::MAX);
    let errored = members.count("errored")?.unwrap_or(0);
    let skipped = members.count("skipped")?.unwrap_or(0);
    let failed = members.count("failed")?.unwrap_or(named.saturating_sub(errored));
    let bad = failed.saturating_add(errored).saturating_add(skipped);
    let total = members.count("total")?;
    let passed = members.count("passed")?;
    let passed = passed.unwrap_or_else(|| total.unwrap_or(bad).saturating_sub(bad));
    Ok(Counts { total: total.unwrap_or(bad.saturating_add(passed)), passed, failed, errored, skipped })
}

/// A list of texts, or the fingerprint itself.
fn errors(members: &mut Members<'_>) -> Result<Option<Signature>, FormatError> {
    members
        .read("errors", "a list of texts or a sha256", |value| {
            if let Some(text) = value.as_str() {
                return Some(Some(Signature(hash::state(text))));
            }
            let texts = value.as_array()?.iter().take(MAX_ERRORS).map(|error| {
                let text = normalize_error(&bounded(error.as_str()?, 1 << 16), &Root::none());
                Some(ErrorText { test: None, text })
            });
            Some(error_signature(&texts.collect::<Option<Vec<_>>>()?))
        })
        .map(Option::flatten)
}
