//! JSON Schema of `andon.toml`, for editors: made from the same table as everything else.

use serde_json::{Map, Value as Json, json};

use super::keys::{self, Contents, Key, Kind, SECTIONS};
use super::reading::MAX_COUNT;
use super::rules::{RuleSpecView, known_rules};
use super::value::{UNLIMITED, Value};
use crate::domain::findings::Level;
use crate::domain::settings::{ParamSpec, ParamValue};

/// What editors are told a duration looks like; the reader knows better.
const DURATION: &str = r"^\s*([0-9]+(\.[0-9]+)?\s*[a-zA-Z]+[\s,]*)+$";

/// The schema, draft 2020-12.
pub fn schema() -> Json {
    let rules = known_rules();
    let section = |contents: &Contents| match contents {
        Contents::Keys(keys) => closed(keys.iter().map(|key| (key.name, key_schema(key)))),
        Contents::Rules => closed(rules.iter().map(|rule| (rule.id, rule_schema(rule)))),
        Contents::Workflow => workflow_schema(),
        Contents::Patterns => json!({
            "type": "object",
            "propertyNames": { "pattern": "^[A-Za-z0-9_-]{1,64}$" },
            "additionalProperties": { "type": "string", "format": "regex" },
        }),
    };
    let sections = SECTIONS.iter().map(|one| (one.name, described(section(&one.contents), one.doc)));
    let mut schema = closed(sections);
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["title"] = "andon.toml".into();
    schema
}

/// An object of these properties and no others.
fn closed<'a>(properties: impl Iterator<Item = (&'a str, Json)>) -> Json {
    let properties: Map<String, Json> = properties.map(|(name, schema)| (name.to_owned(), schema)).collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

fn described(mut schema: Json, doc: &str) -> Json {
    schema["description"] = doc.into();
    schema
}

fn workflow_schema() -> Json {
    let text = || json!({ "type": "string", "minLength": 1, "maxLength": 256 });
    let count = || json!({ "type": "integer", "minimum": 1, "maximum": MAX_COUNT });
    let span = || json!({ "type": "string", "pattern": DURATION });
    let switch = || json!({ "type": "boolean" });
    let texts = ["environment", "author", "trailer", "branch"].map(|name| (name, text()));
    let node = closed(texts.into_iter().chain([
        ("edits", switch()),
        ("max_turns", count()),
        ("max_runtime", span()),
    ]));
    let mut edge = closed([("from", text()), ("to", text())].into_iter().chain([
        ("anchor", switch()),
        ("max_iterations", count()),
        ("max_runtime", span()),
        ("max_cost", json!({ "type": "string", "pattern": r"^[0-9]*\.?[0-9]*$" })),
    ]));
    edge["required"] = json!(["from", "to"]);
    let nodes = json!({ "type": "object", "additionalProperties": node });
    closed([("nodes", nodes), ("edges", json!({ "type": "array", "items": edge }))].into_iter())
}

fn key_schema(key: &Key) -> Json {
    let texts = json!({ "type": "array", "items": { "type": "string", "minLength": 1 } });
    let mut schema = match &key.kind {
        Kind::Choice { words, .. } => json!({ "enum": words() }),
        Kind::Duration(_) => json!({ "type": "string", "pattern": DURATION }),
        Kind::Limit(_) => {
            json!({ "anyOf": [{ "type": "string", "pattern": DURATION }, { "const": UNLIMITED }] })
        }
        Kind::Command => {
            let list = json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 });
            json!({ "anyOf": [{ "type": "string", "minLength": 1 }, list] })
        }
        Kind::Globs | Kind::Program | Kind::Providers | Kind::Texts => texts,
        Kind::Text => json!({ "type": "string", "minLength": 1 }),
        Kind::Checksum => json!({ "type": "string", "pattern": "^sha256:[0-9a-fA-F]{64}$" }),
        Kind::Pinned => {
            let state = json!({ "type": "string", "pattern": "^[0-7]{1,6} [0-9a-f]+$" });
            return described(json!({ "type": "object", "additionalProperties": state }), key.doc);
        }
        Kind::Format => json!({ "enum": keys::formats().collect::<Vec<_>>() }),
        Kind::Switch => json!({ "type": "boolean" }),
    };
    let default = key.default();
    if default != Value::Unset {
        schema["default"] = default.to_json();
    }
    described(schema, key.doc)
}

fn rule_schema(rule: &RuleSpecView) -> Json {
    let level = json!({ "enum": Level::ALL.map(|(_, name)| name), "default": rule.default_level.as_str() });
    let params = rule.params.iter().map(|spec| (spec.name, param_schema(spec)));
    let table = closed(std::iter::once(("level", level.clone())).chain(params));
    described(json!({ "anyOf": [level, table], "default": rule.default_level.as_str() }), rule.summary)
}

fn param_schema(spec: &ParamSpec) -> Json {
    let default = spec.default();
    let mut schema = match &default {
        ParamValue::Count(_) => json!({ "type": "integer", "minimum": spec.min, "maximum": MAX_COUNT }),
        ParamValue::Limit(_) => {
            let count = json!({ "type": "integer", "minimum": spec.min, "maximum": MAX_COUNT });
            json!({ "anyOf": [count, { "const": UNLIMITED }] })
        }
        ParamValue::SpanLimit(_) => {
            json!({ "anyOf": [{ "type": "string", "pattern": DURATION }, { "const": UNLIMITED }] })
        }
        ParamValue::Share(_) => json!({ "type": "number", "minimum": 0, "maximum": 1 }),
        ParamValue::Span(_) => json!({ "type": "string", "pattern": DURATION }),
        ParamValue::Switch(_) => json!({ "type": "boolean" }),
        ParamValue::List(_) => json!({ "type": "array", "items": { "type": "string" } }),
        ParamValue::Word { of, .. } => json!({ "enum": of }),
    };
    schema["default"] = Value::Param(default).to_json();
    described(schema, spec.doc)
}
