//! Signatures of tool calls (docs/spec-map.md, loop rules: signature-based detection; docs/spec-map.md, settled choice 4).

use serde_json::{Map, Value, json};

use super::short_form::{self, command_keys};
use super::{WORDS, answer, command, hash, quantities, taken};
use andon_core::domain::{Arguments, CallEnd, CallHashes, ToolCall};
use andon_core::format::{FormatError, members};
use andon_core::history::{FILE_ARGUMENTS, SHOWING, is_edit, is_one_of};
use andon_core::{WordList, change::normalize::Normalizer, words};

/// Longest name of a tool, in characters.
const MAX_TOOL: usize = 128;

/// A call as it was seen or reported, apart from the tool.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnCall {
    /// Its arguments, where any are known.
    pub args: Option<Value>,
    /// The answer, where one is known.
    pub result: Option<Value>,
    pub end: CallEnd,
}

/// The names under which clients report arguments: that of the design, of hooks, and of chat completions.
const ARGUMENTS: [&str; 3] = ["args", "tool_input", "arguments"];

/// The call of a line: as the journal has it, and in full. One that is reported in full alone has no hashes.
pub(super) fn reported(object: &mut Map<String, Value>) -> Result<(ToolCall, OwnCall), FormatError> {
    if object.get("call").is_none_or(Value::is_null) {
        object.insert("call".to_owned(), json!(CallHashes::default()));
    }
    let reported: ToolCall = members(object)?;
    let args = arguments(object)?;
    let end = reported.end;
    Ok((reported, OwnCall { args, result: taken(object, "result"), end }))
}

/// The arguments of a call, under whichever name, or as the text of a JSON object: the same call is the same.
fn arguments(object: &mut Map<String, Value>) -> Result<Option<Value>, FormatError> {
    let mut named: Option<Value> = None;
    for name in ARGUMENTS {
        let Some(value) = taken(object, name).map(spelled_out) else { continue };
        if named.as_ref().is_some_and(|named| *named != value) {
            let found: String = value.to_string().chars().take(80).collect();
            let why = format!("{found} contradicts the arguments that the line has under another name");
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

/// A call of `tool` as hashes, and its short form with `patterns` masked.
pub fn seen_call(tool: &str, seen: &OwnCall, patterns: &Normalizer) -> ToolCall {
    let value = seen.args.as_ref().unwrap_or(&Value::Null);
    let tool = name(tool, value);
    let proves = seen.args.is_some() && !waits(&tool, value);
    let args = value.to_string();
    let mut call = ToolCall {
        args: if proves { Arguments::Known } else { Arguments::Unknown },
        hashes: CallHashes {
            exact: hash::short(&[b"exact", tool.as_bytes(), args.as_bytes()]),
            coarse: hash::short(&[b"coarse", coarse(&tool, value).as_bytes()]),
        },
        asks: proves.then(|| hash::short(&[b"asks", tool.as_bytes(), without_numbers(value).as_bytes()])),
        writes: commands(value).any(command::writes),
        end: seen.end,
        shown: seen.args.is_some().then(|| short_form::call(&tool, value, patterns)),
        ..ToolCall::bare(tool)
    };
    if let Some(result) = seen.result.as_ref().filter(|result| !answer::is_quiet(result)) {
        take_answer(&mut call, value, result, patterns);
    }
    call
}

/// Takes in an answer that says something.
fn take_answer(call: &mut ToolCall, args: &Value, result: &Value, patterns: &Normalizer) {
    let whole = hash::text_of(result);
    let timeless = hash::timeless(&whole, patterns);
    let masked = hash::masked(&timeless);
    let words = answer::words_of(result);
    let of = |kind: &[u8], text: &str| Some(hash::short(&[kind, call.tool.as_bytes(), text.as_bytes()]));
    // Numbers stay: pages of them are not the same.
    let gist = of(b"gist", &answer::gist(&timeless, args));
    // Arguments before volatile parts: these may be parts of an argument.
    let refusal = answer::is_refusal(&words, call.end).then(|| hash::masked(&answer::without(&words, args)));
    let missing = refusal.as_ref().and_then(|_| answer::missing_program(&words));
    call.program = missing.map(|program| short_form::text(program, patterns));
    call.missing = missing.map(|program| hash::short(&[b"missing", program.as_bytes()]));
    call.refusal = refusal.and_then(|text| of(b"refusal", &text));
    call.result = Some(hash::short(&[b"result", masked.as_bytes()]));
    call.moves = quantities::read(&whole);
    call.lines = hash::sample(&words);
    (call.whole, call.gist) = (of(b"whole", &whole), gist);
}

/// The name of the tool. An editing tool that is asked to show a file edits nothing: `str_replace_editor:view`.
fn name(tool: &str, args: &Value) -> String {
    let tool: String = tool.chars().take(MAX_TOOL).collect();
    let asked = args.get("command").and_then(Value::as_str);
    let views = is_edit(&tool) && asked.is_some_and(|asked| SHOWING.contains(asked));
    if views { format!("{tool}:view") } else { tool }
}

/// The command lines among the arguments.
fn commands<'a>(args: &'a Value) -> impl Iterator<Item = &'a str> {
    let texts = |value: &'a Value| value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    command_keys().filter_map(|key| args.get(key)).flat_map(texts).filter_map(Value::as_str)
}

/// Tools that only wait for something, or ask how far it is.
const WAITERS: WordList = WordList::section(WORDS, "waiting tools");

/// True where a call only waits: to wait again is no loop.
fn waits(tool: &str, args: &Value) -> bool {
    let polls_input =
        is_one_of(tool, words!["writestdin"]) && args.get("chars").and_then(Value::as_str) == Some("");
    polls_input || is_one_of(tool, WAITERS) || commands(args).any(command::waits)
}

/// `Edit(file=foo.py)`, `Bash(cmd=pytest tests/*)`, else `Tool(...)`.
fn coarse(tool: &str, args: &Value) -> String {
    let named = |key: &str| args.get(key)?.as_str();
    if is_edit(tool)
        && let Some(file) = FILE_ARGUMENTS.iter().find_map(named)
    {
        return format!("{tool}(file={})", file.rsplit('/').next().unwrap_or(file));
    }
    match command_keys().find_map(named) {
        Some(command) => format!("{tool}(cmd={})", generalized(command)),
        None => format!("{tool}(...)"),
    }
}

/// Arguments as a text, with the numbers masked by which a call pages, widens or counts: a number of its own, and a word of a
/// command that begins with one, such as `10,20p` or `-n20`.
fn without_numbers(args: &Value) -> String {
    let masked = |word: &str| {
        let begin = word.trim_start_matches(['-', '+', '\'', '"', '=']);
        let counts = begin.len() < word.len() && begin.chars().nth(1).is_some_and(|c| c.is_ascii_digit());
        if begin.starts_with(|c: char| c.is_ascii_digit()) || counts {
            word.replace(|c: char| c.is_ascii_digit(), "")
        } else {
            word.to_owned()
        }
    };
    match args {
        Value::Number(_) => "#".to_owned(),
        Value::String(text) => text.split_whitespace().map(masked).collect::<Vec<_>>().join(" "),
        Value::Array(values) => values.iter().map(without_numbers).collect::<Vec<_>>().join("\n"),
        Value::Object(members) => {
            let told = members.iter().filter(|(_, value)| !value.is_number());
            told.map(|(key, value)| format!("{key}={}", without_numbers(value)))
                .collect::<Vec<_>>()
                .join("\n")
        }
        Value::Null | Value::Bool(_) => args.to_string(),
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
    use serde_json::json;

    use super::*;

    fn call(tool: &str, args: Value, result: Option<&str>) -> ToolCall {
        let seen = OwnCall { args: Some(args), result: result.map(Value::from), end: CallEnd::Unknown };
        seen_call(tool, &seen, &Normalizer::new(&[]).unwrap())
    }

    #[test]
    fn the_order_of_keys_does_not_matter_and_values_do() {
        let parse = |text: &str| call("Grep", serde_json::from_str(text).unwrap(), None);
        let one = parse(r#"{"a":1,"b":{"c":[1,2],"d":null}}"#);
        assert_eq!(one, parse(r#"{ "b": {"d": null, "c": [1, 2]}, "a": 1 }"#));
        assert_ne!(one.hashes.exact, parse(r#"{"a":1,"b":{"c":[2,1],"d":null}}"#).hashes.exact);
        assert_ne!(call("Read", json!({}), None).hashes.exact, call("Grep", json!({}), None).hashes.exact);
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
        let args = |tool: &str, args: Value| call(tool, args, Some("queued")).args;
        assert_eq!(args("Bash", json!({"command": "sleep 60 && gh run view 1"})), Arguments::Unknown);
        assert_eq!(args("Bash", json!({"command": "make"})), Arguments::Known);
        assert_eq!(args("BashOutput", json!({"bash_id": "1"})), Arguments::Unknown);
        assert_eq!(args("write_stdin", json!({"chars": ""})), Arguments::Unknown);
        assert_eq!(args("write_stdin", json!({"chars": "y\n"})), Arguments::Known);
    }

    #[test]
    fn answers_of_programs_are_read_in_any_form() {
        let json = json!({"exitCode": 127, "stderr": "bash: line 1: pytest: command not found\n"});
        let of = |result: Value| {
            let args = Some(json!({"command": "pytest"}));
            let end = CallEnd::Unknown;
            seen_call("Bash", &OwnCall { args, result: Some(result), end }, &Normalizer::new(&[]).unwrap())
        };
        assert!(of(json.clone()).missing.is_some());
        assert_eq!(of(json.clone()).missing, of(json!(json.to_string())).missing, "in a text");
        assert_eq!(of(json).missing, of(json!("sh: 1: pytest: not found")).missing);
        let moved = |text: &str| of(json!(text)).moves;
        assert_eq!(moved("elapsed 30s"), [30_000]);
        let id = |id: &str| of(json!(format!("made {id} at last")));
        let rows = |rows: u64| of(json!({ "rows": rows }));
        assert_ne!(rows(3).result, rows(4).result, "numbers tell");
        assert_eq!(rows(101_234_567).moves, [101_234_567_000]);
        let (one, two) =
            (id("123e4567-e89b-12d3-a456-426614174000"), id("9b2e4567-e89b-12d3-a456-426614174abc"));
        assert_eq!((one.result == two.result, one.whole == two.whole), (true, false), "masked, and as it is");
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
            ("edit", json!({"filePath":"/path/to/foo.py","oldString":"x"}), "edit(file=foo.py)"),
            ("run_command", json!({"command_line":"pytest -q"}), "run_command(cmd=pytest -q)"),
            ("Bash", json!({"cmd":"pytest tests/unit/test_foo.py -q"}), "Bash(cmd=pytest tests/* -q)"),
            ("Bash", json!({"cmd":"ls --dir=/a/b"}), "Bash(cmd=ls --dir=/a/b)"),
            ("Read", json!({"file_path":"a/b"}), "Read(...)"),
            ("Edit", json!(null), "Edit(...)"),
        ] {
            assert_eq!(coarse(tool, &args), expected);
        }
    }
}
