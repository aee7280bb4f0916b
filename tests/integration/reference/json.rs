//! docs/json.md: each member of the JSON of `andon status` and `andon check`, taken from the types that are printed.

use std::collections::{BTreeMap, BTreeSet};
use std::{fmt::Write as _, fs, path::Path};

use super::{cell, compare};
use crate::support::Stage;

/// The files in which the types are declared.
const SOURCES: [&str; 7] = [
    "crates/andon-engine/src/view/status.rs",
    "src/verbs/check/text.rs",
    "crates/andon-core/src/domain/diagnostic.rs",
    "crates/andon-core/src/domain/findings.rs",
    "crates/andon-core/src/domain/decision.rs",
    "crates/andon-engine/src/halts/decisions.rs",
    "crates/andon-engine/src/asking/waiting.rs",
];
/// The documents, by their type.
const DOCUMENTS: [(&str, &str); 2] = [("andon/status@1", "StatusView"), ("andon/check@1", "CheckJson")];

/// Members that every document has, and the badge, which the page describes by hand.
const BESIDE: [&str; 2] = ["schema", "badge"];

/// A member of a type.
struct Member {
    name: String,
    shape: String,
    meaning: String,
    is_flat: bool,
}

#[test]
fn the_members_of_status_and_check_are_documented() {
    let known = types();
    let mut text = String::new();
    for (schema, name) in DOCUMENTS {
        writeln!(text, "\n## `{schema}`\n").unwrap();
        let mut seen = BTreeSet::from([name.to_owned()]);
        let mut waiting = vec![name.to_owned()];
        while let Some(next) = waiting.pop() {
            if next != name {
                writeln!(text, "\n### {next}\n").unwrap();
            }
            text.push_str("| member | type | meaning |\n|---|---|---|\n");
            for member in flat(&known, &next) {
                let Member { name, shape, meaning, .. } = member;
                assert!(!meaning.is_empty(), "{next}.{name} has no description");
                writeln!(
                    text,
                    "| `{name}` | {} | {} |",
                    cell(&shown(shape)),
                    cell(&meaning.replace("`None`", "null"))
                )
                .unwrap();
                let inner = known.keys().filter(|one| words(shape).any(|word| word == one.as_str()));
                waiting.extend(inner.filter(|one| seen.insert((*one).clone())).cloned());
            }
        }
    }
    compare("docs/json.md", &text);
    // Nothing is printed that is not there.
    let stage = Stage::installed();
    for (verb, name) in [(&["status"][..], "StatusView"), (&["check", "HEAD"][..], "CheckJson")] {
        let out = stage.andon(&[verb, &["--format", "json"]].concat()).ok().stdout;
        let printed: serde_json::Value = serde_json::from_str(&out).unwrap();
        let told: BTreeSet<&str> = flat(&known, name).iter().map(|member| member.name.as_str()).collect();
        let printed: Vec<&String> = printed.as_object().unwrap().keys().collect();
        let missing: Vec<_> = printed
            .iter()
            .filter(|key| !BESIDE.contains(&key.as_str()) && !told.contains(key.as_str()))
            .collect();
        assert!(missing.is_empty(), "{verb:?}: {missing:?}");
    }
}

/// The members of a type, those of flattened ones among them.
fn flat<'a>(known: &'a BTreeMap<String, Vec<Member>>, name: &str) -> Vec<&'a Member> {
    let mut found = Vec::new();
    for member in known.get(name).into_iter().flatten() {
        let inner = words(&member.shape).find(|word| known.contains_key(*word));
        match inner.filter(|_| member.is_flat) {
            Some(inner) => found.extend(flat(known, inner)),
            None => found.push(member),
        }
    }
    found
}

fn words(shape: &str) -> impl Iterator<Item = &str> {
    shape.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// The type as a reader of JSON calls it.
fn shown(shape: &str) -> String {
    let bare = |text: &str| {
        text.replace("&'a ", "").replace("&'static ", "").replace("<'a>", "").replace("Box<", "<")
    };
    let shape = bare(shape);
    let inner = |outer: &str| shape.strip_prefix(outer).and_then(|rest| rest.strip_suffix('>')).map(shown);
    if let Some(inner) = inner("Option<") {
        return format!("{inner}, or null");
    }
    if let Some(inner) =
        inner("Vec<").or_else(|| shape.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).map(shown))
    {
        return format!("list of {inner}");
    }
    let shape = shape.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')).unwrap_or(&shape);
    if let Some((outer, inner)) = shape.strip_suffix('>').and_then(|rest| rest.split_once('<')) {
        return format!("{outer} of {}", shown(inner));
    }
    match shape {
        "u64" | "usize" | "u32" | "i64" => "number",
        "bool" => "true or false",
        "String" | "str" | "&str" => "text",
        "Timestamp" => "time",
        "CommitId" | "CodeId" | "Digest" | "EntryId" | "TreeId" => "id",
        other => other,
    }
    .to_owned()
}

/// Every struct of the sources with its members.
fn types() -> BTreeMap<String, Vec<Member>> {
    let mut known = BTreeMap::new();
    for source in SOURCES {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(source)).unwrap();
        let text = text.split("#[cfg(test)]").next().unwrap_or_default().to_owned();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let line = line.trim_start_matches("pub ").trim_start_matches("pub(super) ");
            let Some(name) = line.strip_prefix("struct ").filter(|rest| rest.ends_with('{')) else {
                continue;
            };
            let name = words(name).next().unwrap_or_default().to_owned();
            known.entry(name).or_insert_with(|| members(lines.by_ref().take_while(|line| *line != "}")));
        }
    }
    known
}

fn members<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Member> {
    let (mut found, mut meaning, mut attributes) = (Vec::new(), String::new(), String::new());
    for line in lines.map(str::trim) {
        if let Some(doc) = line.strip_prefix("///") {
            format!("{meaning}{doc}").trim().clone_into(&mut meaning);
        } else if line.starts_with('#') {
            attributes.push_str(line);
        } else if let Some((name, shape)) = line.trim_end_matches(',').split_once(": ") {
            let renamed = attributes.split_once("rename = \"").and_then(|(_, rest)| rest.split('"').next());
            let name = name.rsplit(' ').next().unwrap_or_default().trim_start_matches("r#");
            let member = Member {
                name: renamed.unwrap_or(name).to_owned(),
                shape: shape.to_owned(),
                meaning: std::mem::take(&mut meaning),
                is_flat: attributes.contains("flatten"),
            };
            if !attributes.contains("serde(skip)") {
                found.push(member);
            }
            attributes.clear();
        }
    }
    found
}
