//! What would halt the loop if it happened once more: the model gets a message before it does.

use super::rule::Rule;
use super::rules::{consecutive_failures, red_runs, repeated_failures, tool_loop};
use super::situation::{Situation, Stops};
use crate::domain::decision::Stage;
use crate::domain::findings::{Finding, Level};
use crate::domain::settings::{Param, ParamValue, RuleSettings};
use crate::history::Timeline;

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

/// Whether the test runs of an open turn are one red run too many.
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
mod tests {
    use super::*;
    use crate::domain::events::EventKind;
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
