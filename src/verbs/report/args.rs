//! The arguments of `andon report`.

use std::path::PathBuf;

use clap::Args;

/// `andon report`
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Commits to show, such as v1.0..HEAD; of more than 10,000 the newest
    #[arg(value_name = "RANGE", default_value = "HEAD")]
    pub range: String,
    /// The file to write; default: standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
