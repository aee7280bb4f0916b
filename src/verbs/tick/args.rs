//! The arguments of `andon tick`.

use clap::Args;

use crate::cli::format_arg::FormatArg;

/// `andon tick`
#[derive(Debug, Args)]
pub struct TickArgs {
    /// Whose turn ends; default: `ANDON_NODE`. With `guard.applies_to = "agents"` a turn without a node, a session or an
    /// agent's mark is a person's, and counts in no rule
    #[arg(long, value_name = "NODE")]
    pub node: Option<String>,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}
