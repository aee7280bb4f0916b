//! `andon backfill`.

use crate::cli::Shell;
use crate::cli::args::BackfillArgs;
use crate::cli::error::Exit;
use crate::cli::output::Format;
use crate::cli::progress::{self, stopped};
use crate::domain::view::backfill::BackfillReport;
use crate::engine::bulk::Walked;
use crate::engine::error::OpsError;
use crate::engine::workspace::Workspace;
use crate::ops::backfill;
use crate::report::backfill::{self as report};
use crate::report::json;

/// Records what was made before Andon came.
pub fn run(shell: &Shell, args: &BackfillArgs) -> Result<Exit, OpsError> {
    let ws = Workspace::open(&shell.ctx)?;
    let done = progress::walk(shell, ("backfill", args.threads), |pace, _| {
        backfill::run(&shell.ctx, &ws, &args.range, pace)
    })?;
    let left = match done.walked {
        Walked::Whole => 0,
        Walked::Part { done, of } => of.saturating_sub(done),
    };
    let result = BackfillReport { range: args.range.clone(), written: done.written, there: done.there, left };
    shell.out.result(&match args.format.format {
        Format::Text => report::text(&result),
        Format::Json => json::document("backfill", &report::json(&result)),
    });
    Ok(stopped(shell, done.walked, Exit::Allowed))
}
