//! `andon observe KIND`: facts that Andon did not see itself.

use crate::cli::Shell;
use crate::cli::args::{ObserveKind, ObserveLinesArgs};
use crate::cli::commands::tick;
use crate::cli::error::Exit;
use crate::cli::output::Format;
use crate::ops::error::OpsError;
use crate::ops::observe::stream::{self, Request};
use crate::ops::workspace::Workspace;
use crate::report::json;
use crate::report::message;

/// Takes facts in.
pub fn run(shell: &Shell, kind: &ObserveKind) -> Result<Exit, OpsError> {
    match kind {
        ObserveKind::TurnStart(args) => lines(shell, Some("turn_start"), args),
        ObserveKind::ToolCall(args) => lines(shell, Some("tool_call"), args),
        ObserveKind::Output(args) => lines(shell, Some("output"), args),
        ObserveKind::TestRun(args) => lines(shell, Some("test_run"), args),
        ObserveKind::Usage(args) => lines(shell, Some("usage"), args),
        ObserveKind::Verdict(args) => lines(shell, Some("verdict"), args),
        ObserveKind::TurnEnd(args) => lines(shell, Some("turn_end"), args),
        ObserveKind::Event(args) => lines(shell, None, args),
    }
}

/// Keeps the facts of standard input. Exit code 1 when the loop must stop, 2 when a line is no fact.
fn lines(shell: &Shell, kind: Option<&str>, args: &ObserveLinesArgs) -> Result<Exit, OpsError> {
    let ws = Workspace::open(&shell.ctx)?;
    let node = args.node.clone().or_else(|| shell.ctx.actor().node);
    let request = Request { kind, node };
    let observed = stream::run(&shell.ctx, &ws, &request, &mut std::io::stdin().lock())?;
    shell.out.message(&message::diagnostics(&observed.remarks, shell.out.err));
    match args.format.format {
        Format::Text => shell.out.message(&message::decision(&observed.decision, shell.out.err)),
        Format::Json => {
            let mut value = json::decision(&observed.decision);
            value["kept"] = observed.kept.into();
            value["refused"] = observed.refused.into();
            shell.out.result(&json::line(&value));
        }
    }
    let exit = tick::exit(&observed.decision);
    Ok(if exit == Exit::Allowed && observed.refused > 0 { Exit::Usage } else { exit })
}
