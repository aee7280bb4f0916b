//! One report, read so that a person can see how its failures became what is compared.

use std::ops::ControlFlow;

use crate::normalize::{explain_error, explain_id, mask_digits};
use crate::tally::{Original, Tally};
use crate::{
    Change, ExitKind, Format, ParsedRun, ReportInput, ReportReader, Root, normalize_error, normalize_id,
};

/// A report as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportReading {
    /// The run, as if this report were all that it left behind.
    pub run: ParsedRun,
    /// Errors of the run itself, then the failing tests by their normalized ids.
    pub failures: Vec<FailureTrace>,
}

/// The way of one failure through the rules. Texts raw, at most 16 KiB each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureTrace {
    /// The id as its reader handed it over; `None` for an error of the run itself.
    pub id: Option<String>,
    /// The result of each rule for the id; rules that changed nothing are left out.
    pub id_changes: Vec<Change>,
    /// The error text as its reader handed it over; `None` when there is none.
    pub error: Option<String>,
    /// The result of each rule for the error text.
    pub error_changes: Vec<Change>,
    /// The id after all rules.
    pub test: Option<String>,
    /// The error text after all rules: the fine level. `None` when nothing is left of it.
    pub text: Option<String>,
}

impl FailureTrace {
    fn new(original: Original, root: &Root) -> Self {
        let id = Some(original.id).filter(|id| !id.is_empty());
        let error = original.error;
        Self {
            id_changes: id.as_deref().map_or_else(Vec::new, |id| explain_id(id, root)),
            error_changes: error.as_deref().map_or_else(Vec::new, |text| explain_error(text, root)),
            test: id.as_deref().map(|id| normalize_id(id, root)),
            text: error.as_deref().map(|text| normalize_error(text, root)).filter(|text| !text.is_empty()),
            id,
            error,
        }
    }

    /// The error text without digits: the coarse level.
    pub fn coarse(&self) -> Option<String> {
        self.text.as_deref().map(|text| mask_digits(text).into_owned())
    }
}

/// A report that could not be read at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableReport {
    /// Name of the problem ([`ReportProblem::name`](super::ReportProblem::name)).
    pub name: &'static str,
    /// The problem, with the report's name.
    pub message: String,
}

/// A report as it was read, or the reason why it was not.
pub type Examined = Result<ReportReading, UnreadableReport>;

/// A report file that is being read.
pub struct Examination {
    name: String,
    root: Root,
    report: ReportReader,
}

impl Examination {
    /// For the file that messages call `name`, of a run in the project at `root`.
    pub fn new(name: &str, root: &Root) -> Self {
        let root = root.clone().keeping_originals();
        let report = ReportReader::new(&root, name, None);
        Self { name: name.to_owned(), root, report }
    }

    /// The same, with everything read as that format: as [`RunReader::only`](super::RunReader::only) reads it.
    #[must_use]
    pub fn only(mut self, format: Option<Format>) -> Self {
        let format = format.filter(|format| !format.is_exit_only());
        self.report = ReportReader::new(&self.root, &self.name, format);
        self
    }

    /// Takes the next chunk. `Break` when nothing that comes later can change what was read.
    pub fn push(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        self.report.push(bytes)
    }

    /// The file has ended, of a run that ended with `exit`: says how each failure was normalized. A report that
    /// can be read in part is examined, and its run is incomplete.
    pub fn finish(self, exit: ExitKind) -> Examined {
        conclude(self.report.finish(), &self.name, exit, &self.root)
    }
}

/// The same for a report that is there as a whole.
pub fn examine(input: ReportInput<'_>, exit: ExitKind, root: &Root) -> Examined {
    let mut examination = Examination::new(input.name, root);
    let _ = examination.push(input.bytes);
    examination.finish(exit)
}

fn conclude(tally: Tally, name: &str, exit: ExitKind, root: &Root) -> Examined {
    let known = tally.runner().is_some();
    let (problem, originals) = (tally.problem, tally.originals());
    let run = ParsedRun::conclude(tally, exit);
    match problem {
        Some(problem) if !known => {
            let message = run.warnings.into_iter().next().unwrap_or_else(|| name.to_owned());
            Err(UnreadableReport { name: problem, message })
        }
        Some(_) | None => {
            let failures = originals.into_iter().map(|original| FailureTrace::new(original, root)).collect();
            Ok(ReportReading { run, failures })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TestStatus;

    fn read(text: &str) -> Result<ReportReading, UnreadableReport> {
        let input = ReportInput { name: "r", bytes: text.as_bytes() };
        examine(input, ExitKind::Code(0), &Root::new("/work/p"))
    }

    #[test]
    fn failures_keep_how_they_came_and_became() {
        let text = "<testsuite name='s'><testcase name='/work/p/a::t'><failure message='took 5ms, got 3'/></testcase>\
                    <testcase name='b'><failure/></testcase></testsuite>";
        let one = read(text).unwrap();
        assert_eq!((one.run.status, one.run.failing.len(), one.failures.len()), (TestStatus::Failed, 2, 2));
        let trace = &one.failures[0];
        assert_eq!(trace.id.as_deref(), Some("s::/work/p/a::t"));
        assert_eq!(trace.test.as_deref(), Some("s::a::t"));
        assert_eq!(trace.error.as_deref(), Some("took 5ms, got 3"));
        assert_eq!(trace.error_changes[0].rule, "duration");
        assert_eq!(trace.text.as_deref(), Some("took <duration>, got 3"));
        assert_eq!(trace.coarse().as_deref(), Some("took <duration>, got #"));
        let ids: Vec<_> = one.failures.iter().filter_map(|trace| trace.test.as_deref()).collect();
        assert_eq!(ids, one.run.failing);
    }

    #[test]
    fn what_cannot_be_read_is_named_and_what_is_cut_is_marked() {
        for (text, name) in
            [("", "unknown-format"), ("hello", "unknown-format"), ("<html>", "unknown-format")]
        {
            assert_eq!(read(text).unwrap_err().name, name, "{text}");
        }
        let cut = read("<testsuite><testcase name='a'/>").unwrap();
        assert_eq!(cut.run.status, TestStatus::Incomplete);
    }
}
