//! The error text after a failing test point: a YAML block, or else the comments or the indented lines that
//! follow (mocha writes those).

use super::line::{Line, parse_line};
use crate::tally::append_line;

/// Keys of YAML blocks whose values say when or where, not what.
const VOLATILE_KEYS: [&str; 8] =
    ["duration_ms", "duration", "time", "location", "line", "column", "at", "stack"];

/// Lines of a YAML block that are looked at: one that never ends must not swallow the report.
const MAX_LINES: u32 = 10_000;

/// The fate of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LinePlace {
    /// Into the text; more may come.
    More,
    /// It was the end of the block.
    Ended,
    /// It is no part of the text.
    NotMine,
}

#[derive(Debug, PartialEq, Eq, Default)]
enum Part {
    /// The line after the point.
    #[default]
    Start,
    Comments,
    /// Lines that are indented by two, and what is indented further.
    Indented,
    /// Inside `---` and `...`.
    Yaml,
    /// Inside, in the value of a volatile key.
    Volatile,
}

/// Collects the text in bounded memory.
#[derive(Debug, Default)]
pub(super) struct ErrorBlock {
    depth: usize,
    part: Part,
    text: String,
    lines: u32,
    /// Columns before the block: two more than those of the point by the book, four with some.
    indent: usize,
}

impl ErrorBlock {
    /// For a point at that depth of subtests.
    pub(super) fn new(depth: usize) -> Self {
        Self { depth, ..Self::default() }
    }

    /// The depth and the text.
    pub(super) fn finish(self) -> (usize, String) {
        (self.depth, self.text)
    }

    /// True when a line with this text behind its indentation is part of a YAML block.
    pub(super) fn holds(&self, rest: &str, spaces: usize) -> bool {
        match self.part {
            Part::Start => rest == "---" && spaces > self.depth * 4,
            Part::Yaml | Part::Volatile => true,
            Part::Comments | Part::Indented => false,
        }
    }

    pub(super) fn take(&mut self, line: &str, spaces: usize) -> LinePlace {
        let rest = line.get(spaces..).unwrap_or_default();
        match self.part {
            Part::Start if rest == "---" && spaces > self.depth * 4 => {
                self.part = Part::Yaml;
                self.indent = spaces;
                LinePlace::More
            }
            Part::Start if spaces == self.depth * 4 + 2 && parse_line(rest) == Line::Other => {
                self.part = Part::Indented;
                self.indented(line, rest, spaces)
            }
            Part::Indented => self.indented(line, rest, spaces),
            Part::Start | Part::Comments => self.comment(rest, spaces),
            Part::Yaml | Part::Volatile => self.yaml(line, spaces),
        }
    }

    /// Comments at the depth of the point, up to the next subtest.
    fn comment(&mut self, rest: &str, spaces: usize) -> LinePlace {
        if let Some(text) = parse_line(rest).comment()
            && spaces == self.depth * 4
            && !text.starts_with("Subtest")
        {
            self.part = Part::Comments;
            append_line(&mut self.text, text);
            return LinePlace::More;
        }
        LinePlace::NotMine
    }

    /// Up to the first line that is not indented, or is TAP of a subtest.
    fn indented(&mut self, line: &str, rest: &str, spaces: usize) -> LinePlace {
        let indent = self.depth * 4 + 2;
        self.lines += 1;
        let mine =
            rest.is_empty() || spaces >= indent && matches!(parse_line(rest), Line::Other | Line::Comment(_));
        if !mine || self.lines > MAX_LINES {
            return LinePlace::NotMine;
        }
        append_line(&mut self.text, line.get(indent..).unwrap_or_default());
        LinePlace::More
    }

    /// A block ends at `...`, or where something that is less indented than the block is TAP again.
    fn yaml(&mut self, line: &str, spaces: usize) -> LinePlace {
        let rest = line.get(spaces..).unwrap_or_default();
        let indent = self.indent;
        self.lines += 1;
        if rest == "..." && spaces <= indent {
            return LinePlace::Ended;
        }
        let outside = spaces <= self.depth * 4 && !matches!(parse_line(rest), Line::Other | Line::Comment(_));
        if outside || self.lines > MAX_LINES {
            return LinePlace::NotMine;
        }
        if spaces == indent {
            let key = rest.split(':').next().unwrap_or_default();
            self.part = if VOLATILE_KEYS.contains(&key) { Part::Volatile } else { Part::Yaml };
        }
        if self.part == Part::Yaml {
            append_line(&mut self.text, line.get(indent..).unwrap_or(rest));
        }
        LinePlace::More
    }
}
