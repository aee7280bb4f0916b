//! `entry.json` of any type, its members as they are (docs/formats.md): what witnesses sign must not be cut or
//! reordered, and what another version wrote is kept.
//!
//! ```text
//! {"schema":"andon/ledger@1","type":"resolution","writer":"<id>","lamport":7,"at":"<time>","ledger"?:"<entry id>", ...}
//! ```

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::ledger::{MAX_ENTRY, MAX_NUMBER, SCHEMA};
use andon_core::domain::Timestamp;
use andon_core::format::{Count, FormatError, map, members, members_of};

/// The members that give the place of an entry; all others are its content.
const PLACE: [&str; 6] = ["schema", "type", "writer", "lamport", "at", "ledger"];

#[derive(Serialize, Deserialize)]
struct OpenWire {
    schema: Option<String>,
    #[serde(rename = "type")]
    kind: String,
    writer: String,
    lamport: Count,
    at: Option<Timestamp>,
    ledger: Option<String>,
}

/// An entry of any type.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenEntry {
    /// The type; untrusted text.
    pub kind: String,
    pub writer: String,
    /// Its Lamport number.
    pub lamport: u64,
    /// The time it claims.
    pub at: Option<Timestamp>,
    /// The id of the ledger that it belongs to.
    pub ledger: Option<String>,
    /// Everything else it says.
    pub body: Map<String, Value>,
}

/// The bytes of an entry.
///
/// # Errors
/// The error of the canonicalization: a number that RFC 8785 cannot hold.
pub fn encode_open(entry: &OpenEntry) -> Result<Vec<u8>, serde_json::Error> {
    let mut all = entry.body.clone();
    all.extend(members_of(&OpenWire {
        schema: Some(SCHEMA.to_owned()),
        kind: entry.kind.clone(),
        writer: entry.writer.clone(),
        lamport: Count(entry.lamport.min(MAX_NUMBER)),
        at: entry.at,
        ledger: entry.ledger.clone(),
    }));
    serde_json_canonicalizer::to_vec(&all)
}

/// Reads an entry, and whether its bytes are the canonical form of what it says.
///
/// # Errors
/// [`FormatError`] when it is too long, no JSON object, or lacks its place.
pub fn decode_open(bytes: &[u8]) -> Result<(OpenEntry, bool), FormatError> {
    let mut all = map(bytes, MAX_ENTRY)?;
    let is_canonical = serde_json_canonicalizer::to_vec(&all).is_ok_and(|form| form == bytes);
    let OpenWire { kind, writer, lamport, at, ledger, .. } = members(&all)?;
    all.retain(|name, _| !PLACE.contains(&name.as_str()));
    let lamport = lamport.0.min(MAX_NUMBER);
    Ok((OpenEntry { kind, writer, lamport, at, ledger, body: all }, is_canonical))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn entry() -> OpenEntry {
        let Value::Object(body) = json!({"round": "ab", "reason": "ü \u{2028} \"x\"", "n": 3}) else {
            unreachable!("an object")
        };
        OpenEntry {
            kind: "flag".into(),
            writer: "w".into(),
            lamport: 7,
            at: Some(Timestamp(1_795_188_600)),
            ledger: Some("00".into()),
            body,
        }
    }

    #[test]
    fn an_entry_comes_back_whole_and_has_one_form() {
        let bytes = encode_open(&entry()).unwrap();
        assert_eq!(decode_open(&bytes).unwrap(), (entry(), true));
        let spaced = [b" ", bytes.as_slice()].concat();
        assert_eq!(decode_open(&spaced).unwrap(), (entry(), false));
        let text = String::from_utf8(bytes).unwrap();
        // Numbers that only look alike, and members out of order.
        for odd in [text.replace("\"n\":3", "\"n\":3.0"), text.replace("{\"at\"", "{\"x\":1,\"at\"")] {
            assert!(!decode_open(odd.as_bytes()).unwrap().1, "{odd}");
        }
        for gone in ["\"type\"", "\"writer\"", "\"lamport\""] {
            assert!(decode_open(text.replace(gone, "\"z\"").as_bytes()).is_err(), "{gone}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = decode_open(&bytes);
        }
    }
}
