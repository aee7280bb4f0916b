//! The signals that rules give: findings too weak to halt alone, which count together with others.
//!
//! A forecast tells the model what would halt the loop if it happened once more.

use std::collections::BTreeSet;

use super::rules::{self, consecutive_failures, red_runs, repeated_failures, tool_loop};
use super::{Rule, Situation, Stops};
use crate::domain::{
    Finding, Knobs, Level, Param, ParamValue, RING, RuleSetting, RuleSettings, Signal, Stage,
};
use crate::history::Timeline;

/// The signals of rules. The proxies of "signals and escalation" (docs/spec-map.md) are folds of their own, in `signals`.
const RULES: [Signal; 7] = [
    Signal::WeakChange,
    Signal::FailuresNotDecreasing,
    Signal::UndoChurn,
    Signal::ToolLoop,
    Signal::FileComebacks,
    Signal::RevertedAttempts,
    Signal::Rework,
];

/// The knobs of `co-occurrence`, those of the rules behind the proxies included; `None` while it is off. A rule that
/// is off gives no signal.
pub fn knobs(settings: &RuleSettings) -> Option<Knobs> {
    let setting = rules::co_occurrence::RULE.setting(settings);
    let split = rules::verdict_split::RULE.setting(settings);
    let recurrence = rules::recurrence::RULE.setting(settings);
    let on = |setting: &RuleSetting| setting.level != Level::Off;
    let ring = usize::try_from(recurrence.count(&rules::recurrence::RING)).unwrap_or(RING).min(RING);
    on(&setting).then(|| Knobs {
        split_rounds: if on(&split) { split.count(&rules::verdict_split::ROUNDS) } else { u64::MAX },
        ring: if on(&recurrence) { ring } else { 0 },
        ..rules::co_occurrence::knobs(&setting)
    })
}

/// The signals of rules at the end of `timeline`. A rule that is off gives none; one that was turned down to a note
/// still does.
pub fn signals(timeline: &Timeline, settings: &RuleSettings) -> BTreeSet<Signal> {
    signals_by(&mut |signal| is_hot(timeline, settings, signal))
}

/// The same, by what `hot` says of each.
pub fn signals_by(hot: &mut dyn FnMut(Signal) -> bool) -> BTreeSet<Signal> {
    let mut found: BTreeSet<Signal> = RULES.into_iter().filter(|signal| hot(*signal)).collect();
    // A file that comes back undoes hunks: that is one sign, seen twice.
    if found.contains(&Signal::UndoChurn) {
        found.remove(&Signal::FileComebacks);
    }
    // A commit that undoes hunks rewrites them as well.
    if found.contains(&Signal::UndoChurn) || found.contains(&Signal::FileComebacks) {
        found.remove(&Signal::Rework);
    }
    found
}

/// Returns whether a rule gives that signal at the end of `timeline`.
pub fn is_hot(timeline: &Timeline, settings: &RuleSettings, signal: Signal) -> bool {
    let situation =
        Situation { timeline, stage: Stage::PostCommit, candidate: None, stops: Stops::NONE, episode: None };
    let Some(rule) = rules::co_occurrence::rule_of(signal) else { return false };
    let mut setting = rule.setting(settings);
    if setting.level == Level::Off {
        return false;
    }
    if setting.level < Level::Warn {
        setting.to_mut().level = Level::Warn;
    }
    if signal == Signal::ToolLoop {
        return rules::tool_loop::is_loop(timeline, &setting);
    }
    rule.found(&situation, &setting).is_some_and(|finding| finding.level >= Level::Warn)
}

/// The findings that are one step away from a halt: a soft tool loop, and the failure before the last one.
pub fn soon(timeline: &Timeline, settings: &RuleSettings) -> Vec<Finding> {
    let at = |stage| Situation { timeline, stage, candidate: None, stops: Stops::NONE, episode: None };
    let calls = super::evaluate(&tool_loop::RULE, &at(Stage::Event), settings);
    let failures = [
        (&repeated_failures::RULE, &repeated_failures::ITERATIONS),
        (&consecutive_failures::RULE, &consecutive_failures::MAX),
        (&red_runs::RULE, &red_runs::SAME),
    ];
    let failing =
        failures.into_iter().filter_map(|(rule, limit)| one_less(rule, limit, &at(Stage::Turn), settings));
    // Both rules count the same failures: the first says more.
    let mut found: Vec<Finding> = calls.filter(|finding| finding.level == Level::Warn).into_iter().collect();
    found.extend(failing.take(1));
    found
}

/// Returns whether the test runs of an open turn are one red run too many.
pub fn halts_within_a_turn(timeline: &Timeline, settings: &RuleSettings) -> bool {
    let stage = Stage::Event;
    let situation = Situation { timeline, stage, candidate: None, stops: Stops::NONE, episode: None };
    super::evaluate(&red_runs::RULE, &situation, settings).is_some()
}

fn one_less(
    rule: &Rule,
    limit: &Param<u64>,
    situation: &Situation<'_>,
    settings: &RuleSettings,
) -> Option<Finding> {
    let mut setting = rule.setting(settings).into_owned();
    // Only a halt is announced, and a single failure is not a row yet.
    let before =
        setting.count(limit).checked_sub(1).filter(|count| *count >= 2 && setting.level == Level::Halt)?;
    setting.params.insert(limit.spec.name, ParamValue::Count(before));
    setting.level = Level::Warn;
    (rule.check)(situation, &setting)
}

#[cfg(test)]
mod forecast_tests {
    use super::*;
    use crate::domain::EventKind;
    use crate::testkit::{call, event, folded};

    #[test]
    fn the_third_call_alike_is_reported() {
        let calls = |times: usize| {
            let facts = (0..times).map(|_| event(EventKind::ToolCall(call("Bash", 1, Some(1))))).collect();
            soon(&folded(facts), &super::super::defaults()).len()
        };
        assert_eq!([calls(2), calls(3), calls(4), calls(5)], [0, 1, 1, 0]);
    }
}
