//! The verbs: each reads what it needs, asks the pure core and has the plan carried out.
//!
//! Rank 5. What several of them need is in [`crate::engine`].

pub mod advise;
pub mod backfill;
pub mod chain;
pub mod check;
pub mod complete;
pub mod demo;
pub mod doctor;
pub mod explain;
mod gate_hook;
pub mod health;
pub mod hook;
pub mod install;
pub mod log;
pub mod observe;
mod origin;
pub mod pin;
pub mod purge;
pub mod push;
pub mod record_commit;
pub mod replay;
pub mod replay_events;
pub mod replay_session;
pub mod resume;
pub mod rewrite;
pub mod safety_log;
pub mod status;
pub mod sync;
pub mod test;
pub mod tick;
