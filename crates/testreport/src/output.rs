//! What one program prints: both its streams, read by every reader.

use super::by_line::{ByLine, LineReaders};
use super::format::Format;
use super::json::JsonReader;
use super::lines::{LineSplitter, Stream};
use super::normalize::Root;
use super::prefix::Columns;
use super::printed::Printed;
use super::tally::Tally;
use super::text::NEXTEST;
use super::xmlreport::XmlOutput;

/// How many prefixes have been taken off: each level may hold several programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Depth {
    /// As it came.
    Whole,
    /// Below one prefix: a time stamp may stand before that of a package.
    Below,
    /// Below two. No third is looked for.
    Last,
}

impl Depth {
    /// The next one.
    pub(super) fn below(self) -> Option<Self> {
        match self {
            Self::Whole => Some(Self::Below),
            Self::Below => Some(Self::Last),
            Self::Last => None,
        }
    }

    /// Most sources that are read apart: a bound on memory.
    pub(super) fn max_sources(self) -> usize {
        match self {
            Self::Whole => 256,
            Self::Below => 32,
            Self::Last => 0,
        }
    }
}

/// The output of one program.
pub(super) struct Output {
    names: [String; 2],
    stdout: LineSplitter,
    stderr: LineSplitter,
    readers: LineReaders,
    json: JsonReader,
    xml: XmlOutput,
    aside: Aside,
    columns: Columns,
    printed: Printed,
}

/// What is on standard error and belongs on standard output.
struct Aside {
    json: JsonReader,
    xml: XmlOutput,
}

impl Output {
    /// Of the program that `source` stands for (empty: of the run), in the project at `root`.
    pub(super) fn new(root: &Root, source: &str, depth: Depth) -> Self {
        let of = if source.is_empty() { String::new() } else { format!(" of {source}") };
        let names = [format!("standard output{of}"), format!("standard error{of}")];
        let [output, aside] = &names;
        Self {
            stdout: LineSplitter::default(),
            stderr: LineSplitter::default(),
            readers: LineReaders::new(root),
            json: JsonReader::new(root, output),
            xml: XmlOutput::new(root, output),
            aside: Aside { json: JsonReader::new(root, aside), xml: XmlOutput::new(root, aside) },
            columns: Columns::new(root, depth),
            printed: Printed::new(depth),
            names,
        }
    }

    /// How messages call it.
    pub(super) fn name(&self) -> &str {
        let [name, _] = &self.names;
        name
    }

    /// Takes the next chunk; where chunks end does not matter.
    pub(super) fn push(&mut self, stream: Stream, bytes: &[u8]) {
        let Self { stdout, stderr, readers, json, xml, aside, columns, printed, .. } = self;
        let (json, xml, lines) = match stream {
            Stream::Stdout => (json, xml, stdout),
            Stream::Stderr => (&mut aside.json, &mut aside.xml, stderr),
        };
        json.push(bytes);
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            xml.push(part, readers.is_at_work());
            lines.push(part, &mut |line| each(stream, line, readers, columns, printed));
        }
    }

    /// The program has ended: adds what it said to `whole`, what its report files say. The lines are for whoever
    /// cannot make anything of that.
    pub(super) fn finish(mut self, mut whole: Tally, format: Option<Format>) -> (Tally, Printed) {
        let Self { stdout, stderr, readers, columns, printed, .. } = &mut self;
        stdout.finish(&mut |line| each(Stream::Stdout, line, readers, columns, printed));
        stderr.finish(&mut |line| each(Stream::Stderr, line, readers, columns, printed));
        // JSON and XML first: a runner that prints them tells the same as text on the other stream (`jest --json`).
        for found in [self.json.finish(format), self.xml.finish(format)].into_iter().flatten() {
            whole.absorb(found);
        }
        let told = whole.told();
        let [name, _] = &self.names;
        let ByLine { structured, text, aside } = self.readers.finish(name, format);
        let text = text.filter(|text| text.adds_to(whole.told()));
        for tally in structured.into_iter().chain([text]).flatten() {
            whole.absorb(tally);
        }
        // Of standard error only what the rest does not tell: what nextest prints there of its tests, it has judged, and
        // a beginning without any test is likelier a word.
        let aside = [self.aside.json.finish(format), self.aside.xml.finish(format)].into_iter().chain(aside);
        for tally in aside.flatten() {
            let tells = whole.runner().is_none() || tally.has_failures() || tally.counts().ran() > 0;
            if tells && !whole.is_of(NEXTEST) && tally.adds_to(whole.told()) {
                whole.absorb(tally);
            }
        }
        self.columns.finish(format).join(name, told, &mut whole);
        (whole, self.printed)
    }
}

fn each(stream: Stream, line: &str, readers: &mut LineReaders, columns: &mut Columns, printed: &mut Printed) {
    columns.line(stream, line, readers);
    printed.line(line);
    match stream {
        Stream::Stdout => readers.line(line),
        Stream::Stderr => readers.side_line(line),
    }
}
