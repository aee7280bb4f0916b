//! The arguments of `andon backfill`.

use std::num::NonZeroUsize;

use clap::Args;

use crate::cli::args::STOPPED;
use crate::cli::format_arg::FormatArg;

/// `andon backfill`
#[derive(Debug, Args)]
#[command(after_help = STOPPED)]
pub struct BackfillArgs {
    /// Commits to record, such as v1.0..HEAD, or HEAD for all of them
    #[arg(value_name = "RANGE")]
    pub range: String,
    /// Threads; default: one per processor
    #[arg(short = 'j', long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}
