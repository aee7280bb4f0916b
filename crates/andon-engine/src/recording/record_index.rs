//! The records for a code, a tree or a change, whatever their commit.
//!
//! A merge button gives a tested tree a new commit, and a rebase gives a tested change one. The records of the original
//! commits stay in the notes. The newest ones are looked up here; how many is bounded, so that the cost does not grow
//! with history.

use std::collections::{BTreeSet, HashMap};

use crate::error::OpsError;
use andon_core::domain::facts::{CommitRecord, Gate, Recording};
use andon_core::domain::ids::{CodeId, CommitId, DiffHash, TreeId};
use andon_git::Repo;
use andon_store::notes::NotesStore;

/// Most commits of notes that are looked at.
const STEPS: usize = 1_024;
/// Most records that are looked at.
const RECORDS: usize = 4_096;
/// Most records of one key.
const PER_KEY: usize = 8;

/// The newest records by what they say.
#[derive(Debug, Default)]
pub(crate) struct RecordIndex {
    codes: HashMap<CodeId, Vec<CommitId>>,
    trees: HashMap<TreeId, Vec<CommitId>>,
    diffs: HashMap<DiffHash, Vec<CommitId>>,
    newest: Vec<CommitId>,
}

impl RecordIndex {
    /// Reads the newest records, by the history of the notes ref. Backfilled ones prove nothing and are left out.
    pub fn load(repo: &Repo, store: &NotesStore<'_>) -> Result<Self, OpsError> {
        let mut known = Self::default();
        let mut seen = BTreeSet::new();
        let Some(tip) = store.tip() else { return Ok(known) };
        for step in repo.notes_history(tip).take(STEPS) {
            for note in step? {
                if seen.len() >= RECORDS {
                    return Ok(known);
                }
                if seen.insert(note.commit) {
                    known.take(store, note.commit);
                }
            }
        }
        Ok(known)
    }

    fn take(&mut self, store: &NotesStore<'_>, commit: CommitId) {
        let Ok(Some(stored)) = store.get(commit) else { return };
        let record = stored.record;
        if record.recording == Recording::Backfilled {
            return;
        }
        push(self.trees.entry(record.tree).or_default(), commit);
        if !record.diff.empty {
            push(self.diffs.entry(record.diff.hash).or_default(), commit);
        }
        if record.tests.as_ref().is_some_and(|tests| tests.code == record.code) {
            push(self.codes.entry(record.code).or_default(), commit);
        }
        self.newest.push(commit);
    }

    /// Commits whose tests ran on exactly that code.
    pub(crate) fn of_code(&self, code: CodeId) -> &[CommitId] {
        self.codes.get(&code).map_or(&[], Vec::as_slice)
    }

    /// Commits with that tree.
    pub fn of_tree(&self, tree: TreeId) -> &[CommitId] {
        self.trees.get(&tree).map_or(&[], Vec::as_slice)
    }

    /// Commits that made the same change.
    pub(crate) fn of_diff(&self, diff: DiffHash) -> &[CommitId] {
        self.diffs.get(&diff).map_or(&[], Vec::as_slice)
    }

    /// All of them, the newest first.
    pub fn newest(&self) -> &[CommitId] {
        &self.newest
    }
}

fn push(commits: &mut Vec<CommitId>, commit: CommitId) {
    if commits.len() < PER_KEY {
        commits.push(commit);
    }
}

/// Whether a record shows that its code was tested, or needed no tests, and passed the gate where git asks one.
pub fn is_sound(record: &CommitRecord) -> bool {
    let tested = record.tests.as_ref().is_some_and(|tests| tests.code == record.code);
    let observed = match (record.gate, record.recording) {
        (_, Recording::Backfilled | Recording::Derived)
        | (Gate::Bypassed, _)
        | (Gate::NotRun, Recording::CaughtUp) => false,
        (Gate::NotRun | Gate::Passed, Recording::AtCommit | Recording::CaughtUp | Recording::Patched) => true,
    };
    // The gate lets code without tests pass only where none are required, or where the rule was skipped.
    observed && (tested || (record.gate == Gate::Passed && record.skipped.is_empty()))
}
