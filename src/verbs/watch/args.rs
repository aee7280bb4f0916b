//! The arguments of `andon watch`.

use clap::Args;

use crate::cli::output::Format;

const HELP: &str = "\
Keys: up and down (or k and j) choose a line, Enter shows the evidence, d the difference to decide about, o the report file, r the round that is put to people (`andon review show`), R answers the halt after a reason is typed and confirmed, / filters, ? shows the keys, Esc goes back, q ends.";

/// `andon watch`
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct WatchArgs {
    /// Show all of it once, as a table, and end: needs no terminal
    #[arg(long)]
    pub once: bool,
    /// Print a line for each change, for a pipe or a screen reader
    #[arg(long, conflicts_with = "once")]
    pub plain: bool,
    /// Output format; json is one document, as with --once
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT", conflicts_with = "plain")]
    pub format: Format,
}
