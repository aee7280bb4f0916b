//! Findings, decisions and messages, and the documents that are made of them: `replay`, `observe`, `tick`, `check`.

use serde::Serialize;
use serde_json::{Map, Value};

use andon_core::domain::decision::Decision;
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::tests::{RunValidity, TestRun};
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
