//! Notes: writing, with a fanout of our own.
//!
//! libgit2 follows a fanout and never makes one: at 100,000 flat notes each write costs 225 ms and 5 MB.
//! Rules: new refs are `2/38`; the shape that is there is followed; a flat ref with more than 256 notes is
//! fanned out once, and so is a directory of that many (about 65,000 notes): the tree that each write has to read,
//! hash and compress stays small however many there are; flat siblings move into a directory when it is made, because the same object at two
//! paths makes `git notes show` join both and `git notes merge` stop (docs/git-facts.md).

use std::collections::BTreeMap;

use crate::notes::{is_digits, is_fanout};
use crate::objects::{MODE_FILE, MODE_TREE};
use crate::{NewCommit, Repo, Result, TreeEntry, Update};
use andon_core::domain::{CommitId, Oid, Timestamp, TreeId};

/// The message of commits of notes.
pub(crate) const MESSAGE: &str = "Notes added by 'andon'";
/// Flat notes beyond this are fanned out.
pub(crate) const MAX_FLAT: usize = 256;

/// Notes by the digits that are left below a tree.
pub(crate) type Notes = BTreeMap<String, Oid>;

impl Repo {
    /// Writes several notes of ref `name` in one commit dated `at`.
    ///
    /// `merge` is called under the ref's lock with the commit, the new note and the existing one, and returns the
    /// result. Nothing is committed when nothing changes.
    pub fn notes_write(
        &self,
        name: &str,
        notes: &[(CommitId, Vec<u8>)],
        at: Timestamp,
        mut merge: impl FnMut(CommitId, &[u8], Option<&[u8]>) -> Vec<u8>,
    ) -> Result<Option<CommitId>> {
        if notes.is_empty() {
            return self.ref_commit(name);
        }
        // Before the lock: under it they are found written, mostly as they are. An empty one is for `merge` to make.
        for (_, note) in notes.iter().filter(|(_, note)| !note.is_empty()) {
            self.write_blob(note)?;
        }
        self.update_ref(name, MESSAGE, |tip| {
            let old = self.notes_at(name, tip);
            let mut blobs = Notes::new();
            for (commit, note) in notes {
                let there = old.get(*commit)?;
                let wanted = merge(*commit, note, there.as_deref());
                if there.as_ref() != Some(&wanted) {
                    blobs.insert(commit.to_string(), self.write_blob(&wanted)?);
                }
            }
            if blobs.is_empty() {
                return Ok(Update::Keep(tip));
            }
            let tree = self.notes_tree(tip.map(|tip| self.tree_of(tip)).transpose()?, &blobs)?;
            let made =
                self.write_commit(&NewCommit { tree, parents: tip.as_slice(), message: MESSAGE, at })?;
            Ok(Update::Set(made, Some(made)))
        })
    }

    /// The tree `old` with `notes` in it.
    pub(crate) fn notes_tree(&self, old: Option<TreeId>, notes: &Notes) -> Result<TreeId> {
        let entries = old.map(|tree| self.tree_entries(tree)).transpose()?.unwrap_or_default();
        self.grow(Level::new(entries), notes, Fan::Out)
    }

    /// Puts `notes` into `level` in the shape that it has, or is to have from now on; `empty` is that of an empty one.
    fn grow(&self, mut level: Level, notes: &Notes, empty: Fan) -> Result<TreeId> {
        if !level.fanouts.is_empty() {
            return self.write_level(level, notes);
        }
        if level.notes.len() <= MAX_FLAT {
            level.fan = if level.notes.is_empty() { empty } else { Fan::Flat };
            return self.write_level(level, notes);
        }
        let mut all = std::mem::take(&mut level.notes);
        all.extend(notes.iter().map(|(digits, blob)| (digits.clone(), *blob)));
        self.write_level(level, &all)
    }

    /// Puts `notes` into `level` and writes it.
    fn write_level(&self, mut level: Level, notes: &Notes) -> Result<TreeId> {
        let mut below: BTreeMap<String, Notes> = BTreeMap::new();
        for (digits, blob) in notes {
            match digits.split_at_checked(2).filter(|(fanout, rest)| level.goes_below(fanout, rest)) {
                Some((fanout, rest)) => {
                    below.entry(fanout.to_owned()).or_default().insert(rest.to_owned(), *blob);
                }
                None => {
                    level.notes.insert(digits.clone(), *blob);
                }
            }
        }
        for (fanout, mut moved) in below {
            for (digits, blob) in level.take_flat(&fanout) {
                moved.entry(digits).or_insert(blob);
            }
            let old = level.fanouts.get(&fanout).map(|id| self.tree_entries(TreeId(*id))).transpose()?;
            let tree = self.grow(Level::new(old.unwrap_or_default()), &moved, Fan::Flat)?;
            level.fanouts.insert(fanout, tree.0);
        }
        self.write_tree_entries(&level.entries())
    }
}

/// The shape of one level of a tree of notes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fan {
    /// As files, except where a directory is.
    Flat,
    /// In directories of two digits.
    Out,
}

/// One tree of a notes ref, sorted by what its entries are.
struct Level {
    fan: Fan,
    notes: Notes,
    fanouts: BTreeMap<String, Oid>,
    /// Files that are no notes; kept as they are.
    others: Vec<TreeEntry>,
}

impl Level {
    fn new(entries: Vec<TreeEntry>) -> Self {
        let mut level =
            Self { fan: Fan::Out, notes: Notes::new(), fanouts: BTreeMap::new(), others: Vec::new() };
        for entry in entries {
            let name = std::str::from_utf8(&entry.name).unwrap_or_default().to_owned();
            if entry.mode == MODE_TREE && is_fanout(&name) {
                level.fanouts.insert(name, entry.id);
            } else if entry.mode != MODE_TREE
                && name.len() >= 2
                && name.len().is_multiple_of(2)
                && is_digits(&name)
            {
                level.notes.insert(name, entry.id);
            } else {
                level.others.push(entry);
            }
        }
        level
    }

    fn goes_below(&self, fanout: &str, rest: &str) -> bool {
        !rest.is_empty() && (self.fan == Fan::Out || self.fanouts.contains_key(fanout))
    }

    /// Takes out the flat notes that belong below `fanout`, with the digits left there.
    fn take_flat(&mut self, fanout: &str) -> Vec<(String, Oid)> {
        let moved: Vec<String> =
            self.notes.keys().filter(|name| name.len() > 2 && name.starts_with(fanout)).cloned().collect();
        moved.iter().filter_map(|name| Some((name[2..].to_owned(), self.notes.remove(name)?))).collect()
    }

    fn entries(self) -> Vec<TreeEntry> {
        let entry = |(name, id): (String, Oid), mode| TreeEntry { name: name.into_bytes(), mode, id };
        let notes = self.notes.into_iter().map(|note| entry(note, MODE_FILE));
        let fanouts = self.fanouts.into_iter().map(|fanout| entry(fanout, MODE_TREE));
        notes.chain(fanouts).chain(self.others).collect()
    }
}

#[cfg(test)]
mod tests;
