//! A timeline becomes findings: one file a rule, and a static registry of them.
//!
//! One signal alone halts only where its false-trip rate is measured to be about zero; everything else
//! needs two signals together (DESIGN section 4). Nothing here reads a clock, a disk or the environment,
//! so hooks, `check`, `replay` and the tests all ask the very same rules.

mod attempts;
mod budget;
mod exempt;
mod returns;
mod rule;
mod rules;
mod signals;
mod situation;
#[cfg(test)]
mod testkit;
mod weakened;
mod words;

pub use attempts::uncredited_falls;
pub use rule::{Docs, Reads, Rule};
pub use signals::{knobs, signals};
pub use situation::{
    Candidate, CodeChange, DocsChange, EvidenceState, Origin, PathDifference, PathHint, Presence, Side,
    Situation, Staging, Stops,
};

/// The rules that other modules ask for by name: they prepare what the rule looks at, or show its setting.
pub use rules::{
    context_window::RULE as CONTEXT_WINDOW, cycle_iterations::RULE as CYCLE_ITERATIONS,
    docs_not_updated::RULE as DOCS_NOT_UPDATED, failing_tests::RULE as FAILING_TESTS,
    hook_bypass::RULE as HOOK_BYPASS, identity_drift::RULE as IDENTITY_DRIFT,
    iteration_cap::RULE as ITERATION_CAP, test_weakening::RULE as TEST_WEAKENING,
    untested_edit::RULE as UNTESTED_EDIT, user_stop::RULE as USER_STOP,
};

pub use weakened::{ChangedText, Patterns, declared_tests, weakened};

use crate::domain::about::{About, EventClass};
use crate::domain::context::ContextUse;
use crate::domain::findings::{Finding, Level};
use crate::domain::settings::RuleSettings;
use crate::history::Timeline;

/// Every rule. The order is that of precedence: of several findings that halt, the first gives the reason.
pub static REGISTRY: &[&Rule] = &[
    &rules::unchanged_diff::RULE,
    &rules::idle_turns::RULE,
    &rules::repeated_output::RULE,
    &rules::weak_change::RULE,
    &rules::repeated_failures::RULE,
    &rules::failures_not_decreasing::RULE,
    &rules::oscillation::RULE,
    &rules::recurrence::RULE,
    &rules::undo_churn::RULE,
    &rules::verdict_split::RULE,
    &rules::co_occurrence::RULE,
    &rules::consecutive_failures::RULE,
    &rules::repeated_error::RULE,
    &rules::tool_loop::RULE,
    &rules::iteration_cap::RULE,
    &rules::node_turns::RULE,
    &rules::node_runtime::RULE,
    &rules::cycle_iterations::RULE,
    &rules::cycle_runtime::RULE,
    &rules::cycle_cost::RULE,
    &rules::turn_timeout::RULE,
    &rules::turn_tokens::RULE,
    &rules::context_window::RULE,
    &rules::untested_edit::RULE,
    &rules::failing_tests::RULE,
    &rules::docs_not_updated::RULE,
    &rules::test_weakening::RULE,
    &rules::identity_drift::RULE,
    &rules::hook_bypass::RULE,
    &rules::user_stop::RULE,
];

/// The rule of that id.
pub fn rule(id: &str) -> Option<&'static Rule> {
    REGISTRY.iter().copied().find(|rule| rule.id == id)
}

/// What others have to know of the rule of that id. One that is not known, of a later version, says that nothing moves.
pub fn about(id: &str) -> About {
    rule(id).map_or(About::of(EventClass::Stall), |rule| rule.about)
}

/// The rules that can be skipped for one commit: the dirty bits. Never a halt, and nothing that guards the guard.
pub fn skippable() -> impl Iterator<Item = &'static Rule> + Clone {
    REGISTRY.iter().copied().filter(|rule| rule.about.dirty.is_some())
}

/// How full the context window of `node` is; `None` where nothing tells. The same value as the rule judges by.
pub fn context_use(timeline: &Timeline, node: &str, settings: &RuleSettings) -> Option<ContextUse> {
    let rule = &rules::context_window::RULE;
    rules::context_window::context_use(timeline, node, &rule.setting(settings))
}

/// What `context-window` says of a fill, at `level`.
pub fn context_finding(found: &ContextUse, level: Level) -> Finding {
    rules::context_window::finding(found, level)
}

/// The settings of all rules before any configuration.
pub fn defaults() -> RuleSettings {
    REGISTRY.iter().map(|rule| (rule.id, rule.defaults())).collect()
}

/// The rules that are evaluated at `stage`, in registry order.
pub fn active(
    stage: crate::domain::decision::Stage,
    settings: &RuleSettings,
) -> impl Iterator<Item = &'static Rule> {
    let on = |rule: &Rule| settings.get(rule.id).map_or(rule.level, |setting| setting.level) > Level::Off;
    REGISTRY.iter().copied().filter(move |rule| rule.stages.contains(&stage) && on(rule))
}

/// Evaluates the rules of the situation's stage, in registry order. A rule that `settings` does not name
/// has its defaults; one at [`Level::Off`] is not evaluated.
pub fn run(situation: &Situation<'_>, settings: &RuleSettings) -> Vec<Finding> {
    // How a halt is answered is not said here: of several findings that halt only the first is written down.
    REGISTRY.iter().filter_map(|rule| evaluate(rule, situation, settings)).collect()
}

/// Evaluates the rule of that id alone: what [`run`] has of it.
pub fn run_one(id: &str, situation: &Situation<'_>, settings: &RuleSettings) -> Option<Finding> {
    evaluate(rule(id)?, situation, settings)
}

fn evaluate(rule: &Rule, situation: &Situation<'_>, settings: &RuleSettings) -> Option<Finding> {
    let setting = rule.stages.contains(&situation.stage).then(|| rule.setting(settings))?;
    if setting.level == Level::Off { None } else { (rule.check)(situation, &setting) }
}

#[cfg(test)]
mod tests;
