//! What happened over a range of commits, for those who were not there: `andon report`.

use std::collections::BTreeMap;

use super::log::RecordState;
use super::status::{LastHalt, StatusView};
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::ids::CommitId;
use andon_core::domain::time::Timestamp;
use andon_engine::json::RoundPrecedentJson;
use andon_engine::witnessing::WaitingRound;

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
    pub open: Vec<WaitingRound>,
    /// Rounds that people decided.
    pub decided: Vec<RoundPrecedentJson>,
    /// What went wrong while looking: unreadable records, skipped entries.
    pub warnings: Vec<Diagnostic>,
}
