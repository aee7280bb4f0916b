//! All readers that work line by line, as one.

use crate::{Format, Root, Stream, libtest::LibtestReader, tally::Tally, tap::TapReader, text::TextReader};

/// The readers of what comes line by line.
pub(super) struct LineReaders {
    libtest: LibtestReader,
    tap: TapReader,
    text: TextReader,
    aside: StderrReaders,
}

/// Readers of standard error, for output that belongs on standard output: a run that was redirected, or a second one.
struct StderrReaders {
    libtest: LibtestReader,
    tap: TapReader,
}

/// The results, by reader.
pub(super) struct ByLine {
    /// By libtest's reader and as TAP, on standard output.
    pub(super) structured: [Option<Tally>; 2],
    /// As text, on either stream.
    pub(super) text: Option<Tally>,
    /// By libtest's reader and as TAP, on standard error.
    pub(super) aside: [Option<Tally>; 2],
}

/// The runners whose tests come line by line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Runners {
    /// None has begun.
    Idle,
    /// One reports its tests: the lines may be printed by them.
    AtWork,
}

impl LineReaders {
    pub(super) fn new(root: &Root, report: &str) -> Self {
        let beside = "standard error";
        let aside =
            StderrReaders { libtest: LibtestReader::new(root, beside), tap: TapReader::new(root, beside) };
        Self {
            libtest: LibtestReader::new(root, report),
            tap: TapReader::new(root, report),
            text: TextReader::new(root),
            aside,
        }
    }

    /// A line of standard output. What a test under libtest prints is no summary of another runner.
    pub(super) fn line(&mut self, line: &str) {
        self.libtest.line(line);
        if !self.text.is_begun() {
            self.tap.line(line);
        }
        if !self.libtest.is_inside() {
            self.text.line(Stream::Stdout, line);
        }
    }

    /// A line of standard error.
    pub(super) fn side_line(&mut self, line: &str) {
        self.libtest.side_line(line);
        self.aside.libtest.of_binary(line);
        self.aside.tap.line(line);
        self.text.line(Stream::Stderr, line);
    }

    /// At work when a runner has begun to report its tests.
    pub(super) fn runners(&mut self) -> Runners {
        let at_work = self.libtest.is_inside() || self.aside.libtest.is_inside() || self.text.is_open();
        if at_work { Runners::AtWork } else { Runners::Idle }
    }

    /// The results. With a format, those of others are left out.
    pub(super) fn finish(self, report: &str, format: Option<Format>) -> ByLine {
        let wanted = |tally: &Tally| tally.is_wanted(format);
        let StderrReaders { libtest, tap: tap_aside } = self.aside;
        let text = self.text.finish(report, format);
        // Beside the summary of a runner, points without a plan are more likely words of its tests.
        let tap = if text.is_some() { self.tap.announced() } else { self.tap.finish() };
        ByLine {
            structured: [self.libtest.finish().filter(wanted), tap.filter(wanted)],
            text,
            aside: [libtest.finish().filter(wanted), tap_aside.announced().filter(wanted)],
        }
    }
}
