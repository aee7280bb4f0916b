//! A key with its type: how it is declared, and how it is read.

use std::collections::BTreeMap;

use super::command::TestCommand;
use super::identity;
use super::kind::{Default, Key, Kind, SpanRange};
use super::value::{AUTO, SourceValue, Value};
use andon_core::domain::context::CachedTokens;
use andon_core::domain::identity::FileState;
use andon_core::domain::ids::{Digest, EntryId};
use andon_core::domain::response::{AckMode, OnStall, Provider};
use andon_core::domain::time::Span;
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

fn word<T: Words>(value: &Value) -> Option<T> {
    let Value::Text(word) = value else { return None };
    T::WORDS.iter().find(|(_, name)| name == word).map(|(value, _)| *value)
}

impl Setting<bool> {
    /// Yes or no.
    pub(super) const fn switch(section: Name, name: Name, default: bool, doc: Name) -> Self {
        let default = Default::Switch(default);
        Self {
            key: Key { section, name, kind: Kind::Switch, default, doc },
            read: |value| value == Value::Switch(true),
        }
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
            read: |value| text(value).and_then(|text| identity::checksum(&text)),
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
            read: |value| texts(value).iter().filter_map(|text| identity::pinned(text)).collect(),
        }
    }
}
