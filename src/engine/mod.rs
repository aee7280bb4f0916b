//! What every door runs: the workspace, the facts behind it, evidence of tests, the judgement and what follows from it.
//!
//! Rank 4. The clock, the environment and the working directory are read in [`context`] only.

pub(crate) mod attempts;
pub(crate) mod bound;
pub mod bulk;
pub mod compaction;
pub mod compared;
pub mod context;
pub(crate) mod derive;
pub(crate) mod docs;
pub mod error;
pub(crate) mod evidence;
pub(crate) mod guard;
pub(crate) mod healed;
pub(crate) mod identity;
pub(crate) mod known;
pub(crate) mod lineage;
pub(crate) mod made;
pub(crate) mod safety;
pub mod setup;
pub(crate) mod shown;
pub mod skip;
pub(crate) mod standing;
pub(crate) mod swept;
pub mod sync;
pub mod tally;
pub(crate) mod test_guess;
pub mod tested;
pub(crate) mod timeline;
pub mod traces;
pub mod uncertainty;
pub(crate) mod verdict;
pub mod watch;
pub(crate) mod weakening;
pub mod workspace;
