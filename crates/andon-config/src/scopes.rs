//! `[test.scopes.<name>]`: reading, and what only shows once all layers are joined.

use std::{collections::BTreeSet, sync::Arc};

use super::mistake::{ConfigErrors, mistake, quoted};
use super::settings::{ScopeAt, ScopeSettings, TestScopes};
use super::value::{Value, Values, suggest};
use super::{keys, setting::FromValue as _};
use andon_core::domain::{Scope, Scopes, ScopesError};
use testreport::Format;

/// The beginning of the dotted keys of scopes.
pub(super) const PREFIX: &str = "test.scopes.";
/// Most scopes.
pub(super) const MAX_SCOPES: usize = 256;

/// True if scopes may have this name: it is a word of the command line and a key of records.
pub(super) fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let first = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    first && name.len() <= 64 && name.bytes().all(plain)
}

/// The scopes that all layers together declare.
pub(super) fn resolve(values: &Values) -> Result<TestScopes, ConfigErrors> {
    let dotted = values.keys().filter_map(|key| key.strip_prefix(PREFIX)?.split_once('.'));
    let names: BTreeSet<&str> = dotted.map(|(name, _)| name).collect();
    let mut settings = Vec::new();
    for name in &names {
        let value = |key: &str| values.get(&format!("{PREFIX}{name}.{key}")).map(|given| &given.value);
        let texts = |key: &str| match value(key) {
            Some(Value::Texts(texts)) => texts.clone(),
            _ => Vec::new(),
        };
        let Some(Value::Command(command)) = value("command").cloned() else {
            let hint = format!("add to [{PREFIX}{name}]: command = \"cargo test -p {name}\"");
            return Err(at(values, name, None, &format!("scope {} has no command", quoted(name)), hint));
        };
        let (paths, needs) = (texts("paths"), texts("needs"));
        if paths.is_empty() {
            let hint = format!("add to [{PREFIX}{name}]: paths = [\"crates/{name}/**\"]");
            return Err(at(values, name, None, &format!("scope {} has no paths", quoted(name)), hint));
        }
        let timeout = match value("timeout") {
            Some(Value::Span(span)) => Some(*span),
            Some(Value::Unlimited) => None,
            _ => keys::test::timeout(values),
        };
        let at = value("at").map_or(ScopeAt::Commit, |at| ScopeAt::from_value(at.clone()));
        let scope = Scope { name: (*name).to_owned(), paths, needs };
        let format = match value("format") {
            Some(Value::Text(name)) => Format::named(name),
            _ => None,
        };
        settings.push(ScopeSettings { scope, command, at, format, reports: texts("reports"), timeout });
    }
    let scopes = Scopes::new(settings.iter().map(|one| one.scope.clone()).collect());
    let scopes = scopes.map_err(|error| unusable(values, &names, &error))?;
    Ok(TestScopes { scopes: Arc::new(scopes), settings, of: None })
}

fn unusable(values: &Values, names: &BTreeSet<&str>, error: &ScopesError) -> ConfigErrors {
    let (scope, key, hint) = match error {
        ScopesError::Unknown { scope, need } => {
            (scope.as_str(), Some("needs"), suggest(need, names.iter().copied()))
        }
        ScopesError::Cycle(names) => (
            names.first().map_or("", String::as_str),
            Some("needs"),
            "make one scope of them, with the paths of all".to_owned(),
        ),
        ScopesError::Glob(_) => ("", Some("paths"), "use fewer or simpler globs".to_owned()),
    };
    at(values, scope, key, &error.to_string(), hint)
}

/// An error at the line of a key of a scope; without one, or where it is not set, of the first that is.
fn at(values: &Values, scope: &str, key: Option<&str>, what: &str, hint: String) -> ConfigErrors {
    let prefix = if scope.is_empty() { PREFIX.to_owned() } else { format!("{PREFIX}{scope}.") };
    let mut own = values.iter().filter(|(name, _)| name.starts_with(&prefix));
    let named = key.and_then(|key| values.get(&format!("{prefix}{key}")));
    let given = named.or_else(|| own.next().map(|(_, given)| given));
    let place = given.and_then(|given| given.origin.place()).unwrap_or_else(|| "default".to_owned());
    mistake(&place, None, what, hint).into()
}
