//! Reading files of lines: from the end, and on from a place in them.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use memchr::memchr;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::super::{file, skipped_line};
use super::{Journal, JournalLine};
use crate::wire::v1::{MAX_LINE, decode_line};
use andon_core::domain::{Diagnostic, ShortHash};
use andon_git::from_end;

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
        Err(error) => End {
            warnings: vec![skipped_line(path, 0, format!("cannot be read: {error}"))],
            ..End::default()
        },
    }
}

/// The last bytes and where they begin: at the start of a line, but for a file of one endless line.
fn read_end(path: &Path, max: u64) -> io::Result<Option<(u64, Vec<u8>)>> {
    let Some(mut file) = file::open(path)? else { return Ok(None) };
    // One byte more, to see whether the window begins with a line.
    let windows = [max, (MAX_LINE as u64).saturating_add(2).max(max)].map(|window| window.saturating_add(1));
    let mut end = None;
    from_end(&mut file, &windows, |start, mut bytes| {
        let first_end = if start == 0 { Some(0) } else { memchr(b'\n', &bytes).map(|end| end + 1) };
        let found = first_end.filter(|end| start == 0 || *end < bytes.len());
        bytes.drain(..found.unwrap_or(0));
        end = Some((start + found.unwrap_or(0) as u64, bytes));
        found
    })?;
    Ok(end)
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
            Err(error) => part.warnings.push(skipped_line(path, at, error.to_string())),
        }
    }
    part
}

// Places in the journal, and reading on from one. The journal only grows: what was true of the first bytes stays true.

/// The number of bytes before a place that tell if it is still the same journal.
const GUARD: u64 = 128;

/// A place between two lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Position {
    /// The number that the file has, or will have once it is rotated; 0 only before everything.
    pub generation: u64,
    /// Bytes from its start.
    pub offset: u64,
}

impl Position {
    /// Before everything.
    pub const START: Self = Self { generation: 0, offset: 0 };
}

impl Journal {
    /// True when the file in which `place` lies was rotated since.
    pub(crate) fn rotated_since(&self, place: Position) -> bool {
        place.generation > 0 && self.generation(place.generation).exists()
    }

    /// True when there is more than the newest file.
    pub fn is_rotated(&self) -> bool {
        self.generation(1).exists()
    }

    /// A hash of the bytes before `place`; `None` when there is no such place any more.
    pub fn guard(&self, place: Position) -> Option<ShortHash> {
        let mut file = file::open(&self.file_of(place)).ok()??;
        if file.metadata().ok()?.len() < place.offset {
            return None;
        }
        let start = place.offset.saturating_sub(GUARD);
        file.seek(SeekFrom::Start(start)).ok()?;
        let mut bytes = Vec::new();
        file.take(place.offset - start).read_to_end(&mut bytes).ok()?;
        let hash = Sha256::new_with_prefix(place.generation.to_be_bytes()).chain_update(&bytes).finalize();
        hash.first_chunk().copied().map(ShortHash)
    }

    /// Gives every readable line after `from` to `take`, oldest first, and returns the place after the last whole one.
    ///
    /// # Errors
    /// The system's error for a file.
    pub fn read_on(&self, from: Position, take: &mut dyn FnMut(JournalLine)) -> io::Result<Position> {
        self.lines_after(from, &mut |_, line| {
            if let Ok(fact) = decode_line(line) {
                take(fact);
            }
        })
    }

    /// The same with the bytes of each line, and its place. Memory is bounded by the longest line.
    pub(crate) fn lines_after(
        &self,
        from: Position,
        take: &mut dyn FnMut(Position, &[u8]),
    ) -> io::Result<Position> {
        let (older, newest) = self.files()?;
        for number in older.iter().copied().filter(|number| *number >= from.generation) {
            let start = if number == from.generation { from.offset } else { 0 };
            if let Some(file) = file::open(&self.generation(number))? {
                read_lines(file, Position { generation: number, offset: start }, take)?;
            }
        }
        let generation = older.last().map_or(1, |newest| newest.saturating_add(1));
        let start = if generation == from.generation { from.offset } else { 0 };
        let from = Position { generation, offset: start };
        newest.map_or(Ok(Position { generation, offset: 0 }), |file| read_lines(file, from, take))
    }

    /// The place from which the newest `count` generations begin.
    pub(crate) fn newest_generations(&self, count: u64) -> Position {
        let newest = self.generations().first().copied().unwrap_or(0);
        Position { generation: (newest + 1).saturating_sub(count), offset: 0 }
    }

    /// The file in which `place` lies.
    pub(crate) fn file_of(&self, place: Position) -> PathBuf {
        if self.rotated_since(place) { self.generation(place.generation) } else { self.path() }
    }

    pub(crate) fn line_at(&self, place: Position) -> Option<Vec<u8>> {
        let mut file = file::open(&self.file_of(place)).ok()??;
        file.seek(SeekFrom::Start(place.offset)).ok()?;
        let mut line = Vec::new();
        BufReader::new(file).take(MAX_LINE as u64 + 2).read_until(b'\n', &mut line).ok()?;
        Some(line)
    }

    /// The numbers of the generations, oldest first, and the newest file: of one moment, though others may rotate it.
    fn files(&self) -> io::Result<(Vec<u64>, Option<File>)> {
        let path: PathBuf = self.path();
        loop {
            let before = self.generations();
            let file = file::open(&path)?;
            if self.generations() == before {
                return Ok((before.into_iter().rev().collect(), file));
            }
        }
    }
}

/// Reads the lines from a place in the file on. Returns that at which the last whole line ends.
fn read_lines(mut file: File, from: Position, take: &mut dyn FnMut(Position, &[u8])) -> io::Result<Position> {
    file.seek(SeekFrom::Start(from.offset))?;
    let mut reader = BufReader::with_capacity(64 << 10, file);
    let (mut at, mut line) = (from, Vec::new());
    loop {
        line.clear();
        let read = reader.by_ref().take(MAX_LINE as u64 + 2).read_until(b'\n', &mut line)?;
        let whole = line.ends_with(b"\n");
        // A line that is too long is passed over piece by piece; one that has no end yet is read next time.
        if read == 0 || (!whole && read <= MAX_LINE) {
            return Ok(at);
        }
        take(at, &line);
        at.offset = at.offset.saturating_add(read as u64);
    }
}
