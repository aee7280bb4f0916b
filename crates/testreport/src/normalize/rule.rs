//! Rules, and the run of their list: one after another, in its order.

use std::{borrow::Cow, sync::LazyLock};

use regex::Regex;
use regex::bytes::{self, NoExpand, RegexBuilder};

use crate::{Root, WordList, words};

/// One step of a normalization.
#[derive(Clone, Copy)]
pub(crate) struct Rule {
    /// The name of the rule.
    pub name: &'static str,
    /// The text without it.
    pub apply: Apply,
}

/// A pure function that borrows when there is nothing to take out.
#[derive(Clone, Copy)]
pub(crate) enum Apply {
    /// Of the text alone.
    Text(for<'t> fn(&'t str) -> Cow<'t, str>),
    /// Of the text and the project's root.
    Root(for<'t> fn(&Root, &'t str) -> Cow<'t, str>),
}

/// A rule that looks at the text alone.
pub(super) const fn rule(name: &'static str, apply: for<'t> fn(&'t str) -> Cow<'t, str>) -> Rule {
    Rule { name, apply: Apply::Text(apply) }
}

/// The result of one rule for a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Name of the rule.
    pub rule: String,
    /// The reason for the rule.
    pub why: String,
    /// The text after it.
    pub text: String,
}

impl Change {
    /// The change that a rule made. Patterns of the project are in no list.
    pub(super) fn new(rule: &str, whys: WordList, text: &str) -> Self {
        let why = whys.iter().find_map(|row| row.split_once(": ").filter(|(name, _)| *name == rule));
        let why = why.map_or("[normalize] of the project", |(_, why)| why);
        Self { rule: rule.to_owned(), why: why.to_owned(), text: text.to_owned() }
    }
}

/// The reasons for the rules, in sections.
pub(super) const WHYS: &str = include_str!("whys.txt");

/// Applies the rules, then the project's own patterns, and tells `changed` of each that did something,
/// with the list that has its reason.
pub(super) fn run<'r>(
    rules: impl IntoIterator<Item = &'r Rule>,
    whys: WordList,
    root: &Root,
    text: &str,
    changed: &mut dyn FnMut(&str, WordList, &str),
) -> String {
    let mut text = text.to_owned();
    for rule in rules {
        let next = match rule.apply {
            Apply::Text(apply) => apply(&text),
            Apply::Root(apply) => apply(root, &text),
        };
        if let Cow::Owned(next) = next
            && next != text
        {
            changed(rule.name, whys, &next);
            text = next;
        }
    }
    for pattern in root.patterns() {
        if let Cow::Owned(next) = pattern.apply(Cow::Borrowed(text.as_bytes()))
            && next != text.as_bytes()
        {
            text = String::from_utf8_lossy(&next).into_owned();
            changed(pattern.name(), words![], &text);
        }
    }
    text
}

/// A pattern that is compiled when it is first needed. The patterns are constants, and a test compiles
/// each, so the `None` of a pattern that does not compile never comes up.
pub(crate) type Pattern = LazyLock<Option<Regex>>;

/// Declares a [`Pattern`].
macro_rules! pattern {
    ($name:ident, $regex:literal) => {
        static $name: $crate::normalize::Pattern = std::sync::LazyLock::new(|| $crate::pattern($regex));
    };
}
pub(crate) use pattern;

/// Replaces every match of `pattern`; `$1` in `with` is the first group.
pub(super) fn replace<'t>(pattern: &Pattern, text: &'t str, with: &str) -> Cow<'t, str> {
    pattern.as_ref().map_or(Cow::Borrowed(text), |pattern| pattern.replace_all(text, with))
}

/// As [`replace`], in texts with a digit: most patterns have nothing to find without one.
pub(super) fn replace_digits<'t>(pattern: &Pattern, text: &'t str, with: &str) -> Cow<'t, str> {
    if has_digit(text) { replace(pattern, text, with) } else { Cow::Borrowed(text) }
}

/// Replaces every match by what `with` makes of its groups.
pub(super) fn replace_by<'t>(
    pattern: &Pattern,
    text: &'t str,
    with: impl Fn(&regex::Captures<'_>) -> String,
) -> Cow<'t, str> {
    pattern.as_ref().map_or(Cow::Borrowed(text), |pattern| pattern.replace_all(text, with))
}

/// Replaces every match that `wanted` accepts.
pub(super) fn replace_if<'t>(
    pattern: &Pattern,
    text: &'t str,
    mask: &str,
    wanted: impl Fn(&str) -> bool,
) -> Cow<'t, str> {
    replace_by(pattern, text, |found| if wanted(&found[0]) { mask } else { &found[0] }.to_owned())
}

/// True when the text has a decimal digit.
pub(super) fn has_digit(text: &str) -> bool {
    has_digits(text, 1)
}

/// True when the text has `wanted` decimal digits in a row.
pub(super) fn has_digits(text: &str, wanted: usize) -> bool {
    has_row(text, wanted, |byte| byte.is_ascii_digit())
}

/// True when the text has `wanted` such bytes in a row. To compile a pattern costs more than most texts do: what it needs is
/// looked for first.
pub(super) fn has_row(text: &str, wanted: usize, of: impl Fn(u8) -> bool) -> bool {
    let mut row = 0;
    text.bytes().any(|byte| {
        row = if of(byte) { row + 1 } else { 0 };
        row >= wanted
    })
}

/// True when the text has a digit and behind it bytes that `then` accepts.
pub(super) fn has_behind_digit(text: &str, then: impl Fn(&[u8]) -> bool) -> bool {
    let bytes = text.as_bytes();
    let mut digits = bytes.iter().enumerate().filter(|(_, byte)| byte.is_ascii_digit());
    digits.any(|(at, _)| then(bytes.get(at + 1..).unwrap_or_default()))
}

/// Runs a rule over a table of texts and what is to come of them; what came must be left alone thereafter.
#[cfg(test)]
pub(super) fn check(step: fn(&str) -> Cow<'_, str>, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(step(text), *expected, "{text:?}");
        assert_eq!(step(expected), *expected, "{text:?} a second time");
    }
}

/// Bound of a compiled pattern, in bytes.
const SIZE_LIMIT: usize = 1 << 20;

/// A pattern with the text that replaces its matches: `<name>`. It matches bytes, `\w` and `\d` are ASCII.
#[derive(Debug)]
pub struct Mask {
    name: String,
    regex: bytes::Regex,
    text: String,
}

impl Mask {
    /// Most patterns of a project.
    pub const MAX: usize = 64;

    /// Compiles a pattern.
    ///
    /// # Errors
    /// It is no regular expression, or too large a one: what is wrong with it.
    pub fn new(name: &str, pattern: &str) -> Result<Self, String> {
        let mut builder = RegexBuilder::new(pattern);
        let regex = builder.unicode(false).size_limit(SIZE_LIMIT).nest_limit(50).build();
        let regex = regex.map_err(|error| error.to_string())?;
        Ok(Self { name: name.to_owned(), regex, text: format!("<{name}>") })
    }

    /// The patterns of a project, as the configuration has checked them: one that does not compile, or matches the empty
    /// text, is left out.
    pub(super) fn all(pairs: &[(String, String)]) -> Vec<Self> {
        let masks = pairs.iter().take(Self::MAX).filter_map(|(name, pattern)| Self::new(name, pattern).ok());
        masks.filter(|mask| !mask.matches_empty()).collect()
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// True when the empty text matches, so that it would match everywhere.
    pub fn matches_empty(&self) -> bool {
        self.regex.is_match(b"")
    }

    /// The bytes with `<name>` for each match. A character that is matched in part is replaced.
    pub fn apply<'a>(&self, bytes: Cow<'a, [u8]>) -> Cow<'a, [u8]> {
        let replaced = match &bytes {
            Cow::Borrowed(bytes) => return self.regex.replace_all(bytes, NoExpand(self.text.as_bytes())),
            Cow::Owned(bytes) => match self.regex.replace_all(bytes, NoExpand(self.text.as_bytes())) {
                Cow::Borrowed(_) => None,
                Cow::Owned(replaced) => Some(replaced),
            },
        };
        replaced.map_or(bytes, Cow::Owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mask_under_their_name_and_bad_ones_are_left_out() {
        let pair = |name: &str, pattern: &str| (name.to_owned(), pattern.to_owned());
        let all = Mask::all(&[pair("build", "build [0-9]+"), pair("bad", "("), pair("all", "x*")]);
        assert_eq!(all.len(), 1);
        let masked = |text: &'static str| all[0].apply(Cow::Borrowed(text.as_bytes()));
        assert_eq!(&masked("of build 12, build 13")[..], b"of <build>, <build>");
        assert!(matches!(masked("of it"), Cow::Borrowed(b"of it")));
        assert_eq!(&all[0].apply(Cow::Owned(b"build 7".to_vec()))[..], b"<build>");
    }
}
