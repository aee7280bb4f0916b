//! The kinds of tools, by the names that clients give them; and the commands and files that their arguments name.

use serde_json::Value;

use super::CompletedCall;
use andon_core::domain::{CallEnd, ToolKind, ToolUse};
use andon_core::history::{
    COMMAND_ARGUMENTS, FILE_ARGUMENTS, SEVERAL_COMMANDS, SHELLS, SHOWING, is_edit, is_one_of,
};
use andon_core::{WordList, command_words::ShellLine, escape::shell_quote, words};

/// The lists of words of this crate.
pub(crate) const WORDS: &str = include_str!("words.txt");

/// Tools that change nothing.
const READERS: WordList = WordList::section(WORDS, "tools that read");
/// Arguments that name files beside that of the tool.
const PATHS: WordList = WordList::section(WORDS, "further arguments that name files");
/// Arguments that hold what is typed into a program, which may be a shell.
const TYPED: WordList = words!["chars", "code"];
/// Lines of a patch that name a file.
const PATCHED: [&str; 4] = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];

/// A call of `name` with `args`.
pub fn called(name: &str, id: Option<String>, args: Option<Value>) -> CompletedCall {
    let args = args.map(spelled_out);
    let lower = name.to_ascii_lowercase();
    let shows = || {
        args.as_ref()
            .and_then(|args| args.get("command")?.as_str())
            .is_some_and(|told| SHOWING.contains(told))
    };
    let kind = match lower.as_str() {
        name if is_one_of(name, SHELLS) => ToolKind::Shell,
        name if READERS.contains(name) => ToolKind::Read,
        name if is_edit(name) && shows() => ToolKind::Read,
        name if is_edit(name) => ToolKind::Edit,
        _ => ToolKind::Unknown,
    };
    let commands = if matches!(kind, ToolKind::Shell | ToolKind::Unknown) {
        commands(args.as_ref())
    } else {
        Vec::new()
    };
    let paths = paths(args.as_ref());
    let used = ToolUse { name: name.to_owned(), kind, id, commands, paths, end: CallEnd::Unknown };
    CompletedCall { used, args, result: None }
}

/// Arguments may come as the text of a JSON object.
fn spelled_out(args: Value) -> Value {
    let object = args.as_str().filter(|text| text.trim_start().starts_with(['{', '[']));
    object.and_then(|text| serde_json::from_str(text).ok()).unwrap_or(args)
}

/// The command lines that arguments name: as a text, as the words of one, or several.
fn commands(args: Option<&Value>) -> Vec<String> {
    let Some(args) = args else { return Vec::new() };
    let one = COMMAND_ARGUMENTS.iter().chain(TYPED.iter()).find_map(|key| args.get(key));
    let mut found: Vec<String> = match one {
        Some(Value::String(command)) => vec![command.clone()],
        Some(Value::Array(words)) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            // `["bash", "-lc", "SCRIPT"]` is the script.
            match ShellLine::of_words(&words) {
                Some(script) if script.arguments.is_empty() => vec![script.line.to_owned()],
                Some(_) | None => {
                    vec![words.iter().map(|word| shell_quote(word)).collect::<Vec<_>>().join(" ")]
                }
            }
        }
        Some(_) | None => Vec::new(),
    };
    if let Some(several) = args.get(SEVERAL_COMMANDS) {
        let several = spelled_out(several.clone());
        let each = several.as_array().map_or(&[][..], Vec::as_slice);
        let command = |one: &Value| one.as_str().or_else(|| one.get("command")?.as_str()).map(str::to_owned);
        found.extend(each.iter().filter_map(command).chain(several.as_str().map(str::to_owned)));
    }
    if let Some(text) = args.as_str() {
        found.push(text.to_owned());
    }
    found
}

/// The arguments of a call with `to` in the place of the command line `from`; `None` where they do not hold it.
pub fn with_command(args: &Value, from: &str, to: &str) -> Option<Value> {
    let mut args = args.clone();
    let put = |value: &mut Value| {
        let held = value.as_str() == Some(from);
        if held {
            *value = Value::from(to);
        }
        held
    };
    if put(&mut args) {
        return Some(args);
    }
    let members = args.as_object_mut()?;
    let mut each = |value: &mut Value| match value {
        Value::Array(several) => {
            several.iter_mut().any(|one| put(one) || one.get_mut("command").is_some_and(put))
        }
        one @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => {
            put(one)
        }
    };
    let keys = COMMAND_ARGUMENTS.iter().chain(TYPED.iter()).chain([SEVERAL_COMMANDS]);
    let held =
        keys.filter_map(|key| members.get_mut(key).map(&mut each)).fold(false, |one, other| one | other);
    held.then_some(args)
}

/// The files that arguments name, those in a patch among them.
fn paths(args: Option<&Value>) -> Vec<String> {
    let Some(args) = args else { return Vec::new() };
    let keys = || FILE_ARGUMENTS.iter().chain(PATHS.iter());
    let told = keys().filter_map(|key| args.get(key)).flat_map(named);
    let patches = ["command", "input", "patch", "diff"].iter().filter_map(|key| args.get(key)?.as_str());
    let in_patch = patches.chain(args.as_str()).flat_map(str::lines).filter_map(|line| {
        PATCHED
            .iter()
            .find_map(|start| line.trim_start().strip_prefix(start))
            .map(|path| path.trim().to_owned())
    });
    let edits = args.get("edits").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let in_edits = edits.iter().flat_map(|edit| keys().filter_map(|key| edit.get(key))).flat_map(named);
    told.chain(in_patch).chain(in_edits).collect()
}

/// The files of one member: a path, an address of one, or several.
fn named(value: &Value) -> Vec<String> {
    let one = |text: &str| text.strip_prefix("file://").unwrap_or(text).to_owned();
    match value {
        Value::String(text) => vec![one(text)],
        Value::Array(several) => {
            let path = |each: &Value| each.as_str().or_else(|| each.get("path")?.as_str()).map(one);
            several.iter().filter_map(path).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    }
}

/// The context window that the name of a model tells: `claude-sonnet-4-5[1m]`.
pub(super) fn context_window_of(model: &str) -> Option<u64> {
    let (_, size) = model.strip_suffix(']')?.rsplit_once('[')?;
    let (number, unit) = size.split_at_checked(size.len().checked_sub(1)?)?;
    let unit = match unit {
        "m" | "M" => 1_000_000,
        "k" | "K" => 1_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit).filter(|tokens| *tokens > 0)
}

/// The beginnings of lines that tell an exit code.
const EXITS: [&str; 4] = ["Exit Code:", "Exit code:", "Exit code", "[Process exited with code"];

/// The exit code that a line tells: `Exit Code: 1`, `[Process exited with code 1]`; or `<return-code>1</return-code>`.
pub(super) fn told_exit(text: &str) -> Option<i64> {
    let within = || text.split_once("<return-code>")?.1.split_once('<')?.0.trim().parse().ok();
    let of_line = |line: &str| {
        let rest = EXITS.iter().find_map(|start| line.strip_prefix(start))?;
        rest.trim_end_matches(']').trim().parse().ok()
    };
    text.lines().find_map(of_line).or_else(within)
}

pub(super) fn by_exit(code: i64) -> CallEnd {
    if code == 0 { CallEnd::Done } else { CallEnd::Failed }
}
