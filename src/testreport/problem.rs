//! Why a report cannot be taken at its word.

use thiserror::Error;

/// What is wrong with one report. The name of the file is put in front by whoever knows it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReportProblem {
    /// Larger than what is read.
    #[error("{size} bytes, over the bound of {bound} bytes for one report")]
    TooLarge {
        /// Size in bytes.
        size: u64,
        /// The bound in bytes.
        bound: u64,
    },
    /// In an encoding that is not read.
    #[error("the encoding {0:?} is not read; have the runner write UTF-8")]
    Encoding(String),
    /// Claims to be UTF-8 and is not.
    #[error("not UTF-8 at byte {0}; have the runner write UTF-8")]
    NotUtf8(u64),
    /// Is not in the encoding that its mark or its declaration names.
    #[error("not {encoding} near byte {at}, and it says that it is; have the runner write UTF-8")]
    NotInEncoding {
        /// Name of the encoding.
        encoding: &'static str,
        /// Byte offset.
        at: u64,
    },
    /// Breaks off before its end.
    #[error("cut short: {0}")]
    Truncated(String),
    /// Breaks the rules of its format.
    #[error("malformed at byte {at}: {what}")]
    Malformed {
        /// Byte offset.
        at: u64,
        /// What is wrong.
        what: String,
    },
    /// A tag, a line or a name that is longer than what is held.
    #[error("a tag, a name or a line of more than {0} bytes")]
    PieceTooLong(usize),
    /// Elements nested too deep.
    #[error("elements nested deeper than {0}")]
    TooDeep(usize),
    /// More cases than are read.
    #[error("more than {0} test cases in one report")]
    TooManyCases(u64),
    /// A suite that counts tests and lists none.
    #[error("suite {suite:?} says that {claimed} tests ran and lists none of them")]
    CasesMissing {
        /// Name of the suite.
        suite: String,
        /// Its `tests` attribute.
        claimed: u64,
    },
    /// A plan that does not match what came.
    #[error("the plan says {planned} tests, {came} came")]
    PlanMismatch {
        /// Tests in the plan.
        planned: u64,
        /// Test points that came.
        came: u64,
    },
    /// Test points without any plan.
    #[error("no plan (such as 1..{0}): the end of the report cannot be told from a cut")]
    PlanMissing(u64),
    /// A test binary that never printed its result line.
    #[error("a test binary said \"running {planned} tests\" and never printed its `test result:` line")]
    ResultMissing {
        /// Tests it was about to run.
        planned: u64,
    },
    /// A text summary that never came.
    #[error("{runner} was at work and never printed its summary")]
    SummaryMissing {
        /// Name of the runner.
        runner: &'static str,
    },
    /// The file could not be opened or read.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// Not a format that is read.
    #[error(
        "not a report that is read here ({0}); the XML and JSON of test runners, TAP and the text that known runners print are"
    )]
    Unknown(String),
}

impl ReportProblem {
    /// The problem's name, for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "too-large",
            Self::Encoding(_) => "encoding",
            Self::NotUtf8(_) => "not-utf8",
            Self::NotInEncoding { .. } => "not-in-encoding",
            Self::Truncated(_) => "truncated",
            Self::Malformed { .. } => "malformed",
            Self::PieceTooLong(_) => "too-long",
            Self::TooDeep(_) => "too-deep",
            Self::TooManyCases(_) => "too-many-cases",
            Self::CasesMissing { .. } => "cases-missing",
            Self::PlanMismatch { .. } => "plan-mismatch",
            Self::PlanMissing(_) => "plan-missing",
            Self::ResultMissing { .. } => "result-missing",
            Self::SummaryMissing { .. } => "summary-missing",
            Self::Unreadable(_) => "unreadable",
            Self::Unknown(_) => "unknown-format",
        }
    }
}
