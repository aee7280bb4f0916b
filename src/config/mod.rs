//! What a repository and its user want of Andon, checked before anything acts on it.
//!
//! Rank 3. A configuration that is silently misread switches a guard off without anyone noticing,
//! so this module exists to make every doubt an error: unknown keys, wrong types, values out of range.
//! All of them are reported at once, each with file, line, column and what mends it.
//!
//! The way of a file: [`ConfigSource`] (bytes) -> `document` (spanned TOML) -> `reader` (checked values by
//! dotted key) -> [`Config`] (typed, complete). One table, `keys::SECTIONS`, and the registry of rules
//! feed the checks, the defaults, [`Config::entries`], [`schema()`] and [`template()`] alike.

mod command;
mod document;
mod entries;
mod identity;
mod keys;
mod kind;
mod mistake;
mod patterns;
mod pin;
mod reader;
mod reading;
mod resolve;
mod response;
mod rules;
mod schema;
mod setting;
mod settings;
mod signed;
mod source;
mod suggest;
mod template;
mod value;
mod workflow;
mod wrong;

pub use command::TestCommand;
pub use entries::KeyEntry;
pub use mistake::ConfigErrors;
pub use pin::with_pin;
pub use resolve::{load, load_with};
pub use response::{Perpetual, Response};
pub use rules::{RuleSpecView, known_rules};
pub use schema::schema;
pub use settings::{
    AppliesTo, Config, FullRuns, Guard, HandedIn, OnInternalError, PathSettings, Runner, TestSettings,
};
pub use source::{ConfigSource, Layer, MAX_BYTES, SettingOrigin, read_sources};
pub use suggest::hint as suggest;
pub use template::{SCHEMA_FILE, template};
pub use value::Value;

#[cfg(test)]
mod tests;
