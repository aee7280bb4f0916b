//! Findings, decisions and messages, and the documents that are made of them: `replay`, `observe`, `tick`, `check`.

use serde::Serialize;

use super::record::TestsJson;
use andon_core::domain::decision::Decision;
use andon_core::domain::findings::{Finding, HaltReason, Level};
use andon_core::domain::ids::CommitId;
use andon_core::domain::tests::{RunValidity, TestRun, TestStatus};
use andon_core::domain::time::Timestamp;
use andon_engine::json::halt::HaltJson;

/// A finding; `replay` shows it in brief, without `reason` and `help`.
#[derive(Debug, Serialize)]
pub struct FindingJson<'a> {
    rule: &'static str,
    level: Level,
    message: String,
    evidence: Vec<String>,
    #[serde(flatten)]
    more: Option<FindingAdvice<'a>>,
}

#[derive(Debug, Serialize)]
struct FindingAdvice<'a> {
    reason: Option<HaltReason>,
    help: &'a [String],
}

impl<'a> FindingJson<'a> {
    /// `rule`, `level`, `message`, `evidence`.
    pub fn brief(finding: &Finding) -> Self {
        Self {
            rule: finding.rule,
            level: finding.level,
            message: finding.message(),
            evidence: finding.evidence.iter().map(ToString::to_string).collect(),
            more: None,
        }
    }

    /// As [`Self::brief`], and `reason`, `help`.
    pub fn full(finding: &'a Finding) -> Self {
        let more = FindingAdvice { reason: finding.reason, help: &finding.help };
        Self { more: Some(more), ..Self::brief(finding) }
    }
}

/// A decision: `andon tick`, and what `observe` says of the facts it took in. Notes are among the findings.
#[derive(Debug, Serialize)]
pub struct DecisionJson<'a> {
    decision: &'static str,
    reason: Option<HaltReason>,
    findings: Vec<FindingJson<'a>>,
    standing: Option<HaltJson<'a>>,
    /// The halt, at the call that makes it.
    halted: Option<HaltJson<'a>>,
}

impl<'a> From<&'a Decision> for DecisionJson<'a> {
    fn from(decision: &'a Decision) -> Self {
        Self {
            decision: decision.verdict.as_str(),
            reason: decision.reason,
            findings: decision.findings.iter().map(FindingJson::full).collect(),
            standing: decision.standing.as_ref().map(HaltJson::from),
            halted: decision.halted.as_deref().map(HaltJson::from),
        }
    }
}

/// A message, as it is on standard error for people. Declared in the order of its keys, for [`CheckJson`].
#[derive(Debug, Serialize)]
pub struct DiagnosticJson<'a> {
    pub code: Option<&'a str>,
    pub help: &'a [String],
    pub location: Option<String>,
    pub message: &'a str,
    pub severity: &'static str,
}

/// `andon config check`: `andon/config-check@1`, with every mistake.
#[derive(Debug, Serialize)]
pub struct ConfigCheckJson<'a> {
    pub mistakes: Vec<DiagnosticJson<'a>>,
}

/// `andon observe KIND`: the decision after the lines of standard input.
#[derive(Debug, Serialize)]
pub struct ObservedJson<'a> {
    #[serde(flatten)]
    pub decision: DecisionJson<'a>,
    /// How many facts were taken in.
    pub kept: u64,
    /// How many lines were none.
    pub refused: u64,
    pub remarks: Vec<DiagnosticJson<'a>>,
}

/// `andon/test_run@1`: a run that was handed in, and what it is worth.
#[derive(Debug, Serialize)]
pub struct TestRunJson<'a> {
    schema: &'static str,
    validity: RunValidity,
    tests: TestsJson<'a>,
}

impl<'a> From<&'a TestRun> for TestRunJson<'a> {
    fn from(run: &'a TestRun) -> Self {
        Self { schema: "andon/test_run@1", validity: run.validity, tests: TestsJson::from(&run.evidence) }
    }
}

/// `andon observe test_run --report`: the run, and the decision after it.
#[derive(Debug, Serialize)]
pub struct HandedInJson<'a> {
    #[serde(flatten)]
    pub decision: DecisionJson<'a>,
    #[serde(flatten)]
    pub run: TestRunJson<'a>,
}

/// `andon test --format json`: the run, the remarks about it, and the decision after it, where the run belongs to
/// an iteration.
#[derive(Debug, Serialize)]
pub struct RanJson<'a> {
    #[serde(flatten)]
    pub run: TestRunJson<'a>,
    /// The exit code of the test command, which is passed on.
    pub exit_code: u8,
    pub warnings: Vec<DiagnosticJson<'a>>,
    /// What became of each scope that was wanted; left out where the code has none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<RanScopeJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<DecisionJson<'a>>,
}

/// One scope of `andon test`: that it ran, or that it was left out, and what is known of it.
#[derive(Debug, Serialize)]
pub struct RanScopeJson<'a> {
    pub name: &'a str,
    /// `ran`, `left_out`, `would_run`, or `known` where nothing was to run.
    pub did: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<TestStatus>,
    /// The commit whose tests passed on this code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<CommitId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs: Option<Vec<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paths: Option<&'a [String]>,
}

/// `andon test --dry-run` and `--scopes` as JSON: `andon/test-plan@1`.
#[derive(Debug, Serialize)]
pub struct TestPlanJson<'a> {
    pub schema: &'static str,
    pub scopes: Vec<RanScopeJson<'a>>,
}

/// A step of `andon replay`, one a line: `commit` or `event`, and `halted` only where the loop halts.
#[derive(Debug, Serialize)]
pub struct ReplayJson<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<u64>,
    pub decision: &'static str,
    pub reason: Option<HaltReason>,
    pub findings: Vec<FindingJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub halted: Option<HaltJson<'a>>,
}

impl<'a> From<&'a Decision> for ReplayJson<'a> {
    fn from(decision: &'a Decision) -> Self {
        Self {
            commit: None,
            event: None,
            decision: decision.verdict.as_str(),
            reason: decision.reason,
            findings: decision.findings.iter().map(FindingJson::brief).collect(),
            halted: decision.halted.as_deref().map(HaltJson::from),
        }
    }
}

/// `andon/trajectory@1`: the first line of `andon replay --session`.
#[derive(Debug, Serialize)]
pub struct TrajectoryJson<'a> {
    pub schema: &'static str,
    pub session_id: &'a str,
    pub model_version: Option<&'a str>,
    pub prompt_hash: Option<&'a str>,
    pub steps: usize,
}

/// A step of a session, one a line.
#[derive(Debug, Serialize)]
pub struct TrajectoryStepJson<'a> {
    pub at: Option<Timestamp>,
    pub node: Option<&'a str>,
    pub state: &'static str,
    pub action: &'a str,
    pub next_state: &'static str,
    pub commit: Option<CommitId>,
    pub decision: &'static str,
    pub reason: Option<HaltReason>,
    pub findings: Vec<FindingJson<'a>>,
    /// The rule of the halt that the ledger has at that commit.
    pub halt: Option<&'a str>,
}

/// `andon/check@1`. There may be a hundred thousand violations, so that this document alone is printed as it is declared:
/// in the order of its keys, and of theirs.
#[derive(Debug, Serialize)]
pub struct CheckJson<'a> {
    pub commits: usize,
    pub configuration: Option<CommitId>,
    /// The halt that is open at the tip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub halt: Option<HaltJson<'a>>,
    pub outcome: &'static str,
    pub range: &'a str,
    pub schema: &'static str,
    /// The tests at the tip, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests: Option<TipTestsJson<'a>>,
    pub undecided: Vec<CheckItemJson<'a>>,
    pub violations: Vec<CheckItemJson<'a>>,
    pub warnings: Vec<DiagnosticJson<'a>>,
}

/// The tests at the tip of a checked range. Declared in the order of its keys.
#[derive(Debug, Serialize)]
pub struct TipTestsJson<'a> {
    pub commit: CommitId,
    pub outcome: &'static str,
    pub runs: Vec<TipRunJson<'a>>,
}

/// One run of them: `by` is `base`, `tip` (whose command ran) or `ci` (handed in).
#[derive(Debug, Serialize)]
pub struct TipRunJson<'a> {
    pub by: &'static str,
    pub command: &'a str,
    pub failing: &'a [String],
    pub outcome: &'static str,
    pub passed: Option<u64>,
    pub status: Option<&'static str>,
    pub total: Option<u64>,
}

/// A violation, or something that could not be decided: that has no `level`.
#[derive(Debug, Serialize)]
pub struct CheckItemJson<'a> {
    pub code: &'a str,
    pub commit: Option<CommitId>,
    pub help: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    pub message: &'a str,
    pub subject: Option<&'a str>,
}
