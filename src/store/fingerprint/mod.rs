//! The code fingerprint (docs/formats.md): what "the tests ran on exactly this code" is measured with.
//!
//! `fp(dir) = sha256` over the kept entries in git order of
//! `mode SP name NUL (id | fp(subdir)) LF`, with the mode as git writes it in trees (octal ASCII without a leading
//! zero: `100644`, `40000`) and ids and fingerprints as lowercase hexadecimal ASCII. Kept are code paths only
//! ([`PathClass::Code`]; a submodule counts by its commit id); a directory without kept entries is dropped. A tree
//! without code has the fingerprint of nothing: the sha256 of the empty text ([`EMPTY`]).
//!
//! A fingerprint costs what changed: those of directories are remembered by (path, tree id, path rules) in
//! `<common dir>/andon/cache/fingerprints`, a file that may be deleted at any time.

mod cache;
mod differing;
mod memo;
mod overlay;

use sha2::{Digest as _, Sha256};

use self::cache::{Cache, Key};
use self::memo::{Descent, Memo};
use super::RecordError;
use crate::domain::ids::{CodeId, Oid, TreeId, hex_digits};
use crate::domain::paths::{PathClass, PathRules};
use crate::domain::tests::OverlayEntry;
use crate::git::{MODE_FILE, MODE_TREE, RawEntry, Repo};

pub use differing::{Difference, differing};

/// sha256 of nothing: the fingerprint of a tree without code.
pub const EMPTY: CodeId = CodeId([
    0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24, 0x27,
    0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
]);

/// Deepest nesting that is followed; no file system holds a deeper path.
const MAX_DEPTH: usize = 1024;
/// Most directories read for one fingerprint. Beyond are trees built to exhaust whoever walks them: a few objects
/// that name each other can stand for more directories than there are atoms.
const MAX_DIRECTORIES: usize = 2_000_000;

/// Takes fingerprints with one set of path rules, and remembers them.
#[derive(Debug)]
pub struct Fingerprinter<'r> {
    repo: &'r Repo,
    rules: &'r PathRules,
    cache: Option<Cache>,
    /// In a walk through a long history, what the commit before had: the file's cache would only be filled with what
    /// nobody asks for again.
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
    pub fn of_tree(&mut self, tree: TreeId) -> Result<CodeId, RecordError> {
        if let Some(memo) = &mut self.memo {
            let (repo, rules) = (self.repo, self.rules);
            let mut descent =
                Descent { repo, rules, memo, root: tree, path: Vec::new(), depth: 0, directories: 0 };
            return descent.directory(tree).map(CodeId);
        }
        self.walk(tree.to_string(), |walk| walk.directory(tree)).map(CodeId)
    }

    /// The fingerprint of the tree that committing all of `entries` on top of `base` would give: what
    /// `git add -A` makes of the working tree they were taken from.
    ///
    /// # Errors
    /// As [`Self::of_tree`].
    pub fn of_overlay(
        &mut self,
        base: Option<TreeId>,
        entries: &[OverlayEntry],
    ) -> Result<CodeId, RecordError> {
        let root = overlay::Node::of(entries);
        let name = base.map_or_else(|| "of the working tree".to_owned(), |base| base.to_string());
        self.walk(name, |walk| walk.overlaid(base, &root)).map(CodeId)
    }

    fn walk<T>(
        &mut self,
        root: String,
        run: impl FnOnce(&mut Walk<'_>) -> Result<T, RecordError>,
    ) -> Result<T, RecordError> {
        let cache = self.cache.get_or_insert_with(|| Cache::load(self.repo.common_dir()));
        let mut walk = Walk {
            repo: self.repo,
            rules: self.rules,
            cache: &mut *cache,
            root,
            path: Vec::new(),
            depth: 0,
            directories: 0,
        };
        let result = run(&mut walk);
        // What was found out is kept even when the walk broke off. Failing to keep it only costs time.
        cache.save();
        result
    }
}

/// One descent from a root.
struct Walk<'a> {
    repo: &'a Repo,
    rules: &'a PathRules,
    cache: &'a mut Cache,
    root: String,
    /// Path of the directory being read, without a slash at its end; empty for the root.
    path: Vec<u8>,
    depth: usize,
    directories: usize,
}

impl Walk<'_> {
    /// The fingerprint of `tree`, which lies at `self.path`.
    fn directory(&mut self, tree: TreeId) -> Result<[u8; 32], RecordError> {
        let key = Key::of(&self.path, tree, self.rules.digest());
        if let Some(known) = self.cache.get(&key) {
            return Ok(known);
        }
        self.enter()?;
        let mut hash = DirectoryHash::default();
        for entry in self.repo.tree(tree)?.entries() {
            let length = self.descend(entry.name);
            if entry.mode == MODE_TREE {
                let below = self.directory(TreeId(entry.id()))?;
                hash.directory(entry.name, &below);
            } else if self.rules.class(&self.path) == PathClass::Code {
                hash.file(entry.name, entry.mode, entry.id());
            }
            self.path.truncate(length);
        }
        self.depth -= 1;
        let fingerprint = hash.finish();
        self.cache.insert(key, fingerprint);
        Ok(fingerprint)
    }

    fn enter(&mut self) -> Result<(), RecordError> {
        self.depth += 1;
        self.directories += 1;
        if self.depth > MAX_DEPTH {
            return Err(hostile(&self.root, "nested directories", MAX_DEPTH));
        }
        if self.directories > MAX_DIRECTORIES {
            return Err(hostile(&self.root, "directories", MAX_DIRECTORIES));
        }
        Ok(())
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

fn hostile(tree: &str, what: &'static str, max: usize) -> RecordError {
    RecordError::HostileTree { tree: tree.to_owned(), max, what }
}

/// The hash of one directory, entry by entry in git order.
#[derive(Default)]
struct DirectoryHash {
    hash: Sha256,
    /// Not hashed yet.
    lines: Vec<u8>,
}

/// The longest id, and a fingerprint, in bytes.
const MAX_ID: usize = 32;
/// Bytes that are hashed at once.
const AT_ONCE: usize = 4096;

impl DirectoryHash {
    fn file(&mut self, name: &[u8], mode: u32, id: Oid) {
        line(&mut self.lines, mode, name, id.as_bytes());
        self.drain();
    }

    fn directory(&mut self, name: &[u8], fingerprint: &[u8; 32]) {
        directory_line(&mut self.lines, name, fingerprint);
        self.drain();
    }

    fn drain(&mut self) {
        if self.lines.len() >= AT_ONCE {
            self.hash.update(&self.lines);
            self.lines.clear();
        }
    }

    fn finish(mut self) -> [u8; 32] {
        self.hash.update(&self.lines);
        self.hash.finalize().into()
    }
}

/// The line of a file.
fn file_line(lines: &mut Vec<u8>, entry: &RawEntry<'_>) {
    line(lines, entry.mode, entry.name, entry.id().as_bytes());
}

/// The line of a directory. None when nothing in it is kept.
fn directory_line(lines: &mut Vec<u8>, name: &[u8], fingerprint: &[u8; 32]) {
    if *fingerprint != EMPTY.0 {
        line(lines, MODE_TREE, name, fingerprint);
    }
}

fn line(lines: &mut Vec<u8>, mode: u32, name: &[u8], id: &[u8]) {
    match mode {
        MODE_FILE => lines.extend_from_slice(b"100644 "),
        MODE_TREE => lines.extend_from_slice(b"40000 "),
        _ => lines.extend_from_slice(format!("{mode:o} ").as_bytes()),
    }
    lines.extend_from_slice(name);
    lines.push(0);
    let mut digits = [0; 2 * MAX_ID];
    for (pair, byte) in digits.as_chunks_mut().0.iter_mut().zip(id) {
        *pair = hex_digits(*byte);
    }
    lines.extend_from_slice(&digits[..2 * id.len()]);
    lines.push(b'\n');
}

/// The fingerprint of a directory of these lines.
fn print_of(lines: &[u8]) -> [u8; 32] {
    Sha256::digest(lines).into()
}

#[cfg(test)]
mod tests;
