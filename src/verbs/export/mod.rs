//! `andon export`.

pub mod args;
pub mod text;

use self::args::ExportArgs;
use crate::cli::Shell;
use crate::cli::error::Exit;
use crate::verbs::export::text as telemetry;
use crate::verbs::{report::run as report, status::run as status};
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::plural::count;
use andon_engine::effect::write_report;
use andon_engine::error::OpsError;
use andon_engine::text::message;
use andon_engine::workspace::Workspace;

/// Writes what is recorded of a range.
pub fn run(shell: &Shell, args: &ExportArgs) -> Result<Exit, OpsError> {
    shell.take_in_fetched();
    let ws = Workspace::open_lenient(&shell.ctx)?;
    // Where the ledger was lost, the unanswered halt is known from it alone; nothing else is.
    let mut view = report::run(&ws, status::run(&shell.ctx, &ws).ok(), &args.range)?;
    if view.left_out > 0 {
        let what = format!("left out: {} of the range", count(view.left_out, "older commit"));
        view.warnings.push(Diagnostic::warning(what).help("export them as a range of their own"));
    }
    let text = if args.csv {
        telemetry::csv::table(&view)
    } else if args.chrome_trace {
        telemetry::trace::document(&view)
    } else {
        telemetry::otlp::lines(&view)
    };
    shell.out.message(&message::diagnostics(&view.warnings, shell.out.err));
    match &args.output {
        None => shell.out.result(&text),
        Some(file) => {
            write_report(&shell.ctx.cwd.join(file), &text).map_err(|err| OpsError::of_output(&err))?;
        }
    }
    Ok(Exit::Allowed)
}
