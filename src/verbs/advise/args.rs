//! The arguments of `andon advise`.

use clap::Args;

use crate::cli::format_arg::FormatArg;

const HELP: &str = "\
A halt writes .andon/ADVISOR_PROMPT.md. The program that [advisor] of your own configuration names gets it; its answer is
in .andon/ADVISOR_ANSWER.md. The loop stays halted until that answer is recorded or a person answers.";

/// `andon advise`
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct AdviseArgs {
    /// The provider at work; default: the first of `fallback.providers`
    #[arg(long, value_name = "NAME")]
    pub current: Option<String>,

    /// Accept the advisor's new approach as the answer to the halt
    #[arg(long, conflicts_with = "current")]
    pub record: bool,

    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}
