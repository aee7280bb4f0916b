//! `andon check`.

mod delivery;

use crate::cli::Shell;
use crate::cli::args::CheckArgs;
use crate::cli::error::Exit;
use crate::cli::progress;
use crate::domain::view::check::CheckOutcome;
use crate::engine::error::OpsError;
use crate::ops::check::{self, CacheTrust, RangeRequest};

/// Judges a range.
pub fn run(shell: &Shell, args: &CheckArgs) -> Result<Exit, OpsError> {
    delivery::refuse_mixtures(&args.formats)?;
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
    delivery::deliver(shell, &result, &args.formats);
    Ok(match result.outcome() {
        CheckOutcome::Fine => Exit::Allowed,
        CheckOutcome::Violated => Exit::Refused,
        CheckOutcome::Undecided => Exit::Undecided,
    })
}
