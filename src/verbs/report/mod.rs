//! `andon report`.

pub mod args;
pub mod html;
pub mod run;

use self::args::ReportArgs;
use crate::cli::Shell;
use crate::cli::error::Exit;
use crate::verbs::{report::run as report, review::run as review, status::run as status};
use crate::view::history::HistoryView;
use andon_core::detect::HOOK_BYPASS;
use andon_engine::asking;
use andon_engine::effect::write_report;
use andon_engine::error::OpsError;
use andon_engine::workspace::Workspace;

/// Makes the page.
pub fn run(shell: &Shell, args: &ReportArgs) -> Result<Exit, OpsError> {
    shell.take_in_fetched();
    let ws = Workspace::open_lenient(&shell.ctx)?;
    // A page that says what is missing is of more use than none.
    let (now, unknown) = match status::run(&shell.ctx, &ws) {
        Ok(now) => (Some(now), None),
        Err(err) => (None, Some(err.as_warning())),
    };
    let mut view = report::run(&ws, now, &args.range)?;
    view.warnings.extend(unknown);
    if let Err(err) = rounds(&ws, &mut view) {
        view.warnings.push(err.as_warning());
    }
    let page = html::page(&view, HOOK_BYPASS.id);
    match &args.output {
        None => shell.out.result(&page),
        Some(file) => {
            write_report(&shell.ctx.cwd.join(file), &page).map_err(|err| OpsError::of_output(&err))?;
        }
    }
    Ok(Exit::Allowed)
}

fn rounds(ws: &Workspace, view: &mut HistoryView) -> Result<(), OpsError> {
    let waiting = asking::waiting(ws)?;
    view.warnings.extend(waiting.warning());
    view.open = waiting.rounds;
    view.decided = review::precedents(ws, None, &[])?;
    Ok(())
}
