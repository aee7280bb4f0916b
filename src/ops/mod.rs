//! The verbs: each reads what it needs, asks the pure core and has the plan carried out.
//!
//! Rank 4. The clock, the environment and the working directory are read in [`context`] only.

pub mod advise;
pub mod chain;
pub mod check;
pub mod compaction;
pub mod complete;
pub mod context;
pub mod demo;
mod derive;
mod docs;
pub mod doctor;
pub mod error;
mod evidence;
pub mod explain;
mod guard;
mod healed;
pub mod health;
pub mod hook;
pub mod install;
mod lineage;
pub mod log;
pub mod observe;
pub mod push;
pub mod record_commit;
pub mod replay;
pub mod replay_events;
pub mod resume;
pub mod rewrite;
mod shown;
mod standing;
pub mod status;
pub mod sync;
pub mod test;
pub mod tick;
mod timeline;
pub mod uncertainty;
mod weakening;
pub mod workspace;
