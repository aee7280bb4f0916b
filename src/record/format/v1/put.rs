//! Members that every kind of line writes and reads the same way.

use serde_json::{Map, Value};

use super::super::members::{FormatError, Members};
use crate::domain::time::Timestamp;

pub(super) fn put(map: &mut Map<String, Value>, key: &str, value: &(impl ToString + ?Sized)) {
    map.insert(key.to_owned(), Value::String(value.to_string()));
}

pub(super) fn put_some(map: &mut Map<String, Value>, key: &str, value: Option<&impl ToString>) {
    if let Some(value) = value {
        put(map, key, value);
    }
}

pub(super) fn decode_time(members: &mut Members<'_>) -> Result<Option<Timestamp>, FormatError> {
    members.parsed("at", "an RFC 3339 time")
}
