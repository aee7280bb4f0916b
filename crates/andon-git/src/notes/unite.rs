//! Notes: uniting ours with those of another clone.
//!
//! Not `git notes merge`: it leaves a half-done merge behind where it meets a conflict, works in a worktree of its own,
//! and takes every removal as intended. Here a three-way walk skips what is equal, the caller decides note by note, and
//! one compare-and-swap moves the ref: a fast-forward where it can be one, else a commit with both parents, so that a
//! plain push is enough afterwards.

use std::collections::BTreeSet;

use crate::error::GitError;
use crate::notes::digits_of;
use crate::notes::write::Notes;
use crate::objects::commits::NewCommit;
use crate::open::repo::Repo;
use crate::refs::Update;
use andon_core::domain::ids::{CommitId, TreeId};
use andon_core::domain::time::Timestamp;

/// What uniting changed here, and what the other side does not have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NotesUnion {
    /// Commits whose note is new or larger here.
    pub received: usize,
    /// Notes that the other side removed and that are kept here all the same.
    pub kept: usize,
    /// Notes of the other side that are too large to be read; they are left there.
    pub skipped: Vec<CommitId>,
}

/// The two sides and where they parted.
struct Sides {
    base: Option<TreeId>,
    ours: TreeId,
    theirs: TreeId,
}

impl Repo {
    /// Unites the notes of ref `name` with those that came in.
    ///
    /// `choose` is called under the ref's lock for each note that they changed since the histories parted, with ours
    /// and theirs, and returns the result: `None` for no note.
    pub fn notes_unite(
        &self,
        name: &str,
        theirs: CommitId,
        at: Timestamp,
        mut choose: impl FnMut(Option<&[u8]>, Option<&[u8]>) -> Option<Vec<u8>>,
    ) -> Result<NotesUnion, GitError> {
        let message = "Notes merged by 'andon'";
        self.update_ref(name, message, |tip| {
            let their_tree = self.tree_of(theirs)?;
            let Some(ours) = tip else {
                let mut all = BTreeSet::new();
                self.differing_notes(None, their_tree, &mut all)?;
                let union = NotesUnion { received: all.len(), ..NotesUnion::default() };
                return Ok(Update::Set(theirs, union));
            };
            let base = self.merge_base(ours, theirs)?;
            if base == Some(theirs) {
                return Ok(Update::Keep(NotesUnion::default()));
            }
            let base_tree = base.map(|base| self.tree_of(base)).transpose()?;
            let sides = Sides { base: base_tree, ours: self.tree_of(ours)?, theirs: their_tree };
            let touched = self.touched_notes(&sides)?;
            let (tree, union) = self.united_tree(name, &sides, touched, &mut choose)?;
            if base == Some(ours) && tree == their_tree {
                return Ok(Update::Set(theirs, union));
            }
            let made = self.write_commit(&NewCommit { tree, parents: &[ours, theirs], message, at })?;
            Ok(Update::Set(made, union))
        })
    }

    /// How many notes of `theirs` are not, or not as they are, in `ours`.
    pub fn notes_ahead(&self, ours: Option<CommitId>, theirs: CommitId) -> Result<usize, GitError> {
        let ours = ours.map(|tip| self.tree_of(tip)).transpose()?;
        let mut found = BTreeSet::new();
        self.differing_notes(ours, self.tree_of(theirs)?, &mut found)?;
        Ok(found.len())
    }

    /// Restores what a program other than Andon removed from ref `name`, and returns how many notes that were. `git
    /// notes append` during a hook reads the notes, and later writes what it read with its own note added: a note that
    /// was written in between is then in the history of the ref, but not in its tree. So the tips of our own writes are
    /// kept, and compared where the ref points elsewhere. `choose` is as in [`Self::notes_unite`], theirs being what we
    /// wrote.
    pub fn notes_restore(
        &self,
        name: &str,
        at: Timestamp,
        mut choose: impl FnMut(Option<&[u8]>, Option<&[u8]>) -> Option<Vec<u8>>,
    ) -> Result<usize, GitError> {
        let Some(tip) = self.ref_commit(name)? else { return Ok(0) };
        // What nothing led to any more a gc may have taken.
        let readable = |written: CommitId| Some((written, self.tree_of(written).ok()?));
        let elsewhere = |written: &CommitId| *written != tip;
        if !self.written_tips(name).iter().any(elsewhere) {
            return Ok(0);
        }
        let message = "Notes restored by 'andon'";
        self.update_ref(name, message, |tip| {
            let Some(ours) = tip else { return Ok(Update::Keep(0)) };
            let own_tree = self.tree_of(ours)?;
            let (mut tree, mut received, mut parents) = (own_tree, 0, vec![ours]);
            for (written, theirs) in self.written_tips(name).into_iter().filter_map(readable) {
                let sides = Sides { base: None, ours: tree, theirs };
                let mut lost = BTreeSet::new();
                self.differing_notes(Some(tree), theirs, &mut lost)?;
                let (united, union) = self.united_tree(name, &sides, lost, &mut choose)?;
                if united != tree && !self.is_ancestor(written, ours)? {
                    parents.push(written);
                }
                tree = united;
                received += union.received;
            }
            if tree == own_tree {
                self.remember_whole(name, ours);
                return Ok(Update::Keep(0));
            }
            let made = self.write_commit(&NewCommit { tree, parents: &parents, message, at })?;
            Ok(Update::Whole(made, received))
        })
    }

    /// The digits of the notes that they changed since the histories parted.
    fn touched_notes(&self, sides: &Sides) -> Result<BTreeSet<String>, GitError> {
        let mut touched = BTreeSet::new();
        self.differing_notes(sides.base, sides.theirs, &mut touched)?;
        if let Some(base) = sides.base {
            self.differing_notes(Some(sides.theirs), base, &mut touched)?;
        }
        Ok(touched)
    }

    fn united_tree(
        &self,
        name: &str,
        sides: &Sides,
        touched: BTreeSet<String>,
        choose: &mut impl FnMut(Option<&[u8]>, Option<&[u8]>) -> Option<Vec<u8>>,
    ) -> Result<(TreeId, NotesUnion), GitError> {
        let mut union = NotesUnion::default();
        let (mut changed, mut gone) = (Notes::new(), Vec::new());
        for digits in touched {
            let Ok(commit) = digits.parse::<CommitId>() else { continue };
            let (our_blobs, their_blobs) =
                (self.note_blobs(sides.ours, &digits)?, self.note_blobs(sides.theirs, &digits)?);
            if our_blobs == their_blobs {
                continue;
            }
            let theirs = match self.note_text(name, commit, &their_blobs) {
                Err(GitError::NoteTooLarge { .. }) => {
                    union.skipped.push(commit);
                    continue;
                }
                other => other?,
            };
            let ours = self.note_text(name, commit, &our_blobs)?;
            match choose(ours.as_deref(), theirs.as_deref()) {
                None if ours.is_some() => gone.push(digits),
                None => {}
                Some(text) if ours.as_ref() == Some(&text) => union.kept += usize::from(theirs.is_none()),
                Some(text) => {
                    union.received += 1;
                    changed.insert(digits, self.write_blob(&text)?);
                }
            }
        }
        let mut tree = sides.ours;
        for digits in &gone {
            tree = self.without_note(tree, digits)?;
        }
        if !changed.is_empty() {
            tree = self.notes_tree(Some(tree), &changed)?;
        }
        Ok((tree, union))
    }

    /// The digits of the notes of `wanted` that are not at the same path with the same blob in `known`.
    fn differing_notes(
        &self,
        known: Option<TreeId>,
        wanted: TreeId,
        found: &mut BTreeSet<String>,
    ) -> Result<(), GitError> {
        let changed = self.changed_paths(known, wanted)?;
        let there = changed.iter().filter(|change| change.new.is_some());
        found.extend(there.filter_map(|change| digits_of(&change.path)));
        Ok(())
    }

    /// `tree` without the note of `digits`, at whatever depth.
    pub(crate) fn without_note(&self, tree: TreeId, digits: &str) -> Result<TreeId, GitError> {
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
