//! The number of an iteration is derived where it is shown. The number in a record is what the writing clone counted
//! then: a memo, which a later rebase or amend does not change.

use std::collections::BTreeMap;

use crate::{Result, Workspace, recording::timeline};
use andon_core::domain::{CommitId, CommitRecord, Fact};
use andon_core::history::{MAX_ITERATIONS, Timeline};
use andon_store::{NotesStore, Window, window};

/// The numbers of commits, derived when needed. Ask for the newest first: one window has the numbers of those behind
/// it.
pub struct Numbers<'a> {
    ws: &'a Workspace,
    store: &'a NotesStore<'a>,
    known: BTreeMap<CommitId, Option<u64>>,
}

impl<'a> Numbers<'a> {
    /// Those of the loop as it is now: what `andon status` counts.
    ///
    /// # Errors
    /// HEAD cannot be read.
    pub fn new(ws: &'a Workspace, store: &'a NotesStore<'a>) -> Result<Self> {
        let mut numbers = Self { ws, store, known: BTreeMap::new() };
        let now = timeline::load_at(ws, store, ws.repo.head()?.commit());
        numbers.take(&now.window, &now.timeline);
        Ok(numbers)
    }

    fn take(&mut self, window: &Window, timeline: &Timeline) {
        for (commit, number) in timeline.numbers(&window.facts) {
            self.known.entry(commit).or_insert(number);
        }
    }

    /// The number of a recorded commit; `None` where it is counted as another one, or not known.
    pub fn number(&mut self, commit: CommitId) -> Option<u64> {
        if let Some(known) = self.known.get(&commit) {
            return *known;
        }
        // The run that it belongs to is over, or it is on another branch.
        let window = window::read_apart(&self.ws.repo, self.store, commit, MAX_ITERATIONS);
        let facts = window.facts.iter().map(|fact| Fact::Commit(Box::new(fact.clone()))).collect();
        self.take(&window, &timeline::fold(self.ws, facts));
        *self.known.entry(commit).or_insert(None)
    }

    /// The record of `commit` with its number in the place of the memo; 0 where there is none.
    #[must_use]
    pub fn on(&mut self, commit: CommitId, record: CommitRecord) -> CommitRecord {
        CommitRecord { iteration: self.number(commit).unwrap_or(0), ..record }
    }
}
