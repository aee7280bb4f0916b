//! record
pub mod format;
