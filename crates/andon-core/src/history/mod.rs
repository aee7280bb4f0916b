//! Facts become a timeline.
//!
//! State is never stored as counters that can go wrong: it is this fold over facts, so that another clone, or CI,
//! derives the same result from the same repository (ARCHITECTURE.md). The fold keeps the newest window only, so its
//! cost is bounded by the window and not by the history.

mod activity;
mod context;
mod context_windows;
mod effect;
mod flaky;
mod fold;
mod ledger_order;
pub mod order;
mod outcome;
mod pace;
mod red_runs;
mod side_attempts;
mod snapshot;
mod story;
pub(crate) mod subjects;
mod timeline;
mod turns;
mod views;

pub use activity::{
    Activity, Call, Cast, Compactions, DEFAULT_NODE, EventEffect, MAX_CALLS, MAX_EDITS, MAX_OUTPUTS,
    MAX_TURNS, Marks, NewestObservation, NodeOutput, NodeTotals, RunStart, Turn, TurnStart,
};
pub use context_windows::{ContextWindow, ContextWindows, Door};
pub use flaky::{flaky, flaky_failures, steady_count};
pub use fold::{Fold, NextCommit, begins, comes_after_pause, fold, next_iteration};
pub use ledger_order::{LedgerKey, ledger_order};
pub use outcome::{Outcome, failing_count, outcome, red_scopes};
pub use pace::{TRIES, are_by_the_clock, come_slowly, lasted, mostly_lasted};
pub use red_runs::{RedRuns, Refusals, RefusedAttempts, RefusedCode};
pub use side_attempts::{LineOfWork, PlacedAttempt, SideAttempt, aside, from_elsewhere};
pub use snapshot::{PassedCommit, Snapshot};
pub use timeline::{
    Iteration, KnownRedBy, MAX_ITERATIONS, MAX_REWRITTEN, MAX_RUNS, Source, Strike, Timeline, TurnChange,
    TurnIteration,
};
pub use turns::{COMMAND_ARGUMENTS, FILE_ARGUMENTS, SEVERAL_COMMANDS, SHELLS, SHOWING, is_edit, is_one_of};
pub use views::{CodeState, DocsProgress, PathState};

/// Adds `value` to a list of a timeline, which keeps the newest.
fn push_bounded<T>(kept: &mut Vec<T>, value: T, most: usize) {
    if kept.len() >= most {
        kept.remove(0);
    }
    kept.push(value);
}
