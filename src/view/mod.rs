//! The results of commands, as values: filled by the engine, shown by each verb's `text`, written as JSON by `json`. Texts are
//! raw.

pub mod calibration;
pub mod check;
pub mod history;
pub mod log;
pub mod status;
pub mod watch;
