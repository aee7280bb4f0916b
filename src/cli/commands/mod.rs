//! One file a verb: arguments to a call of `ops`, its value to text, its outcome to an exit code.

pub mod advise;
pub mod agent_hook;
pub mod agents;
pub mod backfill;
pub mod check;
pub mod complete;
pub mod config;
pub mod context;
pub mod demo;
pub mod doctor;
pub mod explain;
pub mod generated;
pub mod hook;
pub mod install;
pub mod log;
pub mod observe;
pub mod pin;
pub mod replay;
pub mod resume;
pub mod review;
pub mod show;
pub mod status;
pub mod sync;
pub mod test;
pub mod tick;
pub mod witness;
