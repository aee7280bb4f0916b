//! `andon check`.

use crate::cli::Shell;
use crate::cli::args::CheckArgs;
use crate::cli::error::Exit;
use crate::cli::output::Format;
use crate::cli::progress;
use crate::domain::view::check::CheckOutcome;
use crate::engine::error::OpsError;
use crate::ops::check::{self, CacheTrust, RangeRequest};
use crate::report::check::{self as report};
use crate::report::json;

/// Judges a range.
pub fn run(shell: &Shell, args: &CheckArgs) -> Result<Exit, OpsError> {
    let refs = args.from_ref.clone().zip(args.to_ref.clone());
    let cached = if args.cached { CacheTrust::Believed } else { CacheTrust::Derived };
    let asked = match &args.squash_of {
        Some(range) => {
            let squash = Some(args.range.clone().unwrap_or_else(|| "HEAD".to_owned()));
            RangeRequest { range: Some(range.clone()), refs: None, squash, policy: args.policy_id, cached }
        }
        None => {
            RangeRequest { range: args.range.clone(), refs, squash: None, policy: args.policy_id, cached }
        }
    };
    let result =
        progress::walk(shell, ("check", args.threads), |pace, _| check::run(&shell.ctx, &asked, pace))?;
    shell.out.result(&match args.format.format {
        Format::Text => report::text(&result, shell.out.out),
        Format::Json => json::line_as_declared(&report::json(&result)),
    });
    Ok(match result.outcome() {
        CheckOutcome::Fine => Exit::Allowed,
        CheckOutcome::Violated => Exit::Refused,
        CheckOutcome::Undecided => Exit::Undecided,
    })
}
