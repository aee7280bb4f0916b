//! `entry.json`, schema `andon/ledger@1`: RFC 8785 canonical JSON of
//!
//! ```text
//! {"schema":"andon/ledger@1","type":"loop.halted","writer":"<id>","lamport":1,"at":"<time>",
//!  "cycle_id","halt_reason","rule","message","face","evidence":{"diffs","tests","outputs","calls"?:[{"call","shown"?}],"trend"},
//!  "summary"?,"suggested_actions","action_codes"?,"iteration","head"?,"branch"?,"worktree","base"?,"beside"?,"binds"?}
//! {... "type":"loop.cord", ... "moved":"pulled"|"lifted","message","by","agent"?,"head"?,"worktree"}
//! {... "type":"loop.acknowledged", ... "halt"?,"counter"?,"by","how":"resume"|"file_deleted"|"signed","agent"?,"provider"?,"reason","head"?,"worktree"}
//! ```
//!
//! Numbers are at most 2^53 - 1, as RFC 8785 can hold; lists keep their newest 64 items; texts are cut at 4 KiB, the names of
//! an answer at 1 KiB.

use serde::{Deserialize, Serialize};

use andon_core::domain::{
    Ack, AckHow, AdvisedStep, Attempt, BestCommit, CommitId, Figures, Halt, HaltEvidence, HaltReach,
    HaltReason, HaltSummary, LedgerEvent, MAX_LEDGER_TEXT, MAX_SHOWN, NamedCall, ReportFile, Suggestion,
    SummaryStep, TestCounts, Timestamp,
};
use andon_core::format::fields::{self, or_default};
use andon_core::format::{Count, FormatError, List, members_of, object};

/// The schema this version writes.
pub(super) const SCHEMA: &str = "andon/ledger@1";
const HALTED: &str = "loop.halted";
const ACKNOWLEDGED: &str = "loop.acknowledged";
const STOP_SWITCH: &str = "loop.cord";
/// Largest entry that is read, in bytes: more than one has whose texts are all escaped.
pub const MAX_ENTRY: usize = 2 << 20;
/// Largest whole number of RFC 8785.
pub const MAX_NUMBER: u64 = fields::MAX_WHOLE;
const MAX_ITEMS: usize = 64;
/// Longest type that is kept of an entry of another version, in characters.
pub const MAX_KIND: usize = 128;

/// True if entries of this type are halts, answers or stop switches.
pub fn is_event(kind: &str) -> bool {
    [HALTED, ACKNOWLEDGED, STOP_SWITCH].contains(&kind)
}

#[derive(Serialize, Deserialize)]
struct Envelope {
    schema: Option<String>,
    #[serde(rename = "type")]
    kind: String,
    writer: String,
    lamport: Count,
    at: Option<Timestamp>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct HaltWire {
    cycle_id: String,
    halt_reason: HaltReason,
    rule: String,
    message: Option<String>,
    /// Absent where the rule counts nothing that programs are shown.
    #[serde(default, deserialize_with = "or_default")]
    figures: Figures,
    face: Option<ReportFile>,
    #[serde(default, deserialize_with = "or_default")]
    evidence: HaltEvidence,
    /// Absent in halts of earlier versions.
    summary: Option<HaltSummary>,
    suggested_actions: Option<List<String, MAX_ITEMS>>,
    /// The code of each, empty where it has none.
    action_codes: Option<List<String, MAX_ITEMS>>,
    iteration: Option<Count>,
    head: Option<CommitId>,
    branch: Option<String>,
    worktree: String,
    base: Option<CommitId>,
    /// Absent where they are too many, or not known.
    beside: Option<List<String, { Attempt::MAX_BESIDE }>>,
    binds: Option<HaltReach>,
}

/// The members of an answer that the ledger has and the journal has not.
#[derive(Deserialize)]
struct AckNeeds {
    #[serde(rename = "how")]
    _how: AckHow,
    #[serde(rename = "worktree")]
    _worktree: String,
}

/// The writer of an entry, and its place.
#[derive(Debug, Clone, Copy)]
pub struct PlaceWire<'a> {
    pub writer: &'a str,
    /// Its Lamport number.
    pub lamport: u64,
    /// When.
    pub at: Timestamp,
}

/// The content of an `entry.json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodedEntry {
    pub writer: String,
    /// Its Lamport number.
    pub lamport: u64,
    /// When.
    pub at: Option<Timestamp>,
    /// The event; of one that this version does not know the type, at most 128 characters of it.
    pub event: Result<LedgerEvent, String>,
}

/// The type of an event.
pub fn kind(event: &LedgerEvent) -> &'static str {
    match event {
        LedgerEvent::Halted(_) => HALTED,
        LedgerEvent::Acknowledged(_) => ACKNOWLEDGED,
        LedgerEvent::StopSwitch(_) => STOP_SWITCH,
    }
}

/// The bytes of an entry.
///
/// # Errors
/// The error of the canonicalization; it refuses numbers that RFC 8785 cannot hold, and none gets there.
pub fn encode(event: &LedgerEvent, place: &PlaceWire<'_>) -> Result<Vec<u8>, serde_json::Error> {
    let mut members = match event {
        LedgerEvent::Halted(halt) => members_of(&HaltWire::from(&**halt)),
        LedgerEvent::Acknowledged(ack) => members_of(&answer(ack)),
        LedgerEvent::StopSwitch(switch) => members_of(&**switch),
    };
    members.extend(members_of(&Envelope {
        schema: Some(SCHEMA.to_owned()),
        kind: kind(event).to_owned(),
        writer: place.writer.to_owned(),
        lamport: number(place.lamport),
        at: Some(place.at),
    }));
    serde_json_canonicalizer::to_vec(&members)
}

fn cut(text: &str) -> String {
    fields::cut(text, MAX_LEDGER_TEXT)
}

/// The short form of a call, no longer than one is.
fn short(shown: &str) -> String {
    shown.chars().take(MAX_SHOWN).collect()
}

fn number(number: u64) -> Count {
    Count(number.min(MAX_NUMBER))
}

/// A summary whose numbers RFC 8785 can hold.
fn summary(summary: &HaltSummary) -> HaltSummary {
    let most = |number: u64| number.min(MAX_NUMBER);
    let mut kept = summary.clone().bounded();
    (kept.iterations, kept.commits) = (most(kept.iterations), most(kept.commits));
    (kept.tokens, kept.cost_micros) = (kept.tokens.map(most), kept.cost_micros.map(most));
    kept.tests =
        kept.tests.map(|tests| TestCounts { passed: most(tests.passed), failing: most(tests.failing) });
    kept.best = kept.best.map(|best| BestCommit { failing: most(best.failing), ..best });
    let step = |step: SummaryStep| SummaryStep { failing: step.failing.map(most), ..step };
    kept.steps = kept.steps.into_iter().map(step).collect();
    kept
}

/// Evidence within its bounds, also where another version wrote it.
fn evidence(evidence: &HaltEvidence) -> HaltEvidence {
    fn newest<T: Copy>(items: &[T]) -> Vec<T> {
        items[items.len().saturating_sub(MAX_ITEMS)..].to_vec()
    }
    let call = |call: &NamedCall| NamedCall { exact: call.exact, shown: call.shown.as_deref().map(short) };
    HaltEvidence {
        diffs: newest(&evidence.diffs),
        tests: newest(&evidence.tests),
        outputs: newest(&evidence.outputs),
        calls: evidence.calls.iter().take(MAX_ITEMS).map(call).collect(),
        trend: newest(&evidence.trend).into_iter().map(|count| count.min(MAX_NUMBER)).collect(),
    }
}

impl From<&Halt> for HaltWire {
    fn from(halt: &Halt) -> Self {
        let actions = || halt.suggested_actions.iter().take(MAX_ITEMS);
        let any_code = actions().any(|action| action.step.is_some());
        let codes = actions().map(|action| action.step.map_or("", AdvisedStep::as_str).to_owned());
        let beside: List<String, { Attempt::MAX_BESIDE }> = halt.beside.iter().map(|one| cut(one)).collect();
        let known = !beside.cut && !halt.beside.iter().any(|one| one == Attempt::MANY);
        Self {
            cycle_id: cut(&halt.cycle_id),
            halt_reason: halt.reason,
            rule: cut(&halt.rule),
            message: Some(cut(&halt.message)),
            figures: halt.figures.clone(),
            face: Some(halt.report_file),
            evidence: evidence(&halt.evidence),
            summary: (*halt.summary != HaltSummary::default()).then(|| summary(&halt.summary)),
            suggested_actions: Some(actions().map(|action| cut(&action.text)).collect()),
            action_codes: any_code.then(|| codes.collect()),
            iteration: Some(number(halt.iteration)),
            head: halt.head,
            branch: halt.branch.as_deref().map(cut),
            worktree: cut(&halt.worktree),
            base: halt.base,
            beside: known.then_some(beside),
            binds: halt.binds.key(),
        }
    }
}

/// An answer within the bounds of the ledger, which are narrower for what is said, and apply to the bytes of a text.
fn answer(ack: &Ack) -> Ack {
    let within = |text: &Option<String>| text.as_deref().map(cut);
    Ack { reason: cut(&ack.reason), words: within(&ack.words), ..ack.clone() }
}

/// Reads an `entry.json`.
///
/// # Errors
/// [`FormatError`] when it is longer than [`MAX_ENTRY`], no JSON object, or an event of this version that lacks
/// something or says something wrong.
pub fn decode(bytes: &[u8]) -> Result<DecodedEntry, FormatError> {
    let Envelope { schema, kind, writer, lamport, at } = object(bytes, MAX_ENTRY)?;
    let ours = schema.is_some_and(|schema| schema == SCHEMA || schema.starts_with("andon/ledger@1."));
    let dated = || at.ok_or_else(|| FormatError::Shape("missing field `at`".to_owned()));
    let event = match (ours, kind.as_str()) {
        (true, HALTED) => {
            Ok(LedgerEvent::Halted(Box::new(object::<HaltWire>(bytes, MAX_ENTRY)?.into_halt(dated()?))))
        }
        (true, ACKNOWLEDGED) => {
            let AckNeeds { .. } = object(bytes, MAX_ENTRY)?;
            Ok(LedgerEvent::Acknowledged(object(bytes, MAX_ENTRY)?))
        }
        (true, STOP_SWITCH) => Ok(LedgerEvent::StopSwitch(object(bytes, MAX_ENTRY)?)),
        (true | false, kind) => Err(kind.chars().take(MAX_KIND).collect()),
    };
    Ok(DecodedEntry { writer: cut(&writer), lamport: lamport.0.min(MAX_NUMBER), at, event })
}

impl HaltWire {
    pub(super) fn into_halt(self, at: Timestamp) -> Halt {
        let codes = self.action_codes.unwrap_or_default().items.into_iter();
        let codes = codes.map(|code| AdvisedStep::from_name(&code)).chain(std::iter::repeat(None));
        let actions = self.suggested_actions.unwrap_or_default().items.into_iter().zip(codes);
        Halt {
            cycle_id: self.cycle_id,
            reason: self.halt_reason,
            rule: self.rule,
            message: self.message.unwrap_or_default(),
            figures: self.figures,
            report_file: self.face.unwrap_or(ReportFile::Checkpoint),
            evidence: evidence(&self.evidence),
            summary: Box::new(self.summary.unwrap_or_default().bounded()),
            suggested_actions: actions.map(|(text, step)| Suggestion { step, text }).collect(),
            iteration: self.iteration.unwrap_or_default().0,
            head: self.head,
            branch: self.branch,
            worktree: self.worktree,
            base: self.base,
            beside: match self.beside {
                Some(all) if !all.cut => all.items,
                Some(_) | None => vec![Attempt::MANY.to_owned()],
            },
            binds: self.binds.unwrap_or_default(),
            at,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GOOD: &str = include_str!("../../../../../tests/format/v1/ledger-halted.json");

    proptest! {
        #[test]
        fn no_entry_panics(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = decode(&bytes);
        }

        #[test]
        fn a_damaged_entry_is_an_error_or_an_entry(
            at in any::<prop::sample::Index>(),
            byte in any::<u8>(),
        ) {
            let good = GOOD.trim_end().as_bytes();
            prop_assert!(decode(good).is_ok());
            prop_assert!(decode(&good[..at.index(good.len())]).is_err());
            let mut bad = good.to_vec();
            bad[at.index(good.len())] = byte;
            let _ = decode(&bad);
        }
    }
}
