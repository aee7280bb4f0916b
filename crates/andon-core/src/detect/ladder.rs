//! The ladder of `andon calibrate`: every count of the rules that halt a loop, times a factor.
//!
//! The steps of a rule need not be nested. Counts are rounded up one by one, and a window grows with its count: five of
//! ten calls halt, where seven of thirteen do not and eight of fifteen do. So a run counts as halted at a step where it
//! is halted at that step or at any looser one. This is nested for any rules, and never less than what a replay shows.
//! A rule that declares more ([`Nesting`]) needs fewer steps to be asked.
//!
//! [`Nesting`]: crate::domain::Nesting

use super::{Rule, rules::REGISTRY};
use crate::domain::{HaltReason, Level, ParamValue, RuleSetting, RuleSettings, RuleSubject, Sense};
use crate::history::{Source, Timeline};

/// The factors in hundredths, the strictest first.
pub const LADDER: [u64; 14] = [50, 60, 75, 90, 100, 125, 150, 175, 200, 250, 300, 400, 600, 800];

/// The step that changes nothing.
pub const AS_CONFIGURED: usize = 4;

/// The last step of the ladder at which a good run is halted; `None` where none halts it.
pub type Score = Option<usize>;

/// Returns whether a halt for this reason says that a loop makes no progress. Budgets and a person's stop say nothing of it.
pub fn is_stuck(reason: HaltReason) -> bool {
    !matches!(reason, HaltReason::BudgetExceeded | HaltReason::UserStop)
}

/// Returns whether a rule is on the ladder: it halts a loop that makes no progress, by counts.
pub fn is_on_ladder(rule: &Rule, settings: &RuleSettings) -> bool {
    let counts = rule.params.iter().any(|spec| matches!(spec.default(), ParamValue::Count(_)));
    is_stuck(rule.reason) && counts && rule.level_in(settings) == Level::Halt
}

/// Returns whether a rule halts a loop that has used up what it may use.
pub fn is_budget(rule: &Rule, settings: &RuleSettings) -> bool {
    rule.reason == HaltReason::BudgetExceeded && rule.level_in(settings) == Level::Halt
}

/// The settings at one step: the counts of those rules times its factor, rounded up, within what they may be.
pub fn at_step(settings: &RuleSettings, step: usize) -> RuleSettings {
    let mut scaled = settings.clone();
    for rule in REGISTRY.iter().filter(|rule| is_on_ladder(rule, settings)) {
        scaled.insert(rule.id, rule_at_step(rule, settings, step));
    }
    scaled
}

/// One of them.
pub fn rule_at_step(rule: &Rule, settings: &RuleSettings, step: usize) -> RuleSetting {
    let factor = LADDER.get(step).copied().unwrap_or(100);
    let mut setting = rule.setting(settings).into_owned();
    for spec in rule.params {
        if let Some(ParamValue::Count(count)) = setting.params.get_mut(spec.name) {
            *count = count.saturating_mul(factor).div_ceil(100).clamp(spec.min, spec.max);
        }
    }
    setting
}

/// Returns whether `timeline` has what a rule judges.
pub fn occurs(judges: RuleSubject, timeline: &Timeline) -> bool {
    let activity = &timeline.activity;
    match judges {
        RuleSubject::Iterations => !timeline.iterations.is_empty(),
        // Runs of a turn that has not ended are attempts already.
        RuleSubject::Attempts if activity.red.code.is_some() => true,
        RuleSubject::Tests | RuleSubject::Attempts => {
            timeline.iterations.iter().any(|one| one.tests.is_some())
        }
        RuleSubject::Turns => timeline.iterations.iter().any(|one| matches!(one.source, Source::Turn(_))),
        RuleSubject::Calls => !activity.calls.is_empty(),
        RuleSubject::Outputs => !activity.outputs.is_empty(),
        RuleSubject::Compactions => activity.compactions.running(activity.epoch) > 0,
        RuleSubject::Votes => !activity.ballots.is_empty(),
    }
}

/// Returns whether a rule that halted under the setting `then` halts later under `now`: one of the counts by which it halts was made
/// looser, or a list of exemptions longer, and no count stricter.
pub fn is_looser(rule: &Rule, then: &RuleSetting, now: &RuleSetting) -> bool {
    let changes: Vec<Change> = rule
        .params
        .iter()
        .filter_map(|spec| match (then.params.get(spec.name)?, now.params.get(spec.name)?) {
            (ParamValue::Count(then), ParamValue::Count(now)) if then != now => match spec.sense {
                Sense::Later => Some(if now > then { Change::Looser } else { Change::Stricter }),
                Sense::Wider => Some(if now < then { Change::Looser } else { Change::Stricter }),
                Sense::Warns => None,
            },
            (ParamValue::List(then), ParamValue::List(now)) => {
                let longer = now.len() > then.len() && then.iter().all(|one| now.contains(one));
                longer.then_some(Change::Looser)
            }
            _ => None,
        })
        .collect();
    changes.contains(&Change::Looser) && !changes.contains(&Change::Stricter)
}

/// The direction in which a parameter changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Looser,
    Stricter,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::defaults;

    #[test]
    fn counts_of_rules_that_halt_are_scaled_and_budgets_are_not() {
        let settings = defaults();
        let twice = at_step(&settings, 8);
        let count = |settings: &RuleSettings, rule: &str, name: &str| {
            if let ParamValue::Count(count) = settings[rule].params[name] { count } else { 0 }
        };
        assert_eq!(count(&twice, "unchanged-diff", "repeats"), 4);
        assert_eq!(count(&twice, "co-occurrence", "rounds"), 4);
        assert_eq!(twice["iteration-cap"], settings["iteration-cap"]);
        assert_eq!(at_step(&settings, AS_CONFIGURED), settings);
        assert_eq!(count(&at_step(&settings, 0), "tool-loop", "hard"), 3);
    }

    #[test]
    fn a_setting_is_looser_by_the_counts_that_halt() {
        let rule = crate::detect::rule("tool-loop").unwrap();
        let with = |changes: &[(&'static str, u64)]| {
            let mut setting = rule.defaults();
            for (name, count) in changes {
                setting.params.insert(name, ParamValue::Count(*count));
            }
            is_looser(rule, &rule.defaults(), &setting)
        };
        assert!(!with(&[]), "the same");
        assert!(!with(&[("soft", 4)]), "warnings alone come later");
        assert!(!with(&[("hard", 4)]), "stricter");
        assert!(!with(&[("window", 12)]), "a larger window finds more");
        assert!(with(&[("hard", 6)]));
        assert!(with(&[("window", 8), ("soft", 2)]));
        assert!(!with(&[("hard", 6), ("infinite", 8)]), "it may have been either of them");
        let rule = crate::detect::rule("unchanged-diff").unwrap();
        let mut setting = rule.defaults();
        let Some(ParamValue::List(exempt)) = setting.params.get_mut("exempt") else { panic!() };
        exempt.push("Poke".to_owned());
        assert!(is_looser(rule, &rule.defaults(), &setting), "one more exemption");
        assert!(!is_looser(rule, &setting, &rule.defaults()), "one less");
    }
}
