//! The tests of a file, found line by line.

use std::ops::Range;

use crate::declaration::{Declaration, attributes, declared, is_attribute};
use crate::skips::{
    Groups, Heirs, Layout, has_attributes, is_feature_off, is_marked, is_of_platform, is_said,
};
use crate::source::{Source, is_name, is_noise, outer_bytes};
use crate::{code_mask::Family, words::Words};

/// Tests of one side that are looked at; more of them in one commit is no edit by hand.
pub(super) const MAX_TESTS: usize = 1 << 14;

/// A test as it is in a file.
#[derive(Debug, Clone)]
pub(super) struct Test {
    pub(super) name: String,
    /// The file of its side that it is in.
    pub(super) file: usize,
    pub(super) layout: Layout,
    pub(super) skipped: bool,
    /// True when a runner finds its class.
    pub(super) collected: bool,
}

/// The tests of a file, the `file`th of its side.
pub(super) fn tests<'t>(source: &Source, words: &Words<'t>, file: usize, heirs: &Heirs<'t>) -> Vec<Test> {
    let groups = Groups { source, words, heirs };
    let reader = Reader { source, words };
    let mut tests: Vec<Test> = Vec::new();
    let (mut skipped, mut focused, mut lost) = (Vec::new(), Vec::new(), Vec::new());
    let mut at = 0;
    while at < source.len() && tests.len() < MAX_TESTS && !words.tests.is_empty() {
        let Some(found) = declared(source, words, at) else {
            if !source.is_quoted(at) {
                skipped.extend(groups.skipped(at, |at| declared(source, words, at).is_some()));
                focused.extend(groups.focused(at));
                lost.extend(groups.uncollected(at));
            }
            at += 1;
            continue;
        };
        let lines = reader.above(at)..reader.end_of(&found);
        at = lines.end.max(at + 1);
        let layout = reader.layout(lines, &found);
        let head = source.code.get(layout.block.start..layout.attributes).unwrap_or_default();
        if source.family == Family::Python && head.contains("fixture") {
            continue;
        }
        if is_marked(source, &words.focuses, &layout) {
            focused.push(layout.line..layout.line + 1);
        }
        let skipped = reader.is_skipped(&layout);
        tests.push(Test { name: found.name, file, layout, skipped, collected: true });
    }
    for it in &mut tests {
        let within = |ranges: &[Range<usize>]| ranges.iter().any(|lines| lines.contains(&it.layout.line));
        it.collected = !within(&lost);
        it.skipped |= within(&skipped) || !focused.is_empty() && !within(&focused);
    }
    tests
}

struct Reader<'s, 't> {
    source: &'s Source,
    words: &'s Words<'t>,
}

impl Reader<'_, '_> {
    /// The first line of the attributes and decorators above a declaration, which belong to it.
    fn above(&self, declared: usize) -> usize {
        let source = self.source;
        if !has_attributes(source.family) {
            return declared;
        }
        let (mut first, depth) = (declared, source.depth(declared));
        let mut at = declared;
        while at > 0 && declared - at < 256 {
            at -= 1;
            if source.depth(at) > depth || source.is_quoted(at) {
                continue;
            }
            let code = source.code(at);
            if is_attribute(code) && is_noise(attributes(code).1) {
                first = at;
            } else if !code.trim().is_empty() || source.text(at).trim().is_empty() {
                break;
            } else if source.family == Family::Php {
                // A comment may hold annotations.
                first = at;
            }
        }
        first
    }

    /// The line after a test's last one; where brackets do not close, the next test of the same column ends it.
    fn end_of(&self, found: &Declaration) -> usize {
        let (source, line) = (self.source, found.line);
        let (end, column) = (source.end_of(line), source.indent(line));
        let stray = |at: &usize| {
            source.indent(*at) == column
                && source.depth(*at) > source.depth(line)
                && declared(source, self.words, *at).is_some()
        };
        (line + 1..end).find(stray).unwrap_or(end)
    }

    fn layout(&self, lines: Range<usize>, found: &Declaration) -> Layout {
        let source = self.source;
        let block = source.place(&lines);
        let code = source.code(found.line);
        let own = if has_attributes(source.family) { code.len() - attributes(code).1.len() } else { 0 };
        let attributes = source.start(found.line) + own;
        let from = found.place.max(attributes);
        let body = self.body_of(from, block.end, found).clamp(from.min(block.end), block.end);
        Layout {
            block,
            line: found.line,
            attributes,
            place: found.place.max(source.start(lines.start)),
            body,
        }
    }

    /// The place where the body of a test begins.
    fn body_of(&self, from: usize, end: usize, found: &Declaration) -> usize {
        let code = self.source.code.get(from..end).unwrap_or_default();
        let line_end = || code.find('\n').unwrap_or(code.len());
        let after = |word: &str| code.find(word).map(|at| at + word.len());
        let body = match self.source.family {
            Family::Script => {
                let arrow = after("=>");
                let function = after("function");
                arrow.into_iter().chain(function).min().unwrap_or(code.len())
            }
            Family::Python => colon(code).unwrap_or_else(line_end),
            Family::Ruby | Family::Elixir | Family::Shell => {
                if self.source.code(found.line).trim_start().starts_with("def ") {
                    line_end()
                } else {
                    let block = code.match_indices(" do").map(|(at, _)| at + 3);
                    let block = block
                        .into_iter()
                        .find(|at| !code.get(*at..).is_some_and(|rest| rest.starts_with(is_name)));
                    block.into_iter().chain(after("{")).min().unwrap_or(code.len())
                }
            }
            Family::Rust
            | Family::Go
            | Family::Jvm
            | Family::Sharp
            | Family::Php
            | Family::C
            | Family::Swift
            | Family::Dart
            | Family::Other => after("{").or_else(|| after(")")).unwrap_or_else(line_end),
        };
        from + body
    }

    fn is_skipped(&self, layout: &Layout) -> bool {
        let (source, marks) = (self.source, &self.words.skips);
        let head = source.raw.get(layout.block.start..layout.attributes).unwrap_or_default();
        let off = source.family == Family::Rust && is_feature_off(head);
        if off || is_marked(source, marks, layout) || self.is_pending(layout) {
            return true;
        }
        let body = source.code.get(layout.body..layout.block.end).unwrap_or_default();
        let lines: Vec<&str> = if marks.statements.is_empty() { Vec::new() } else { body.lines().collect() };
        lines.iter().enumerate().any(|(at, line)| {
            // A test that asks for the machine runs on others.
            let above = at.checked_sub(1).and_then(|at| lines.get(at)).map_or("", |line| line.trim_start());
            let asked = above.starts_with("if ") && is_of_platform(above) || is_of_platform(line);
            is_said(line, marks) && !asked
        })
    }

    /// A test without a body is still to be written.
    fn is_pending(&self, layout: &Layout) -> bool {
        let head = self.source.code.get(layout.place..layout.block.end).unwrap_or_default();
        let bodyless = layout.body >= layout.block.end;
        let family = self.source.family;
        bodyless
            && (family == Family::Script && !head.contains(',')
                || matches!(family, Family::Ruby | Family::Elixir) && !head.contains('&'))
    }
}

/// The place of the colon that ends a signature.
fn colon(code: &str) -> Option<usize> {
    outer_bytes(code).find(|(_, byte)| *byte == b':').map(|(at, _)| at + 1)
}
