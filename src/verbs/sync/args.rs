//! The arguments of `andon sync`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::format_arg::FormatArg;

const HELP: &str = "\
Exit codes: 0 both sides agree; 1 the remote refuses a ref, or a ledger was rewritten; 3 it was not reached.";

/// `andon sync`
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct SyncArgs {
    /// A git remote, or an address such as that of a fork; default: the branch's remote, else origin
    #[arg(value_name = "REMOTE")]
    pub remote: Option<String>,
    /// Exchange with a bundle file instead: read what it holds, and rewrite it if it lacks something
    #[arg(long, value_name = "FILE", conflicts_with = "remote")]
    pub bundle: Option<PathBuf>,
    /// Fetch only: nothing is pushed, no file is written
    #[arg(long)]
    pub fetch_only: bool,
    /// Take the records of clones that have sent nothing for DAYS (30) over, and remove their refs at the remote
    #[arg(long, value_name = "DAYS", num_args = 0..=1, require_equals = true, default_missing_value = "30")]
    #[arg(conflicts_with_all = ["bundle", "fetch_only"])]
    pub fold: Option<u32>,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}
