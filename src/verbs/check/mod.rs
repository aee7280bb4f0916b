//! `andon check`.

pub mod args;
pub mod ci;
mod delivery;
pub mod format;
pub mod run;
pub mod text;

use self::args::CheckArgs;
use crate::cli::Shell;
use crate::cli::error::Exit;
use crate::cli::output;
use crate::cli::progress;
use crate::verbs::calibrate::text as report;
use crate::verbs::check::{
    run as check,
    run::{CacheTrust, RangeRequest, TestsWanted},
};
use crate::verbs::replay::run::calibrate::{self, CalibrationRequest, GoodSource, SettingsOf};
use crate::verbs::test::{run as test, run::OutputTarget};
use crate::view::check::{CheckOutcome, CheckReport};
use andon_config::TestCommand;
use andon_engine::error::OpsError;
use andon_engine::workspace::Workspace;
use testreport::Stream;

/// Judges a range.
pub fn run(shell: &Shell, args: &CheckArgs) -> Result<Exit, OpsError> {
    shell.take_in_fetched();
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
    let wanted = CalibrationRequest { good: GoodSource::Range(range), alpha };
    let found = progress::walk(shell, ("check", args.threads), |pace, _| {
        calibrate::run(&shell.ctx, SettingsOf::Repository(&ws), &wanted, pace)
    })?;
    Ok(report::as_check(&found, range))
}

fn judged(shell: &Shell, args: &CheckArgs) -> Result<CheckReport, OpsError> {
    let mut asked = range_of(args);
    if let Some(wanted) = wanted(args) {
        let out = shell.out;
        // Standard output belongs to the result, which may be a document.
        let mut pass = |_: Stream, bytes: &[u8]| out.pass_err(bytes);
        let screens = output::screens();
        let own = delivery::files(&args.formats);
        let mut runner = |ws: &Workspace, command: &TestCommand| {
            let shown = OutputTarget { screens: &screens, pass: &mut pass };
            let (_, executed) = test::execute(&shell.ctx, ws, command, shown)?;
            Ok(executed.map_err(|error| error.to_string()))
        };
        asked.tests = Some(check::tests_at_tip(&shell.ctx, &asked, &wanted, &own, &mut runner)?);
    }
    progress::walk(shell, ("check", args.threads), |pace, _| check::run(&shell.ctx, &asked, pace))
}

fn wanted(args: &CheckArgs) -> Option<TestsWanted> {
    match (args.test, args.exit_code) {
        (true, _) => Some(TestsWanted::Run),
        (false, Some(exit_code)) => Some(TestsWanted::Report { files: args.test_report.clone(), exit_code }),
        (false, None) => None,
    }
}

fn range_of(args: &CheckArgs) -> RangeRequest {
    let cached = if args.cached { CacheTrust::Believed } else { CacheTrust::Derived };
    let plain = RangeRequest { policy: args.policy_id, cached, ..RangeRequest::default() };
    if let Some(range) = &args.squash_of {
        let squash = Some(args.range.clone().unwrap_or_else(|| "HEAD".to_owned()));
        RangeRequest { range: Some(range.clone()), squash, ..plain }
    } else {
        let refs = args.from_ref.clone().zip(args.to_ref.clone());
        RangeRequest { range: args.range.clone(), refs, ..plain }
    }
}
