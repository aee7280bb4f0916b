//! JSON that runners write: an event a line, or one document for the whole run.
//!
//! Both come on standard output, between other lines, and in files. Only lines that begin with a brace
//! (mocha's events: a bracket) are looked at, so that a program that prints something else costs nothing. A document may be printed over
//! many lines, and is read as it comes, never held.
//! Formats tell themselves by their keys; a line that has the keys and cannot be read is a line that is
//! missing.

mod dart;
mod go;
mod jest;
mod libtest;
mod mocha;
mod node;
mod pytest;
mod rspec;
#[cfg(test)]
mod testkit;
mod walk;

use self::mocha::{MochaDocument, MochaStreamReader};
use self::walk::{Document, Walk};
use self::{
    dart::DartReader, go::GoReader, jest::JestDocument, libtest::LibtestJsonReader, node::NodeReader,
    pytest::PytestReader, rspec::RspecDocument,
};
use crate::{Format, ReportProblem, Root, cases::Cases, tally::Tally};

/// Longest line that may be an event, in bytes. A document may be longer: it is read as it comes.
const MAX_EVENT: usize = 4 * 1024 * 1024;

/// Bytes of a line after which it is read as a document as well.
const EARLY: usize = 64 * 1024;

/// The use that the reader of a format has for a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineUse {
    /// It is an event of the format.
    Mine,
    /// It has the format's keys and cannot be read.
    Broken,
    /// Another format's, or none's.
    NotMine,
}

/// Reads a format whose events come line by line.
trait EventReader {
    /// Takes a line that begins as the events do.
    fn line(&mut self, said: &mut Cases, line: &str) -> LineUse;

    /// Takes any other line between the events.
    fn plain(&mut self, _: &str) {}

    /// No more of it comes.
    fn conclude(&mut self, said: &mut Cases);
}

/// The treatment of the line that is being put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// Nothing of it has come.
    Fresh,
    /// It may be an event or the beginning of a document.
    Kept,
    /// It belongs to a document.
    OfBlock,
    /// It is not looked at.
    Skipped,
}

/// Finds the JSON of a run in a stream of bytes.
pub(super) struct JsonReader {
    root: Root,
    report: String,
    line: Line,
    /// The line that is being put together, as far as it is kept.
    pending: Vec<u8>,
    /// A document over several lines, or in a long one, as far as it has come.
    block: Option<Block>,
    broken: u64,
    /// Events that are longer than what is held.
    too_long: u64,
    /// The results of documents.
    found: Option<Tally>,
    events: [EventFormat; 6],
}

/// A format whose events come line by line, with what they said so far.
struct EventFormat {
    /// The first character of its events.
    begins: char,
    said: Cases,
    reader: Box<dyn EventReader>,
}

/// A document that is not whole yet.
struct Block {
    documents: Documents,
    /// The use that the line formats had for its first line.
    first: LineUse,
}

impl JsonReader {
    /// For a run in the project at `root`, read from a stream or file that messages call `report`.
    pub(super) fn new(root: &Root, report: &str) -> Self {
        let readers: [(&'static str, char, Box<dyn EventReader>); 6] = [
            ("go-json", '{', Box::<GoReader>::default()),
            ("libtest-json", '{', Box::<LibtestJsonReader>::default()),
            ("pytest-reportlog", '{', Box::<PytestReader>::default()),
            ("dart-json", '{', Box::<DartReader>::default()),
            ("node-json", '{', Box::<NodeReader>::default()),
            (mocha::RUNNER, '[', Box::<MochaStreamReader>::default()),
        ];
        let format = |(runner, begins, reader)| {
            let said = Cases::new(root, report, runner);
            EventFormat { begins, said, reader }
        };
        Self {
            root: root.clone(),
            report: report.to_owned(),
            line: Line::Fresh,
            pending: Vec::new(),
            block: None,
            broken: 0,
            too_long: 0,
            found: None,
            events: readers.map(format),
        }
    }

    /// Takes the next chunk; where chunks end does not matter.
    pub(super) fn push(&mut self, mut bytes: &[u8]) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (head, rest) = bytes.split_at(end);
            bytes = rest.get(1..).unwrap_or_default();
            self.keep(head);
            self.end_line();
        }
        self.keep(bytes);
    }

    fn keep(&mut self, bytes: &[u8]) {
        let Some(first) = bytes.first() else { return };
        if self.line == Line::Fresh {
            // Inside a document only its first line begins with a brace.
            if *first == b'{' {
                self.end_block();
            }
            self.line = match (&self.block, first) {
                (Some(_), _) => Line::OfBlock,
                (None, b'{' | b'F' | b'[') => Line::Kept,
                (None, _) => Line::Skipped,
            };
        }
        match self.line {
            Line::OfBlock => self.of_block(bytes),
            Line::Kept => self.of_line(bytes),
            Line::Fresh | Line::Skipped => {}
        }
    }

    fn of_block(&mut self, bytes: &[u8]) {
        if let Some(block) = &mut self.block {
            block.documents.push(bytes);
        }
    }

    /// A line that may be an event or a document: which, is known at its end, and a long one is read as both.
    fn of_line(&mut self, bytes: &[u8]) {
        let known = self.block.as_ref().is_some_and(|block| block.documents.is_known());
        if known || self.pending.len() > MAX_EVENT {
            return self.of_block(bytes);
        }
        self.pending.extend_from_slice(bytes);
        if self.block.is_some() {
            self.of_block(bytes);
        } else if self.pending.len() > EARLY && self.pending.starts_with(b"{") {
            let mut documents = Documents::new(&self.root, &self.report);
            documents.push(&self.pending);
            self.block = Some(Block { documents, first: LineUse::NotMine });
        }
    }

    fn end_line(&mut self) {
        match std::mem::replace(&mut self.line, Line::Fresh) {
            Line::OfBlock => self.pause_block(),
            Line::Kept => self.end_kept(),
            Line::Fresh | Line::Skipped => {}
        }
    }

    /// A line inside a document has ended: the document may have, too.
    fn pause_block(&mut self) {
        let progress = self.block.as_mut().map(|block| block.documents.push(b"\n"));
        if matches!(progress, Some(Progress::Whole | Progress::Failed)) {
            self.end_block();
        }
    }

    fn end_kept(&mut self) {
        let bytes = std::mem::take(&mut self.pending);
        let known = self.block.as_ref().is_some_and(|block| block.documents.is_known());
        if known {
            return self.pause_block();
        }
        if bytes.len() > MAX_EVENT {
            // Too long for an event, and no document that is known: something is missing.
            let head = String::from_utf8_lossy(bytes.get(..EARLY).unwrap_or_default());
            let marks = [
                "\"Action\":",
                "\"event\":",
                "\"$report_type\":",
                "\"testID\":",
                "\"type\":\"test:",
                "[\"fail\",",
            ];
            self.too_long += u64::from(marks.iter().any(|mark| head.contains(mark)));
            self.block = None;
            return;
        }
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_end();
        if !text.starts_with(['{', '[']) {
            return self.events.iter_mut().for_each(|format| format.reader.plain(text));
        }
        let first = self.event(text);
        if text.starts_with('[') {
            self.broken += u64::from(first == LineUse::Broken);
            return;
        }
        if first == LineUse::Mine {
            self.block = None;
            return;
        }
        let (root, report) = (&self.root, self.report.as_str());
        let block = self.block.get_or_insert_with(|| {
            let mut documents = Documents::new(root, report);
            documents.push(text.as_bytes());
            Block { documents, first }
        });
        block.first = first;
        self.pause_block();
    }

    /// The document is whole, or nothing more of it comes.
    fn end_block(&mut self) {
        let Some(Block { mut documents, first }) = self.block.take() else { return };
        let whole = documents.push(b"") == Progress::Whole;
        match documents.finish() {
            Some(tally) => self.found = self.found.take().into_iter().chain([tally]).reduce(Tally::with),
            None => self.broken += u64::from(first == LineUse::Broken && !whole),
        }
    }

    fn event(&mut self, text: &str) -> LineUse {
        let formats = self.events.iter_mut().filter(|format| text.starts_with(format.begins));
        let mut uses = formats.map(|format| format.reader.line(&mut format.said, text));
        uses.find(|used| *used != LineUse::NotMine).unwrap_or(LineUse::NotMine)
    }

    /// The result; `None` when nothing of it was of a known format.
    /// With a format, what was of another is left out.
    pub(super) fn finish(mut self, format: Option<Format>) -> Option<Tally> {
        self.end_line();
        self.end_block();
        let report = self.report.as_str();
        let events = self.events.into_iter().filter_map(|EventFormat { mut said, mut reader, .. }| {
            reader.conclude(&mut said);
            said.recognised.then_some(said.tally)
        });
        let found = self.found.into_iter().chain(events);
        let mut whole = found.filter(|tally| tally.is_wanted(format)).reduce(Tally::with)?;
        if self.too_long > 0 {
            whole.problem(report, &ReportProblem::PieceTooLong(MAX_EVENT));
        }
        if self.broken > 0 {
            let problem =
                ReportProblem::Truncated(format!("lines that are cut or malformed: {}", self.broken));
            whole.problem(report, &problem);
        }
        Some(whole)
    }
}

/// The state of the reading of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    Open,
    Whole,
    /// It is no JSON, or too deep.
    Failed,
}

/// A document while it comes in.
pub(super) struct Documents {
    walk: Walk,
    formats: [(Cases, Box<dyn Document>); 3],
    failed: Option<ReportProblem>,
}

impl Documents {
    pub(super) fn new(root: &Root, report: &str) -> Self {
        let formats: [(&'static str, Box<dyn Document>); 3] = [
            ("jest-json", Box::<JestDocument>::default()),
            (mocha::RUNNER, Box::<MochaDocument>::default()),
            ("rspec-json", Box::<RspecDocument>::default()),
        ];
        let formats = formats.map(|(runner, format)| (Cases::new(root, report, runner), format));
        Self { walk: Walk::new(), formats, failed: None }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> Progress {
        let Self { walk, formats, failed, .. } = self;
        if failed.is_none() {
            let read = walk.push(bytes, &mut |path, node| {
                for (cases, format) in formats.iter_mut() {
                    format.node(cases, path, node);
                }
            });
            *failed = read.err();
        }
        match (&self.failed, self.walk.is_done()) {
            (Some(_), _) => Progress::Failed,
            (None, true) => Progress::Whole,
            (None, false) => Progress::Open,
        }
    }

    /// True when the document is of a format that is known.
    pub(super) fn is_known(&self) -> bool {
        self.formats.iter().any(|(_, format)| format.is_sure())
    }

    /// The result of the document; `None` when it is of no known format.
    pub(super) fn finish(self) -> Option<Tally> {
        let (mut cases, mut format) = self.formats.into_iter().find(|(_, format)| format.is_sure())?;
        format.end(&mut cases);
        match self.failed {
            Some(problem) => cases.problem(&problem),
            None if self.walk.is_done() => format.conclude(&mut cases),
            None => cases.cut("the document is not closed"),
        }
        Some(cases.tally)
    }
}

#[cfg(test)]
mod tests;
