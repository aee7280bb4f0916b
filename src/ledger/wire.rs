//! The JSON of an entry, `andon/ledger@1`. Unknown types and members are left alone; a missing member that an event
//! cannot be without makes the entry unreadable.

use serde_json::{Map, Value, json};

use super::LedgerError;
use crate::domain::decision::{Halt, HaltEvidence, LedgerEvent};
use crate::domain::facts::{Ack, AckHow};
use crate::domain::findings::{Face, HaltReason};
use crate::domain::time::Timestamp;

const SCHEMA: &str = "andon/ledger@1";
const HALTED: &str = "loop.halted";
const ACKNOWLEDGED: &str = "loop.acknowledged";
/// Texts are cut to this many characters when written.
const MAX_TEXT: usize = 4_096;
/// The greatest whole number that JSON in canonical form carries exactly.
const MAX_NUMBER: u64 = (1 << 53) - 1;

/// What an entry says.
pub(super) struct Decoded {
    pub writer: String,
    pub lamport: u64,
    pub event: Option<LedgerEvent>,
}

pub(super) fn type_of(event: &LedgerEvent) -> &'static str {
    match event {
        LedgerEvent::Halted(_) => HALTED,
        LedgerEvent::Acknowledged(_) => ACKNOWLEDGED,
    }
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}

fn texts<T: ToString>(items: &[T]) -> Vec<String> {
    items.iter().map(ToString::to_string).collect()
}

/// The canonical JSON of an entry.
pub(super) fn encode(
    event: &LedgerEvent,
    writer: &str,
    lamport: u64,
    at: Timestamp,
) -> Result<String, LedgerError> {
    let payload = match event {
        LedgerEvent::Halted(halt) => halted(halt),
        LedgerEvent::Acknowledged(ack) => acknowledged(ack),
    };
    let entry = json!({
        "schema": SCHEMA,
        "type": type_of(event),
        "writer": writer,
        "lamport": lamport.min(MAX_NUMBER),
        "at": at.to_string(),
        "payload": payload,
    });
    serde_json_canonicalizer::to_string(&entry).map_err(|err| LedgerError::Canonical(err.to_string()))
}

fn halted(halt: &Halt) -> Value {
    let mut payload = json!({
        "cycle_id": halt.cycle_id,
        "halt_reason": halt.reason.as_str(),
        "rule": halt.rule,
        "message": cut(&halt.message),
        "face": halt.face.file_name(),
        "evidence": {
            "diffs": texts(&halt.evidence.diffs),
            "tests": texts(&halt.evidence.tests),
            "outputs": texts(&halt.evidence.outputs),
            "trend": halt.evidence.trend.iter().map(|count| (*count).min(MAX_NUMBER)).collect::<Vec<_>>(),
        },
        "suggested_actions": halt.suggested_actions.iter().map(|action| cut(action)).collect::<Vec<_>>(),
        "iteration": halt.iteration.min(MAX_NUMBER),
        "worktree": halt.worktree,
        "at": halt.at.to_string(),
    });
    put(&mut payload, "head", halt.head.map(|head| head.to_string()));
    put(&mut payload, "branch", halt.branch.clone());
    payload
}

fn acknowledged(ack: &Ack) -> Value {
    let how = match ack.how {
        AckHow::Resume => "resume",
        AckHow::FileDeleted => "file_deleted",
    };
    let mut payload = json!({
        "by": cut(&ack.by),
        "how": how,
        "reason": cut(&ack.reason),
        "worktree": ack.worktree,
        "at": ack.at.to_string(),
    });
    put(&mut payload, "halt", ack.halt.map(|halt| halt.to_string()));
    put(&mut payload, "agent", ack.agent.clone());
    put(&mut payload, "head", ack.head.map(|head| head.to_string()));
    payload
}

fn put(payload: &mut Value, name: &str, value: Option<String>) {
    if let (Some(members), Some(value)) = (payload.as_object_mut(), value) {
        members.insert(name.to_owned(), Value::String(value));
    }
}

/// Reads an entry. The error says what is wrong, in words.
pub(super) fn decode(bytes: &[u8]) -> Result<Decoded, String> {
    let value: Value =
        serde_json::from_slice(bytes).map_err(|err| format!("entry.json is no JSON: {err}"))?;
    let entry = value.as_object().ok_or("entry.json is no object")?;
    let schema = text(entry, "schema")?;
    if schema != SCHEMA {
        return Err(format!("entry.json is of another version: {:?}", cut(&schema)));
    }
    let empty = Map::new();
    let payload = entry.get("payload").and_then(Value::as_object).unwrap_or(&empty);
    let event = match text(entry, "type")?.as_str() {
        HALTED => Some(LedgerEvent::Halted(Box::new(read_halt(payload)?))),
        ACKNOWLEDGED => Some(LedgerEvent::Acknowledged(Box::new(read_ack(payload)?))),
        _ => None,
    };
    let lamport = entry.get("lamport").and_then(Value::as_u64).ok_or("it has no lamport number")?;
    Ok(Decoded { writer: text(entry, "writer")?, lamport, event })
}

fn text(members: &Map<String, Value>, name: &str) -> Result<String, String> {
    optional(members, name).ok_or_else(|| format!("it has no text {name:?}"))
}

fn optional(members: &Map<String, Value>, name: &str) -> Option<String> {
    members.get(name).and_then(Value::as_str).map(cut)
}

fn parsed<T: std::str::FromStr>(members: &Map<String, Value>, name: &str) -> Result<T, String> {
    text(members, name)?.parse().map_err(|_| format!("its {name:?} makes no sense"))
}

fn list<T: std::str::FromStr>(members: &Map<String, Value>, name: &str) -> Vec<T> {
    let items = members.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(Value::as_str).filter_map(|item| item.parse().ok()).collect()
}

fn read_halt(payload: &Map<String, Value>) -> Result<Halt, String> {
    let empty = Map::new();
    let evidence = payload.get("evidence").and_then(Value::as_object).unwrap_or(&empty);
    let trend = evidence.get("trend").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    Ok(Halt {
        cycle_id: text(payload, "cycle_id")?,
        reason: HaltReason::from_name(&text(payload, "halt_reason")?)
            .ok_or("its halt_reason is not known")?,
        rule: text(payload, "rule")?,
        message: optional(payload, "message").unwrap_or_default(),
        face: optional(payload, "face").and_then(|name| Face::from_name(&name)).unwrap_or(Face::Checkpoint),
        evidence: HaltEvidence {
            diffs: list(evidence, "diffs"),
            tests: list(evidence, "tests"),
            outputs: list(evidence, "outputs"),
            trend: trend.iter().filter_map(Value::as_u64).collect(),
        },
        suggested_actions: list(payload, "suggested_actions"),
        iteration: payload.get("iteration").and_then(Value::as_u64).unwrap_or(0),
        head: parsed(payload, "head").ok(),
        branch: optional(payload, "branch"),
        worktree: text(payload, "worktree")?,
        at: parsed(payload, "at")?,
    })
}

fn read_ack(payload: &Map<String, Value>) -> Result<Ack, String> {
    Ok(Ack {
        halt: parsed(payload, "halt").ok(),
        by: optional(payload, "by").unwrap_or_default(),
        how: match text(payload, "how")?.as_str() {
            "resume" => AckHow::Resume,
            "file_deleted" => AckHow::FileDeleted,
            other => return Err(format!("its \"how\" is not known: {other:?}")),
        },
        agent: optional(payload, "agent"),
        reason: optional(payload, "reason").unwrap_or_default(),
        head: parsed(payload, "head").ok(),
        worktree: text(payload, "worktree")?,
        at: parsed(payload, "at")?,
    })
}
