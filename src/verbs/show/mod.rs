//! `andon show REV`.

pub mod args;

use self::args::ShowArgs;
use crate::cli::Shell;
use crate::cli::error::Exit;
use crate::cli::output::Format;
use crate::verbs::log::run as log;
use crate::{report::json, verbs::log::record_text as report};
use andon_core::detect::HOOK_BYPASS;
use andon_engine::error::OpsError;
use andon_engine::workspace::Workspace;

/// Shows one record in full.
pub fn run(shell: &Shell, args: &ShowArgs) -> Result<Exit, OpsError> {
    shell.take_in_fetched();
    let ws = Workspace::open_lenient(&shell.ctx)?;
    let view = log::show(&ws, &args.revision)?;
    shell.out.result(&match args.format.format {
        Format::Text => report::text(&view, HOOK_BYPASS.id, shell.out.out),
        Format::Json => json::line(&report::json(&view)),
    });
    Ok(Exit::Allowed)
}
