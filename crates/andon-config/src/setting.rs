//! A key with its type: how it is declared, and how it is read.

use std::collections::BTreeMap;

use toml::{Spanned, de::DeValue};

use super::mistake::quoted;
use super::settings::{
    AppliesTo, AtCommit, FullRuns, HandedInRuns, OnInternalError, Perpetual, Runner, ScopeAt,
};
use super::value::{AUTO, Problem, ReadResult, SCHEME, TestCommand, Value, Values, toml_text, wrong};
use andon_core::detect::{REGISTRY, Rule};
use andon_core::domain::{
    AckMode, Bell, CachedTokens, Digest, EntryId, FileState, Hint, Level, MAX_FILES, OnStall, Param,
    ParamSpec, ParamValue, Provider, Span,
};
use testreport::Format;

/// A type whose values are words; the first is the default.
pub(super) trait Words: Copy + 'static {
    /// Every value with its word.
    const WORDS: &'static [(Self, &'static str)];
}

macro_rules! choices {
    ($($type:ty),*) => {
        $(impl Words for $type {
            const WORDS: &'static [(Self, &'static str)] = &Self::ALL;
        })*
    };
}

choices! {
    AckMode, AppliesTo, AtCommit, Bell, CachedTokens, FullRuns, HandedInRuns, OnInternalError, OnStall, Perpetual, Runner,
    ScopeAt
}

/// The words of `T`, for [`Kind::Choice`].
pub(super) fn words<T: Words>() -> Vec<&'static str> {
    T::WORDS.iter().map(|(_, name)| *name).collect()
}

/// A type that the value of a key is read as. The reader has seen to it that the value fits its kind.
pub(super) trait FromValue: Sized {
    fn from_value(value: Value) -> Self;
}

impl<T: Words> FromValue for Option<T> {
    fn from_value(value: Value) -> Self {
        let switch = if value == Value::Switch(true) { "true" } else { "false" };
        let word = if let Value::Text(word) = &value { word } else { switch };
        T::WORDS.iter().find(|(_, name)| *name == word).map(|(value, _)| *value)
    }
}

impl<T: Words> FromValue for T {
    fn from_value(value: Value) -> Self {
        Option::from_value(value).unwrap_or(T::WORDS[0].0)
    }
}

/// Reads a key as each type by its pattern.
macro_rules! from_value {
    ($($type:ty: $pattern:pat => $value:expr, $other:expr;)*) => {
        $(impl FromValue for $type {
            fn from_value(value: Value) -> Self {
                if let $pattern = value { $value } else { $other }
            }
        })*
    };
}

from_value! {
    Span: Value::Span(span) => span, Span(u64::MAX);
    u64: Value::Param(ParamValue::Count(count)) => count, u64::MAX;
    Option<Span>: Value::Span(span) => Some(span), None;
    Option<String>: Value::Text(text) => Some(text), None;
    Option<EntryId>: Value::Text(text) => text.parse().ok(), None;
    Option<Digest>: Value::Text(text) => checksum(&text), None;
    Option<Format>: Value::Text(text) => Format::named(&text), None;
    Option<TestCommand>: Value::Command(command) => Some(command), None;
    Option<Vec<String>>: Value::Command(TestCommand::Argv(argv)) => Some(argv), None;
    Vec<String>: Value::Texts(texts) => texts, Vec::new();
    Vec<Provider>: Value::Texts(texts) => texts.iter().filter_map(|text| Provider::parse(text)).collect(), Vec::new();
    BTreeMap<String, FileState>: Value::Texts(texts) => texts.iter().filter_map(|text| pinned(text)).collect(), BTreeMap::new();
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
    Keys(&'static [Key]),
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
    pub(super) doc: &'static str,
}

impl Key {
    /// `section.name`
    pub(super) fn dotted(&self) -> String {
        format!("{}.{}", self.section, self.name)
    }

    /// The value of the key `name` of `keys` that a source gives, else its default.
    pub(super) fn value(keys: &[Self], name: &str, values: &Values) -> Value {
        let key = keys.iter().find(|key| key.name == name);
        let value = |key: &Self| match values.get(&key.dotted()) {
            Some(given) => given.value.clone(),
            None => key.default(),
        };
        key.map_or(Value::Unset, value)
    }

    pub(super) fn default(&self) -> Value {
        let texts = |list: &str| Value::Texts(list.split_whitespace().map(str::to_owned).collect());
        match self.kind {
            Kind::Choice(words) => {
                words().first().map_or(Value::Unset, |word| Value::Text((*word).to_owned()))
            }
            Kind::Format => Value::Text(AUTO.to_owned()),
            Kind::Switch(switch) => Value::Switch(switch),
            Kind::Duration(range) | Kind::Limit(range) => Value::Span(range.default),
            Kind::Count(count) => Value::Param(count.spec.default()),
            Kind::Globs(list) => texts(list),
            Kind::Texts | Kind::Providers | Kind::Pinned => texts(""),
            Kind::OptionalChoice(_)
            | Kind::Command
            | Kind::Program
            | Kind::Text
            | Kind::Checksum
            | Kind::Entry => Value::Unset,
        }
    }
}

/// The durations that a key takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    pub(super) min: Span,
    pub(super) max: Span,
    pub(super) default: Span,
}

/// The type of a key.
#[derive(Debug)]
pub(super) enum Kind {
    /// One of some words, the first where none is given.
    Choice(fn() -> Vec<&'static str>),
    /// One of some words, or nothing.
    OptionalChoice(fn() -> Vec<&'static str>),
    /// A duration of a range.
    Duration(Range),
    /// A duration of a range, or `"none"`.
    Limit(Range),
    /// A whole number.
    Count(&'static Param<u64>),
    /// A text for `sh -c`, or a list of program and arguments.
    Command,
    /// A list of globs, and those that hold where none is given, between white space.
    Globs(&'static str),
    /// The name of a report format, or `"auto"`.
    Format,
    /// A list of program and arguments, from the user's own configuration only.
    Program,
    /// A list of providers with conditions.
    Providers,
    /// `true` or `false`; the one that holds where none is given.
    Switch(bool),
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
    /// The expected value, in words that fit after "must be", and one that is right; without one the default is.
    fn words(&self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Choice(_) | Self::OptionalChoice(_) => ("", None),
            Self::Duration(_) => ("a duration such as \"6h\"", None),
            Self::Limit(_) => ("a duration such as \"30m\", or \"none\"", None),
            Self::Count(_) => ("a whole number", None),
            Self::Command => ("a text or a list of texts", Some("\"cargo test\"")),
            Self::Globs("") => ("a list of globs", Some("[\"target/**/junit.xml\"]")),
            Self::Globs(_) => ("a list of globs", None),
            Self::Format => ("\"auto\" or the name of a format", Some("\"junit\"")),
            Self::Program => ("a list of program and arguments", Some("[\"program\", \"argument\"]")),
            Self::Providers => {
                ("a list of providers", Some("[\"first\", \"second on failed_gate, stop_event\"]"))
            }
            Self::Switch(_) => ("true or false", None),
            Self::Text => ("a text", Some("\"correlation-id\"")),
            Self::Texts => ("a list of texts", Some("[\"coder\", \"tester\"]")),
            Self::Checksum => ("\"sha256:\" and 64 hexadecimal digits", Some(A_CHECKSUM)),
            Self::Entry => ("the 64 hexadecimal digits of a ledger entry", Some(AN_ENTRY)),
            Self::Pinned => ("a table of files", Some("{}")),
        }
    }

    /// The expected value, in words that fit after "must be".
    pub(super) fn expected(&self) -> String {
        if let Self::Choice(words) | Self::OptionalChoice(words) = self {
            return one_of(&words());
        }
        self.words().0.to_owned()
    }

    /// A value that is right, for messages and for the template of a key without a default.
    pub(super) fn example(&self, default: &Value) -> String {
        if let Some(example) = self.words().1 {
            example.to_owned()
        } else if let Self::OptionalChoice(words) = self {
            words().first().map_or_else(String::new, |word| toml_text(word))
        } else if let (Self::Globs(_), Value::Texts(texts)) = (self, default) {
            // Enough to see the shape.
            Value::Texts(texts.iter().take(2).cloned().collect()).to_string()
        } else {
            default.to_string()
        }
    }
}

/// `"one" or "other"`
pub(super) fn one_of(words: &[&str]) -> String {
    words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" or ")
}

const A_CHECKSUM: &str = "\"sha256:0000000000000000000000000000000000000000000000000000000000000000\"";
const AN_ENTRY: &str = "\"0000000000000000000000000000000000000000000000000000000000000000\"";

/// Between state and path of a pinned file, in its text.
const BETWEEN: char = '\t';

/// The checksum in a text.
pub(super) fn checksum(text: &str) -> Option<Digest> {
    text.strip_prefix(SCHEME)?.parse().ok()
}

/// Reads `pinned`: path by path its mode and the id of its content. Each becomes one text.
pub(super) fn read_pinned(name: &str, item: &Spanned<DeValue<'_>>) -> ReadResult<Value> {
    let hint = Hint::Pin.text();
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
    pub default_level: Level,
    pub params: &'static [ParamSpec],
    /// Their meanings, `name: sentence` in a line.
    pub param_docs: &'static str,
}

/// The rules of this version, from the registry.
pub fn known_rules() -> Vec<RuleSpecView> {
    REGISTRY.iter().map(|rule| RuleSpecView::from_rule(rule)).collect()
}

impl RuleSpecView {
    fn from_rule(rule: &Rule) -> Self {
        Self {
            id: rule.id,
            summary: rule.summary(),
            default_level: rule.level,
            params: rule.params,
            param_docs: rule.param_docs(),
        }
    }
}
