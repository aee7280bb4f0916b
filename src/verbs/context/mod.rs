//! `andon context`.

pub mod args;
pub mod text;

use self::args::ContextArgs;
use crate::cli::Shell;
use crate::cli::error::{self, Exit};
use crate::cli::output::Format;
use crate::report::json;
use crate::verbs::context::text as report;
use andon_config::OnInternalError;
use andon_core::domain::briefing::PROMPT;
use andon_core::domain::context::Pressure;
use andon_core::domain::findings::Level;
use andon_engine::error::OpsError;
use andon_engine::gate::compaction;
use andon_engine::text::message;
use andon_engine::view::context::ContextWindowView;
use andon_engine::workspace::Workspace;

/// Shows the window, asks the gate, or writes the briefing.
pub fn run(shell: &Shell, args: &ContextArgs) -> Result<Exit, OpsError> {
    let node = args.node.clone().or_else(|| shell.ctx.actor().node);
    if args.gate {
        return Ok(gate(shell, args.format.format, node.as_deref()));
    }
    let ws = Workspace::open(&shell.ctx)?;
    if args.brief {
        compaction::brief(&shell.ctx, &ws, node.as_deref())?;
    }
    let view = compaction::shown(&ws, node.as_deref())?;
    match args.format.format {
        Format::Json => shell.out.result(&json::line(&report::json(&view))),
        Format::Text if args.brief => shell.out.result(&format!("{PROMPT}\n")),
        Format::Text => shell.out.result(&report::text(&view, shell.out.out)),
    }
    // To write a briefing is always allowed; else the question is whether the next turn may begin.
    Ok(if refuses(&view) && !args.brief { Exit::Refused } else { Exit::Allowed })
}

fn refuses(view: &ContextWindowView) -> bool {
    view.finding.as_ref().is_some_and(|finding| finding.level >= Level::Block)
}

/// Whether the next tool may be called. Like a hook of git it warns and lets pass where Andon itself cannot judge, and
/// a configuration that cannot be read leaves the defaults: an agent must be able to repair it.
fn gate(shell: &Shell, format: Format, node: Option<&str>) -> Exit {
    let opened = Workspace::open_lenient(&shell.ctx);
    let block = opened.as_ref().is_ok_and(|ws| ws.config.guard.on_internal_error == OnInternalError::Block);
    let judged = opened.and_then(|ws| Ok((compaction::run(&ws, node)?, ws.config_errors)));
    let (view, mistakes) = match judged {
        Ok(judged) => judged,
        Err(err) => {
            shell.fail(&err);
            return if block { Exit::Refused } else { Exit::Allowed };
        }
    };
    let shown = mistakes.as_ref().map_or(Vec::new(), error::config_diagnostics);
    shell.out.message(&message::diagnostics(&shown, shell.out.err));
    let hard = view.fill.as_ref().is_some_and(|found| found.pressure == Pressure::HardBlock);
    let exit = if refuses(&view) && hard { Exit::Refused } else { Exit::Allowed };
    match format {
        Format::Json => shell.out.result(&json::line(&report::json(&view))),
        Format::Text if exit == Exit::Refused => {
            shell.out.message(&report::refusal(&view, shell.out.err));
        }
        Format::Text => {}
    }
    exit
}
