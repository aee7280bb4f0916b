//! What the answer to a call says: nothing, or a refusal, and of what (docs/rules.md: `tool-loop`, `same-refusal`).

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::domain::events::CallEnd;

/// Answers of commands and tools that have nothing to say, in lower case and without punctuation at their end.
const QUIET: [&str; 16] = [
    "",
    "(no output)",
    "no output",
    "no matches found",
    "no matches",
    "no files found",
    "no results",
    "no results found",
    "command completed with no output",
    "tool ran without output or errors",
    "(bash completed with no output)",
    "ok",
    "done",
    "success",
    "true",
    "null",
];
/// Longest answer in which arguments are looked for, in bytes.
const MAX_ANSWER: usize = 16 << 10;
/// Most words of the arguments that are masked in an answer.
const MAX_WORDS: usize = 64;
/// Shortest word of the arguments that is masked: shorter ones stand everywhere.
const MIN_WORD: usize = 3;

/// Whether an answer says nothing: that of many commands is the same, whatever they do.
pub(super) fn is_quiet(answer: &Value) -> bool {
    match answer {
        Value::Null | Value::Bool(_) => true,
        Value::Number(_) => false,
        Value::String(text) => {
            let text = text.trim().trim_end_matches(['.', '!']);
            QUIET.iter().any(|quiet| text.eq_ignore_ascii_case(quiet))
        }
        Value::Array(values) => values.iter().all(is_quiet),
        Value::Object(members) => members.values().all(is_quiet),
    }
}

/// Whether an answer refuses what was asked for: the call failed, or, where nobody says how it ended, the answer begins
/// like an error.
pub(super) fn is_refusal(answer: &str, end: CallEnd) -> bool {
    static ERROR: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let words = "error|fatal|failed|cannot|can't|could not|not found|no such|permission denied|invalid|refused|not allowed";
        Regex::new(&format!("(?i)\\b(?:{words})\\b")).ok()
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
        let program = r"['`]?([\w./+-]{1,64})['`]?";
        let forms = [
            format!(r"{program}: (?:command )?not found\s*$"),
            format!(r"command not found: {program}\s*$"),
            format!(r"{program} is not recognized as an internal or external command"),
        ];
        Regex::new(&format!("(?m){}", forms.join("|"))).ok()
    });
    let found = MISSING.as_ref()?.captures(cut(answer))?;
    found.iter().skip(1).flatten().next().map(|program| program.as_str())
}

/// `answer` with the words of the arguments masked, the longest first.
pub(super) fn without(answer: &str, args: &Value) -> String {
    let mut words: Vec<&str> = Vec::new();
    collect(args, &mut words);
    words.sort_unstable_by_key(|word| (std::cmp::Reverse(word.len()), *word));
    words.dedup();
    let mut masked = cut(answer).to_owned();
    for word in words {
        if masked.contains(word) {
            masked = masked.replace(word, "<arg>");
        }
    }
    masked
}

fn collect<'a>(value: &'a Value, words: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => {
            let quotes = ['"', '\'', '`', ',', ';', '(', ')'];
            let words_read = text.split_whitespace().map(|word| word.trim_matches(quotes));
            let room = MAX_WORDS.saturating_sub(words.len());
            words.extend(words_read.filter(|word| word.len() >= MIN_WORD).take(room));
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, words)),
        Value::Object(members) => members.values().for_each(|value| collect(value, words)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// As much of `text` as is looked at.
fn cut(text: &str) -> &str {
    let end = (0..=MAX_ANSWER.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
        ] {
            assert!(is_quiet(&quiet), "{quiet}");
        }
        for answer in
            [json!("3 failed"), json!(0), json!({"stdout": "x", "stderr": ""}), json!("no matches for x")]
        {
            assert!(!is_quiet(&answer), "{answer}");
        }
    }

    #[test]
    fn a_failed_call_is_refused_and_an_unknown_one_by_its_words() {
        assert!(is_refusal("whatever", CallEnd::Failed));
        assert!(!is_refusal("error: x", CallEnd::Done));
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
        assert_eq!(without("a is not b", &json!({"x": "a", "y": ["b"]})), "a is not b", "short words stay");
        assert_eq!(without("no ab/c in ab", &json!(["ab/c", "'ab/c'"])), "no <arg> in ab");
        let long = "é".repeat(MAX_ANSWER);
        assert!(without(&long, &Value::Null).len() <= MAX_ANSWER);
    }
}
