//! Signatures of tool calls (docs/spec-map.md, loop rules: signature-based detection; docs/spec-map.md, settled choice 4).

use serde_json::{Map, Value};

use super::{hash, taken};
use crate::domain::events::{Arguments, CallEnd, ToolCall};
use crate::history::is_edit;
use crate::wire::FormatError;

/// Longest name of a tool, in characters.
const MAX_TOOL: usize = 128;
/// Arguments that name the file of an editing tool.
const FILES: [&str; 6] = ["file_path", "file", "path", "filename", "notebook_path", "target_file"];
/// Arguments that hold a command line.
const COMMANDS: [&str; 3] = ["command", "cmd", "script"];

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

/// The call as hashes.
pub(super) fn signature(reported: &Reported) -> ToolCall {
    let tool: String = reported.tool.chars().take(MAX_TOOL).collect();
    let known = if reported.args.is_some() { Arguments::Known } else { Arguments::Unknown };
    let value = reported.args.as_ref().unwrap_or(&Value::Null);
    let args = value.to_string();
    // An empty answer is no answer: of many commands it is all that there is to say.
    let answer = reported.result.as_ref().map(|result| hash::masked(&hash::text_of(result)));
    let result =
        answer.filter(|text| !text.trim().is_empty()).map(|text| hash::short(&[b"result", text.as_bytes()]));
    ToolCall {
        exact: hash::short(&[b"exact", tool.as_bytes(), args.as_bytes()]),
        masked: hash::short(&[b"masked", tool.as_bytes(), hash::masked(&args).as_bytes()]),
        coarse: hash::short(&[b"coarse", coarse(&tool, value).as_bytes()]),
        tool,
        args: known,
        result,
        end: reported.end,
    }
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
        signature(&Reported {
            tool: tool.into(),
            args: Some(args),
            result: result.map(Value::from),
            end: CallEnd::Unknown,
        })
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
