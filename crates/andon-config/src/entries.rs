//! The effective value of every key and who said it: `andon config show`.

use std::fmt;

use super::keys::{Contents, SECTIONS};
use super::{effective::Config, scopes, source::SettingOrigin, value::Value};
use andon_core::domain::RuleSetting;

/// One key with its effective value.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyEntry {
    /// Dotted, such as `rules.iteration-cap.max`; a rule's level is `rules.<id>.level`.
    pub key: String,
    /// The effective value.
    pub value: Value,
    /// Who said it.
    pub origin: SettingOrigin,
}

impl fmt::Display for KeyEntry {
    /// `guard.ack = "resume"  # repository, andon.toml:2`. The value is TOML, so control characters are escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}  # {}", self.key, self.value, self.origin.layer().as_str())?;
        match self.origin.place() {
            Some(place) => write!(f, ", {place}"),
            None => Ok(()),
        }
    }
}

impl Config {
    /// Every key in the order of the table, rules by id, patterns in the order they apply.
    pub fn entries(&self) -> Vec<KeyEntry> {
        let mut entries = Vec::new();
        for section in &SECTIONS {
            match &section.contents {
                Contents::Keys(keys) => {
                    entries.extend(keys.iter().map(|key| self.entry(key.dotted(), key.default())));
                    if section.name == "test" {
                        let scopes = self.values.keys().filter(|key| key.starts_with(scopes::PREFIX));
                        entries.extend(scopes.map(|key| self.entry(key.clone(), Value::Unset)));
                    }
                }
                Contents::Rules => {
                    entries
                        .extend(self.rules.iter().flat_map(|(id, setting)| self.rule_entries(id, setting)));
                }
                Contents::Workflow if self.workflow.is_declared() => {
                    entries.push(self.entry("workflow.nodes".to_owned(), Value::Texts(Vec::new())));
                }
                Contents::Workflow => {}
                Contents::Patterns => {
                    let entry = |(name, pattern): &(String, String)| {
                        self.entry(format!("normalize.{name}"), Value::Text(pattern.clone()))
                    };
                    entries.extend(self.normalize.iter().map(entry));
                }
            }
        }
        entries
    }

    fn rule_entries(&self, id: &str, setting: &RuleSetting) -> Vec<KeyEntry> {
        let level = self.entry(format!("rules.{id}.level"), Value::Level(setting.level));
        let params = setting.params.iter();
        let params =
            params.map(|(name, value)| self.entry(format!("rules.{id}.{name}"), Value::Param(value.clone())));
        std::iter::once(level).chain(params).collect()
    }

    fn entry(&self, key: String, default: Value) -> KeyEntry {
        match self.values.get(&key) {
            Some(values) => KeyEntry { key, value: values.value.clone(), origin: values.origin.clone() },
            None => KeyEntry { key, value: default, origin: SettingOrigin::Default },
        }
    }
}
