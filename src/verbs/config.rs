//! `andon config show`, `check` and `schema`.

use std::collections::BTreeSet;

use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::error::{config_diagnostics, diagnostics};
use crate::cli::{Exit, Format, FormatArg, Shell};
use andon_config::{self as config, KeyEntry};
use andon_core::domain::{Diagnostic, Hint, Location, PathClass, Scope};
use andon_core::escape::{terminal, terminal_clip, width};
use andon_engine::evidence::{scopes, test_guess};
use andon_engine::json::{self, one_line};
use andon_engine::text::{Page, Style};
use andon_engine::{OpsError, Result, Workspace};

#[derive(Debug, Args)]
pub struct ConfigArgs {
    /// Action to take with it
    #[command(subcommand)]
    pub command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Show every key with its value and the file that set it
    Show(ConfigShowArgs),
    /// Check the configuration and name every mistake
    Check(FormatArg),
    /// Print the JSON Schema of andon.toml; json is one line, with the name of its own schema
    Schema(FormatArg),
}

#[derive(Debug, Args)]
pub struct ConfigShowArgs {
    /// Only this key or section, such as test or rules.iteration-cap
    #[arg(value_name = "KEY")]
    pub key: Option<String>,

    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

/// Widest column of keys that values are still aligned to.
const KEY: usize = 48;

/// A key with its effective value. Texts raw.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct ConfigEntry {
    /// The whole key: `guard.ack`, `rules.iteration-cap.max`.
    key: String,
    /// The effective value; `Null` for one that is not set.
    value: Value,
    /// The layer that said it: `default`, `user`, `repository`, ...
    layer: String,
    /// File and line in that layer; empty for the defaults.
    origin: String,
}

pub fn run(shell: &Shell, args: &ConfigArgs) -> Result<Exit> {
    match &args.command {
        ConfigCommand::Show(args) => show(shell, args),
        ConfigCommand::Check(format) => check(shell, format.format),
        ConfigCommand::Schema(format) => Ok(schema(shell, format.format)),
    }
}

/// Every key, or those of one section, with its value and the layer that said it.
fn show(shell: &Shell, args: &ConfigShowArgs) -> Result<Exit> {
    let ws = Workspace::open(&shell.ctx)?;
    let mut entries: Vec<ConfigEntry> = ws.config.entries().into_iter().map(entry).collect();
    if let Some(key) = &args.key {
        let below = format!("{key}.");
        entries.retain(|entry| entry.key == *key || entry.key.starts_with(&below));
        if entries.is_empty() && key == "test.scopes" {
            return Ok(Exit::Allowed);
        }
        if entries.is_empty() {
            let what = format!("no key or section of that name is configured or has a default: {key:?}");
            return Err(OpsError::usage(what, Hint::ShowConfig.led("all of them")));
        }
    }
    shell.show(args.format.format, "config", &json!({ "entries": entries }), |style| text(&entries, style));
    Ok(Exit::Allowed)
}

fn entry(entry: KeyEntry) -> ConfigEntry {
    ConfigEntry {
        key: entry.key,
        value: entry.value.to_json(),
        layer: entry.origin.layer().as_str().to_owned(),
        origin: entry.origin.place().unwrap_or_default(),
    }
}

/// Names every mistake; exit code 2 when there is one.
fn check(shell: &Shell, format: Format) -> Result<Exit> {
    let ws = Workspace::open_lenient(&shell.ctx)?;
    let mut found = ws.config_errors.as_ref().map(config_diagnostics).unwrap_or_default();
    if found.is_empty() {
        found.extend(of_scopes(&ws)?);
    }
    match format {
        Format::Json => shell.out.result(&json::document("config-check", &json!({ "mistakes": found }))),
        Format::Text if found.is_empty() => shell.out.result("the configuration is fine\n"),
        Format::Text => shell.tell(&found),
    }
    Ok(if found.is_empty() { Exit::Allowed } else { Exit::Usage })
}

/// Scopes that do not fit the files: one in two of them, or none in one.
fn of_scopes(ws: &Workspace) -> Result<Vec<Diagnostic>> {
    let declared = &ws.config.test.scopes.scopes;
    if declared.is_empty() {
        return Ok(Vec::new());
    }
    let tracked = ws.repo.tracked_files()?;
    // A repository that begins has no files yet.
    if tracked.is_empty() {
        return Ok(Vec::new());
    }
    let code = || {
        let paths = tracked.iter().map(|(_, path)| path.as_slice());
        paths.filter(|path| ws.config.paths.rules.class(path) == PathClass::Code)
    };
    let mut found = Vec::new();
    if let Err(error) = scopes::refuse_these_in_two(ws, code()) {
        found.extend(diagnostics(&error));
    }
    let owned: BTreeSet<&str> = code().flat_map(|path| declared.owners(path)).collect();
    for scope in declared.iter().filter(|scope| !owned.contains(scope.name.as_str())) {
        let what = format!("has no files: no tracked code matches {}", scope.paths.join(", "));
        found.push(mistake(ws, &scope.name, &what).help("correct its paths, or remove the scope"));
    }
    found.extend(against_manifests(ws));
    Ok(found)
}

/// A mistake in what is declared of a scope.
fn mistake(ws: &Workspace, scope: &str, what: &str) -> Diagnostic {
    let place = ws.config.origin(&format!("test.scopes.{scope}.paths")).place().unwrap_or_default();
    Diagnostic::error(format!("scope {scope} {what}")).code("config").at(Location::Named(place))
}

/// Scopes whose needs are fewer than those of the manifests: their tests would not run when what they read changes.
fn against_manifests(ws: &Workspace) -> Vec<Diagnostic> {
    let declared = &ws.config.test.scopes.scopes;
    let proposed = ws.repo.workdir().map(test_guess::scopes).unwrap_or_default();
    // A manifest's member is the scope that has all of its paths, whatever its name.
    let owner = |paths: &[String]| {
        let has = |scope: &&Scope| paths.iter().all(|path| scope.paths.contains(path));
        declared.iter().find(has).map(|scope| scope.name.as_str())
    };
    let by_name = |name: &String| proposed.iter().find(|one| one.scope.name == *name);
    let mut found = Vec::new();
    for one in &proposed {
        let Some(name) = owner(&one.scope.paths) else { continue };
        let needed = declared.needed_by(name);
        let wanted = one.scope.needs.iter().filter_map(|need| owner(&by_name(need)?.scope.paths));
        for need in wanted.filter(|need| *need != name && !needed.contains(need)) {
            let what = format!("does not need {need}, and its manifest does");
            let help = format!("add {need:?} to the needs of [test.scopes.{name}]");
            found.push(mistake(ws, name, &what).help(help));
        }
    }
    found
}

/// The JSON Schema of `andon.toml`: by lines as an editor takes it, or as a document of ours.
fn schema(shell: &Shell, format: Format) -> Exit {
    let schema = config::schema();
    shell.show(format, "config-schema", &schema, |_| {
        serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n"
    });
    Exit::Allowed
}

/// The configuration for a person: `key = value  # layer, origin`, values as in `andon.toml`.
fn text(entries: &[ConfigEntry], style: Style) -> String {
    let mut page = Page::new(style);
    let line = |entry: &ConfigEntry| format!("{} = {}", terminal_clip(&entry.key, KEY), toml(&entry.value));
    let lines: Vec<String> = entries.iter().map(line).collect();
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

/// A value on one line, in TOML.
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

#[cfg(test)]
mod tests {
    use super::*;

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
        let value = serde_json::to_value(entries()).unwrap();
        assert_eq!(
            value[1],
            json!({
                "key": "rules.iteration-cap.max", "value": 50, "layer": "repository", "origin": "andon.toml:7"
            })
        );
    }
}
