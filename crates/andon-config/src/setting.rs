//! A key with its type: how it is declared, and how it is read.

use std::collections::BTreeMap;

use toml::{Spanned, de::DeValue};

use super::value::{AUTO, Problem, ReadResult, SourceValue, TestCommand, Value, wrong};
use super::{mistake::quoted, pin::SCHEME};
use andon_core::detect::{REGISTRY, Rule};
use andon_core::domain::effect::{AckMode, OnStall, Provider};
use andon_core::domain::identity::{FileState, MAX_FILES};
use andon_core::domain::ids::{Digest, EntryId};
use andon_core::domain::{context::CachedTokens, findings::Level, settings::ParamSpec, time::Span};
use testreport::Format;

/// A type whose values are words; the first is the default.
pub(super) trait Words: Copy + 'static {
    /// Every value with its word.
    const WORDS: &'static [(Self, &'static str)];
}

impl Words for CachedTokens {
    const WORDS: &'static [(Self, &'static str)] = &Self::ALL;
}

impl Words for AckMode {
    const WORDS: &'static [(Self, &'static str)] =
        &[(Self::Delete, "delete"), (Self::Resume, "resume"), (Self::Signed, "signed")];
}

impl Words for OnStall {
    const WORDS: &'static [(Self, &'static str)] = &Self::ALL;
}

fn names<T: Words>() -> Vec<&'static str> {
    T::WORDS.iter().map(|(_, name)| *name).collect()
}

/// A key that is read as a `T`. The reader has seen to it that a value is of the type.
#[derive(Debug)]
pub(super) struct Setting<T> {
    /// The section and name of the setting.
    pub(super) key: Key,
    read: fn(Value) -> T,
}

impl<T> Setting<T> {
    /// The value that a source gives, else the default.
    pub(super) fn value(&self, values: &BTreeMap<String, SourceValue>) -> T {
        let value = values.get(&self.key.dotted()).map(|given| given.value.clone());
        (self.read)(value.unwrap_or_else(|| self.key.default()))
    }
}

type Name = &'static str;

impl<T: Words> Setting<T> {
    /// One of the words of `T`.
    pub(super) const fn choice(section: Name, name: Name, doc: Name) -> Self {
        let kind = Kind::Choice { words: names::<T> };
        let default = Default::FirstWord(names::<T>);
        Self {
            key: Key { section, name, kind, default, doc },
            read: |value| word(&value).unwrap_or(T::WORDS[0].0),
        }
    }
}

impl<T: Words> Setting<Option<T>> {
    /// One of the words of `T`, or nothing.
    pub(super) const fn optional_choice(section: Name, name: Name, doc: Name) -> Self {
        let kind = Kind::Choice { words: names::<T> };
        Self { key: Key { section, name, kind, default: Default::Unset, doc }, read: |value| word(&value) }
    }
}

/// The value that a word names.
pub(super) fn word<T: Words>(value: &Value) -> Option<T> {
    let Value::Text(word) = value else { return None };
    T::WORDS.iter().find(|(_, name)| name == word).map(|(value, _)| *value)
}

impl Setting<bool> {
    /// No, unless it is said.
    pub(super) const fn off(section: Name, name: Name, doc: Name) -> Self {
        let key = Key { section, name, kind: Kind::Switch, default: Default::Switch(false), doc };
        Self { key, read: |value| value == Value::Switch(true) }
    }

    /// Yes, unless it is denied.
    pub(super) const fn on(section: Name, name: Name, doc: Name) -> Self {
        let key = Key { section, name, kind: Kind::Switch, default: Default::Switch(true), doc };
        Self { key, read: |value| value == Value::Switch(true) }
    }
}

impl Setting<Span> {
    /// A duration of a range.
    pub(super) const fn span(section: Name, name: Name, range: SpanRange, default: Span, doc: Name) -> Self {
        let (kind, default) = (Kind::Duration(range), Default::Span(default));
        Self {
            key: Key { section, name, kind, default, doc },
            read: |value| span(&value).unwrap_or(Span(u64::MAX)),
        }
    }
}

impl Setting<Option<Span>> {
    /// A duration of a range, or no limit.
    pub(super) const fn limit(section: Name, name: Name, range: SpanRange, default: Span, doc: Name) -> Self {
        let kind = Kind::Limit(range);
        Self {
            key: Key { section, name, kind, default: Default::Span(default), doc },
            read: |value| span(&value),
        }
    }
}

fn span(value: &Value) -> Option<Span> {
    if let Value::Span(span) = value { Some(*span) } else { None }
}

impl Setting<Vec<String>> {
    /// A list of globs; the default in lines.
    pub(super) const fn globs(
        section: Name,
        name: Name,
        default: &'static [&'static [&'static str]],
        doc: Name,
    ) -> Self {
        Self {
            key: Key { section, name, kind: Kind::Globs, default: Default::Texts(default), doc },
            read: texts,
        }
    }

    /// A list of texts.
    pub(super) const fn texts(section: Name, name: Name, doc: Name) -> Self {
        Self { key: Key { section, name, kind: Kind::Texts, default: Default::Texts(&[]), doc }, read: texts }
    }
}

fn texts(value: Value) -> Vec<String> {
    if let Value::Texts(texts) = value { texts } else { Vec::new() }
}

impl Setting<Option<TestCommand>> {
    /// A setting that is a command.
    pub(super) const fn command(section: Name, name: Name, doc: Name) -> Self {
        Self {
            key: Key { section, name, kind: Kind::Command, default: Default::Unset, doc },
            read: |value| {
                if let Value::Command(command) = value { Some(command) } else { None }
            },
        }
    }
}

impl Setting<Option<Vec<String>>> {
    /// A program with its arguments.
    pub(super) const fn program(section: Name, name: Name, doc: Name) -> Self {
        Self {
            key: Key { section, name, kind: Kind::Program, default: Default::Unset, doc },
            read: |value| {
                if let Value::Command(TestCommand::Argv(argv)) = value { Some(argv) } else { None }
            },
        }
    }
}

impl Setting<Option<Format>> {
    /// A format, or `"auto"` for none.
    pub(super) const fn format(section: Name, name: Name, doc: Name) -> Self {
        let default = Default::Text(AUTO);
        Self {
            key: Key { section, name, kind: Kind::Format, default, doc },
            read: |value| text(value).and_then(|name| Format::named(&name)),
        }
    }
}

fn text(value: Value) -> Option<String> {
    if let Value::Text(text) = value { Some(text) } else { None }
}

impl Setting<Option<String>> {
    /// A setting that is a text.
    pub(super) const fn text(section: Name, name: Name, doc: Name) -> Self {
        Self { key: Key { section, name, kind: Kind::Text, default: Default::Unset, doc }, read: text }
    }
}

impl Setting<Option<EntryId>> {
    /// The id of a ledger entry.
    pub(super) const fn entry(section: Name, name: Name, doc: Name) -> Self {
        Self {
            key: Key { section, name, kind: Kind::Entry, default: Default::Unset, doc },
            read: |value| text(value).and_then(|text| text.parse().ok()),
        }
    }
}

impl Setting<Option<Digest>> {
    /// A setting that is a SHA-256 in hexadecimal digits.
    pub(super) const fn checksum(section: Name, name: Name, doc: Name) -> Self {
        Self {
            key: Key { section, name, kind: Kind::Checksum, default: Default::Unset, doc },
            read: |value| text(value).and_then(|text| checksum(&text)),
        }
    }
}

impl Setting<Vec<Provider>> {
    /// A chain of providers.
    pub(super) const fn providers(section: Name, name: Name, doc: Name) -> Self {
        Self {
            key: Key { section, name, kind: Kind::Providers, default: Default::Texts(&[]), doc },
            read: |value| texts(value).iter().filter_map(|text| Provider::parse(text)).collect(),
        }
    }
}

impl Setting<Vec<(String, FileState)>> {
    /// Pinned files.
    pub(super) const fn pinned(section: Name, name: Name, doc: Name) -> Self {
        Self {
            key: Key { section, name, kind: Kind::Pinned, default: Default::Texts(&[]), doc },
            read: |value| texts(value).iter().filter_map(|text| pinned(text)).collect(),
        }
    }
}

/// A section of `andon.toml`.
#[derive(Debug)]
pub(super) struct Section {
    /// Name in brackets.
    pub(super) name: &'static str,
    pub(super) doc: &'static str,
    pub(super) contents: Contents,
}

/// The contents that a section may hold.
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

/// The durations that a key takes.
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
    /// The expected value, in words that fit after "must be".
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

/// Between state and path of a pinned file, in its text.
const BETWEEN: char = '\t';

/// The checksum in a text.
pub(super) fn checksum(text: &str) -> Option<Digest> {
    text.strip_prefix(SCHEME)?.parse().ok()
}

/// Reads `pinned`: path by path its mode and the id of its content. Each becomes one text.
pub(super) fn read_pinned(name: &str, item: &Spanned<DeValue<'_>>) -> ReadResult<Value> {
    let hint = "let `andon pin` write it";
    let Some(table) = item.get_ref().as_table() else {
        return wrong(item.span(), format!("{} must be a table of files", quoted(name)), hint);
    };
    if table.len() > MAX_FILES {
        return wrong(item.span(), format!("{} lists more than {MAX_FILES} files", quoted(name)), hint);
    }
    let (mut texts, mut wrongs) = (Vec::new(), Vec::new());
    for (path, item) in table {
        match item.get_ref().as_str().and_then(|text| text.parse::<FileState>().ok()) {
            Some(state) => texts.push(format!("{state}{BETWEEN}{}", path.get_ref())),
            None => wrongs.push(Problem {
                span: item.span(),
                what: format!("{} must be a mode and an id, as \"100644 <id>\"", quoted(path.get_ref())),
                hint: hint.to_owned(),
            }),
        }
    }
    texts.sort();
    if wrongs.is_empty() { Ok(Value::Texts(texts)) } else { Err(wrongs) }
}

/// The pinned file of a text of [`read_pinned`].
pub(super) fn pinned(text: &str) -> Option<(String, FileState)> {
    let (state, path) = text.split_once(BETWEEN)?;
    Some((path.to_owned(), state.parse().ok()?))
}

/// A rule as configuration sees it.
#[derive(Debug, Clone, Copy)]
pub struct RuleSpecView {
    /// Key in `[rules]`, kebab-case.
    pub id: &'static str,
    /// One sentence for `config schema`.
    pub summary: &'static str,
    /// The default level.
    pub default_level: Level,
    /// Parameters.
    pub params: &'static [ParamSpec],
}

/// The rules of this version, from the registry.
pub fn known_rules() -> Vec<RuleSpecView> {
    REGISTRY.iter().map(|rule| RuleSpecView::from_rule(rule)).collect()
}

impl RuleSpecView {
    fn from_rule(rule: &Rule) -> Self {
        Self { id: rule.id, summary: rule.summary, default_level: rule.level, params: rule.params }
    }
}
