//! `andon status`.

use serde::Serialize;

use super::judged::{DiagnosticJson, FindingJson};
use super::record::{SkipJson, TestsJson};
use andon_core::domain::ids::{CodeId, CommitId, DiffHash, Digest, Signature};
use andon_core::domain::tests::RunValidity;
use andon_core::domain::time::Timestamp;
use andon_engine::json::halt::LastHaltJson;

/// `andon/status@1`.
#[derive(Debug, Serialize)]
pub struct StatusJson<'a> {
    pub schema: &'static str,
    pub badge: String,
    pub state: &'static str,
    pub iteration: u64,
    pub unrecorded: usize,
    pub cap: Option<u64>,
    pub head: Option<CommitId>,
    pub branch: Option<&'a str>,
    pub worktree: &'a str,
    pub hooks_gone: Option<LostHooksJson<'a>>,
    pub cycles: Vec<CycleJson<'a>>,
    pub node: &'a str,
    pub session: Option<&'a str>,
    pub last_halt: Option<LastHaltJson<'a>>,
    pub refused: Option<RefusedJson<'a>>,
    pub trend: &'a [u64],
    pub trend_without_credit: Vec<UncreditedJson>,
    pub flaky: &'a [String],
    pub skipped: Vec<SkippedJson<'a>>,
    pub test_command: Option<&'a str>,
    pub code: CodesJson,
    pub tests: StatesJson<'a>,
    pub loop_evidence: EvidenceJson<'a>,
    pub findings: Vec<FindingJson<'a>>,
    pub warnings: Vec<DiagnosticJson<'a>>,
}

/// Hooks that were installed and that git does not start any more.
#[derive(Debug, Serialize)]
pub struct LostHooksJson<'a> {
    pub message: &'a str,
    pub help: &'a str,
}

/// Commits that were refused one after another.
#[derive(Debug, Serialize)]
pub struct RefusedJson<'a> {
    pub count: u64,
    pub code: CodeId,
    pub rule: &'a str,
    pub at: Option<Timestamp>,
}

/// A cycle of the declared workflow.
#[derive(Debug, Serialize)]
pub struct CycleJson<'a> {
    pub cycle_id: &'a str,
    pub badge: String,
    pub nodes: &'a [String],
    pub iterations: u64,
    pub max: Option<u64>,
}

/// A fall of the trend that earns no credit.
#[derive(Debug, Serialize)]
pub struct UncreditedJson {
    pub from: u64,
    pub to: u64,
    pub gone: u64,
}

/// What was passed over for a commit.
#[derive(Debug, Serialize)]
pub struct SkippedJson<'a> {
    pub commit: CommitId,
    #[serde(flatten)]
    pub skip: SkipJson<'a>,
}

/// The fingerprints of the code.
#[derive(Debug, Serialize)]
pub struct CodesJson {
    pub head: Option<CodeId>,
    pub work_tree: Option<CodeId>,
}

/// The tests of either state of the code.
#[derive(Debug, Serialize)]
pub struct StatesJson<'a> {
    pub head: TestStateJson<'a>,
    pub work_tree: TestStateJson<'a>,
}

/// How the evidence relates to the code (`state`), and the evidence (`run`).
#[derive(Debug, Serialize)]
pub struct TestStateJson<'a> {
    pub state: &'static str,
    pub validity: Option<RunValidity>,
    pub run: Option<TestsJson<'a>>,
}

/// The hashes of the window, oldest first.
#[derive(Debug, Serialize)]
pub struct EvidenceJson<'a> {
    pub diffs: &'a [DiffHash],
    pub codes: &'a [CodeId],
    pub tests: &'a [Signature],
    pub outputs: &'a [Digest],
    pub failures: Vec<FailureJson<'a>>,
}

/// Test results with one failure signature.
#[derive(Debug, Serialize)]
pub struct FailureJson<'a> {
    pub signature: Signature,
    pub iterations: u64,
    pub status: &'static str,
    pub failing: &'a [String],
}

/// `andon status --rules`: `andon/rules@1`.
#[derive(Debug, Serialize)]
pub struct RuleCountsJson<'a> {
    /// The name of the document.
    pub schema: &'static str,
    /// The rules of this version in their order, then others that the ledger names.
    pub rules: Vec<RuleCountJson<'a>>,
}

/// One of them.
#[derive(Debug, Serialize)]
pub struct RuleCountJson<'a> {
    /// Its id.
    pub rule: &'a str,
    /// Its level here; `null` for one that this version does not know.
    pub level: Option<&'static str>,
    /// Its halts.
    pub halts: u64,
    /// Those that people called mistaken.
    pub mistaken: u64,
}
