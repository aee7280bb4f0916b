//! The directories of the tree before: where one commit after the other is looked at, a fingerprint costs what differs.
//!
//! The hashed text of a directory is kept as well. Of one that changed only the entries between the first and the last
//! that differ are looked at: the rest is the same text, and so is the line of an entry that is as it was.

use std::{collections::HashMap, ops::Range, rc::Rc};

use super::{super::Result, Extent};
use andon_core::change::hash::{directory_line, file_line, print_of};
use andon_core::domain::{Oid, PathClass, PathRules, TreeId};
use andon_git::{DifferingEntries, MODE_TREE, RawEntry, RawTree, Repo};

/// Bytes of directories that are remembered at the most.
const MAX_KNOWN: usize = 40 << 20;
/// About what a directory takes in addition to its lines.
const EACH: usize = 200;

/// The knowledge of the tree before.
#[derive(Debug, Default)]
pub(super) struct Memo {
    directories: HashMap<Vec<u8>, DirectoryMemory>,
    bytes: usize,
}

impl Memo {
    fn remove(&mut self, path: &[u8]) -> Option<DirectoryMemory> {
        let known = self.directories.remove(path)?;
        self.bytes = self.bytes.saturating_sub(known.size());
        Some(known)
    }

    fn insert(&mut self, path: &[u8], known: DirectoryMemory) {
        self.bytes += known.size();
        if self.bytes > MAX_KNOWN {
            self.bytes = known.size();
            self.directories.clear();
        }
        self.directories.insert(path.to_vec(), known);
    }
}

/// The content of a directory and the results that it gave.
#[derive(Debug)]
struct DirectoryMemory {
    tree: Oid,
    print: [u8; 32],
    /// The hashed bytes: a line for each entry that is kept.
    lines: Vec<u8>,
    /// The end of the line of each entry; an entry that is not kept has an empty line.
    ends: Vec<u32>,
}

impl DirectoryMemory {
    fn size(&self) -> usize {
        EACH + self.lines.len() + self.ends.len() * size_of::<u32>()
    }

    /// Returns the range of the lines of these entries.
    fn lines_of(&self, entries: Range<usize>) -> Range<usize> {
        let end =
            |count: usize| count.checked_sub(1).and_then(|last| self.ends.get(last)).copied().unwrap_or(0);
        end(entries.start) as usize..end(entries.end) as usize
    }

    fn end(&mut self) {
        self.ends.push(u32::try_from(self.lines.len()).unwrap_or(u32::MAX));
    }

    /// Takes over the lines of some entries of `before`, which are as they were.
    fn take_over(&mut self, before: &Self, entries: Range<usize>) {
        let lines = before.lines_of(entries.clone());
        let from = self.lines.len();
        self.lines.extend_from_slice(&before.lines[lines.clone()]);
        let moved = |end: &u32| u32::try_from(*end as usize - lines.start + from).unwrap_or(u32::MAX);
        self.ends.extend(before.ends[entries].iter().map(moved));
    }
}

/// One descent from a root.
pub(super) struct Descent<'a> {
    pub repo: &'a Repo,
    pub rules: &'a PathRules,
    pub memo: &'a mut Memo,
    pub root: TreeId,
    /// Path of the directory being read, without a slash at its end; empty for the root.
    pub path: Vec<u8>,
    pub extent: Extent,
}

/// A directory as it was, read along with what it is.
struct PriorDirectory {
    tree: Rc<RawTree>,
    known: DirectoryMemory,
    /// Entries that may not be as they were, and were not passed yet.
    left: Range<usize>,
}

/// The knowledge of an entry from the directory before.
enum EntryMatch {
    /// It is as it was: the number it had.
    Whole(usize),
    /// A file of that name was there, and was kept, or was not.
    Name(PathClass),
    No,
}

impl PriorDirectory {
    fn same(&mut self, entry: &RawEntry<'_>) -> EntryMatch {
        while let Some(old) = self.tree.entry(self.left.start).filter(|_| !self.left.is_empty()) {
            let order = old.cmp_in_tree(entry);
            if order == std::cmp::Ordering::Greater {
                return EntryMatch::No;
            }
            let at = self.left.start;
            self.left.start += 1;
            if order == std::cmp::Ordering::Equal {
                let kept = !self.known.lines_of(at..at + 1).is_empty();
                return match (old == *entry, old.mode == MODE_TREE || entry.mode == MODE_TREE, kept) {
                    (true, _, _) => EntryMatch::Whole(at),
                    (false, true, _) => EntryMatch::No,
                    (false, false, true) => EntryMatch::Name(PathClass::Code),
                    (false, false, false) => EntryMatch::Name(PathClass::Ignored),
                };
            }
        }
        EntryMatch::No
    }
}

impl Descent<'_> {
    /// The fingerprint of `tree`, which lies at `self.path`.
    pub(super) fn directory(&mut self, tree: TreeId) -> Result<[u8; 32]> {
        if let Some(known) = self.memo.directories.get(&self.path).filter(|known| known.tree == tree.0) {
            return Ok(known.print);
        }
        let before = self.memo.remove(&self.path);
        self.extent.enter(&self.root)?;
        let raw = self.repo.tree(tree)?;
        // A directory that was there and is not any more costs time and nothing else.
        let before = before.and_then(|known| {
            let tree = self.repo.tree(TreeId(known.tree)).ok()?;
            let DifferingEntries { old, new } = raw.differing(&tree);
            Some((PriorDirectory { tree, known, left: old.clone() }, old, new))
        });
        let mut known = DirectoryMemory { tree: tree.0, print: [0; 32], lines: Vec::new(), ends: Vec::new() };
        match before {
            Some((mut before, old, new)) => {
                known.lines.reserve(before.known.lines.len() + 128);
                known.ends.reserve(raw.count());
                known.take_over(&before.known, 0..old.start);
                self.entries(&mut known, &raw, new, Some(&mut before))?;
                known.take_over(&before.known, old.end..before.tree.count());
            }
            None => self.entries(&mut known, &raw, 0..raw.count(), None)?,
        }
        self.extent.depth -= 1;
        known.print = print_of(&known.lines);
        let print = known.print;
        self.memo.insert(&self.path, known);
        Ok(print)
    }

    /// Adds the lines of some entries of `tree`.
    fn entries(
        &mut self,
        known: &mut DirectoryMemory,
        tree: &RawTree,
        entries: Range<usize>,
        mut before: Option<&mut PriorDirectory>,
    ) -> Result<()> {
        for entry in entries.filter_map(|number| tree.entry(number)) {
            let same = before.as_mut().map_or(EntryMatch::No, |before| before.same(&entry));
            match (same, &before) {
                (EntryMatch::Whole(at), Some(before)) => known.take_over(&before.known, at..at + 1),
                (EntryMatch::Name(class), _) => {
                    if class == PathClass::Code {
                        file_line(&mut known.lines, entry.name, entry.mode, entry.id());
                    }
                    known.end();
                }
                (EntryMatch::Whole(_) | EntryMatch::No, _) => {
                    self.entry(&mut known.lines, &entry)?;
                    known.end();
                }
            }
        }
        Ok(())
    }

    fn entry(&mut self, lines: &mut Vec<u8>, entry: &RawEntry<'_>) -> Result<()> {
        let length = self.path.len();
        if length > 0 {
            self.path.push(b'/');
        }
        self.path.extend_from_slice(entry.name);
        if entry.mode == MODE_TREE {
            let below = self.directory(TreeId(entry.id()))?;
            directory_line(lines, entry.name, &below);
        } else if self.rules.class(&self.path) == PathClass::Code {
            file_line(lines, entry.name, entry.mode, entry.id());
        }
        self.path.truncate(length);
        Ok(())
    }
}
