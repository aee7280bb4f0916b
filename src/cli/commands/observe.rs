//! `andon observe`.

use crate::cli::Shell;
use crate::cli::args::ObserveArgs;
use crate::cli::commands::tick;
use crate::cli::error::Exit;
use crate::cli::output::Format;
use crate::ops::error::OpsError;
use crate::ops::observe::stream::{self, Request};
use crate::ops::workspace::Workspace;
use crate::report::json;
use crate::report::message;

/// Keeps what was observed. Exit code 1 when the loop must stop, 2 when a line is no fact.
pub fn run(shell: &Shell, args: &ObserveArgs) -> Result<Exit, OpsError> {
    let ws = Workspace::open(&shell.ctx)?;
    let kind = Some(args.kind.as_str()).filter(|kind| *kind != "event");
    let node = args.node.clone().or_else(|| shell.ctx.actor().node);
    let observed =
        stream::run(&shell.ctx, &ws, &Request { kind, node }, &mut std::io::stdin().lock())?;
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
