//! `andon attest`.

pub mod args;
pub mod run;

use self::args::{AttestArgs, AttestCommand};
use crate::cli::Shell;
use crate::cli::error::Exit;
use crate::cli::progress;
use crate::verbs::attest::run as attest;
use crate::verbs::check::{run as check, run::RangeRequest};
use andon_engine::error::OpsError;
use andon_engine::workspace::Workspace;

/// Prints a signed statement.
pub fn run(shell: &Shell, args: &AttestArgs) -> Result<Exit, OpsError> {
    shell.take_in_fetched();
    let ws = Workspace::open_lenient(&shell.ctx)?;
    let ctx = &shell.ctx;
    let envelope = match &args.command {
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
