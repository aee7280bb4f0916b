//! Documents of the smaller commands, and of the files written for programs that are called in.

use serde::Serialize;

use super::findings::DiagnosticJson;
use andon_core::domain::briefing::HumanDecision;
use andon_core::domain::decision::StandingHalt;
use andon_core::domain::findings::Level;
use andon_engine::view::sync::TransferCounts;

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
    pub halt: Option<&'a StandingHalt>,
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
