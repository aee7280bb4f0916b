//! The arguments of `andon test`.

use std::ffi::OsString;

use clap::Args;

use crate::cli::format_arg::FormatArg;

/// `andon test`
#[derive(Debug, Args)]
#[command(after_help = "`andon t` is the same, and shorter.\n\
                  Without COMMAND, the configured test.command runs. Only that command proves anything.\n\
                  Where the code has scopes, those run that have not passed on their code as it is; NAME runs\n\
                  these again, and NAME ARG... a part of the tests of one.\n\
                  Options of Andon come before the first ARG: andon test --format json -k NAME")]
pub struct TestArgs {
    /// Test what is staged, in a checkout of its own: working tree, index and a merge under way stay as they are
    #[arg(long, conflicts_with = "tree")]
    pub staged: bool,
    /// Test this tree, or that of this commit, in the same way
    #[arg(long, value_name = "TREE")]
    pub tree: Option<String>,
    /// Test everything at once with test.command, also where each scope passed
    #[arg(long, conflicts_with_all = ["command", "scopes"])]
    pub all: bool,
    /// Test up to this many scopes at once, where none needs the other; what each prints is shown when it ends
    #[arg(long, value_name = "N", default_value = "1", hide_default_value = true, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: u16,
    /// Say what would run and what not, and why
    #[arg(long)]
    pub dry_run: bool,
    /// Show the scopes ([test.scopes]) and what is known of their tests
    #[arg(long, conflicts_with_all = ["command", "dry_run", "arguments"])]
    pub scopes: bool,
    /// Names of scopes to test, or arguments for test.command, such as -k NAME or a path: a part of the tests, which proves nothing
    #[arg(allow_hyphen_values = true, value_name = "ARG", conflicts_with = "command")]
    pub arguments: Vec<OsString>,
    /// A command to run instead of test.command; recorded, but it proves nothing unless it is the same
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
    /// Output format, before any argument; with json the tests' own output goes to standard error
    #[command(flatten)]
    pub format: FormatArg,
}
