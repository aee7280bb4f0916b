//! `andon sync`.

use crate::cli::Shell;
use crate::cli::args::SyncArgs;
use crate::cli::error::Exit;
use crate::cli::output::{self, Format};
use crate::git::Prompt;
use crate::ops::error::OpsError;
use crate::ops::sync;
use crate::ops::workspace::Workspace;
use crate::report::json;
use crate::report::sync as report;

/// Exchanges records and ledgers with a remote.
pub fn run(shell: &Shell, args: &SyncArgs) -> Result<Exit, OpsError> {
    let ws = Workspace::open_lenient(&shell.ctx)?;
    let result = sync::run(&shell.ctx, &ws, args.remote.as_deref(), prompt(shell, &ws))?;
    shell.out.result(&match args.format.format {
        Format::Text => report::text(&result, shell.out.out),
        Format::Json => json::line(&report::json(&result)),
    });
    Ok(if sync::needs_a_person(&result) { Exit::Refused } else { Exit::Allowed })
}

/// Nobody is asked for a password where nobody sits.
fn prompt(shell: &Shell, ws: &Workspace) -> Prompt {
    let own_ssh = ["GIT_SSH_COMMAND", "GIT_SSH"].into_iter().any(|name| shell.ctx.var(name).is_some());
    if shell.ctx.var("GIT_TERMINAL_PROMPT") != Some("0") && output::has_terminal() {
        Prompt::Allowed
    } else if own_ssh || ws.repo.config_string("core.sshCommand").is_some() {
        Prompt::Never
    } else {
        Prompt::NeverNorSsh
    }
}
