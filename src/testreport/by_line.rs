//! The readers of what comes line by line, as one.

use super::format::Format;
use super::libtest::LibtestReader;
use super::lines::Stream;
use super::normalize::Root;
use super::tally::Tally;
use super::tap::TapReader;
use super::text::TextReader;

/// The readers of what comes line by line.
pub(super) struct LineReaders {
    libtest: LibtestReader,
    tap: TapReader,
    text: TextReader,
}

impl LineReaders {
    pub(super) fn new(root: &Root) -> Self {
        Self { libtest: LibtestReader::new(root), tap: TapReader::new(root), text: TextReader::new(root) }
    }

    /// A line of standard output. What a test under libtest prints is no summary of another runner.
    pub(super) fn line(&mut self, line: &str) {
        self.libtest.line(line);
        self.tap.line(line);
        if !self.libtest.is_inside() {
            self.text.line(Stream::Stdout, line);
        }
    }

    /// A line of standard error.
    pub(super) fn side_line(&mut self, line: &str) {
        self.libtest.side_line(line);
        self.text.line(Stream::Stderr, line);
    }

    /// True when a runner has begun to tell of its tests: what comes now may be what they print.
    pub(super) fn is_at_work(&self) -> bool {
        self.libtest.is_inside() || self.text.is_open()
    }

    /// What was read: by libtest's reader, as TAP, as text. With a format, what was of another is left out.
    pub(super) fn finish(self, report: &str, format: Option<Format>) -> [Option<Tally>; 3] {
        [
            self.libtest.finish(report).filter(|tally| tally.is_wanted(format)),
            self.tap.finish(report).filter(|tally| tally.is_wanted(format)),
            self.text.finish(report, format),
        ]
    }
}
