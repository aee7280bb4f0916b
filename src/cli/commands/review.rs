//! `andon review`.

use crate::cli::Shell;
use crate::cli::args::{ReviewArgs, ReviewCommand, SimulateArgs};
use crate::cli::error::Exit;
use crate::cli::output::Format;
use crate::engine::error::OpsError;
use crate::ops::review;

/// Does what was asked.
pub fn run(shell: &Shell, args: &ReviewArgs) -> Result<Exit, OpsError> {
    match &args.command {
        ReviewCommand::Simulate(args) => simulate(shell, args),
    }
}

/// Folds a file. Invalid entries are part of the answer.
fn simulate(shell: &Shell, args: &SimulateArgs) -> Result<Exit, OpsError> {
    let found = review::simulate(&shell.ctx, &args.file, args.now, args.reader.as_deref())?;
    shell.out.result(&match args.format.format {
        Format::Text => review::summary(&found.json, shell.out.out),
        Format::Json => review::json(&found.json)?,
    });
    Ok(Exit::Allowed)
}
