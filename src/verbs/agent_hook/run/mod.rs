//! `andon agent hook`: what the hooks of agents' clients ask and report.

mod after_tool;
mod by_git;
mod decisions;
mod duplicates;
mod guard_changes;
mod halt_state;
pub mod hook;
mod observations;
mod place;
mod rewrite;
mod tail;
mod test_report;
mod turn;
