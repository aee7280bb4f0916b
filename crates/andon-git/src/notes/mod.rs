//! Notes: reading. One note per commit, in a tree whose paths are the commit's digits, fanned out in
//! directories of two digits (git makes `38`, `2/38`, `2/2/36` ... as it grows).
//!
//! Holding the tip's tree, and some of the directories below it, answers each lookup in a tree read or two at the most;
//! libgit2's `find_note` starts at the ref each time and walks flat trees (docs/git-facts.md).

pub(crate) mod history;
pub(crate) mod pack;
pub(crate) mod union;
pub(crate) mod write;

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use crate::objects::{MODE_SUBMODULE, MODE_TREE};
use crate::{Cache, GitError, RawTree, Repo, Result};
use andon_core::domain::{CommitId, Oid, TreeId};

/// Largest note that is read, in bytes.
pub(crate) const MAX_NOTE: usize = 1 << 20;
/// Bytes of directories that are held: all 256 of a store of 100,000 notes.
const MAX_HELD: usize = 6 << 20;

/// The notes of one ref as they were when it was opened.
pub struct NotesTree<'r> {
    repo: &'r Repo,
    name: String,
    tip: Option<CommitId>,
    /// Read at the first lookup.
    tree: OnceCell<Rc<RawTree>>,
    /// Directories that were looked into.
    below: RefCell<Cache<Rc<RawTree>>>,
}

impl std::fmt::Debug for NotesTree<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NotesTree").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Repo {
    /// Opens the notes of ref `name` (full, such as `refs/notes/andon`); no such ref means no notes.
    pub fn notes(&self, name: &str) -> Result<NotesTree<'_>> {
        let tip = self.ref_commit(name)?;
        let notes = self.notes_at(name, tip);
        // A tip that has no tree is found here, not at the first lookup.
        notes.tree()?;
        Ok(notes)
    }

    /// The notes of ref `name` as `tip` has them.
    pub fn notes_at(&self, name: &str, tip: Option<CommitId>) -> NotesTree<'_> {
        let below = RefCell::new(Cache::up_to(MAX_HELD, usize::MAX));
        NotesTree { repo: self, name: name.to_owned(), tip, tree: OnceCell::new(), below }
    }

    /// Every annotated object of ref `name` with the blob of its note, sorted; an object that has notes at
    /// two paths comes twice.
    pub fn notes_list(&self, name: &str) -> Result<Vec<(CommitId, Oid)>> {
        let notes = self.notes(name)?;
        let mut found = Vec::new();
        if let Some(tree) = notes.tree()? {
            self.collect_notes(tree, "", &mut found)?;
        }
        found.sort_unstable();
        Ok(found)
    }

    /// True when the notes of these commits are the same at two tips of ref `name`: other writers move a tip all the time, and
    /// rarely touch what one asks for. Directories that are equal are not looked into.
    pub fn same_notes(
        &self,
        name: &str,
        old: CommitId,
        new: CommitId,
        commits: impl IntoIterator<Item = CommitId>,
    ) -> Result<bool> {
        let (old, new) = (self.notes_at(name, Some(old)), self.notes_at(name, Some(new)));
        let (Some(was), Some(is)) = (old.tree()?, new.tree()?) else { return Ok(false) };
        let at = |tree: &RawTree, name: &str| tree.find(name.as_bytes()).map(|entry| entry.id());
        for commit in commits {
            let digits = commit.to_string();
            let same = [&digits[..2], &digits].iter().all(|name| at(was, name) == at(is, name));
            if !same && old.blobs(commit)? != new.blobs(commit)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn collect_notes(&self, tree: &RawTree, prefix: &str, found: &mut Vec<(CommitId, Oid)>) -> Result<()> {
        for entry in tree.entries() {
            let Ok(name) = std::str::from_utf8(entry.name) else { continue };
            let path = format!("{prefix}{name}");
            if entry.mode == MODE_TREE {
                if is_fanout(name) && path.len() < 40 {
                    self.collect_notes(&*self.tree(TreeId(entry.id()))?, &path, found)?;
                }
            } else if let Some(commit) = annotated(&path) {
                found.push((commit, entry.id()));
            }
        }
        Ok(())
    }

    /// The blobs of the notes of `digits` below `tree`: one, or more where a merge left it at two paths.
    pub(crate) fn note_blobs(&self, tree: TreeId, digits: &str) -> Result<Vec<Oid>> {
        blobs(self.tree(tree)?, digits, |id| self.tree(id))
    }

    /// The contents of `blobs` joined as git joins them: with a newline where one is missing.
    pub(crate) fn note_text(&self, name: &str, commit: CommitId, blobs: &[Oid]) -> Result<Option<Vec<u8>>> {
        let mut text: Option<Vec<u8>> = None;
        for id in blobs {
            let have = text.as_ref().map_or(0, Vec::len);
            let Some(more) = self.read_blob(*id, MAX_NOTE.saturating_sub(have))? else {
                let size = self.size(git2::ObjectType::Blob, *id)?.saturating_add(have);
                return Err(GitError::NoteTooLarge { commit, name: name.to_owned(), size, limit: MAX_NOTE });
            };
            let text = text.get_or_insert_default();
            if !text.is_empty() && !text.ends_with(b"\n") {
                text.push(b'\n');
            }
            text.extend_from_slice(&more);
        }
        Ok(text)
    }
}

impl NotesTree<'_> {
    /// The commit that the ref pointed to; `None` without notes.
    pub fn tip(&self) -> Option<CommitId> {
        self.tip
    }

    /// The ref.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The note of `commit`; `None` without one. At most 1 MiB: the error names commit and size.
    pub fn get(&self, commit: CommitId) -> Result<Option<Vec<u8>>> {
        self.repo.note_text(&self.name, commit, &self.blobs(commit)?)
    }

    /// True if `commit` has a note, readable or not.
    pub fn has(&self, commit: CommitId) -> Result<bool> {
        Ok(!self.blobs(commit)?.is_empty())
    }

    fn blobs(&self, commit: CommitId) -> Result<Vec<Oid>> {
        match self.tree()? {
            Some(tree) => blobs(tree.clone(), &commit.to_string(), |id| self.directory(id)),
            None => Ok(Vec::new()),
        }
    }

    fn tree(&self) -> Result<Option<&Rc<RawTree>>> {
        if let (None, Some(tip)) = (self.tree.get(), self.tip) {
            let tree = self.repo.tree(self.repo.tree_of(tip)?)?;
            return Ok(Some(self.tree.get_or_init(|| tree)));
        }
        Ok(self.tree.get())
    }

    fn directory(&self, id: TreeId) -> Result<Rc<RawTree>> {
        if let Some(held) = self.below.borrow().get(id.0) {
            return Ok(held);
        }
        let read = self.repo.tree(id)?;
        self.below.borrow_mut().keep(id.0, read.clone(), read.size());
        Ok(read)
    }
}

fn blobs(
    mut tree: Rc<RawTree>,
    digits: &str,
    read: impl Fn(TreeId) -> Result<Rc<RawTree>>,
) -> Result<Vec<Oid>> {
    let mut found = Vec::new();
    let mut rest = digits;
    loop {
        let file = tree.find(rest.as_bytes());
        found.extend(
            file.filter(|file| !matches!(file.mode, MODE_TREE | MODE_SUBMODULE)).map(|file| file.id()),
        );
        let Some((fanout, below)) = rest.split_at_checked(2).filter(|(_, below)| !below.is_empty()) else {
            break;
        };
        let directory = tree.find(fanout.as_bytes()).filter(|entry| entry.mode == MODE_TREE);
        let Some(id) = directory.map(|entry| TreeId(entry.id())) else { break };
        tree = read(id)?;
        rest = below;
    }
    Ok(found)
}

/// Two lower-case hexadecimal digits.
pub(crate) fn is_fanout(name: &str) -> bool {
    name.len() == 2 && is_digits(name)
}

/// Lower-case hexadecimal digits only.
pub(crate) fn is_digits(name: &str) -> bool {
    name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The digits in a path of a notes tree; `None` where it is no note.
pub(crate) fn digits_of(path: &[u8]) -> Option<String> {
    let path = std::str::from_utf8(path).ok()?;
    let (fanouts, file) = path.rsplit_once('/').unwrap_or(("", path));
    let digits = format!("{}{file}", fanouts.replace('/', ""));
    let fanned = fanouts.is_empty() || fanouts.split('/').all(is_fanout);
    (fanned && annotated(&digits).is_some()).then_some(digits)
}

pub(crate) fn annotated(path: &str) -> Option<CommitId> {
    path.parse().ok().filter(|_| is_digits(path))
}
