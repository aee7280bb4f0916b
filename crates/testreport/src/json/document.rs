//! Documents that are a whole run: read as they come, by every format at once, until one is sure.

use super::super::normalize::Root;
use super::super::problem::ReportProblem;
use super::super::tally::Tally;
use super::jest::JestDocument;
use super::mocha::MochaDocument;
use super::rspec::RspecDocument;
use super::walk::{Document, FormatMatch, Walk};

/// The state of the reading of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// More has to come.
    Open,
    /// It is whole.
    Whole,
    /// It is no JSON, or too deep.
    Failed,
}

/// A document while it comes in.
pub(super) struct Documents {
    report: String,
    walk: Walk,
    formats: Vec<Box<dyn Document>>,
    failed: Option<ReportProblem>,
}

impl Documents {
    pub(super) fn new(root: &Root, report: &str) -> Self {
        let formats: Vec<Box<dyn Document>> = vec![
            Box::new(JestDocument::new(root, report)),
            Box::new(MochaDocument::new(root, report)),
            Box::new(RspecDocument::new(root, report)),
        ];
        Self { report: report.to_owned(), walk: Walk::new(), formats, failed: None }
    }

    /// Takes the next chunk.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Progress {
        let Self { walk, formats, failed, .. } = self;
        if failed.is_none() {
            let read = walk.push(bytes, &mut |path, node| {
                formats.iter_mut().try_for_each(|format| format.node(path, node))
            });
            *failed = read.err();
        }
        match (&self.failed, self.walk.is_done()) {
            (Some(_), _) => Progress::Failed,
            (None, true) => Progress::Whole,
            (None, false) => Progress::Open,
        }
    }

    /// True when the document is of a format that is known.
    pub(super) fn is_known(&self) -> bool {
        self.formats.iter().any(|format| format.sure() == FormatMatch::Ours)
    }

    /// What the document said; `None` when it is of no format that is known.
    pub(super) fn finish(self) -> Option<Tally> {
        let mut format = self.formats.into_iter().find(|format| format.sure() == FormatMatch::Ours)?;
        let read = match self.failed {
            Some(problem) => Err(problem),
            None if self.walk.is_done() => format.conclude(),
            None => Err(ReportProblem::Truncated("the document is not closed".to_owned())),
        };
        let mut tally = format.into_tally();
        if let Err(problem) = read {
            tally.problem(&self.report, &problem);
        }
        Some(tally)
    }
}
