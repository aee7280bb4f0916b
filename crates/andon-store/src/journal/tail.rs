//! Reading a file of lines from its end.

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use super::super::{file, skipped_line};
use super::JournalLine;
use crate::wire::v1::{MAX_LINE, decode_line};
use andon_core::domain::diagnostic::Diagnostic;

/// The content of the end of one file.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) lines: Vec<JournalLine>,
    pub(super) warnings: Vec<Diagnostic>,
    /// Bytes that were looked at.
    pub(super) bytes: u64,
}

/// The lines that lie wholly in the last `max` bytes of `path`. The newest line is read even when it alone is longer.
pub(super) fn read(path: &Path, max: u64) -> Part {
    let end = end(path, max);
    let mut part = parse(path, end.start, &end.bytes);
    part.warnings.extend(end.warnings);
    part
}

/// The last bytes of a file.
#[derive(Debug, Default)]
pub(super) struct End {
    /// Whole lines.
    pub(super) bytes: Vec<u8>,
    /// The offset at which the bytes begin.
    pub(super) start: u64,
    /// The reason that there are no bytes, if that is an error.
    pub(super) warnings: Vec<Diagnostic>,
}

/// The lines that lie wholly in the last `max` bytes of `path`, undecoded.
pub(super) fn end(path: &Path, max: u64) -> End {
    match read_end(path, max) {
        Ok(Some((start, bytes))) => End { bytes, start, warnings: Vec::new() },
        Ok(None) => End::default(),
        Err(error) => {
            End { warnings: vec![warning(path, 0, format!("cannot be read: {error}"))], ..End::default() }
        }
    }
}

pub(super) fn warning(path: &Path, offset: u64, why: String) -> Diagnostic {
    skipped_line(path, offset, why)
}

/// The last bytes and where they begin: at the start of a line, but for a file of one endless line.
fn read_end(path: &Path, max: u64) -> io::Result<Option<(u64, Vec<u8>)>> {
    let Some(mut file) = file::open(path)? else { return Ok(None) };
    let len = file.metadata()?.len();
    let longest = (MAX_LINE as u64).saturating_add(2).max(max);
    for window in [max, longest] {
        // One byte more, to see whether the window begins with a line.
        let start = len.saturating_sub(window.saturating_add(1));
        let mut bytes = Vec::with_capacity(usize::try_from(len - start).unwrap_or(0));
        file.seek(SeekFrom::Start(start))?;
        file.by_ref().take(len - start).read_to_end(&mut bytes)?;
        if start == 0 {
            return Ok(Some((0, bytes)));
        }
        let first_end = bytes.iter().position(|byte| *byte == b'\n').map(|end| end + 1);
        match first_end {
            Some(end) if end < bytes.len() => {
                bytes.drain(..end);
                return Ok(Some((start + end as u64, bytes)));
            }
            Some(_) | None if window == longest => return Ok(Some((start, bytes))),
            Some(_) | None => {}
        }
    }
    Ok(None)
}

fn parse(path: &Path, start: u64, bytes: &[u8]) -> Part {
    let mut part = Part { bytes: bytes.len() as u64, ..Part::default() };
    let mut offset = start;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let at = offset;
        offset += line.len() as u64;
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match decode_line(line) {
            Ok(fact) => part.lines.push(fact),
            Err(error) => part.warnings.push(warning(path, at, error.to_string())),
        }
    }
    part
}
