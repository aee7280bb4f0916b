//! What a decision was made from.

use andon_core::domain::ids::Signature;
use andon_core::domain::tests::TestEvidence;
use testreport::{FailureTrace, UnreadableReport};

/// A file and what it was read as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplainedFile {
    /// The file as it was named.
    pub name: String,
    /// What it says, or why it cannot be read.
    pub read: Result<ExplainedRun, UnreadableReport>,
}

/// What one report says. Texts raw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplainedRun {
    /// As a record would have it; the code it ran on is not known.
    pub evidence: TestEvidence,
    /// The error fingerprint of the coarse level.
    pub coarse: Option<Signature>,
    /// The failures and their way through the rules.
    pub failures: Vec<FailureTrace>,
    /// What was wrong with the report.
    pub warnings: Vec<String>,
}
