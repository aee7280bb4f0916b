//! TAP 12, 13 and 14 on standard output or in a file.
//!
//! The plan is the only thing that tells a whole report from a cut one, so a stream without one, or with another number
//! of test points than planned, is incomplete. So is one in which a number comes twice or lies outside the plan, one
//! with a second plan that is none, and one with foreign lines that says it has none. A version line, a second plan, or
//! points after a closing plan separate several documents in one stream.
//!
//! Subtests (indented by four spaces, in front of the point that closes them) count by their leaves: the
//! closing point counts itself only when it has no subtests, or fails although none of them did.

mod document;
mod error;
mod heading;
mod line;

use self::document::{Document, MAX_DEPTH};
use self::error::{ErrorBlock, LinePlace};
use self::heading::Headings;
use self::line::{Line, Point, parse_line};
use crate::tally::{Tally, append_line};
use crate::{Root, cases::Cases};

/// Name of the runner in evidence.
const RUNNER: &str = "tap";

/// Reads TAP line by line.
#[derive(Default)]
pub(super) struct TapReader {
    document: Document,
    /// The results of the documents that have ended.
    ended: Cases,
    /// A document had a plan or a version line, and not only numbered points.
    announced: bool,
    error: Option<ErrorBlock>,
    /// Points whose subtests come in braces behind them, outermost first, with their depths.
    opened: Vec<(usize, Point)>,
    headings: Headings,
    /// The words of the newest point on its error, before any text below it.
    lead: String,
}

impl TapReader {
    pub(super) fn new(root: &Root, report: &str) -> Self {
        Self { ended: Cases::new(root, report, RUNNER), ..Self::default() }
    }

    /// A line of standard output.
    pub(super) fn line(&mut self, line: &str) {
        let spaces = line.len() - line.trim_start_matches(' ').len();
        if spaces == 0 && self.headings.line(line) {
            return self.end_error();
        }
        self.stray(line, spaces);
        if let Some(block) = &mut self.error {
            match block.take(line, spaces) {
                LinePlace::More => return,
                LinePlace::Ended => return self.end_error(),
                LinePlace::NotMine => self.end_error(),
            }
        }
        let (depth, rest) = (spaces / 4, line.get(spaces..).unwrap_or_default());
        if spaces.is_multiple_of(4) && depth <= MAX_DEPTH {
            if rest == "}" {
                return self.close_braces(depth);
            }
            self.at_depth(depth, parse_line(rest));
        }
    }

    /// A line that is no TAP, outside of the YAML block of a point, is a fault after `pragma +strict`.
    fn stray(&mut self, line: &str, spaces: usize) {
        let rest = line.get(spaces..).unwrap_or_default();
        let in_block = self.error.as_ref().is_some_and(|block| block.holds(rest, spaces));
        let blank = rest.trim().is_empty() || rest == "}";
        if !blank && !in_block && parse_line(rest) == Line::Other {
            self.document.stray(spaces / 4, line);
        }
    }

    /// The subtests of a point have come: it ends them.
    fn close_braces(&mut self, depth: usize) {
        if self.opened.last().is_some_and(|(opened, _)| *opened == depth)
            && let Some((_, point)) = self.opened.pop()
        {
            self.document.point(depth, point);
        }
    }

    fn without_braces(&mut self, depth: usize, mut point: Point) {
        if !self.document.is_open_below(depth) {
            point.description.push_str(" {");
        }
        self.document.point(depth, point);
    }

    /// Ends braces at a line that is not deeper than their point: they were part of its name, or were never closed.
    fn leave_braces(&mut self, depth: usize) {
        while self.opened.last().is_some_and(|(opened, _)| *opened >= depth) {
            let Some((opened, point)) = self.opened.pop() else { return };
            self.without_braces(opened, point);
        }
    }

    fn at_depth(&mut self, depth: usize, line: Line<'_>) {
        match line {
            Line::Version if depth == 0 => {
                self.end_document();
                self.document.version();
            }
            Line::Plan(planned) => {
                self.leave_braces(depth);
                if depth == 0 && self.document.ends_before_plan() {
                    self.end_document();
                }
                self.document.plan(depth, planned);
            }
            Line::Point(point) => {
                self.leave_braces(depth);
                if depth == 0 && self.document.is_judged_by(&point) {
                    return;
                }
                if depth == 0 && self.document.ends_before_point(point.number) {
                    self.end_document();
                }
                if point.opens && self.opened.len() <= MAX_DEPTH {
                    self.opened.push((depth, point));
                    return;
                }
                let (point, lead) =
                    if depth == 0 { self.headings.name(point) } else { (point, String::new()) };
                self.lead = lead;
                self.document.point(depth, point);
                // After any point: the YAML block of a passing one must not be read as TAP.
                self.error = Some(ErrorBlock::new(depth));
            }
            Line::WrongPlan(line) => self.document.wrong_plan(depth, line),
            Line::Strict(strictness) => self.document.pragma(depth, strictness),
            Line::BailOut(reason) if depth == 0 || self.document.is_open_below(depth - 1) => {
                self.document.bail_out(reason);
            }
            Line::Version | Line::BailOut(_) | Line::Comment(_) | Line::Pragma | Line::Other => {}
        }
    }

    fn end_error(&mut self) {
        if let Some(block) = self.error.take() {
            let (depth, text) = block.finish();
            let mut whole = std::mem::take(&mut self.lead);
            if !text.is_empty() {
                append_line(&mut whole, &text);
            }
            self.document.explain(depth, whole);
        }
    }

    fn end_document(&mut self) {
        self.end_error();
        // With subtests that no brace closes the document is cut short, and shows it.
        while let Some((depth, point)) = self.opened.pop() {
            if !self.document.is_open_below(depth) {
                self.without_braces(depth, point);
            }
        }
        let document = std::mem::take(&mut self.document);
        if !document.is_tap() {
            return;
        }
        self.ended.recognised = true;
        self.announced |= document.announced();
        if let Some(problem) = document.finish(&mut self.ended.tally) {
            self.ended.problem(&problem);
        }
    }

    /// As [`TapReader::finish`], where a lone `ok 1` is likelier a word than a test: `None` without plan or version.
    pub(super) fn announced(mut self) -> Option<Tally> {
        self.end_document();
        self.announced.then_some(self.ended.tally)
    }

    /// The result; `None` when nothing of it was TAP.
    pub(super) fn finish(mut self) -> Option<Tally> {
        self.end_document();
        self.ended.recognised.then_some(self.ended.tally)
    }
}

#[cfg(test)]
mod tests;
