//! `andon check`.

mod delivery;

use crate::cli::Shell;
use crate::cli::args::CheckArgs;
use crate::cli::error::Exit;
use crate::cli::progress;
use crate::domain::view::check::{CheckOutcome, CheckReport};
use crate::engine::error::OpsError;
use crate::engine::workspace::Workspace;
use crate::ops::check::{self, CacheTrust, RangeRequest};
use crate::ops::replay::calibrate::{self, Good, SettingsOf, Wanted};
use crate::report::calibration as report;

/// Judges a range.
pub fn run(shell: &Shell, args: &CheckArgs) -> Result<Exit, OpsError> {
    delivery::refuse_mixtures(&args.formats)?;
    let result = match args.calibration {
        Some(alpha) => calibration(shell, args, alpha)?,
        None => judged(shell, args)?,
    };
    delivery::deliver(shell, &result, &args.formats);
    Ok(match result.outcome() {
        CheckOutcome::Fine => Exit::Allowed,
        CheckOutcome::Violated => Exit::Refused,
        CheckOutcome::Undecided => Exit::Undecided,
    })
}

/// Whether the thresholds hold what a calibration promises.
fn calibration(shell: &Shell, args: &CheckArgs, alpha: f64) -> Result<CheckReport, OpsError> {
    let ws = Workspace::open(&shell.ctx)?;
    let range = args.range.as_deref().unwrap_or("HEAD");
    let wanted = Wanted { good: Good::Range(range), alpha };
    let found = progress::walk(shell, ("check", args.threads), |pace, _| {
        calibrate::run(&shell.ctx, SettingsOf::Repository(&ws), &wanted, pace)
    })?;
    Ok(report::as_check(&found, range))
}

fn judged(shell: &Shell, args: &CheckArgs) -> Result<CheckReport, OpsError> {
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
    progress::walk(shell, ("check", args.threads), |pace, _| check::run(&shell.ctx, &asked, pace))
}
