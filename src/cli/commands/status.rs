//! `andon status`.

use crate::cli::Shell;
use crate::cli::error::Exit;
use crate::cli::output::Format;
use crate::ops::error::OpsError;
use crate::ops::status;
use crate::ops::workspace::Workspace;
use crate::report::{json, status as report};

/// Shows where the loop stands. Always exit code 0: it tells, it does not judge.
pub fn run(shell: &Shell, format: Format) -> Result<Exit, OpsError> {
    let ws = Workspace::open(&shell.ctx)?;
    let view = status::run(&shell.ctx, &ws)?;
    shell.out.result(&match format {
        Format::Text => report::text(&view, shell.out.out, shell.glyphs()),
        Format::Json => json::line(&report::json(&view)),
    });
    Ok(Exit::Allowed)
}
