//! `andon pin`.

pub mod args;
pub mod run;
pub mod text;
pub mod view;

use self::args::PinArgs;
use crate::cli::Shell;
use crate::cli::error::Exit;
use crate::cli::output::Format;
use crate::verbs::pin::{run as pin, run::PinRequest};
use crate::{report::json, verbs::pin::text as report};
use andon_engine::error::OpsError;
use andon_engine::workspace::Workspace;

/// Pins, or compares. Exit code 1 when a comparison finds a difference, or nothing pinned.
pub fn run(shell: &Shell, args: &PinArgs) -> Result<Exit, OpsError> {
    let ws = Workspace::open(&shell.ctx)?;
    let view = pin::run(&shell.ctx, &ws, if args.check { PinRequest::Check } else { PinRequest::Pin })?;
    shell.out.result(&match args.format.format {
        Format::Text => report::text(&view, shell.out.out),
        Format::Json => json::line(&report::json(&view)),
    });
    Ok(if view.is_fine() { Exit::Allowed } else { Exit::Refused })
}
