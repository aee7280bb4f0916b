//! The versions that a subject names: known once an iteration, because every rule asks for them at every commit of its window.

/// Returns whether a subject names a version: `Release parser 1.4.0`.
pub(crate) fn names_version(subject: &str) -> bool {
    // Most subjects have no number.
    subject.bytes().any(|byte| byte.is_ascii_digit()) && versions(subject).any(|(_, is_version)| is_version)
}

/// The words of a subject, each with whether it is a version.
pub(crate) fn versions(subject: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut before = "";
    subject.split_whitespace().map(move |word| {
        let numbered = NUMBERED.iter().any(|name| name.eq_ignore_ascii_case(before));
        before = word;
        (word, is_version(word) || (numbered && bare(word).bytes().all(|byte| byte.is_ascii_digit())))
    })
}

/// Nouns that a number follows as a version.
const NUMBERED: &[&str] = &["release", "version", "milestone", "sprint"];

/// A word without the characters around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric() && c != '@')
}

/// `1.2`, `v1.2.3`, `parser-1.2.3-rc.1`, `@scope/pkg@1.2.3`: numbers with a dot between them, at the end of a name; `v7`; the
/// month of a calendar, `2026-09`.
fn is_version(word: &str) -> bool {
    let word = bare(word);
    let bytes = word.as_bytes();
    let dotted = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
        bytes.get(at) == Some(&b'.') && digit(before) && digit(bytes.get(at + 1))
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let month = word.split_once('-').is_some_and(|(year, month)| {
        digits(year) && year.len() == 4 && month.split('-').all(|part| digits(part) && part.len() == 2)
    });
    month || word.strip_prefix(['v', 'V']).is_some_and(digits) || (0..bytes.len()).any(dotted)
}
