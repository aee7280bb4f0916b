//! A member of a payload: of the expected type, or unknown. A foreign payload is an error only where it cannot be parsed at
//! all.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::MAX_PAYLOAD;
use andon_core::format::FormatError;

/// A member that may be missing or of another type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member<T>(pub(super) Option<T>);

impl<T> Default for Member<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Member<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Ok(Self(if value.is_null() { None } else { serde_json::from_value(value).ok() }))
    }
}

impl Member<String> {
    /// A text that says something, cut to what a name may have.
    pub(super) fn name(self) -> Option<String> {
        self.0.filter(|text| !text.is_empty()).map(|text| text.chars().take(MAX_NAME).collect())
    }
}

/// Longest id or path, in characters.
const MAX_NAME: usize = 4096;

/// Reads the members that `T` names. Of the others nothing is kept: a payload may be large.
pub(super) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, FormatError> {
    if bytes.len() > MAX_PAYLOAD {
        return Err(FormatError::TooLarge { bytes: bytes.len(), max: MAX_PAYLOAD });
    }
    // A list would do for a structure.
    if bytes.trim_ascii_start().first().is_some_and(|first| *first != b'{') {
        return Err(FormatError::NotAnObject);
    }
    serde_json::from_slice(bytes).map_err(|error| FormatError::Json(error.to_string()))
}

/// What was said: a text, or the texts of its parts.
pub(super) fn said(value: &Value) -> Option<String> {
    let Value::Array(parts) = value else { return value.as_str().map(str::to_owned) };
    let texts: Vec<&str> = parts.iter().filter_map(|part| text(Some(part), "text")).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// The text of `value`, or of its member `key`.
pub(super) fn text<'a>(value: Option<&'a Value>, key: &str) -> Option<&'a str> {
    value?.get(key)?.as_str()
}
