//! A file as lines of text and of code, with how deep in brackets each begins.

use std::{ops::Range, sync::Arc};

use crate::code_mask::{Family, masked};

/// A file, read once.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) raw: Arc<str>,
    /// The text without comments and quoted texts, of the same length.
    pub(super) code: String,
    pub(super) family: Family,
    /// True for tests that run over values that a macro makes up.
    pub(super) makes_up: bool,
    lines: Vec<Line>,
}

#[derive(Debug, Clone, Copy)]
struct Line {
    start: usize,
    end: usize,
    /// Brackets that are open where it begins.
    depth: usize,
    /// True for a line that begins within a quoted text.
    quoted: bool,
}

impl Source {
    pub(super) fn new(raw: Arc<str>, family: Family) -> Self {
        let code = masked(&raw, family);
        let (mut lines, mut start, mut depth) = (Vec::new(), 0, 0_usize);
        for text in code.split_inclusive('\n') {
            let end = start + text.trim_end_matches(['\n', '\r']).len();
            let quoted = text.as_bytes().first() == Some(&super::code_mask::QUOTED);
            lines.push(Line { start, end, depth, quoted });
            for byte in text.bytes() {
                match byte {
                    b'(' | b'[' | b'{' => depth += 1,
                    b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
            }
            start += text.len();
        }
        let makes_up = code.contains("proptest!");
        Self { raw, code, family, makes_up, lines }
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// The code of a line.
    pub(super) fn code(&self, at: usize) -> &str {
        self.lines.get(at).and_then(|line| self.code.get(line.start..line.end)).unwrap_or_default()
    }

    /// The text of a line.
    pub(super) fn text(&self, at: usize) -> &str {
        self.lines.get(at).and_then(|line| self.raw.get(line.start..line.end)).unwrap_or_default()
    }

    pub(super) fn is_quoted(&self, at: usize) -> bool {
        self.lines.get(at).is_some_and(|line| line.quoted)
    }

    pub(super) fn depth(&self, at: usize) -> usize {
        self.lines.get(at).map_or(0, |line| line.depth)
    }

    /// The place where a line begins; behind the last one, the end of the text.
    pub(super) fn start(&self, at: usize) -> usize {
        self.lines.get(at).map_or(self.code.len(), |line| line.start)
    }

    /// The place of a range of lines.
    pub(super) fn place(&self, lines: &Range<usize>) -> Range<usize> {
        self.start(lines.start)..self.start(lines.end)
    }

    pub(super) fn indent(&self, at: usize) -> usize {
        indent(self.code(at))
    }

    /// The line after the last one of what a line opens: by its brackets, else by indentation.
    pub(super) fn end_of(&self, opened: usize) -> usize {
        let (depth, column) = (self.depth(opened), self.indent(opened));
        let mut last = opened;
        for at in opened + 1..self.len() {
            let text = self.code(at).trim_start();
            let within = self.depth(at) > depth || self.is_quoted(at) || self.indent(at) > column;
            if text.is_empty() {
                continue;
            }
            if within && !(self.depth(at) <= depth && self.is_closed(last, text)) || text.starts_with('{') {
                last = at;
                continue;
            }
            return if is_end(text) && self.indent(at) == column { at + 1 } else { last + 1 };
        }
        last + 1
    }

    /// True when a line closes a block, and the next one does not go on with it.
    fn is_closed(&self, line: usize, next: &str) -> bool {
        let code = self.code(line).trim_end_matches([' ', ';', ')', ',']);
        !self.family.is_braceless() && code.ends_with('}') && !next.starts_with(['.', '-', '?'])
    }

    /// The nearest line above that is indented less: the block of a line.
    pub(super) fn parent(&self, at: usize) -> Option<usize> {
        let column = self.indent(at);
        (0..at).rev().find(|above| {
            let text = self.code(*above).trim_start();
            !text.is_empty() && !self.is_quoted(*above) && indent(self.code(*above)) < column && text != "{"
        })
    }
}

/// The bytes of code outside of all brackets, with their places.
pub(super) fn outer_bytes(code: &str) -> impl Iterator<Item = (usize, u8)> {
    let mut depth = 0_usize;
    code.bytes().enumerate().filter(move |(_, byte)| match byte {
        b'(' | b'[' | b'{' => {
            depth += 1;
            false
        }
        b')' | b']' | b'}' => {
            depth = depth.saturating_sub(1);
            false
        }
        _ => depth == 0,
    })
}

fn is_end(text: &str) -> bool {
    text.strip_prefix("end").is_some_and(|rest| !rest.starts_with(is_name))
}

pub(super) fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// True for a character of a name.
pub(super) fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// True for a line without letters and digits.
pub(super) fn is_noise(line: &str) -> bool {
    line.chars().all(|c| !c.is_alphanumeric())
}

/// The name at the beginning of a text.
pub(super) fn name(text: &str) -> &str {
    text.get(..text.find(|c| !is_name(c)).unwrap_or(text.len())).unwrap_or_default()
}

/// True for a text with a word that is no part of a longer one.
pub(super) fn holds(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let after = text.get(at + word.len()..).and_then(|text| text.chars().next());
        begins_apart(text, at, word) && !joins(word.chars().next_back(), after)
    })
}

/// As [`holds`], for a word that may go on.
pub(super) fn holds_start(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| begins_apart(text, at, word))
}

fn begins_apart(text: &str, at: usize, word: &str) -> bool {
    let before = text.get(..at).and_then(|text| text.chars().next_back());
    !joins(word.chars().next(), before)
}

fn joins(inner: Option<char>, outer: Option<char>) -> bool {
    inner.is_some_and(is_name) && outer.is_some_and(is_name)
}
