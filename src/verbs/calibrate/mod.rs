//! `andon calibrate`: the engine over work that went well, and what can be promised.

pub mod text;

use std::{num::NonZeroUsize, path::PathBuf};

use clap::Args;

use crate::cli::{Exit, FormatArg, Shell, args::share, progress};
use andon_config as config;
use andon_core::detect::calibration::Promise;
use andon_engine::calibrate::{self, CalibrationRequest, GoodSource, SettingsOf};
use andon_engine::{OpsError, Result, Workspace, view::CalibrationResult};

/// `andon calibrate`
#[derive(Debug, Args)]
pub struct CalibrateArgs {
    /// Commits that went well, such as v1.0..HEAD; each run among them counts as one
    #[arg(value_name = "RANGE", conflicts_with_all = ["events", "good"])]
    pub range: Option<String>,
    /// Event streams of runs that went well, one a file; the same content twice counts once
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "good")]
    pub events: Vec<PathBuf>,
    /// A folder of such files, and of folders with them
    #[arg(long, value_name = "DIR")]
    pub good: Option<PathBuf>,
    /// The chance with which the next good run may be halted, at most
    #[arg(long, default_value_t = 0.01, value_name = "SHARE", value_parser = share)]
    pub alpha: f64,
    /// Write the curve to a file, as SVG
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Threads; default: one per processor
    #[arg(short = 'j', long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

/// Calibrates on what went well. Exit code 1 where nothing can be promised, 3 where not all of it could be read.
pub fn run(shell: &Shell, args: &CalibrateArgs) -> Result<Exit> {
    let opened = match Workspace::open(&shell.ctx) {
        Ok(ws) => Ok(ws),
        // Streams need no repository.
        Err(OpsError::Git(err)) if err.is_usage() => Err(config::load(&[])?),
        Err(err) => return Err(err),
    };
    let ground = match &opened {
        Ok(ws) => SettingsOf::Repository(ws),
        Err(config) => SettingsOf::Nowhere(config),
    };
    let good = match (&args.good, args.events.as_slice()) {
        (Some(folder), _) => GoodSource::Folder(folder),
        (None, []) => GoodSource::Range(args.range.as_deref().unwrap_or("HEAD")),
        (None, files) => GoodSource::Events(files),
    };
    let wanted = CalibrationRequest { good, alpha: args.alpha };
    let found = progress::walk(shell, "calibrate", args.threads, |pace, _| {
        calibrate::run(&shell.ctx, ground, &wanted, pace)
    })?;
    let found = match found {
        CalibrationResult::Whole(found) => found,
        CalibrationResult::Undecided { why, .. } => {
            shell.tell(&[why]);
            return Ok(Exit::Undecided);
        }
    };
    shell.show(args.format.format, "calibration", &text::json(&found), |style| text::text(&found, style));
    shell.tell(&found.ground.warnings);
    if let Some(file) = &args.svg {
        shell.deliver(Some(file), &text::svg(&found))?;
    }
    Ok(match found.promised {
        Promise::Step(_) => Exit::Allowed,
        Promise::TooFew { .. } | Promise::None => Exit::Refused,
    })
}
