//! Secrets in a text that is about to be kept or shown, masked by the forms in which they are known to come. A tool
//! call may hold a token; the line of the call in the journal and on a screen must not.
//!
//! Masking a word too many is better than showing a token, but a sentence or a path stays unchanged: a form that begins
//! with a common word such as `token` requires more text after it.

use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

use regex::Regex;

use crate::WordList;

/// The text that replaces a secret.
pub const MASK: &str = "<secret>";

/// The rows of the forms, and the names that some of them have.
const TEXT: &str = include_str!("secrets.txt");

/// In the order in which they are masked; a test reads every row.
static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| {
    let rows = WordList::section(TEXT, "forms").iter().filter(|row| !row.starts_with('#'));
    rows.filter_map(Form::of_row).collect()
});

/// Any sign of any form, so that most texts are looked at once.
static SIGNS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let signs: Vec<String> = FORMS.iter().flat_map(Form::signs).map(regex::escape).collect();
    testreport::pattern(&format!("(?i-u:{})", signs.join("|")))
});

/// `text` with every secret of a known form masked. To mask twice is to mask once.
pub fn masked(text: &str) -> Cow<'_, str> {
    if !SIGNS.as_ref().is_some_and(|signs| signs.is_match(text)) {
        return Cow::Borrowed(text);
    }
    let lower = text.to_ascii_lowercase();
    let signed = |form: &&Form| form.signs().any(|sign| lower.contains(sign));
    let mut result = Cow::Borrowed(text);
    for form in FORMS.iter().filter(signed) {
        let compiled = form.compiled.get_or_init(|| testreport::pattern(&form.pattern()));
        let Some(regex) = compiled else { continue };
        if let Some(replaced) = replaced(&result, form, regex) {
            result = Cow::Owned(replaced);
        }
    }
    result
}

/// `text` with what the groups of `form` caught masked, or all of a match where it has no group; `None` where nothing is.
fn replaced(text: &str, form: &Form, regex: &Regex) -> Option<String> {
    let mut out = String::new();
    let mut end = 0;
    for found in regex.captures_iter(text) {
        let secret = found.iter().skip(1).flatten().next().or_else(|| found.get(0));
        let Some(secret) = secret.filter(|secret| (form.is_secret)(secret.as_str())) else { continue };
        out.push_str(&text[end..secret.start()]);
        out.push_str(MASK);
        end = secret.end();
    }
    (end > 0).then(|| out + &text[end..])
}

struct Form {
    /// The signs with commas between them. They are looked for first, since compiling a pattern costs a hook more than
    /// everything else it does with a call.
    signs: &'static str,
    pattern: &'static str,
    /// Returns true when the caught text is a secret and not an ordinary word.
    is_secret: fn(&str) -> bool,
    /// The pattern, compiled when the first text has a sign of the form.
    compiled: OnceLock<Option<Regex>>,
}

impl Form {
    fn of_row(row: &'static str) -> Option<Self> {
        let (kind, rest) = row.split_once(" | ")?;
        let (signs, pattern) = rest.split_once(" | ")?;
        let is_secret: fn(&str) -> bool = match kind {
            "any" => |_| true,
            "filled" => |text| !text.is_empty(),
            "assignment" => |text| text.contains('='),
            "credential" => |text| text.len() >= 16 || !text.bytes().all(|byte| byte.is_ascii_lowercase()),
            "key" => |text| has_digit(text) || (looks_random(text) && text.len() >= 32),
            "digit" => has_digit,
            "random" => looks_random,
            "value" => is_value,
            "random value" => |text| is_value(text) && looks_random(text),
            _ => return None,
        };
        Some(Self { signs, pattern, is_secret, compiled: OnceLock::new() })
    }

    fn signs(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.signs.split(',')
    }

    fn pattern(&self) -> String {
        self.pattern.replace("{names}", WordList::section(TEXT, "names").0.trim())
    }
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// Returns whether a text has a digit, or a capital letter within: words of a sentence have neither.
fn looks_random(text: &str) -> bool {
    let inner_capital = || text.bytes().skip(1).any(|byte| byte.is_ascii_uppercase());
    let is_place = text.contains("://") || is_path(text);
    !is_place && (has_digit(text) || (inner_capital() && text.bytes().any(|byte| byte.is_ascii_lowercase())))
}

/// Returns whether what is assigned is a value of its own: no switch, no variable, no file and no other flag.
fn is_value(text: &str) -> bool {
    const WORDS: [&str; 8] = ["true", "false", "none", "null", "nil", "undefined", "yes", "no"];
    let is_word = || WORDS.iter().any(|word| text.eq_ignore_ascii_case(word));
    let name = text.strip_prefix('$').unwrap_or_default();
    let is_variable = text.starts_with("$(")
        || text.starts_with("${")
        || (!name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'));
    !(text.starts_with('-') || is_variable || is_word() || is_path(text))
}

/// Returns whether a text is a path for sure. Base64 has a slash as well, but with capital letters around it.
fn is_path(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-/".contains(&byte);
    let starts = ["./", "../", "~/", "@"].iter().any(|start| text.starts_with(start));
    starts || (text.contains('/') && text.bytes().all(plain) && !text.ends_with('='))
}

#[cfg(test)]
mod tests;
