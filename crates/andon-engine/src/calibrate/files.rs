//! Event streams as good runs. A file without events is no run: it would count as work that nothing halts, and base a
//! promise on no work. The same content twice is one run, whatever the names are.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::{collections::BTreeSet, sync::atomic::Ordering};

use sha2::{Digest as _, Sha256};

use super::{CalibrationBasis, Ladder, RatedRuns, Run};
use crate::range::{self, EventsEnd, StreamOptions, stream};
use crate::recording::{Pace, WalkEnd};
use crate::{Context, OpsError, Result};
use andon_core::change::normalize::Normalizer;
use andon_core::domain::{Diagnostic, Fact, Hint, Stage, Timestamp, plural::count};
use andon_core::history::{EventEffect, Fold};

/// Most files of a folder that are read.
const MAX_FILES: usize = 100_000;
/// Most folders below one another.
const MAX_DEPTH: usize = 32;
/// Most files that are named, of those with lines that do not count.
const MAX_NAMED: usize = 50;

/// The files that were named, a run each.
///
/// # Errors
/// One cannot be read, or has no event.
pub(super) fn named(
    ctx: &Context,
    files: &[PathBuf],
    ladder: &Ladder<'_>,
    pace: &Pace<'_>,
) -> Result<CalibrationBasis> {
    each(ctx, files, ladder, pace, &mut |_, file, found| {
        let what = format!("{} has no event{}", file.display(), found.first());
        Err(OpsError::usage(what, "give a stream of events, one JSON object a line (docs/formats.md)"))
    })
}

/// All files of a folder, and of those in it. A file without an event is reported and left out.
///
/// # Errors
/// One cannot be read.
pub(super) fn of_folder(
    ctx: &Context,
    dir: &Path,
    ladder: &Ladder<'_>,
    pace: &Pace<'_>,
) -> Result<CalibrationBasis> {
    let mut files = Vec::new();
    collect(dir, MAX_DEPTH, &mut files)?;
    files.sort();
    if files.len() > MAX_FILES {
        let what = format!("{} holds more than {MAX_FILES} files", dir.display());
        return Err(OpsError::usage(what, "calibrate on a part of them that was drawn at random"));
    }
    each(ctx, &files, ladder, pace, &mut |known, file, found| {
        known.ground.skipped_files += 1;
        let message = format!("{} has no event and is not counted{}", file.display(), found.first());
        known.ground.warnings.push(Diagnostic::warning(message).code("calibration"));
        Ok(())
    })
}

/// The files below `dir`. Links to folders are not followed: they may lead back.
fn collect(dir: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<()> {
    let too_deep = || io::Error::other("too many folders below one another");
    let depth = depth.checked_sub(1).ok_or_else(|| unreadable(dir, &too_deep()))?;
    for entry in fs::read_dir(dir).map_err(|err| unreadable(dir, &err))? {
        let entry = entry.map_err(|err| unreadable(dir, &err))?;
        let kind = entry.file_type().map_err(|err| unreadable(&entry.path(), &err))?;
        if kind.is_dir() {
            collect(&entry.path(), depth, files)?;
        } else if entry.path().is_file() {
            files.push(entry.path());
        }
        if files.len() > MAX_FILES {
            break;
        }
    }
    Ok(())
}

/// Takes in one file after the other; `without` says what is to be done with one that has no event.
fn each(
    ctx: &Context,
    files: &[PathBuf],
    ladder: &Ladder<'_>,
    pace: &Pace<'_>,
    without: &mut dyn FnMut(&mut RatedRuns, &Path, &InFile) -> Result<()>,
) -> Result<CalibrationBasis> {
    let mut known = RatedRuns::default();
    let mut seen: BTreeSet<[u8; 32]> = BTreeSet::new();
    for (done, file) in files.iter().enumerate() {
        if pace.stop.load(Ordering::Relaxed) {
            let walked = WalkEnd::Part { done, of: files.len() };
            let why = range::interrupted(walked, "file", "the same again, to its end");
            if let Some(why) = why {
                return Ok(CalibrationBasis::Undecided { commits: 0, why });
            }
        }
        let found = of_file(ctx, file, ladder)?;
        if found.events == 0 {
            without(&mut known, file, &found)?;
        } else if seen.insert(found.content) {
            known.ground.warnings.extend(found.partly(file));
            known.runs.push(found.run);
        } else {
            known.ground.duplicate_files += 1;
        }
    }
    bounded(&mut known.ground.warnings);
    Ok(CalibrationBasis::Whole(known))
}

fn unreadable(path: &Path, err: &std::io::Error) -> OpsError {
    OpsError::usage(
        format!("{} cannot be read: {err}", path.display()),
        "name files and folders that are there and may be read",
    )
}

/// The first [`MAX_NAMED`], and how many there are beyond them.
fn bounded(warnings: &mut Vec<Diagnostic>) {
    let further = warnings.len().saturating_sub(MAX_NAMED);
    warnings.truncate(MAX_NAMED);
    if further > 0 {
        let message = format!("{} with lines that are no events", count(further, "more file"));
        warnings.push(Diagnostic::note(message).code("calibration"));
    }
}

/// The content of a file.
struct InFile {
    run: Run,
    /// Events, answers to halts aside.
    events: u64,
    end: EventsEnd,
    /// sha256 of all of it.
    content: [u8; 32],
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

    /// A warning that the file has lines that are no events.
    fn partly(&self, file: &Path) -> Option<Diagnostic> {
        let lines = match self.end.refused {
            0 => return None,
            1 => "a line that is no event".to_owned(),
            several => format!("{} that are no events", count(several, "line")),
        };
        let message = format!("{} has {lines}{}", file.display(), self.first());
        Some(Diagnostic::warning(message).code("calibration"))
    }
}

fn of_file(ctx: &Context, file: &Path, ladder: &Ladder<'_>) -> Result<InFile> {
    let opened = File::open(file).map_err(|err| unreadable(file, &err))?;
    if opened.metadata().is_ok_and(|found| found.is_dir()) {
        let what = format!("{} is a folder", file.display());
        return Err(OpsError::usage(what, Hint::CalibrateGood.with([&file.display().to_string()])));
    }
    let mut input = BufReader::new(HashingReader { file: opened, hash: Sha256::new() });
    let (run, events, end) = of_stream(ladder, ctx.now, &mut input)
        .map_err(|err| if let OpsError::Input(err) = &err { unreadable(file, err) } else { err })?;
    Ok(InFile { run, events, end, content: input.into_inner().hash.finalize().into() })
}

/// A file whose content is hashed while it is read.
struct HashingReader {
    file: File,
    hash: Sha256,
}

impl Read for HashingReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.hash.update(buffer.get(..count).unwrap_or_default());
        Ok(count)
    }
}

/// The run of a stream, how many events it has, and what is left to say of its lines.
pub(super) fn of_stream(
    ladder: &Ladder<'_>,
    now: Timestamp,
    input: &mut dyn BufRead,
) -> Result<(Run, u64, EventsEnd)> {
    let config = ladder.config;
    let mut fold =
        Fold::new(config.guard.session_gap).in_workflow(config.workflow.clone()).counting(config.cached);
    let (mut run, mut seen) = (ladder.run(), 0);
    let patterns = Normalizer::new(&config.normalize)?;
    let end = stream::each_fact(StreamOptions { now, patterns: &patterns }, input, &mut |_, fact| {
        seen += u64::from(!matches!(fact, Fact::Ack(_)));
        let commit = matches!(fact, Fact::Commit(_));
        match fold.push(fact) {
            EventEffect::Nothing => {}
            EventEffect::Within => ladder.ask(fold.timeline(), Stage::Event, &mut run),
            EventEffect::Iteration => {
                let stage = if commit { Stage::PostCommit } else { Stage::Turn };
                ladder.ask(fold.timeline(), stage, &mut run);
            }
        }
    })?;
    Ok((run, seen, end))
}
