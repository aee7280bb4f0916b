//! What commands found out, as values: built by the engine, shown by `report`, written by `wire`. Texts are raw.

pub mod calibration;
pub mod check;
pub mod history;
pub mod log;
pub mod status;
pub mod watch;
