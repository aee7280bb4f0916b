//! ops
pub mod chain;
