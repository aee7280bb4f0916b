//! install
pub mod hooks;
pub mod shim;
