//! The counts that a promise changes, and the lines for `andon.toml`.

use crate::view::calibration::ScaledCounts;
use andon_config::Value;
use andon_core::detect::Rule;
use andon_core::detect::ladder;
use andon_core::domain::settings::{ParamValue, RuleSetting, RuleSettings};

/// What differs at `step`, for those of the rules that do. The line is all that `andon.toml` has to say of the rule: it
/// keeps its level and its other parameters, so that it can take the place of the one that is there.
pub(super) fn changed<'a>(
    rules: impl Iterator<Item = &'a Rule>,
    settings: &RuleSettings,
    step: usize,
) -> Vec<ScaledCounts> {
    let changed = rules.filter_map(|rule| {
        let (before, after) = (rule.setting(settings), ladder::rule_at_step(rule, settings, step));
        let counts = rule.params.iter().filter_map(|spec| {
            match (before.params.get(spec.name)?, after.params.get(spec.name)?) {
                (ParamValue::Count(was), ParamValue::Count(is)) if was != is => Some((spec.name, *was, *is)),
                _ => None,
            }
        });
        let counts: Vec<(&'static str, u64, u64)> = counts.collect();
        (!counts.is_empty()).then(|| ScaledCounts { rule: rule.id, counts, line: line(rule, &after) })
    });
    changed.collect()
}

/// The line of a rule: what differs from its defaults.
fn line(rule: &Rule, setting: &RuleSetting) -> String {
    let level = Value::Level(setting.level);
    let params = rule.params.iter().filter_map(|spec| {
        let value = setting.params.get(spec.name).filter(|value| **value != spec.default())?;
        Some(format!("{} = {}", spec.name, Value::Param(value.clone())))
    });
    let level_differs = (setting.level != rule.level).then(|| format!("level = {level}"));
    let parts: Vec<String> = level_differs.into_iter().chain(params).collect();
    if parts.is_empty() {
        format!("{} = {level}", rule.id)
    } else {
        format!("{} = {{ {} }}", rule.id, parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_config::{self as config, ConfigSource, Layer};

    fn loaded(text: &str) -> RuleSettings {
        let source =
            ConfigSource { layer: Layer::Repository, name: "andon.toml".to_owned(), text: text.into() };
        config::load(&[source]).unwrap().rules
    }

    #[test]
    fn the_lines_take_the_place_of_those_that_are_there() {
        let own = "[rules]\ntool-loop = { signature = \"coarse\", soft = 4, hard = 6, window = 30 }\nidle-turns = { max = 6 }\n\
                   undo-churn = \"halt\"\nunchanged-diff = { exempt = [\"Poke 'it'\"] }\n";
        let settings = loaded(own);
        let rules = || {
            andon_core::detect::REGISTRY.iter().copied().filter(|rule| ladder::is_on_ladder(rule, &settings))
        };
        for step in 0..ladder::LADDER.len() {
            let changed = changed(rules(), &settings, step);
            let lines: String = changed.iter().map(|change| format!("{}\n", change.line)).collect();
            assert_eq!(loaded(&format!("[rules]\n{lines}")), {
                let mut whole = ladder::at_step(&settings, step);
                let kept = |id: &str| changed.iter().any(|change| change.rule == id);
                whole.retain(|id, _| kept(id));
                let mut all = andon_core::detect::defaults();
                all.extend(whole);
                all
            });
        }
        let half = changed(rules(), &settings, 0);
        let of = |id: &str| half.iter().find(|change| change.rule == id).map(|change| change.line.as_str());
        assert_eq!(of("idle-turns"), Some("idle-turns = \"halt\""), "as by default");
        insta::assert_snapshot!(of("tool-loop").unwrap(), @r#"tool-loop = { soft = 2, hard = 3, infinite = 5, window = 15, rounds = 2, signature = "coarse" }"#);
        assert!(of("undo-churn").unwrap().contains("level = \"halt\""), "{half:?}");
    }
}
