//! JSON Schema of `andon.toml`, for editors: made from the same table as everything else.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::keys::{self, Contents, DOCS, Key, Kind, SECTIONS, Section};
use super::setting::{RuleSpecView, known_rules};
use super::value::{UNLIMITED, Value, toml_text};
use andon_core::domain::findings::Level;
use andon_core::domain::settings::{ParamSpec, ParamValue};
use andon_core::format::members_of;

/// The form of a duration for editors; the reader knows more forms.
const DURATION: &str = r"^\s*([0-9]+(\.[0-9]+)?\s*[a-zA-Z]+[\s,]*)+$";

/// Its name in `SchemaStore`, for when it is there. A name, not an address: nothing is fetched.
const ID: &str = "https://www.schemastore.org/andon.json";

/// The schema, draft-07.
pub fn schema() -> serde_json::Value {
    let rules = known_rules();
    let section = |contents: &Contents| match contents {
        Contents::Keys(keys) => closed(keys.iter().map(|key| (key.name, key_schema(key)))),
        Contents::Rules => closed(rules.iter().map(|rule| (rule.id, rule_schema(rule)))),
        Contents::Workflow => workflow_schema(),
        Contents::Patterns => SchemaJson {
            property_names: Some(Box::new(SchemaJson {
                pattern: Some("^[A-Za-z0-9_-]{1,64}$"),
                ..SchemaJson::default()
            })),
            ..open(SchemaJson { format: Some("regex"), ..schema_json("string") })
        },
    };
    let section = |one: &Section| match one.name {
        "test" => with_scopes(section(&one.contents)),
        _ => section(&one.contents),
    };
    let sections = SECTIONS.iter().map(|one| (one.name, described(section(one), one.doc)));
    SchemaJson {
        schema: Some("http://json-schema.org/draft-07/schema#"),
        id: Some(ID),
        title: Some("andon.toml"),
        ..closed(sections)
    }
    .document()
}

fn schema_json(kind: &'static str) -> SchemaJson {
    SchemaJson { kind: Some(kind), ..SchemaJson::default() }
}

/// An object of these properties and no others.
fn closed<'a>(properties: impl Iterator<Item = (&'a str, SchemaJson)>) -> SchemaJson {
    SchemaJson {
        properties: Some(properties.map(|(name, schema)| (name.to_owned(), schema)).collect()),
        additional_properties: Some(AdditionalProperties::Nothing),
        ..schema_json("object")
    }
}

/// An object of any properties that are of `schema`.
fn open(schema: SchemaJson) -> SchemaJson {
    SchemaJson {
        additional_properties: Some(AdditionalProperties::Any(Box::new(schema))),
        ..schema_json("object")
    }
}

fn text() -> SchemaJson {
    SchemaJson { min_length: Some(1), ..schema_json("string") }
}

fn matching(pattern: &'static str) -> SchemaJson {
    SchemaJson { pattern: Some(pattern), ..schema_json("string") }
}

fn count(min: u64, max: u64) -> SchemaJson {
    SchemaJson { minimum: Some(min), maximum: Some(max), ..schema_json("integer") }
}

fn list(items: SchemaJson) -> SchemaJson {
    SchemaJson { items: Some(Box::new(items)), ..schema_json("array") }
}

fn one_of(words: Vec<&'static str>) -> SchemaJson {
    SchemaJson { words: Some(words), ..schema_json("string") }
}

fn any_of(schemas: Vec<SchemaJson>) -> SchemaJson {
    SchemaJson { any_of: Some(schemas), ..SchemaJson::default() }
}

/// Or no limit.
fn or_unlimited(schema: SchemaJson) -> SchemaJson {
    any_of(vec![schema, SchemaJson { constant: Some(UNLIMITED), ..schema_json("string") }])
}

fn described(schema: SchemaJson, doc: &'static str) -> SchemaJson {
    SchemaJson { description: Some(doc), ..schema }
}

/// `[test]` with its table of scopes.
fn with_scopes(mut test: SchemaJson) -> SchemaJson {
    let scope = closed(keys::SCOPE_KEYS.iter().map(|key| (key.name, key_schema(key))));
    let scope = SchemaJson { required: Some(&["paths", "command"]), ..scope };
    let names = SchemaJson { pattern: Some("^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"), ..SchemaJson::default() };
    let scopes = SchemaJson { property_names: Some(Box::new(names)), ..open(scope) };
    let doc =
        "Parts of the code with tests of their own: a commit needs those of the scopes that it touches.";
    test.properties.get_or_insert_default().insert("scopes".to_owned(), described(scopes, doc));
    test
}

fn workflow_schema() -> SchemaJson {
    let short = || SchemaJson { max_length: Some(256), ..text() };
    let texts = ["environment", "author", "trailer", "branch"].map(|name| (name, short()));
    let node = closed(texts.into_iter().chain([
        ("edits", schema_json("boolean")),
        ("max_turns", count(1, ParamSpec::ANY)),
        ("max_runtime", matching(DURATION)),
    ]));
    let edge = closed([("from", short()), ("to", short())].into_iter().chain([
        ("anchor", schema_json("boolean")),
        ("max_iterations", count(1, ParamSpec::ANY)),
        ("max_runtime", matching(DURATION)),
        ("max_cost", matching(r"^[0-9]*\.?[0-9]*$")),
    ]));
    let edge = SchemaJson { required: Some(&["from", "to"]), ..edge };
    closed([("nodes", open(node)), ("edges", list(edge))].into_iter())
}

fn key_schema(key: &Key) -> SchemaJson {
    let schema = match &key.kind {
        Kind::Choice { words } => one_of(words()),
        Kind::Duration(_) => matching(DURATION),
        Kind::Limit(_) => or_unlimited(matching(DURATION)),
        Kind::Command => {
            any_of(vec![text(), SchemaJson { min_items: Some(1), ..list(schema_json("string")) }])
        }
        Kind::Globs | Kind::Program | Kind::Providers | Kind::Texts => list(text()),
        Kind::Text => text(),
        Kind::Entry => matching("^[0-9a-fA-F]{64}$"),
        Kind::Checksum => matching("^sha256:[0-9a-fA-F]{64}$"),
        Kind::Pinned => open(matching("^[0-7]{1,6} [0-9a-f]+$")),
        Kind::Format => one_of(keys::formats().collect()),
        Kind::Switch => schema_json("boolean"),
    };
    let default = Some(key.default()).filter(|default| *default != Value::Unset);
    described(SchemaJson { default: default.map(|default| default.to_json()), ..schema }, key.doc)
}

fn rule_schema(rule: &RuleSpecView) -> SchemaJson {
    let default = || Some(rule.default_level.as_str().into());
    let level = SchemaJson { default: default(), ..one_of(Level::ALL.map(|(_, name)| name).to_vec()) };
    let params = rule.params.iter().map(|spec| (spec.name, param_schema(spec)));
    let table = closed(std::iter::once(("level", level.clone())).chain(params));
    described(SchemaJson { default: default(), ..any_of(vec![level, table]) }, rule.summary)
}

fn param_schema(spec: &ParamSpec) -> SchemaJson {
    let default = spec.default();
    let schema = match &default {
        ParamValue::Count(_) => count(spec.min, spec.max),
        ParamValue::Limit(_) => or_unlimited(count(spec.min, spec.max)),
        ParamValue::SpanLimit(_) => or_unlimited(matching(DURATION)),
        ParamValue::Share(_) => SchemaJson { minimum: Some(0), maximum: Some(1), ..schema_json("number") },
        ParamValue::Span(_) => matching(DURATION),
        ParamValue::Switch(_) => schema_json("boolean"),
        ParamValue::List(_) => list(schema_json("string")),
        ParamValue::Word { of, .. } => one_of(of.to_vec()),
    };
    described(SchemaJson { default: Some(Value::Param(default).to_json()), ..schema }, spec.doc)
}

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
    pub default: Option<serde_json::Value>,
}

impl SchemaJson {
    /// The schema as it is printed.
    pub fn document(&self) -> serde_json::Value {
        serde_json::Value::Object(members_of(self))
    }
}

/// The members that an object may hold apart from its properties.
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

/// The file of the JSON Schema that installing writes, seen from the top of the working tree.
pub const SCHEMA_FILE: &str = ".git/andon/andon.schema.json";

const HEAD: &str =
    "# Andon stops a coding loop that no longer makes progress. Everything else: andon config show\n";

const GUARD: &str = "[guard]\n\
                     applies_to = \"everyone\"  # whose commits are refused; \"agents\": people's are only recorded\n";

/// The file, with `command` as the test command when there is one. At most 20 lines; loads without errors.
pub fn template(command: Option<&str>) -> String {
    let command = command.map(str::trim).filter(|command| !command.is_empty());
    let command = command.map_or_else(
        || {
            "# command = \"cargo test\"  # what runs your tests; without it untested code only warns\n"
                .to_owned()
        },
        |command| format!("command = {}\n", toml_text(command)),
    );
    let docs: String = DOCS.iter().map(|line| globs(line)).collect();
    format!(
        "#:schema ./{SCHEMA_FILE}\n{HEAD}\n{GUARD}\n[test]\n{command}\n[paths]\n\
         docs = [  # a commit of nothing but these needs no tests\n{docs}]\n"
    )
}

fn globs(line: &[&str]) -> String {
    let globs: Vec<String> = line.iter().map(|glob| toml_text(glob)).collect();
    format!("  {},\n", globs.join(", "))
}
