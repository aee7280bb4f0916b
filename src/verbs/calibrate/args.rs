//! The arguments of `andon calibrate`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use crate::cli::args::share;
use crate::cli::format_arg::FormatArg;

const HELP: &str = "\
Exit codes:
  0  a setting keeps the promise
  1  nothing can be promised: too few good runs, or too many of them are halted
  2  a usage or configuration error
  3  not all of it was read: Ctrl-C, or a shallow clone; nothing is promised of a part

The promise covers the rules that see a loop make no progress. Budgets (iteration-cap, turn-timeout, node-*,
cycle-*) are no part of it. Rules whose facts the runs do not have (a range of commits has no tool calls and no
turns) are not judged and stay as they are.";

/// `andon calibrate`
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct CalibrateArgs {
    /// Commits that went well, such as v1.0..HEAD; each run among them counts as one
    #[arg(value_name = "RANGE", conflicts_with_all = ["events", "good"])]
    pub range: Option<String>,
    /// Event streams of runs that went well, one a file; the same content twice counts once
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "good")]
    pub events: Vec<PathBuf>,
    /// A folder of such files, and of folders with them
    #[arg(long, value_name = "DIR")]
    pub good: Option<PathBuf>,
    /// The chance with which the next good run may be halted, at most
    #[arg(long, default_value_t = 0.01, value_name = "SHARE", value_parser = share)]
    pub alpha: f64,
    /// Write the curve to a file, as SVG
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Threads; default: one per processor
    #[arg(short = 'j', long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}
