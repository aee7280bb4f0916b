//! One file a rule: its id, documentation, properties, parameters, check, messages and tests. A new rule is one file,
//! its `mod` line and its line in the registry. The budgets are rows of one file.

use super::Rule;

pub(super) mod budgets;
pub(super) mod co_occurrence;
pub(super) mod consecutive_failures;
pub(super) mod context_window;
pub(super) mod docs_loop;
pub(super) mod docs_not_updated;
pub(super) mod failing_tests;
pub(super) mod failures_not_decreasing;
pub(super) mod file_comebacks;
pub(super) mod guard_disarmed;
pub(super) mod hook_bypass;
pub(super) mod identity_drift;
pub(super) mod idle_turns;
pub(super) mod iteration_cap;
pub(super) mod monotony;
pub(super) mod nothing_new;
pub(super) mod oscillation;
pub(super) mod output_oscillation;
pub(super) mod recurrence;
pub(super) mod red_runs;
pub(super) mod refused_commits;
pub(super) mod repeated_compaction;
pub(super) mod repeated_edit;
pub(super) mod repeated_error;
pub(super) mod repeated_failures;
pub(super) mod repeated_output;
pub(super) mod reverted_attempts;
pub(super) mod rework;
pub(super) mod same_refusal;
pub(super) mod test_weakening;
pub(super) mod tool_loop;
pub(super) mod unchanged_diff;
pub(super) mod undo_churn;
pub(super) mod untested_edit;
pub(super) mod user_stop;
pub(super) mod verdict_split;
pub(super) mod weak_change;

/// Every rule. The order is that of precedence: of several findings that halt, the first gives the reason.
pub static REGISTRY: &[&Rule] = &[
    &unchanged_diff::RULE,
    &idle_turns::RULE,
    &repeated_output::RULE,
    &weak_change::RULE,
    &monotony::RULE,
    &repeated_failures::RULE,
    &failures_not_decreasing::RULE,
    &oscillation::RULE,
    &output_oscillation::RULE,
    &docs_loop::RULE,
    &file_comebacks::RULE,
    &recurrence::RULE,
    &undo_churn::RULE,
    &reverted_attempts::RULE,
    &rework::RULE,
    &verdict_split::RULE,
    &co_occurrence::RULE,
    &consecutive_failures::RULE,
    &repeated_error::RULE,
    &tool_loop::RULE,
    &repeated_edit::RULE,
    &same_refusal::RULE,
    &guard_disarmed::RULE,
    &red_runs::RULE,
    &refused_commits::RULE,
    &nothing_new::RULE,
    &repeated_compaction::RULE,
    &iteration_cap::RULE,
    &budgets::NODE_TURNS,
    &budgets::NODE_RUNTIME,
    &budgets::CYCLE_ITERATIONS,
    &budgets::CYCLE_RUNTIME,
    &budgets::CYCLE_COST,
    &budgets::TURN_TIMEOUT,
    &budgets::TURN_TOKENS,
    &context_window::RULE,
    &untested_edit::RULE,
    &failing_tests::RULE,
    &docs_not_updated::RULE,
    &test_weakening::RULE,
    &identity_drift::RULE,
    &hook_bypass::RULE,
    &user_stop::RULE,
];
