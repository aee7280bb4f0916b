//! Which rules look at the lines of a change, and from how many commits on.
//!
//! Reading texts is most of what judging a long history costs. Paths, ids and the state of the code are cheap; rules
//! that ask for more look at strike candidates only, and need some of them in one window before they can say anything.
//! Whoever judges a long history reads what these thresholds ask for, and no more.

use std::borrow::Cow;

use super::exempt::begins_with;
use super::rule::Rule;
use super::{rules, signals};
use crate::domain::findings::Level;
use crate::domain::settings::{RuleSetting, RuleSettings};

/// From how many strike candidates running on a rule has something to say about their lines; `None` where it is off.
#[derive(Debug, Clone, PartialEq)]
pub struct LineThresholds {
    /// `unchanged-diff`: candidates that each repeat the one before, or are empty.
    pub repeats: Option<usize>,
    /// `weak-change`: candidates that are weak, each in the place of the one before.
    pub weak: Option<usize>,
    /// `undo-churn`: candidates over which undone hunks are counted.
    pub undo: Option<Undo>,
    /// `consecutive-failures`: empty candidates in a window.
    pub failures: Option<usize>,
    /// `co-occurrence`: candidates without a change that runs, beside another signal.
    pub unchanged: Option<usize>,
}

/// What `undo-churn` looks at.
#[derive(Debug, Clone, PartialEq)]
pub struct Undo {
    /// Candidates over which the share is taken.
    pub over: usize,
    /// Candidates before each of them that may be undone.
    pub window: usize,
    /// Beginnings of the subjects of commits that are passed over.
    exempt: Vec<String>,
}

impl Undo {
    /// Whether a commit of this subject is passed over.
    pub fn passes_over(&self, subject: &str) -> bool {
        self.exempt.iter().any(|pattern| begins_with(subject, pattern))
    }
}

/// The thresholds of the rules that are on.
pub fn line_thresholds(settings: &RuleSettings) -> LineThresholds {
    let on = |rule: &Rule| {
        let setting = rule.setting(settings);
        (setting.level > Level::Off).then_some(setting)
    };
    let least = |count: u64| usize::try_from(count).unwrap_or(usize::MAX).max(1);
    let count = |rule: &Rule, name: &str| on(rule).map(|setting| least(setting.count(name)));
    let undo = |setting: Cow<'_, RuleSetting>| Undo {
        over: least(setting.count("over")),
        window: least(setting.count("window")),
        exempt: setting.list("exempt").to_vec(),
    };
    // `test-weakening` derives what it needs where tests were recorded.
    LineThresholds {
        repeats: count(&rules::unchanged_diff::RULE, "repeats"),
        weak: count(&rules::weak_change::RULE, "running"),
        undo: on(&rules::undo_churn::RULE).map(undo),
        failures: count(&rules::consecutive_failures::RULE, "max"),
        unchanged: signals::knobs(settings).map(|knobs| least(knobs.no_change_min)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::REGISTRY;
    use crate::detect::rule::Reads;

    #[test]
    fn every_rule_that_reads_lines_has_a_threshold_here() {
        let reading = REGISTRY.iter().filter(|rule| matches!(rule.reads, Reads::Lines { .. }));
        let mut ids: Vec<&str> = reading.map(|rule| rule.id).collect();
        ids.sort_unstable();
        assert_eq!(ids, ["consecutive-failures", "unchanged-diff", "undo-churn", "weak-change"]);
        for rule in REGISTRY {
            if let Reads::Lines { from } = rule.reads {
                assert!(rule.params.iter().any(|param| param.name == from), "{}: {from}", rule.id);
            }
        }
    }

    #[test]
    fn what_is_off_asks_for_nothing() {
        let mut settings = RuleSettings::new();
        let all = line_thresholds(&settings);
        assert_eq!(
            (all.repeats, all.weak, all.failures, all.unchanged),
            (Some(2), Some(3), Some(3), Some(4))
        );
        let undo = all.undo.unwrap();
        assert_eq!((undo.over, undo.window), (4, 8));
        assert!(undo.passes_over("Revert \"x\"") && !undo.passes_over("Work"));
        for rule in REGISTRY {
            settings.insert(rule.id, RuleSetting { level: Level::Off, ..rule.defaults() });
        }
        let none = line_thresholds(&settings);
        assert_eq!(
            (none.repeats, none.weak, none.undo, none.failures, none.unchanged),
            (None, None, None, None, None)
        );
    }
}
