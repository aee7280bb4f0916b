//! Notes by writer: what a ref has more than it had before, and joining that to another ref.
//!
//! Where each writer has a ref of its own, no push can be refused, and a reader joins the new notes of all of them in
//! one commit. That commit has the tips that it read among its parents, so that the history of each writer's notes can
//! still be searched for later changes.

use std::collections::BTreeSet;

use crate::error::GitError;
use crate::notes::digits_of;
use crate::notes::write::Notes;
use crate::objects::commits::NewCommit;
use crate::open::repo::Repo;
use crate::refs::Update;
use andon_core::domain::ids::CommitId;
use andon_core::domain::time::Timestamp;

/// What notes commits say that join those of writers.
const MESSAGE: &str = "Notes joined by 'andon'";

/// How the notes of one commit of notes differ from those of an earlier one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NotesSince {
    /// Each note that is new or another, as it is now; `None` for one that is gone.
    pub notes: Vec<(CommitId, Option<Vec<u8>>)>,
    /// Commits whose notes are too large to be read.
    pub too_large: Vec<CommitId>,
}

/// Notes that are to be joined to those of a ref.
#[derive(Debug, Clone, Copy)]
pub struct NotesToJoin<'a> {
    /// The full name of the ref.
    pub name: &'a str,
    /// Each note as a writer has it; `None` for one that was removed.
    pub notes: &'a [(CommitId, Option<Vec<u8>>)],
    /// Whose notes these are: commits of notes that become parents of what is made.
    pub from: &'a [CommitId],
    /// When.
    pub at: Timestamp,
}

impl Repo {
    /// What the notes of `tip` have that those of `known` have not. `name` is for messages.
    pub fn notes_since(
        &self,
        name: &str,
        known: Option<CommitId>,
        tip: CommitId,
    ) -> Result<NotesSince, GitError> {
        let known = known.map(|known| self.tree_of(known)).transpose()?;
        let tree = self.tree_of(tip)?;
        let changed = self.changed_paths(known, tree)?;
        let digits: BTreeSet<String> = changed.iter().filter_map(|change| digits_of(&change.path)).collect();
        let mut since = NotesSince::default();
        for digits in digits {
            let Ok(commit) = digits.parse::<CommitId>() else { continue };
            match self.note_text(name, commit, &self.note_blobs(tree, &digits)?) {
                Ok(note) => since.notes.push((commit, note)),
                Err(GitError::NoteTooLarge { .. }) => since.too_large.push(commit),
                Err(error) => return Err(error),
            }
        }
        Ok(since)
    }

    /// Joins notes to those of a ref, in one commit. `choose` is called under the ref's lock with the commit, the
    /// existing note and the new one, and returns the result: `None` for no note. It may be called twice. Where nothing
    /// changes nothing is committed. Returns the tip.
    pub fn notes_join(
        &self,
        joined: NotesToJoin<'_>,
        mut choose: impl FnMut(CommitId, Option<&[u8]>, Option<&[u8]>) -> Option<Vec<u8>>,
    ) -> Result<Option<CommitId>, GitError> {
        let NotesToJoin { name, notes, from, at } = joined;
        if notes.is_empty() {
            return self.ref_commit(name);
        }
        self.update_ref(name, MESSAGE, |tip| {
            let old = self.notes_at(name, tip);
            let (mut changed, mut gone) = (Notes::new(), Vec::new());
            for (commit, note) in notes {
                let there = old.get(*commit)?;
                match choose(*commit, there.as_deref(), note.as_deref()) {
                    Some(text) if there.as_ref() != Some(&text) => {
                        changed.insert(commit.to_string(), self.write_blob(&text)?);
                    }
                    None if there.is_some() => gone.push(commit.to_string()),
                    Some(_) | None => {}
                }
            }
            if changed.is_empty() && gone.is_empty() {
                return Ok(Update::Keep(tip));
            }
            let mut tree = tip.map(|tip| self.tree_of(tip)).transpose()?;
            for digits in &gone {
                tree = tree.map(|tree| self.without_note(tree, digits)).transpose()?;
            }
            let tree = self.notes_tree(tree, &changed)?;
            let mut parents: Vec<CommitId> = tip.into_iter().collect();
            for other in from {
                if !parents.contains(other) {
                    parents.push(*other);
                }
            }
            let made = self.write_commit(&NewCommit { tree, parents: &parents, message: MESSAGE, at })?;
            Ok(Update::Set(made, Some(made)))
        })
    }

    /// Puts a commit that changes no note on top of those of ref `name`, with `from` among its parents: a process that
    /// knew the old ref finds another one.
    pub fn notes_move_on(&self, name: &str, from: &[CommitId], at: Timestamp) -> Result<(), GitError> {
        self.update_ref(name, MESSAGE, |tip| {
            let Some(tip) = tip else { return Ok(Update::Keep(())) };
            let parents: Vec<CommitId> =
                std::iter::once(tip).chain(from.iter().copied().filter(|other| *other != tip)).collect();
            let tree = self.tree_of(tip)?;
            let made = self.write_commit(&NewCommit { tree, parents: &parents, message: MESSAGE, at })?;
            Ok(Update::Set(made, ()))
        })
    }

    /// The commits that wrote notes since `since`, oldest first, as far as each has one parent: what came from elsewhere is
    /// left out. `None` where there are more than `most`, or `since` does not lead there.
    pub fn notes_written_since(
        &self,
        tip: CommitId,
        since: CommitId,
        most: usize,
    ) -> Result<Option<Vec<CommitId>>, GitError> {
        let mut found = Vec::new();
        let mut next = tip;
        for _ in 0..=most {
            if next == since {
                found.reverse();
                return Ok(Some(found));
            }
            let info = self.commit(next)?;
            let Some(parent) = info.parents.first() else { return Ok(None) };
            if info.parents.len() == 1 {
                found.push(next);
            }
            next = *parent;
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests;
