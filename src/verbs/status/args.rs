//! The arguments of `andon status`.

use clap::Args;

use crate::cli::format_arg::FormatArg;

/// `andon status`
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// End with 1 while the loop is halted, stopped or paused, with 5 while only a round waits for a person: `until andon status --exit-code; do sleep 60; done`
    #[arg(long)]
    pub exit_code: bool,
    /// Show the rules instead: how often each halted, and how often people called that mistaken
    #[arg(long, conflicts_with = "exit_code")]
    pub rules: bool,
    /// Show the hashes behind the loop as well: diffs, code states, failures, outputs
    #[arg(long, conflicts_with = "rules")]
    pub evidence: bool,
    /// Show the state that counts on one line, for the status line of a client; nothing outside of a repository
    #[arg(long, conflicts_with_all = ["exit_code", "rules", "evidence"])]
    pub line: bool,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}
