//! `andon review simulate`: the folds over entries of a file, to try a policy (docs/review.md). A line is an entry, or a probe
//! that asks one rule a question.

pub mod output;
pub mod probes;

use std::collections::{BTreeMap, HashMap};

use output::{LEDGER_SCHEMA, SimulationJson};
use probes::ProbeQuestion;
use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::{LedgerState, fold};
use crate::{Payload, ReviewEntry, Time, payload::member};

/// Folds the entries of a file, as at `now`. Private results are shown for `reader` alone.
pub fn simulate(script: &Script, now: i64, reader: Option<&str>) -> SimulationJson {
    output::write(script, &fold::fold(&script.entries, now), reader)
}

/// The same for a ledger that was read and folded: its result, without the list of its entries.
pub fn of_ledger(entries: &[ReviewEntry], folded: &LedgerState, reader: Option<&str>) -> SimulationJson {
    let script = Script { entries: entries.to_vec(), probes: Vec::new() };
    let json = output::write(&script, folded, reader);
    // `now` is the time of the newest entry that counts: clones that know the same say the same, whatever a stranger added. `andon ledger verify`
    // reports what does not count.
    let counts = |at: &usize| !folded.state.codes.contains_key(at);
    let now = (0..entries.len()).filter(counts).map(|at| folded.graph.eff[at]).max().unwrap_or(0);
    SimulationJson {
        schema: LEDGER_SCHEMA,
        now,
        order: Vec::new(),
        entries: BTreeMap::new(),
        invalid: Vec::new(),
        ..json
    }
}

/// A line that is neither an entry nor a probe.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct BadLine {
    /// The number of the line, from 1.
    pub line: usize,
    /// May quote the line: the renderer escapes.
    pub why: String,
}

/// The entries and probes of a file.
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
            script.probes.push(ProbeQuestion::read(&body).map_err(|wrong| bad(wrong.to_string()))?);
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

/// The members that every entry has.
#[derive(Deserialize)]
struct Envelope {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    writer: Option<String>,
    at: Time,
    by: Option<String>,
    signer: Option<String>,
    parents: Option<Vec<String>>,
}

/// Reads one entry; `known` are the ids above it.
fn entry(body: Map<String, Value>, known: &HashMap<String, usize>) -> Result<ReviewEntry, String> {
    let Envelope { id, kind, writer, at, by, signer, parents } =
        member::read(&body).map_err(|wrong| wrong.to_string())?;
    let above = |parent: &String| {
        known.get(parent).copied().ok_or_else(|| format!("parents: no entry {parent:?} above"))
    };
    let parents = match parents {
        Some(parents) => parents.iter().map(above).collect::<Result<_, _>>()?,
        None => known.len().checked_sub(1).into_iter().collect(),
    };
    Ok(ReviewEntry {
        rank: Sha256::digest(id.as_bytes()).into(),
        id,
        writer: writer.unwrap_or_else(|| "w".to_owned()),
        at: at.0,
        payload: Payload::read(&kind, &body).into(),
        kind,
        signer: signer.or(by),
        touched: true,
        parents,
        body: body.into(),
    })
}

#[cfg(test)]
mod tests;
