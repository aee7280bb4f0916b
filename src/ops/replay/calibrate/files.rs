//! Event streams as good runs. A file without any event is none: it would count as work that nothing halts, and make a
//! promise of what nobody did.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::{Known, Ladder, Run};
use crate::change::normalize::Normalizer;
use crate::domain::decision::Stage;
use crate::domain::diagnostic::Diagnostic;
use crate::domain::facts::Fact;
use crate::domain::time::Timestamp;
use crate::engine::context::Context;
use crate::engine::error::OpsError;
use crate::history::{EventEffect, Fold};
use crate::ops::replay::ahead::At;
use crate::ops::replay::events::{self, EventsEnd};

/// Most files of a folder that are read.
const MAX_FILES: usize = 100_000;
/// Most files that are named, of those with lines that do not count.
const MAX_NAMED: usize = 50;

/// The files that were named, a run each.
///
/// # Errors
/// One cannot be read, or has no event.
pub(super) fn named(ctx: &Context, files: &[PathBuf], ladder: &Ladder<'_>) -> Result<Known, OpsError> {
    let mut known = Known::default();
    for file in files {
        let found = of_file(ctx, file, ladder)?;
        if found.events == 0 {
            return Err(OpsError::Usage {
                what: format!("{} has no event{}", file.display(), found.first()),
                help: "give a stream of events, one JSON object a line (docs/formats.md)".to_owned(),
            });
        }
        known.warnings.extend(found.partly(file));
        known.runs.push(found.run);
    }
    bounded(&mut known.warnings);
    Ok(known)
}

/// All files of a folder. What has no event is told and left out.
///
/// # Errors
/// One cannot be read.
pub(super) fn of_folder(ctx: &Context, dir: &Path, ladder: &Ladder<'_>) -> Result<Known, OpsError> {
    let mut known = Known::default();
    for file in files_of(dir)? {
        let found = of_file(ctx, &file, ladder)?;
        if found.events == 0 {
            known.skipped_files += 1;
            let message = format!("{} has no event and is not counted{}", file.display(), found.first());
            known.warnings.push(Diagnostic::warning(message).code("calibration"));
        } else {
            known.warnings.extend(found.partly(&file));
            known.runs.push(found.run);
        }
    }
    bounded(&mut known.warnings);
    Ok(known)
}

fn files_of(dir: &Path) -> Result<Vec<PathBuf>, OpsError> {
    let entries = fs::read_dir(dir).map_err(|err| unreadable(dir, &err))?;
    let mut files: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    files.truncate(MAX_FILES);
    Ok(files)
}

fn unreadable(path: &Path, err: &std::io::Error) -> OpsError {
    OpsError::Usage {
        what: format!("{} cannot be read: {err}", path.display()),
        help: "name files and folders that are there and may be read".to_owned(),
    }
}

/// The first [`MAX_NAMED`], and how many there are beyond them.
fn bounded(warnings: &mut Vec<Diagnostic>) {
    let further = warnings.len().saturating_sub(MAX_NAMED);
    warnings.truncate(MAX_NAMED);
    if further > 0 {
        let message = format!("{further} more files with lines that are no events");
        warnings.push(Diagnostic::note(message).code("calibration"));
    }
}

/// What a file has.
struct InFile {
    run: Run,
    events: u64,
    end: EventsEnd,
}

impl InFile {
    /// The first line that is no event, as the end of a sentence.
    fn first(&self) -> String {
        let Some(first) = self.end.remarks.first().filter(|_| self.end.refused > 0) else {
            return String::new();
        };
        match &first.location {
            Some(location) => format!("; {location}: {}", first.message),
            None => format!("; {}", first.message),
        }
    }

    /// That it has lines besides its events which are none.
    fn partly(&self, file: &Path) -> Option<Diagnostic> {
        let lines = match self.end.refused {
            0 => return None,
            1 => "a line that is no event".to_owned(),
            lines => format!("{lines} lines that are no events"),
        };
        let message = format!("{} has {lines}{}", file.display(), self.first());
        Some(Diagnostic::warning(message).code("calibration"))
    }
}

fn of_file(ctx: &Context, file: &Path, ladder: &Ladder<'_>) -> Result<InFile, OpsError> {
    let mut input = BufReader::new(File::open(file).map_err(|err| unreadable(file, &err))?);
    let (run, events, end) = of_stream(ladder, ctx.now, &mut input)?;
    Ok(InFile { run, events, end })
}

/// The run of a stream, how many events it has, and what is left to say of its lines.
pub(super) fn of_stream(
    ladder: &Ladder<'_>,
    now: Timestamp,
    input: &mut dyn BufRead,
) -> Result<(Run, u64, EventsEnd), OpsError> {
    let config = ladder.config;
    let mut fold =
        Fold::new(config.guard.session_gap).in_workflow(config.workflow.clone()).counting(config.cached);
    let (mut run, mut seen) = (Run::default(), 0);
    let patterns = Normalizer::new(&config.normalize)?;
    let end = events::each_fact(At { now, patterns: &patterns }, input, &mut |_, fact| {
        seen += 1;
        // A halt that was answered in this run is no end of it: the window goes on as it was.
        if !matches!(fact, Fact::Ack(_)) {
            let commit = matches!(fact, Fact::Commit(_));
            match fold.push(fact) {
                EventEffect::Nothing => {}
                EventEffect::Within => ladder.ask(fold.timeline(), Stage::Event, &mut run),
                EventEffect::Iteration => {
                    let stage = if commit { Stage::PostCommit } else { Stage::Turn };
                    ladder.ask(fold.timeline(), stage, &mut run);
                }
            }
        }
        fold.timeline().activity.now
    })?;
    Ok((run, seen, end))
}
