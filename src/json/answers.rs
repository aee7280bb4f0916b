//! Documents of the smaller commands, and of the files written for programs that are called in.

use std::collections::BTreeMap;

use serde::Serialize;

use super::findings::DiagnosticJson;
use andon_core::domain::briefing::HumanDecision;
use andon_core::domain::findings::Level;
use andon_core::domain::ids::Signature;
use andon_engine::json::halt::HaltJson;
use andon_engine::view::sync::TransferCounts;

/// `andon advise`: `andon/advice@1`.
#[derive(Debug, Serialize)]
pub struct AdviceJson<'a> {
    pub schema: &'static str,
    pub halt: Option<HaltJson<'a>>,
    pub deadlock: Option<&'static str>,
    pub on_stall: &'static str,
    pub conditions: Vec<&'static str>,
    pub current: Option<&'a str>,
    pub next: Option<&'a str>,
    pub why: String,
    pub question: Option<&'a str>,
    pub answer: Option<&'a str>,
}

/// `andon complete`: `andon/complete@1`; `null` is a bit that is not known or does not apply.
#[derive(Debug, Serialize)]
pub struct CompleteJson<'a> {
    pub schema: &'static str,
    pub dirty_bits: BitsJson<Option<bool>>,
    pub reasons: BitsJson<Option<&'a str>>,
    pub can_complete: Option<bool>,
    pub prompt: Option<&'a str>,
    pub problems: Vec<DiagnosticJson<'a>>,
}

/// Something about each dirty bit.
#[derive(Debug, Serialize)]
pub struct BitsJson<T> {
    pub code_modified: T,
    pub tests_run: T,
    pub tests_passing: T,
    pub docs_updated: T,
}

/// `andon context`: `andon/context@1`.
#[derive(Debug, Serialize)]
pub struct ContextWindowJson<'a> {
    pub schema: &'static str,
    pub node: &'a str,
    pub used: Option<u64>,
    pub window: u64,
    pub percent: Option<u64>,
    pub source: Option<&'static str>,
    pub estimate: bool,
    pub threshold: Option<&'static str>,
    pub thresholds: ThresholdsJson,
    pub level: Option<Level>,
    pub message: Option<String>,
    pub help: Option<&'a [String]>,
    pub briefing: Option<String>,
    pub prompt: &'static str,
    pub decided: &'a [HumanDecision],
}

/// Percentages of the window.
#[derive(Debug, Serialize)]
pub struct ThresholdsJson {
    pub warn: u64,
    pub compact: u64,
    pub block: u64,
}

/// A file of `andon explain`, one a line. Of one that cannot be read all but `file` and `error` are `null`.
#[derive(Debug, Serialize, Default)]
pub struct ExplainedJson<'a> {
    pub file: &'a str,
    pub error: Option<ErrorJson<'a>>,
    pub format: Option<&'a str>,
    pub status: Option<&'static str>,
    pub total: Option<u64>,
    pub passed: Option<u64>,
    pub failed: Option<u64>,
    pub errored: Option<u64>,
    pub skipped: Option<u64>,
    pub failing: Option<&'a [String]>,
    pub truncated: Option<bool>,
    /// `signature` and `errors` are what records hold, `coarse` the error fingerprint without digits.
    pub signature: Option<Signature>,
    pub errors: Option<Signature>,
    pub coarse: Option<Signature>,
    pub failures: Option<Vec<ExplainedFailureJson<'a>>>,
    pub warnings: Option<&'a [String]>,
}

/// Why a file cannot be read.
#[derive(Debug, Serialize)]
pub struct ErrorJson<'a> {
    pub name: &'static str,
    pub message: &'a str,
}

/// How a failure became what is compared.
#[derive(Debug, Serialize)]
pub struct ExplainedFailureJson<'a> {
    pub test: Option<&'a str>,
    pub text: Option<&'a str>,
    pub coarse: Option<String>,
    pub id_as_it_came: Option<&'a str>,
    pub error_as_it_came: Option<&'a str>,
    pub id_rules: Vec<&'a str>,
    pub error_rules: Vec<&'a str>,
}

/// `andon pin`: `andon/pin@1`.
#[derive(Debug, Serialize)]
pub struct PinJson<'a> {
    pub schema: &'static str,
    pub state: &'static str,
    pub checksum: String,
    pub files: BTreeMap<String, String>,
    pub globs: &'a [String],
    pub differs: Vec<String>,
}

/// `andon sync`: `andon/sync@1`.
#[derive(Debug, Serialize)]
pub struct SyncJson<'a> {
    pub schema: &'static str,
    pub remote: &'a str,
    pub received: TransferCounts,
    pub sent: TransferCounts,
    pub retries: u32,
    /// Writers that have been silent and whose records are in this clone's ref from now on.
    pub folded: usize,
    pub found: Vec<DiagnosticJson<'a>>,
}

/// `andon resume`: `andon/resume@1`.
#[derive(Debug, Serialize)]
pub struct ResumeJson<'a> {
    /// Who answered.
    pub by: &'a str,
    /// The one counter that is reset; `null` where the whole window is.
    pub counter: Option<&'a str>,
    /// The halt that is answered.
    pub halt: Option<HaltJson<'a>>,
    /// Whether the answer says that the halt was wrong.
    pub mistaken: bool,
}

/// `andon stop`, `andon pause`: `andon/stop@1`, `andon/pause@1`.
#[derive(Debug, Serialize)]
pub struct StopJson<'a> {
    /// The file that refuses commits while it is there.
    pub file: &'a str,
    pub reason: Option<&'a str>,
    /// Why it does not hold the loop, where it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_held: Option<&'a str>,
    /// How it is ended, or what holds the loop.
    pub help: &'a [&'a str],
}
