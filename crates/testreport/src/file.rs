//! A report file, chunk by chunk: its beginning tells what it is, and nothing of it is held.

use std::ops::ControlFlow;

use crate::by_line::{ByLine, LineReaders};
use crate::decode::{Decoder, HEAD};
use crate::{
    Format, ReportProblem, Root, Stream, json::JsonReader, lines::LineSplitter, prefix::Columns,
    printed_lines::Depth, tally::Tally, xml::XmlReader,
};

/// Largest report file that is read, in bytes: 16 GiB. It is never held; the bound is one on time.
pub const MAX_REPORT_BYTES: u64 = 16 * 1024 * 1024 * 1024;

/// The content of the file.
enum Body {
    /// Its beginning, until it is enough to tell.
    Head(Vec<u8>),
    Xml(Decoder, Box<XmlReader>),
    Text(Decoder, Box<TextBody>),
    /// Not even its encoding can be read.
    Unread(ReportProblem),
}

/// Reads one report file while it comes in.
pub struct ReportReader {
    root: Root,
    name: String,
    format: Option<Format>,
    size: u64,
    body: Body,
}

impl ReportReader {
    pub(super) fn new(root: &Root, name: &str, format: Option<Format>) -> Self {
        let body = Body::Head(Vec::new());
        Self { root: root.clone(), name: name.to_owned(), format, size: 0, body }
    }

    /// Takes the next chunk; where chunks end does not matter. `Break` when nothing that comes later can
    /// change what was read.
    pub fn push(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        self.size = self.size.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        if self.size > MAX_REPORT_BYTES {
            self.fail(ReportProblem::TooLarge { size: self.size, bound: MAX_REPORT_BYTES });
            return ControlFlow::Break(());
        }
        match &mut self.body {
            Body::Head(head) => {
                head.extend_from_slice(bytes);
                if head.len() >= HEAD { self.begin() } else { ControlFlow::Continue(()) }
            }
            Body::Xml(..) | Body::Text(..) | Body::Unread(_) => self.feed(bytes),
        }
    }

    /// Hands a chunk on to what the file is.
    fn feed(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        let read = match &mut self.body {
            Body::Xml(decoder, xml) => decoder.push(bytes, &mut |text| xml.push(text)),
            Body::Text(decoder, text) => text.push(decoder, bytes),
            Body::Head(_) => Ok(()),
            Body::Unread(_) => return ControlFlow::Break(()),
        };
        match read {
            Ok(()) => ControlFlow::Continue(()),
            Err(problem) => {
                self.fail(problem);
                ControlFlow::Break(())
            }
        }
    }

    fn fail(&mut self, problem: ReportProblem) {
        match &mut self.body {
            Body::Xml(_, xml) => xml.fail(problem),
            Body::Text(_, text) => text.fail(problem),
            Body::Head(_) => self.body = Body::Unread(problem),
            Body::Unread(_) => {}
        }
    }

    /// The beginning is there: what it shows decides.
    fn begin(&mut self) -> ControlFlow<()> {
        let Body::Head(head) = &mut self.body else { return ControlFlow::Continue(()) };
        let head = std::mem::take(head);
        // However much has come: the same bytes decide wherever chunks end.
        let beginning = head.get(..HEAD).unwrap_or(&head);
        self.body = match Decoder::new(beginning) {
            Err(problem) => Body::Unread(problem),
            Ok(decoder) if looks_like_xml(beginning) => {
                Body::Xml(decoder, Box::new(XmlReader::new(&self.root, &self.name, self.format)))
            }
            Ok(decoder) => Body::Text(decoder, Box::new(TextBody::new(&self.root, &self.name))),
        };
        self.feed(&head)
    }

    /// The file has ended.
    pub(super) fn finish(mut self) -> Tally {
        let _ = self.begin();
        match self.body {
            Body::Xml(mut decoder, mut xml) => {
                if let Err(problem) = decoder.finish() {
                    xml.fail(problem);
                }
                warned(xml.finish(), &decoder, &self.name)
            }
            Body::Text(decoder, text) => {
                warned(text.finish(&self.root, &self.name, self.format), &decoder, &self.name)
            }
            Body::Unread(problem) => Tally::unread(&self.name, &problem, &self.root),
            Body::Head(_) => Tally::unread(&self.name, &nothing("an empty file"), &self.root),
        }
    }
}

/// Adds the remark about bytes that were replaced.
fn warned(mut tally: Tally, decoder: &Decoder, name: &str) -> Tally {
    if let Some(warning) = decoder.warning() {
        tally.warn(format!("{name}: {warning}"));
    }
    tally
}

fn nothing(what: &str) -> ReportProblem {
    ReportProblem::Unknown(what.to_owned())
}

/// True when the content can only be XML: a bracket is its first character, in any encoding.
fn looks_like_xml(head: &[u8]) -> bool {
    let blank =
        |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, 0 | 0xef | 0xbb | 0xbf | 0xff | 0xfe);
    head.iter().find(|byte| !blank(byte)) == Some(&b'<')
}

/// A file that is no XML: lines of text, of TAP or of JSON.
struct TextBody {
    readers: LineReaders,
    lines: LineSplitter,
    json: JsonReader,
    columns: Columns,
    /// Nothing but white space has come.
    blank: bool,
    at: u64,
    failed: Option<ReportProblem>,
}

impl TextBody {
    fn new(root: &Root, name: &str) -> Self {
        Self {
            readers: LineReaders::new(root, name),
            lines: LineSplitter::default(),
            json: JsonReader::new(root, name),
            columns: Columns::new(root, Depth::Whole),
            blank: true,
            at: 0,
            failed: None,
        }
    }

    fn fail(&mut self, problem: ReportProblem) {
        self.failed.get_or_insert(problem);
    }

    /// UTF-8 is passed on unchanged: invalid bytes in a line of text are replaced there.
    fn push(&mut self, decoder: &mut Decoder, bytes: &[u8]) -> Result<(), ReportProblem> {
        if decoder.is_utf8() {
            self.bytes(bytes);
            return Ok(());
        }
        decoder.push(bytes, &mut |text| {
            self.bytes(text.as_bytes());
            Ok(())
        })
    }

    fn bytes(&mut self, mut bytes: &[u8]) {
        if self.at == 0 {
            bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        }
        if let Some(nul) = memchr::memchr(0, bytes) {
            let at = self.at.saturating_add(u64::try_from(nul).unwrap_or(u64::MAX));
            self.fail(ReportProblem::Malformed { at, what: "a NUL byte".to_owned() });
        }
        self.at = self.at.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        let Self { lines, readers, columns, .. } = self;
        lines.push(bytes, &mut |line| {
            columns.line(Stream::Stdout, line, readers);
            readers.line(line);
        });
        let bytes = if self.blank { bytes.trim_ascii_start() } else { bytes };
        if !bytes.is_empty() {
            self.blank = false;
        }
        self.json.push(bytes);
    }

    fn finish(mut self, root: &Root, name: &str, format: Option<Format>) -> Tally {
        let Self { lines, readers, columns, .. } = &mut self;
        lines.finish(&mut |line| {
            columns.line(Stream::Stdout, line, readers);
            readers.line(line);
        });
        let cut = self.lines.is_cut();
        let mut tally = Tally::new(root);
        // JSON first: the text of the same runner adds nothing to it.
        let mut recognised = self.json.finish(format).map(|json| tally.absorb(json));
        let told = tally.told();
        let ByLine { structured, text, .. } = self.readers.finish(name, format);
        let text = text.filter(|text| text.adds_to(told));
        let mut by_line = None;
        for one in structured.into_iter().chain([text]).flatten() {
            tally.absorb(one);
            (recognised, by_line) = (Some(()), Some(()));
        }
        self.columns.finish(format).join(name, told, &mut tally);
        if recognised.is_none() && tally.runner().is_none() {
            let problem = self.failed.unwrap_or_else(|| {
                nothing(match format {
                    _ if self.blank => "an empty file",
                    Some(_) => "nothing in the format that was asked for",
                    None => "text of no known form",
                })
            });
            return Tally::unread(name, &problem, root);
        }
        if let Some(problem) = self.failed {
            tally.problem(name, &problem);
        }
        if cut && by_line.is_some() {
            tally.warn(format!("{name}: lines of more than {} bytes were cut", LineSplitter::MAX_LINE));
        }
        tally
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ExitKind, ParsedRun, TestStatus};

    #[test]
    fn as_many_bytes_as_the_bound_are_read_and_one_more_is_not() {
        let text = b"1..1\nok 1\n";
        for (before, status) in [
            (MAX_REPORT_BYTES - text.len() as u64, TestStatus::Passed),
            (MAX_REPORT_BYTES - text.len() as u64 + 1, TestStatus::Incomplete),
        ] {
            let mut report = ReportReader::new(&Root::none(), "r", None);
            report.size = before;
            let flow = report.push(text);
            let run = ParsedRun::conclude(report.finish(), ExitKind::Code(0));
            assert_eq!((flow.is_continue(), run.status), (status == TestStatus::Passed, status));
            assert_eq!(run.warnings.len(), usize::from(flow.is_break()), "{:?}", run.warnings);
        }
    }
}
