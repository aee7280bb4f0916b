//! `andon replay`.

use crate::cli::Shell;
use crate::cli::args::ReplayArgs;
use crate::cli::error::Exit;
use crate::cli::output::Format;
use crate::ops::error::OpsError;
use crate::ops::replay;
use crate::ops::workspace::Workspace;
use crate::report::json;
use crate::report::replay::{self as report, ReplayLine, ReplayReport, ReplayStep};

/// Shows what would have happened. Exit code 0 in any case: it tells, it does not judge.
pub fn run(shell: &Shell, args: &ReplayArgs) -> Result<Exit, OpsError> {
    let ws = Workspace::open(&shell.ctx)?;
    let mut lines = Vec::new();
    let warnings = replay::run(&ws, &args.range, &mut |found| {
        let step = ReplayStep::Commit { commit: found.commit, subject: found.subject };
        lines.push(ReplayLine { step, decision: found.decision });
    })?;
    let result = ReplayReport { source: args.range.clone(), lines, warnings };
    shell.out.result(&match args.format.format {
        Format::Text => report::text(&result, shell.out.out),
        Format::Json => json::lines(&report::json(&result)),
    });
    Ok(Exit::Allowed)
}
