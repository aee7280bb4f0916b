//! One file a rule: its id, documentation, defaults, check and tests.

pub(super) mod consecutive_failures;
pub(super) mod cycle_cost;
pub(super) mod cycle_iterations;
pub(super) mod cycle_runtime;
pub(super) mod docs_not_updated;
pub(super) mod failing_tests;
pub(super) mod failures_not_decreasing;
pub(super) mod hook_bypass;
pub(super) mod idle_turns;
pub(super) mod iteration_cap;
pub(super) mod node_runtime;
pub(super) mod node_turns;
pub(super) mod oscillation;
pub(super) mod recurrence;
pub(super) mod repeated_error;
pub(super) mod repeated_failures;
pub(super) mod repeated_output;
pub(super) mod test_weakening;
pub(super) mod tool_loop;
pub(super) mod turn_timeout;
pub(super) mod turn_tokens;
pub(super) mod unchanged_diff;
pub(super) mod undo_churn;
pub(super) mod untested_edit;
pub(super) mod user_stop;
pub(super) mod weak_change;
