//! Secrets in a text that is about to be kept or shown, masked by the forms in which they are known to come. A tool
//! call may hold a token; the line of the call in the journal and on a screen must not.
//!
//! Masking a word too many is better than showing a token, but a sentence or a path stays unchanged: a form that begins
//! with a common word such as `token` requires more text after it.

mod forms;

use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

use regex::Regex;

use forms::{FORMS, Form};

/// The text that replaces a secret.
pub const MASK: &str = "<secret>";

/// Any sign of any form, so that most texts are looked at once.
static SIGNS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let signs: Vec<String> =
        FORMS.iter().flat_map(|form| form.signs).map(|sign| regex::escape(sign)).collect();
    testreport::pattern(&format!("(?i-u:{})", signs.join("|")))
});

/// Each form is compiled when the first text has a sign of it.
static COMPILED: [OnceLock<Option<Regex>>; FORMS.len()] = [const { OnceLock::new() }; FORMS.len()];

/// `text` with every secret of a known form masked. To mask twice is to mask once.
pub fn masked(text: &str) -> Cow<'_, str> {
    if !SIGNS.as_ref().is_some_and(|signs| signs.is_match(text)) {
        return Cow::Borrowed(text);
    }
    let lower = text.to_ascii_lowercase();
    let signed = |form: &Form| form.signs.iter().any(|sign| lower.contains(sign));
    let mut result = Cow::Borrowed(text);
    for (form, compiled) in FORMS.iter().zip(&COMPILED).filter(|(form, _)| signed(form)) {
        // A test compiles every one of them.
        let Some(regex) = compiled.get_or_init(|| testreport::pattern(form.pattern)) else { continue };
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

#[cfg(test)]
mod tests;
