//! `andon attest`.

use crate::cli::Shell;
use crate::cli::args::AttestCommand;
use crate::cli::error::Exit;
use crate::cli::progress;
use crate::ops::attest;
use crate::ops::check::{self, RangeRequest};
use andon_engine::error::OpsError;
use andon_engine::workspace::Workspace;

/// Prints a signed statement.
pub fn run(shell: &Shell, command: &AttestCommand) -> Result<Exit, OpsError> {
    let ws = Workspace::open_lenient(&shell.ctx)?;
    let ctx = &shell.ctx;
    let envelope = match command {
        AttestCommand::Record { revision, .. } => attest::record(ctx, &ws, revision)?,
        AttestCommand::Resolution { round, .. } => attest::resolution(ctx, &ws, round)?,
        AttestCommand::Check { range, .. } => {
            let asked = RangeRequest { range: Some(range.clone()), ..RangeRequest::default() };
            let report = progress::walk(shell, ("check", None), |pace, _| check::run(ctx, &asked, pace))?;
            let right =
                range.rsplit_once("..").map_or(range.as_str(), |(_, right)| right.trim_start_matches('.'));
            let tip = ws.repo.resolve(if right.is_empty() { "HEAD" } else { right })?;
            attest::check(ctx, &ws, &report, tip)?
        }
    };
    shell.out.result(&envelope);
    Ok(Exit::Allowed)
}
