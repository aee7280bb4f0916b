//! `andon observe KIND`: facts that Andon did not see itself.

pub mod args;
pub mod run;
pub mod text;

use std::io::{BufRead, IsTerminal as _};

use self::args::{ObserveArgs, ObserveKind, ObserveLinesArgs, ObserveTestRunArgs};
use crate::cli::Shell;
use crate::cli::error::Exit;
use crate::cli::output::Format;
use crate::json::{DecisionJson, HandedInJson, ObservedJson, TestRunJson};
use crate::verbs::observe::run::stream::{self, Request};
use crate::verbs::observe::run::test_run::{self, SubmittedRun};
use crate::verbs::{round, tick};
use crate::{report::json, verbs::observe::text as report};
use andon_engine::error::OpsError;
use andon_engine::text::message;
use andon_engine::workspace::Workspace;

/// Takes facts in.
pub fn run(shell: &Shell, args: &ObserveArgs) -> Result<Exit, OpsError> {
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
fn cleared(shell: &Shell, kind: &str, args: &ObserveLinesArgs) -> Result<Exit, OpsError> {
    let stdin = std::io::stdin();
    let mut input = stdin.lock();
    if stdin.is_terminal() || input.fill_buf().map_err(OpsError::Input)?.is_empty() {
        return read(shell, Some(kind), args, &mut b"{}".as_slice());
    }
    read(shell, Some(kind), args, &mut input)
}

/// Keeps the facts of standard input. Exit code 1 when the loop must stop, 4 when it must compact first, 2 when a
/// line is no fact.
fn lines(shell: &Shell, kind: Option<&str>, args: &ObserveLinesArgs) -> Result<Exit, OpsError> {
    read(shell, kind, args, &mut std::io::stdin().lock())
}

fn read(
    shell: &Shell,
    kind: Option<&str>,
    args: &ObserveLinesArgs,
    input: &mut dyn BufRead,
) -> Result<Exit, OpsError> {
    let ws = Workspace::open(&shell.ctx)?;
    let node = args.node.clone().or_else(|| shell.ctx.actor().node);
    let request = Request { kind, node };
    let observed = stream::run(&shell.ctx, &ws, &request, input)?;
    shell.out.message(&message::diagnostics(&observed.remarks, shell.out.err));
    match args.format.format {
        Format::Text => shell.out.message(&message::decision(
            &observed.decision,
            message::Consequence::Done,
            shell.out.err,
        )),
        Format::Json => {
            shell.out.result(&json::document(
                "observe",
                &ObservedJson {
                    decision: DecisionJson::from(&observed.decision),
                    kept: observed.kept,
                    refused: observed.refused,
                    remarks: json::diagnostics(&observed.remarks),
                },
            ));
        }
    }
    if let Some(error) = &observed.broken {
        shell.fail(error);
    }
    let exit = tick::exit(&observed.decision);
    let failed = observed.refused > 0 || observed.broken.is_some();
    Ok(if exit == Exit::Allowed && failed { Exit::Usage } else { exit })
}

/// Says on standard output what was taken in, for a run that is handed in must not come in unseen.
fn test_run(shell: &Shell, args: &ObserveTestRunArgs) -> Result<Exit, OpsError> {
    let Some(exit_code) = args.exit_code else {
        let lines_args = ObserveLinesArgs { node: None, format: args.format };
        let mut input = std::io::stdin().lock();
        if input.fill_buf().map_err(OpsError::Input)?.is_empty() {
            return Err(OpsError::Usage {
                what: "no test run came in on standard input".to_owned(),
                help: "hand in report files: andon observe test_run --report FILE --exit-code N; or one JSON object \
                       a line on standard input"
                    .to_owned(),
            });
        }
        return read(shell, Some("test_run"), &lines_args, &mut input);
    };
    let ws = Workspace::open(&shell.ctx)?;
    let handed = SubmittedRun {
        reports: args.report.clone(),
        exit_code,
        code: args.code.clone(),
        command: args.command.clone(),
    };
    let taken = test_run::take(&shell.ctx, &ws, &handed)?;
    shell.out.message(&message::diagnostics(&taken.warnings, shell.out.err));
    match args.format.format {
        Format::Text => {
            shell.out.result(&report::text(&taken.run, shell.out.out));
            shell.out.message(&message::decision(&taken.decision, message::Consequence::Done, shell.out.err));
        }
        Format::Json => {
            let decision = DecisionJson::from(&taken.decision);
            shell.out.result(&json::document(
                "test_run",
                &HandedInJson { decision, run: TestRunJson::from(&taken.run) },
            ));
        }
    }
    Ok(tick::exit(&taken.decision))
}
