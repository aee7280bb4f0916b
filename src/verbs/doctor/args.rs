//! The arguments of `andon doctor`.

use clap::Args;

use crate::cli::format_arg::FormatArg;

/// `andon doctor`
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Send a canary through the hook of each agent's client that has Andon's: a tool call that is always refused
    #[arg(long)]
    pub live: bool,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}
