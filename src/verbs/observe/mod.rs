//! `andon observe KIND`: facts that Andon did not see itself.

mod stream;

use std::io::{BufRead, IsTerminal as _};
use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::{Exit, Format, FormatArg, JsonArg, Shell};
use crate::verbs::{round, tick};
use andon_core::domain::{Hint, RunValidity, TestRun};
use andon_engine::text::{Style, phrase};
use andon_engine::{OpsError, Result, Workspace, json};

/// Takes facts in.
pub fn run(shell: &Shell, args: &ObserveArgs) -> Result<Exit> {
    match &args.kind {
        ObserveKind::TurnStart(args) => lines(shell, Some("turn_start"), args),
        ObserveKind::ToolCall(args) => lines(shell, Some("tool_call"), args),
        ObserveKind::Output(args) => lines(shell, Some("output"), args),
        ObserveKind::TestRun(args) => test_run(shell, args),
        ObserveKind::Usage(args) => lines(shell, Some("usage"), args),
        ObserveKind::Compaction(args) => cleared(shell, "compaction", args),
        ObserveKind::SessionStart(args) => cleared(shell, "session_start", args),
        ObserveKind::Verdict(args) => lines(shell, Some("verdict"), args),
        ObserveKind::TurnEnd(args) => lines(shell, Some("turn_end"), args),
        ObserveKind::Round(_) => round::observe(shell),
        ObserveKind::Event(args) => lines(shell, None, args),
    }
}

/// Keeps the facts of standard input; such an event says all that it has to by its kind, so that no input is one.
fn cleared(shell: &Shell, kind: &str, args: &ObserveLinesArgs) -> Result<Exit> {
    let stdin = std::io::stdin();
    let mut input = stdin.lock();
    if stdin.is_terminal() || input.fill_buf().map_err(OpsError::Input)?.is_empty() {
        return read(shell, Some(kind), args, &mut b"{}".as_slice());
    }
    read(shell, Some(kind), args, &mut input)
}

/// Keeps the facts of standard input. Exit code 1 when the loop must stop, 4 when it must compact first, 2 when a
/// line is no fact.
fn lines(shell: &Shell, kind: Option<&str>, args: &ObserveLinesArgs) -> Result<Exit> {
    read(shell, kind, args, &mut std::io::stdin().lock())
}

fn read(shell: &Shell, kind: Option<&str>, args: &ObserveLinesArgs, input: &mut dyn BufRead) -> Result<Exit> {
    let ws = Workspace::open(&shell.ctx)?;
    let node = args.node.clone().or_else(|| shell.ctx.actor().node);
    let observed = stream::run(&shell.ctx, &ws, kind, node.as_ref(), input)?;
    shell.tell(&observed.remarks);
    match args.format.format {
        Format::Text => shell.tell_decision(&observed.decision),
        Format::Json => shell.out.result(&json::document("observe", &observed)),
    }
    if let Some(error) = &observed.broken {
        shell.fail(error);
    }
    let exit = tick::exit(&observed.decision);
    let failed = observed.refused > 0 || observed.broken.is_some();
    Ok(if exit == Exit::Allowed && failed { Exit::Usage } else { exit })
}

/// Says on standard output what was taken in, for a run that is handed in must not come in unseen.
fn test_run(shell: &Shell, args: &ObserveTestRunArgs) -> Result<Exit> {
    let Some(exit_code) = args.exit_code else {
        let lines_args = ObserveLinesArgs { node: None, format: args.format };
        let mut input = std::io::stdin().lock();
        if input.fill_buf().map_err(OpsError::Input)?.is_empty() {
            let help = Hint::NameReport
                .led("give one JSON object a line on standard input, or hand in report files");
            return Err(OpsError::usage("no test run came in on standard input", help));
        }
        return read(shell, Some("test_run"), &lines_args, &mut input);
    };
    let ws = Workspace::open(&shell.ctx)?;
    let taken = stream::take(&shell.ctx, &ws, args, exit_code)?;
    shell.tell(&taken.warnings);
    match args.format.format {
        Format::Text => {
            shell.out.result(&run_text(&taken.run, shell.out.out));
            shell.tell_decision(&taken.decision);
        }
        Format::Json => shell.out.result(&json::document("test_run", &taken)),
    }
    Ok(tick::exit(&taken.decision))
}

/// `andon observe`
#[derive(Debug, Args)]
pub struct ObserveArgs {
    /// Kind of fact
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
    /// Input of `andon round`: each line names its `action` (`open`, `say`, `verdict`, `close`), and is answered by one
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

/// One line: the result and what it is worth.
fn run_text(run: &TestRun, style: Style) -> String {
    let worth = match run.validity {
        _ if run.is_reported_failing() => {
            "it counts as a failure, and proves nothing else (test.handed_in = \"record\")"
        }
        RunValidity::Valid => "it counts as a run of test.command (test.handed_in)",
        RunValidity::HandedIn => "it proves nothing (test.handed_in = \"record\")",
        RunValidity::OtherCommand => "it is not of test.command and proves nothing",
        RunValidity::CodeChanged
        | RunValidity::Interrupted
        | RunValidity::Filtered
        | RunValidity::NotStarted
        | RunValidity::Seen => "it proves nothing",
    };
    let result = phrase::tests(&run.evidence);
    let code = style.dim(&run.evidence.code.short());
    format!("kept a handed-in test run on code {code}: {result}; {worth}\n")
}
