//! adapter
pub mod chain;
