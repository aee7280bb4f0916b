//! The directories of the tree before: where one commit after the other is looked at, a fingerprint costs what differs.
//!
//! A directory that changed is hashed anew, but its path rules are asked, and its subdirectories looked at, only for
//! entries that are not in it as they were.

use std::collections::HashMap;
use std::rc::Rc;

use super::super::RecordError;
use super::{DirectoryHash, MAX_DEPTH, MAX_DIRECTORIES, hostile};
use crate::domain::ids::{Oid, TreeId};
use crate::domain::paths::{PathClass, PathRules};
use crate::git::{MODE_TREE, RawEntry, RawTree, Repo};

/// Directories that are remembered at the most: some forty megabytes.
const MAX_KNOWN: usize = 200_000;

/// What is known of the tree before.
#[derive(Debug, Default)]
pub(super) struct Memo {
    directories: HashMap<Vec<u8>, Known>,
}

/// What a directory had and gave.
#[derive(Debug)]
struct Known {
    tree: Oid,
    print: [u8; 32],
    entries: Vec<Counts>,
    /// The fingerprints of its directories, in their order.
    below: Vec<[u8; 32]>,
}

/// Whether an entry is part of the fingerprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counts {
    File,
    Not,
    Directory,
}

/// One descent from a root.
pub(super) struct Descent<'a> {
    pub repo: &'a Repo,
    pub rules: &'a PathRules,
    pub memo: &'a mut Memo,
    pub root: TreeId,
    /// Path of the directory being read, without a slash at its end; empty for the root.
    pub path: Vec<u8>,
    pub depth: usize,
    pub directories: usize,
}

/// A directory as it was, read along with what it is.
struct Before {
    tree: Rc<RawTree>,
    known: Known,
    /// Where the next entry begins, its number, and how many directories were before it.
    at: (usize, usize, usize),
}

impl Before {
    /// What counted where `entry` stood, when the same name stood there; a directory must be the same one.
    fn same(&mut self, entry: &RawEntry<'_>) -> Option<(Counts, Option<[u8; 32]>)> {
        loop {
            let (old, next) = self.tree.entry(self.at.0)?;
            let order = old.cmp_in_tree(entry);
            if order == std::cmp::Ordering::Greater {
                return None;
            }
            let counts = self.known.entries.get(self.at.1).copied()?;
            let print = self.known.below.get(self.at.2).copied().filter(|_| counts == Counts::Directory);
            self.at = (next, self.at.1 + 1, self.at.2 + usize::from(counts == Counts::Directory));
            if order == std::cmp::Ordering::Equal {
                let usable = counts != Counts::Directory || old == *entry;
                return usable.then_some((counts, print));
            }
        }
    }
}

impl Descent<'_> {
    /// The fingerprint of `tree`, which lies at `self.path`.
    pub(super) fn directory(&mut self, tree: TreeId) -> Result<[u8; 32], RecordError> {
        let before = self.memo.directories.remove(&self.path);
        if let Some(known) = before.as_ref().filter(|known| known.tree == tree.0) {
            let print = known.print;
            self.memo.directories.extend(before.map(|known| (self.path.clone(), known)));
            return Ok(print);
        }
        self.enter()?;
        // A directory that was there and is not any more costs time and nothing else.
        let mut before = before.and_then(|known| {
            let tree = self.repo.tree(TreeId(known.tree)).ok()?;
            Some(Before { tree, known, at: (0, 0, 0) })
        });
        let mut hash = DirectoryHash::default();
        let mut known = Known { tree: tree.0, print: [0; 32], entries: Vec::new(), below: Vec::new() };
        for entry in self.repo.tree(tree)?.entries() {
            let same = before.as_mut().and_then(|before| before.same(&entry));
            let (counts, print) = same.map_or_else(|| self.entry(&entry), Ok)?;
            known.entries.push(counts);
            match print {
                Some(print) => {
                    hash.directory(entry.name, &print);
                    known.below.push(print);
                }
                None if counts == Counts::File => hash.file(entry.name, entry.mode, entry.id()),
                None => {}
            }
        }
        self.depth -= 1;
        known.print = hash.finish();
        let print = known.print;
        if self.memo.directories.len() >= MAX_KNOWN {
            self.memo.directories.clear();
        }
        self.memo.directories.insert(self.path.clone(), known);
        Ok(print)
    }

    fn entry(&mut self, entry: &RawEntry<'_>) -> Result<(Counts, Option<[u8; 32]>), RecordError> {
        let length = self.path.len();
        if length > 0 {
            self.path.push(b'/');
        }
        self.path.extend_from_slice(entry.name);
        let found = if entry.mode == MODE_TREE {
            self.directory(TreeId(entry.id())).map(|print| (Counts::Directory, Some(print)))
        } else if self.rules.class(&self.path) == PathClass::Code {
            Ok((Counts::File, None))
        } else {
            Ok((Counts::Not, None))
        };
        self.path.truncate(length);
        found
    }

    fn enter(&mut self) -> Result<(), RecordError> {
        self.depth += 1;
        self.directories += 1;
        if self.depth > MAX_DEPTH {
            return Err(hostile(&self.root.to_string(), "nested directories", MAX_DEPTH));
        }
        if self.directories > MAX_DIRECTORIES {
            return Err(hostile(&self.root.to_string(), "directories", MAX_DIRECTORIES));
        }
        Ok(())
    }
}
