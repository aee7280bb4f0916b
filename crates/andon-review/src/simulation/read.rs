//! The lines of a simulation: entries, and probes that ask one rule a question.

use std::collections::HashMap;

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::probe::ProbeQuestion;
use crate::entry::ReviewEntry;
use crate::payload::Payload;
use crate::payload::member::{self, Members};

/// A line that is neither an entry nor a probe.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct BadLine {
    /// Counted from 1.
    pub line: usize,
    /// May quote the line: the renderer escapes.
    pub why: String,
}

/// What a file says.
#[derive(Debug, Default)]
pub struct Script {
    pub entries: Vec<ReviewEntry>,
    pub probes: Vec<ProbeQuestion>,
}

/// Reads all lines of a file; empty ones say nothing.
///
/// # Errors
/// The first line that is no entry of this form.
pub fn read(bytes: &[u8]) -> Result<Script, BadLine> {
    let mut script = Script::default();
    let mut known: HashMap<String, usize> = HashMap::new();
    for (line, bytes) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        let bad = |why| BadLine { line, why };
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        let value: Value = serde_json::from_slice(bytes).map_err(|err| bad(format!("no JSON: {err}")))?;
        let Value::Object(body) = value else { return Err(bad("not an object".to_owned())) };
        if body.contains_key("probe") && !body.contains_key("type") {
            script.probes.push(ProbeQuestion::read(&body).map_err(bad)?);
            continue;
        }
        let entry = entry(body, &known).map_err(bad)?;
        if known.insert(entry.id.clone(), script.entries.len()).is_some() {
            return Err(bad(format!("the id {:?} is there already", entry.id)));
        }
        script.entries.push(entry);
    }
    Ok(script)
}

/// Reads one entry; `known` are the ids above it.
fn entry(body: Map<String, Value>, known: &HashMap<String, usize>) -> Result<ReviewEntry, String> {
    let members = Members::new(&body);
    let wrong = |err: member::Malformed| err.to_string();
    let id = members.text("id").map_err(wrong)?;
    let kind = members.text("type").map_err(wrong)?;
    let writer = members.maybe_text("writer").map_err(wrong)?.unwrap_or_else(|| "w".to_owned());
    let at = members.time("at").map_err(wrong)?.ok_or("at: a time is missing")?;
    let by = members.maybe_text("by").map_err(wrong)?;
    let signer = members.maybe_text("signer").map_err(wrong)?.or(by);
    let parents = if members.get("parents").is_some() {
        let index = |parent: &String| {
            known.get(parent).copied().ok_or_else(|| format!("parents: no entry {parent:?} above"))
        };
        members.texts("parents").map_err(wrong)?.iter().map(index).collect::<Result<_, _>>()?
    } else {
        known.len().checked_sub(1).into_iter().collect()
    };
    let rank = Sha256::digest(id.as_bytes()).into();
    let payload = Payload::read(&kind, &body).into();
    Ok(ReviewEntry { id, rank, writer, at, kind, signer, touched: true, parents, body: body.into(), payload })
}
