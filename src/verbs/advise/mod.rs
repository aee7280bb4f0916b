//! `andon advise`.

pub mod args;
pub mod run;
pub mod text;
pub mod view;

use self::args::AdviseArgs;
use crate::cli::Shell;
use crate::cli::error::Exit;
use crate::cli::output::Format;
use crate::verbs::advise::run as advise;
use crate::{report::json, verbs::advise::text as advice};
use andon_core::escape;
use andon_engine::error::OpsError;
use andon_engine::workspace::Workspace;

/// Says whom to ask and which provider goes on; with `--record`, takes the advisor's approach as the answer to the
/// halt.
pub fn run(shell: &Shell, args: &AdviseArgs) -> Result<Exit, OpsError> {
    let ws = Workspace::open_lenient(&shell.ctx)?;
    if args.record {
        let resumed = advise::record(&shell.ctx, &ws)?;
        let by = escape::terminal(&resumed.by).into_owned();
        shell.out.result(&format!("resumed: the halt was answered by {by}; counting starts over\n"));
        return Ok(Exit::Allowed);
    }
    let found = advise::run(&shell.ctx, &ws, args.current.as_deref())?;
    shell.out.result(&match args.format.format {
        Format::Text => advice::text(&found, shell.out.out),
        Format::Json => json::line(&advice::json(&found)),
    });
    Ok(Exit::Allowed)
}
