//! `andon context`.

use crate::cli::Shell;
use crate::cli::args::ContextArgs;
use crate::cli::error::Exit;
use crate::cli::output::Format;
use crate::domain::briefing::PROMPT;
use crate::domain::context::Pressure;
use crate::domain::findings::Level;
use crate::ops::compaction;
use crate::ops::error::OpsError;
use crate::ops::workspace::Workspace;
use crate::report::context::{self as report, ContextView};
use crate::report::json;

/// Shows the window, asks the gate, or writes the briefing.
pub fn run(shell: &Shell, args: &ContextArgs) -> Result<Exit, OpsError> {
    let ws = Workspace::open(&shell.ctx)?;
    let node = args.node.clone().or_else(|| shell.ctx.actor().node);
    if args.brief {
        compaction::brief(&shell.ctx, &ws, node.as_deref())?;
    }
    let view = compaction::run(&ws, node.as_deref())?;
    let exit = exit(&view, args);
    match args.format.format {
        Format::Json => shell.out.result(&json::line(&report::json(&view))),
        Format::Text if args.brief => shell.out.result(&format!("{PROMPT}\n")),
        Format::Text if args.gate && exit == Exit::Refused => {
            shell.out.message(&report::refusal(&view, shell.out.err));
        }
        Format::Text if args.gate => {}
        Format::Text => shell.out.result(&report::text(&view, shell.out.out)),
    }
    Ok(exit)
}

/// Whether the next turn may begin; at the gate, whether the next tool may be called. To write a briefing is always
/// allowed.
fn exit(view: &ContextView, args: &ContextArgs) -> Exit {
    let refuses = view.finding.as_ref().is_some_and(|finding| finding.level >= Level::Block);
    let hard = view.fill.as_ref().is_some_and(|found| found.pressure == Pressure::HardBlock);
    if refuses && !args.brief && (hard || !args.gate) { Exit::Refused } else { Exit::Allowed }
}
