//! The arguments of `andon replay`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use crate::cli::args::STOPPED;
use crate::cli::format_arg::FormatArg;

/// `andon replay`
#[derive(Debug, Args)]
#[command(after_help = STOPPED)]
pub struct ReplayArgs {
    /// Commits to replay, such as v1.0..HEAD; default: all of HEAD. What unrecorded commits took from the tests is judged
    /// in ranges of up to 1,000 commits
    #[arg(value_name = "RANGE", default_value = "HEAD", conflicts_with = "events")]
    pub range: String,
    /// Threads; default: one per processor
    #[arg(short = 'j', long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Replay a file of events instead, one JSON object a line; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
    /// Walk through one session instead: state, action, next state and decision of each step
    #[arg(long, value_name = "ID", conflicts_with_all = ["events", "range"])]
    pub session: Option<String>,
    /// Run this test command on each commit first, in a checkout of its own, and judge as the hooks would have: such as
    /// `cargo check` or `python3 -m compileall -q .`. Nothing is kept
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["events", "session"])]
    pub test: Option<String>,
    /// Output format; json is one line a commit
    #[command(flatten)]
    pub format: FormatArg,
}
