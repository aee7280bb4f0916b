//! Output of several programs at once, and output with time stamps: each line has a prefix.
//!
//! One line proves nothing: whatever looks like a prefix is read aside, per source, and counts only where the prefix is
//! a column, on most lines from its first to its last, and a report shows below it. The output as it came is read
//! all the same, so that nothing changes where there is no column.

mod shape;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use self::shape::{PrefixedLine, SHAPES};
use super::unstarted::{self, Ending, Tests};
use crate::beginnings::SessionCounts;
use crate::by_line::{ByLine, LineReaders, Runners};
use crate::lines::{LineSplitter, Utf16Filter};
use crate::printed_lines::{Depth, PrintedOutput};
use crate::promises::is_progress;
use crate::tally::{EarlierResults, Tally};
use crate::words::RUNNERS;
use crate::{Format, ReportProblem, Root, Stream, WordList, json::JsonReader, text::NEXTEST, xml::XmlOutput};

/// Fewest lines that make a column among others.
const FEWEST: u64 = 4;

/// Lines of one shape.
#[derive(Default)]
struct Column {
    sources: BTreeMap<String, Box<Output>>,
    lines: u64,
    /// The places of the first and the last of them.
    span: Option<(u64, u64)>,
    /// Lines of sources beyond the bound.
    left_out: u64,
}

impl Column {
    /// True when most of `all` lines have the prefix, or of those from the first that has it to the last.
    fn is_one(&self, all: u64) -> bool {
        let Some((first, last)) = self.span else { return false };
        let among = last.saturating_sub(first).saturating_add(1);
        let most_of = |lines: u64| self.lines.saturating_mul(2) >= lines;
        most_of(all) || self.lines >= FEWEST && most_of(among)
    }
}

/// The columns of prefixes that an output may have.
pub(super) struct Columns {
    root: Root,
    depth: Depth,
    /// Lines that are not blank.
    lines: u64,
    sources: usize,
    found: BTreeMap<usize, Column>,
    /// The source that was announced last, for lines that do not tell their own.
    heading: String,
    /// A line of a source, with its end.
    line: String,
}

impl Columns {
    /// For an output of that depth, of a run in the project at `root`.
    pub(super) fn new(root: &Root, depth: Depth) -> Self {
        Self {
            root: root.clone(),
            depth,
            lines: 0,
            sources: 0,
            found: BTreeMap::new(),
            heading: String::new(),
            line: String::new(),
        }
    }

    /// Takes the next line: true where it went to a source. What a test prints is not looked at: `readers` know whether one
    /// is running.
    pub(super) fn line(&mut self, stream: Stream, line: &str, readers: &mut LineReaders) -> bool {
        let Some(below) = self.depth.below() else { return false };
        if line.trim_ascii().is_empty() {
            return false;
        }
        self.lines += 1;
        let Some(cut) = shape::cut(line) else { return false };
        if readers.runners() == Runners::AtWork {
            return false;
        }
        if let Some(heading) = shape::heading(line) {
            heading.clone_into(&mut self.heading);
        }
        self.take(stream, cut, below);
        true
    }

    fn take(&mut self, stream: Stream, cut: PrefixedLine<'_>, below: Depth) {
        let source = if shape::is_below_heading(cut.shape) { self.heading.as_str() } else { cut.source };
        let column = self.found.entry(cut.shape).or_default();
        column.lines += 1;
        let first = column.span.map_or(self.lines, |(first, _)| first);
        column.span = Some((first, self.lines));
        let output = match column.sources.get_mut(source) {
            Some(output) => output,
            None if self.sources >= self.depth.max_sources() => {
                column.left_out += 1;
                return;
            }
            None => {
                self.sources += 1;
                let output = Box::new(Output::new(&self.root, source, below));
                column.sources.entry(source.to_owned()).or_insert(output)
            }
        };
        self.line.clear();
        self.line.push_str(cut.rest);
        self.line.push('\n');
        output.push(stream, self.line.as_bytes());
    }

    /// The results of the sources.
    pub(super) fn finish(self, format: Option<Format>) -> Parts {
        let mut parts = Parts::default();
        let all = self.lines;
        for (shape, column) in self.found.into_iter().filter(|(_, column)| column.is_one(all)) {
            let before = parts.of_sources.len();
            for (source, output) in column.sources {
                let (mut tally, printed) = output.finish(Tally::new(&self.root), format);
                // The text before the colon of `sh: 0: cannot open x` is no package: the run itself says it.
                if tally.runner().is_none()
                    && !unstarted::is_program(&source)
                    && let Some(reason) = printed.not_started(Ending { code: None, tests: Tests::None })
                {
                    tally.never_started(reason);
                }
                let is_cut = tally.runner().is_none() && printed.lines().next_back().is_some_and(is_progress);
                if is_cut {
                    let what = "its output ends within its tests".to_owned();
                    tally.problem(&source, &ReportProblem::Truncated(what));
                }
                let begun = tally.sessions.has_begun();
                if tally.runner().is_some() || tally.not_started().is_some() || begun || is_cut {
                    parts.of_sources.push((source, tally));
                }
            }
            if column.left_out > 0 && parts.of_sources.len() > before {
                parts.left_out.push((shape, column.left_out));
            }
        }
        parts
    }
}

/// The result of each source.
#[derive(Default)]
pub(super) struct Parts {
    of_sources: Vec<(String, Tally)>,
    /// Shape and lines of the sources that were too many.
    left_out: Vec<(usize, u64)>,
}

impl Parts {
    /// Takes all of them into `whole`, what the output says as it came, unless they only repeat what is `told` already.
    /// A test that two of them have is named with its source.
    pub(super) fn join(self, report: &str, told: Option<EarlierResults>, whole: &mut Tally) {
        let mut of_sources: Vec<(String, Tally)> =
            self.of_sources.into_iter().filter(|(_, tally)| tally.adds_to(told)).collect();
        let twice = named_twice(whole, &of_sources);
        let fails = of_sources.iter().any(|(_, tally)| tally.has_failures());
        for (source, tally) in &mut of_sources {
            tally.qualify(source, &twice);
            // When one source fails, tools end the others in the middle: what these miss is no fault of theirs.
            if fails && !tally.has_failures() {
                tally.was_ended();
            }
        }
        if of_sources.is_empty() {
            return;
        }
        for (_, tally) in of_sources {
            whole.absorb(tally);
        }
        for (shape, lines) in self.left_out {
            let (name, _) = SHAPES.get(shape).copied().unwrap_or(("prefix", |_| None));
            let what = format!("{lines} lines of further sources were not read ({name})");
            whole.problem(report, &ReportProblem::Truncated(what));
        }
    }
}

/// The ids that more than one of them has.
fn named_twice(whole: &Tally, of_sources: &[(String, Tally)]) -> BTreeSet<String> {
    let (mut seen, mut twice) = (BTreeSet::new(), BTreeSet::new());
    for tally in std::iter::once(whole).chain(of_sources.iter().map(|(_, tally)| tally)) {
        let ids = tally.ids();
        twice.extend(ids.intersection(&seen).map(|id| (*id).to_owned()));
        seen.extend(ids);
    }
    twice
}

/// Words of runners before the directory that they run in.
const ROOTS: WordList = WordList::section(RUNNERS, "roots");

/// The directory in a line with which a runner says where it runs, also behind a prefix.
fn stated_root(line: &str) -> Option<&str> {
    let behind = |words| line.split_once(words).map(|(_, rest)| rest);
    let rest = ROOTS.iter().find_map(behind)?;
    let path = rest.get(rest.find('/')?..)?;
    Some(path.split(", ").next().unwrap_or(path).trim_end()).filter(|path| path.len() < MAX_PATH)
}

/// Longest directory that is kept, in bytes.
const MAX_PATH: usize = 4_096;

/// The output of one program.
pub(super) struct Output {
    stdout: StreamReaders,
    stderr: StreamReaders,
    sinks: LineSinks,
}

/// The readers of one stream. Those of standard error are for output that belongs on standard output.
struct StreamReaders {
    name: String,
    filter: Utf16Filter,
    lines: LineSplitter,
    json: JsonReader,
    xml: XmlOutput,
}

impl StreamReaders {
    fn new(root: &Root, name: String) -> Self {
        let (json, xml) = (JsonReader::new(root, &name), XmlOutput::new(root, &name));
        Self { name, filter: Utf16Filter::default(), lines: LineSplitter::default(), json, xml }
    }
}

/// The takers of the lines of both streams.
struct LineSinks {
    readers: LineReaders,
    columns: Columns,
    printed: PrintedOutput,
    /// Directories that the runners say they run in, since they were asked for last.
    roots: Vec<String>,
    sessions: SessionCounts,
}

/// Most of these directories that wait to be asked for.
const MAX_ROOTS: usize = 64;

impl LineSinks {
    fn line(&mut self, stream: Stream, line: &str) {
        if self.roots.len() < MAX_ROOTS {
            self.roots.extend(stated_root(line).map(str::to_owned));
        }
        let is_of_source = self.columns.line(stream, line, &mut self.readers);
        self.printed.line(line);
        if self.readers.runners() == Runners::Idle {
            self.sessions.line(line);
            if !is_of_source {
                self.sessions.command(line);
            }
        }
        match stream {
            Stream::Stdout => self.readers.line(line),
            Stream::Stderr => self.readers.side_line(line),
        }
    }
}

impl Output {
    /// For the program named by `source` (empty: for the run), in the project at `root`.
    pub(super) fn new(root: &Root, source: &str, depth: Depth) -> Self {
        let of = if source.is_empty() { String::new() } else { format!(" of {source}") };
        let stdout = StreamReaders::new(root, format!("standard output{of}"));
        Self {
            stderr: StreamReaders::new(root, format!("standard error{of}")),
            sinks: LineSinks {
                readers: LineReaders::new(root, &stdout.name),
                columns: Columns::new(root, depth),
                printed: PrintedOutput::new(depth),
                roots: Vec::new(),
                sessions: SessionCounts::default(),
            },
            stdout,
        }
    }

    /// The directories that the runners have said they run in since the last call.
    pub(super) fn take_roots(&mut self) -> Vec<String> {
        std::mem::take(&mut self.sinks.roots)
    }

    /// The name in messages.
    pub(super) fn name(&self) -> &str {
        &self.stdout.name
    }

    /// Takes the next chunk; where chunks end does not matter.
    pub(super) fn push(&mut self, stream: Stream, bytes: &[u8]) {
        self.feed(stream, |filter, each| filter.push(bytes, each));
    }

    fn feed(&mut self, stream: Stream, fill: impl FnOnce(&mut Utf16Filter, &mut dyn FnMut(&[u8]))) {
        let Self { stdout, stderr, sinks } = self;
        let StreamReaders { filter, lines, json, xml, .. } = match stream {
            Stream::Stdout => stdout,
            Stream::Stderr => stderr,
        };
        fill(filter, &mut |bytes| {
            json.push(bytes);
            for part in bytes.split_inclusive(|byte| *byte == b'\n') {
                xml.push(part, sinks.readers.runners());
                lines.push(part, &mut |line| sinks.line(stream, line));
            }
        });
    }

    /// The program has ended: adds what it said to `whole`, the result of its report files. The lines are for the case
    /// that this shows nothing.
    pub(super) fn finish(mut self, mut whole: Tally, format: Option<Format>) -> (Tally, PrintedOutput) {
        for stream in [Stream::Stdout, Stream::Stderr] {
            self.feed(stream, |filter, each| filter.finish(each));
        }
        let Self { mut stdout, mut stderr, mut sinks } = self;
        stdout.lines.finish(&mut |line| sinks.line(Stream::Stdout, line));
        stderr.lines.finish(&mut |line| sinks.line(Stream::Stderr, line));
        // JSON and XML first: a runner that prints them tells the same as text on the other stream (`jest --json`).
        for found in [stdout.json.finish(format), stdout.xml.finish(format)].into_iter().flatten() {
            whole.absorb(found);
        }
        let told = whole.told();
        let ByLine { structured, text, aside } = sinks.readers.finish(&stdout.name, format);
        let text = text.filter(|text| text.adds_to(whole.told()));
        for tally in structured.into_iter().chain([text]).flatten() {
            whole.absorb(tally);
        }
        // From standard error only what the rest does not report: what nextest prints there about its tests has been
        // judged, and a beginning without any test is more likely a word.
        let aside = [stderr.json.finish(format), stderr.xml.finish(format)].into_iter().chain(aside);
        for tally in aside.flatten() {
            let tells = whole.runner().is_none() || tally.has_failures() || tally.counts.ran() > 0;
            if tells && !whole.is_of(NEXTEST) && tally.adds_to(whole.told()) {
                whole.absorb(tally);
            }
        }
        sinks.columns.finish(format).join(&stdout.name, told, &mut whole);
        whole.sessions.absorb(sinks.sessions);
        (whole, sinks.printed)
    }
}
