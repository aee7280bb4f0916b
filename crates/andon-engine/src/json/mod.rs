//! The JSON that programs read: one line a document. docs/formats.md fixes the members. Every member is always there, and
//! what is not known is `null`, unless a type says otherwise; members are printed sorted. A type derives its JSON; here is
//! what several documents show alike and no type holds in that form.

pub mod record;
pub mod user_programs;

use std::{fmt::Write as _, path::Path};

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use andon_core::{domain::Ack, escape};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RoundPrecedentJson {
    /// The round's entry.
    pub round: String,
    /// The question of the round.
    pub question: String,
    /// The name of the decision.
    pub decision: String,
    /// The instruction, word for word: the amended text, or the one that was accepted.
    pub words: Option<String>,
    /// The reason that was given.
    pub rationale: String,
    /// `current`, `overturned` or `dissent`.
    pub standing: String,
    /// The people who decided.
    pub by: Vec<String>,
    /// Its topics.
    pub tags: Vec<String>,
}

/// An answer to a halt: `loop.acknowledged`.
pub fn answer(ack: &Ack) -> Value {
    let mut shown = json!(ack);
    if let Value::Object(members) = &mut shown {
        members.insert("type".to_owned(), "loop.acknowledged".into());
        members.remove("provider");
        members.retain(|key, value| {
            !(["mistaken", "words"].contains(&key.as_str()) && (value.is_null() || *value == false))
        });
    }
    shown
}

/// Writes an answer as [`answer`] shows it; `null` where there is none.
///
/// # Errors
/// Those of the serializer.
pub fn serialize_answer<S: Serializer>(ack: &Option<Ack>, serializer: S) -> Result<S::Ok, S::Error> {
    ack.as_ref().map(answer).serialize(serializer)
}

/// Writes a path as a text, whatever its bytes are.
///
/// # Errors
/// Those of the serializer.
pub fn serialize_path<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

/// One line of JSON with a line feed, its members sorted. Characters that a terminal would obey or hide are written as
/// `\u....` (the same value for a program), since `serde_json` only does so below U+0020.
pub fn line(document: &impl Serialize) -> String {
    let mut out = one_line(&serde_json::to_value(document).unwrap_or_default());
    out.push('\n');
    out
}

/// As [`line()`], with the name of its schema: `"schema": "andon/WHAT@1"`. docs/formats.md lists the names.
pub fn document(what: &str, document: &impl Serialize) -> String {
    let mut value = serde_json::to_value(document).unwrap_or_default();
    if let Value::Object(members) = &mut value {
        members.entry("schema").or_insert_with(|| format!("andon/{what}@1").into());
    }
    line(&value)
}

/// As [`line()`], for a document that is too large to be held as a value: its members are in the order of its type.
pub fn line_as_declared(document: &impl Serialize) -> String {
    let mut out = harmless(serde_json::to_string(document).unwrap_or_default());
    out.push('\n');
    out
}

/// Documents as JSON lines, each with the name of its schema.
pub fn documents<T: Serialize>(what: &str, documents: &[T]) -> String {
    documents.iter().map(|one| document(what, one)).collect()
}

/// A value without the line feed.
pub fn one_line(value: &Value) -> String {
    harmless(value.to_string())
}

/// A text of JSON that a terminal neither obeys nor hides.
fn harmless(text: String) -> String {
    if !text.chars().any(escape::is_hidden) {
        return text;
    }
    let mut out = String::new();
    let mut units = [0_u16; 2];
    for c in text.chars() {
        if escape::is_hidden(c) {
            for unit in c.encode_utf16(&mut units) {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests;
