//! Reads the answer to a call: it says nothing, or it refuses something (docs/rules.md: `tool-loop`, `same-refusal`).

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::WORDS;
use andon_core::{WordList, domain::CallEnd};
use testreport::pattern;

/// Answers of commands and tools that have nothing to say, in lower case and without brackets and punctuation around them.
const QUIET: WordList = WordList::section(WORDS, "quiet answers");
/// Beginnings of such answers that continue with the requested thing.
const QUIET_AT_FIRST: [&str; 4] = ["no matches found", "no files found", "no results found", "found 0 "];
/// Members of an answer that say how the call went and nothing of what it found.
const ABOUT_THE_CALL: WordList = WordList::section(WORDS, "members about the call");
/// Longest answer that may say nothing, in bytes.
const MAX_QUIET: usize = 4 << 10;
/// Longest answer in which arguments are looked for, in bytes.
const MAX_ANSWER: usize = 16 << 10;
/// Most lines and words of the arguments that are masked in an answer.
const MAX_WORDS: usize = 64;
/// First lines of an argument that are looked for, since each is a search through the answer.
const MAX_LINES: usize = 256;
/// Shortest part of the arguments that is masked everywhere, in bytes.
const MIN_PART: usize = 3;
/// Longest argument or line of one that is masked as a whole, in bytes.
const MAX_WHOLE: usize = 256;

/// True where an answer says nothing: many commands answer alike, whatever they do.
pub(super) fn is_quiet(answer: &Value) -> bool {
    match answer {
        Value::Null | Value::Bool(_) => true,
        Value::Number(_) => false,
        Value::String(text) => is_quiet_text(text),
        Value::Array(values) => values.iter().all(is_quiet),
        Value::Object(members) => members.iter().all(|(name, value)| {
            is_quiet(value) || (is_about_the_call(name) && !value.is_object() && !value.is_array())
        }),
    }
}

fn is_quiet_text(text: &str) -> bool {
    if text.len() > MAX_QUIET {
        return false;
    }
    if let Some(value) = inner(text) {
        return is_quiet(&value);
    }
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.all(|line| {
        let member = line.split_once(':');
        is_quiet_line(line)
            || member.is_some_and(|(name, value)| is_about_the_call(name.trim()) || is_quiet_line(value))
    })
}

/// The value in a text that is JSON itself, an object or a list.
fn inner(text: &str) -> Option<Value> {
    let written = text.len() <= MAX_ANSWER && text.trim_start().starts_with(['{', '[']);
    written.then(|| serde_json::from_str(text).ok()).flatten()
}

/// One line, without the brackets, tags and full stop around it.
fn is_quiet_line(line: &str) -> bool {
    let line = line.trim();
    let tagged = line.strip_prefix('<').and_then(|rest| rest.split_once('>')).map(|(_, rest)| rest);
    let bare = tagged.map_or(line, |rest| rest.rsplit_once("</").map_or(rest, |(inner, _)| inner));
    let bare = bare.trim_matches(['[', ']', '(', ')', '.', '!', ' ']);
    let begins = |quiet: &&str| bare.get(..quiet.len()).is_some_and(|head| head.eq_ignore_ascii_case(quiet));
    let exit = bare.get(..9).is_some_and(|head| head.eq_ignore_ascii_case("exit code"))
        && bare[9..].trim_matches([':', ' ']).bytes().all(|byte| byte.is_ascii_digit());
    exit || bare.is_empty()
        || QUIET.iter().any(|quiet| bare.eq_ignore_ascii_case(quiet))
        || QUIET_AT_FIRST.iter().any(begins)
}

fn is_about_the_call(name: &str) -> bool {
    ABOUT_THE_CALL.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// The words of an answer: a text as it is; of any other value, or of JSON in a text, its texts, a line each.
pub fn words_of(answer: &Value) -> String {
    fn collect(value: &Value, lines: &mut Vec<String>) {
        match value {
            Value::String(text) => match inner(text) {
                Some(value) => collect(&value, lines),
                None => lines.push(text.clone()),
            },
            Value::Array(values) => values.iter().for_each(|value| collect(value, lines)),
            Value::Object(members) => members.values().for_each(|value| collect(value, lines)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let mut lines = Vec::new();
    collect(answer, &mut lines);
    lines.join("\n")
}

/// True where an answer refuses: the call failed, or, where its end is unknown, the answer begins like an error.
pub(super) fn is_refusal(answer: &str, end: CallEnd) -> bool {
    static ERROR: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let words = "error|fatal|failed|cannot|can't|could not|not found|no such|denied|invalid|refused|not allowed|\
                     do(?:es)? not exist|not recognized|not been read|read-only|unable to|unknown command|no replacement was|\
                     requires approval|doesn't want to proceed|tool_use_error|exit code:? [1-9][0-9]*|e(?:acces|noent|rofs|perm)";
        pattern(&format!(r"(?i-u:\b(?:{words})\b)"))
    });
    match end {
        CallEnd::Failed => true,
        CallEnd::Done => false,
        CallEnd::Unknown => {
            let first = answer.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            ERROR.as_ref().is_some_and(|error| error.is_match(first))
        }
    }
}

/// The program that a shell did not find, by the first such line.
pub(super) fn missing_program(answer: &str) -> Option<&str> {
    static MISSING: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let program = r"['`]?([A-Za-z0-9_./+-]{1,64})['`]?";
        let forms = [
            format!(r"{program}: (?:command )?not found\s*$"),
            format!(r"command not found: {program}\s*$"),
            format!(
                r"{program} is not recognized as (?:an internal or external command|(?:the|a) name of a)"
            ),
            format!(r"(?:fish: )?Unknown command:? {program}\s*$"),
        ];
        pattern(&format!("(?m){}", forms.join("|")))
    });
    let telling = ["not found", "is not recognized as", "Unknown command"];
    if !telling.iter().any(|part| answer.contains(part)) {
        return None;
    }
    let found = MISSING.as_ref()?.captures(cut(answer, MAX_ANSWER))?;
    found.iter().skip(1).flatten().next().map(|program| program.as_str())
}

/// `answer` with the arguments, their lines and their words masked, the longest first, and any run of white space as one
/// blank. Several masks in a row, and brackets after one, are one: how many words an argument has says nothing.
pub(super) fn without(answer: &str, args: &Value) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let answer = cut(answer, MAX_ANSWER);
    collect(args, answer, &mut parts);
    parts.sort_unstable_by_key(|part| (std::cmp::Reverse(part.len()), *part));
    parts.dedup();
    let mut masked = answer.to_owned();
    for part in parts {
        if masked.contains(part) {
            masked =
                if part.len() < MIN_PART { without_word(&masked, part) } else { masked.replace(part, MASK) };
        }
    }
    let mut shown = String::with_capacity(masked.len());
    for word in masked.split_whitespace() {
        let more = Some(word).filter(|_| shown.ends_with(MASK));
        let again = more.and_then(|word| word.strip_prefix(MASK));
        let brackets = more.filter(|word| !word.contains(char::is_alphanumeric)).map(|_| "");
        if again.or(brackets).is_none() && !shown.is_empty() {
            shown.push(' ');
        }
        shown.push_str(again.or(brackets).unwrap_or(word));
    }
    shown
}

/// The text that replaces an argument.
const MASK: &str = "<arg>";

/// `text` with a short word masked where it is a word of its own: its letters are in other words too.
fn without_word(text: &str, word: &str) -> String {
    let joins = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let (mut masked, mut from) = (String::with_capacity(text.len()), 0);
    for (at, _) in text.match_indices(word) {
        let behind = at + word.len();
        if at >= from && !joins(text[..at].chars().next_back()) && !joins(text[behind..].chars().next()) {
            masked.push_str(&text[from..at]);
            masked.push_str(MASK);
            from = behind;
        }
    }
    masked + &text[from..]
}

/// The arguments that `answer` repeats, as a whole or else by their lines, as a patch has them too, and their words.
fn collect<'a>(value: &'a Value, answer: &str, parts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => {
            let repeated =
                |part: &&str| (MIN_PART..=MAX_WHOLE).contains(&part.len()) && answer.contains(part);
            if let Some(whole) = [text, text.trim()].into_iter().find(repeated) {
                parts.push(whole);
                return;
            }
            let quotes = ['"', '\'', '`', ',', ';', '(', ')'];
            let lines = text.lines().take(MAX_LINES).map(|line| line.trim_start_matches(['+', '-']).trim());
            let lines = lines.filter(repeated);
            let words = text.split_whitespace().map(|word| word.trim_matches(quotes));
            let told = words.filter(|word| word.contains(char::is_alphanumeric));
            parts.extend(lines.take(MAX_WORDS.saturating_sub(parts.len())));
            parts.extend(told.take(MAX_WORDS.saturating_sub(parts.len())));
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, answer, parts)),
        Value::Object(members) => members.values().for_each(|value| collect(value, answer, parts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The answer with the arguments masked: what it says in addition to the question.
pub(super) fn gist(answer: &str, args: &Value) -> String {
    without(cut(answer, MAX_QUIET), args)
}

/// The first `most` bytes of `text`, up to a border of a character.
pub(super) fn cut(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn quiet_answers_are_none() {
        for quiet in [
            json!(""),
            json!(" \n"),
            json!("(no output)"),
            json!("No matches found."),
            json!("OK"),
            json!({"stdout": "", "stderr": "", "interrupted": false}),
            json!([]),
            json!([{"type": "", "text": "ok"}]),
            json!([{"type": "text", "text": "OK"}]),
            json!({"content": [{"type": "text", "text": ""}], "isError": false}),
            json!({"stdout": "", "stderr": "", "exit_code": 0}),
            json!({"exitCode": 0, "stdout": ""}),
            json!({"output": "", "metadata": {"exit_code": 0}}),
            json!(r#"{"stdout":"","stderr":""}"#),
            json!("Found 0 files"),
            json!("No matches found for pattern"),
            json!("Exit code 0"),
            json!("Exit code 1"),
            json!("[no output]"),
            json!("<system>Tool ran without output or errors</system>"),
            json!("Your command ran successfully and did not produce any output."),
            json!(
                "Command: make\nDirectory: (root)\nOutput: (empty)\nError: (none)\nExit Code: 0\nSignal: 0"
            ),
        ] {
            assert!(is_quiet(&quiet), "{quiet}");
        }
        for answer in [
            json!("3 failed"),
            json!(0),
            json!({"stdout": "x", "stderr": ""}),
            json!("no matches for x"),
            json!({"rows": 3}),
            json!("Exit code 1\nx.py: line 3"),
            json!("a: b"),
            json!("{ok"),
        ] {
            assert!(!is_quiet(&answer), "{answer}");
        }
    }

    #[test]
    fn a_failed_call_is_refused_and_an_unknown_one_by_its_words() {
        assert!(is_refusal("whatever", CallEnd::Failed));
        assert!(!is_refusal("error: x", CallEnd::Done));
        assert!(is_refusal("Exit code 127\nbash: x: command not found", CallEnd::Unknown));
        assert!(!is_refusal("exit code: 0", CallEnd::Unknown));
        assert!(is_refusal("\nError: old_string not found\nmore", CallEnd::Unknown));
        assert!(!is_refusal("3 passed\n0 errors", CallEnd::Unknown));
        assert!(!is_refusal("src/terror.rs", CallEnd::Unknown));
    }

    #[test]
    fn programs_that_are_not_there() {
        for (answer, program) in [
            ("bash: line 1: pytst: command not found", Some("pytst")),
            ("sh: 1: pytst: not found\n", Some("pytst")),
            ("/bin/sh: pytst: not found", Some("pytst")),
            ("zsh: command not found: pytst", Some("pytst")),
            ("'pytst' is not recognized as an internal or external command,", Some("pytst")),
            (
                "pytest : The term 'pytest' is not recognized as the name of a cmdlet, function",
                Some("pytest"),
            ),
            ("fish: Unknown command: pytst", Some("pytst")),
            ("old_string not found in a.rs", None),
            ("error: package not found in the registry", None),
        ] {
            assert_eq!(missing_program(answer), program, "{answer}");
        }
    }

    #[test]
    fn arguments_are_masked_in_answers() {
        let refused = |path: &str| {
            without(
                &format!("cat: {path}: No such file or directory"),
                &json!({"command": format!("cat {path}")}),
            )
        };
        assert_eq!(refused("src/a.rs"), refused("src/deep/b.rs"));
        let short = without("a is\tnot b, ab or b_c", &json!({"x": "a", "y": ["b"]}));
        assert_eq!(short, "<arg> is not <arg>, ab or b_c", "short words for themselves");
        assert_eq!(without("no ab/c in ab", &json!(["ab/c", "'ab/c'"])), "no <arg> in ab");
        let several = |text: &str| without(&format!("no such text: {text}."), &json!({"old_string": text}));
        assert_eq!(several("let x = 1"), several("a much longer line of text, with words"));
        let edit =
            |old: &str| without(&format!("no `{old}` in it:\n{old}"), &json!({"old": old, "new": "b"}));
        assert_eq!(edit("    if n {\n        x\n    }"), edit("let b = 1;"));
        let patch = json!({"input": "*** Update File: a.rs\n-    if n == 0 {\n+new\n"});
        assert_eq!(without("no such lines:\n    if n == 0 {\n", &patch), "no such lines: <arg>");
        assert_eq!(gist("12 tests, 3 of a.rs", &json!({"file": "a.rs"})), "12 tests, 3 of <arg>");
        let long = "é".repeat(MAX_ANSWER);
        assert!(without(&long, &Value::Null).len() <= MAX_ANSWER);
    }
}
