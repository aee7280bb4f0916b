//! The changes to the notes of a ref, commit by commit: a note that was replaced is still in the history of the ref.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::notes::{annotated, digits_of};
use crate::{Repo, Result};
use andon_core::domain::{CommitId, Oid};

/// The change that one commit of notes made to the note of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoteChange {
    /// The annotated commit.
    pub commit: CommitId,
    /// The blob of the note before.
    pub old: Option<Oid>,
    /// The blob of the note since then.
    pub new: Option<Oid>,
}

/// The history of notes, newest first; of a union of two, both sides.
pub struct NotesHistory<'r> {
    repo: &'r Repo,
    open: VecDeque<CommitId>,
    seen: BTreeSet<CommitId>,
}

impl Repo {
    /// The changes that led to the notes of `tip`. Where a shallow clone cut the history, it ends.
    pub fn notes_history(&self, tip: CommitId) -> NotesHistory<'_> {
        NotesHistory { repo: self, open: VecDeque::from([tip]), seen: BTreeSet::from([tip]) }
    }

    /// The commits whose notes differ between two tips.
    pub fn notes_changed(&self, known: CommitId, tip: CommitId) -> Result<Vec<CommitId>> {
        let changed = self.changed_paths(Some(self.tree_of(known)?), self.tree_of(tip)?)?;
        let digits: BTreeSet<String> = changed.iter().filter_map(|change| digits_of(&change.path)).collect();
        Ok(digits.iter().filter_map(|digits| annotated(digits)).collect())
    }
}

impl NotesHistory<'_> {
    fn changes(&mut self, id: CommitId) -> Result<Vec<NoteChange>> {
        let commit = self.repo.commit(id)?;
        let before = match commit.parents.first() {
            Some(parent) => match self.repo.tree_of(*parent) {
                Ok(tree) => Some(tree),
                // Cut off: what was there before is not known.
                Err(_) => return Ok(Vec::new()),
            },
            None if self.repo.is_cut_at(id)? => return Ok(Vec::new()),
            None => None,
        };
        let is_union = commit.parents.len() > 1;
        for parent in commit.parents {
            if self.seen.insert(parent) {
                self.open.push_back(parent);
            }
        }
        let mut notes: BTreeMap<CommitId, NoteChange> = BTreeMap::new();
        for change in self.repo.changed_paths(before, commit.tree)? {
            let digits: Vec<u8> = change.path.iter().copied().filter(|byte| *byte != b'/').collect();
            let Some(commit) = std::str::from_utf8(&digits).ok().and_then(annotated) else { continue };
            // A note that only moved to another directory is gone at one path and comes at the other.
            let note = notes.entry(commit).or_insert(NoteChange { commit, old: None, new: None });
            note.old = note.old.or(change.old.map(|side| side.1));
            note.new = note.new.or(change.new.map(|side| side.1));
        }
        // Notes that a union brings were written on the other side, and show there.
        let written = |note: &NoteChange| note.old != note.new && !(is_union && note.old.is_none());
        Ok(notes.into_values().filter(written).collect())
    }
}

impl Iterator for NotesHistory<'_> {
    type Item = Result<Vec<NoteChange>>;

    fn next(&mut self) -> Option<Self::Item> {
        let id = self.open.pop_front()?;
        Some(self.changes(id))
    }
}

#[cfg(test)]
mod tests {
    use crate::testkit::Scratch;

    #[test]
    fn what_was_replaced_is_still_reported() {
        let scratch = Scratch::new();
        let one = scratch.commit("a", "1", "one");
        let two = scratch.commit("a", "2", "two");
        for (text, commit) in [("x", one), ("y", two), ("z", one)] {
            scratch.git(&["notes", "--ref=andon", "add", "-f", "-m", text, &commit.to_string()]);
        }
        scratch.git(&["notes", "--ref=andon", "remove", &two.to_string()]);
        let repo = scratch.open();
        let tip = scratch.rev("refs/notes/andon");
        let steps: Vec<_> = repo.notes_history(tip).map(Result::unwrap).collect();
        let reported: Vec<_> = steps
            .iter()
            .flatten()
            .map(|note| (note.commit, note.old.is_some(), note.new.is_some()))
            .collect();
        assert_eq!(reported, [(two, true, false), (one, true, true), (two, false, true), (one, false, true)]);
        assert_eq!(steps[1][0].old, steps[3][0].new);
    }
}
