//! The command line as a whole.

use std::ffi::OsString;

use clap::{Parser, ValueEnum as _};

use crate::cli::output::ColorChoice;
use crate::verbs::Command;

/// A circuit breaker for coding loops: records every commit in git notes, refuses code whose tests never ran on
/// exactly that code, and halts a loop that no longer makes progress until a person answers.
#[derive(Debug, Parser)]
#[command(name = "andon", version, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Cli {
    /// When to use colour: auto, always or never
    #[arg(
        long,
        global = true,
        value_enum,
        default_value = "auto",
        value_name = "WHEN",
        hide_possible_values = true,
        hide_default_value = true
    )]
    pub color: ColorChoice,

    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// What `--color` says, for messages about arguments that could not be parsed.
pub fn color(args: &[OsString]) -> ColorChoice {
    let mut args = args.iter().filter_map(|arg| arg.to_str()).take_while(|arg| *arg != "--");
    let mut choice = ColorChoice::Auto;
    while let Some(arg) = args.next() {
        let value = if arg == "--color" { args.next() } else { arg.strip_prefix("--color=") };
        choice = value.and_then(|value| ColorChoice::from_str(value, false).ok()).unwrap_or(choice);
    }
    choice
}

const EXIT_CODES: &str = "\
Exit codes:
  0   allowed
  1   blocked or halted, or `check` found a violation
  2   wrong usage or configuration
  3   cannot decide: evidence is missing where it is required
  4   the context window must be compacted first (`tick`, `observe`)
  5   the loop may go on, and a round waits for a person (`status --exit-code`)
  70  internal error

ANDON=0 switches everything off for one command: `ANDON=0 git commit`.";
