//! `andon backfill`.

pub mod args;
pub mod run;
pub mod text;
pub mod view;

use self::args::BackfillArgs;
use crate::cli::Shell;
use crate::cli::error::Exit;
use crate::cli::output::Format;
use crate::cli::progress::{self, stopped};
use crate::report::json;
use crate::verbs::backfill::run as backfill;
use crate::verbs::backfill::text as report;
use crate::verbs::backfill::view::BackfillReport;
use andon_engine::error::OpsError;
use andon_engine::recording::bulk::WalkEnd;
use andon_engine::workspace::Workspace;

/// Records what was made before Andon came.
pub fn run(shell: &Shell, args: &BackfillArgs) -> Result<Exit, OpsError> {
    let ws = Workspace::open(&shell.ctx)?;
    let done = progress::walk(shell, ("backfill", args.threads), |pace, _| {
        backfill::run(&shell.ctx, &ws, &args.range, pace)
    })?;
    let left = match done.walked {
        WalkEnd::Whole => 0,
        WalkEnd::Part { done, of } => of.saturating_sub(done),
    };
    let result = BackfillReport { range: args.range.clone(), written: done.written, there: done.there, left };
    shell.out.result(&match args.format.format {
        Format::Text => report::text(&result),
        Format::Json => json::document("backfill", &result),
    });
    Ok(stopped(shell, done.walked, Exit::Allowed))
}
