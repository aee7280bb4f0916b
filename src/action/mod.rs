//! action

pub mod program;
