//! XML among what a program prints: `mocha --reporter xunit`, `node --test --test-reporter=junit`.

use encoding_rs::UTF_8;

use super::{NAMES, XmlReader};
use crate::{Format, Root, by_line::Runners, decode::Decoder, tally::Tally};

/// Bytes at the beginning of a line that tell whether a document begins there.
const MARK: usize = 16;

/// The place in the output.
enum Position {
    /// In a line that may begin a document, with the line so far.
    LineStart(Vec<u8>),
    /// In a line that does not.
    Line,
    Document(Box<XmlReader>, Decoder),
}

/// Finds documents in a stream of output.
pub(in super::super) struct XmlOutput {
    root: Root,
    report: String,
    at: Position,
    found: Option<Tally>,
}

impl XmlOutput {
    /// For the output that messages call `report`, of a run in the project at `root`.
    pub(in super::super) fn new(root: &Root, report: &str) -> Self {
        Self {
            root: root.clone(),
            report: report.to_owned(),
            at: Position::LineStart(Vec::new()),
            found: None,
        }
    }

    /// Takes the next part of a line, with its end if it has come. Documents begin at the start of a line, and not
    /// while a runner reports its tests: then they are what a test printed.
    pub(in super::super) fn push(&mut self, part: &[u8], runners: Runners) {
        let ends = part.ends_with(b"\n");
        match &mut self.at {
            Position::Line => {}
            Position::LineStart(start) => {
                start.extend_from_slice(part);
                if start.len() < MARK && !ends {
                    return;
                }
                let start = std::mem::take(start);
                if runners == Runners::AtWork || !begins_document(&start) {
                    self.at = Position::Line;
                } else {
                    let reader = XmlReader::new(&self.root, &self.report, None);
                    self.at = Position::Document(Box::new(reader), Decoder::of(UTF_8));
                    self.of_document(&start);
                }
            }
            Position::Document(..) => self.of_document(part),
        }
        if ends && matches!(self.at, Position::Line) {
            self.at = Position::LineStart(Vec::new());
        }
    }

    /// Bytes that are no UTF-8 are replaced: output is not a file that could be written anew.
    fn of_document(&mut self, part: &[u8]) {
        let Position::Document(reader, decoder) = &mut self.at else { return };
        let read = decoder.push(part, &mut |text| reader.push(text));
        // The line that ends a document belongs to it to its end, wherever chunks end.
        if read.is_err() || (part.ends_with(b"\n") && reader.is_whole()) {
            self.end_document();
        }
    }

    fn end_document(&mut self) {
        let Position::Document(reader, _) = std::mem::replace(&mut self.at, Position::Line) else { return };
        // Any other XML is other output.
        if !reader.is_known() {
            return;
        }
        self.found = self.found.take().into_iter().chain([reader.finish()]).reduce(Tally::with);
    }

    /// The result; `None` when there was no report.
    pub(in super::super) fn finish(mut self, format: Option<Format>) -> Option<Tally> {
        self.end_document();
        self.found.filter(|tally| tally.is_wanted(format))
    }
}

/// A declaration, or the root element of a format that is read.
fn begins_document(line: &[u8]) -> bool {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let Some(rest) = line.strip_prefix(b"<") else { return false };
    rest.starts_with(b"?xml ")
        || NAMES.iter().filter_map(|row| row.split_once(' ')).any(|(name, _)| {
            let after = rest.strip_prefix(name.as_bytes()).and_then(|rest| rest.first());
            matches!(after, Some(b' ' | b'>' | b'/' | b'\r' | b'\n' | b'\t'))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{ExitKind, ParsedRun};

    fn read(text: &[u8], size: usize, runners: Runners) -> Option<ParsedRun> {
        let mut output = XmlOutput::new(&Root::none(), "out");
        for chunk in text.chunks(size) {
            for part in chunk.split_inclusive(|byte| *byte == b'\n') {
                output.push(part, runners);
            }
        }
        Some(ParsedRun::conclude(output.finish(None)?, ExitKind::Code(0)))
    }

    #[test]
    fn reports_between_lines() {
        let report = "<?xml version=\"1.0\"?>\n<testsuites>\n<testcase name=\"é\"/>\n</testsuites>\n";
        let text = format!("\n> test\n<testing\n{report}<p>\n{}", "<testsuite><testcase/></testsuite>\n<p>");
        for size in [1, 2, 5, 1000] {
            let run = read(text.as_bytes(), size, Runners::Idle).expect("junit");
            assert_eq!((run.counts.total, run.warnings.len()), (2, 0), "{size} {:?}", run.warnings);
            assert!(read(text.as_bytes(), size, Runners::AtWork).is_none());
        }
        for text in ["<?xml version='1.0'?>\n<html>\n</html>\n", "a <testsuite></testsuite>", "<?xml", "<p"] {
            assert!(read(text.as_bytes(), 3, Runners::Idle).is_none(), "{text}");
        }
        for text in [&report[..report.len() - 3], "<testsuite>\n<testcase>\n</testsuite>\n"] {
            let run = read(text.as_bytes(), 7, Runners::Idle).expect("junit");
            assert_eq!(run.warnings.len(), 1, "{text}");
        }
    }
}
