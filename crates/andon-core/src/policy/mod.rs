//! Findings become a decision, and a decision becomes a list of actions.
//!
//! Deciding and acting are separate: a decision is a value that can be shown, compared and tested; only
//! `andon_engine::effect` carries it out (ARCHITECTURE.md).

mod compaction;
mod dirty;
mod plan;
mod respond;
mod suggest;
mod summarize;

pub use compaction::{BriefingInputs, briefing, compaction, plan_of};
pub use dirty::{Bit, BitReasons, Completion, DirtyBits, Tests, dirty};
pub use plan::decide;
pub use plan::{CYCLE, EVIDENCE, HaltPlace, graver, halt, halting, plan};
pub use respond::{FAILED_GATES, Setup, conditions, deadlock_of, next_provider, reminder, responses};
pub use suggest::suggested_actions;
pub use summarize::makers;

#[cfg(test)]
mod tests;
