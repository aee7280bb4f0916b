//! The remarks about the lines of a stream: the first ones, and how many more there are.

use crate::adapter::EventError;
use andon_core::domain::{Diagnostic, plural::count};

/// Most remarks about single lines that are kept.
const MAX_REMARKS: usize = 20;

/// Lines as they are counted.
#[derive(Default)]
pub struct LineSummary {
    /// The number of the line, from 1.
    pub line: u64,
    /// Facts.
    pub kept: u64,
    /// Lines that are no facts.
    pub refused: u64,
    first: Vec<Diagnostic>,
    further: u64,
}

impl LineSummary {
    /// A line is no fact.
    pub fn refuse(&mut self, error: &EventError) {
        self.refused = self.refused.saturating_add(1);
        let refused = Diagnostic::error(format!("no fact: {error}")).code("event");
        self.remark(refused.helps(error.help()));
    }

    /// Something about a fact does not count.
    pub fn odd(&mut self, odd: Option<Diagnostic>) {
        if let Some(odd) = odd {
            self.remark(odd);
        }
    }

    /// The first remarks, and a count of those beyond them.
    pub fn remarks(self) -> Vec<Diagnostic> {
        let mut notes = self.first;
        if self.further > 0 {
            let further = format!("left out: {} about lines", count(self.further, "more remark"));
            notes.push(Diagnostic::note(further).code("event"));
        }
        notes
    }

    fn remark(&mut self, remark: Diagnostic) {
        if self.first.len() < MAX_REMARKS {
            self.first.push(remark.at(format!("line {}", self.line)));
        } else {
            self.further = self.further.saturating_add(1);
        }
    }
}
