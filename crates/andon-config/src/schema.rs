//! JSON Schema of `andon.toml`, for editors: made from the same table as everything else.

use serde_json::{Map, Value as Json, json};

use super::keys::{self, Contents, DOCS, Key, Kind, SECTIONS, Section};
use super::setting::{RuleSpecView, known_rules};
use super::value::{UNLIMITED, Value, toml_text};
use andon_core::domain::{Level, ParamSpec, ParamValue};

/// The form of a duration for editors; the reader knows more forms.
const DURATION: &str = r"^\s*([0-9]+(\.[0-9]+)?\s*[a-zA-Z]+[\s,]*)+$";

/// Its name in `SchemaStore`, for when it is there. A name, not an address: nothing is fetched.
const ID: &str = "https://www.schemastore.org/andon.json";

/// The schema, draft-07.
pub fn schema() -> Json {
    let rules = known_rules();
    let section = |one: &&Section| match one.contents {
        Contents::Keys(keys) if one.name == "test" => with_scopes(keys),
        Contents::Keys(keys) => closed(keys.iter().map(|key| (key.name, key_schema(key)))),
        Contents::Rules => closed(rules.iter().map(|rule| (rule.id, rule_schema(rule)))),
        Contents::Workflow => workflow_schema(),
        Contents::Patterns => {
            let names = json!({"pattern": "^[A-Za-z0-9_-]{1,64}$"});
            with(open(&json!({"type": "string", "format": "regex"})), "propertyNames", names)
        }
    };
    let sections = SECTIONS.iter().map(|one| (one.name, described(section(one), one.doc)));
    let schema = with(closed(sections), "$schema", "http://json-schema.org/draft-07/schema#");
    with(with(schema, "$id", ID), "title", "andon.toml")
}

/// The schema with one more member.
fn with(mut schema: Json, name: &str, value: impl Into<Json>) -> Json {
    schema[name] = value.into();
    schema
}

fn described(schema: Json, doc: &str) -> Json {
    with(schema, "description", doc)
}

fn plain(kind: &str) -> Json {
    json!({"type": kind})
}

/// An object of these properties and no others.
fn closed<'a>(properties: impl Iterator<Item = (&'a str, Json)>) -> Json {
    let properties: Map<String, Json> = properties.map(|(name, schema)| (name.to_owned(), schema)).collect();
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

/// An object of any properties that are of `schema`.
fn open(schema: &Json) -> Json {
    json!({"type": "object", "additionalProperties": schema})
}

fn text() -> Json {
    json!({"type": "string", "minLength": 1})
}

fn matching(pattern: &str) -> Json {
    json!({"type": "string", "pattern": pattern})
}

fn count(min: u64, max: u64) -> Json {
    json!({"type": "integer", "minimum": min, "maximum": max})
}

fn list(items: &Json) -> Json {
    json!({"type": "array", "items": items})
}

fn one_of(words: &[&str]) -> Json {
    json!({"type": "string", "enum": words})
}

/// Or no limit.
fn or_unlimited(schema: &Json) -> Json {
    json!({"anyOf": [schema, {"type": "string", "const": UNLIMITED}]})
}

/// `[test]` with its table of scopes.
fn with_scopes(keys: &[Key]) -> Json {
    let scope = closed(keys::SCOPE_KEYS.iter().map(|key| (key.name, key_schema(key))));
    let names = json!({"pattern": "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"});
    let scopes = with(open(&with(scope, "required", json!(["paths", "command"]))), "propertyNames", names);
    let doc =
        "Parts of the code with tests of their own: a commit needs those of the scopes that it touches.";
    let keys = keys.iter().map(|key| (key.name, key_schema(key)));
    closed(keys.chain([("scopes", described(scopes, doc))]))
}

fn workflow_schema() -> Json {
    let short = || with(text(), "maxLength", 256);
    let texts = ["environment", "author", "trailer", "branch"].map(|name| (name, short()));
    let node = closed(texts.into_iter().chain([
        ("edits", plain("boolean")),
        ("max_turns", count(1, ParamSpec::ANY)),
        ("max_runtime", matching(DURATION)),
    ]));
    let edge = closed([("from", short()), ("to", short())].into_iter().chain([
        ("anchor", plain("boolean")),
        ("max_iterations", count(1, ParamSpec::ANY)),
        ("max_runtime", matching(DURATION)),
        ("max_cost", matching(r"^[0-9]*\.?[0-9]*$")),
    ]));
    let edge = with(edge, "required", json!(["from", "to"]));
    closed([("nodes", open(&node)), ("edges", list(&edge))].into_iter())
}

fn key_schema(key: &Key) -> Json {
    let schema = match &key.kind {
        Kind::Choice(words) | Kind::OptionalChoice(words) => one_of(&words()),
        Kind::Duration(_) => matching(DURATION),
        Kind::Limit(_) => or_unlimited(&matching(DURATION)),
        Kind::Count(count) => param_schema(&count.spec),
        Kind::Command => json!({"anyOf": [text(), with(list(&plain("string")), "minItems", 1)]}),
        Kind::Globs(_) | Kind::Program | Kind::Providers | Kind::Texts => list(&text()),
        Kind::Text => text(),
        Kind::Entry => matching("^[0-9a-fA-F]{64}$"),
        Kind::Checksum => matching("^sha256:[0-9a-fA-F]{64}$"),
        Kind::Pinned => open(&matching("^[0-7]{1,6} [0-9a-f]+$")),
        Kind::Format => one_of(&keys::formats().collect::<Vec<_>>()),
        Kind::Switch(_) => plain("boolean"),
    };
    let schema = described(schema, key.doc);
    let default = key.default();
    if default == Value::Unset { schema } else { with(schema, "default", default.to_json()) }
}

fn rule_schema(rule: &RuleSpecView) -> Json {
    let default = rule.default_level.as_str();
    let level = with(one_of(&Level::ALL.map(|(_, name)| name)), "default", default);
    let doc = |spec: &ParamSpec| {
        let mut docs = rule.param_docs.lines().filter_map(|line| line.split_once(": "));
        docs.find(|(name, _)| *name == spec.name).map_or("", |(_, doc)| doc)
    };
    let params = rule.params.iter().map(|spec| (spec.name, described(param_schema(spec), doc(spec))));
    let table = closed(std::iter::once(("level", level.clone())).chain(params));
    described(json!({"anyOf": [level, table], "default": default}), rule.summary)
}

fn param_schema(spec: &ParamSpec) -> Json {
    let default = spec.default();
    let schema = match &default {
        ParamValue::Count(_) => count(spec.min, spec.max),
        ParamValue::Limit(_) => or_unlimited(&count(spec.min, spec.max)),
        ParamValue::SpanLimit(_) => or_unlimited(&matching(DURATION)),
        ParamValue::Share(_) => json!({"type": "number", "minimum": 0, "maximum": 1}),
        ParamValue::Span(_) => matching(DURATION),
        ParamValue::Switch(_) => plain("boolean"),
        ParamValue::List(_) => list(&plain("string")),
        ParamValue::Word { of, .. } => one_of(of),
    };
    with(schema, "default", Value::Param(default).to_json())
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
    let globs = |line: &str| line.split_whitespace().map(toml_text).collect::<Vec<_>>().join(", ");
    let docs: String = DOCS.lines().map(|line| format!("  {},\n", globs(line))).collect();
    format!(
        "#:schema ./{SCHEMA_FILE}\n{HEAD}\n{GUARD}\n[test]\n{command}\n[paths]\n\
         docs = [  # a commit of nothing but these needs no tests\n{docs}]\n"
    )
}
