//! Signatures of tool calls (docs/spec-map.md, loop rules: signature-based detection; docs/spec-map.md, settled choice 4).

use serde_json::{Map, Value};

use super::shown::{self, COMMANDS, FILES};
use super::{answer, hash, taken};
use crate::change::normalize::Normalizer;
use crate::domain::events::{Arguments, CallEnd, ToolCall};
use crate::history::is_edit;
use crate::wire::FormatError;

/// Longest name of a tool, in characters.
const MAX_TOOL: usize = 128;

/// A call as it was reported.
pub(super) struct Reported {
    /// The tool's name.
    pub(super) tool: String,
    /// Its arguments, where any were reported.
    pub(super) args: Option<Value>,
    /// The answer, where one is known.
    pub(super) result: Option<Value>,
    /// How it ended.
    pub(super) end: CallEnd,
}

/// The names under which clients report arguments: that of the design, of hooks, and of chat completions.
const ARGUMENTS: [&str; 3] = ["args", "tool_input", "arguments"];

/// The arguments of a call, under whichever name, or as the text of a JSON object: the same call is the same.
pub(super) fn arguments(object: &mut Map<String, Value>) -> Result<Option<Value>, FormatError> {
    let mut named: Option<Value> = None;
    for name in ARGUMENTS {
        let Some(value) = taken(object, name).map(spelled_out) else { continue };
        if named.as_ref().is_some_and(|named| *named != value) {
            let found: String = value.to_string().chars().take(80).collect();
            let why = format!("{found} is not what the line tells of its arguments under another name");
            return Err(FormatError::member(name, why));
        }
        named = Some(value);
    }
    Ok(named)
}

fn spelled_out(value: Value) -> Value {
    let object = value.as_str().filter(|text| text.trim_start().starts_with('{'));
    object.and_then(|text| serde_json::from_str(text).ok()).unwrap_or(value)
}

/// The call as hashes, and its short form with `patterns` masked.
pub(super) fn signature(reported: &Reported, patterns: &Normalizer) -> ToolCall {
    let value = reported.args.as_ref().unwrap_or(&Value::Null);
    let tool = name(&reported.tool, value);
    let proves = reported.args.is_some() && !commands(value).any(waits);
    let args = value.to_string();
    let answer = reported.result.as_ref().filter(|result| !answer::is_quiet(result)).map(hash::text_of);
    let masked = answer.as_deref().map(hash::masked);
    let result = masked.as_deref().map(|text| hash::short(&[b"result", text.as_bytes()]));
    let refused = masked.as_deref().filter(|text| answer::is_refusal(text, reported.end));
    let missing = refused.and_then(answer::missing_program);
    ToolCall {
        exact: hash::short(&[b"exact", tool.as_bytes(), args.as_bytes()]),
        masked: hash::short(&[b"masked", tool.as_bytes(), hash::masked(&args).as_bytes()]),
        coarse: hash::short(&[b"coarse", coarse(&tool, value).as_bytes()]),
        refusal: refused
            .map(|text| hash::short(&[b"refusal", tool.as_bytes(), answer::without(text, value).as_bytes()])),
        missing: missing.map(|program| hash::short(&[b"missing", program.as_bytes()])),
        shown: reported.args.is_some().then(|| shown::call(&tool, value, patterns)),
        program: missing.map(|program| shown::text(program, patterns)),
        moves: answer.as_deref().and_then(hash::quantity),
        tool,
        args: if proves { Arguments::Known } else { Arguments::Unknown },
        result,
        end: reported.end,
    }
}

/// The name of the tool. An editing tool that is asked to show a file edits nothing: `str_replace_editor:view`.
fn name(tool: &str, args: &Value) -> String {
    let tool: String = tool.chars().take(MAX_TOOL).collect();
    let views = is_edit(&tool) && args.get("command").and_then(Value::as_str) == Some("view");
    if views { format!("{tool}:view") } else { tool }
}

/// The command lines among the arguments.
fn commands(args: &Value) -> impl Iterator<Item = &str> {
    COMMANDS.iter().filter_map(|key| args.get(key)?.as_str())
}

/// Commands that end when something else does.
const WAITING: [&[&str]; 5] =
    [&["sleep"], &["wait"], &["gh", "run", "watch"], &["kubectl", "wait"], &["kubectl", "rollout", "status"]];
/// Commands that ask how far something else is: part of waiting, beside one of [`WAITING`].
const ASKING: [&[&str]; 6] = [
    &["gh", "run", "view"],
    &["gh", "run", "list"],
    &["gh", "pr", "checks"],
    &["gh", "pr", "view"],
    &["glab", "ci", "status"],
    &["kubectl", "get"],
];

/// Whether a command line does nothing but wait for something. To wait again is no loop, whatever the answer: how long
/// it may go on is for the budgets.
fn waits(command: &str) -> bool {
    let parts = command.split(['&', '|', ';', '\n']).map(|part| part.split_whitespace().collect::<Vec<_>>());
    let parts: Vec<Vec<&str>> = parts.filter(|words| !words.is_empty()).collect();
    let is = |words: &[&str], known: &[&[&str]]| known.iter().any(|wanted| words.starts_with(wanted));
    let waits = |words: &[&str]| is(words, &WAITING) || (is(words, &ASKING) && words.contains(&"--watch"));
    parts.iter().any(|words| waits(words)) && parts.iter().all(|words| waits(words) || is(words, &ASKING))
}

/// `Edit(file=foo.py)`, `Bash(cmd=pytest tests/*)`, else `Tool(...)`.
fn coarse(tool: &str, args: &Value) -> String {
    let named = |keys: &[&str]| keys.iter().find_map(|key| args.get(key)?.as_str());
    if is_edit(tool)
        && let Some(file) = named(&FILES)
    {
        return format!("{tool}(file={})", file.rsplit('/').next().unwrap_or(file));
    }
    match named(&COMMANDS) {
        Some(command) => format!("{tool}(cmd={})", generalized(command)),
        None => format!("{tool}(...)"),
    }
}

/// A command line with each path cut after its first part.
fn generalized(command: &str) -> String {
    let words = command.split_whitespace().map(|word| match word.split_once('/') {
        Some((first, _)) if !word.starts_with('-') => format!("{first}/*"),
        Some(_) | None => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call(tool: &str, args: Value, result: Option<&str>) -> ToolCall {
        let reported = Reported {
            tool: tool.into(),
            args: Some(args),
            result: result.map(Value::from),
            end: CallEnd::Unknown,
        };
        signature(&reported, &Normalizer::new(&[]).unwrap())
    }

    #[test]
    fn the_order_of_keys_does_not_matter_and_values_do() {
        let parse = |text: &str| call("Grep", serde_json::from_str(text).unwrap(), None);
        let one = parse(r#"{"a":1,"b":{"c":[1,2],"d":null}}"#);
        assert_eq!(one, parse(r#"{ "b": {"d": null, "c": [1, 2]}, "a": 1 }"#));
        assert_ne!(one.exact, parse(r#"{"a":1,"b":{"c":[2,1],"d":null}}"#).exact);
        assert_ne!(call("Read", json!({}), None).exact, call("Grep", json!({}), None).exact);
    }

    #[test]
    fn volatile_parts_of_answers_are_masked() {
        let answer = |text: &str| call("Bash", json!({"command":"make"}), Some(text)).result;
        assert_eq!(
            answer("failed at 2026-11-20T15:30:00Z in 0.31s, id 123e4567-e89b-12d3-a456-426614174000"),
            answer("failed at 2026-11-20T16:31:02Z in 1.07s, id 9b2e4567-e89b-12d3-a456-426614174abc"),
        );
        assert_ne!(answer("3 failed"), answer("2 failed"));
        assert_eq!(call("Bash", json!({}), None).result, None);
    }

    #[test]
    fn an_editing_tool_that_shows_a_file_edits_nothing() {
        let view = call("str_replace_editor", json!({"command":"view","path":"a"}), None);
        assert_eq!((view.tool.as_str(), is_edit(&view.tool)), ("str_replace_editor:view", false));
        let edit = call("str_replace_editor", json!({"command":"insert","path":"a"}), None);
        assert_eq!((edit.tool.as_str(), is_edit(&edit.tool)), ("str_replace_editor", true));
    }

    #[test]
    fn waiting_proves_nothing() {
        let args = |command: &str| call("Bash", json!({"command":command}), Some("queued")).args;
        for command in [
            "sleep 30",
            "sleep 60 && gh run view 1",
            "gh run watch 12",
            "gh pr checks 4 --watch",
            "kubectl rollout status x",
        ] {
            assert_eq!(args(command), Arguments::Unknown, "{command}");
        }
        for command in ["make", "gh run view 1", "./sleepy", "echo sleep", "sleep 5 && make"] {
            assert_eq!(args(command), Arguments::Known, "{command}");
        }
    }

    #[test]
    fn a_refusal_is_the_same_for_other_arguments() {
        let refusal = |path: &str| {
            let answer = format!("cat: {path}: Permission denied");
            call("Bash", json!({"command": format!("cat {path}")}), Some(&answer)).refusal
        };
        assert!(refusal("src/a.rs").is_some());
        assert_eq!(refusal("src/a.rs"), refusal("lib/b.rs"));
        assert_eq!(call("Bash", json!({"command":"make"}), Some("3 passed")).refusal, None);
        let missing = call("Bash", json!({"command":"pytst -q"}), Some("sh: 1: pytst: not found"));
        assert!(missing.missing.is_some());
        assert_eq!(
            missing.missing,
            call("Bash", json!({"command":"pytst -x"}), Some("bash: pytst: command not found")).missing
        );
    }

    #[test]
    fn the_coarse_form_is_that_of_the_document() {
        for (tool, args, expected) in [
            ("Edit", json!({"file":"/path/to/foo.py","old":"x"}), "Edit(file=foo.py)"),
            ("Bash", json!({"cmd":"pytest tests/unit/test_foo.py -q"}), "Bash(cmd=pytest tests/* -q)"),
            ("Bash", json!({"cmd":"ls --dir=/a/b"}), "Bash(cmd=ls --dir=/a/b)"),
            ("Read", json!({"file_path":"a/b"}), "Read(...)"),
            ("Edit", json!(null), "Edit(...)"),
        ] {
            assert_eq!(coarse(tool, &args), expected);
        }
    }
}
