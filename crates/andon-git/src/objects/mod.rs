//! Trees and blobs.

pub(crate) mod ancestry;
pub(crate) mod cache;
pub(crate) mod commit_text;
pub(crate) mod commits;
pub(crate) mod durable;
pub(crate) mod gc_guard;
pub(crate) mod inflate;
pub(crate) mod reader;
pub(crate) mod texts;
pub(crate) mod trees;
pub(crate) mod vetting;

use std::{cmp::Ordering, collections::BTreeSet, rc::Rc};

use crate::objects::trees::{RawEntry, RawTree};
use crate::objects::{reader::ObjectReader, texts::Text};
use crate::{GitError, Repo, Result};
use andon_core::domain::{Oid, TreeId};

pub use crate::objects::trees::{MODE_EXECUTABLE, MODE_FILE, MODE_LINK, MODE_SUBMODULE, MODE_TREE};

/// The number of times that a failed write is tried again.
const WRITES: usize = 3;

/// Objects that git is asked for at once: their ids fit into the smallest pipe.
const AT_ONCE: usize = 64;

/// One entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeEntry {
    /// One path component, as git stores it.
    pub name: Vec<u8>,
    /// One of the modes above; the odd modes of old repositories are normalized as git does.
    pub mode: u32,
    /// The blob, tree or commit.
    pub id: Oid,
}

impl TreeEntry {
    /// True for a directory.
    pub fn is_tree(&self) -> bool {
        self.mode == MODE_TREE
    }

    /// git's order: by name, a directory as if its name ended in `/`.
    pub(crate) fn git_order(&self, other: &Self) -> Ordering {
        crate::objects::trees::git_order(&self.name, self.mode, &other.name, other.mode)
    }
}

/// An id of libgit2 as ours.
pub(crate) fn from_git2(id: git2::Oid) -> Oid {
    // libgit2 gives 20 bytes (32 with SHA-256), so that the all-zero id below is never reached.
    Oid::from_bytes(id.as_bytes()).unwrap_or_else(zero)
}

/// The id that git uses for "no object".
pub(crate) fn zero() -> Oid {
    Oid::from_bytes(&[0; 20]).unwrap_or_else(|| unreachable!("20 bytes are an id"))
}

impl Repo {
    /// Our id as one of libgit2. A SHA-256 id cannot be in a repository that libgit2 opened.
    pub(crate) fn to_git2(&self, kind: &'static str, id: Oid) -> Result<git2::Oid> {
        git2::Oid::from_bytes(id.as_bytes()).map_err(|error| self.bad_object(kind, id, error.message()))
    }

    pub(crate) fn bad_object(&self, kind: &'static str, id: Oid, message: impl Into<String>) -> GitError {
        GitError::BadObject { kind, id, git_dir: self.git_dir().to_path_buf(), message: message.into() }
    }

    /// From now on libgit2 caches no object, in no repository of this process: what it has cached it never lets go of, and
    /// who looks at thousands of commits knows better what comes again.
    pub fn cache_nothing() {
        git2::opts::enable_caching(false);
    }

    /// From now on so many bytes of trees and of texts are kept, and a fraction of it of commits.
    pub fn keep(&self, trees: usize, texts: usize) {
        self.trees.borrow_mut().max = trees;
        self.commits.borrow_mut().max = trees / 8;
        self.texts.borrow_mut().max = texts;
    }

    /// From now on git reads trees and texts where it can be started: among thousands of objects it finds the bases of deltas
    /// again, which libgit2 forgets all at once. It does not compare contents with ids, and fetches what a partial clone lacks: there
    /// it is not asked.
    pub fn ask_git(&self) {
        self.asks_git.set(!self.is_partial());
    }

    /// True where git is asked for objects.
    pub(crate) fn reads_by_git(&self) -> bool {
        self.asks_git.get() || self.reader.borrow().is_some()
    }

    /// The content of an object as the git says that was asked for it; `None` where none was, or where it cannot.
    fn as_git_reads(&self, kind: &str, id: Oid) -> Option<Vec<u8>> {
        self.by_git(|git| git.ask(&[id]).and_then(|()| git.answer(kind, usize::MAX))).flatten()
    }

    /// Has the git that was asked for do something; `None` where none was, or where it ended.
    fn by_git<T>(&self, work: impl FnOnce(&mut ObjectReader) -> std::io::Result<T>) -> Option<T> {
        if self.asks_git.replace(false) {
            *self.reader.borrow_mut() = ObjectReader::start(self.own_command(&["cat-file", "--batch"]));
        }
        let done = work(self.reader.borrow_mut().as_mut()?).ok();
        if done.is_none() {
            self.reader.take();
        }
        done
    }

    /// Reads the trees or the texts of at most `max` bytes among `ids` that are not kept yet, where git is asked: to wait for each
    /// answer takes longer than to read it.
    pub(crate) fn read_ahead(&self, kind: git2::ObjectType, ids: impl Iterator<Item = Oid>, max: usize) {
        let is_tree = kind == git2::ObjectType::Tree;
        let is_known = |id: &Oid| {
            if is_tree { self.trees.borrow().has(*id) } else { self.texts.borrow().has(*id) }
        };
        let mut seen = BTreeSet::new();
        let wanted: Vec<Oid> = ids.filter(|id| seen.insert(*id) && !is_known(id)).collect();
        for some in wanted.chunks(AT_ONCE) {
            let read = self.by_git(|git| {
                git.ask(some)?;
                some.iter().map(|_| git.answer(kind.str(), max)).collect::<std::io::Result<Vec<_>>>()
            });
            for (id, content) in some.iter().zip(read.into_iter().flatten()) {
                // An object that is missing, or no tree, is read once more, and that says what is wrong.
                let Some(content) = content else { continue };
                if !is_tree {
                    self.keep_text(*id, Text(Some(Rc::new(content))));
                } else if let Ok(tree) = RawTree::new(content) {
                    self.keep_tree(*id, Rc::new(tree));
                }
            }
        }
    }

    fn keep_tree(&self, id: Oid, tree: Rc<RawTree>) {
        let size = tree.size();
        self.trees.borrow_mut().keep(id, tree, size);
    }

    fn keep_text(&self, id: Oid, text: Text) {
        let size = text.len();
        self.texts.borrow_mut().keep(id, text, size);
    }

    /// The content of blob `id`; `None` when it has more than `max` bytes, and then it is not inflated. Kept for the next time
    /// within [`Self::keep`].
    pub fn text(&self, id: Oid, max: usize) -> Result<Option<Text>> {
        if let Some(known) = self.texts.borrow().get(id) {
            return Ok(Some(known).filter(|known| known.len() <= max));
        }
        let size = self.size(git2::ObjectType::Blob, id)?;
        if size > max {
            return Ok(None);
        }
        let text = Text(Some(Rc::new(self.data(git2::ObjectType::Blob, id)?)));
        self.keep_text(id, text.clone());
        Ok(Some(text))
    }

    /// The entries of `tree`, one level.
    pub fn tree(&self, tree: TreeId) -> Result<Rc<RawTree>> {
        let id = tree.0;
        if let Some(known) = self.trees.borrow().get(id) {
            return Ok(known);
        }
        let raw = RawTree::new(self.data(git2::ObjectType::Tree, id)?)
            .map_err(|what| self.bad_object("tree", id, what))?;
        let raw = Rc::new(raw);
        self.keep_tree(id, raw.clone());
        Ok(raw)
    }

    /// The entries of `tree` in git order, one level.
    pub fn tree_entries(&self, tree: TreeId) -> Result<Vec<TreeEntry>> {
        let tree = self.tree(tree)?;
        let owned =
            |entry: RawEntry<'_>| TreeEntry { name: entry.name.to_vec(), mode: entry.mode, id: entry.id() };
        Ok(tree.entries().map(owned).collect())
    }

    /// Mode and id at `path` (slashes, no leading one); `None` when nothing is there, or there is no tree.
    pub fn entry_at(&self, tree: impl Into<Option<TreeId>>, path: &[u8]) -> Result<Option<(u32, Oid)>> {
        let Some(tree) = tree.into() else { return Ok(None) };
        let mut at = (MODE_TREE, tree.0);
        for part in path.split(|byte| *byte == b'/') {
            if at.0 != MODE_TREE || part.is_empty() {
                return Ok(None);
            }
            let tree = self.tree(TreeId(at.1))?;
            let Some(entry) = tree.find(part) else { return Ok(None) };
            at = (entry.mode, entry.id());
        }
        Ok(Some(at))
    }

    /// The file or link at `path`; `None` when there is none, or a directory or submodule is.
    pub fn blob_at(&self, tree: TreeId, path: &[u8]) -> Result<Option<Oid>> {
        let entry = self.entry_at(tree, path)?;
        Ok(entry.filter(|(mode, _)| !matches!(*mode, MODE_TREE | MODE_SUBMODULE)).map(|(_, id)| id))
    }

    /// The content of blob `id`, unless it has more than `max` bytes (then it is not inflated).
    pub fn read_blob(&self, id: Oid, max: usize) -> Result<Option<Vec<u8>>> {
        let is_read = self.size(git2::ObjectType::Blob, id)? <= max;
        is_read.then(|| self.data(git2::ObjectType::Blob, id)).transpose()
    }

    /// The size of an object, which is a `kind`.
    pub(crate) fn size(&self, kind: git2::ObjectType, id: Oid) -> Result<usize> {
        let wanted = self.to_git2(kind.str(), id)?;
        self.look_up(kind, id, |odb| odb.read_header(wanted))
    }

    /// The bytes of an object, which is a `kind`, as libgit2 finds them.
    pub(crate) fn object(&self, kind: git2::ObjectType, id: Oid) -> Result<Vec<u8>> {
        let wanted = self.vetted(kind.str(), id)?;
        self.look_up(kind, id, |odb| odb.read(wanted).map(|object| (object.data().to_vec(), object.kind())))
    }

    fn look_up<T>(
        &self,
        kind: git2::ObjectType,
        id: Oid,
        read: impl FnOnce(&git2::Odb<'_>) -> Result<(T, git2::ObjectType), git2::Error>,
    ) -> Result<T> {
        let read = self.inner.odb().and_then(|odb| read(&odb));
        let (found, is) = read.map_err(|error| self.object_error(kind.str(), id, &error))?;
        if is == kind { Ok(found) } else { Err(self.bad_object(kind.str(), id, format!("it is a {is}"))) }
    }

    pub(crate) fn data(&self, kind: git2::ObjectType, id: Oid) -> Result<Vec<u8>> {
        self.as_git_reads(kind.str(), id).map_or_else(|| self.object(kind, id), Ok)
    }

    /// Writes a blob.
    pub fn write_blob(&self, bytes: &[u8]) -> Result<Oid> {
        self.write_object("a blob", git2::ObjectType::Blob, bytes)
    }

    /// Writes an object from its bytes: libgit2's own makers of trees and commits read first what they point to. What is
    /// there is only made younger, so that no gc takes it.
    pub(crate) fn write_object(
        &self,
        what: &'static str,
        kind: git2::ObjectType,
        bytes: &[u8],
    ) -> Result<Oid> {
        let odb = self.inner.odb().map_err(|error| write_error(what, &error))?;
        let id = written(what, || odb.write(kind, bytes)).map(from_git2)?;
        self.wrote(id);
        Ok(id)
    }

    /// Writes one tree with exactly these entries, in whatever order they come.
    /// Names with a slash or NUL, empty names, `.`, `..`, `.git` and doubled names are refused.
    pub fn write_tree_entries(&self, entries: &[TreeEntry]) -> Result<TreeId> {
        let mut sorted: Vec<&TreeEntry> = entries.iter().collect();
        sorted.sort_by(|left, right| left.git_order(right));
        let mut names: Vec<&[u8]> = entries.iter().map(|entry| entry.name.as_slice()).collect();
        names.sort_unstable();
        let doubled = names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
        let bad = names.iter().copied().find(|name| !storable(name));
        if let Some(name) = bad.or(doubled) {
            let message =
                format!("the name {:?} is not allowed or comes twice", String::from_utf8_lossy(name));
            return Err(GitError::Write { what: "a tree".to_owned(), message });
        }
        let mut raw = Vec::with_capacity(entries.iter().map(|entry| entry.name.len() + 28).sum());
        for entry in sorted {
            raw.extend_from_slice(format!("{:o} ", entry.mode).as_bytes());
            raw.extend_from_slice(&entry.name);
            raw.push(0);
            raw.extend_from_slice(entry.id.as_bytes());
        }
        self.write_object("a tree", git2::ObjectType::Tree, &raw).map(TreeId)
    }
}

fn storable(name: &[u8]) -> bool {
    !name.is_empty()
        && !name.iter().any(|byte| matches!(*byte, 0 | b'/'))
        && !matches!(name, b"." | b"..")
        && !name.eq_ignore_ascii_case(b".git")
}

/// The id that a blob of these bytes has.
pub(crate) fn blob_id(bytes: &[u8]) -> Result<Oid> {
    let id = git2::Oid::hash_object(git2::ObjectType::Blob, bytes);
    id.map(from_git2).map_err(|error| write_error("a blob id", &error))
}

/// Writes an object. `git gc` takes empty directories of objects away, also the one that was made for this object a moment
/// ago: then it is written again.
pub(crate) fn written<T>(what: &str, mut write: impl FnMut() -> Result<T, git2::Error>) -> Result<T> {
    let mut last = write();
    for _ in 0..WRITES {
        if last.as_ref().err().is_none_or(|error| error.class() != git2::ErrorClass::Os) {
            break;
        }
        last = write();
    }
    last.map_err(|error| write_error(what, &error))
}

pub(crate) fn write_error(what: &str, error: &git2::Error) -> GitError {
    GitError::Write { what: what.to_owned(), message: error.message().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GitError, testkit::Scratch};

    fn entry(name: &str, mode: u32, id: Oid) -> TreeEntry {
        TreeEntry { name: name.as_bytes().to_vec(), mode, id }
    }

    #[test]
    fn trees_are_written_as_git_writes_them() {
        let scratch = Scratch::new();
        for path in ["a.b", "a/x", "a0", "ab/y", "a-b/z", "link"] {
            scratch.write(path, path);
        }
        std::fs::remove_file(scratch.path().join("link")).unwrap();
        std::os::unix::fs::symlink("a.b", scratch.path().join("link")).unwrap();
        scratch.git(&["add", "-A"]);
        let tree = scratch.git(&["write-tree"]).parse().unwrap();
        let repo = scratch.open();
        let mut entries = repo.tree_entries(tree).unwrap();
        assert!(entries.windows(2).all(|pair| pair[0].git_order(&pair[1]).is_lt()));
        entries.reverse();
        assert_eq!(repo.write_tree_entries(&entries).unwrap(), tree);
        assert_eq!(repo.entry_at(tree, b"link").unwrap().unwrap().0, MODE_LINK);
    }

    #[test]
    fn names_that_git_cannot_hold_are_refused() {
        let scratch = Scratch::new();
        let repo = scratch.open();
        let id = repo.write_blob(b"x").unwrap();
        for name in ["", ".", "..", ".git", ".GIT", "a/b", "a\0b"] {
            assert!(repo.write_tree_entries(&[entry(name, MODE_FILE, id)]).is_err(), "{name:?}");
        }
        let twice = [entry("a", MODE_FILE, id), entry("a", MODE_TREE, id)];
        assert!(repo.write_tree_entries(&twice).is_err());
    }

    #[test]
    fn paths_are_looked_up_level_by_level() {
        let scratch = Scratch::new();
        scratch.commit("a/b/c", "text", "one");
        let (repo, tree) = (scratch.open(), scratch.tree("HEAD"));
        let id = repo.blob_at(tree, b"a/b/c").unwrap().unwrap();
        assert_eq!(repo.read_blob(id, 4).unwrap(), Some(b"text".to_vec()));
        assert_eq!(repo.read_blob(id, 3).unwrap(), None);
        for path in ["", "a", "a/b", "a/b/c/d", "a//b", "/a", "x", "a/b/"] {
            assert_eq!(repo.blob_at(tree, path.as_bytes()).unwrap(), None, "{path:?}");
        }
        assert!(matches!(repo.read_blob(tree.0, 100), Err(GitError::BadObject { .. })));
    }
}

#[cfg(test)]
mod stored_tests;
