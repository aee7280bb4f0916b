//! The arguments of `andon export`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

/// `andon export`
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("form").required(true)))]
pub struct ExportArgs {
    /// Commits to export, such as v1.0..HEAD; of more than 10,000 the newest
    #[arg(value_name = "RANGE", default_value = "HEAD")]
    pub range: String,
    /// A table with a line a commit
    #[arg(long, group = "form")]
    pub csv: bool,
    /// The trace format of Chrome, for Perfetto
    #[arg(long, group = "form")]
    pub chrome_trace: bool,
    /// Spans and logs of OpenTelemetry: a line of OTLP as JSON each
    #[arg(long, group = "form")]
    pub otlp_json: bool,
    /// The file to write; default: standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
