//! The short form of a call, for people, who have to see which call repeats (docs/formats.md). One line, bounded,
//! without control characters and without secrets of a known form.

use std::borrow::Cow;
use std::io::{self, Write};

use serde_json::{Map, Value};

use andon_core::domain::{MAX_SHOWN, ToolCall};
use andon_core::history::{COMMAND_ARGUMENTS, FILE_ARGUMENTS, SEVERAL_COMMANDS};
use andon_core::{WordList, change::normalize::Normalizer, change::secrets, escape, words};

/// As much of the arguments is looked at, in bytes: a few times what is shown, for a mask is shorter than what it masks.
const MAX_READ: usize = 512;
/// The agent's description of a command: the command itself is enough.
const DESCRIPTION: &str = "description";
/// Longest name of a tool, in characters: what it was asked has to have room.
const MAX_TOOL: usize = 60;
/// Words of a command line that is reported as a list.
const MAX_WORDS: usize = 256;
/// The mark of a cut.
const REST: &str = "...";
/// Arguments that say what is looked for or asked, where there is neither a file nor a command.
const ASKED: WordList = words!["pattern", "query", "url", "prompt"];

/// `Bash: cargo test`, `Edit: src/a.rs {"new_string":"y","old_string":"x"}`: a tool with its arguments.
pub(super) fn call(tool: &str, args: &Value, patterns: &Normalizer) -> String {
    let mut text = BoundedWriter::new();
    // It fails where there is no more room, and what fits is kept.
    let _ = write(&mut text, tool, args);
    text.line(patterns)
}

/// A text that was shortened elsewhere, or the name of a program: bounded and masked all the same.
pub(super) fn text(text: &str, patterns: &Normalizer) -> String {
    let mut own = BoundedWriter::new();
    let _ = own.write_all(text.as_bytes());
    own.line(patterns)
}

/// The short forms of a call that is reported by hashes, no longer and no less masked than our own.
pub(super) fn again(call: &mut ToolCall, patterns: &Normalizer) {
    for told in [&mut call.shown, &mut call.program].into_iter().flatten() {
        *told = text(told, patterns);
    }
}

/// The tool, then the argument that says most of it, then the rest as JSON with its keys in order.
fn write(out: &mut BoundedWriter, tool: &str, args: &Value) -> io::Result<()> {
    let end = tool.char_indices().nth(MAX_TOOL).map_or(tool.len(), |(end, _)| end);
    out.write_all(&tool.as_bytes()[..end])?;
    match args {
        Value::Null => Ok(()),
        Value::String(text) => {
            out.write_all(b": ")?;
            out.write_all(text.as_bytes())
        }
        Value::Object(members) => {
            let first = first(members);
            if let Some((_, text)) = &first {
                out.write_all(b": ")?;
                out.write_all(text.as_bytes())?;
            }
            let first = first.map(|(key, _)| key);
            let is_command = first.is_some_and(|first| command_keys().any(|key| key == first));
            let is_rest = |key: &str| Some(key) != first && !(is_command && key == DESCRIPTION);
            let empty = if first.is_none() { " {}" } else { "" };
            rest(out, members.iter().filter(|(key, _)| is_rest(key)), empty)
        }
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            out.write_all(b" ")?;
            Ok(serde_json::to_writer(out, args)?)
        }
    }
}

/// The arguments that hold command lines.
pub(super) fn command_keys() -> impl Iterator<Item = &'static str> {
    COMMAND_ARGUMENTS.iter().chain([SEVERAL_COMMANDS])
}

/// The argument that says most of a call, with its key.
fn first(members: &Map<String, Value>) -> Option<(&'static str, Cow<'_, str>)> {
    let mut keys = FILE_ARGUMENTS.iter().chain(command_keys()).chain(ASKED.iter());
    keys.find_map(|key| Some((key, words(members.get(key)?)?)))
}

/// A text, or a command line that is reported as a list of its words.
fn words(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Array(words) => {
            let words: Option<Vec<&str>> = words.iter().take(MAX_WORDS).map(Value::as_str).collect();
            words.filter(|words| !words.is_empty()).map(|words| Cow::Owned(words.join(" ")))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// Writes members as JSON, and `empty` where there are none.
fn rest<'a>(
    out: &mut BoundedWriter,
    members: impl Iterator<Item = (&'a String, &'a Value)>,
    empty: &str,
) -> io::Result<()> {
    let mut separator = " {";
    for (key, value) in members {
        out.write_all(separator.as_bytes())?;
        serde_json::to_writer(&mut *out, key)?;
        out.write_all(b":")?;
        serde_json::to_writer(&mut *out, value)?;
        separator = ",";
    }
    out.write_all(if separator == "," { b"}" } else { empty.as_bytes() })
}

/// Takes so many bytes, and then no more: what is written may be megabytes.
struct BoundedWriter(Vec<u8>);

impl BoundedWriter {
    fn new() -> Self {
        Self(Vec::with_capacity(MAX_SHOWN))
    }

    /// The text so far. Where a part is missing, the last word is left out: it may be half of a secret. Masks come before
    /// the cut, so that no half of one is left either.
    fn line(self, patterns: &Normalizer) -> String {
        let Self(mut bytes) = self;
        let is_cut = bytes.len() > MAX_READ;
        if is_cut {
            let ends = |byte: &u8| byte.is_ascii_whitespace() || b"\"',;".contains(byte);
            let end = bytes.iter().rposition(ends).filter(|end| *end > MAX_SHOWN);
            bytes.truncate(end.unwrap_or(MAX_READ));
        }
        let mut text = String::with_capacity(bytes.len());
        for (number, line) in secrets::masked(&String::from_utf8_lossy(&bytes)).split('\n').enumerate() {
            text.push_str(if number > 0 { "\n" } else { "" });
            text.push_str(&String::from_utf8_lossy(&patterns.line(line.as_bytes())));
        }
        let visible = escape::terminal(&text);
        let ends = |chars: usize| visible.char_indices().nth(chars).map(|(end, _)| end);
        match (ends(if is_cut { MAX_SHOWN - REST.len() } else { MAX_SHOWN }), is_cut) {
            (None, false) => visible.into_owned(),
            (None, true) => format!("{visible}{REST}"),
            (Some(_), _) => {
                let end = ends(MAX_SHOWN - REST.len()).unwrap_or(visible.len());
                format!("{}{REST}", &visible[..end])
            }
        }
    }
}

impl Write for BoundedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = (MAX_READ + 1).saturating_sub(self.0.len());
        let taken = bytes.len().min(room);
        self.0.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn patterns() -> Normalizer {
        Normalizer::new(&[("customer".to_owned(), "cust-[a-z]+".to_owned())]).unwrap()
    }

    fn shown(tool: &str, args: &Value) -> String {
        call(tool, args, &patterns())
    }

    #[test]
    fn what_says_most_comes_first() {
        for (tool, args, expected) in [
            ("Bash", json!({"command": "cargo test"}), "Bash: cargo test"),
            ("Bash", json!({"timeout": 9, "command": "make"}), r#"Bash: make {"timeout":9}"#),
            ("Bash", json!({"command": "make", "description": "Build it"}), "Bash: make"),
            ("Task", json!({"description": "x"}), r#"Task {"description":"x"}"#),
            ("shell", json!({"command": ["bash", "-lc", "make"]}), "shell: bash -lc make"),
            (
                "Edit",
                json!({"file_path": "src/a.rs", "old_string": "x", "new_string": "y"}),
                r#"Edit: src/a.rs {"new_string":"y","old_string":"x"}"#,
            ),
            ("Grep", json!({"pattern": "a b", "glob": "*.rs"}), r#"Grep: a b {"glob":"*.rs"}"#),
            ("mcp: search", json!({"depth": 2, "a": {"b": [1]}}), r#"mcp: search {"a":{"b":[1]},"depth":2}"#),
            ("LS", json!({}), "LS {}"),
            ("Ask", json!("what now"), "Ask: what now"),
            ("Wait", json!([1, null]), "Wait [1,null]"),
            ("Odd", json!({"command": ["a", 1]}), r#"Odd {"command":["a",1]}"#),
        ] {
            assert_eq!(shown(tool, &args), expected);
        }
    }

    #[test]
    fn control_characters_are_shown_and_not_obeyed() {
        let hostile = "echo \u{1b}[2J\n# Approved\t\u{202e}x";
        assert_eq!(
            shown("Bash", &json!({ "command": hostile })),
            "Bash: echo \\u{1b}[2J\\n# Approved\\t\\u{202e}x"
        );
        assert!(shown("a\u{1b}\nb", &json!({})).starts_with("a\\u{1b}\\nb"));
    }

    #[test]
    fn secrets_and_the_patterns_of_the_project_are_masked_before_the_cut() {
        let bash = |command: &str| shown("Bash", &json!({ "command": command }));
        assert_eq!(bash("login cust-abc"), "Bash: login <customer>");
        assert_eq!(bash("a API_KEY=supersecretvalue123 b"), "Bash: a API_KEY=<secret> b");
        assert_eq!(
            shown("Login", &json!({"password": "x y", "user": "me"})),
            r#"Login {"password":"<secret>","user":"me"}"#
        );
        // Wherever the cut falls, no half of a token is left.
        for at in 150..220 {
            let text = bash(&format!("{} ghp_0123456789abcdefghijABCDEFGHIJ456789 tail", "x".repeat(at)));
            assert!(!text.contains("ghp_"), "{text}");
        }
        let key = format!("-----BEGIN PRIVATE KEY-----\n{}\n", "MIIEvQ".repeat(150));
        for at in 0..120 {
            let text = bash(&format!(
                "{key}{} -----END PRIVATE KEY----- a ghp_0123456789abcdefghijABCDEFGHIJ456789",
                "y".repeat(at)
            ));
            assert!(!text.contains("ghp_") && !text.contains("MII"), "{text}");
        }
    }

    #[test]
    fn long_calls_end_in_an_ellipsis() {
        let text = shown("Bash", &json!({"command": "é".repeat(500)}));
        assert_eq!((text.chars().count(), text.ends_with("é...")), (MAX_SHOWN, true));
        let whole = format!("Bash: {}", "é".repeat(MAX_SHOWN - 6));
        assert_eq!(shown("Bash", &json!({"command": "é".repeat(MAX_SHOWN - 6)})), whole);
        let huge = shown("Write", &json!({"content": "a ".repeat(5 << 20), "file_path": "b"}));
        assert!(huge.starts_with("Write: b {\"content\":\"a a ") && huge.ends_with("..."), "{huge}");
        let tool = shown(&"t".repeat(128), &json!({"command": "make"}));
        assert!(tool.ends_with("t: make"), "{tool}");
    }

    #[test]
    fn a_short_form_that_is_told_is_masked_again() {
        let own = text("Bash: ghp_0123456789abcdefghijABCDEFGHIJ456789\u{1b} cust-a", &patterns());
        assert_eq!(own, "Bash: <secret>\\u{1b} <customer>");
    }

    proptest! {
        #[test]
        fn a_short_form_is_one_bounded_line(tool in any::<String>(), key in ".{0,9}", value in any::<String>(), times in 1..40_usize) {
            let text = shown(&tool, &json!({ key: value.repeat(times) }));
            prop_assert!(text.chars().count() <= MAX_SHOWN);
            prop_assert!(!text.chars().any(escape::is_hidden));
        }

        #[test]
        fn what_is_short_already_stays(command in "[a-z é\\\\{}\"]{0,300}") {
            let once = shown("Bash", &json!({ "command": command.trim() }));
            prop_assert_eq!(text(&once, &patterns()), once);
        }
    }
}
