//! Our hooks in the JSON settings of an agent's client: inserted next to other entries, found again, removed.
//!
//! Settings are people's files. They may hold comments and trailing commas, and their order and indentation matter to
//! their owners, so that nothing but our own entries changes. An entry is known as ours by the command that it starts.

use std::path::Path;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstNode, CstObject, CstObjectProp, CstRootNode};

use super::template::{Template, UnreadableSettings};
use super::toml_hooks;
use andon_core::domain::agent::Client;

/// The member that holds the hooks of each event.
const HOOKS: &str = "hooks";
/// Members of a handler that hold what is started.
const COMMANDS: [&str; 2] = ["command", "bash"];
/// What Windows' editors begin a file with.
const BOM: &str = "\u{feff}";

/// `text` with every hook of the template in it. Members besides the hooks are added where they are missing and never
/// changed.
///
/// # Errors
/// When `text` is no object of JSON with comments, or has something else where hooks belong.
pub fn merge(text: &str, template: &Template<'_>) -> Result<String, UnreadableSettings> {
    if is_toml(template.client) {
        return toml_hooks::merge(text, template);
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
        return toml_hooks::strip(text, client);
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
        let Some(entry) = element.as_object() else { continue };
        if is_ours(&entry, client) {
            element.remove();
            removed = true;
        } else if let Some(handlers) = entry.array_value(HOOKS) {
            let ours = |handler: &CstNode| handler.as_object().is_some_and(|found| is_ours(&found, client));
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

/// Whether nothing is left in `text` but what every file of its kind begins with.
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

/// The events for which `text` starts us, and each command with its arguments.
///
/// # Errors
/// When `text` is no JSON with comments.
pub fn found(text: &str, client: Client) -> Result<Vec<(String, Vec<String>)>, UnreadableSettings> {
    if is_toml(client) {
        return toml_hooks::found(text, client);
    }
    let root = parse(text)?;
    if let Some(list) = root.object_value().and_then(|top| top.array_value(HOOKS)) {
        return Ok(listed(&list, client));
    }
    let hooks = root.object_value().and_then(|top| top.object_value(HOOKS));
    let events = hooks.map(|hooks| hooks.properties()).unwrap_or_default();
    Ok(events.iter().flat_map(|event| commands_of(event, client)).collect())
}

/// Hooks that are a list, of which each names its trigger and its action.
fn listed(list: &CstArray, client: Client) -> Vec<(String, Vec<String>)> {
    let one = |node: &CstNode| {
        let hook = node.as_object()?;
        let action = hook.object_value("action").filter(|action| is_ours(action, client))?;
        let trigger = hook.get("trigger")?.value()?.as_string_lit()?.decoded_value().ok()?;
        Some((trigger, words(&action)))
    };
    list.elements().iter().filter_map(one).collect()
}

/// Whether the settings of a client are TOML.
fn is_toml(client: Client) -> bool {
    client
        .spec()
        .settings
        .files
        .first()
        .is_some_and(|file| Path::new(file.template).extension() == Some("toml".as_ref()))
}

fn commands_of(event: &CstObjectProp, client: Client) -> Vec<(String, Vec<String>)> {
    let name = event.decoded_name().unwrap_or_default();
    let entries = event.array_value().map(|list| list.elements()).unwrap_or_default();
    let nested = |entry: &CstObject| entry.array_value(HOOKS).map(|list| list.elements()).unwrap_or_default();
    let objects = entries.iter().filter_map(CstNode::as_object);
    let handlers = objects.flat_map(|entry| {
        let inner: Vec<CstObject> = nested(&entry).iter().filter_map(CstNode::as_object).collect();
        inner.into_iter().chain([entry])
    });
    let ours = handlers.filter(|handler| is_ours(handler, client));
    ours.map(|handler| (name.clone(), words(&handler))).collect()
}

/// What a handler starts: the command, then its arguments.
fn words(handler: &CstObject) -> Vec<String> {
    let text = |node: CstNode| node.as_string_lit().and_then(|literal| literal.decoded_value().ok());
    let value = |name: &str| handler.get(name).and_then(|member| member.value()).and_then(text);
    let arguments = handler.array_value("args").map(|list| list.elements()).unwrap_or_default();
    COMMANDS.into_iter().find_map(value).into_iter().chain(arguments.into_iter().filter_map(text)).collect()
}

fn is_ours(handler: &CstObject, client: Client) -> bool {
    format!("{} ", words(handler).join(" ")).contains(&format!(" agent hook {} ", client.as_str()))
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
