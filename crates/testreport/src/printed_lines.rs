//! The output, as far as it is kept for runs without a recognised report.

use std::collections::{BTreeSet, VecDeque};

use super::unstarted::{self, Ending};
use crate::told::{self, ToldTests};
use crate::{Root, normalize::mask_volatile, normalize_error, words::cut};

/// Most bytes of one line that are kept.
const MAX_LINE: usize = 400;

/// The prefixes that have been taken off: each level may hold several programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Depth {
    /// As it came.
    Whole,
    /// Below one prefix: a time stamp may come before that of a package.
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

/// First and last lines of an output, those that are not blank.
#[derive(Debug, Default)]
pub(super) struct PrintedOutput {
    head: Vec<String>,
    tail: VecDeque<String>,
    /// Most lines of each.
    bounds: (usize, usize),
    /// Lines between the two.
    dropped: u64,
    /// The tests that the first lines and those tell of, in whatever words.
    told: ToldTests,
    /// The first of those with which a tool says that a part of the run failed.
    failed: Option<String>,
}

impl PrintedOutput {
    pub(super) fn new(depth: Depth) -> Self {
        let bounds = match depth {
            Depth::Whole => (200, 400),
            Depth::Below | Depth::Last => (8, 32),
        };
        Self { bounds, ..Self::default() }
    }

    pub(super) fn line(&mut self, line: &str) {
        let line = line.trim_end();
        if line.is_empty() {
            return;
        }
        let line = cut(line, MAX_LINE);
        let (first, last) = self.bounds;
        if self.head.len() < first {
            return self.head.push(line.to_owned());
        }
        let mut kept = String::new();
        if self.tail.len() >= last {
            kept = self.tail.pop_front().unwrap_or_default();
            if self.dropped == 0 {
                self.head.iter().for_each(|line| self.told.line(line));
            }
            self.told.line(&kept);
            if self.failed.is_none() && told::is_failed_session(&kept) {
                self.failed = Some(kept.clone());
            }
            self.dropped += 1;
        }
        kept.clear();
        kept.push_str(line);
        self.tail.push_back(kept);
    }

    /// The lines that are kept.
    pub(super) fn lines(&self) -> impl DoubleEndedIterator<Item = &str> + Clone {
        self.head.iter().chain(&self.tail).map(String::as_str)
    }

    /// The line that says that the command, its target or its program is not there.
    pub(super) fn not_started(&self, ending: Ending) -> Option<String> {
        let short = self.dropped == 0 && self.head.len() + self.tail.len() <= unstarted::SHORT;
        let length = if short { unstarted::Length::Short } else { unstarted::Length::Long };
        unstarted::reason(&self.lines(), length, ending)
    }

    /// The number of different errors of a build that failed.
    pub(super) fn build_errors(&self) -> u64 {
        u64::try_from(told::build_errors(&self.lines().collect::<Vec<_>>().join("\n"))).unwrap_or(u64::MAX)
    }

    /// The tests that the lines name or count, in whatever words.
    pub(super) fn told(&self) -> ToldTests {
        let mut told = self.told.clone();
        let head = self.head.iter().filter(|_| self.dropped == 0);
        head.chain(&self.tail).for_each(|line| told.line(line));
        told
    }

    /// The first line with which a tool says that a part of the run failed.
    pub(super) fn failed_session(&self) -> Option<&str> {
        self.failed.as_deref().or_else(|| self.lines().find(|line| told::is_failed_session(line)))
    }

    /// The output, without what changes from run to run. Lines are sorted: programs that run at once are never in
    /// the same order.
    pub(super) fn normalized(&self, root: &Root) -> String {
        let lines: BTreeSet<String> =
            self.lines().map(|line| normalize_error(&mask_volatile(line, root), root)).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).filter(|line| !line.is_empty()).collect();
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> PrintedOutput {
        let mut printed = PrintedOutput::new(Depth::Whole);
        text.lines().for_each(|line| printed.line(line));
        printed
    }

    #[test]
    fn what_was_printed_is_compared_without_order_and_times() {
        let root = Root::new("/p");
        let one = printed("a 12ms\n\nb at /p/x.c:3\n").normalized(&root);
        assert_eq!(one, printed("b at /p/x.c:3\na 7ms\n").normalized(&root));
        assert_ne!(one, printed("a 12ms\nc at /p/x.c:3\n").normalized(&root));
        assert_ne!(printed("7 wrong").normalized(&root), printed("4 wrong").normalized(&root));
    }

    #[test]
    fn memory_is_bounded() {
        let mut printed = PrintedOutput::new(Depth::Whole);
        for number in 0..10_000 {
            printed.line(&format!("{number} {}", "é".repeat(1000)));
        }
        assert_eq!(printed.lines().count(), 600);
        assert!(printed.lines().all(|line| line.len() <= MAX_LINE));
        assert!(printed.lines().next_back().unwrap().starts_with("9999 "));
    }
}
