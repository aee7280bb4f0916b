//! The arguments of `andon context`.

use clap::Args;

use crate::cli::format_arg::FormatArg;

const HELP: &str = "\
Counts come from `andon observe usage`: context_tokens, else input_tokens and cached_tokens (usage.cached), else an
estimate from lines of output. `andon observe compaction` and `andon observe session_start` clear the window.";

/// `andon context`
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct ContextArgs {
    /// Whose window; default: `ANDON_NODE`, else the node that acted last
    #[arg(long, value_name = "NODE")]
    pub node: Option<String>,
    /// For an agent's hook before a tool call: silent; exit code 1 at the hard block only
    #[arg(long)]
    pub gate: bool,
    /// Write `.andon/MISSION_BRIEFING.md` now, and print what to tell the next session
    #[arg(long, conflicts_with = "gate")]
    pub brief: bool,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}
