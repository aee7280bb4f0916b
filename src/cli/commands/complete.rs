//! `andon complete`.

use crate::cli::Shell;
use crate::cli::error::Exit;
use crate::cli::output::Format;
use crate::ops::complete;
use crate::report::complete::{self as report};
use crate::report::json;
use andon_engine::error::OpsError;
use andon_engine::view::complete::OpenQuestion;
use andon_engine::workspace::Workspace;

/// Says whether the task may be called done; undecided where the tests ran and there was none.
pub fn run(shell: &Shell, format: Format) -> Result<Exit, OpsError> {
    let ws = Workspace::open(&shell.ctx)?;
    let view = complete::run(&shell.ctx, &ws)?;
    shell.out.result(&match format {
        Format::Text => report::text(&view, shell.out.out),
        Format::Json => json::line(&report::json(&view)),
    });
    Ok(match view.can_complete {
        OpenQuestion::Yes => Exit::Allowed,
        OpenQuestion::No => Exit::Refused,
        OpenQuestion::Unknown => Exit::Undecided,
    })
}
