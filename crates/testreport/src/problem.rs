//! Problems for which a report cannot be taken at its word.

use thiserror::Error;

/// A problem of one report. The caller, which knows the name of the file, puts it in front.
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
    /// Breaks off before its end.
    #[error("cut short: {0}")]
    Truncated(String),
    /// Breaks the rules of its format.
    #[error("malformed at byte {at}: {what}")]
    Malformed {
        /// Byte offset.
        at: u64,
        /// The fault.
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
    /// A suite that counts more tests than it lists.
    #[error("suite {suite:?} says that {claimed} ran and lists {listed}")]
    CasesMissing {
        /// Name of the suite.
        suite: String,
        /// Tests that it counts.
        claimed: u64,
        /// Cases that it lists.
        listed: u64,
    },
    /// A test binary that began with more tests than its result line counts.
    #[error("a test binary announced a run of {planned}, and its `test result:` line counts {counted}")]
    ResultShort {
        /// Tests it was about to run.
        planned: u64,
        /// Tests that its result counts.
        counted: u64,
    },
    /// A run that announced more tests than its summary counts.
    #[error("{runner} announced a run of {planned}, and its summary counts {counted}")]
    SummaryShort {
        /// Name of the runner.
        runner: &'static str,
        /// Tests that were announced.
        planned: u64,
        /// Tests that were counted.
        counted: u64,
    },
    /// A plan that does not match what came.
    #[error("the plan is 1..{planned}, and {came} came")]
    PlanMismatch {
        /// Tests in the plan.
        planned: u64,
        /// Test points that came.
        came: u64,
    },
    /// A test point whose number came before.
    #[error("test point {0} comes twice: one of them takes the place of a test that is missing")]
    NumberTwice(u64),
    /// A test point whose number the plan does not have.
    #[error("test point {number} is outside the plan 1..{planned}")]
    NumberOutsidePlan {
        /// The number as it was written.
        number: u64,
        /// Tests in the plan.
        planned: u64,
    },
    /// A plan that does not begin at 1.
    #[error("{0:?} is no plan: a plan begins at 1, such as 1..3")]
    WrongPlan(String),
    /// A line that is no TAP, in a stream that says that it has no other.
    #[error("the stream says `pragma +strict` and holds a line that is no TAP: {0:?}")]
    StrayLine(String),
    /// Test points without any plan.
    #[error("no plan (such as 1..{0}): the end of the report cannot be told from a cut")]
    PlanMissing(u64),
    /// A test binary that never printed its result line.
    #[error("a test binary announced a run of {planned} and never printed its `test result:` line")]
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
        "not a test report that can be read ({0}); the XML and JSON of test runners, TAP and the text that known runners print are"
    )]
    Unknown(String),
}

impl ReportProblem {
    /// The problem's name, for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "too-large",
            Self::Encoding(_) => "encoding",
            Self::Truncated(_) => "truncated",
            Self::Malformed { .. } => "malformed",
            Self::PieceTooLong(_) => "too-long",
            Self::TooDeep(_) => "too-deep",
            Self::TooManyCases(_) => "too-many-cases",
            Self::CasesMissing { .. } => "cases-missing",
            Self::PlanMismatch { .. } => "plan-mismatch",
            Self::NumberTwice(_) => "number-twice",
            Self::NumberOutsidePlan { .. } => "number-outside-plan",
            Self::WrongPlan(_) => "wrong-plan",
            Self::StrayLine(_) => "stray-line",
            Self::PlanMissing(_) => "plan-missing",
            Self::ResultShort { .. } => "result-short",
            Self::SummaryShort { .. } => "summary-short",
            Self::ResultMissing { .. } => "result-missing",
            Self::SummaryMissing { .. } => "summary-missing",
            Self::Unreadable(_) => "unreadable",
            Self::Unknown(_) => "unknown-format",
        }
    }
}
