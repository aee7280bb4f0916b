//! JSON Schema, as far as `andon config schema` speaks it. What a schema does not say is left out.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::Value;

use andon_core::format::members_of;

/// A schema, draft-07: what editors of TOML and `SchemaStore` read.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SchemaJson {
    #[serde(rename = "$schema")]
    pub schema: Option<&'static str>,
    #[serde(rename = "$id")]
    pub id: Option<&'static str>,
    pub title: Option<&'static str>,
    pub description: Option<&'static str>,
    #[serde(rename = "type")]
    pub kind: Option<&'static str>,
    pub format: Option<&'static str>,
    pub pattern: Option<&'static str>,
    #[serde(rename = "const")]
    pub constant: Option<&'static str>,
    #[serde(rename = "enum")]
    pub words: Option<Vec<&'static str>>,
    pub minimum: Option<u64>,
    pub maximum: Option<u64>,
    pub min_length: Option<u64>,
    pub max_length: Option<u64>,
    pub min_items: Option<u64>,
    pub items: Option<Box<SchemaJson>>,
    pub any_of: Option<Vec<SchemaJson>>,
    pub properties: Option<BTreeMap<String, SchemaJson>>,
    pub property_names: Option<Box<SchemaJson>>,
    pub additional_properties: Option<AdditionalProperties>,
    pub required: Option<&'static [&'static str]>,
    pub default: Option<Value>,
}

impl SchemaJson {
    /// The schema as it is printed.
    pub fn document(&self) -> Value {
        Value::Object(members_of(self))
    }
}

/// What an object may hold apart from its properties.
#[derive(Debug, Clone)]
pub enum AdditionalProperties {
    Nothing,
    Any(Box<SchemaJson>),
}

impl Serialize for AdditionalProperties {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Nothing => serializer.serialize_bool(false),
            Self::Any(schema) => schema.serialize(serializer),
        }
    }
}
