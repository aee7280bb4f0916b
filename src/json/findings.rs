//! Findings, decisions and messages, and the documents that are made of them: `replay`, `observe`, `tick`, `check`.

use serde::Serialize;
use serde_json::{Map, Value};

use andon_core::domain::decision::Decision;
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::ids::CommitId;
use andon_core::domain::tests::{RunValidity, TestRun, TestStatus};
use andon_engine::json::record::tests;

/// A decision, which is its own JSON.
pub type DecisionJson<'a> = &'a Decision;

/// A message, which is its own JSON.
pub type DiagnosticJson<'a> = &'a Diagnostic;

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
pub struct TestRunJson {
    schema: &'static str,
    validity: RunValidity,
    tests: Map<String, Value>,
}

impl From<&TestRun> for TestRunJson {
    fn from(run: &TestRun) -> Self {
        Self { schema: "andon/test_run@1", validity: run.validity, tests: tests(&run.evidence) }
    }
}

/// `andon observe test_run --report`: the run, and the decision after it.
#[derive(Debug, Serialize)]
pub struct HandedInJson<'a> {
    #[serde(flatten)]
    pub decision: DecisionJson<'a>,
    #[serde(flatten)]
    pub run: TestRunJson,
}

/// `andon test --format json`: the run, the remarks about it, and the decision after it, where the run belongs to
/// an iteration.
#[derive(Debug, Serialize)]
pub struct RanJson<'a> {
    #[serde(flatten)]
    pub run: TestRunJson,
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
