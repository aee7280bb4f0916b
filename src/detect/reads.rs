//! Which rules look at the lines of a change, and from how many commits on.
//!
//! Reading texts is most of what judging a long history costs. Paths, ids and the state of the code are cheap; rules
//! that ask for more look at strike candidates only, and need some of them in one window before they can say anything.

use super::REGISTRY;
use super::rule::Reads;
use super::signals;
use crate::domain::findings::Level;
use crate::domain::settings::RuleSettings;

/// From how many strike candidates in a window on a rule may ask what the changed lines are; in shorter windows ids
/// are enough.
pub fn text_from(settings: &RuleSettings) -> u64 {
    // `test-weakening` derives what it needs where tests were recorded.
    let counts = REGISTRY.iter().filter_map(|rule| {
        let Reads::Lines { from } = rule.reads else { return None };
        let setting = settings.get(rule.id).cloned().unwrap_or_else(|| rule.defaults());
        (setting.level > Level::Off).then(|| setting.count(from))
    });
    let proxy = signals::knobs(settings).map(|knobs| knobs.no_change_min);
    counts.chain(proxy).min().unwrap_or(u64::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::{Rule, rules};
    use crate::domain::settings::{ParamValue, RuleSetting};

    #[test]
    fn what_a_rule_reads_lines_from_is_a_parameter_of_it() {
        for rule in REGISTRY {
            if let Reads::Lines { from } = rule.reads {
                assert!(rule.params.iter().any(|param| param.name == from), "{}: {from}", rule.id);
            }
        }
    }

    #[test]
    fn the_smallest_threshold_of_what_is_on_counts() {
        let mut settings = RuleSettings::new();
        assert_eq!(text_from(&settings), 2);
        let mut set = |rule: &'static Rule, level, params: &[(&'static str, u64)]| {
            let mut setting = RuleSetting { level, ..rule.defaults() };
            for (name, count) in params {
                setting.params.insert(name, ParamValue::Count(*count));
            }
            settings.insert(rule.id, setting);
            text_from(&settings)
        };
        assert_eq!(set(&rules::unchanged_diff::RULE, Level::Warn, &[("repeats", 1)]), 1);
        assert_eq!(set(&rules::unchanged_diff::RULE, Level::Off, &[]), 3);
        assert_eq!(set(&rules::co_occurrence::RULE, Level::Off, &[]), 3);
        assert_eq!(set(&rules::weak_change::RULE, Level::Off, &[]), 3);
        assert_eq!(set(&rules::consecutive_failures::RULE, Level::Off, &[]), 4);
        assert_eq!(set(&rules::undo_churn::RULE, Level::Off, &[]), u64::MAX);
    }
}
