//! Results that verbs show, each its own JSON. Texts are raw.

pub mod calibration;
pub mod check;
pub mod complete;
pub mod context;
pub mod history;
pub mod status;
pub mod sync;
pub mod watch;

pub use self::{calibration::*, check::*, complete::*, context::*, history::*, status::*, sync::*, watch::*};
