//! The facts of a stream of events. Its lines are parsed on all processors, a batch ahead of the fold, which takes them one at
//! a time and in their order: parsing is most of the work, and depends on nothing but the line.

use std::io::{self, BufRead};

use rayon::prelude::*;

use crate::adapter::events::{self, Line, Lines};
use crate::adapter::{Dates, EventError, Frame, ParsedEvent, Purpose};
use crate::{OpsError, Result, text::LineSummary};
use andon_core::change::normalize::Normalizer;
use andon_core::domain::{Diagnostic, Fact, Timestamp};

/// A batch is full with so many bytes: enough that handing it over costs nothing, and far below what a window takes.
const BATCH_BYTES: usize = 256 << 10;
/// And with so many lines, for lines may be empty.
const BATCH_LINES: usize = 4096;

/// The surroundings of a stream: the time, and the project whose patterns are masked in what is shown of it.
#[derive(Debug, Clone, Copy)]
pub struct StreamOptions<'a> {
    /// The time of this process.
    pub now: Timestamp,
    /// The patterns of what is masked in the short form of a call.
    pub patterns: &'a Normalizer,
}

/// The result of a line.
struct LineResult {
    /// Its bytes, until they are parsed; `None` for one that is too long.
    text: Option<Vec<u8>>,
    /// `None` where there is nothing to fold: an empty line, or one that is for people alone.
    parsed: Option<Result<ParsedEvent, EventError>>,
}

impl LineResult {
    fn from_line(line: Line<'_>) -> Self {
        match line {
            Line::Text(text) => Self { text: Some(text.to_vec()), parsed: None },
            Line::TooLong => Self { text: None, parsed: Some(Err(EventError::TooLong)) },
        }
    }

    fn parse(&mut self, at: StreamOptions<'_>) {
        let Some(text) = self.text.take().filter(|text| !text.is_empty()) else { return };
        let StreamOptions { now, patterns } = at;
        let parsed = events::parse(&text, Frame { now, kind: None, purpose: Purpose::Replay, patterns });
        let is_note = matches!(parsed, Err(EventError::UnknownType { .. })) && events::is_note(&text);
        self.parsed = (!is_note).then_some(parsed);
    }

    /// The fact, in its place behind those whose times `dates` knows.
    fn dated(self, dates: &mut Dates) -> Option<Result<ParsedEvent, EventError>> {
        self.parsed.map(|parsed| parsed.map(|parsed| dates.date(parsed)))
    }
}

/// Gives `fold` the lines of `input`, batch by batch, each behind the one before it.
///
/// # Errors
/// Whatever `input` says, behind the lines before it, or `fold`.
fn each_batch(
    at: StreamOptions<'_>,
    input: &mut dyn BufRead,
    fold: &mut dyn FnMut(Vec<LineResult>) -> Result<()>,
) -> Result<()> {
    let mut lines = Lines::new(input);
    let mut ready = Vec::new();
    loop {
        let (mut ahead, read) = batch(&mut lines);
        // This thread folds what is ready, and the others parse what was just read.
        rayon::in_place_scope(|scope| {
            scope.spawn(|_| ahead.par_iter_mut().for_each(|told| told.parse(at)));
            fold(std::mem::take(&mut ready))
        })?;
        match read {
            Ok(true) => ready = ahead,
            Ok(false) => return fold(ahead),
            Err(error) => return fold(ahead).and(Err(OpsError::Input(error))),
        }
    }
}

/// The next lines, and what comes behind them.
fn batch(lines: &mut Lines<&mut dyn BufRead>) -> (Vec<LineResult>, io::Result<bool>) {
    let (mut batch, mut bytes) = (Vec::new(), 0);
    while bytes < BATCH_BYTES && batch.len() < BATCH_LINES {
        match lines.next_line() {
            Ok(Some(line)) => batch.push(LineResult::from_line(line)),
            Ok(None) => return (batch, Ok(false)),
            Err(error) => return (batch, Err(error)),
        }
        bytes += batch.last().and_then(|told: &LineResult| told.text.as_ref()).map_or(0, Vec::len);
    }
    (batch, Ok(true))
}

/// The number of lines without a fact after which a stream counts as something else.
const MAX_REFUSED: u64 = 1_000_000;
/// Lines of one stream: some ten gigabytes. A device that never ends must end here.
const MAX_LINES: u64 = 100_000_000;

/// The remarks that are left to report after the last decision.
pub struct EventsEnd {
    /// The first remarks about single lines.
    pub remarks: Vec<Diagnostic>,
    /// Lines that are no facts.
    pub refused: u64,
}

/// Hands each fact of `input` to `take`, with the number of its line from 1.
pub fn each_fact(
    at: StreamOptions<'_>,
    input: &mut dyn BufRead,
    take: &mut dyn FnMut(u64, Fact),
) -> Result<EventsEnd> {
    let mut tally = LineSummary::default();
    let mut dates = Dates::default();
    each_batch(at, input, &mut |batch| {
        for told in batch {
            tally.line = tally.line.saturating_add(1);
            within_bounds(&tally)?;
            match told.dated(&mut dates) {
                Some(Ok(parsed)) => {
                    tally.odd(parsed.odd.map(|odd| Diagnostic::warning(odd).code("event")));
                    take(tally.line, parsed.fact);
                }
                Some(Err(error)) => tally.refuse(&error),
                None => {}
            }
        }
        Ok(())
    })?;
    let refused = tally.refused;
    Ok(EventsEnd { remarks: tally.remarks(), refused })
}

fn within_bounds(tally: &LineSummary) -> Result<()> {
    let what = if tally.refused > MAX_REFUSED {
        format!("more than {MAX_REFUSED} lines that are no events, up to line {}", tally.line)
    } else if tally.line > MAX_LINES {
        format!("more than {MAX_LINES} lines")
    } else {
        return Ok(());
    };
    Err(OpsError::Input(std::io::Error::new(std::io::ErrorKind::InvalidData, what)))
}
