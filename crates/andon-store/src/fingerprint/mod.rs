//! The code fingerprint (docs/formats.md): what "the tests ran on exactly this code" is measured with.
//!
//! The text that is hashed for a directory is defined in [`andon_core::change::hash`]. Kept are code paths only
//! ([`PathClass::Code`]; a submodule counts by its commit id); a directory without kept entries is dropped. A tree
//! without code has the fingerprint of nothing: the sha256 of the empty text ([`EMPTY`]).
//!
//! The fingerprint of a scope is the hash of its name and of a directory with the parts that its tests read
//! ([`andon_core::domain::scopes`]) as entries: two scopes never share one, not even on the same files.
//!
//! A fingerprint costs what changed: those of directories are remembered by (path, tree id, path rules) in
//! `<common dir>/andon/cache/fingerprints`, a file that may be deleted at any time.

mod cache;
mod difference;
mod memo;
mod overlay;

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};

use self::cache::{Cache, Key};
use self::memo::{Descent, Memo};
use super::{RecordError, Result};
use andon_core::change::hash::{DirectoryHash, directory_line, print_of};
use andon_core::domain::{CodeId, OverlayEntry, Part, PathClass, PathRules, ScopeView, TreeId};
use andon_git::{MODE_TREE, Repo};

pub use andon_core::change::hash::EMPTY;
pub use difference::{Difference, differing};

/// Deepest nesting that is followed; no file system holds a deeper path.
const MAX_DEPTH: usize = 1024;
/// Most directories read for one fingerprint. A larger tree is built to exhaust its reader: a few objects that name
/// each other can expand to more directories than there are atoms.
const MAX_DIRECTORIES: usize = 2_000_000;

/// Takes fingerprints with one set of path rules, and remembers them.
#[derive(Debug)]
pub struct Fingerprinter<'r> {
    repo: &'r Repo,
    rules: &'r PathRules,
    cache: Option<Cache>,
    /// In a walk through a long history, the directories of the commit before: the cache in the file would only fill
    /// with entries that are never needed again.
    memo: Option<Memo>,
}

impl<'r> Fingerprinter<'r> {
    /// For trees of `repo`. Reads nothing yet.
    pub fn new(repo: &'r Repo, rules: &'r PathRules) -> Self {
        Self { repo, rules, cache: None, memo: None }
    }

    /// The same for many trees in a row: what it remembers stays in this process.
    pub fn in_bulk(repo: &'r Repo, rules: &'r PathRules) -> Self {
        Self { repo, rules, cache: None, memo: Some(Memo::default()) }
    }

    /// The fingerprint of a tree.
    ///
    /// # Errors
    /// [`RecordError::Git`] when a tree is missing, [`RecordError::HostileTree`] when there is no end to it.
    pub fn of_tree(&mut self, tree: TreeId) -> Result<CodeId> {
        if let Some(scope) = self.rules.scope() {
            return self.of_scope(Content::Tree(tree), scope);
        }
        if let Some(memo) = &mut self.memo {
            let (repo, rules) = (self.repo, self.rules);
            let (path, extent) = (Vec::new(), Extent::default());
            let mut descent = Descent { repo, rules, memo, root: tree, path, extent };
            return descent.directory(tree).map(CodeId);
        }
        self.walk(None, tree.to_string(), |walk| walk.directory(tree)).map(CodeId)
    }

    /// The fingerprint of a tree, or of the one that committing entries on top of it would give: what `git add -A` makes
    /// of the working tree they were taken from.
    ///
    /// # Errors
    /// As [`Self::of_tree`].
    pub fn of(&mut self, content: Content<'_>) -> Result<CodeId> {
        let (base, root) = match content {
            Content::Tree(tree) => return self.of_tree(tree),
            Content::Overlay(base, entries) => (base, overlay::Node::new(entries)),
        };
        if let Some(scope) = self.rules.scope() {
            return self.of_scope(content, scope);
        }
        let name = named(base);
        self.walk(None, name, |walk| walk.overlaid(base, &root)).map(CodeId)
    }

    fn of_scope(&mut self, content: Content<'_>, scope: &ScopeView) -> Result<CodeId> {
        let codes = self.of_scopes(content, &[scope])?;
        Ok(codes.into_iter().next().unwrap_or(EMPTY))
    }

    /// The fingerprints of scopes, in their order. Each part of the code is walked once, however many of them read it.
    ///
    /// # Errors
    /// As [`Self::of_tree`].
    pub fn of_scopes(&mut self, content: Content<'_>, scopes: &[&ScopeView]) -> Result<Vec<CodeId>> {
        let (base, root) = match content {
            Content::Tree(tree) => (Some(tree), overlay::Node::default()),
            Content::Overlay(base, entries) => (base, overlay::Node::new(entries)),
        };
        let mut known: HashMap<[u8; 32], [u8; 32]> = HashMap::new();
        let mut codes = Vec::with_capacity(scopes.len());
        for scope in scopes {
            let mut lines = format!("scope {}\n", scope.name()).into_bytes();
            for part in scope.parts() {
                let print = match known.get(part.digest()) {
                    Some(print) => *print,
                    None => self.walk(Some(part), named(base), |walk| walk.overlaid(base, &root))?,
                };
                known.insert(*part.digest(), print);
                directory_line(&mut lines, part.name.as_bytes(), &print);
            }
            codes.push(CodeId(print_of(&lines)));
        }
        // Once for all of them.
        if let Some(cache) = &mut self.cache {
            cache.save();
        }
        Ok(codes)
    }

    fn walk<T>(
        &mut self,
        part: Option<&Part>,
        root: String,
        run: impl FnOnce(&mut Walk<'_>) -> Result<T>,
    ) -> Result<T> {
        let cache = self.cache.get_or_insert_with(|| Cache::load(self.repo.common_dir()));
        let mut walk = Walk {
            repo: self.repo,
            rules: self.rules,
            part,
            digest: part.map_or(*self.rules.digest(), |part| {
                Sha256::new_with_prefix(self.rules.digest()).chain_update(part.digest()).finalize().into()
            }),
            cache: &mut *cache,
            root,
            path: Vec::new(),
            extent: Extent::default(),
        };
        let result = run(&mut walk);
        // Results are kept even when the walk broke off. Failing to keep them only costs time.
        if part.is_none() || result.is_err() {
            cache.save();
        }
        result
    }
}

/// The content that a fingerprint is taken of.
#[derive(Debug, Clone, Copy)]
pub enum Content<'a> {
    Tree(TreeId),
    /// The tree that committing these entries on top of a tree would give.
    Overlay(Option<TreeId>, &'a [OverlayEntry]),
}

/// Returns the name that messages use for what is looked at.
fn named(base: Option<TreeId>) -> String {
    base.map_or_else(|| "of the working tree".to_owned(), |base| base.to_string())
}

/// One descent from a root.
struct Walk<'a> {
    repo: &'a Repo,
    rules: &'a PathRules,
    /// Only this part of the code is looked at.
    part: Option<&'a Part>,
    /// Of the rules and the part.
    digest: [u8; 32],
    cache: &'a mut Cache,
    root: String,
    /// Path of the directory being read, without a slash at its end; empty for the root.
    path: Vec<u8>,
    extent: Extent,
}

/// The directories that a descent has entered so far.
#[derive(Default)]
struct Extent {
    depth: usize,
    directories: usize,
}

impl Extent {
    /// Enters the next directory below `root`, unless the tree is built to have no end.
    fn enter(&mut self, root: &impl ToString) -> Result<()> {
        self.depth += 1;
        self.directories += 1;
        let bounds = [
            (self.depth, "nested directories", MAX_DEPTH),
            (self.directories, "directories", MAX_DIRECTORIES),
        ];
        match bounds.into_iter().find(|(entered, _, max)| entered > max) {
            Some((_, what, max)) => Err(RecordError::HostileTree { tree: root.to_string(), max, what }),
            None => Ok(()),
        }
    }
}

impl Walk<'_> {
    /// The fingerprint of `tree`, which lies at `self.path`.
    fn directory(&mut self, tree: TreeId) -> Result<[u8; 32]> {
        if !self.path.is_empty() && self.part.is_some_and(|part| !part.may_hold_below(&self.path)) {
            return Ok(EMPTY.0);
        }
        let key = Key::new(&self.path, tree, &self.digest);
        if let Some(known) = self.cache.get(&key) {
            return Ok(known);
        }
        self.extent.enter(&self.root)?;
        let mut hash = DirectoryHash::default();
        for entry in self.repo.tree(tree)?.entries() {
            let length = self.descend(entry.name);
            if entry.mode == MODE_TREE {
                let below = self.directory(TreeId(entry.id()))?;
                hash.directory(entry.name, &below);
            } else if self.keeps() {
                hash.file(entry.name, entry.mode, entry.id());
            }
            self.path.truncate(length);
        }
        self.extent.depth -= 1;
        let fingerprint = hash.finish();
        self.cache.insert(key, fingerprint);
        Ok(fingerprint)
    }

    /// True when the file at `self.path` counts.
    fn keeps(&self) -> bool {
        self.part.is_none_or(|part| part.holds(&self.path)) && self.rules.class(&self.path) == PathClass::Code
    }

    /// Appends a component to the path; returns the length to go back to.
    fn descend(&mut self, name: &[u8]) -> usize {
        let length = self.path.len();
        if length > 0 {
            self.path.push(b'/');
        }
        self.path.extend_from_slice(name);
        length
    }
}

#[cfg(test)]
mod tests;
