//! `andon complete`.

pub mod run;
pub mod text;

use crate::cli::Shell;
use crate::cli::error::Exit;
use crate::cli::format_arg::FormatArg;
use crate::cli::output::Format;
use crate::report::json;
use crate::verbs::complete::run as complete;
use crate::verbs::complete::text as report;
use andon_engine::error::OpsError;
use andon_engine::view::complete::OpenQuestion;
use andon_engine::workspace::Workspace;

/// Says whether the task may be called done; undecided where the tests ran and there was none.
pub fn run(shell: &Shell, args: &FormatArg) -> Result<Exit, OpsError> {
    let ws = Workspace::open(&shell.ctx)?;
    let view = complete::run(&shell.ctx, &ws)?;
    shell.out.result(&match args.format {
        Format::Text => report::text(&view, shell.out.out),
        Format::Json => json::line(&report::json(&view)),
    });
    Ok(match view.can_complete {
        OpenQuestion::Yes => Exit::Allowed,
        OpenQuestion::No => Exit::Refused,
        OpenQuestion::Unknown => Exit::Undecided,
    })
}
