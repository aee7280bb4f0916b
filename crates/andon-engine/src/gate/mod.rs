//! What decides at a commit, a turn or a completion: facts and rules in, a decision out.

pub mod compaction;
pub mod completion;
pub mod docs;
pub mod fallback;
pub mod guard;
pub mod identity;
pub(crate) mod making;
pub mod outcomes;
pub(crate) mod refusals;
pub mod rule_feed;
pub mod safety;
pub mod turn;
