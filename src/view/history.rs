//! What happened over a range of commits, for those who were not there: `andon report`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::log::RecordState;
use super::status::{LastHalt, StatusView};
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::ids::CommitId;
use andon_core::domain::time::Timestamp;

/// A commit of the range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryCommit {
    /// Its full id; texts show the beginning.
    pub commit: CommitId,
    /// First line of its message.
    pub subject: String,
    /// Committer date.
    pub at: Timestamp,
    /// What is recorded about it. Hashes of hunks and outputs are left out.
    pub state: RecordState,
}

/// A round that waits for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OpenRound {
    /// Its entry.
    pub id: String,
    /// The name of its state.
    pub status: String,
    /// What it asks.
    pub question: String,
    /// Since when.
    pub since: Timestamp,
    /// Who may take it now.
    pub may_answer: Vec<String>,
}

/// A round that people decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecidedRound {
    /// Its entry.
    pub id: String,
    /// What it asked.
    pub question: String,
    /// What was decided.
    pub decision: String,
    /// Why.
    pub rationale: String,
    /// Whether the decision holds today, by name.
    pub standing: &'static str,
    /// By whom.
    pub by: Vec<String>,
}

/// Everything `andon report` shows. Texts raw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryView {
    /// The present state of the loop; `None` where that could not be found out, and a warning says why.
    pub now: Option<StatusView>,
    /// The range as it was asked for.
    pub range: String,
    /// Its commits, parents before children; the newest where there were too many.
    pub commits: Vec<HistoryCommit>,
    /// Older commits of the range that are left out.
    pub left_out: usize,
    /// Halts at these commits, and the unanswered one, oldest first.
    pub halts: Vec<LastHalt>,
    /// What the commits of the newest halts changed, as lines.
    pub changes: BTreeMap<CommitId, Vec<String>>,
    /// Rounds that wait for people.
    pub open: Vec<OpenRound>,
    /// Rounds that people decided.
    pub decided: Vec<DecidedRound>,
    /// What went wrong while looking: unreadable records, skipped entries.
    pub warnings: Vec<Diagnostic>,
}
