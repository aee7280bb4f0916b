//! `andon sync`.

pub mod args;
pub mod run;
pub mod text;

use self::args::SyncArgs;
use crate::cli::Shell;
use crate::cli::error::Exit;
use crate::cli::output::{self, Format};
use crate::report::json;
use crate::verbs::sync::text as report;
use crate::verbs::sync::{run as sync, run::SyncPeers};
use andon_engine::error::OpsError;
use andon_engine::sync::{SyncDirection, unasked};
use andon_engine::workspace::Workspace;
use andon_git::{Online, Prompt};

/// Exchanges records and ledgers with a remote.
pub fn run(shell: &Shell, args: &SyncArgs) -> Result<Exit, OpsError> {
    let ws = Workspace::open_lenient(&shell.ctx)?;
    let with = match &args.bundle {
        Some(file) => SyncPeers::Bundle(file.clone()),
        None => SyncPeers::Remote { name: args.remote.clone(), fold: args.fold },
    };
    let way = if args.fetch_only { SyncDirection::FetchOnly } else { SyncDirection::Both };
    let online = Online { prompt: prompt(shell, &ws), patience: None };
    let result = sync::run(&shell.ctx, &ws, with, (way, online))?;
    shell.out.result(&match args.format.format {
        Format::Text => report::text(&result, shell.out.out),
        Format::Json => json::line(&report::json(&result)),
    });
    Ok(if sync::needs_a_person(&result) { Exit::Refused } else { Exit::Allowed })
}

/// No prompt for a password where no person is.
fn prompt(shell: &Shell, ws: &Workspace) -> Prompt {
    if shell.ctx.var("GIT_TERMINAL_PROMPT") != Some("0") && output::has_terminal() {
        Prompt::Allowed
    } else {
        unasked(&shell.ctx, ws)
    }
}
