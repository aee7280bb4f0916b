//! The newest window of facts of this worktree: records of the commits behind HEAD, and the journal.

use super::error::OpsError;
use super::workspace::Workspace;
use crate::domain::facts::{Ack, CommitFact, Fact};
use crate::domain::ids::CommitId;
use crate::domain::tests::TestRun;
use crate::history::{self, Timeline};
use crate::record::journal::{AckPlace, Journal, Reach, Recent};
use crate::record::store::NotesStore;
use crate::record::window::{self, Window};

/// How many records back a hook looks. Rules with a larger reach count in `CommitRecord::iteration`.
pub const WINDOW: usize = 24;

/// How many test runs back a hook looks for evidence.
const RUNS: usize = 16;

/// What was read.
pub struct Loaded {
    /// The fold over everything below.
    pub timeline: Timeline,
    /// The window of recorded commits.
    pub window: Window,
    /// Acknowledgements in the journal, oldest first, each with whether a commit was recorded after it.
    pub acks: Vec<(Ack, AckPlace)>,
    /// Test runs in the journal, oldest first.
    pub runs: Vec<TestRun>,
    /// Unreadable records and journal lines that were skipped.
    pub warnings: Vec<String>,
}

/// Reads the window behind HEAD.
pub fn load(ws: &Workspace) -> Result<Loaded, OpsError> {
    load_at(ws, &NotesStore::open(&ws.repo)?, ws.repo.head()?.commit())
}

/// Reads the window behind `head`.
pub fn load_at(ws: &Workspace, store: &NotesStore<'_>, head: Option<CommitId>) -> Result<Loaded, OpsError> {
    let window = window::read_window(&ws.repo, store, head, WINDOW);
    let recent = Journal::open(ws.repo.git_dir()).recent(Reach { runs: RUNS, commits: WINDOW });
    let warnings = window.warnings.iter().chain(&recent.warnings).map(ToString::to_string).collect();
    let Recent { runs, acks, .. } = recent;
    let facts = interleave(&window.facts, &acks);
    let timeline = history::fold(&facts, ws.config.guard.session_gap);
    Ok(Loaded { timeline, window, acks, runs, warnings })
}

/// Puts each acknowledgement right after the commit that was HEAD then; one whose commit is not in the window
/// counts only while no commit was recorded after it (then the new record's `iteration` of 1 says the same).
pub fn interleave(commits: &[CommitFact], acks: &[(Ack, AckPlace)]) -> Vec<Fact> {
    let mut facts = Vec::with_capacity(commits.len() + acks.len());
    for commit in commits {
        facts.push(Fact::Commit(Box::new(commit.clone())));
        let here = acks.iter().filter(|(ack, _)| ack.head.is_some() && ack.head == commit.id);
        facts.extend(here.map(|(ack, _)| Fact::Ack(Box::new(ack.clone()))));
    }
    let elsewhere = acks.iter().filter(|(ack, place)| {
        *place == AckPlace::Last && !commits.iter().any(|commit| commit.id.is_some() && commit.id == ack.head)
    });
    facts.extend(elsewhere.map(|(ack, _)| Fact::Ack(Box::new(ack.clone()))));
    facts
}
