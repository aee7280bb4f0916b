//! The commit record `andon/commit@1` (DESIGN section 6).

use serde_json::{Map, Value, json};
use sha2::Digest as _;

use super::super::json::Json;
use super::super::members::{Cut, FormatError, Members, bounded};
use super::{MAX_LINE, change, evidence, heads};
use crate::domain::facts::{
    CommitKind, CommitRecord, DiffSummary, Gate, Hunk, Prev, RecordedFinding, Recording, Skip, Usage,
    Weakening,
};
use crate::domain::findings::Level;
use crate::domain::ids::Digest;

/// The schema this version writes. It reads every minor version of it: `andon/commit@1.4`.
pub const SCHEMA: &str = "andon/commit@1";

const MAX_OUTPUTS: usize = 64;
const MAX_FINDINGS: usize = 64;
const MAX_NODE: usize = 256;
const MAX_SESSION: usize = 1024;
const MAX_RULE: usize = 128;
const MAX_MESSAGE: usize = 2048;
const MAX_TEST_NAME: usize = 256;
const MAX_COST: usize = 64;
/// Bound of the keys of newer versions, so that a rewritten record cannot outgrow [`MAX_LINE`].
const MAX_UNKNOWN: usize = 512 << 10;
/// Objects of this version: what is unknown inside them is only written back where they are.
const OBJECTS: [&str; 5] = ["change", "diff", "tests", "usage", "weakening"];

/// What a newer minor version wrote and this one does not understand: written back on rewrite.
/// Members inside the elements of lists are not kept.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UnknownKeys(Map<String, Value>);

impl UnknownKeys {
    /// True when there is nothing to write back.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The keys with their values, in order.
    pub fn into_members(self) -> std::collections::BTreeMap<String, Value> {
        self.0.into_iter().collect()
    }

    /// Adds what `older` has and `self` has not.
    #[must_use]
    pub fn or(mut self, older: Self) -> Self {
        merge(&mut self.0, older.0);
        self
    }
}

/// A record and what else its line held.
#[derive(Debug, Clone, PartialEq)]
pub struct DecodedRecord {
    /// The record.
    pub record: CommitRecord,
    /// Keys of a newer minor version.
    pub extra: UnknownKeys,
}

/// sha256 of a record's line without its LF: what the next record's `prev` holds.
pub fn line_digest(line: &[u8]) -> Digest {
    Digest(sha2::Sha256::digest(line.strip_suffix(b"\n").unwrap_or(line)).into())
}

/// One line with its LF, at most [`MAX_LINE`] bytes. Lists and texts beyond their bounds are cut (see the head of
/// [`super`]).
pub fn encode_commit(record: &CommitRecord, extra: &UnknownKeys) -> String {
    let mut map = Map::new();
    map.insert("schema".into(), json!(SCHEMA));
    map.insert("recorded_at".into(), json!(record.recorded_at.to_string()));
    insert_some(&mut map, "uptime", record.uptime.map(|uptime| uptime.to_string()));
    map.insert("tree".into(), json!(record.tree.to_string()));
    insert_some(&mut map, "parent", record.parent.map(|id| id.to_string()));
    match record.prev {
        Prev::Unsaid => {}
        Prev::Absent => {
            map.insert("begins".into(), json!(true));
        }
        Prev::Line(digest) => {
            map.insert("prev".into(), json!(digest.to_string()));
        }
    }
    map.insert("kind".into(), json!(record.kind.as_str()));
    map.insert("gate".into(), json!(record.gate.as_str()));
    match record.recording {
        Recording::AtCommit | Recording::Derived => {}
        Recording::CaughtUp => {
            map.insert("caught_up".into(), json!(true));
        }
        Recording::Backfilled => {
            map.insert("backfilled".into(), json!(true));
        }
    }
    map.insert("node".into(), json!(bounded(&record.node, MAX_NODE)));
    insert_some(&mut map, "session", record.session.as_ref().map(|text| bounded(text, MAX_SESSION)));
    map.insert("iteration".into(), json!(record.iteration));
    map.insert("code".into(), json!(record.code.to_string()));
    map.insert("diff".into(), encode_diff(&record.diff));
    insert_some(&mut map, "change", record.change.as_ref().map(change::encode));
    if let Some(tests) = &record.tests {
        let mut members = Map::new();
        evidence::encode(tests, &mut members);
        map.insert("tests".into(), Value::Object(members));
    }
    insert_some(&mut map, "weakening", record.weakening.as_ref().map(encode_weakening));
    if !record.skipped.is_empty() {
        let skipped: Vec<Value> = record.skipped.iter().take(Skip::MAX).map(encode_skip).collect();
        map.insert("skipped".into(), json!(skipped));
    }
    if !record.outputs.is_empty() {
        let outputs: Vec<String> = record.outputs.iter().take(MAX_OUTPUTS).map(ToString::to_string).collect();
        map.insert("outputs".into(), json!(outputs));
    }
    insert_some(&mut map, "usage", record.usage.as_ref().map(encode_usage));
    insert_some(&mut map, "ledger", heads::encode(&record.ledger));
    if !record.findings.is_empty() {
        let findings: Vec<Value> = record.findings.iter().take(MAX_FINDINGS).map(encode_finding).collect();
        map.insert("findings".into(), json!(findings));
    }
    write_back(&mut map, extra);
    let mut line = Value::Object(map).to_string();
    line.push('\n');
    line
}

fn insert_some<T: Into<Value>>(map: &mut Map<String, Value>, key: &str, value: Option<T>) {
    if let Some(value) = value {
        map.insert(key.to_owned(), value.into());
    }
}

/// The unknown keys go back where they were; a known key always wins, but for the minor version in `schema`.
fn write_back(map: &mut Map<String, Value>, extra: &UnknownKeys) {
    for (key, value) in &extra.0 {
        match (map.get_mut(key), value) {
            (Some(slot), Value::String(_)) if key == "schema" => *slot = value.clone(),
            (Some(Value::Object(known)), Value::Object(unknown)) => merge(known, unknown.clone()),
            (Some(_), _) => {}
            (None, _) if OBJECTS.contains(&key.as_str()) => {}
            (None, _) => {
                map.insert(key.clone(), value.clone());
            }
        }
    }
}

fn merge(into: &mut Map<String, Value>, from: Map<String, Value>) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (Some(Value::Object(known)), Value::Object(unknown)) => merge(known, unknown),
            (Some(_), _) => {}
            (None, value) => {
                into.insert(key, value);
            }
        }
    }
}

fn encode_diff(diff: &DiffSummary) -> Value {
    let hunks: Vec<[String; 2]> = diff
        .hunks
        .iter()
        .take(DiffSummary::MAX_HUNKS)
        .map(|hunk| [hunk.removed.to_string(), hunk.added.to_string()])
        .collect();
    json!({
        "hash": diff.hash.to_string(),
        "empty": diff.empty,
        "files": diff.files,
        "added": diff.added,
        "removed": diff.removed,
        "hunks": hunks,
        "truncated": diff.truncated || diff.hunks.len() > DiffSummary::MAX_HUNKS,
    })
}

/// Lists that are empty are left out.
fn encode_weakening(weakening: &Weakening) -> Value {
    let mut map = Map::new();
    for (key, names) in
        [("removed", &weakening.removed), ("skipped", &weakening.skipped), ("loosened", &weakening.loosened)]
    {
        let names = names.iter().take(Weakening::MAX_NAMES).map(|name| bounded(name, MAX_TEST_NAME));
        let names: Vec<String> = names.collect();
        if !names.is_empty() {
            map.insert(key.into(), json!(names));
        }
    }
    for (key, count) in [("total", weakening.total), ("failing", weakening.failing), ("ran", weakening.ran)] {
        map.insert(key.into(), json!(count));
    }
    insert_some(&mut map, "waiver", weakening.waiver.as_ref().map(|text| bounded(text, MAX_MESSAGE)));
    Value::Object(map)
}

/// A skip: `{"rule","reason"}`, and `agent` where an agent's shell asked for it.
pub(crate) fn encode_skip(skip: &Skip) -> Value {
    let mut map = Map::new();
    map.insert("rule".into(), json!(bounded(&skip.rule, MAX_RULE)));
    map.insert("reason".into(), json!(bounded(&skip.reason, MAX_MESSAGE)));
    insert_some(&mut map, "agent", skip.agent.as_ref().map(|marker| bounded(marker, MAX_NODE)));
    Value::Object(map)
}

/// Reads what [`encode_skip`] writes.
pub(crate) fn decode_skip(item: &Json<'_>) -> Option<Skip> {
    let text = |key: &str| item.get(key).and_then(Json::as_str).map(str::to_owned);
    Some(Skip { rule: text("rule")?, reason: text("reason").unwrap_or_default(), agent: text("agent") })
}

/// The member `weakening` of `members`, if there is one.
pub(crate) fn decode_weakening(members: &mut Members<'_>) -> Result<Option<Weakening>, FormatError> {
    let Some(mut found) = members.object("weakening")? else { return Ok(None) };
    let mut names = |key: &str| -> Result<Vec<String>, FormatError> {
        Ok(found.list(key, Weakening::MAX_NAMES, |item| item.as_str().map(str::to_owned))?.0)
    };
    let weakening = Weakening {
        removed: names("removed")?,
        skipped: names("skipped")?,
        loosened: names("loosened")?,
        total: found.count("total")?.unwrap_or(0),
        failing: found.count("failing")?.unwrap_or(0),
        ran: found.count("ran")?.unwrap_or(0),
        waiver: found.text("waiver")?,
    };
    members.keep_rest("weakening", found);
    Ok(Some(weakening))
}

fn encode_usage(usage: &Usage) -> Value {
    let mut map = Map::new();
    insert_some(&mut map, "input_tokens", usage.input_tokens);
    insert_some(&mut map, "output_tokens", usage.output_tokens);
    insert_some(&mut map, "cost_usd", usage.cost_usd.as_ref().map(|cost| bounded(cost, MAX_COST)));
    insert_some(&mut map, "context_tokens", usage.context_tokens);
    Value::Object(map)
}

fn encode_finding(finding: &RecordedFinding) -> Value {
    json!({
        "rule": bounded(&finding.rule, MAX_RULE),
        "level": finding.level.as_str(),
        "message": bounded(&finding.message, MAX_MESSAGE),
    })
}

/// Reads one line, with or without its LF.
///
/// # Errors
/// [`FormatError`] when it is longer than [`MAX_LINE`], no JSON object, of another major version, or when a member
/// that every record has (`recorded_at`, `tree`, `kind`, `gate`, `iteration`, `code`, `diff.hash`, `diff.empty`)
/// is missing or a known member has a value this version does not know.
pub fn decode_commit(line: &[u8]) -> Result<DecodedRecord, FormatError> {
    let mut members = Members::parse(line.strip_suffix(b"\n").unwrap_or(line), MAX_LINE)?;
    let schema = decode_schema(&mut members)?;
    let recorded_at = members.parsed("recorded_at", "an RFC 3339 time")?;
    let tree = members.parsed("tree", "an object id")?;
    let kind = members.named("kind", "a kind of commit", CommitKind::from_name)?;
    let gate = members.named("gate", "passed, bypassed or not-run", Gate::from_name)?;
    let iteration = members.count("iteration")?;
    let code = members.parsed("code", "a sha256")?;
    let (caught_up, backfilled) = (members.flag("caught_up")?, members.flag("backfilled")?);
    let record = CommitRecord {
        recorded_at: members.required("recorded_at", recorded_at)?,
        uptime: members.parsed("uptime", "a start of a system and seconds since then")?,
        tree: members.required("tree", tree)?,
        parent: members.parsed("parent", "an object id")?,
        prev: match (members.parsed("prev", "a sha256")?, members.flag("begins")?) {
            (Some(digest), _) => Prev::Line(digest),
            (None, true) => Prev::Absent,
            (None, false) => Prev::Unsaid,
        },
        kind: members.required("kind", kind)?,
        gate: members.required("gate", gate)?,
        recording: match (backfilled, caught_up) {
            (true, _) => Recording::Backfilled,
            (false, true) => Recording::CaughtUp,
            (false, false) => Recording::AtCommit,
        },
        node: members.text("node")?.unwrap_or_else(|| "agent".to_owned()),
        session: members.text("session")?,
        iteration: members.required("iteration", iteration)?,
        code: members.required("code", code)?,
        diff: decode_diff(&mut members)?,
        change: change::decode(&mut members)?,
        tests: decode_tests(&mut members)?,
        weakening: decode_weakening(&mut members)?,
        skipped: members.list("skipped", Skip::MAX, decode_skip)?.0,
        outputs: members.list("outputs", MAX_OUTPUTS, |item| item.as_str()?.parse().ok())?.0,
        usage: decode_usage(&mut members)?,
        ledger: heads::decode(&mut members)?,
        findings: members.list("findings", MAX_FINDINGS, decode_finding)?.0,
    };
    let mut extra = members.rest();
    if schema != SCHEMA {
        extra.insert("schema".into(), json!(schema));
    }
    let bytes = extra.iter().map(|(key, value)| key.len() + value.to_string().len()).sum();
    if bytes > MAX_UNKNOWN {
        return Err(FormatError::TooLarge { bytes, max: MAX_UNKNOWN });
    }
    Ok(DecodedRecord { record, extra: UnknownKeys(extra) })
}

/// `record` as whoever reads its line has it; `line` is that line, where it is at hand.
pub(crate) fn as_written(record: CommitRecord, line: Option<&[u8]>) -> CommitRecord {
    let decoded = line.map_or_else(
        || decode_commit(encode_commit(&record, &UnknownKeys::default()).as_bytes()),
        decode_commit,
    );
    decoded.map_or(record, |decoded| decoded.record)
}

fn decode_schema(members: &mut Members<'_>) -> Result<String, FormatError> {
    let schema = members.text("schema")?;
    let schema = members.required("schema", schema)?;
    let minor = schema
        .strip_prefix(SCHEMA)
        .and_then(|rest| if rest.is_empty() { Some("") } else { rest.strip_prefix('.') });
    match minor {
        Some(minor)
            if minor.len() <= 16 && minor.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') =>
        {
            Ok(schema)
        }
        Some(_) | None => {
            Err(FormatError::Schema { found: schema.chars().take(80).collect(), expected: SCHEMA })
        }
    }
}

fn decode_diff(members: &mut Members<'_>) -> Result<DiffSummary, FormatError> {
    let diff = members.object("diff")?;
    let mut diff = members.required("diff", diff)?;
    let hash = diff.parsed("hash", "a sha256")?;
    let empty = diff.read("empty", "true or false", Json::as_bool)?;
    let (hunks, cut) = diff.list("hunks", DiffSummary::MAX_HUNKS, decode_hunk)?;
    let summary = DiffSummary {
        hash: diff.required("hash", hash)?,
        empty: diff.required("empty", empty)?,
        files: diff.count("files")?.unwrap_or(0),
        added: diff.count("added")?.unwrap_or(0),
        removed: diff.count("removed")?.unwrap_or(0),
        hunks,
        truncated: diff.flag("truncated")? || cut == Cut::Truncated,
    };
    members.keep_rest("diff", diff);
    Ok(summary)
}

fn decode_hunk(item: &Json<'_>) -> Option<Hunk> {
    match item.as_array()? {
        [removed, added] => {
            Some(Hunk { removed: removed.as_str()?.parse().ok()?, added: added.as_str()?.parse().ok()? })
        }
        _ => None,
    }
}

fn decode_tests(
    members: &mut Members<'_>,
) -> Result<Option<crate::domain::tests::TestEvidence>, FormatError> {
    let Some(mut tests) = members.object("tests")? else { return Ok(None) };
    let evidence = evidence::decode(&mut tests)?;
    members.keep_rest("tests", tests);
    Ok(Some(evidence))
}

fn decode_usage(members: &mut Members<'_>) -> Result<Option<Usage>, FormatError> {
    let Some(mut usage) = members.object("usage")? else { return Ok(None) };
    let decoded = Usage {
        input_tokens: usage.count("input_tokens")?,
        output_tokens: usage.count("output_tokens")?,
        cost_usd: usage.text("cost_usd")?,
        context_tokens: usage.count("context_tokens")?,
        ..Usage::default()
    };
    members.keep_rest("usage", usage);
    Ok(Some(decoded))
}

fn decode_finding(item: &Json<'_>) -> Option<RecordedFinding> {
    Some(RecordedFinding {
        rule: item.get("rule")?.as_str()?.to_owned(),
        level: Level::from_name(item.get("level")?.as_str()?)?,
        message: item.get("message").and_then(Json::as_str).unwrap_or_default().to_owned(),
    })
}
