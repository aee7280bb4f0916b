//! Rounds, precedents, concerns and witnesses, for programs.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use andon_core::domain::time::Timestamp;

use andon_engine::json::RoundPrecedentJson;
use andon_review::payload::questions::Trigger;

/// `andon review show --format json`
#[derive(Debug, Serialize)]
pub struct RoundShownJson {
    /// The round's entry.
    pub id: String,
    /// Its status.
    pub status: &'static str,
    /// Why a person is needed.
    pub triggers: BTreeSet<Trigger>,
    /// What was decided, by name.
    pub decision: Option<String>,
    /// What is to be done, word for word.
    pub words: Option<String>,
    /// The votes, oldest first.
    pub votes: Vec<VoteShownJson>,
    /// What was flagged, oldest first.
    pub flags: Vec<FlagShownJson>,
    /// The texts that are kept with it, by name; `null` for one that is too large.
    pub evidence: BTreeMap<String, Option<String>>,
    /// Who may take it now.
    pub may_answer: Vec<String>,
    /// What its entry says.
    pub said: serde_json::Value,
}

/// A vote as it was signed.
#[derive(Debug, Serialize)]
pub struct VoteShownJson {
    /// Its entry.
    pub entry: String,
    /// Whose.
    pub witness: String,
    /// When.
    pub at: Timestamp,
    /// `current`, `upheld`, `overturned` or `dissent`.
    pub standing: &'static str,
    /// What is to be done by it, word for word.
    pub words: Option<String>,
    /// How it was given, where that leaves open who gave it.
    #[serde(skip)]
    pub given: Option<String>,
    /// All that was signed.
    pub said: serde_json::Map<String, serde_json::Value>,
}

/// A flag.
#[derive(Debug, Serialize)]
pub struct FlagShownJson {
    /// Its entry.
    pub entry: String,
    /// By whom.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// Why.
    pub reason: String,
    /// What it leads to.
    pub route: &'static str,
}

/// What `andon review accept`, `resolve` and their like appended.
#[derive(Debug, Serialize)]
pub struct ActedJson {
    /// The new entry.
    pub entry: String,
    /// The round.
    pub round: String,
    /// Its present status.
    pub status: &'static str,
    /// What is decided, by name.
    pub decision: Option<String>,
    /// What is to be done, word for word.
    pub words: Option<String>,
    /// Whether it answered the unanswered halt here.
    pub resumed: bool,
}

/// A flag that the rules themselves are wrong.
#[derive(Debug, Serialize)]
pub struct ConcernJson {
    /// The entry that raised it.
    pub id: String,
    /// By whom.
    pub by: String,
    /// The rule or key.
    pub subject: String,
    /// `increase`, `decrease` or `tension`.
    pub direction: String,
    /// Why.
    pub rationale: String,
    /// `open`, `accepted` or `declined`.
    pub standing: &'static str,
}

/// The status of a witness.
#[derive(Debug, Serialize)]
pub struct StandingJson {
    /// Who.
    pub witness: String,
    /// What they may do.
    pub tier: &'static str,
    /// The share of votes that no panel overturned, in lowest terms.
    pub reputation: String,
    /// Votes that count.
    pub votes: u64,
    /// Those that were overturned.
    pub overturned: u64,
    /// Votes on rounds of their own, which count for nothing.
    pub self_reviewed: usize,
    /// What the loops that went on after their answers earned them, from 0 to 1.
    pub conv: f64,
    /// What decisions that are all alike cost them, from -1 to 0.
    pub align: f64,
    /// Both together, with the multiplier, from 0 to 1.
    pub total: f64,
    /// The multiplier of those who founded the ledger.
    pub multiplier: f64,
    /// Answers left today.
    pub cap_left: usize,
    /// When one becomes free, where none is left.
    pub free_at: Option<Timestamp>,
    /// Until when they may raise no concern.
    pub blocked_until: Option<Timestamp>,
    /// Attention earned, in thousandths.
    pub milli_au: i64,
    /// Credits.
    pub cc: i64,
    /// Answers that took suspiciously little time.
    pub hasty: usize,
    /// Topics that they decide most of.
    pub captures: Vec<String>,
    /// That the newest decision was much like those before it: only to themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bias_warning: Option<String>,
    /// How much their newest decisions differ: only to themselves, who may pass it on to people they trust.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub care: Option<CareJson>,
}

/// What a witness sees about themselves, and may pass on.
#[derive(Debug, Serialize)]
pub struct CareJson {
    /// Their decisions so far.
    pub decisions: usize,
    /// The variance of the newest eight; none under eight.
    pub variance: Option<f64>,
    /// A question, where they are very alike.
    pub notice: Option<&'static str>,
}

/// What `andon round` answers.
#[derive(Debug, Default, Serialize)]
pub struct RoundAnswerJson {
    /// The round: a name while it is open, then its entry id.
    pub round: String,
    /// When it ends by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// What people decided before on these topics, for the judge's prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precedents: Option<Vec<RoundPrecedentJson>>,
    /// Whether the judge is to be asked again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Why a person is needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub triggers: Option<BTreeSet<Trigger>>,
    /// Its status after its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<&'static str>,
    /// Whether it waits for a person.
    #[serde(skip)]
    pub needs_person: bool,
}
