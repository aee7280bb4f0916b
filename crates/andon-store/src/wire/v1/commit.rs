//! The commit record `andon/commit@1` (docs/formats.md).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, de::MapAccess};
use serde_json::{Map, Value};
use sha2::Digest as _;

use super::MAX_LINE;
use andon_core::domain::{CommitRecord, Digest, PrevRecord, Recording};
use andon_core::format::beside::{Beside, With};
use andon_core::format::{FormatError, line, members_of, object, object_and_rest};

/// The schema this version writes. It reads every minor version of it: `andon/commit@1.4`.
pub const SCHEMA: &str = "andon/commit@1";

/// Bound of the keys of newer versions, so that a rewritten record cannot outgrow [`MAX_LINE`].
const MAX_UNKNOWN: usize = 512 << 10;
/// Objects of this version: what is unknown inside them is only written back where they are.
const OBJECTS: [&str; 5] = ["change", "diff", "tests", "usage", "weakening"];

/// The members that a newer minor version wrote and this one does not understand: written back on rewrite. Members inside the
/// elements of lists are not kept.
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
    pub record: CommitRecord,
    /// Keys of a newer minor version.
    pub extra: UnknownKeys,
}

/// The members by which a line describes itself and its place in the chain: one key each, where the record has a choice.
#[derive(Default, Serialize)]
struct Head {
    schema: Option<String>,
    /// Nothing came before this record in its chain.
    begins: Option<bool>,
    prev: Option<Digest>,
    caught_up: Option<bool>,
    /// Caught up, since `git am` made it where no hook of patches was installed.
    patch: Option<bool>,
    backfilled: Option<bool>,
    /// Moved by git from a commit that no hook recorded.
    moved: Option<bool>,
}

impl<'de> Beside<'de> for Head {
    const KEYS: &'static [&'static str] =
        &["schema", "begins", "prev", "caught_up", "patch", "backfilled", "moved"];

    fn take<A: MapAccess<'de>>(&mut self, key: &str, members: &mut A) -> Result<(), A::Error> {
        match key {
            "schema" => self.schema = Some(members.next_value()?),
            "begins" => self.begins = members.next_value()?,
            "prev" => self.prev = members.next_value()?,
            "caught_up" => self.caught_up = members.next_value()?,
            "patch" => self.patch = members.next_value()?,
            "backfilled" => self.backfilled = members.next_value()?,
            _ => self.moved = members.next_value()?,
        }
        Ok(())
    }
}

impl Head {
    fn new(record: &CommitRecord) -> Self {
        Self {
            schema: Some(SCHEMA.to_owned()),
            begins: (record.prev == PrevRecord::Absent).then_some(true),
            prev: record.prev.line(),
            caught_up: record.recording.is_later().then_some(true),
            patch: (record.recording == Recording::Patched).then_some(true),
            backfilled: (record.recording == Recording::Backfilled).then_some(true),
            moved: (record.recording == Recording::Moved).then_some(true),
        }
    }

    fn prev(&self) -> PrevRecord {
        match (self.prev, self.begins) {
            (Some(digest), _) => PrevRecord::Line(digest),
            (None, Some(true)) => PrevRecord::Absent,
            (None, Some(false) | None) => PrevRecord::Unsaid,
        }
    }

    fn recording(&self) -> Recording {
        match (self.backfilled, self.caught_up) {
            (Some(true), _) => Recording::Backfilled,
            (_, Some(true)) if self.patch == Some(true) => Recording::Patched,
            (_, Some(true)) => Recording::CaughtUp,
            (Some(false) | None, Some(false) | None) if self.moved == Some(true) => Recording::Moved,
            (Some(false) | None, Some(false) | None) => Recording::AtCommit,
        }
    }
}

/// sha256 of a record's line without its LF: what the next record's `prev` holds.
pub fn line_digest(line: &[u8]) -> Digest {
    Digest(sha2::Sha256::digest(line.strip_suffix(b"\n").unwrap_or(line)).into())
}

/// One line with its LF, at most [`MAX_LINE`] bytes. Lists and texts beyond their bounds are cut (see the head of
/// [`super`]).
pub fn encode_commit(record: &CommitRecord, extra: &UnknownKeys) -> String {
    let mut members = record_members(record);
    write_back(&mut members, extra);
    line(members)
}

/// The members of a record's line.
pub fn record_members(record: &CommitRecord) -> Map<String, Value> {
    let mut members = members_of(&record.clone().bounded());
    members.extend(members_of(&Head::new(record)));
    members
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
    let read = object_and_rest::<With<CommitRecord, Head>>(line, MAX_LINE, &OBJECTS);
    let (With { value, beside: mut head }, mut extra) = match read {
        Ok(read) => read,
        // Nothing else is known of another version.
        Err(error) => {
            return Err(object::<Schema>(line, MAX_LINE).and_then(Schema::check).err().unwrap_or(error));
        }
    };
    let said = head.schema.take().map_or_else(|| object(line, MAX_LINE), |schema| Ok(Schema { schema }))?;
    let schema = said.check()?;
    if schema != SCHEMA {
        extra.insert("schema".to_owned(), schema.into());
    }
    let bytes = extra.iter().map(|(key, value)| key.len() + value.to_string().len()).sum();
    if bytes > MAX_UNKNOWN {
        return Err(FormatError::TooLarge { bytes, max: MAX_UNKNOWN });
    }
    let record = CommitRecord { prev: head.prev(), recording: head.recording(), ..value.bounded() };
    Ok(DecodedRecord { record, extra: UnknownKeys(extra) })
}

/// `record` as a reader of its line has it; `line` is that line, where it is at hand.
pub fn as_written(record: CommitRecord, line: Option<&[u8]>) -> CommitRecord {
    let decoded = line.map_or_else(
        || decode_commit(encode_commit(&record, &UnknownKeys::default()).as_bytes()),
        decode_commit,
    );
    decoded.map_or(record, |decoded| decoded.record)
}

/// The first member of every version of a record.
#[derive(Deserialize)]
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
