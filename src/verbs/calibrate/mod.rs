//! `andon calibrate`.

pub mod args;
pub mod text;

use self::args::CalibrateArgs;
use crate::cli::Shell;
use crate::cli::error::Exit;
use crate::cli::output::Format;
use crate::cli::progress;
use crate::verbs::replay::run::calibrate::{self, CalibrationRequest, GoodSource, SettingsOf};
use crate::view::calibration::{CalibrationResult, PromiseKind};
use crate::{report::json, verbs::calibrate::text as report};
use andon_config as config;
use andon_engine::effect::write_report;
use andon_engine::error::OpsError;
use andon_engine::text::message;
use andon_engine::workspace::Workspace;

/// Calibrates on what went well. Exit code 1 where nothing can be promised, 3 where not all of it could be read.
pub fn run(shell: &Shell, args: &CalibrateArgs) -> Result<Exit, OpsError> {
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
    let found = progress::walk(shell, ("calibrate", args.threads), |pace, _| {
        calibrate::run(&shell.ctx, ground, &wanted, pace)
    })?;
    let found = match found {
        CalibrationResult::Whole(found) => found,
        CalibrationResult::Undecided { why, .. } => {
            shell.out.message(&message::diagnostics(&[why], shell.out.err));
            return Ok(Exit::Undecided);
        }
    };
    shell.out.result(&match args.format.format {
        Format::Text => report::text(&found, shell.out.out),
        Format::Json => json::line(&report::json(&found)),
    });
    shell.out.message(&message::diagnostics(&found.warnings, shell.out.err));
    if let Some(file) = &args.svg {
        let svg = report::svg(&found);
        write_report(&shell.ctx.cwd.join(file), &svg).map_err(|err| OpsError::of_output(&err))?;
    }
    Ok(match found.promised {
        PromiseKind::Factor(_) => Exit::Allowed,
        PromiseKind::TooFew(_) | PromiseKind::Nothing => Exit::Refused,
    })
}
