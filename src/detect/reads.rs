//! Which rules look at the lines of a change, and from how many commits on.
//!
//! Reading texts is most of what judging a long history costs. Paths, ids and the state of the code are cheap; rules
//! that ask for more look at strike candidates only, and need some of them in one window before they can say anything.

use super::rule::Rule;
use super::rules;
use super::signals;
use crate::domain::findings::Level;
use crate::domain::settings::RuleSettings;

/// Rules over diff hashes, hunks or natures, each with the parameter that says how many strike candidates it takes.
/// `consecutive-failures` tells empty commits by their lines too; `test-weakening` derives what it needs where tests
/// were recorded.
static TEXT: [(&Rule, &str); 4] = [
    (&rules::unchanged_diff::RULE, "repeats"),
    (&rules::consecutive_failures::RULE, "max"),
    (&rules::weak_change::RULE, "running"),
    (&rules::undo_churn::RULE, "over"),
];

/// From how many strike candidates in a window on a rule may ask what the changed lines are; in shorter windows ids
/// are enough.
pub fn text_from(settings: &RuleSettings) -> u64 {
    let counts = TEXT.iter().filter_map(|(rule, parameter)| {
        let setting = settings.get(rule.id).cloned().unwrap_or_else(|| rule.defaults());
        (setting.level > Level::Off).then(|| setting.count(parameter))
    });
    let proxy = signals::knobs(settings).map(|knobs| knobs.no_change_min);
    counts.chain(proxy).min().unwrap_or(u64::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::REGISTRY;
    use crate::domain::settings::{ParamValue, RuleSetting};

    /// Rules that look at no line of a change that nobody recorded: at ids, tests, outputs, events, gates and totals.
    const IDS: [&str; 20] = [
        "co-occurrence",
        "cycle-cost",
        "cycle-iterations",
        "cycle-runtime",
        "docs-not-updated",
        "failing-tests",
        "failures-not-decreasing",
        "hook-bypass",
        "idle-turns",
        "iteration-cap",
        "node-runtime",
        "node-turns",
        "oscillation",
        "recurrence",
        "repeated-error",
        "repeated-failures",
        "repeated-output",
        "test-weakening",
        "tool-loop",
        "turn-timeout",
    ];
    const MORE_IDS: [&str; 5] =
        ["context-window", "turn-tokens", "untested-edit", "user-stop", "verdict-split"];

    #[test]
    fn every_rule_says_whether_it_reads_lines() {
        for rule in REGISTRY {
            let text = TEXT.iter().any(|(known, _)| known.id == rule.id);
            let ids = IDS.contains(&rule.id) || MORE_IDS.contains(&rule.id);
            assert!(text != ids, "{}: does it look at the diff's hash, hunks or nature?", rule.id);
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
