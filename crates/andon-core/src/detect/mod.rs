//! A timeline becomes findings: one file a rule, one row a budget, and a static registry of them.
//!
//! One signal alone halts only where its false-trip rate is measured to be about zero; everything else
//! needs two signals together (docs/rules.md). Nothing here reads a clock, a disk or the environment,
//! so hooks, `check`, `replay` and the tests all ask the very same rules.

mod attempts;
pub mod calibration;
mod calls;
mod evaluation;
mod excuses;
mod hints;
pub mod ladder;
mod lost;
mod prelude;
mod progress;
mod returns;
pub mod rule;
mod rules;
mod signals;
mod situation;
mod stretch;
mod test_files;
#[cfg(test)]
mod testkit;
mod words;

pub(crate) use attempts::progress;
pub use attempts::uncredited_falls;
pub use evaluation::{evaluate, run};
pub use excuses::ExcuseText;
pub use ladder::Score;
pub use lost::{TestComparison, lost_in_all, lost_tests, taken_by, with_lost};
pub use rule::{Docs, Rule, RuleInput};
pub use rules::co_occurrence::signal_name;
pub use signals::{halts_within_a_turn, is_hot, knobs, signals, signals_by, soon};
pub use situation::{
    Candidate, CodeChange, CommitDraft, DocsChange, EvidenceState, IndexUse, Origin, PathDifference,
    PathHint, Side, Situation, Staging, Stops, Whereabouts,
};
pub use test_files::{TestCollection, is_in_folder_of_tests, left_behind, subject};

/// The rules that other modules ask for by name: they prepare what the rule looks at, or show its setting.
pub use rules::REGISTRY;
pub use rules::tool_loop::is_repeated;
pub use rules::{
    budgets::limits_turns, co_occurrence::RULE as CO_OCCURRENCE,
    consecutive_failures::RULE as CONSECUTIVE_FAILURES, consecutive_failures::in_a_row as failures_in_a_row,
    context_window::RULE as CONTEXT_WINDOW, context_window::finding as context_finding,
    docs_not_updated::RULE as DOCS_NOT_UPDATED, failing_tests::RULE as FAILING_TESTS,
    hook_bypass::RULE as HOOK_BYPASS, identity_drift::RULE as IDENTITY_DRIFT,
    iteration_cap::RULE as ITERATION_CAP, oscillation::RULE as OSCILLATION,
    refused_commits::RULE as REFUSED_COMMITS, repeated_failures::RULE as REPEATED_FAILURES,
    test_weakening::Patterns, test_weakening::RULE as TEST_WEAKENING, untested_edit::RULE as UNTESTED_EDIT,
    user_stop::RULE as USER_STOP, user_stop::named as named_stops,
};

use crate::domain::{
    About, ContextWindowUse, Cycle, EventClass, Finding, Level, RuleSettings, Thresholds, Weakening,
};
use crate::history::Timeline;

/// The rule of that id.
pub fn rule(id: &str) -> Option<&'static Rule> {
    REGISTRY.iter().copied().find(|rule| rule.id == id)
}

/// The properties of the rule of that id. An unknown one, of a later version, counts as a stall.
pub fn about(id: &str) -> About {
    rule(id).map_or(About::new(EventClass::Stall), |rule| rule.about)
}

/// The rules that can be skipped for one commit: the dirty bits. Never a halt, and nothing that guards the guard.
pub fn skippable() -> impl Iterator<Item = &'static Rule> + Clone {
    REGISTRY.iter().copied().filter(|rule| rule.about.dirty.is_some())
}

/// The cap of all iterations; `None` where there is none.
pub fn iteration_cap(settings: &RuleSettings) -> Option<u64> {
    ITERATION_CAP.active(settings).map(|setting| setting.count(&rules::iteration_cap::MAX))
}

/// The limit of the iterations of one cycle; `None` where there is none.
pub fn cycle_limit(cycle: &Cycle, settings: &RuleSettings) -> Option<u64> {
    let rule = &rules::budgets::CYCLE_ITERATIONS;
    let setting = rule.active(settings)?;
    let limit = rule.params.first().map_or(0, |max| setting.limit(max));
    Some(cycle.budget.max_iterations.unwrap_or(limit)).filter(|max| *max > 0)
}

/// The level at which `andon check` reports a commit that bypassed the gate; `None` where it does not.
pub fn bypass_level(settings: &RuleSettings) -> Option<Level> {
    HOOK_BYPASS.active(settings).map(|setting| rules::hook_bypass::level_in_check(&setting))
}

/// The level at which `andon check` reports a commit by an agent whose client had no live hook; `None` where it does
/// not.
pub fn unguarded_level(settings: &RuleSettings) -> Option<Level> {
    HOOK_BYPASS.active(settings).and_then(|setting| rules::hook_bypass::unguarded_level(&setting))
}

/// At which shares of the window `context-window` warns, demands a compaction and blocks, and how large the window is.
pub fn context_limits(timeline: &Timeline, node: &str, settings: &RuleSettings) -> (Thresholds, u64) {
    rules::context_window::limits(timeline, node, &CONTEXT_WINDOW.setting(settings))
}

/// The fill of the context window of `node`; `None` where it is unknown. The rule judges by the same value.
pub fn context_use(timeline: &Timeline, node: &str, settings: &RuleSettings) -> Option<ContextWindowUse> {
    rules::context_window::context_use(timeline, node, &CONTEXT_WINDOW.setting(settings))
}

/// Returns whether all that keeps the loop from going on is that the context window must be compacted.
pub fn asks_for_compaction_alone(findings: &[Finding]) -> bool {
    let mut blocking = findings.iter().filter(|finding| finding.level >= Level::Block).peekable();
    blocking.peek().is_some() && blocking.all(|finding| finding.rule == CONTEXT_WINDOW.id)
}

/// The finding of `test-weakening` about a whole range, against the tests of its base.
pub fn weakened_range(found: &Weakening, settings: &RuleSettings) -> Option<Finding> {
    let setting = TEST_WEAKENING.active(settings)?;
    Some(rules::test_weakening::of_range(found, &setting))
}

/// The settings of all rules before any configuration.
pub fn defaults() -> RuleSettings {
    REGISTRY.iter().map(|rule| (rule.id, rule.defaults())).collect()
}

/// The rules that are evaluated at `stage`, in registry order.
pub fn active(stage: crate::domain::Stage, settings: &RuleSettings) -> impl Iterator<Item = &'static Rule> {
    let on = |rule: &Rule| rule.level_in(settings) > Level::Off;
    REGISTRY.iter().copied().filter(move |rule| rule.stages.contains(&stage) && on(rule))
}

#[cfg(test)]
mod tests;
