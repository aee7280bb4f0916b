//! The verbs: each reads what it needs, asks the pure core and has the plan carried out.
//!
//! What several of them need is in [`andon_engine`].

pub mod advise;
pub mod agent;
pub mod agents;
pub mod attest;
pub mod backfill;
pub mod check;
pub mod complete;
pub mod demo;
pub mod doctor;
pub mod explain;
pub mod hook;
pub mod install;
pub mod ledger;
pub mod log;
pub mod observe;
pub mod pin;
pub mod purge;
pub mod replay;
pub mod report;
pub mod resume;
pub mod review;
pub mod round;
pub mod rule_counts;
pub mod safety_log;
pub mod status;
pub mod sync;
pub mod test;
pub mod tick;
pub mod watch;
pub mod witness;
