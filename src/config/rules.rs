//! What configuration has to know of a rule; the rules themselves are `detect`'s.

use super::mistake::ConfigError;
use super::settings::Config;
use super::source::Origin;
use crate::detect::{REGISTRY, Rule};
use crate::domain::findings::Level;
use crate::domain::settings::ParamSpec;

/// A rule as configuration sees it.
#[derive(Debug, Clone, Copy)]
pub struct RuleSpecView {
    /// Key in `[rules]`, kebab-case.
    pub id: &'static str,
    /// One sentence for `config schema`.
    pub summary: &'static str,
    /// Level when nobody says otherwise.
    pub default_level: Level,
    /// Parameters.
    pub params: &'static [ParamSpec],
}

/// Rules that DESIGN section 4 names and a later version brings: naming one is not a slip of the pen.
pub(super) const PLANNED: [&str; 1] = ["identity-drift"];

/// The rules of this version, from the registry.
pub fn known_rules() -> Vec<RuleSpecView> {
    REGISTRY.iter().map(|rule| RuleSpecView::of(rule)).collect()
}

/// Percentages of a rule that only make sense in this order. Layers are joined key by key, so that this is seen only
/// when all of them are read.
const ASCENDING: (&str, [&str; 3]) = ("context-window", ["warn", "compact", "block"]);

/// Thresholds that are out of order, at the place of the last of them that somebody said.
pub(super) fn out_of_order(config: &Config) -> Option<ConfigError> {
    let (id, names) = ASCENDING;
    let setting = config.rules.get(id)?;
    let values = names.map(|name| setting.count(name));
    if values.is_sorted() && values.iter().all(|percent| *percent <= 100) {
        return None;
    }
    let origins = names.iter().map(|name| config.origin(&format!("rules.{id}.{name}")));
    // The higher layer is the one that somebody has just changed.
    let file = origins.max_by_key(Origin::layer).and_then(|origin| origin.place()).unwrap_or_default();
    let shown: Vec<String> =
        names.iter().zip(values).map(|(name, value)| format!("{name} = {value}")).collect();
    Some(ConfigError {
        file,
        at: None,
        what: format!("`rules.{id}`: {} must be percentages in rising order, at most 100", shown.join(", ")),
        mend: format!("write {id} = {{ warn = 75, compact = 80, block = 85 }}"),
    })
}

impl RuleSpecView {
    fn of(rule: &Rule) -> Self {
        Self { id: rule.id, summary: rule.summary, default_level: rule.level, params: rule.params }
    }
}
