//! The arguments of `andon log`.

use clap::Args;

use crate::cli::format_arg::FormatArg;

/// `andon log`
#[derive(Debug, Args)]
pub struct LogArgs {
    /// How many commits or events to show at most
    #[arg(short = 'n', long, visible_alias = "limit", default_value_t = 20, value_name = "N")]
    pub max_count: usize,
    /// List the safety events instead: refused, skipped, halted, answered, bypassed
    #[arg(long)]
    pub events: bool,
    /// Where to start
    #[arg(default_value = "HEAD", value_name = "REV")]
    pub revision: String,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}
