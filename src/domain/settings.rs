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
    /// A whole number of at least one, or no limit.
    Limit(Option<u64>),
    /// A duration, or no limit.
    SpanLimit(Option<Span>),
    /// A switch, for parameters whose meaning is yes or no.
    Switch(bool),
    /// A list of texts.
    List(Vec<String>),
    /// One of some words.
    Word {
        /// Which.
        is: &'static str,
        /// Of which.
        of: &'static [&'static str],
    },
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
    /// The count `name`; 0 when the rule declares none of that name (a test of the registry shows it does), and for
    /// no limit.
    pub fn count(&self, name: &str) -> u64 {
        match self.params.get(name) {
            Some(ParamValue::Count(count) | ParamValue::Limit(Some(count))) => *count,
            _ => 0,
        }
    }

    /// The share `name`; 1 when the rule declares none.
    pub fn share(&self, name: &str) -> f64 {
        if let Some(ParamValue::Share(share)) = self.params.get(name) { *share } else { 1.0 }
    }

    /// The duration `name`; zero when the rule declares none, and for no limit.
    pub fn span(&self, name: &str) -> Span {
        match self.params.get(name) {
            Some(ParamValue::Span(span) | ParamValue::SpanLimit(Some(span))) => *span,
            _ => Span(0),
        }
    }

    /// The word `name`; empty when the rule declares none.
    pub fn word(&self, name: &str) -> &'static str {
        if let Some(ParamValue::Word { is, .. }) = self.params.get(name) { is } else { "" }
    }

    /// The list `name`; empty when the rule declares none.
    pub fn list(&self, name: &str) -> &[String] {
        if let Some(ParamValue::List(list)) = self.params.get(name) { list } else { &[] }
    }
}

/// All rules by id; complete.
pub type RuleSettings = BTreeMap<&'static str, RuleSetting>;
