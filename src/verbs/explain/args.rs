//! The arguments of `andon explain`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::format_arg::FormatArg;

/// `andon explain`
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Test reports: files that runners wrote, or their saved output
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Exit code of the run
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_name = "N")]
    pub exit_code: i32,
    /// The project's directory when the report was made, once or for each file; default: the current one
    #[arg(long, value_name = "DIR")]
    pub root: Vec<PathBuf>,
    /// Output format; json is one line a file
    #[command(flatten)]
    pub format: FormatArg,
}
