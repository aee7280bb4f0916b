//! The JSON of halts, for programs and files: one line a document.

pub mod halt;
pub mod precedent;
pub mod user_programs;

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;

use andon_core::escape;

pub use halt::{AckJson, HaltJson, LastHaltJson};
pub use precedent::RoundPrecedentJson;
pub use user_programs::{HandoffJson, NoticeJson, StallJson};

/// One line of JSON with a line feed, its keys sorted. Characters that a terminal would obey or hide are written as
/// `\u....` (the same value for a program), since `serde_json` only does so below U+0020.
pub fn line(document: &impl Serialize) -> String {
    let mut out = one_line(&serde_json::to_value(document).unwrap_or_default());
    out.push('\n');
    out
}

/// A value without the line feed.
pub fn one_line(value: &Value) -> String {
    harmless(value.to_string())
}

/// A text of JSON that a terminal neither obeys nor hides.
pub fn harmless(text: String) -> String {
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
