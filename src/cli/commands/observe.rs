//! `andon observe KIND`: facts that Andon did not see itself.

use crate::cli::Shell;
use crate::cli::args::{ObserveKind, ObserveTestRunArgs};
use crate::cli::error::Exit;
use crate::cli::output::Format;
use crate::ops::error::OpsError;
use crate::ops::observe::test_run::{self, HandedInRun};
use crate::ops::workspace::Workspace;
use crate::report::{message, observe as report};

/// Takes one fact in.
pub fn run(shell: &Shell, kind: &ObserveKind) -> Result<Exit, OpsError> {
    match kind {
        ObserveKind::TestRun(args) => test_run(shell, args),
    }
}

/// Says on standard output what was taken in, for a run that is handed in must not come in unseen.
fn test_run(shell: &Shell, args: &ObserveTestRunArgs) -> Result<Exit, OpsError> {
    let ws = Workspace::open(&shell.ctx)?;
    let handed = HandedInRun {
        reports: args.report.clone(),
        exit_code: args.exit_code,
        code: args.code.clone(),
        command: args.command.clone(),
    };
    let taken = test_run::take(&shell.ctx, &ws, &handed)?;
    shell.out.message(&message::diagnostics(&taken.warnings, shell.out.err));
    shell.out.result(&match args.format.format {
        Format::Text => report::text(&taken.run, shell.out.out),
        Format::Json => crate::report::json::line(&report::json(&taken.run)),
    });
    Ok(Exit::Allowed)
}
