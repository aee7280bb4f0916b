//! The commit record `andon/commit@1` (docs/formats.md).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::Digest as _;

use super::MAX_LINE;
use andon_core::domain::change::ChangeFacts;
use andon_core::domain::facts::{
    CarriedAttempt, CommitKind, CommitRecord, DiffSummary, Gate, PrevRecord, RecordedFinding, Recording,
    Skip, Usage, Weakening,
};
use andon_core::domain::ids::{CodeId, CommitId, Digest, EntryId, TreeId};
use andon_core::domain::tests::TestEvidence;
use andon_core::domain::time::{Timestamp, Uptime};
use andon_core::format::fields::{Items, Text, Texts};
use andon_core::format::{Count, FormatError, bounded, line, members_of, object, object_and_rest};

/// The schema this version writes. It reads every minor version of it: `andon/commit@1.4`.
pub const SCHEMA: &str = "andon/commit@1";

const MAX_OUTPUTS: usize = 64;
const MAX_FINDINGS: usize = 64;
const MAX_NODE: usize = 256;
const MAX_SESSION: usize = 1024;
const MAX_COST: usize = 64;
const MAX_WRITER: usize = 256;
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
    pub fn into_members(self) -> BTreeMap<String, Value> {
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

#[derive(Serialize, Deserialize)]
#[serde(expecting = "an object")]
struct CommitWire {
    schema: String,
    recorded_at: Timestamp,
    uptime: Option<Uptime>,
    tree: TreeId,
    parent: Option<CommitId>,
    /// Nothing came before this record in its chain.
    begins: Option<bool>,
    prev: Option<Digest>,
    kind: CommitKind,
    gate: Gate,
    caught_up: Option<bool>,
    /// Caught up, since `git am` made it where no hook of patches was installed.
    patch: Option<bool>,
    backfilled: Option<bool>,
    #[serde(default, with = "Text::<MAX_NODE>")]
    node: Option<String>,
    #[serde(default, with = "Text::<MAX_SESSION>")]
    session: Option<String>,
    iteration: Count,
    code: CodeId,
    diff: DiffSummary,
    change: Option<ChangeFacts>,
    tests: Option<TestEvidence>,
    weakening: Option<Weakening>,
    #[serde(default, with = "Items::<{ Skip::MAX }>")]
    skipped: Vec<Skip>,
    #[serde(default, with = "Items::<MAX_OUTPUTS>")]
    outputs: Vec<Digest>,
    usage: Option<UsageWire>,
    /// The newest entry of each ledger that was seen: writer and entry id. A malformed pair says nothing.
    ledger: Option<BTreeMap<String, Value>>,
    #[serde(default, with = "Texts::<{ CommitRecord::MAX_GUARDS }, MAX_NODE>")]
    guards: Vec<String>,
    #[serde(default, with = "Text::<MAX_NODE>")]
    worktree: Option<String>,
    #[serde(default, with = "Items::<MAX_FINDINGS>")]
    findings: Vec<RecordedFinding>,
    carries: Option<CarriedWire>,
}

/// The attempt that a moved commit carries on.
#[derive(Serialize, Deserialize)]
#[serde(expecting = "an object")]
struct CarriedWire {
    commit: CommitId,
    parent: Option<CommitId>,
    kind: CommitKind,
    code: CodeId,
    tests: Option<TestEvidence>,
}

#[derive(Serialize, Deserialize)]
#[serde(expecting = "an object")]
struct UsageWire {
    input_tokens: Option<Count>,
    output_tokens: Option<Count>,
    #[serde(default, with = "Text::<MAX_COST>")]
    cost_usd: Option<String>,
    context_tokens: Option<Count>,
}

/// sha256 of a record's line without its LF: what the next record's `prev` holds.
pub fn line_digest(line: &[u8]) -> Digest {
    Digest(sha2::Sha256::digest(line.strip_suffix(b"\n").unwrap_or(line)).into())
}

/// One line with its LF, at most [`MAX_LINE`] bytes. Lists and texts beyond their bounds are cut (see the head of
/// [`super`]).
pub fn encode_commit(record: &CommitRecord, extra: &UnknownKeys) -> String {
    let mut members = members_of(&CommitWire::from(record));
    write_back(&mut members, extra);
    line(members)
}

impl From<&CommitRecord> for CommitWire {
    fn from(record: &CommitRecord) -> Self {
        let heads = record.ledger.iter().take(CommitRecord::MAX_LEDGERS);
        let heads = heads.map(|(writer, entry)| (bounded(writer, MAX_WRITER), entry.to_string().into()));
        Self {
            schema: SCHEMA.to_owned(),
            recorded_at: record.recorded_at,
            uptime: record.uptime,
            tree: record.tree,
            parent: record.parent,
            begins: (record.prev == PrevRecord::Absent).then_some(true),
            prev: record.prev.line(),
            kind: record.kind,
            gate: record.gate,
            caught_up: record.recording.is_later().then_some(true),
            patch: (record.recording == Recording::Patched).then_some(true),
            backfilled: (record.recording == Recording::Backfilled).then_some(true),
            node: Some(record.node.clone()),
            session: record.session.clone(),
            iteration: Count(record.iteration),
            code: record.code,
            diff: record.diff.clone().bounded(),
            change: record.change.clone().map(ChangeFacts::bounded),
            tests: record.tests.clone().map(TestEvidence::bounded),
            weakening: record.weakening.clone(),
            skipped: record.skipped.clone(),
            outputs: record.outputs.clone(),
            usage: record.usage.as_ref().map(UsageWire::from),
            ledger: (!record.ledger.is_empty()).then(|| heads.collect()),
            guards: record.guards.clone(),
            worktree: record.worktree.clone(),
            findings: record.findings.clone(),
            carries: record.carries.as_deref().map(CarriedWire::from),
        }
    }
}

impl From<&CarriedAttempt> for CarriedWire {
    fn from(carried: &CarriedAttempt) -> Self {
        Self {
            commit: carried.commit,
            parent: carried.parent,
            kind: carried.kind,
            code: carried.code,
            tests: carried.tests.clone().map(TestEvidence::bounded),
        }
    }
}

impl From<CarriedWire> for CarriedAttempt {
    fn from(wire: CarriedWire) -> Self {
        Self {
            commit: wire.commit,
            parent: wire.parent,
            kind: wire.kind,
            code: wire.code,
            tests: wire.tests.map(TestEvidence::bounded),
        }
    }
}

impl From<&Usage> for UsageWire {
    fn from(usage: &Usage) -> Self {
        Self {
            input_tokens: usage.input_tokens.map(Count),
            output_tokens: usage.output_tokens.map(Count),
            cost_usd: usage.cost_usd.clone(),
            context_tokens: usage.context_tokens.map(Count),
        }
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

/// Reads one line, with or without its LF.
///
/// # Errors
/// [`FormatError`] when it is longer than [`MAX_LINE`], no JSON object, of another major version, or when a member
/// that every record has (`recorded_at`, `tree`, `kind`, `gate`, `iteration`, `code`, `diff.hash`, `diff.empty`)
/// is missing or a known member has a value this version does not know.
pub fn decode_commit(line: &[u8]) -> Result<DecodedRecord, FormatError> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let (mut wire, mut extra): (CommitWire, _) = match object_and_rest(line, MAX_LINE, &OBJECTS) {
        Ok(read) => read,
        // Nothing else is known of another version.
        Err(error) => {
            return Err(object::<Schema>(line, MAX_LINE).and_then(Schema::check).err().unwrap_or(error));
        }
    };
    let schema = Schema { schema: std::mem::take(&mut wire.schema) }.check()?;
    if schema != SCHEMA {
        extra.insert("schema".to_owned(), schema.into());
    }
    let bytes = extra.iter().map(|(key, value)| key.len() + value.to_string().len()).sum();
    if bytes > MAX_UNKNOWN {
        return Err(FormatError::TooLarge { bytes, max: MAX_UNKNOWN });
    }
    Ok(DecodedRecord { record: wire.into(), extra: UnknownKeys(extra) })
}

/// `record` as a reader of its line has it; `line` is that line, where it is at hand.
pub fn as_written(record: CommitRecord, line: Option<&[u8]>) -> CommitRecord {
    let decoded = line.map_or_else(
        || decode_commit(encode_commit(&record, &UnknownKeys::default()).as_bytes()),
        decode_commit,
    );
    decoded.map_or(record, |decoded| decoded.record)
}

/// What every version of a record says first.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Schema {
    schema: String,
}

impl Schema {
    /// The schema, if this version reads it.
    fn check(self) -> Result<String, FormatError> {
        let schema = self.schema;
        let minor = schema
            .strip_prefix(SCHEMA)
            .and_then(|rest| if rest.is_empty() { Some("") } else { rest.strip_prefix('.') });
        let digits = |minor: &str| minor.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        if minor.is_some_and(|minor| minor.len() <= 16 && digits(minor)) {
            return Ok(schema);
        }
        Err(FormatError::Schema { found: schema.chars().take(80).collect(), expected: SCHEMA })
    }
}

impl From<CommitWire> for CommitRecord {
    fn from(wire: CommitWire) -> Self {
        let heads = wire.ledger.unwrap_or_default().into_iter().take(Self::MAX_LEDGERS);
        let heads =
            heads.filter_map(|(writer, entry)| Some((writer, entry.as_str()?.parse::<EntryId>().ok()?)));
        Self {
            recorded_at: wire.recorded_at,
            uptime: wire.uptime,
            tree: wire.tree,
            parent: wire.parent,
            prev: match (wire.prev, wire.begins) {
                (Some(digest), _) => PrevRecord::Line(digest),
                (None, Some(true)) => PrevRecord::Absent,
                (None, Some(false) | None) => PrevRecord::Unsaid,
            },
            kind: wire.kind,
            gate: wire.gate,
            recording: match (wire.backfilled, wire.caught_up) {
                (Some(true), _) => Recording::Backfilled,
                (_, Some(true)) if wire.patch == Some(true) => Recording::Patched,
                (_, Some(true)) => Recording::CaughtUp,
                (Some(false) | None, Some(false) | None) => Recording::AtCommit,
            },
            node: wire.node.unwrap_or_else(|| "agent".to_owned()),
            session: wire.session,
            iteration: wire.iteration.0,
            code: wire.code,
            diff: wire.diff.bounded(),
            change: wire.change.map(ChangeFacts::bounded),
            tests: wire.tests.map(TestEvidence::bounded),
            weakening: wire.weakening,
            skipped: wire.skipped,
            outputs: wire.outputs,
            usage: wire.usage.map(Into::into),
            ledger: heads.collect(),
            guards: wire.guards,
            worktree: wire.worktree,
            findings: wire.findings,
            carries: wire.carries.map(|carried| Box::new(carried.into())),
        }
    }
}

impl From<UsageWire> for Usage {
    fn from(wire: UsageWire) -> Self {
        Self {
            input_tokens: wire.input_tokens.map(|count| count.0),
            output_tokens: wire.output_tokens.map(|count| count.0),
            cost_usd: wire.cost_usd,
            context_tokens: wire.context_tokens.map(|count| count.0),
            ..Self::default()
        }
    }
}
