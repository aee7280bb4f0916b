//! Which run each commit belongs to. A halted commit that was amended or rebased stays in its run, so that what people said of
//! its halt is not lost.

use std::collections::HashMap;

use andon_core::domain::facts::{CommitKind, CommitRecord};
use andon_core::domain::ids::{CommitId, DiffHash};
use andon_core::domain::time::Timestamp;
use andon_engine::error::OpsError;
use andon_engine::workspace::Workspace;
use andon_git::CommitInfo;
use andon_store::notes::NotesStore;

/// What of a commit stays where it is amended or rebased.
struct Mark {
    kind: CommitKind,
    parent: Option<CommitId>,
    diff: DiffHash,
    /// Address and date of the author.
    authored: (String, Timestamp),
    iteration: u64,
    run: usize,
}

/// The commits of the range, with their runs.
#[derive(Default)]
pub(super) struct PlacedRuns {
    runs: HashMap<CommitId, usize>,
    marks: Vec<Mark>,
    newest: Option<CommitId>,
    /// The run of the oldest commit that has no parent.
    root: Option<usize>,
}

impl PlacedRuns {
    /// Takes in the next commit, of the run with that number.
    pub(super) fn push(&mut self, commit: &CommitInfo, record: &CommitRecord, run: usize) {
        self.runs.insert(commit.id, run);
        self.newest = Some(commit.id);
        if commit.parents.is_empty() {
            self.root = self.root.or(Some(run));
        }
        if matches!(record.kind, CommitKind::Normal | CommitKind::Amend | CommitKind::Rebase) {
            self.marks.push(Mark {
                kind: record.kind,
                parent: commit.parents.first().copied(),
                diff: record.diff.hash,
                authored: (commit.email.clone(), commit.authored_at),
                iteration: record.iteration,
                run,
            });
        }
    }

    /// The run of a commit of the range.
    pub(super) fn run_of(&self, commit: CommitId) -> Option<usize> {
        self.runs.get(&commit).copied()
    }

    /// The run that was halted at `head`: that of the commit itself, else of the one that took its place. A halt before the
    /// first commit is one of the run that this commit belongs to.
    pub(super) fn run_halted_at(
        &self,
        ws: &Workspace,
        head: Option<CommitId>,
    ) -> Result<Option<usize>, OpsError> {
        let Some(head) = head else { return Ok(self.root) };
        if let Some(run) = self.run_of(head) {
            return Ok(Some(run));
        }
        let old = OutsideCommit {
            commit: ws.repo.commit(head).ok(),
            record: NotesStore::open(&ws.repo)?.get(head).ok().flatten().map(|stored| stored.record),
        };
        let likeliest = self.marks.iter().filter_map(|mark| Some((old.likeness(mark)?, mark.run))).max();
        // One that lies below the range was not made again: it is another one's predecessor.
        let below = || {
            let tip = self.newest.filter(|_| old.commit.is_some());
            tip.is_some_and(|tip| ws.repo.is_ancestor(head, tip).unwrap_or(false))
        };
        Ok(likeliest.filter(|_| !below()).map(|(_, run)| run))
    }
}

/// A commit that is not in the range. After a while, and in other clones, its record alone is left.
struct OutsideCommit {
    commit: Option<CommitInfo>,
    record: Option<CommitRecord>,
}

impl OutsideCommit {
    /// How surely `mark` is this commit, made again: with its author and date, as git keeps both; else an amended or
    /// rebased one with its change, in its place or with its number.
    fn likeness(&self, mark: &Mark) -> Option<(bool, bool)> {
        let commit_parent = self.commit.as_ref().map(|commit| commit.parents.first().copied());
        let parent = commit_parent.or_else(|| self.record.as_ref().map(|record| record.parent));
        let in_its_place = parent == Some(mark.parent);
        let same_change = self.record.as_ref().is_some_and(|record| record.diff.hash == mark.diff);
        let authored = self.commit.as_ref().is_some_and(|commit| {
            (commit.email.as_str(), commit.authored_at) == (mark.authored.0.as_str(), mark.authored.1)
        });
        let numbered = self.record.as_ref().is_some_and(|record| record.iteration == mark.iteration);
        let is = match mark.kind {
            CommitKind::Amend | CommitKind::Rebase => authored || (same_change && (in_its_place || numbered)),
            // Made again while the hooks were off.
            CommitKind::Normal | CommitKind::Merge | CommitKind::Revert | CommitKind::CherryPick => {
                authored && (in_its_place || same_change)
            }
        };
        is.then_some((in_its_place, same_change))
    }
}
