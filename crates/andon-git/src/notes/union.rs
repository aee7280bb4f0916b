//! Notes: joining those of others to ours.
//!
//! Not `git notes merge`: it leaves a half-done merge behind where it meets a conflict, works in a worktree of its own,
//! and takes every removal as intended. Here a walk skips what is equal, the caller decides note by note, and one
//! compare-and-swap moves the ref. The commit that is made has the tips that were read among its parents: so a plain push
//! is enough afterwards, and the history of each writer's notes can still be searched for later changes.

use std::collections::{BTreeMap, BTreeSet};

use crate::notes::{digits_of, write::Notes};
use crate::{GitError, NewCommit, Repo, Result, Update};
use andon_core::domain::{CommitId, Oid, Timestamp, TreeId};

/// Notes by commit; `None` for a note that was removed.
pub type CommitNotes = BTreeMap<CommitId, Option<Vec<u8>>>;

/// The notes of one commit of notes that differ from those of an earlier one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NotesSince {
    /// Each note that is new or another, as it is now; `None` for one that is gone.
    pub notes: CommitNotes,
    /// Commits whose notes are too large to be read.
    pub too_large: Vec<CommitId>,
}

/// Notes that are to be joined to those of a ref.
#[derive(Debug, Clone, Copy)]
pub struct NotesToJoin<'a> {
    /// The full name of the ref.
    pub name: &'a str,
    /// Each note as a writer has it; `None` for one that was removed.
    pub notes: &'a CommitNotes,
    /// Commits of notes that become parents of the commit that is made.
    pub from: &'a [CommitId],
    /// The date of that commit.
    pub at: Timestamp,
}

/// The changes that a union made here, and what it left at the other side.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NotesUnion {
    /// The number of notes that are new or larger here.
    pub received: usize,
    /// The number of notes that the other side removed and that are kept here all the same.
    pub kept: usize,
    /// Notes of the other side that are too large to be read; they are left there.
    pub skipped: Vec<CommitId>,
}

/// Makes one note of ours and of theirs; no note where it returns `None`.
pub(crate) type Choose<'a> = &'a mut dyn FnMut(Option<&[u8]>, Option<&[u8]>) -> Option<Vec<u8>>;

impl Repo {
    /// The notes of `tip` that those of `known` lack. `name` is for messages.
    pub fn notes_since(&self, name: &str, known: Option<CommitId>, tip: CommitId) -> Result<NotesSince> {
        let known = known.map(|known| self.tree_of(known)).transpose()?;
        self.notes_between(name, known, self.tree_of(tip)?)
    }

    fn notes_between(&self, name: &str, known: Option<TreeId>, tree: TreeId) -> Result<NotesSince> {
        let mut since = NotesSince::default();
        let changed = self.changed_paths(known, tree)?;
        let digits: BTreeSet<String> = changed.iter().filter_map(|change| digits_of(&change.path)).collect();
        for digits in digits {
            let Ok(commit) = digits.parse::<CommitId>() else { continue };
            match self.note_text(name, commit, &self.note_blobs(tree, &digits)?) {
                Ok(note) => drop(since.notes.insert(commit, note)),
                Err(GitError::NoteTooLarge { .. }) => since.too_large.push(commit),
                Err(error) => return Err(error),
            }
        }
        Ok(since)
    }

    /// Joins notes to those of a ref, in one commit. `choose` is called under the ref's lock with the existing note and
    /// the new one, and perhaps twice. Where no note changes no commit is made.
    pub fn notes_join(
        &self,
        joined: NotesToJoin<'_>,
        mut choose: impl FnMut(Option<&[u8]>, Option<&[u8]>) -> Option<Vec<u8>>,
    ) -> Result<NotesUnion> {
        let NotesToJoin { name, notes, from, at } = joined;
        if notes.is_empty() {
            return Ok(NotesUnion::default());
        }
        let message = "Notes joined by 'andon'";
        self.update_ref(name, message, |tip| {
            let ours = tip.map(|tip| self.tree_of(tip)).transpose()?;
            let (tree, union) = self.joined_tree(name, ours, notes, &mut choose)?;
            let Some(tree) = tree.filter(|_| tree != ours) else { return Ok(Update::Keep(union)) };
            let mut parents: Vec<CommitId> = tip.into_iter().collect();
            for other in from {
                if !parents.contains(other) {
                    parents.push(*other);
                }
            }
            let made = self.write_commit(&NewCommit { tree, parents: &parents, message, at })?;
            Ok(Update::Set(made, union))
        })
    }

    /// Puts a commit that changes no note on top of those of ref `name`, with `from` among its parents: a process that
    /// knew the old ref finds another one.
    pub fn notes_move_on(&self, name: &str, from: &[CommitId], at: Timestamp) -> Result<()> {
        let message = "Notes joined by 'andon'";
        self.update_ref(name, message, |tip| {
            let Some(tip) = tip else { return Ok(Update::Keep(())) };
            let parents: Vec<CommitId> =
                std::iter::once(tip).chain(from.iter().copied().filter(|other| *other != tip)).collect();
            let tree = self.tree_of(tip)?;
            let made = self.write_commit(&NewCommit { tree, parents: &parents, message, at })?;
            Ok(Update::Set(made, ()))
        })
    }

    /// Unites the notes of ref `name` with those of the commit `theirs`: a fast-forward where it can be one, else a commit
    /// with both parents. `choose` is called under the ref's lock for each note that they changed since the histories parted.
    pub fn notes_unite(
        &self,
        name: &str,
        theirs: CommitId,
        at: Timestamp,
        mut choose: impl FnMut(Option<&[u8]>, Option<&[u8]>) -> Option<Vec<u8>>,
    ) -> Result<NotesUnion> {
        let message = "Notes merged by 'andon'";
        self.update_ref(name, message, |tip| {
            let base = tip.map_or(Ok(None), |ours| self.merge_base(ours, theirs))?;
            if base == Some(theirs) {
                return Ok(Update::Keep(NotesUnion::default()));
            }
            let NotesSince { notes, too_large } = self.notes_since(name, base, theirs)?;
            let Some(ours) = tip else {
                return Ok(Update::Set(
                    theirs,
                    NotesUnion { received: notes.len(), ..NotesUnion::default() },
                ));
            };
            let (tree, union) = self.joined_tree(name, Some(self.tree_of(ours)?), &notes, &mut choose)?;
            let union = NotesUnion { skipped: too_large, ..union };
            let their_tree = self.tree_of(theirs)?;
            let tree = tree.unwrap_or(their_tree);
            if base == Some(ours) && tree == their_tree {
                return Ok(Update::Set(theirs, union));
            }
            let made = self.write_commit(&NewCommit { tree, parents: &[ours, theirs], message, at })?;
            Ok(Update::Set(made, union))
        })
    }

    /// The commits whose notes at `tip` none of `others` has as they are. One of `others` that cannot be read has nothing.
    pub fn notes_lacking(&self, tip: CommitId, others: &[CommitId]) -> Result<Vec<CommitId>> {
        let tree = self.tree_of(tip)?;
        let mut others = others.iter().filter_map(|other| self.tree_of(*other).ok());
        let changed = self.changed_paths(others.next(), tree)?;
        let there = changed.iter().filter(|change| change.new.is_some());
        let digits: BTreeSet<String> = there.filter_map(|change| digits_of(&change.path)).collect();
        let blobs = |digits: String| Some((self.note_blobs(tree, &digits).ok()?, digits));
        let mut found: Vec<(Vec<Oid>, String)> = digits.into_iter().filter_map(blobs).collect();
        for other in others {
            found.retain(|(blobs, digits)| self.note_blobs(other, digits).ok().as_ref() != Some(blobs));
            if found.is_empty() {
                break;
            }
        }
        Ok(found.into_iter().filter_map(|(_, digits)| digits.parse().ok()).collect())
    }

    /// Restores what a program other than Andon removed from ref `name`, and returns how many notes that were. `git
    /// notes append` during a hook reads the notes, and later writes what it read with its own note added: a note that
    /// was written in between is then in the history of the ref, but not in its tree. So the tips of our own writes are
    /// kept, and compared where the ref is gone or points elsewhere. `choose` is as in [`Self::notes_unite`], theirs being what we
    /// wrote.
    pub fn notes_restore(
        &self,
        name: &str,
        at: Timestamp,
        mut choose: impl FnMut(Option<&[u8]>, Option<&[u8]>) -> Option<Vec<u8>>,
    ) -> Result<usize> {
        let tip = self.ref_commit(name)?;
        if !self.written_tips(name).iter().any(|written| Some(*written) != tip) {
            return Ok(0);
        }
        let message = "Notes restored by 'andon'";
        self.update_ref(name, message, |tip| {
            let own_tree = tip.map(|tip| self.tree_of(tip)).transpose()?;
            let (mut tree, mut received, mut parents) = (own_tree, 0, Vec::from_iter(tip));
            let written_tips = self.written_tips(name);
            for &written in &written_tips {
                // A gc may have taken what nothing led to any more.
                let Ok(theirs) = self.tree_of(written) else { continue };
                let mut lost = self.notes_between(name, tree, theirs)?.notes;
                lost.retain(|_, note| note.is_some());
                let (joined, union) = self.joined_tree(name, tree, &lost, &mut choose)?;
                if joined != tree && !self.goes_on_from(tip, written)? {
                    parents.push(written);
                }
                tree = joined;
                received += union.received;
            }
            let Some(restored) = tree.filter(|_| tree != own_tree) else {
                if let Some(ours) = tip {
                    self.remember_whole(name, ours);
                }
                return Ok(Update::Keep(0));
            };
            // A ref that is gone, or went back to what our writes went on from, only has to go forward again.
            if let Some(&newest) = written_tips.last()
                && self.tree_of(newest).ok() == tree
                && tip.map_or(Ok(true), |ours| self.is_ancestor(ours, newest))?
            {
                return Ok(Update::Whole(newest, received));
            }
            let made = self.write_commit(&NewCommit { tree: restored, parents: &parents, message, at })?;
            Ok(Update::Whole(made, received))
        })
    }

    /// True where ref `name` is gone or went back, or was replaced, since we wrote it: it does not go on from what we wrote.
    pub fn notes_went_back(&self, name: &str) -> Result<bool> {
        let tip = self.ref_commit(name)?;
        let is_lost = |written: &CommitId| {
            self.tree_of(*written).is_ok() && !matches!(self.goes_on_from(tip, *written), Ok(true))
        };
        Ok(self.written_tips(name).iter().any(is_lost))
    }

    fn goes_on_from(&self, tip: Option<CommitId>, written: CommitId) -> Result<bool> {
        tip.map_or(Ok(false), |tip| Ok(tip == written || self.is_ancestor(written, tip)?))
    }

    /// The tree `ours` with `notes` joined to it, and what that changed; `None` where there is no tree and no note.
    fn joined_tree(
        &self,
        name: &str,
        ours: Option<TreeId>,
        notes: &CommitNotes,
        choose: Choose<'_>,
    ) -> Result<(Option<TreeId>, NotesUnion)> {
        let mut union = NotesUnion::default();
        let (mut changed, mut gone) = (Notes::new(), Vec::new());
        for (commit, theirs) in notes {
            let digits = commit.to_string();
            let blobs = ours.map_or(Ok(Vec::new()), |tree| self.note_blobs(tree, &digits))?;
            let there = self.note_text(name, *commit, &blobs)?;
            if there == *theirs {
                continue;
            }
            match choose(there.as_deref(), theirs.as_deref()) {
                None if there.is_some() => gone.push(digits),
                None => {}
                Some(text) if there.as_ref() == Some(&text) => union.kept += usize::from(theirs.is_none()),
                Some(text) => {
                    union.received += 1;
                    changed.insert(digits, self.write_blob(&text)?);
                }
            }
        }
        let mut tree = ours;
        for digits in &gone {
            tree = tree.map(|tree| self.without_note(tree, digits)).transpose()?;
        }
        if !changed.is_empty() {
            tree = Some(self.notes_tree(tree, &changed)?);
        }
        Ok((tree, union))
    }

    /// `tree` without the note of `digits`, at whatever depth.
    fn without_note(&self, tree: TreeId, digits: &str) -> Result<TreeId> {
        let mut entries = self.tree_entries(tree)?;
        entries.retain(|entry| entry.is_tree() || entry.name != digits.as_bytes());
        if let Some((fanout, rest)) = digits.split_at_checked(2).filter(|(_, rest)| !rest.is_empty())
            && let Some(below) =
                entries.iter_mut().find(|entry| entry.is_tree() && entry.name == fanout.as_bytes())
        {
            below.id = self.without_note(TreeId(below.id), rest)?.0;
        }
        self.write_tree_entries(&entries)
    }
}

#[cfg(test)]
mod tests;
