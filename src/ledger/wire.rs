//! `entry.json`, schema `andon/ledger@1`: RFC 8785 canonical JSON of
//!
//! ```text
//! {"schema":"andon/ledger@1","type":"loop.halted","writer":"<id>","lamport":1,"at":"<time>",
//!  "cycle_id","halt_reason","rule","message","face","evidence":{"diffs","tests","outputs","trend"},
//!  "suggested_actions","action_codes"?,"iteration","head"?,"branch"?,"worktree","base"?,"beside"?}
//! {... "type":"loop.cord", ... "moved":"pulled"|"lifted","message","by","agent"?,"head"?,"worktree"}
//! {... "type":"loop.acknowledged", ... "halt"?,"counter"?,"by","how":"resume"|"file_deleted","agent"?,"reason","head"?,"worktree"}
//! ```
//!
//! Numbers are at most 2^53 - 1, as RFC 8785 can hold; lists keep their newest 64 items; texts are cut at 4 KiB.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::EntryEvent;
use super::figures::FiguresWire;
use crate::domain::attempt::Attempt;
use crate::domain::decision::{Cord, CordMove, Halt, HaltEvidence, LedgerEvent};
use crate::domain::detail::Figures;
use crate::domain::facts::{Ack, AckHow};
use crate::domain::findings::{Face, HaltReason};
use crate::domain::suggestion::{Step, Suggestion};
use crate::domain::time::Timestamp;

/// The schema this version writes.
const SCHEMA: &str = "andon/ledger@1";
const HALTED: &str = "loop.halted";
const ACKNOWLEDGED: &str = "loop.acknowledged";
const CORD: &str = "loop.cord";
/// Largest whole number of RFC 8785.
pub(super) const MAX_NUMBER: u64 = (1 << 53) - 1;
const MAX_ITEMS: usize = 64;
const MAX_TEXT: usize = 4096;
const MAX_KIND: usize = 128;

#[derive(Serialize, Deserialize)]
struct Envelope {
    #[serde(default)]
    schema: String,
    #[serde(rename = "type")]
    kind: String,
    writer: String,
    lamport: u64,
    #[serde(default)]
    at: Option<String>,
}

#[derive(Serialize)]
struct Written<T> {
    #[serde(flatten)]
    envelope: Envelope,
    #[serde(flatten)]
    payload: T,
}

#[derive(Serialize, Deserialize)]
struct HaltWire {
    cycle_id: String,
    halt_reason: String,
    rule: String,
    #[serde(default)]
    message: String,
    /// Absent where the rule counts nothing that programs are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    figures: Option<FiguresWire>,
    #[serde(default)]
    face: Option<String>,
    #[serde(default)]
    evidence: EvidenceWire,
    #[serde(default)]
    suggested_actions: Vec<String>,
    /// Of each its code, empty where it has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    action_codes: Vec<String>,
    #[serde(default)]
    iteration: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    head: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    worktree: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base: Option<String>,
    /// Absent where they are too many, or not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    beside: Option<Vec<String>>,
}

#[derive(Serialize, Deserialize, Default)]
struct EvidenceWire {
    #[serde(default)]
    diffs: Vec<String>,
    #[serde(default)]
    tests: Vec<String>,
    #[serde(default)]
    outputs: Vec<String>,
    #[serde(default)]
    trend: Vec<u64>,
}

#[derive(Serialize, Deserialize)]
struct AckWire {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    halt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    counter: Option<String>,
    by: String,
    how: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    #[serde(default)]
    reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    head: Option<String>,
    worktree: String,
}

#[derive(Serialize, Deserialize)]
struct CordWire {
    moved: String,
    #[serde(default)]
    message: String,
    by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    head: Option<String>,
    worktree: String,
}

/// Who writes an entry, and where it stands.
pub(super) struct Place<'a> {
    pub(super) writer: &'a str,
    pub(super) lamport: u64,
    pub(super) at: Timestamp,
}

/// What an `entry.json` says.
pub(super) struct Decoded {
    pub(super) writer: String,
    pub(super) lamport: u64,
    pub(super) at: Option<Timestamp>,
    pub(super) event: EntryEvent,
}

/// The type of an event.
pub(super) fn kind(event: &LedgerEvent) -> &'static str {
    match event {
        LedgerEvent::Halted(_) => HALTED,
        LedgerEvent::Acknowledged(_) => ACKNOWLEDGED,
        LedgerEvent::Cord(_) => CORD,
    }
}

pub(super) fn encode(event: &LedgerEvent, place: &Place<'_>) -> Result<Vec<u8>, serde_json::Error> {
    let envelope = Envelope {
        schema: SCHEMA.to_owned(),
        kind: kind(event).to_owned(),
        writer: place.writer.to_owned(),
        lamport: place.lamport.min(MAX_NUMBER),
        at: Some(place.at.to_string()),
    };
    match event {
        LedgerEvent::Halted(halt) => {
            serde_json_canonicalizer::to_vec(&Written { envelope, payload: halt_wire(halt) })
        }
        LedgerEvent::Acknowledged(ack) => {
            serde_json_canonicalizer::to_vec(&Written { envelope, payload: ack_wire(ack) })
        }
        LedgerEvent::Cord(cord) => {
            let payload = CordWire {
                moved: cord.moved.as_str().to_owned(),
                message: cut(&cord.message),
                by: cut(&cord.by),
                agent: cord.agent.as_deref().map(cut),
                head: cord.head.map(|id| id.to_string()),
                worktree: cut(&cord.worktree),
            };
            serde_json_canonicalizer::to_vec(&Written { envelope, payload })
        }
    }
}

fn cut(text: &str) -> String {
    let end = (0..=MAX_TEXT.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text[..end.unwrap_or(0)].to_owned()
}

/// The newest items as texts.
fn newest<T: ToString>(items: &[T]) -> Vec<String> {
    items[items.len().saturating_sub(MAX_ITEMS)..].iter().map(ToString::to_string).collect()
}

fn halt_wire(halt: &Halt) -> HaltWire {
    let trend = &halt.evidence.trend;
    let actions = || halt.suggested_actions.iter().take(MAX_ITEMS);
    let any_code = actions().any(|action| action.step.is_some());
    let codes = actions().map(|action| action.step.map_or("", Step::as_str).to_owned());
    HaltWire {
        cycle_id: cut(&halt.cycle_id),
        halt_reason: halt.reason.as_str().to_owned(),
        rule: cut(&halt.rule),
        message: cut(&halt.message),
        figures: FiguresWire::of(&halt.figures, MAX_NUMBER),
        face: Some(halt.face.file_name().to_owned()),
        evidence: EvidenceWire {
            diffs: newest(&halt.evidence.diffs),
            tests: newest(&halt.evidence.tests),
            outputs: newest(&halt.evidence.outputs),
            trend: trend[trend.len().saturating_sub(MAX_ITEMS)..]
                .iter()
                .map(|n| (*n).min(MAX_NUMBER))
                .collect(),
        },
        suggested_actions: actions().map(|action| cut(&action.text)).collect(),
        action_codes: if any_code { codes.collect() } else { Vec::new() },
        iteration: halt.iteration.min(MAX_NUMBER),
        head: halt.head.map(|id| id.to_string()),
        branch: halt.branch.as_deref().map(cut),
        worktree: cut(&halt.worktree),
        base: halt.base.map(|id| id.to_string()),
        beside: Some(&halt.beside)
            .filter(|all| all.len() <= Attempt::MAX_BESIDE && !all.iter().any(|one| one == Attempt::MANY))
            .map(|all| all.iter().map(|one| cut(one)).collect()),
    }
}

fn ack_wire(ack: &Ack) -> AckWire {
    AckWire {
        halt: ack.halt.map(|id| id.to_string()),
        counter: ack.counter.as_deref().map(cut),
        by: cut(&ack.by),
        how: how_name(ack.how).to_owned(),
        agent: ack.agent.as_deref().map(cut),
        reason: cut(&ack.reason),
        head: ack.head.map(|id| id.to_string()),
        worktree: cut(&ack.worktree),
    }
}

fn how_name(how: AckHow) -> &'static str {
    match how {
        AckHow::Resume => "resume",
        AckHow::FileDeleted => "file_deleted",
    }
}

/// Reads an `entry.json`; the error says what is wrong with it, in words.
pub(super) fn decode(bytes: &[u8]) -> Result<Decoded, String> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let envelope = Envelope::deserialize(&value).map_err(|error| error.to_string())?;
    let at = envelope.at.as_deref().map(str::parse).transpose().map_err(|error| format!("at: {error}"))?;
    let ours = envelope.schema == SCHEMA || envelope.schema.starts_with("andon/ledger@1.");
    let event = match (ours, envelope.kind.as_str()) {
        (true, HALTED) => EntryEvent::Known(LedgerEvent::Halted(Box::new(decode_halt(&value, at)?))),
        (true, ACKNOWLEDGED) => {
            EntryEvent::Known(LedgerEvent::Acknowledged(Box::new(decode_ack(&value, at)?)))
        }
        (true, CORD) => EntryEvent::Known(LedgerEvent::Cord(Box::new(decode_cord(&value, at)?))),
        (true | false, kind) => EntryEvent::Unknown { kind: kind.chars().take(MAX_KIND).collect() },
    };
    Ok(Decoded { writer: cut(&envelope.writer), lamport: envelope.lamport.min(MAX_NUMBER), at, event })
}

fn parse<T: std::str::FromStr<Err: ToString>>(
    text: Option<&String>,
    member: &str,
) -> Result<Option<T>, String> {
    text.map(|text| text.parse().map_err(|error: T::Err| format!("{member}: {}", error.to_string())))
        .transpose()
}

fn parse_all<T: std::str::FromStr<Err: ToString>>(texts: &[String], member: &str) -> Result<Vec<T>, String> {
    texts.iter().take(MAX_ITEMS).filter_map(|text| parse(Some(text), member).transpose()).collect()
}

fn decode_halt(value: &Value, at: Option<Timestamp>) -> Result<Halt, String> {
    let wire = HaltWire::deserialize(value).map_err(|error| error.to_string())?;
    let unknown = |member: &str, text: &str| format!("{member} {:?} is not known", cut(text));
    let reason =
        HaltReason::from_name(&wire.halt_reason).ok_or_else(|| unknown("halt_reason", &wire.halt_reason))?;
    let face = match wire.face.as_deref() {
        None => Face::Checkpoint,
        Some(name) => Face::from_name(name).ok_or_else(|| unknown("face", name))?,
    };
    let codes = wire.action_codes.iter().map(|code| Step::from_code(code));
    let codes = codes.chain(std::iter::repeat(None));
    let actions = wire.suggested_actions.into_iter().zip(codes).take(MAX_ITEMS);
    Ok(Halt {
        cycle_id: wire.cycle_id,
        reason,
        rule: wire.rule,
        message: wire.message,
        figures: wire.figures.map_or(Figures::Untold, FiguresWire::read),
        face,
        evidence: HaltEvidence {
            diffs: parse_all(&wire.evidence.diffs, "evidence.diffs")?,
            tests: parse_all(&wire.evidence.tests, "evidence.tests")?,
            outputs: parse_all(&wire.evidence.outputs, "evidence.outputs")?,
            trend: wire.evidence.trend.into_iter().take(MAX_ITEMS).collect(),
        },
        suggested_actions: actions.map(|(text, step)| Suggestion { step, text }).collect(),
        iteration: wire.iteration,
        head: parse(wire.head.as_ref(), "head")?,
        branch: wire.branch,
        worktree: wire.worktree,
        base: parse(wire.base.as_ref(), "base")?,
        beside: match wire.beside {
            Some(all) if all.len() <= Attempt::MAX_BESIDE => all,
            Some(_) | None => vec![Attempt::MANY.to_owned()],
        },
        at: at.ok_or("at is missing")?,
    })
}

fn decode_ack(value: &Value, at: Option<Timestamp>) -> Result<Ack, String> {
    let wire = AckWire::deserialize(value).map_err(|error| error.to_string())?;
    let how = [AckHow::Resume, AckHow::FileDeleted].into_iter().find(|how| how_name(*how) == wire.how);
    Ok(Ack {
        halt: parse(wire.halt.as_ref(), "halt")?,
        counter: wire.counter,
        by: wire.by,
        how: how.ok_or_else(|| format!("how {:?} is not known", cut(&wire.how)))?,
        agent: wire.agent,
        reason: wire.reason,
        head: parse(wire.head.as_ref(), "head")?,
        worktree: wire.worktree,
        at: at.ok_or("at is missing")?,
    })
}

fn decode_cord(value: &Value, at: Option<Timestamp>) -> Result<Cord, String> {
    let wire = CordWire::deserialize(value).map_err(|error| error.to_string())?;
    let moved = CordMove::from_name(&wire.moved);
    Ok(Cord {
        moved: moved.ok_or_else(|| format!("moved {:?} is not known", cut(&wire.moved)))?,
        message: wire.message,
        by: wire.by,
        agent: wire.agent,
        head: parse(wire.head.as_ref(), "head")?,
        worktree: wire.worktree,
        at: at.ok_or("at is missing")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GOOD: &str = include_str!("../../tests/format/v1/ledger-halted.json");

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
