//! What configuration has to know of a rule; the rules themselves are `detect`'s.

use super::mistake::mistake;
use super::settings::Config;
use super::source::SettingOrigin;
use super::value::Value;
use andon_core::detect::{REGISTRY, Rule};
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::findings::Level;
use andon_core::domain::settings::{Order, ParamSpec, ParamValue};

/// A rule as configuration sees it.
#[derive(Debug, Clone, Copy)]
pub struct RuleSpecView {
    /// Key in `[rules]`, kebab-case.
    pub id: &'static str,
    /// One sentence for `config schema`.
    pub summary: &'static str,
    /// The default level.
    pub default_level: Level,
    /// Parameters.
    pub params: &'static [ParamSpec],
}

/// The rules of this version, from the registry.
pub fn known_rules() -> Vec<RuleSpecView> {
    REGISTRY.iter().map(|rule| RuleSpecView::from_rule(rule)).collect()
}

/// Percentages that are out of order, at the place of the last of them that was set. Layers are joined key by key, so
/// that this is seen only when all of them are read.
pub(super) fn out_of_order(config: &Config, rules: &[RuleSpecView]) -> Option<Diagnostic> {
    rules.iter().find_map(|rule| {
        let rising: Vec<&ParamSpec> =
            rule.params.iter().filter(|spec| spec.order == Order::RisingPercent).collect();
        let setting = config.rules.get(rule.id).filter(|_| !rising.is_empty())?;
        let percent = |spec: &&ParamSpec| match setting.params.get(spec.name) {
            Some(ParamValue::Count(percent)) => *percent,
            _ => 0,
        };
        let values: Vec<u64> = rising.iter().map(percent).collect();
        let fine = values.is_sorted() && values.iter().all(|percent| *percent <= 100);
        (!fine).then(|| not_rising(config, rule.id, &rising, &values))
    })
}

fn not_rising(config: &Config, id: &str, rising: &[&ParamSpec], values: &[u64]) -> Diagnostic {
    let origins = rising.iter().map(|spec| config.origin(&format!("rules.{id}.{}", spec.name)));
    // The higher layer is the one that was probably just changed.
    let file = origins.max_by_key(SettingOrigin::layer).and_then(|origin| origin.place()).unwrap_or_default();
    let shown = rising.iter().zip(values).map(|(spec, value)| format!("{} = {value}", spec.name));
    let shown = shown.collect::<Vec<_>>().join(", ");
    let right = rising.iter().map(|spec| format!("{} = {}", spec.name, Value::Param(spec.default())));
    let what = format!("`rules.{id}`: {shown} must be percentages in rising order, at most 100");
    mistake(&file, None, what, format!("write {id} = {{ {} }}", right.collect::<Vec<_>>().join(", ")))
}

impl RuleSpecView {
    fn from_rule(rule: &Rule) -> Self {
        Self { id: rule.id, summary: rule.summary, default_level: rule.level, params: rule.params }
    }
}
