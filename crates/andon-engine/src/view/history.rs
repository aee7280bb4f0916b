//! The history of a range of commits: what `andon log`, `show`, `report` and `export` tell of it.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::json;

use super::{LastHalt, StatusView};
use crate::asking::WaitingRound;
use crate::json::{self, RoundPrecedentJson};
use crate::text::{Forge, ShownChange};
use andon_core::domain::{CommitId, CommitRecord, Diagnostic, Timestamp};
use andon_store::{RecordError, StoredRecord};

/// The record of a commit, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordState {
    /// There is a record.
    Recorded(Box<CommitRecord>),
    /// There is no record of the commit.
    Missing,
    /// There is one and it cannot be read; why.
    Unreadable(String),
}

impl RecordState {
    /// The state that reading a record gives, with the record as it is `shown`.
    pub fn of(
        read: Result<Option<StoredRecord>, RecordError>,
        shown: impl FnOnce(CommitRecord) -> CommitRecord,
    ) -> Self {
        match read {
            Ok(Some(stored)) => Self::Recorded(Box::new(shown(stored.record))),
            Ok(None) => Self::Missing,
            Err(err) => Self::Unreadable(err.to_string()),
        }
    }

    /// The record, when there is a readable one.
    pub fn record(&self) -> Option<&CommitRecord> {
        if let Self::Recorded(record) = self { Some(record) } else { None }
    }

    /// The name of the state in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Recorded(_) => "recorded",
            Self::Missing => "missing",
            Self::Unreadable(_) => "unreadable",
        }
    }

    /// Returns the reason why the record cannot be read.
    pub fn problem(&self) -> Option<&str> {
        if let Self::Unreadable(why) = self { Some(why) } else { None }
    }
}

impl Serialize for RecordState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let record = self.record().map(json::record::record);
        json!({ "state": self.name(), "problem": self.problem(), "record": record }).serialize(serializer)
    }
}

/// A commit as `andon log` and `andon show` name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename = "commit")]
pub struct LoggedCommit {
    /// Its full id; texts show the beginning.
    pub commit: CommitId,
    /// First line of its message.
    pub subject: String,
    #[serde(flatten)]
    pub state: RecordState,
}

/// A commit of the range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryCommit {
    /// Its full id; texts show the beginning.
    pub commit: CommitId,
    /// First line of its message.
    pub subject: String,
    /// Committer date.
    pub at: Timestamp,
    /// Its record. Hashes of hunks and outputs are left out.
    pub state: RecordState,
}

/// A longer pause is not part of an iteration's time.
const LONGEST: i64 = 6 * 3600;

/// A node in a worktree: its commits follow one another.
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
    /// The changes behind the newest halts, by the halted commit.
    pub changes: BTreeMap<CommitId, ShownChange>,
    /// The forge that shows commits and files.
    pub forge: Forge,
    /// Rounds that wait for people.
    pub open: Vec<WaitingRound>,
    /// Rounds that people decided.
    pub decided: Vec<RoundPrecedentJson>,
    /// Problems with the sources: unreadable records, skipped entries.
    pub warnings: Vec<Diagnostic>,
}
