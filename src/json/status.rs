//! `andon status`.

use serde::Serialize;

use super::findings::{DiagnosticJson, FindingJson};
use super::record::TestsJson;
use crate::view::status::{LoopEvidence, LostHooks, RefusedCommits, RuleCount};
use andon_core::domain::briefing::HumanDecision;
use andon_core::domain::facts::{Skip, UncreditedFall};
use andon_core::domain::ids::{CodeId, CommitId};
use andon_core::domain::tests::RunValidity;
use andon_engine::asking::WaitingRound;
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
    pub hooks_gone: Option<&'a LostHooks>,
    pub cycles: Vec<CycleJson<'a>>,
    pub node: &'a str,
    pub who: &'a [String],
    pub session: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<&'a str>,
    pub last_halt: Option<LastHaltJson<'a>>,
    pub decided: &'a [HumanDecision],
    pub waiting: &'a [WaitingRound],
    pub refused: Option<&'a RefusedCommits>,
    pub trend: &'a [u64],
    pub trend_in_turn: &'a [u64],
    pub trend_without_credit: &'a [UncreditedFall],
    pub flaky: &'a [String],
    pub skipped: Vec<SkippedJson<'a>>,
    pub test_command: Option<&'a str>,
    pub code: CodesJson,
    pub tests: StatesJson<'a>,
    pub loop_evidence: &'a LoopEvidence,
    pub findings: Vec<FindingJson<'a>>,
    pub warnings: Vec<DiagnosticJson<'a>>,
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

/// What was passed over for a commit.
#[derive(Debug, Serialize)]
pub struct SkippedJson<'a> {
    pub commit: CommitId,
    #[serde(flatten)]
    pub skip: &'a Skip,
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

/// `andon status --rules`: `andon/rules@1`.
#[derive(Debug, Serialize)]
pub struct RuleCountsJson<'a> {
    /// The name of the document.
    pub schema: &'static str,
    /// The rules of this version in their order, then others that the ledger names.
    pub rules: &'a [RuleCount],
}
