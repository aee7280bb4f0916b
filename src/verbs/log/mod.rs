//! `andon log`.

pub mod args;
pub mod record_text;
pub mod run;
pub mod safety;
pub mod safety_text;
pub mod text;

use self::args::LogArgs;
use crate::cli::Shell;
use crate::cli::error::Exit;
use crate::cli::output::Format;
use crate::verbs::log::run as log;
use crate::{report::json, verbs::log::text as report};
use andon_core::detect::HOOK_BYPASS;
use andon_engine::error::OpsError;
use andon_engine::text::message;
use andon_engine::workspace::Workspace;

/// Shows the newest records.
pub fn run(shell: &Shell, args: &LogArgs) -> Result<Exit, OpsError> {
    shell.take_in_fetched();
    let ws = Workspace::open_lenient(&shell.ctx)?;
    if args.events {
        return events(shell, &ws, args);
    }
    let (entries, warnings) = log::log(&ws, &args.revision, args.max_count)?;
    shell.out.result(&match args.format.format {
        Format::Text => report::text(&entries, HOOK_BYPASS.id, shell.out.out),
        Format::Json => json::documents("log", &report::json(&entries)),
    });
    shell.out.message(&message::diagnostics(&warnings, shell.out.err));
    Ok(Exit::Allowed)
}

/// Shows the newest safety events.
fn events(shell: &Shell, ws: &Workspace, args: &LogArgs) -> Result<Exit, OpsError> {
    let (events, warnings) = safety::events(ws, &args.revision, args.max_count)?;
    shell.out.result(&match args.format.format {
        Format::Text => safety_text::text(&events, shell.out.out),
        Format::Json => json::document("events", &safety_text::json(&events)),
    });
    shell.out.message(&message::diagnostics(&warnings, shell.out.err));
    Ok(Exit::Allowed)
}
