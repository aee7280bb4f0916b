//! What is asked of the verbs that show something: `status`, `log`, `show`.

use clap::Args;

use crate::cli::format_arg::FormatArg;

/// `andon status`
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// End with 1 while the loop is halted, stopped or paused: `until andon status --exit-code; do sleep 60; done`
    #[arg(long)]
    pub exit_code: bool,
    /// Show the rules instead: how often each halted, and how often people called that mistaken
    #[arg(long, conflicts_with = "exit_code")]
    pub rules: bool,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

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
