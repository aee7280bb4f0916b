//! The arguments of `andon show`.

use clap::Args;

use crate::cli::format_arg::FormatArg;

/// `andon show`
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The commit
    #[arg(default_value = "HEAD", value_name = "REV")]
    pub revision: String,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}
