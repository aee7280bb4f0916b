//! A checked value of any key, and its text in TOML.

use std::{collections::BTreeMap, fmt, ops::Range};

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::source::SettingOrigin;
use andon_core::domain::{Level, ParamValue, Span, diagnostic::nearest};
use andon_core::escape::shell_quote;

/// The word for a format that is recognised.
pub(super) const AUTO: &str = "auto";
/// The word for "no limit".
pub(super) const UNLIMITED: &str = "none";

/// `identity.checksum` as it is written: the name of the hash and 64 digits.
pub(super) const SCHEME: &str = "sha256:";

/// A checked value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing: the key has no default.
    Unset,
    /// `"none"`: no limit.
    Unlimited,
    /// A text: a choice or a pattern.
    Text(String),
    /// A list of texts.
    Texts(Vec<String>),
    /// A duration, such as `"6h"`.
    Span(Span),
    /// A command: its arguments, or a line for the shell.
    Command(TestCommand),
    /// The gravity of a finding: off, note, warn, block or halt.
    Level(Level),
    /// Yes or no.
    Switch(bool),
    /// A rule's parameter.
    Param(ParamValue),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |text: &serde_json::Value| text.as_str().map(toml_text);
        let value = self.to_json();
        if value.is_null() {
            f.write_str("(unset)")
        } else if let Some(texts) = value.as_array() {
            write!(f, "[{}]", texts.iter().filter_map(text).collect::<Vec<_>>().join(", "))
        } else {
            f.write_str(&text(&value).unwrap_or_else(|| value.to_string()))
        }
    }
}

impl Value {
    /// The value in JSON; `null` for nothing.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Unset => serde_json::Value::Null,
            Self::Unlimited | Self::Param(ParamValue::Limit(None) | ParamValue::SpanLimit(None)) => {
                UNLIMITED.into()
            }
            Self::Text(text) | Self::Command(TestCommand::Shell(text)) => text.as_str().into(),
            Self::Texts(texts)
            | Self::Command(TestCommand::Argv(texts))
            | Self::Param(ParamValue::List(texts)) => texts.clone().into(),
            Self::Span(span) | Self::Param(ParamValue::Span(span) | ParamValue::SpanLimit(Some(span))) => {
                span.to_string().into()
            }
            Self::Level(level) => level.as_str().into(),
            Self::Param(ParamValue::Count(count) | ParamValue::Limit(Some(count))) => (*count).into(),
            Self::Param(ParamValue::Share(share)) => (*share).into(),
            Self::Param(ParamValue::Word { is, .. }) => (*is).into(),
            Self::Switch(switch) | Self::Param(ParamValue::Switch(switch)) => (*switch).into(),
        }
    }
}

/// The value that a source gives to a key.
/// The values that were given, by dotted key.
pub(super) type Values = BTreeMap<String, SourceValue>;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct SourceValue {
    /// The value as it was read.
    pub(super) value: Value,
    /// The layer of the configuration that it comes from.
    pub(super) origin: SettingOrigin,
    /// Its place among all values: patterns apply in the order they are written.
    pub(super) order: usize,
}

/// `text` as a TOML string: literal where that is readable, else basic with escapes.
pub(super) fn toml_text(text: &str) -> String {
    if text.contains(['"', '\\']) && !text.contains('\'') && !text.contains(char::is_control) {
        return format!("'{text}'");
    }
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.extend(format!("\\u{:04X}", u32::from(c)).chars()),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TestCommand {
    /// A text for `sh -c`.
    Shell(String),
    /// A program and its arguments, started as they are. Never empty.
    Argv(Vec<String>),
}

impl TestCommand {
    /// The canonical text, for evidence, comparison and people: a shell text without outer white space,
    /// an argument list with each argument quoted for `sh` where it needs it. One line unless an
    /// argument holds a line break.
    pub fn display(&self) -> String {
        match self {
            Self::Shell(text) => text.trim().to_owned(),
            Self::Argv(arguments) => {
                arguments.iter().map(|one| shell_quote(one)).collect::<Vec<_>>().join(" ")
            }
        }
    }

    /// True if both start the same thing: compared by [`TestCommand::display`], so that `cargo test` as a
    /// text and as a list are the same, and evidence survives a change from one to the other.
    pub fn is_same(&self, other: &Self) -> bool {
        self.display() == other.display()
    }
}

impl fmt::Display for TestCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.display())
    }
}

/// Something wrong with a value.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) span: Range<usize>,
    pub(super) what: String,
    pub(super) hint: String,
}

pub(super) type Item<'a> = Spanned<DeValue<'a>>;
pub(super) type Name<'a> = Spanned<DeString<'a>>;

/// The entries of a table in the order of the file.
pub(super) fn in_order<'t, 'a>(table: &'t DeTable<'a>) -> Vec<(&'t Name<'a>, &'t Item<'a>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    entries
}

pub(super) type ReadResult<T> = Result<T, Vec<Problem>>;

/// Builds the one error of a value.
pub(super) fn wrong<T>(span: Range<usize>, what: String, hint: impl Into<String>) -> ReadResult<T> {
    Err(vec![Problem { span, what, hint: hint.into() }])
}

/// The hint for an unknown word: the nearest known one, or all of them.
pub fn suggest<'a>(word: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    if let Some(nearest) = nearest(word, known.clone()) {
        return format!("did you mean `{nearest}`?");
    }
    let all: Vec<&str> = known.collect();
    if all.is_empty() { "remove it".to_owned() } else { format!("known here: {}", all.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argv(arguments: &[&str]) -> TestCommand {
        TestCommand::Argv(arguments.iter().map(|&one| one.to_owned()).collect())
    }

    #[test]
    fn commands_have_one_canonical_text() {
        for (command, text) in [
            (TestCommand::Shell("  cargo test\n".to_owned()), "cargo test"),
            (argv(&["cargo", "test"]), "cargo test"),
            (argv(&["sh", "-c", "a && b"]), "sh -c 'a && b'"),
            (argv(&["run", "it's", ""]), "run 'it'\\''s' ''"),
            (argv(&["run", "$HOME", "*"]), "run '$HOME' '*'"),
        ] {
            assert_eq!(command.display(), text);
        }
    }

    #[test]
    fn sameness_looks_through_the_form() {
        assert!(TestCommand::Shell("cargo test".to_owned()).is_same(&argv(&["cargo", "test"])));
        assert!(!TestCommand::Shell("cargo test *".to_owned()).is_same(&argv(&["cargo", "test", "*"])));
        assert!(!argv(&["a b"]).is_same(&argv(&["a", "b"])));
    }
}
