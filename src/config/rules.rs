//! What configuration has to know of a rule; the rules themselves are `detect`'s.

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
pub(super) const PLANNED: [&str; 1] = ["context-window"];

/// The rules of this version, from the registry.
pub fn known_rules() -> Vec<RuleSpecView> {
    REGISTRY.iter().map(|rule| RuleSpecView::of(rule)).collect()
}

impl RuleSpecView {
    fn of(rule: &Rule) -> Self {
        Self { id: rule.id, summary: rule.summary, default_level: rule.level, params: rule.params }
    }
}
