//! The arguments of `andon resume`, `andon stop` and `andon pause`.

use clap::Args;

use crate::cli::format_arg::FormatArg;

/// `andon resume`
#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// What was decided; kept in the ledger
    #[arg(short, long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// The halt was wrong, the loop was not stuck: kept, counted by rule (andon status --rules), known to calibrate
    #[arg(long, conflicts_with = "counter")]
    pub mistaken: bool,
    /// Answer without a terminal, as a script or CI does, and say why no person reads the halt; recorded, and shown by check as unattended
    #[arg(long, value_name = "WHY", num_args = 0..=1, default_missing_value = "")]
    pub yes: Option<String>,
    /// Reset one counter only, such as consecutive-failures; the window goes on
    #[arg(long, value_name = "RULE")]
    pub counter: Option<String>,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

/// `andon stop`, `andon pause`
#[derive(Debug, Args)]
pub struct ReasonArg {
    /// Why; kept in the ledger
    #[arg(short, long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}
