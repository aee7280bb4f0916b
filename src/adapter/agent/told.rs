//! A member of a payload: of the type that is looked for, or unknown. Nothing of a foreign payload is an error but that it
//! cannot be read at all.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::MAX_PAYLOAD;
use crate::wire::{self, FormatError};

/// A member that may be missing or of another type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Told<T>(pub(super) Option<T>);

impl<T> Default for Told<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Told<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Ok(Self(if value.is_null() { None } else { serde_json::from_value(value).ok() }))
    }
}

impl Told<String> {
    /// A text that says something, cut to what a name may have.
    pub(super) fn name(self) -> Option<String> {
        self.0.filter(|text| !text.is_empty()).map(|text| text.chars().take(MAX_NAME).collect())
    }
}

/// Longest id or path, in characters.
const MAX_NAME: usize = 4096;

/// Reads the members that `T` names.
pub(super) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, FormatError> {
    let object = wire::map(bytes, MAX_PAYLOAD)?;
    wire::members(&object)
}

/// The text of `value`, or of its member `key`.
pub(super) fn text<'a>(value: Option<&'a Value>, key: &str) -> Option<&'a str> {
    value?.get(key)?.as_str()
}
