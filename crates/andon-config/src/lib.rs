#![doc = include_str!("../README.md")]

mod effective;
mod entries;
mod keys;
mod mistake;
mod patterns;
mod pin;
mod reader;
mod reading;
mod resolve;
mod schema;
mod scopes;
mod setting;
mod settings;
mod source;
mod value;
mod workflow;

pub use effective::{Config, Response};
pub use entries::KeyEntry;
pub use keys::{Guard, PathSettings, TestSettings};
pub use mistake::ConfigErrors;
pub use pin::with_pin;
pub use resolve::{load, load_with};
pub use schema::{SCHEMA_FILE, schema, template};
pub use setting::{RuleSpecView, known_rules};
pub use settings::{
    AppliesTo, AtCommit, FullRuns, HandedInRuns, OnInternalError, Perpetual, Runner, ScopeAt, ScopeSettings,
    TestScopes,
};
pub use source::{ConfigSource, Layer, MAX_BYTES, SettingOrigin, read_sources};
pub use value::{TestCommand, Value, suggest};

#[cfg(test)]
mod tests;
