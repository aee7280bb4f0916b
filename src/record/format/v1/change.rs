//! The member `change` of a commit record: what the diff is made of. Optional; records of earlier versions lack it.
//!
//! `{"docs":{"hash":"<16 hex>","now":[2,5],"was":[1,5]},"nature":"docs","paths":[["<16 hex>","<16 hex>","<16 hex>"]],
//! "truncated":false}`: per path hashes of its name, of what it was and of what it is; per document state the ticked
//! and all items of its checklists.

use serde_json::{Map, Value, json};

use super::super::json::Json;
use super::super::members::{Cut, FormatError, Members};
use crate::domain::change::{ChangeFacts, Checklist, DocsState, Nature, PathStep};

pub(super) fn encode(change: &ChangeFacts) -> Value {
    let paths: Vec<[String; 3]> = change
        .paths
        .iter()
        .take(ChangeFacts::MAX_PATHS)
        .map(|step| [step.path.to_string(), step.old.to_string(), step.new.to_string()])
        .collect();
    let mut map = Map::new();
    map.insert("nature".into(), json!(change.nature.as_str()));
    map.insert("paths".into(), json!(paths));
    map.insert("truncated".into(), json!(change.truncated || change.paths.len() > ChangeFacts::MAX_PATHS));
    if let Some(docs) = &change.docs {
        let pair = |list: Checklist| json!([list.done, list.total]);
        map.insert(
            "docs".into(),
            json!({ "hash": docs.hash.to_string(), "was": pair(docs.was), "now": pair(docs.now) }),
        );
    }
    Value::Object(map)
}

/// The member `change` of `members`, if there is one.
pub(crate) fn decode(members: &mut Members<'_>) -> Result<Option<ChangeFacts>, FormatError> {
    let Some(mut change) = members.object("change")? else { return Ok(None) };
    // A word of a later version is held against nobody.
    let nature = change.text("nature")?.and_then(|name| Nature::from_name(&name)).unwrap_or(Nature::Work);
    let (paths, cut) = change.list("paths", ChangeFacts::MAX_PATHS, step)?;
    let docs = change.read("docs", "a state of documents", |value| {
        Some(DocsState {
            hash: value.get("hash")?.as_str()?.parse().ok()?,
            was: checklist(value.get("was")?)?,
            now: checklist(value.get("now")?)?,
        })
    })?;
    let truncated = change.flag("truncated")? || cut == Cut::Truncated;
    members.keep_rest("change", change);
    Ok(Some(ChangeFacts { nature, paths, truncated, docs }))
}

fn step(item: &Json<'_>) -> Option<PathStep> {
    let [path, old, new] = item.as_array()? else { return None };
    let hash = |value: &Json<'_>| value.as_str()?.parse().ok();
    Some(PathStep { path: hash(path)?, old: hash(old)?, new: hash(new)? })
}

fn checklist(value: &Json<'_>) -> Option<Checklist> {
    let [done, total] = value.as_array()? else { return None };
    Some(Checklist { done: done.as_number()?.as_u64()?, total: total.as_number()?.as_u64()? })
}
