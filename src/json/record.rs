//! Commits and what was recorded of them: `log`, `show`.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use andon_core::domain::facts::{
    CarriedAttempt, CommitKind, CommitRecord, DiffSummary, Gate, RecordedFinding, Recording, Skip, Usage,
    Weakening,
};
use andon_core::domain::ids::{CodeId, CommitId, Digest, Signature, TreeId};
use andon_core::domain::tests::{Extent, LostTests, RunOrigin, TestEvidence};
use andon_core::domain::time::Timestamp;
use andon_engine::json::halt::{AckJson, HaltJson};

/// An entry of `andon log`, one a line; `type` says which.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum LogJson<'a> {
    Commit(Box<CommitJson<'a>>),
    Halt(Box<HaltJson<'a>>),
    Ack(AckJson<'a>),
}

/// A commit.
#[derive(Debug, Serialize)]
pub struct CommitJson<'a> {
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub commit: CommitId,
    pub subject: &'a str,
    pub state: &'static str,
    pub problem: Option<&'a str>,
    pub record: Option<RecordJson<'a>>,
}

/// `andon/show@1`: a commit, the digest of its record, and what a newer version wrote into that.
#[derive(Debug, Serialize)]
pub struct ShowJson<'a> {
    #[serde(flatten)]
    pub commit: CommitJson<'a>,
    pub schema: &'static str,
    pub digest: Option<Digest>,
    pub extra: &'a BTreeMap<String, Value>,
}

/// A commit record, with the keys of `andon/commit@1`.
#[derive(Debug, Serialize)]
pub struct RecordJson<'a> {
    recorded_at: Timestamp,
    caught_up: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<bool>,
    backfilled: bool,
    tree: TreeId,
    parent: Option<CommitId>,
    prev: Option<Digest>,
    kind: CommitKind,
    gate: Gate,
    node: &'a str,
    session: Option<&'a str>,
    iteration: Option<u64>,
    code: CodeId,
    diff: &'a DiffSummary,
    tests: Option<TestsJson<'a>>,
    weakening: Option<WeakeningJson<'a>>,
    skipped: &'a [Skip],
    outputs: &'a [Digest],
    usage: Option<UsageJson<'a>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    guards: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    worktree: Option<&'a str>,
    findings: &'a [RecordedFinding],
    #[serde(skip_serializing_if = "Option::is_none")]
    carries: Option<CarriedJson<'a>>,
}

/// The attempt that a commit is once more, with the keys of `carries` in `andon/commit@1`.
#[derive(Debug, Serialize)]
struct CarriedJson<'a> {
    commit: CommitId,
    parent: Option<CommitId>,
    kind: CommitKind,
    code: CodeId,
    tests: Option<TestsJson<'a>>,
}

impl<'a> From<&'a CarriedAttempt> for CarriedJson<'a> {
    fn from(carried: &'a CarriedAttempt) -> Self {
        let CarriedAttempt { commit, parent, kind, code, tests } = carried;
        let tests = tests.as_ref().map(TestsJson::from);
        Self { commit: *commit, parent: *parent, kind: *kind, code: *code, tests }
    }
}

impl<'a> From<&'a CommitRecord> for RecordJson<'a> {
    fn from(record: &'a CommitRecord) -> Self {
        Self {
            recorded_at: record.recorded_at,
            caught_up: record.recording.is_later(),
            patch: (record.recording == Recording::Patched).then_some(true),
            backfilled: record.recording == Recording::Backfilled,
            tree: record.tree,
            parent: record.parent,
            prev: record.prev.line(),
            kind: record.kind,
            gate: record.gate,
            node: &record.node,
            session: record.session.as_deref(),
            iteration: record.number(),
            code: record.code,
            diff: &record.diff,
            tests: record.tests.as_ref().map(TestsJson::from),
            weakening: record.weakening.as_ref().map(WeakeningJson::from),
            skipped: &record.skipped,
            outputs: &record.outputs,
            usage: record.usage.as_ref().map(UsageJson::from),
            guards: &record.guards,
            worktree: record.worktree.as_deref(),
            findings: &record.findings,
            carries: record.carries.as_deref().map(CarriedJson::from),
        }
    }
}

/// The result of a test run, with the keys of `tests` in `andon/commit@1`.
#[derive(Debug, Serialize)]
pub struct TestsJson<'a> {
    code: CodeId,
    status: &'static str,
    total: u64,
    passed: u64,
    failed: u64,
    errored: u64,
    skipped: u64,
    signature: Signature,
    errors: Option<Signature>,
    failing: &'a [String],
    truncated: bool,
    runner: &'a str,
    known_by: &'static str,
    command: &'a str,
    handed_in: bool,
    full_run: Option<u64>,
    flaky: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    set: Option<Digest>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lost: Option<LostJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_started: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    untracked: &'a [String],
}

impl<'a> From<&'a TestEvidence> for TestsJson<'a> {
    fn from(evidence: &'a TestEvidence) -> Self {
        let counts = evidence.counts();
        Self {
            code: evidence.code,
            status: evidence.status.as_str(),
            total: counts.total,
            passed: counts.passed,
            failed: counts.failed,
            errored: counts.errored,
            skipped: counts.skipped,
            signature: evidence.signature,
            errors: evidence.errors,
            failing: &evidence.failing,
            truncated: evidence.truncated,
            runner: &evidence.runner,
            known_by: if evidence.is_by_exit_code() { "exit_code" } else { "report" },
            command: &evidence.command,
            handed_in: evidence.origin == RunOrigin::HandedIn,
            full_run: evidence.full_run,
            flaky: &evidence.flaky,
            set: evidence.set,
            lost: (!evidence.lost.is_empty()).then(|| LostJson::from(&evidence.lost)),
            not_started: evidence.not_started.as_deref(),
            untracked: &evidence.untracked,
        }
    }
}

#[derive(Debug, Serialize)]
struct LostJson<'a> {
    gone: &'a [String],
    gone_total: u64,
    skipped: &'a [String],
    skipped_total: u64,
    back: &'a [String],
}

impl<'a> From<&'a LostTests> for LostJson<'a> {
    fn from(lost: &'a LostTests) -> Self {
        let LostTests { gone, gone_total, skipped, skipped_total, back } = lost;
        Self { gone, gone_total: *gone_total, skipped, skipped_total: *skipped_total, back }
    }
}

#[derive(Debug, Serialize)]
struct WeakeningJson<'a> {
    removed: &'a [String],
    skipped: &'a [String],
    loosened: &'a [String],
    total: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    extent: Option<Extent>,
    failing: u64,
    ran: u64,
    waiver: Option<&'a str>,
}

impl<'a> From<&'a Weakening> for WeakeningJson<'a> {
    fn from(weakening: &'a Weakening) -> Self {
        Self {
            removed: &weakening.removed,
            skipped: &weakening.skipped,
            loosened: &weakening.loosened,
            total: weakening.total,
            extent: Some(weakening.extent).filter(|extent| *extent != Extent::Whole),
            failing: weakening.failing,
            ran: weakening.ran,
            waiver: weakening.waiver.as_deref(),
        }
    }
}

#[derive(Debug, Serialize)]
struct UsageJson<'a> {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cost_usd: Option<&'a str>,
    context_tokens: Option<u64>,
}

impl<'a> From<&'a Usage> for UsageJson<'a> {
    fn from(usage: &'a Usage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cost_usd: usage.cost_usd.as_deref(),
            context_tokens: usage.context_tokens,
        }
    }
}
