//! What the engine found out, as values that a report shows. Texts are raw.

pub mod calibration;
pub mod check;
pub mod complete;
pub mod context;
pub mod history;
pub mod status;
pub mod sync;
pub mod watch;
