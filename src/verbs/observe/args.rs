//! Arguments of `andon observe`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::format_arg::{FormatArg, JsonArg};

const HELP: &str = "\
Reads one JSON object a line from standard input, such as
  {\"tool\":\"Edit\",\"args\":{\"file_path\":\"src/a.rs\"},\"result\":\"ok\",\"error\":false}
`type` may be left out: it is KIND. `at`, `node`, `session` and `id` are optional everywhere. A line with an unknown member
is refused by name (exit code 2), and the other lines are kept.";

/// `andon observe`
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct ObserveArgs {
    /// What kind of fact
    #[command(subcommand)]
    pub kind: ObserveKind,
}

/// `andon observe KIND`: the kinds of facts, as the event stream names them.
#[derive(Debug, Subcommand)]
#[command(rename_all = "snake_case")]
pub enum ObserveKind {
    /// A turn begins: `model`, `prompt_hash`
    TurnStart(ObserveLinesArgs),
    /// A tool was called: `tool`, `args`, `result`, `error`
    ToolCall(ObserveLinesArgs),
    /// A node said something: `kind` (`message.final`, `structured_output`), `text` or `sha256`
    Output(ObserveLinesArgs),
    /// A test run made elsewhere: report files, or lines of JSON
    #[command(
        after_help = "The run is kept and shown as handed in. One that failed counts as a failure; one that \
                      passed proves nothing unless andon.toml says so: [test] handed_in = \"count\"."
    )]
    TestRun(ObserveTestRunArgs),
    /// Tokens and cost: `context_tokens`, `input_tokens`, `cached_tokens`, `output_tokens`, `output_lines`, `cost_usd`
    Usage(ObserveLinesArgs),
    /// The context window was compacted; input is optional
    Compaction(ObserveLinesArgs),
    /// A session began with an empty context window; input is optional
    SessionStart(ObserveLinesArgs),
    /// Reviewers judged: `approve` and `reject`, or one `reviewer` at a time
    Verdict(ObserveLinesArgs),
    /// A turn ended; `andon tick` does this too, and looks at the working tree itself
    TurnEnd(ObserveLinesArgs),
    /// What `andon round` takes: each line names its `action` (`open`, `say`, `verdict`, `close`), and is answered by one
    Round(JsonArg),
    /// Any kind: each line names its `type`
    Event(ObserveLinesArgs),
}

/// `andon observe KIND` of lines.
#[derive(Debug, Args)]
pub struct ObserveLinesArgs {
    /// The node of lines that do not name one; default: `ANDON_NODE`
    #[arg(long, value_name = "NODE")]
    pub node: Option<String>,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

/// `andon observe test_run`
#[derive(Debug, Args)]
pub struct ObserveTestRunArgs {
    /// Report files of the run, in any form that `andon test` reads
    #[arg(long, num_args = 1.., value_name = "FILE", requires = "exit_code")]
    pub report: Vec<PathBuf>,
    /// Exit code of the test command
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub exit_code: Option<i32>,
    /// Read runs from standard input, one JSON object a line: `code`, `status`, `total`, `failing`, `errors` (the default)
    #[arg(long, conflicts_with_all = ["report", "exit_code", "code", "command"])]
    pub lines: bool,
    /// Code fingerprint that the tests ran on; default: that of the current working tree
    #[arg(long, value_name = "FINGERPRINT", requires = "exit_code")]
    pub code: Option<String>,
    /// The command that ran; a run of another command than test.command proves nothing
    #[arg(long, value_name = "COMMAND", requires = "exit_code")]
    pub command: Option<String>,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}
