//! ops
pub mod chain;
pub mod doctor;
pub mod install;
