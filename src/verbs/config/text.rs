//! `andon config show`: the effective value of every key, and which layer said it.

use serde::Serialize;
use serde_json::Value;

use crate::report::json::one_line;
use andon_core::escape::{terminal, terminal_clip, width};
use andon_engine::text::page::Page;
use andon_engine::text::style::Style;

/// Widest column of keys that values are still aligned to.
const KEY: usize = 48;

/// One key. Texts raw.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConfigEntry {
    /// The whole key: `guard.ack`, `rules.iteration-cap.max`.
    pub key: String,
    /// The effective value; `Null` for one that is not set.
    pub value: Value,
    /// Which layer said it: `default`, `user`, `repository`, ...
    pub layer: String,
    /// Where in that layer: a file and line; empty for the defaults.
    pub origin: String,
}

/// `andon config show`: `andon/config@1`.
#[derive(Debug, Serialize)]
pub struct ConfigJson<'a> {
    schema: &'static str,
    entries: &'a [ConfigEntry],
}

/// The configuration for a person: `key = value  # layer, origin`, values as in `andon.toml`.
pub fn text(entries: &[ConfigEntry], style: Style) -> String {
    let mut page = Page::new(style);
    let lines: Vec<String> = entries
        .iter()
        .map(|entry| {
            let key = terminal_clip(&entry.key, KEY);
            format!("{key} = {}", toml(&entry.value))
        })
        .collect();
    let column = lines.iter().map(|line| width(line)).filter(|width| *width <= 72).max().unwrap_or(0);
    for (entry, line) in entries.iter().zip(&lines) {
        let comma = if entry.origin.is_empty() { "" } else { ", " };
        let from =
            format!("# {}{comma}{}", terminal_clip(&entry.layer, KEY), terminal_clip(&entry.origin, 160));
        let pad = " ".repeat(column.saturating_sub(width(line)));
        page.line(&format!("{line}{pad}  {}", style.dim(&from)));
    }
    page.finish()
}

/// A value on one line as TOML writes it.
fn toml(value: &Value) -> String {
    match value {
        Value::Null => "(not set)".to_owned(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => one_line(value),
        Value::Array(items) => format!("[{}]", items.iter().map(toml).collect::<Vec<_>>().join(", ")),
        Value::Object(map) if map.is_empty() => "{}".to_owned(),
        Value::Object(map) => {
            let pairs: Vec<_> =
                map.iter().map(|(key, value)| format!("{} = {}", terminal(key), toml(value))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
    }
}

/// The configuration for a program: `andon/config@1`, `entries` in the order given.
pub fn json(entries: &[ConfigEntry]) -> ConfigJson<'_> {
    ConfigJson { schema: "andon/config@1", entries }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use andon_testkit::samples::value_of;

    fn entries() -> Vec<ConfigEntry> {
        [
            ("guard.ack", json!("delete"), "default", ""),
            ("rules.iteration-cap.max", json!(50), "repository", "andon.toml:7"),
            ("test.reports", json!(["a\u{202e}\n", "b"]), "user", "config.toml:2"),
            ("on_stall", json!({ "action": "pause" }), "default", ""),
            ("test.command", Value::Null, "default", ""),
        ]
        .into_iter()
        .map(|(key, value, layer, origin)| ConfigEntry {
            key: key.to_owned(),
            value,
            layer: layer.to_owned(),
            origin: origin.to_owned(),
        })
        .collect()
    }

    #[test]
    fn every_value_names_its_layer() {
        let expected = "\
guard.ack = \"delete\"               # default
rules.iteration-cap.max = 50       # repository, andon.toml:7
test.reports = [\"a\\u202e\\n\", \"b\"]  # user, config.toml:2
on_stall = { action = \"pause\" }    # default
test.command = (not set)           # default
";
        assert_eq!(text(&entries(), Style::Plain), expected);
    }

    #[test]
    fn json_has_the_values_themselves() {
        let entries = entries();
        let value = value_of(&json(&entries));
        assert_eq!(
            value["entries"][1],
            json!({
                "key": "rules.iteration-cap.max", "value": 50, "layer": "repository", "origin": "andon.toml:7"
            })
        );
    }
}
