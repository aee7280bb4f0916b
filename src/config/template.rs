//! The `andon.toml` that `andon install` writes: every key there is, as a comment with its default.

use super::keys::{Contents, Key, Kind, SECTIONS};
use super::rules::{RuleSpecView, known_rules};
use super::value::{Value, toml_text};
use crate::domain::settings::ParamValue;

const HEAD: &str = "\
# Andon: stops a coding loop that no longer makes progress.
# Commented lines show the defaults. `andon config show` says what holds and why, `andon config check`
# whether this file is right.
";

/// No setting, but an example: it would bind if it were one.
const WORKFLOW: &str = "\
#   nodes.coder = { environment = \"coder\", max_turns = 6 }
#   nodes.reviewer = { trailer = \"Agent: reviewer\", edits = false }
#   edges = [
#     { from = \"coder\", to = \"reviewer\" },
#     { from = \"reviewer\", to = \"coder\", anchor = true, max_iterations = 8 },
#   ]
";

/// The commented file, with `command` set as the test command when there is one. Loads without errors.
pub fn template(command: Option<&str>) -> String {
    let mut out = HEAD.to_owned();
    let command = command.map(str::trim).filter(|command| !command.is_empty());
    for section in &SECTIONS {
        out.extend(["\n# ", section.doc, "\n[", section.name, "]\n"]);
        match &section.contents {
            Contents::Keys(keys) => keys.iter().for_each(|key| out.push_str(&key_lines(key, command))),
            Contents::Rules => known_rules().iter().for_each(|rule| out.push_str(&rule_line(rule))),
            Contents::Workflow => out.push_str(WORKFLOW),
            Contents::Patterns => out.push_str("# build-number = 'build [0-9]+'\n"),
        }
    }
    out
}

fn key_lines(key: &Key, command: Option<&str>) -> String {
    if matches!(key.kind, Kind::Program) {
        let where_to = "only in your own configuration, ~/.config/andon/config.toml";
        return format!("# {}: {} ({where_to})\n", key.name, key.doc);
    }
    if matches!(key.kind, Kind::Pinned | Kind::Checksum) {
        return format!("# {}: {}\n", key.name, key.doc);
    }
    let default = (key.default)();
    let (mark, value) = match (key.name, command) {
        ("command", Some(command)) => ("", toml_text(command)),
        _ if default == Value::Unset => ("# ", key.kind.example(&default)),
        _ => ("# ", default.to_string()),
    };
    format!("# {}\n{mark}{} = {value}\n", key.doc, key.name)
}

fn rule_line(rule: &RuleSpecView) -> String {
    let level = Value::Level(rule.default_level);
    // Lists are long: `config show` has them.
    let short = rule.params.iter().filter(|spec| !matches!((spec.default)(), ParamValue::List(_)));
    let params: Vec<String> =
        short.map(|spec| format!(", {} = {}", spec.name, Value::Param((spec.default)()))).collect();
    if params.is_empty() {
        return format!("# {} = {level}\n", rule.id);
    }
    format!("# {} = {{ level = {level}{} }}\n", rule.id, params.concat())
}
