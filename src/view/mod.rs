//! What commands found out, as values: built by the engine, shown by `report`, written by `wire`. Texts are raw.

pub mod advice;
pub mod backfill;
pub mod calibration;
pub mod check;
pub mod explain;
pub mod history;
pub mod log;
pub mod pin;
pub mod rule_counts;
pub mod session;
pub mod status;
pub mod trajectory;
pub mod watch;
