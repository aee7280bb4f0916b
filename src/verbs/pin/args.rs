//! The arguments of `andon pin`.

use clap::Args;

use crate::cli::format_arg::FormatArg;

const HELP: &str = "\
--check exits with 1 when something differs or nothing is pinned. Only a person pins; the working tree counts.";

/// `andon pin`
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct PinArgs {
    /// Compare the working tree with what is pinned, and write nothing
    #[arg(long)]
    pub check: bool,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}
