//! A tree with some paths changed, without writing it.

use std::collections::BTreeMap;

use super::Walk;
use crate::Result;
use andon_core::change::hash::DirectoryHash;
use andon_core::domain::{Oid, OverlayEntry, TreeId};
use andon_git::{MODE_TREE, TreeEntry};

/// The statement of an overlay about one path and about the paths below it.
#[derive(Debug, Default)]
pub(super) struct Node {
    says: OverlayChange,
    below: BTreeMap<Vec<u8>, Node>,
    /// A file is put somewhere below.
    adds: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum OverlayChange {
    #[default]
    Nothing,
    Gone,
    File(u32, Oid),
}

/// The final content of a directory under one name.
enum Item {
    File(u32, Oid),
    Directory([u8; 32]),
}

impl Node {
    /// The entries as a tree of names.
    pub(super) fn new(entries: &[OverlayEntry]) -> Self {
        let mut root = Self::default();
        for entry in entries {
            let mut node = &mut root;
            for name in entry.path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()) {
                node.adds |= entry.entry.is_some();
                node = node.below.entry(name.to_vec()).or_default();
            }
            node.says = entry.entry.map_or(OverlayChange::Gone, |(mode, id)| OverlayChange::File(mode, id));
        }
        root
    }
}

impl Walk<'_> {
    /// The fingerprint of `base`, which lies at `self.path`, with `node` laid over it.
    pub(super) fn overlaid(&mut self, base: Option<TreeId>, node: &Node) -> Result<[u8; 32]> {
        if let (Some(tree), true) = (base, node.below.is_empty()) {
            return self.directory(tree);
        }
        self.extent.enter(&self.root)?;
        let base = base.map(|tree| self.repo.tree_entries(tree)).transpose()?.unwrap_or_default();
        let mut items: Vec<(&[u8], Item)> = Vec::with_capacity(base.len());
        let mut new: BTreeMap<&[u8], &Node> =
            node.below.iter().map(|(name, node)| (name.as_slice(), node)).collect();
        let nothing = Node::default();
        for entry in &base {
            let over = new.remove(entry.name.as_slice()).unwrap_or(&nothing);
            items
                .extend(self.item(&entry.name, Some(entry), over)?.map(|item| (entry.name.as_slice(), item)));
        }
        for (name, over) in new {
            items.extend(self.item(name, None, over)?.map(|item| (name, item)));
        }
        self.extent.depth -= 1;
        items.sort_by_cached_key(|(name, item)| git_key(name, item));
        let mut hash = DirectoryHash::default();
        for (name, item) in items {
            match item {
                Item::Directory(fingerprint) => hash.directory(name, &fingerprint),
                Item::File(mode, id) => {
                    let length = self.descend(name);
                    if self.keeps() {
                        hash.file(name, mode, id);
                    }
                    self.path.truncate(length);
                }
            }
        }
        Ok(hash.finish())
    }

    fn item(&mut self, name: &[u8], base: Option<&TreeEntry>, over: &Node) -> Result<Option<Item>> {
        if let OverlayChange::File(mode, id) = over.says {
            return Ok(Some(Item::File(mode, id)));
        }
        let tree = base.filter(|entry| entry.mode == MODE_TREE).map(|entry| TreeId(entry.id));
        let untouched = over.says == OverlayChange::Nothing && !over.adds;
        match base {
            // A file that nothing replaces; deletions below it say nothing about it.
            Some(file) if tree.is_none() && untouched => Ok(Some(Item::File(file.mode, file.id))),
            Some(_) | None if tree.is_none() && !over.adds => Ok(None),
            Some(_) | None => {
                let length = self.descend(name);
                let fingerprint = self.overlaid(tree, over)?;
                self.path.truncate(length);
                Ok(Some(Item::Directory(fingerprint)))
            }
        }
    }
}

/// git sorts a directory as if its name ended in a slash.
fn git_key(name: &[u8], item: &Item) -> Vec<u8> {
    let mut key = name.to_vec();
    if matches!(item, Item::Directory(_)) {
        key.push(b'/');
    }
    key
}
