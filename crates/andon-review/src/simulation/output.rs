//! The one object that a simulation prints.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::answers::{AgreementJson, ProbeAnswer};
use crate::law::Adjustment;
use crate::payload::questions::Trigger;

/// The format of the output, in its `schema` member.
pub const SCHEMA: &str = "andon/simulation@1";

/// The same of a real ledger.
pub const LEDGER_SCHEMA: &str = "andon/review-ledger@1";

/// What a simulation prints.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SimulationJson {
    pub schema: &'static str,
    pub now: i64,
    pub order: Vec<String>,
    pub entries: BTreeMap<String, EntryJson>,
    pub invalid: Vec<InvalidJson>,
    pub policy: Option<PolicyJson>,
    pub witnesses: BTreeMap<String, WitnessJson>,
    pub rounds: BTreeMap<String, RoundJson>,
    pub settlements: Vec<SettlementJson>,
    pub accounts: AccountsJson,
    pub detectors: DetectorsJson,
    pub probes: Vec<ProbeAnswer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub private: Option<PrivateJson>,
}

/// The place of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EntryJson {
    pub lamport: u64,
    pub eff: i64,
}

/// An entry that does not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InvalidJson {
    pub id: String,
    pub code: &'static str,
}

/// The policy in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PolicyJson {
    pub id: String,
    pub version: i64,
}

/// A witness as of now.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WitnessJson {
    pub n: u64,
    pub o: u64,
    pub reputation: String,
    pub reputation_f: f64,
    pub tier: &'static str,
    pub conv: f64,
    pub freq: f64,
    pub align: f64,
    pub total: f64,
    pub multiplier: f64,
    pub mean: Adjustment,
    pub prior: u64,
    pub cap_left: usize,
    pub self_reviewed: usize,
    pub blocked_until: Option<i64>,
}

/// A round as of now.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RoundJson {
    pub status: &'static str,
    pub triggers: BTreeSet<Trigger>,
    pub decision: Option<String>,
    pub decided_by: Option<&'static str>,
    pub decided_at: Option<i64>,
    pub depth: Option<u8>,
    pub by: BTreeSet<String>,
    pub dissent: BTreeSet<String>,
    pub self_reviewed: bool,
    pub accepted_by: Vec<String>,
    pub panel: Option<PanelJson>,
    pub flags: Vec<FlagJson>,
    pub agreement: Option<AgreementJson>,
}

/// The newest panel of a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PanelJson {
    pub size: usize,
    pub members: Vec<String>,
    pub opened_by: &'static str,
}

/// A flag and what it led to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FlagJson {
    pub id: String,
    pub route: &'static str,
}

/// What an entry did to a witness's weights.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SettlementJson {
    pub id: String,
    pub witness: String,
    pub gain: Option<f64>,
    pub bias_score: Option<f64>,
    pub penalty: Option<f64>,
    pub adjustment: Option<Adjustment>,
    pub h0: Option<f64>,
    pub h1: Option<f64>,
    pub converged: Option<bool>,
}

/// The accounts of all parties, as they are printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AccountsJson {
    pub cc: BTreeMap<String, i64>,
    pub cc_total: i64,
    pub ops: Vec<TransferJson>,
    pub au: Vec<EarnedJson>,
    pub au_milli: BTreeMap<String, i64>,
}

/// Credits moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TransferJson {
    pub id: String,
    pub from: String,
    pub to: String,
    pub amount: i64,
    pub why: &'static str,
}

/// Attention earned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EarnedJson {
    pub id: String,
    pub witness: String,
    pub milli: i64,
}

/// What the detectors of H.7 say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DetectorsJson {
    pub fatigue: Vec<String>,
    pub capture: BTreeMap<String, CaptureJson>,
    pub gaming: BTreeMap<String, GamingJson>,
    pub concerns: BTreeMap<String, ConcernsJson>,
    pub cascade: BTreeMap<String, u8>,
    pub collusion: Vec<CollusionJson>,
}

/// Who held a tag, and who holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CaptureJson {
    pub changes: Vec<CaptureChangeJson>,
    pub on: BTreeSet<String>,
}

/// A tag changed hands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CaptureChangeJson {
    pub id: String,
    pub witness: String,
    pub on: bool,
}

/// How often an agent's rounds need a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GamingJson {
    pub rate: String,
    pub flagged: bool,
}

/// What became of a witness's concerns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConcernsJson {
    pub answered: usize,
    pub declined: usize,
}

/// Two members of a panel who wrote the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct CollusionJson {
    pub round: String,
    pub witnesses: [String; 2],
}

/// What is shown only to the witness.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PrivateJson {
    pub witness: String,
    pub n: usize,
    pub variance: Option<f64>,
    pub low: bool,
}
