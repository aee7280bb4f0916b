//! Our hooks in the JSON settings of an agent's client: inserted next to other entries, found again, removed.
//!
//! Settings are people's files. They may hold comments and trailing commas, and their order and indentation matter to
//! their owners, so that nothing but our own entries changes. An entry is known as ours by the command that it starts.

use std::path::Path;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::Value;

use andon_core::{domain::Client, escape::shell_quote};

/// The member that holds the hooks of each event.
const HOOKS: &str = "hooks";
/// Members of a handler that hold what is started.
const COMMANDS: [&str; 2] = ["command", "bash"];
/// The first character of files of Windows' editors.
const BOM: &str = "\u{feff}";

/// `text` with every hook of the template in it. Members besides the hooks are added where they are missing and never
/// changed.
///
/// # Errors
/// When `text` is no object of JSON with comments, or has something else where hooks belong.
pub fn merge(text: &str, template: &Template<'_>) -> Result<String, UnreadableSettings> {
    if is_toml(template.client) {
        return merge_toml(text, template);
    }
    if let Some(text) = text.strip_prefix(BOM) {
        return Ok(BOM.to_owned() + &merge(text, template)?);
    }
    let root = parse(text)?;
    let wanted = parse(template.text)?;
    let top = match root.value() {
        None => root.object_value_or_create(),
        Some(_) => root.object_value(),
    };
    let top = top.ok_or_else(|| UnreadableSettings::shape(text, &[], "it is no JSON object"))?;
    for member in wanted.object_value().iter().flat_map(CstObject::properties) {
        let Some((name, value)) = template.member(&member) else { continue };
        if name != HOOKS && top.get(&name).is_none() {
            top.append(&name, value);
        }
    }
    let not_object = || UnreadableSettings::shape(text, &[HOOKS], "its \"hooks\" is no object");
    let hooks = top.object_value_or_create(HOOKS).ok_or_else(not_object)?;
    let events = wanted.object_value().and_then(|top| top.object_value(HOOKS));
    for event in events.iter().flat_map(CstObject::properties) {
        let (name, entries) = (event.decoded_name().unwrap_or_default(), event.array_value());
        let why = || format!("its \"hooks.{name}\" is no array");
        let not_array = || UnreadableSettings::shape(text, &[HOOKS, &name], &why());
        let list = hooks.array_value_or_create(&name).ok_or_else(not_array)?;
        for entry in entries.iter().flat_map(CstArray::elements) {
            list.append(template.input(&entry));
        }
    }
    Ok(root.to_string())
}

/// `text` without our hooks, and without the lists that only they were in.
///
/// # Errors
/// When `text` is no JSON with comments.
pub fn strip(text: &str, client: Client) -> Result<String, UnreadableSettings> {
    if is_toml(client) {
        return strip_toml(text, client);
    }
    if let Some(text) = text.strip_prefix(BOM) {
        return Ok(BOM.to_owned() + &strip(text, client)?);
    }
    let root = parse(text)?;
    let Some(hooks) = root.object_value().and_then(|top| top.object_value(HOOKS)) else {
        return Ok(text.to_owned());
    };
    let mut removed = false;
    for event in hooks.properties() {
        let Some(list) = event.array_value() else { continue };
        if strip_list(&list, client) {
            removed = true;
            if list.elements().is_empty() {
                event.remove();
            }
        }
    }
    if !removed {
        return Ok(text.to_owned());
    }
    if hooks.properties().is_empty()
        && let Some(own) = root.object_value().and_then(|top| top.get(HOOKS))
    {
        own.remove();
    }
    Ok(root.to_string())
}

fn strip_list(list: &CstArray, client: Client) -> bool {
    let mut removed = false;
    for element in list.elements() {
        if is_ours(&element, client) {
            element.remove();
            removed = true;
        } else if let Some(handlers) = element.as_object().and_then(|entry| entry.array_value(HOOKS)) {
            let ours = |handler: &CstNode| is_ours(handler, client);
            let (mine, all) =
                (handlers.elements().into_iter().filter(ours).collect::<Vec<_>>(), handlers.elements());
            removed |= !mine.is_empty();
            if !mine.is_empty() && mine.len() == all.len() {
                element.remove();
            } else {
                mine.into_iter().for_each(CstNode::remove);
            }
        }
    }
    removed
}

/// True where settings keep hooks from being started, or from guarding: all at once, by a variable, or by a search path that
/// `leads_away` from our program.
pub fn switches_off(text: &str, leads_away: impl Fn(&str) -> bool) -> bool {
    let settings = parse(text).ok().and_then(|root| root.value()?.to_serde_value()).unwrap_or_default();
    let disarms = |(name, value): (&String, &Value)| {
        name.starts_with("GIT_CONFIG_")
            || name == "ANDON" && (value == "0" || value == 0)
            || name == "PATH" && value.as_str().is_some_and(&leads_away)
    };
    settings.get("disableAllHooks") == Some(&Value::Bool(true))
        || settings.get("env").and_then(Value::as_object).into_iter().flatten().any(disarms)
}

/// True if nothing is left in `text` but the members that every file of its kind begins with.
pub fn is_bare(text: &str) -> bool {
    if text.trim().is_empty() {
        return true;
    }
    let Ok(root) = parse(text) else { return false };
    let members = root.object_value().map(|top| top.properties()).unwrap_or_default();
    let name = |member: &CstObjectProp| member.decoded_name().unwrap_or_default();
    root.array_value().is_none()
        && members.iter().all(|member| ["version", "$version"].contains(&name(member).as_str()))
}

/// A hook that starts us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnHook {
    pub event: String,
    /// The command, then its arguments.
    pub words: Vec<String>,
    /// All that is written of it, and of the group that it is in without its neighbours.
    pub whole: Value,
}

/// The hooks in `text` that start us.
///
/// # Errors
/// When `text` is no JSON with comments.
pub fn found(text: &str, client: Client) -> Result<Vec<OwnHook>, UnreadableSettings> {
    let settings = if is_toml(client) {
        serde_json::to_value(parse_toml(text)?).unwrap_or_default()
    } else {
        parse(text)?.value().and_then(|root| root.to_serde_value()).unwrap_or_default()
    };
    let mut found = Vec::new();
    match settings.get(HOOKS) {
        // Hooks that are a list, of which each names its trigger.
        Some(Value::Array(hooks)) => {
            for hook in hooks {
                let event = hook.get("trigger").or_else(|| hook.get("event")).and_then(Value::as_str);
                found.extend(event.and_then(|event| own(client, event, hook, hook.get("action"))));
            }
        }
        Some(Value::Object(events)) => {
            for (event, groups) in events {
                for group in elements(Some(groups)) {
                    let nested = elements(group.get(HOOKS)).iter().map(Some);
                    found.extend(nested.chain([None]).filter_map(|inner| own(client, event, group, inner)));
                }
            }
        }
        Some(_) | None => {}
    }
    Ok(found)
}

fn elements(list: Option<&Value>) -> &[Value] {
    list.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The hook, where its handler is ours: `inner`, or else the group itself.
fn own(client: Client, event: &str, group: &Value, inner: Option<&Value>) -> Option<OwnHook> {
    let words = words(inner.unwrap_or(group));
    let mut whole = group.clone();
    if let (Some(inner), Some(members)) =
        (inner, whole.as_object_mut().filter(|group| group.contains_key(HOOKS)))
    {
        members.insert(HOOKS.to_owned(), inner.clone());
    }
    starts_us(&words, client).then(|| OwnHook { event: event.to_owned(), words, whole })
}

fn is_toml(client: Client) -> bool {
    client
        .spec()
        .settings
        .files
        .first()
        .is_some_and(|file| Path::new(file.template).extension() == Some("toml".as_ref()))
}

/// The command that a handler starts, then its arguments.
fn words(handler: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let command = COMMANDS.into_iter().find_map(|name| handler.get(name).and_then(text));
    command.into_iter().chain(elements(handler.get("args")).iter().filter_map(text)).collect()
}

fn is_ours(handler: &CstNode, client: Client) -> bool {
    handler.to_serde_value().is_some_and(|handler| starts_us(&words(&handler), client))
}

fn starts_us(words: &[String], client: Client) -> bool {
    format!("{} ", words.join(" ")).contains(&mark(client))
}

fn parse(text: &str) -> Result<CstRootNode, UnreadableSettings> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        ..ParseOptions::default()
    };
    CstRootNode::parse(text.trim_start_matches(BOM), &options).map_err(|error| UnreadableSettings {
        line: Some(error.line_display()),
        why: format!("column {}: {}", error.column_display(), error.kind()),
    })
}

/// The placeholder of the program in a template: alone in exec form, else quoted for a shell.
const PROGRAM: &str = "@ANDON@";

/// The place and the reason where settings cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableSettings {
    /// From 1; `None` where the whole file is meant.
    pub line: Option<usize>,
    /// The mistake, as a clause.
    pub why: String,
}

impl UnreadableSettings {
    /// At the innermost of the members that are named.
    fn shape(text: &str, members: &[&str], why: &str) -> Self {
        let start = text.len() - text.trim_start().len();
        let place = members.iter().fold(start, |from, name| {
            let quoted = format!("\"{name}\"");
            text.get(from..).and_then(|rest| rest.find(&quoted)).map_or(from, |at| from + at)
        });
        Self { line: Some(text[..place].matches('\n').count() + 1), why: why.to_owned() }
    }
}

/// Our file below `hooks/agents/`, which is merged into settings, and the program that takes its placeholder's place.
#[derive(Debug, Clone, Copy)]
pub struct Template<'a> {
    /// Whose settings they are.
    pub client: Client,
    /// The template, with its placeholder.
    pub text: &'a str,
    /// Path of the program that the hooks start.
    pub program: &'a str,
}

impl Template<'_> {
    /// The text with the program in it, for files that are ours alone.
    pub fn filled(&self) -> String {
        self.with(&self.quoted())
    }

    /// The program as a shell reads it.
    fn quoted(&self) -> String {
        shell_quote(self.program)
    }

    /// The text with `program` in the place of it.
    fn with(&self, program: &str) -> String {
        self.text.replace(PROGRAM, program)
    }

    fn string(&self, text: &str) -> String {
        if text == PROGRAM { self.program.to_owned() } else { text.replace(PROGRAM, &self.quoted()) }
    }

    fn input(&self, node: &CstNode) -> CstInputValue {
        if let Some(object) = node.as_object() {
            return CstInputValue::Object(
                object.properties().iter().filter_map(|one| self.member(one)).collect(),
            );
        }
        if let Some(list) = node.as_array() {
            return CstInputValue::Array(list.elements().iter().map(|one| self.input(one)).collect());
        }
        if let Some(number) = node.as_number_lit() {
            return CstInputValue::Number(number.to_string());
        }
        let text = node.as_string_lit().and_then(|literal| literal.decoded_value().ok());
        text.map_or(CstInputValue::Null, |text| CstInputValue::String(self.string(&text)))
    }

    fn member(&self, member: &CstObjectProp) -> Option<(String, CstInputValue)> {
        Some((member.decoded_name()?, self.input(&member.value()?)))
    }
}

const TOML_TABLE: &str = "[[hooks]]";

fn parse_toml(text: &str) -> Result<toml::Table, UnreadableSettings> {
    text.parse().map_err(|error: toml::de::Error| {
        let line = error.span().and_then(|span| Some(text.get(..span.start)?.matches('\n').count() + 1));
        UnreadableSettings { line, why: error.message().to_owned() }
    })
}

/// `text` with the hooks of the template at its end.
fn merge_toml(text: &str, template: &Template<'_>) -> Result<String, UnreadableSettings> {
    parse_toml(text)?;
    // A basic string of TOML is written as one of JSON.
    let quoted = Value::from(template.quoted()).to_string();
    let added = template.with(quoted.trim_matches('"'));
    let gap = if text.is_empty() || text.ends_with("\n\n") {
        ""
    } else if text.ends_with('\n') {
        "\n"
    } else {
        "\n\n"
    };
    let after = format!("{text}{gap}{added}");
    // Hooks that are written as one list leave no place for others.
    parse_toml(&after)
        .map_err(|broken| UnreadableSettings { why: format!("with our hooks: {}", broken.why), ..broken })?;
    Ok(after)
}

/// `text` without our hooks.
fn strip_toml(text: &str, client: Client) -> Result<String, UnreadableSettings> {
    parse_toml(text)?;
    let mut kept = String::new();
    for table in tables(text) {
        if !(table.starts_with(TOML_TABLE) && table.contains(&mark(client))) {
            kept.push_str(table);
        }
    }
    Ok(kept)
}

/// The text as its tables, each with its header, comments behind it included.
fn tables(text: &str) -> Vec<&str> {
    let (mut found, mut begun, mut at) = (Vec::new(), 0, 0);
    for line in text.split_inclusive('\n') {
        if line.starts_with('[') && at > begun {
            found.extend(text.get(begun..at));
            begun = at;
        }
        at += line.len();
    }
    found.extend(text.get(begun..));
    found
}

fn mark(client: Client) -> String {
    format!(" agent hook {} ", client.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "[[hooks]]\nevent = \"Stop\"\ncommand = \"@ANDON@ agent hook kimi Stop\"\n";

    #[test]
    fn ours_come_and_go_beside_others() {
        let template = Template { client: Client::Kimi, text: TEXT, program: "/x/a \"n\" b/andon" };
        let others = "model = \"k\" # mine\n\n[[hooks]]\nevent = \"Stop\"\ncommand = \"mine\"\n";
        for text in ["", "a = 1", "a = 1\n", others, "[t]\nlist = [\n  [1],\n]\n"] {
            let merged = merge_toml(text, &template).unwrap();
            let ours = found(&merged, Client::Kimi).unwrap();
            assert_eq!((ours.len(), ours[0].event.as_str()), (1, "Stop"));
            assert_eq!(ours[0].words, ["'/x/a \"n\" b/andon' agent hook kimi Stop"]);
            assert!(merged.starts_with(text));
            assert_eq!(strip_toml(&merged, Client::Kimi).unwrap().trim_end(), text.trim_end());
        }
        assert_eq!(strip_toml(others, Client::Kimi).unwrap(), others);
        assert_eq!(merge_toml("a = 1\nb =\n", &template).unwrap_err().line, Some(2));
        assert!(merge_toml("hooks = []\n", &template).is_err(), "no other table can be added to it");
    }
}
