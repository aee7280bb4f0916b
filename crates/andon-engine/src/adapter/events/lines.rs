//! Lines of a stream, read one at a time, and their times. A stream of any length takes the memory of its longest line, and
//! that is bounded.

use std::io::{self, BufRead};

use super::ParsedEvent;
use andon_core::domain::{Fact, Timestamp};

/// Longest line, in bytes without its LF: arguments of ten megabytes and the members around them.
pub const MAX_LINE: usize = 11 << 20;

/// Bytes without a line end after which a stream counts as something else: a device, or no text.
const MAX_ENDLESS: usize = 64 << 20;

/// A line of the input, or what was wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line<'a> {
    /// Its bytes, without the line end.
    Text(&'a [u8]),
    /// It was longer than [`MAX_LINE`] and is passed over.
    TooLong,
}

/// The lines of a stream.
pub struct Lines<R> {
    from: R,
    line: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// The lines of `from`.
    pub fn new(from: R) -> Self {
        Self { from, line: Vec::new() }
    }

    /// The next line; `None` at the end.
    ///
    /// # Errors
    /// Whatever the stream says.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        // A line of megabytes is rare: its memory is given back.
        if self.line.capacity() > 1 << 20 {
            self.line = Vec::new();
        }
        self.line.clear();
        let (mut seen, mut any) = (0_usize, false);
        loop {
            let chunk = match self.from.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            };
            if chunk.is_empty() {
                break;
            }
            any = true;
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let part = end.map_or(chunk, |end| &chunk[..end]);
            seen = seen.saturating_add(part.len());
            if seen > MAX_ENDLESS {
                let what = format!(
                    "more than {} MiB without the end of a line: no stream of events",
                    MAX_ENDLESS >> 20
                );
                return Err(io::Error::new(io::ErrorKind::InvalidData, what));
            }
            if seen <= MAX_LINE {
                self.line.extend_from_slice(part);
            }
            let used = end.map_or(chunk.len(), |end| end + 1);
            self.from.consume(used);
            if end.is_some() {
                break;
            }
        }
        if !any {
            return Ok(None);
        }
        Ok(Some(if seen > MAX_LINE { Line::TooLong } else { Line::Text(self.line.trim_ascii()) }))
    }
}

/// The latest time in the lines of a batch so far.
#[derive(Debug, Default)]
pub struct Dates {
    last: Option<Timestamp>,
}

impl Dates {
    /// Gives `parsed`, the next line, its time. Before any line has one, it keeps none: its meaning is up to the
    /// reader, which may have a clock of its own.
    #[must_use]
    pub fn date(&mut self, parsed: ParsedEvent) -> ParsedEvent {
        if let Some(told) = parsed.told {
            self.last = self.last.max(Some(told));
            return parsed;
        }
        let Some(at) = self.last else { return parsed };
        let mut fact = parsed.fact;
        match &mut fact {
            Fact::Event(event) => event.at = Some(at),
            Fact::TestRun(run) => run.at = Some(at),
            Fact::Commit(commit) => commit.record.recorded_at = at,
            Fact::Ack(ack) => ack.at = at,
        }
        ParsedEvent { fact, ..parsed }
    }
}
