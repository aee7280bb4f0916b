//! What happened over a range of commits, for those who were not there: `andon report`.

use std::collections::BTreeMap;

use super::log::RecordState;
use super::status::{LastHalt, StatusView};
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::facts::CommitRecord;
use andon_core::domain::ids::CommitId;
use andon_core::domain::time::Timestamp;
use andon_engine::asking::WaitingRound;
use andon_engine::json::RoundPrecedentJson;
use andon_engine::text::forge::Forge;
use andon_engine::text::shown_change::ShownChange;

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

/// A longer pause is not part of an iteration's time.
const LONGEST: i64 = 6 * 3600;

/// What acts one after the other: a node in a worktree.
pub fn track(record: &CommitRecord) -> String {
    record.worktree.iter().fold(record.node.clone(), |node, worktree| format!("{node}, worktree {worktree}"))
}

impl HistoryView {
    /// When the iteration of each commit began: when the commit before it of its node in its worktree was made, if that is not
    /// too long ago; else its own time, and so for a commit without a record.
    pub fn begun(&self) -> Vec<Timestamp> {
        let mut last: BTreeMap<String, Timestamp> = BTreeMap::new();
        let mut begun = |commit: &HistoryCommit| {
            let before = last.insert(track(commit.state.record()?), commit.at)?;
            (0..=LONGEST).contains(&commit.at.0.saturating_sub(before.0)).then_some(before)
        };
        self.commits.iter().map(|commit| begun(commit).unwrap_or(commit.at)).collect()
    }
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
    /// What the newest halts are about, by the halted commit.
    pub changes: BTreeMap<CommitId, ShownChange>,
    /// Where commits and files can be looked at.
    pub forge: Forge,
    /// Rounds that wait for people.
    pub open: Vec<WaitingRound>,
    /// Rounds that people decided.
    pub decided: Vec<RoundPrecedentJson>,
    /// What went wrong while looking: unreadable records, skipped entries.
    pub warnings: Vec<Diagnostic>,
}
