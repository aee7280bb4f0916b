//! The `andon` program: arguments, verbs, installing, and what is shown of it all. What it is made of lies in `crates/`
//! (ARCHITECTURE.md).

pub mod cli;
pub mod install;
pub(crate) mod plain_run;
pub mod program;
pub mod setup;
pub mod situation;
pub mod verbs;
