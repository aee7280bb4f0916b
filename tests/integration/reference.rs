//! The reference pages are current: docs/rules/, docs/cli/ and the generated parts of docs/cli.md, docs/configuration.md
//! and docs/rules.md say what the program knows of its rules, commands and keys; docs/troubleshooting.md has the states of
//! `hints::every`.
//!
//! `ANDON_UPDATE_DOCS=1 cargo test --test integration reference` writes them anew.

mod cli;
mod json;

use std::{collections::BTreeMap, fmt::Write as _, path::Path};

use serde_json::Value;

use crate::support::Stage;
use andon_core::detect::{REGISTRY, Rule};

const BEGIN: &str = "<!-- generated: ANDON_UPDATE_DOCS=1 cargo test --test integration reference -->\n";
const END: &str = "<!-- end of what is generated -->\n";
const UPDATE: &str = "ANDON_UPDATE_DOCS";

/// Sections in the order in which a person needs them. Rules have a page of their own, and what `[workflow]` and
/// `[normalize]` hold is written by hand.
const SECTIONS: [&str; 13] = [
    "guard",
    "test",
    "paths",
    "rules",
    "normalize",
    "workflow",
    "usage",
    "agents",
    "identity",
    "on_stall",
    "advisor",
    "fallback",
    "notify",
];
/// Columns of a paragraph.
const WIDTH: usize = 120;
/// A longer default is left to `andon config show`.
const WIDEST_DEFAULT: usize = 60;

#[test]
fn the_configuration_reference_is_current() {
    let schema = schema();
    let known = schema["properties"].as_object().unwrap();
    assert_eq!(known.len(), SECTIONS.len(), "a section is missing in SECTIONS: {:?}", known.keys());
    let mut text = String::new();
    for name in SECTIONS {
        let section = &known[name];
        writeln!(text, "\n### `[{name}]`\n\n{}", section["description"].as_str().unwrap()).unwrap();
        let keys = section["properties"].as_object();
        if let Some(keys) = keys.filter(|_| !["rules", "workflow"].contains(&name)) {
            let prefix = format!("{name}.");
            text.push_str(&table("key", &prefix, keys.iter().map(|(key, schema)| (key.as_str(), schema))));
        }
    }
    compare("docs/configuration.md", &text);
}

#[test]
fn the_pages_of_rules_are_current() {
    let schema = schema();
    let mut text = String::from("\n| rule | trips when | level |\n|---|---|---|\n");
    let mut pages = BTreeMap::new();
    for rule in REGISTRY {
        writeln!(
            text,
            "| [`{0}`](rules/{0}.md) | {1} | {2} |",
            rule.id,
            cell(rule.summary()),
            rule.level.as_str()
        )
        .unwrap();
        let page = described(rule, &schema["properties"]["rules"]["properties"][rule.id]);
        pages.insert(format!("{}.md", rule.id), page);
    }
    compare("docs/rules.md", &text);
    compare_folder("docs/rules", &pages);
}

#[test]
fn the_page_tunes_rules_as_the_configuration_takes_it() {
    let stage = Stage::new();
    let mut toml = String::from("[rules]\n");
    for rule in REGISTRY {
        let own = format!("{} = ", rule.id);
        let tune = rule.docs().tune;
        let shown = tune.split('`').find(|code| code.starts_with(&own));
        writeln!(toml, "{}", shown.unwrap_or_else(|| panic!("{}: {tune}", rule.id))).unwrap();
    }
    stage.write("andon.toml", toml);
    stage.andon(&["config", "check"]).ok();
}

fn described(rule: &Rule, schema: &Value) -> String {
    let docs = rule.docs();
    let mut text = format!(
        "# `{}`\n\n{BEGIN}\n[All rules](../rules.md), [what the words mean](../glossary.md).\n\n{}\n\nDefault level `{}`, halt reason `{}`.\n",
        rule.id,
        filled(&sentence(rule.summary())),
        rule.level.as_str(),
        rule.reason.as_str()
    );
    for (title, what) in
        [("When it trips", docs.trips), ("Why", docs.why), ("Example", docs.example), ("Tuning", docs.tune)]
    {
        write!(text, "\n## {title}\n\n{}\n", filled(&what)).unwrap();
    }
    let forms = schema["anyOf"].as_array().unwrap();
    let params = forms.iter().find_map(|form| form["properties"].as_object()).unwrap();
    let params: Vec<(&str, &Value)> = params
        .iter()
        .filter(|(name, _)| *name != "level")
        .map(|(name, schema)| (name.as_str(), schema))
        .collect();
    if !params.is_empty() {
        text.push_str("\n## Parameters\n");
        text.push_str(&table("parameter", &format!("rules.{}.", rule.id), params.into_iter()));
    }
    let excuses: String = rule
        .excuses()
        .map(|excuse| filled(&format!("- {}: {}.", excuse.name, excuse.meaning)) + "\n")
        .collect();
    if !excuses.is_empty() {
        write!(text, "\n## Excuses\n\n{excuses}").unwrap();
    }
    text
}

/// A summary of the table as a sentence of its own.
fn sentence(summary: &str) -> String {
    let mut letters = summary.chars();
    let first = letters.next().map(|one| one.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

/// Paragraphs and lists, each line of a width that can be read in a diff.
fn filled(text: &str) -> String {
    let line = |line: &str| {
        let indent = if line.starts_with("- ") { "  " } else { "" };
        let options = textwrap::Options::new(WIDTH)
            .word_splitter(textwrap::WordSplitter::NoHyphenation)
            .subsequent_indent(indent);
        textwrap::fill(line, options)
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// What `andon config schema` prints.
fn schema() -> Value {
    let out = Stage::new().andon(&["config", "schema"]).ok();
    serde_json::from_str(&out.stdout).unwrap()
}

fn table<'a>(what: &str, prefix: &str, keys: impl Iterator<Item = (&'a str, &'a Value)>) -> String {
    let mut text = format!("\n| {what} | values | default | meaning |\n|---|---|---|---|\n");
    for (name, schema) in keys {
        let doc = schema["description"].as_str().unwrap();
        let default = default(&schema["default"], &format!("{prefix}{name}"));
        writeln!(text, "| `{name}` | {} | {default} | {} |", values(schema), cell(doc)).unwrap();
    }
    text
}

/// What may be written there, in words.
fn values(schema: &Value) -> String {
    if let Some(forms) = schema["anyOf"].as_array() {
        return forms.iter().map(values).collect::<Vec<_>>().join(" or ");
    }
    if let Some(word) = schema["const"].as_str() {
        return format!("`\"{word}\"`");
    }
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        return words.join(", ");
    }
    let pattern = schema["pattern"].as_str().unwrap_or_default();
    match schema["type"].as_str().unwrap() {
        "array" => "list of strings".to_owned(),
        "boolean" => "`true`, `false`".to_owned(),
        "integer" => format!("integer from {}", schema["minimum"]),
        "number" => format!("number from {} to {}", schema["minimum"], schema["maximum"]),
        "object" => "table".to_owned(),
        "string" if pattern.contains("sha256") => "`\"sha256:...\"`".to_owned(),
        "string" if pattern.contains("{64}") => "64 hexadecimal digits".to_owned(),
        "string" if pattern.is_empty() => "string".to_owned(),
        "string" => "duration".to_owned(),
        other => panic!("{other}"),
    }
}

fn default(value: &Value, key: &str) -> String {
    match value.to_string() {
        text if value.is_null() || text == "[]" && key == "identity.pinned" => "not set".to_owned(),
        text if text.len() <= WIDEST_DEFAULT => format!("`{}`", cell(&text)),
        _ => format!("`andon config show {key}`"),
    }
}

/// A text that may be in a table.
pub(crate) fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// Compares the generated part of a page, or writes it when asked to.
#[track_caller]
pub(crate) fn compare(page: &str, generated: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
    let found = std::fs::read_to_string(&path).unwrap();
    let (head, rest) = found.split_once(BEGIN).unwrap_or_else(|| panic!("{page} has no line {BEGIN}"));
    let (old, tail) = rest.split_once(END).unwrap_or_else(|| panic!("{page} has no line {END}"));
    let new = format!("{generated}\n");
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(&path, format!("{head}{BEGIN}{new}{END}{tail}")).unwrap();
    } else {
        let differs = old.lines().zip(new.lines()).find(|(old, new)| old != new);
        assert!(
            old == new,
            "{page} is not current: {differs:?}\n  help: {UPDATE}=1 cargo test --test integration reference"
        );
    }
}

/// Compares a folder of pages that are generated as a whole, or writes it when asked to.
#[track_caller]
fn compare_folder(folder: &str, pages: &BTreeMap<String, String>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    if std::env::var_os(UPDATE).is_some() {
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        for (name, text) in pages {
            std::fs::write(path.join(name), text).unwrap();
        }
    }
    let help = format!("  help: {UPDATE}=1 cargo test --test integration reference");
    let there: BTreeMap<String, String> = std::fs::read_dir(&path)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            (entry.file_name().into_string().unwrap(), std::fs::read_to_string(entry.path()).unwrap())
        })
        .collect();
    assert!(there.keys().eq(pages.keys()), "{folder}: {:?}\n{help}", there.keys());
    for (name, text) in pages {
        assert!(there[name] == *text, "{folder}/{name} is not current\n{help}");
    }
}
