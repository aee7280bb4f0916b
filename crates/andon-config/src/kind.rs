//! What a section and a key are: the columns of the table in `keys`.

use super::value::Value;
use andon_core::domain::time::Span;

/// A section of `andon.toml`.
#[derive(Debug)]
pub(super) struct Section {
    /// Name in brackets.
    pub(super) name: &'static str,
    pub(super) doc: &'static str,
    /// What it may hold.
    pub(super) contents: Contents,
}

/// What a section may hold.
#[derive(Debug)]
pub(super) enum Contents {
    /// These keys.
    Keys(&'static [&'static Key]),
    /// A rule id each, with a level, parameters or both.
    Rules,
    /// Any name, with a pattern.
    Patterns,
    /// Nodes and edges.
    Workflow,
}

/// A key of a section, whatever its type.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) section: &'static str,
    /// Name, `snake_case`.
    pub(super) name: &'static str,
    /// Type and range.
    pub(super) kind: Kind,
    pub(super) default: Default,
    pub(super) doc: &'static str,
}

/// A default that can be written down in a constant.
#[derive(Debug)]
pub(super) enum Default {
    Unset,
    Text(&'static str),
    FirstWord(fn() -> Vec<&'static str>),
    Switch(bool),
    Span(Span),
    Texts(&'static [&'static [&'static str]]),
}

impl Key {
    /// `section.name`
    pub(super) fn dotted(&self) -> String {
        format!("{}.{}", self.section, self.name)
    }

    /// The default value.
    pub(super) fn default(&self) -> Value {
        match self.default {
            Default::Unset => Value::Unset,
            Default::Text(text) => Value::Text(text.to_owned()),
            Default::FirstWord(words) => {
                words().first().map_or(Value::Unset, |word| Value::Text((*word).to_owned()))
            }
            Default::Switch(switch) => Value::Switch(switch),
            Default::Span(span) => Value::Span(span),
            Default::Texts(lines) => {
                Value::Texts(lines.iter().copied().flatten().map(ToString::to_string).collect())
            }
        }
    }
}

/// Which durations a key takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct SpanRange {
    /// Shortest.
    pub(super) min: Span,
    /// Longest.
    pub(super) max: Span,
}

/// The type of a key.
#[derive(Debug)]
pub(super) enum Kind {
    /// One of some words.
    Choice { words: fn() -> Vec<&'static str> },
    /// A duration of a range.
    Duration(SpanRange),
    /// A duration of a range, or `"none"`.
    Limit(SpanRange),
    /// A text for `sh -c`, or a list of program and arguments.
    Command,
    /// A list of globs.
    Globs,
    /// The name of a report format, or `"auto"`.
    Format,
    /// A list of program and arguments, from the user's own configuration only.
    Program,
    /// A list of providers with conditions.
    Providers,
    /// `true` or `false`.
    Switch,
    /// Any text that is not empty.
    Text,
    /// A list of such texts.
    Texts,
    /// `"sha256:<64 digits>"`
    Checksum,
    /// The id of a ledger entry: 64 hexadecimal digits.
    Entry,
    /// A table of files, which `andon pin` writes.
    Pinned,
}

impl Kind {
    /// What is expected, in words that fit after "must be".
    pub(super) fn expected(&self) -> String {
        match self {
            Self::Choice { words } => {
                words().iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" or ")
            }
            Self::Duration(_) => "a duration such as \"6h\"".to_owned(),
            Self::Limit(_) => "a duration such as \"30m\", or \"none\"".to_owned(),
            Self::Command => "a text or a list of texts".to_owned(),
            Self::Globs => "a list of globs".to_owned(),
            Self::Format => "\"auto\" or the name of a format".to_owned(),
            Self::Program => "a list of program and arguments".to_owned(),
            Self::Providers => "a list of providers".to_owned(),
            Self::Switch => "true or false".to_owned(),
            Self::Text => "a text".to_owned(),
            Self::Texts => "a list of texts".to_owned(),
            Self::Checksum => "\"sha256:\" and 64 hexadecimal digits".to_owned(),
            Self::Entry => "the 64 hexadecimal digits of a ledger entry".to_owned(),
            Self::Pinned => "a table of files".to_owned(),
        }
    }

    /// A value that is right, for messages and for the template of a key without a default.
    pub(super) fn example(&self, default: &Value) -> String {
        match (self, default) {
            (Self::Command, _) => "\"cargo test\"".to_owned(),
            (Self::Program, _) => "[\"program\", \"argument\"]".to_owned(),
            (Self::Providers, _) => "[\"first\", \"second on failed_gate, stop_event\"]".to_owned(),
            (Self::Globs, Value::Texts(texts)) if texts.is_empty() => "[\"target/**/junit.xml\"]".to_owned(),
            // Enough to see the shape.
            (Self::Globs, Value::Texts(texts)) => {
                Value::Texts(texts.iter().take(2).cloned().collect()).to_string()
            }
            (Self::Format, _) => "\"junit\"".to_owned(),
            (Self::Text, _) => "\"correlation-id\"".to_owned(),
            (Self::Texts, _) => "[\"coder\", \"tester\"]".to_owned(),
            (Self::Checksum, _) => format!("\"sha256:{}\"", "0".repeat(64)),
            (Self::Entry, _) => format!("\"{}\"", "0".repeat(64)),
            (Self::Pinned, _) => "{}".to_owned(),
            (Self::Choice { words }, Value::Unset) => {
                format!("\"{}\"", words().first().copied().unwrap_or_default())
            }
            (
                Self::Choice { .. } | Self::Duration(_) | Self::Limit(_) | Self::Globs | Self::Switch,
                default,
            ) => default.to_string(),
        }
    }
}
