//! in-toto Statement v1 in a DSSE envelope.

use serde_json::{Value, json};

use andon_engine::error::OpsError;
use andon_signing::{Signer, base64};
use andon_store::ledger::{AppendError, LedgerError};

/// What the payload of every envelope is.
const PAYLOAD: &str = "application/vnd.in-toto+json";
/// What such statements are signed for, so that no signature of a commit is one of a statement.
const NAMESPACE: &str = "dsse";

/// What a statement is about.
pub(super) struct Subject {
    pub(super) name: &'static str,
    /// The name of the digest.
    pub(super) kind: &'static str,
    pub(super) digest: String,
}

/// A statement about `subjects`.
pub(super) fn statement(subjects: &[Subject], kind: &str, predicate: &Value) -> String {
    let subject = |subject: &Subject| json!({"name": subject.name, "digest": {subject.kind: subject.digest}});
    json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": subjects.iter().map(subject).collect::<Vec<Value>>(),
        "predicateType": kind,
        "predicate": without_nulls(predicate),
    })
    .to_string()
}

/// Absent members stay absent: null is a value to schemas.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(name, value)| (name.clone(), without_nulls(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(without_nulls).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// The bytes that are signed: length-prefixed, so that no two payloads have the same (DSSE, PAE).
pub(super) fn pre_authentication(payload: &str) -> Vec<u8> {
    format!("DSSEv1 {} {PAYLOAD} {} {payload}", PAYLOAD.len(), payload.len()).into_bytes()
}

/// The envelope, in one line.
pub(super) fn envelope(signer: &Signer, payload: &str) -> Result<String, OpsError> {
    let armour = signer
        .sign(NAMESPACE, &pre_authentication(payload))
        .map_err(|err| OpsError::Ledger(LedgerError::Append(AppendError::Signing(err))))?;
    let envelope = json!({
        "payloadType": PAYLOAD,
        "payload": base64(payload.as_bytes()),
        "signatures": [{"keyid": signer.public().fingerprint(), "sig": base64(armour.as_bytes())}],
    });
    Ok(format!("{envelope}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_signed_names_every_length() {
        let signed = String::from_utf8(pre_authentication("{\"ü\":1}")).unwrap();
        assert_eq!(signed, "DSSEv1 28 application/vnd.in-toto+json 8 {\"ü\":1}");
    }

    #[test]
    fn a_statement_has_no_nulls() {
        let subject = Subject { name: "commit", kind: "gitCommit", digest: "ab".into() };
        let text = statement(&[subject], "x", &json!({"a": null, "b": [{"c": null, "d": 1}]}));
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["predicate"], json!({"b": [{"d": 1}]}));
        assert_eq!(value["subject"], json!([{"name": "commit", "digest": {"gitCommit": "ab"}}]));
    }
}
