//! `overlay` of a test run: what differed from HEAD's tree. Paths are bytes: one that is UTF-8 is a text, any other
//! `{"hex":"..."}`.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use andon_core::domain::ids::Oid;
use andon_core::domain::tests::{OverlayEntry, Tracking};
use andon_core::format::FormatError;

#[derive(Debug, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct OverlayWire {
    path: PathWire,
    /// Octal; nothing, with no id, for a path that was deleted.
    mode: Option<String>,
    id: Option<Oid>,
    untracked: Option<bool>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged, expecting = "a path")]
enum PathWire {
    Text(String),
    Bytes { hex: String },
}

impl From<&OverlayEntry> for OverlayWire {
    fn from(entry: &OverlayEntry) -> Self {
        Self {
            path: PathWire::from(entry.path.as_slice()),
            mode: entry.entry.map(|(mode, _)| format!("{mode:o}")),
            id: entry.entry.map(|(_, id)| id),
            untracked: (entry.tracking == Tracking::Untracked).then_some(true),
        }
    }
}

impl From<&[u8]> for PathWire {
    fn from(path: &[u8]) -> Self {
        if let Ok(text) = std::str::from_utf8(path) {
            return Self::Text(text.to_owned());
        }
        let mut hex = String::with_capacity(path.len() * 2);
        for byte in path {
            // Writing to a String cannot fail.
            let _ = write!(hex, "{byte:02x}");
        }
        Self::Bytes { hex }
    }
}

impl TryFrom<OverlayWire> for OverlayEntry {
    type Error = FormatError;

    fn try_from(wire: OverlayWire) -> Result<Self, FormatError> {
        let entry = match (wire.mode, wire.id) {
            (None, None) => None,
            (Some(mode), Some(id)) => Some((octal(&mode).ok_or_else(|| wrong("mode", &mode))?, id)),
            (Some(_), None) | (None, Some(_)) => {
                return Err(wrong("mode", "a mode without an id, or an id without a mode"));
            }
        };
        let path = match wire.path {
            PathWire::Text(text) => text.into_bytes(),
            PathWire::Bytes { hex } => unhex(&hex).ok_or_else(|| wrong("path.hex", &hex))?,
        };
        let untracked = wire.untracked.unwrap_or(false);
        let tracking = if untracked { Tracking::Untracked } else { Tracking::Tracked };
        Ok(Self { path, entry, tracking })
    }
}

fn wrong(member: &str, found: &str) -> FormatError {
    FormatError::member(&format!("overlay[].{member}"), format!("{found:?}"))
}

fn octal(mode: &str) -> Option<u32> {
    // A sign would be read as well.
    let digits = mode.bytes().all(|byte| byte.is_ascii_digit());
    u32::from_str_radix(mode, 8).ok().filter(|_| digits)
}

fn unhex(hex: &str) -> Option<Vec<u8>> {
    if !hex.len().is_multiple_of(2) || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let pairs = hex.as_bytes().chunks_exact(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}
