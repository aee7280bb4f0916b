//! What is asked of `andon review`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::format_arg::FormatArg;
use crate::domain::time::Timestamp;

/// `andon review`
#[derive(Debug, Args)]
pub struct ReviewArgs {
    /// What to do
    #[command(subcommand)]
    pub command: ReviewCommand,
}

/// `andon review ...`
#[derive(Debug, Subcommand)]
pub enum ReviewCommand {
    /// Fold ledger entries of a file: who may act, what was decided, reputations, accounts. Reads no repository
    #[command(after_help = SIMULATE)]
    Simulate(SimulateArgs),
}

const SIMULATE: &str = "\
FILE holds one entry a line as JSON, parents before children, the policy first; `-` is standard input.
A line with `probe` asks one rule a question. Invalid entries are listed with the reason and change nothing.
Exit codes: 0 also with invalid entries; 2 for a line that is no entry, with its number.";

/// `andon review simulate`
#[derive(Debug, Args)]
pub struct SimulateArgs {
    /// Entries, one JSON object a line
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The reader's clock: seconds since 1970, or RFC 3339
    #[arg(long, value_name = "T", value_parser = time, allow_negative_numbers = true)]
    pub now: Timestamp,
    /// Whose private notices to show, such as human:ann
    #[arg(long = "as", value_name = "WITNESS")]
    pub reader: Option<String>,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

/// Beyond this no reader of JSON has whole numbers.
const FARTHEST: i64 = 1 << 53;

fn time(text: &str) -> Result<Timestamp, String> {
    let time = match text.parse::<i64>() {
        Ok(seconds) => Timestamp(seconds),
        Err(_) => text.parse::<Timestamp>().map_err(|err| err.to_string())?,
    };
    if time.0.abs() < FARTHEST { Ok(time) } else { Err("must be a time in seconds since 1970".to_owned()) }
}
