//! JSON that runners write: an event a line, or one document for the whole run.
//!
//! Both come on standard output, between other lines, and in files. Only lines that begin with a brace are
//! looked at, so that a program that prints something else costs nothing. A document may be printed over
//! many lines: it begins with a line that is not whole and ends with a brace at the start of a line.
//! Formats tell themselves by their keys; a line that has the keys and cannot be read is a line that is
//! missing.

mod dart;
mod go;
mod jest;
mod libtest;
mod mocha;
mod pytest;

use serde::de::{DeserializeOwned, IgnoredAny};

use self::dart::DartReader;
use self::go::GoReader;
use self::libtest::LibtestJsonReader;
use self::pytest::PytestReader;
use super::normalize::Root;
use super::problem::ReportProblem;
use super::tally::Tally;

/// Longest line or document, in bytes.
const MAX_TEXT: usize = 64 * 1024 * 1024;

/// Whether a reader of a format knows a line as its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// It is an event of the format.
    Mine,
    /// It has the format's keys and cannot be read.
    Broken,
    /// Another format's, or none's.
    NotMine,
}

/// What is done with the line that is being put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// Nothing of it has come.
    Fresh,
    /// It may be JSON.
    Kept,
    /// It is not looked at.
    Skipped,
}

/// How a document is recognised, and how it is read.
type Document = (fn(&str) -> bool, fn(&str, &str, &mut Tally) -> Result<(), ReportProblem>);

/// Every format that is one document.
const DOCUMENTS: [Document; 2] = [(jest::is_ours, jest::read), (mocha::is_ours, mocha::read)];

/// Finds the JSON of a run in a stream of bytes.
pub(super) struct JsonReader {
    root: Root,
    report: String,
    line: Line,
    pending: Vec<u8>,
    /// A document over several lines, as far as it has come.
    block: Option<String>,
    broken: u64,
    /// What documents said.
    found: Option<Tally>,
    go: GoReader,
    libtest: LibtestJsonReader,
    pytest: PytestReader,
    dart: DartReader,
}

impl JsonReader {
    /// For a run in the project at `root`, read from a stream or file that messages call `report`.
    pub(super) fn new(root: &Root, report: &str) -> Self {
        Self {
            root: root.clone(),
            report: report.to_owned(),
            line: Line::Fresh,
            pending: Vec::new(),
            block: None,
            broken: 0,
            found: None,
            go: GoReader::new(root),
            libtest: LibtestJsonReader::new(root),
            pytest: PytestReader::new(root),
            dart: DartReader::new(root),
        }
    }

    /// Takes the next chunk; where chunks end does not matter.
    pub(super) fn push(&mut self, mut bytes: &[u8]) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
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
            let wanted = self.block.is_some() || matches!(first, b'{' | b'F');
            self.line = if wanted { Line::Kept } else { Line::Skipped };
        }
        if self.line == Line::Kept {
            let taken = self.pending.len() + self.block.as_ref().map_or(0, String::len);
            let room = MAX_TEXT.saturating_sub(taken);
            self.pending.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
        }
    }

    fn end_line(&mut self) {
        let kept = std::mem::replace(&mut self.line, Line::Fresh) == Line::Kept;
        if !kept {
            return;
        }
        let bytes = std::mem::take(&mut self.pending);
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_end();
        // Inside a document only its first line begins with a brace.
        if let Some(block) = self.block.take_if(|_| text.starts_with('{')) {
            self.document(&block);
        }
        match &mut self.block {
            Some(block) => {
                block.push_str(text);
                block.push('\n');
                if text.starts_with('}')
                    && let Some(block) = self.block.take()
                {
                    self.document(&block);
                }
            }
            None if text.starts_with('{') => self.object(text),
            None => self.go.plain(text),
        }
    }

    /// A line that begins with a brace.
    fn object(&mut self, text: &str) {
        let taken = self.event(text);
        if taken == Taken::Mine {
            return;
        }
        match serde_json::from_str::<IgnoredAny>(text) {
            Ok(_) => self.document(text),
            Err(error) if error.is_eof() => self.block = Some(format!("{text}\n")),
            Err(_) => self.broken += u64::from(taken == Taken::Broken),
        }
    }

    fn event(&mut self, text: &str) -> Taken {
        let mut taken = self.go.line(text);
        let others: [&mut dyn FnMut() -> Taken; 3] =
            [&mut || self.libtest.line(text), &mut || self.pytest.line(text), &mut || self.dart.line(text)];
        for other in others {
            if taken == Taken::NotMine {
                taken = other();
            }
        }
        taken
    }

    /// A whole document, or as much as has come of one.
    fn document(&mut self, text: &str) {
        if let Some((_, read)) = DOCUMENTS.iter().find(|(is_ours, _)| is_ours(text)) {
            let mut tally = Tally::new(&self.root);
            if let Err(problem) = read(text, &self.report, &mut tally) {
                tally.problem(&self.report, &problem);
            }
            self.found = self.found.take().into_iter().chain([tally]).reduce(merge);
        } else if text.lines().next().is_some_and(|line| self.event(line) == Taken::Broken) {
            self.broken += u64::from(serde_json::from_str::<IgnoredAny>(text).is_err());
        }
    }

    /// What was read; `None` when nothing of it was a format that is known.
    pub(super) fn finish(mut self) -> Option<Tally> {
        self.end_line();
        if let Some(block) = self.block.take() {
            self.document(&block);
        }
        let report = self.report.as_str();
        let events = [
            self.go.finish(report),
            self.libtest.finish(report),
            self.pytest.finish(report),
            self.dart.finish(report),
        ];
        let mut whole = self.found.into_iter().chain(events.into_iter().flatten()).reduce(merge)?;
        if self.broken > 0 {
            let problem = ReportProblem::Truncated(format!("{} lines are cut or malformed", self.broken));
            whole.problem(report, &problem);
        }
        Some(whole)
    }
}

fn merge(mut one: Tally, other: Tally) -> Tally {
    one.absorb(other);
    one
}

/// A document as the format's own type.
fn document<T: DeserializeOwned>(text: &str) -> Result<T, ReportProblem> {
    serde_json::from_str(text).map_err(|error| {
        if error.is_eof() {
            return ReportProblem::Truncated("the document is not closed".to_owned());
        }
        let before = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len);
        let at = before.sum::<usize>() + error.column();
        let what = error.to_string().chars().take(200).collect();
        ReportProblem::Malformed { at: u64::try_from(at).unwrap_or(u64::MAX), what }
    })
}

#[cfg(test)]
mod tests;
