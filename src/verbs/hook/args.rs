//! The arguments of `andon hook`.

use std::ffi::OsString;

use clap::Args;

/// `andon hook`
#[derive(Debug, Args)]
pub struct HookArgs {
    /// The hook's name
    pub name: String,
    /// What git passed
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub args: Vec<OsString>,
}
