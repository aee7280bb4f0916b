//! What every door runs: the workspace, the facts behind it, evidence of tests, the judgement and what follows from it.
//!
//! Rank 4. The clock, the environment and the working directory are read in [`context`] only.

pub(crate) mod attempts;
pub(crate) mod binding_halts;
pub mod bound;
pub mod bulk;
pub mod compaction;
pub mod completion;
pub mod context;
pub(crate) mod deleted_folder;
pub(crate) mod derive;
pub(crate) mod docs;
pub mod earlier_runs;
pub mod error;
pub(crate) mod evidence;
pub(crate) mod guard;
pub(crate) mod identity;
pub(crate) mod inherited_evidence;
pub mod line_summary;
pub(crate) mod lineage;
pub mod lost_halts;
pub(crate) mod named_files;
pub(crate) mod past_halts;
pub mod pending;
pub(crate) mod record_index;
pub(crate) mod repairs;
pub(crate) mod safety;
mod settled;
pub mod setup;
pub(crate) mod shown_change;
pub(crate) mod shown_halts;
pub(crate) mod situation;
pub mod skip;
pub(crate) mod standing;
pub mod sync;
pub(crate) mod test_guess;
pub mod test_sets;
pub mod tested;
pub(crate) mod timeline;
pub mod turn;
pub mod uncertainty;
pub(crate) mod undecided;
pub(crate) mod verdict;
pub mod watch;
pub(crate) mod weakening;
pub mod witnessing;
pub mod workspace;
