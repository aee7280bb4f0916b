//! Settings of rules as values: what `config` resolves and `detect` reads.

use std::collections::BTreeMap;

use super::findings::Level;
use super::time::Span;

/// The value of a rule's parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum ParamValue {
    /// A whole number of at least zero.
    Count(u64),
    /// A share between 0 and 1.
    Share(f64),
    /// A duration.
    Span(Span),
    /// A switch, for parameters whose meaning is yes or no.
    Switch(bool),
    /// A list of texts.
    List(Vec<String>),
}

/// A parameter that a rule declares.
#[derive(Debug, Clone)]
pub struct ParamSpec {
    /// Key in `[rules]`, `snake_case`.
    pub name: &'static str,
    /// Default value; also fixes the type.
    pub default: fn() -> ParamValue,
    /// Smallest count allowed, for counts.
    pub min: u64,
    /// One sentence for `config schema` and the documentation.
    pub doc: &'static str,
}

/// One rule's level and parameters after all layers.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleSetting {
    /// Level.
    pub level: Level,
    /// Parameters by name; complete.
    pub params: BTreeMap<&'static str, ParamValue>,
}

impl RuleSetting {
    /// The count `name`; 0 when the rule declares none of that name (a test of the registry shows it does).
    pub fn count(&self, name: &str) -> u64 {
        match self.params.get(name) {
            Some(ParamValue::Count(count)) => *count,
            Some(
                ParamValue::Share(_) | ParamValue::Span(_) | ParamValue::Switch(_) | ParamValue::List(_),
            )
            | None => 0,
        }
    }

    /// The share `name`; 1 when the rule declares none.
    pub fn share(&self, name: &str) -> f64 {
        match self.params.get(name) {
            Some(ParamValue::Share(share)) => *share,
            Some(
                ParamValue::Count(_) | ParamValue::Span(_) | ParamValue::Switch(_) | ParamValue::List(_),
            )
            | None => 1.0,
        }
    }

    /// The list `name`; empty when the rule declares none.
    pub fn list(&self, name: &str) -> &[String] {
        match self.params.get(name) {
            Some(ParamValue::List(list)) => list,
            Some(
                ParamValue::Share(_) | ParamValue::Span(_) | ParamValue::Switch(_) | ParamValue::Count(_),
            )
            | None => &[],
        }
    }
}

/// All rules by id; complete.
pub type RuleSettings = BTreeMap<&'static str, RuleSetting>;
