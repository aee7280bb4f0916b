//! What is asked of the verbs that show something: `status`, `watch`, `report`, `log`, `show`, `demo`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

use crate::cli::format_arg::FormatArg;
use crate::cli::output::Format;

/// `andon status`
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// End with 1 while the loop is halted, stopped or paused: `until andon status --exit-code; do sleep 60; done`
    #[arg(long)]
    pub exit_code: bool,
    /// Show the rules instead: how often each halted, and how often people called that mistaken
    #[arg(long, conflicts_with = "exit_code")]
    pub rules: bool,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

pub(super) const WATCH_HELP: &str = "\
Keys: up and down (or k and j) choose a line, Enter shows the evidence, r the round that is put to people (`andon review
show`), Esc goes back, q ends.";

/// `andon watch`
#[derive(Debug, Args)]
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

/// `andon report`
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Commits to show, such as v1.0..HEAD; of more than 10,000 the newest
    #[arg(value_name = "RANGE", default_value = "HEAD")]
    pub range: String,
    /// The file to write; default: standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `andon export`
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("form").required(true)))]
pub struct ExportArgs {
    /// Commits to export, such as v1.0..HEAD; of more than 10,000 the newest
    #[arg(value_name = "RANGE", default_value = "HEAD")]
    pub range: String,
    /// A table with a line a commit
    #[arg(long, group = "form")]
    pub csv: bool,
    /// The trace format of Chrome, for Perfetto
    #[arg(long, group = "form")]
    pub chrome_trace: bool,
    /// Spans and logs of OpenTelemetry: a line of OTLP as JSON each
    #[arg(long, group = "form")]
    pub otlp_json: bool,
    /// The file to write; default: standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `andon log`
#[derive(Debug, Args)]
pub struct LogArgs {
    /// How many commits or events to show at most
    #[arg(short = 'n', long, visible_alias = "limit", default_value_t = 20, value_name = "N")]
    pub max_count: usize,
    /// List the safety events instead: refused, skipped, halted, answered, bypassed
    #[arg(long)]
    pub events: bool,
    /// Where to start
    #[arg(default_value = "HEAD", value_name = "REV")]
    pub revision: String,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

/// `andon show`
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The commit
    #[arg(default_value = "HEAD", value_name = "REV")]
    pub revision: String,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

/// `andon demo`
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Keep the scratch repository in DIR, which must be new or empty
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
}
