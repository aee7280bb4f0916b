//! A checked value of any key, and its text in TOML.

use std::fmt;

use super::command::TestCommand;
use super::source::SettingOrigin;
use andon_core::domain::findings::Level;
use andon_core::domain::settings::ParamValue;
use andon_core::domain::time::Span;

/// The word for a format that is recognised.
pub(super) const AUTO: &str = "auto";
/// How "no limit" is written.
pub(super) const UNLIMITED: &str = "none";

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
    /// How grave a finding is: off, note, warn, block or halt.
    Level(Level),
    /// Yes or no.
    Switch(bool),
    /// A rule's parameter.
    Param(ParamValue),
}

impl fmt::Display for Value {
    /// As it would be written in `andon.toml`; `(unset)` for nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unset => f.write_str("(unset)"),
            Self::Unlimited | Self::Param(ParamValue::Limit(None) | ParamValue::SpanLimit(None)) => {
                write!(f, "\"{UNLIMITED}\"")
            }
            Self::Text(text) | Self::Command(TestCommand::Shell(text)) => f.write_str(&toml_text(text)),
            Self::Texts(texts)
            | Self::Command(TestCommand::Argv(texts))
            | Self::Param(ParamValue::List(texts)) => {
                let texts: Vec<String> = texts.iter().map(|text| toml_text(text)).collect();
                write!(f, "[{}]", texts.join(", "))
            }
            Self::Span(span) | Self::Param(ParamValue::Span(span) | ParamValue::SpanLimit(Some(span))) => {
                write!(f, "\"{span}\"")
            }
            Self::Level(level) => write!(f, "\"{}\"", level.as_str()),
            Self::Param(ParamValue::Count(count) | ParamValue::Limit(Some(count))) => write!(f, "{count}"),
            Self::Param(ParamValue::Share(share)) => write!(f, "{share:?}"),
            Self::Param(ParamValue::Word { is, .. }) => write!(f, "\"{is}\""),
            Self::Switch(switch) | Self::Param(ParamValue::Switch(switch)) => write!(f, "{switch}"),
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
