#![doc = include_str!("../README.md")]

mod command;
mod document;
mod entries;
mod identity;
pub mod json_schema;
mod keys;
mod kind;
mod mistake;
mod patterns;
mod pin;
mod problem;
mod reader;
mod reading;
mod resolve;
mod response;
mod rules;
mod schema;
mod scopes;
mod setting;
mod settings;
mod signed_answers;
mod source;
mod suggest;
mod template;
mod value;
mod workflow;

pub use command::TestCommand;
pub use entries::KeyEntry;
pub use mistake::ConfigErrors;
pub use pin::with_pin;
pub use resolve::{load, load_with};
pub use response::{Perpetual, Response};
pub use rules::{RuleSpecView, known_rules};
pub use schema::schema;
pub use settings::{
    AppliesTo, AtCommit, Config, FullRuns, Guard, HandedInRuns, OnInternalError, PathSettings, Runner,
    ScopeSettings, TestScopes, TestSettings,
};
pub use source::{ConfigSource, Layer, MAX_BYTES, SettingOrigin, read_sources};
pub use suggest::hint as suggest;
pub use template::{SCHEMA_FILE, template};
pub use value::Value;

#[cfg(test)]
mod tests;
