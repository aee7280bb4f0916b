//! Halts and the answers to them.

use serde::Serialize;

use andon_core::domain::decision::{Halt, HaltEvidence, StandingHalt};
use andon_core::domain::facts::{Ack, AckHow};
use andon_core::domain::findings::HaltReason;
use andon_core::domain::ids::{CommitId, EntryId};
use andon_core::domain::suggestion::Suggestion;
use andon_core::domain::summary::HaltSummary;
use andon_core::domain::time::Timestamp;

/// A halt: the keys of `loop.halted` in docs/formats.md, and where it happened.
#[derive(Debug, Serialize)]
pub struct HaltJson<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    cycle_id: &'a str,
    halt_reason: HaltReason,
    rule: &'a str,
    message: &'a str,
    file: String,
    evidence: &'a HaltEvidence,
    /// What is stuck, since when and at what cost; left out where an earlier version made the halt.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'a HaltSummary>,
    suggested_actions: &'a [Suggestion],
    iteration: u64,
    head: Option<CommitId>,
    branch: Option<&'a str>,
    worktree: &'a str,
    /// A stream may tell no time.
    at: Option<Timestamp>,
    /// Its ledger entry; left out while it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<EntryId>,
}

impl<'a> From<&'a Halt> for HaltJson<'a> {
    fn from(halt: &'a Halt) -> Self {
        Self {
            kind: "loop.halted",
            cycle_id: &halt.cycle_id,
            halt_reason: halt.reason,
            rule: &halt.rule,
            message: &halt.message,
            file: format!(".andon/{}", halt.report_file.file_name()),
            evidence: &halt.evidence,
            summary: Some(&*halt.summary).filter(|summary| **summary != HaltSummary::default()),
            suggested_actions: &halt.suggested_actions,
            iteration: halt.iteration,
            head: halt.head,
            branch: halt.branch.as_deref(),
            worktree: &halt.worktree,
            at: (halt.at.0 != 0).then_some(halt.at),
            id: None,
        }
    }
}

impl<'a> From<&'a StandingHalt> for HaltJson<'a> {
    fn from(standing: &'a StandingHalt) -> Self {
        Self { id: Some(standing.id), ..Self::from(&standing.halt) }
    }
}

/// The newest halt, and the answer to it.
#[derive(Debug, Serialize)]
pub struct LastHaltJson<'a> {
    #[serde(flatten)]
    halt: HaltJson<'a>,
    /// `null` while it is unanswered.
    acknowledged: Option<AckJson<'a>>,
}

impl<'a> LastHaltJson<'a> {
    /// The halt of that ledger entry.
    pub fn new(id: EntryId, halt: &'a Halt, ack: Option<&'a Ack>) -> Self {
        let halt = HaltJson { id: Some(id), ..HaltJson::from(halt) };
        Self { halt, acknowledged: ack.map(AckJson::from) }
    }
}

/// An answer: `loop.acknowledged`.
#[derive(Debug, Serialize)]
pub struct AckJson<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    halt: Option<EntryId>,
    counter: Option<&'a str>,
    by: &'a str,
    how: AckHow,
    #[serde(skip_serializing_if = "Option::is_none")]
    mistaken: Option<bool>,
    agent: Option<&'a str>,
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<&'a str>,
    head: Option<CommitId>,
    worktree: &'a str,
    at: Timestamp,
}

impl<'a> From<&'a Ack> for AckJson<'a> {
    fn from(ack: &'a Ack) -> Self {
        Self {
            kind: "loop.acknowledged",
            halt: ack.halt,
            counter: ack.counter.as_deref(),
            by: &ack.by,
            how: ack.how,
            mistaken: ack.halt_was.key(),
            agent: ack.agent.as_deref(),
            reason: &ack.reason,
            words: ack.words.as_deref(),
            head: ack.head,
            worktree: &ack.worktree,
            at: ack.at,
        }
    }
}
