//! action
pub mod hook_program;
pub mod install;
pub mod program;
