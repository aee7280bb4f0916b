//! `ledger` in a record: the newest entry of each ledger that was seen, `{"<writer>":"<entry id>"}`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::members::{FormatError, Members, bounded};
use crate::domain::facts::CommitRecord;
use crate::domain::ids::EntryId;

const MAX_WRITER: usize = 256;

pub(super) fn encode(heads: &BTreeMap<String, EntryId>) -> Option<Value> {
    let pairs = heads.iter().take(CommitRecord::MAX_LEDGERS);
    let pairs = pairs.map(|(writer, entry)| (bounded(writer, MAX_WRITER), json!(entry.to_string())));
    (!heads.is_empty()).then(|| Value::Object(pairs.collect()))
}

/// Pairs of writer and entry id; one that is no such pair says nothing.
pub(super) fn decode(members: &mut Members<'_>) -> Result<BTreeMap<String, EntryId>, FormatError> {
    let Some(heads) = members.object("ledger")? else { return Ok(BTreeMap::new()) };
    let pairs = heads.rest().into_iter().take(CommitRecord::MAX_LEDGERS);
    Ok(pairs.filter_map(|(writer, entry)| Some((writer, entry.as_str()?.parse().ok()?))).collect())
}
